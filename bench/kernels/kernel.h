// What the host knows of a kernel: grammar, counts, inputs and the check. One file a kernel in this folder; CMake collects
// every *_kernel.cpp here into the table behind kernels(), so adding one touches nothing else.
//
// All data is in the canonical layout of the kernel's ABI header. Functions are pure and thread-safe unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/problems/problem.h"
#include "results/base/result.h"

namespace hbmark {

struct FieldSpec {
  enum class Kind {
    kWord,          // a whole segment between colons, one of `allowed`
    kDimension,     // name directly followed by its number, run together with its neighbours: m1024n1024
    kNumber,        // a whole segment that is a number
    kOptionNumber,  // /name=12
    kOptionWord     // /name=nhwc
  };
  Kind kind;
  std::string_view name;
  std::vector<std::string_view> allowed;  // words
  std::int64_t min = 1;                   // numbers
  std::int64_t max = std::int64_t{1} << 40;
  std::int64_t default_number = 1;            // options
  std::string_view default_word;              // options; of another word, what a file without that column means (f32, fwd)
  std::vector<std::string_view> csv_aliases;  // other column names for it: "filter_w" for s
  std::vector<std::string_view>
      csv_flags;             // columns of 0 and 1 that choose among `allowed`, first the highest bit: a_t, b_t
  std::string_view summary;  // what it is, for a person: "rows of op(A) and C"
};

// One operand in its canonical layout on the host.
struct OperandSpec {
  std::string_view name;
  std::uint32_t type = 0;  // HBMARK_F32, ...
  std::uint64_t elements = 0;
  bool output = false;
};

struct HostArray {
  OperandSpec spec;
  std::vector<std::byte> bytes;
};

struct CheckReport {
  std::int64_t checked = 0;
  double max_rel_error = 0;  // largest |got - expected| over the error scale of its element; compare with tolerance
  double tolerance = 0;
  std::string method;       // for a person
  std::string first_wrong;  // empty when right: "c[12,7] is 3.5, expected 1.25"
  bool ok() const { return first_wrong.empty(); }
};

struct CheckInput {
  const Problem& problem;
  std::span<const HostArray> inputs;
  std::span<const HostArray> outputs;
  std::uint32_t algorithm_class = 0;  // HBMARK_ALGORITHM_*
  std::uint64_t seed = 0;
};

struct KernelSpec {
  std::string_view name;                           // "gemm"
  std::string_view capability;                     // HBMARK_GEMM_V1
  std::string_view summary;                        // one line for help
  std::string_view example;                        // a canonical string
  std::vector<FieldSpec> grammar;                  // segments in order, then options in their fixed order
  Status (*validate)(const Problem&);              // what the grammar cannot say: output of a convolution is empty, ...
  std::optional<double> (*flop)(const Problem&);   // of one call; nullopt: only the plugin knows
  std::optional<double> (*bytes)(const Problem&);  // each operand moved once; nullopt: moves none
  std::vector<OperandSpec> (*operands)(const Problem&);  // in ABI order, without workspace; empty elements: plugin decides
  std::vector<std::byte> (*to_abi)(const Problem&);      // the ABI problem struct, byte for byte
  CheckReport (*check)(const CheckInput&);
  // What one call is judged by where that is neither flop nor bytes: the loads of a chase, so that its figure is seconds a
  // load. Null: there is no such count.
  double (*loads)(const Problem&) = nullptr;
  // Runs on one thread, whatever the run's team.
  bool one_thread = false;
  // Fills an input whose data cannot be just any numbers. Null: fill_random.
  void (*fill)(const Problem&, HostArray& array, std::uint64_t seed) = nullptr;
};

// Every kernel, sorted by name. Static storage.
std::span<const KernelSpec* const> kernels();
const KernelSpec* find_kernel(std::string_view name);

// Random data from a counter-based generator: the same seed and operand name give the same data on every machine.
// Floats are uniform in [-1, 1) without zeros; never constant. Fills `array.bytes` to spec.elements.
void fill_random(HostArray& array, std::uint64_t seed);

// What the problem's input is filled with: the kernel's own data, or random ones. The same on every machine too.
void fill_input(const Problem& problem, HostArray& array, std::uint64_t seed);

}  // namespace hbmark
