// Faults of every kind, planted by the fake backend in results of every type and pass, and looked for by the checks that a
// run makes (bench/kernels): the host's own inputs, the plugin's own tables, nothing but the output to go by.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "bench/kernels/kernel.h"
#include "tests/contract/driver.h"
#include "tests/contract/scripted.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSeed = 3;

// As a run does it: the kernel's own data in, one call, the output held against the kernel's check. `c` is prepared.
CheckReport check_candidate(TestCase& c, const std::string& text, std::uint32_t candidate) {
  const Problem problem = parse_problem(text).value();
  for (const Called& step : {c.select(candidate), c.list_operands(), c.bind_all()}) {
    EXPECT_TRUE(step) << text << ": " << step.message;
  }
  std::vector<HostArray> inputs, outputs;
  std::uint32_t operand = 0;
  for (const OperandSpec& spec : problem.kernel->operands(problem)) {
    HostArray array{spec, {}};
    if (array.spec.elements == 0) array.spec.elements = c.operands()[operand].canonical_bytes / 8;
    EXPECT_EQ(c.operands()[operand].type, spec.type) << text;
    if (!spec.output) {
      fill_input(problem, array, kSeed);
      EXPECT_TRUE(c.write(operand, array.bytes));
      inputs.push_back(std::move(array));
    } else {
      outputs.push_back(std::move(array));
    }
    ++operand;
  }
  EXPECT_TRUE(c.run(1));
  EXPECT_TRUE(c.read(outputs.at(0).bytes));
  return problem.kernel->check({problem, inputs, outputs, c.candidates()[candidate].algorithm_class, kSeed});
}

CheckReport run_and_check(const std::string& text, const json& script) {
  const Script fake(script);
  const Problem problem = parse_problem(text).value();
  TestHost host;
  TestSession session(find_backend("fake"), host);
  TestCase c(session, std::string(problem.kernel->capability), problem.kernel->to_abi(problem));
  EXPECT_TRUE(c.prepare()) << text;
  EXPECT_TRUE(c.list_candidates()) << text;
  return check_candidate(c, text, 0);
}

struct Planted {
  const char* kernel;
  const char* type;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.kernel << " " << planted.type; }

// Shapes of one kernel: transposed, batched; every pass, strides, groups, dilation.
std::vector<std::string> problems_of(const Planted& planted) {
  const std::string gemm = "gemm:" + std::string(planted.type) + ":";
  if (std::string_view(planted.kernel) == "gemm") {
    return {gemm + "nn:m96n80k64", gemm + "nt:m33n70k17", gemm + "tn:m64n64k64", gemm + "tt:m31n37k129",
            gemm + "nn:m40n24k28/batch=5"};
  }
  std::vector<std::string> problems;
  for (const char* pass : {"fwd", "bwd_data", "bwd_weights"}) {
    const std::string conv = "conv:" + std::string(pass) + ":" + planted.type + ":";
    problems.push_back(conv + "n4c8h12w12k16r3s3sh1sw1ph1pw1");
    problems.push_back(conv + "n2c6h11w13k8r5s5sh2sw1ph2pw0/g=2");
    problems.push_back(conv + "n2c4h14w12k6r3s3sh1sw2ph1pw2/dh=2/dw=3");
  }
  return problems;
}

class PlantedFaults : public testing::TestWithParam<Planted> {
 protected:
  void SetUp() override { ASSERT_NE(find_backend("fake"), nullptr); }
};

TEST_P(PlantedFaults, NothingIsFoundWhereNothingIsPlanted) {
  for (const std::string& problem : problems_of(GetParam())) {
    const CheckReport report = run_and_check(problem, json::object());
    EXPECT_TRUE(report.ok()) << problem << ": " << report.first_wrong;
    EXPECT_GT(report.checked, 0);
    if (std::string_view(GetParam().type) == "s8") {
      EXPECT_EQ(report.tolerance, 0) << "sums of integers are exact";
    }
  }
}

TEST_P(PlantedFaults, EveryOneIsFound) {
  for (const char* kind : {"wrong_element", "wrong_tile", "wrong_column", "transposed_operand", "nan"}) {
    for (const std::string& problem : problems_of(GetParam())) {
      const CheckReport report = run_and_check(problem, {{"rules", {{{"fault", {{"kind", kind}}}}}}});
      EXPECT_FALSE(report.ok()) << kind << " in " << problem;
      EXPECT_GT(report.max_rel_error, report.tolerance) << kind << " in " << problem;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, PlantedFaults,
                         testing::Values(Planted{"gemm", "f32"}, Planted{"gemm", "f64"}, Planted{"gemm", "tf32"},
                                         Planted{"gemm", "bf16"}, Planted{"gemm", "f16"}, Planted{"gemm", "s8"},
                                         Planted{"conv", "f32"}, Planted{"conv", "f64"}, Planted{"conv", "tf32"},
                                         Planted{"conv", "bf16"}, Planted{"conv", "f16"}, Planted{"conv", "s8"}),
                         [](const auto& each) { return std::string(each.param.kernel) + "_" + each.param.type; });

// The same problems through every real backend, with every algorithm it has: right to the check, or unsupported with a
// reason.
TEST_P(PlantedFaults, NoBackendIsWronglyAccused) {
  int checked = 0;
  for (const LoadedBackend& backend : plugins().backends) {
    TestHost host;
    TestSession session(backend.table, host);
    if (!session.ok()) continue;
    for (const std::string& text : problems_of(GetParam())) {
      const Problem problem = parse_problem(text).value();
      const std::string capability(problem.kernel->capability);
      if (backend.table->capability(capability.c_str()) == nullptr) continue;
      TestCase c(session, capability, problem.kernel->to_abi(problem));
      const Called prepared = c.prepare();
      if (!prepared) {
        EXPECT_EQ(prepared.code, HBMARK_UNSUPPORTED) << backend.name << " " << text;
        EXPECT_NE(prepared.message, "") << backend.name << " " << text;
        continue;
      }
      ASSERT_TRUE(c.list_candidates());
      for (std::uint32_t i = 0; i < c.candidates().size(); ++i) {
        const CheckReport report = check_candidate(c, text, i);
        EXPECT_TRUE(report.ok()) << backend.name << " " << text << " " << c.candidates()[i].name << ": "
                                 << report.first_wrong;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 2 * 5) << "the reference and the fake do all of them";
}

// The others, with the faults that they can have: a read's sums know no columns, and no operand of theirs has another way.
TEST(PlantedFaultsElsewhere, EveryOneIsFound) {
  for (const char* problem :
       {"stream:copy:f64:80000", "stream:scale:f32:80000", "stream:add:f64:80000", "stream:triad:f32:80000",
        "stream:read:f64:80000", "stream:read:f32:80004", "stream:write:f64:80000", "chase:64000", "peak:fma:f64"}) {
    EXPECT_TRUE(run_and_check(problem, json::object()).ok()) << problem;
    for (const char* kind : {"wrong_element", "wrong_tile", "wrong_column", "nan", "zeros"}) {
      const CheckReport report = run_and_check(problem, {{"rules", {{{"fault", {{"kind", kind}}}}}}});
      EXPECT_FALSE(report.ok()) << kind << " in " << problem;
    }
  }
}

}  // namespace
}  // namespace hbmark::tests
