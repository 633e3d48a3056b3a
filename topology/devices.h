// Nominal figures of known devices, from devices.csv: peaks and bandwidths with their source.
//
// Nominal figures (a data sheet's, or cores x clock x flop a cycle) and published measured ones are apart; only the nominal
// may be called "percent of nominal". A device is found by exact name or not at all: a near name is another device. Plain
// values, thread-safe. Errors (environment): the table cannot be read, or a row of it is wrong; the first one is named.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "topology/node.h"

namespace hbmark::topology {

// Of one device as the operating system shows it: one CPU package, one GPU. Absent: no figure is known.
struct NominalFigures {
  std::string device;                             // "Xeon Phi 7250"
  std::map<std::string, double> peak_flop_per_s;  // by type: f64 f32 tf32 f16 bf16 f8 s8 (there operations)
  std::optional<double> fast_bytes_per_s;         // of the fast memory: MCDRAM, HBM, a GPU's memory
  std::optional<double> ddr_bytes_per_s;
  std::optional<double> fast_measured_bytes_per_s;  // published by others who measured it: never "percent of nominal"
  std::optional<double> ddr_measured_bytes_per_s;
  std::string source;
};

struct DeviceRow {
  enum class Kind { kCpu, kGpu };
  Kind kind = Kind::kCpu;
  std::vector<std::string> names;  // the device's own, and others by which it is known
  int cores = 0;                   // cores of a package, multiprocessors of a GPU; 0: not in the table
  double fast_memory_gib = 0;      // 0: not in the table
  NominalFigures figures;
};

struct DeviceTable {
  std::vector<DeviceRow> rows;
};

Result<DeviceTable> load_devices(const std::filesystem::path& file);  // share/hbmark/devices.csv

// One package, by the CPU's own name: "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz".
std::optional<NominalFigures> nominal_figures(const DeviceTable& table, std::string_view cpu_model);

// All packages of a node together. nullopt too when its cores are not as many as that device has: a part of a machine
// (a cgroup, a virtual machine) does not reach the whole one's peak.
std::optional<NominalFigures> nominal_figures(const DeviceTable& table, const Node& node);

// One GPU, by its PCI name ("GV100GL [Tesla V100 SXM2 16GB]") or its driver's ("NVIDIA A100-SXM4-40GB").
std::optional<NominalFigures> nominal_gpu_figures(const DeviceTable& table, std::string_view gpu_name);

}  // namespace hbmark::topology
