// The fake does what its script says; and, with it, the contract suite's own checks are shown to be able to fail.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "backends/loader/members.h"
#include "tests/contract/driver.h"
#include "tests/contract/judge.h"
#include "tests/contract/problems.h"
#include "tests/contract/scripted.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::DoubleNear;
using testing::HasSubstr;

constexpr std::uint64_t kSeed = 5;

const ContractKernel& kernel_named(const std::string& name) {
  for (const ContractKernel& kernel : contract_kernels()) {
    if (kernel.name == name) return kernel;
  }
  throw std::logic_error(name);
}

json rules(json rule) { return {{"rules", json::array({std::move(rule)})}}; }

class Fake : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(find_backend("fake"), nullptr); }

  void open(const json& script) {
    case_.reset();  // cases before their session, and the old script's end before the new one's start
    session_.reset();
    script_.reset();
    script_ = std::make_unique<Script>(script);
    session_ = std::make_unique<TestSession>(find_backend("fake"), host_);
  }
  TestCase& prepare(const ContractProblem& problem, const char* capability = HBMARK_GEMM_V1) {
    case_ = std::make_unique<TestCase>(*session_, capability, problem.bytes);
    return *case_;
  }
  double timed(TestCase& c, std::uint64_t calls) {
    const auto timer = find_capability<hbmark_timer>(session_->backend(), HBMARK_TIMER_V1);
    double elapsed_s = -7;
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->begin(session_->handle(), s); }));
    EXPECT_TRUE(c.run(calls));
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->end(session_->handle(), s); }));
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->elapsed(session_->handle(), &elapsed_s, s); }));
    return elapsed_s;
  }
  std::string judged(TestCase& c, const char* kernel, const ContractProblem& problem) {
    Bytes out;
    EXPECT_TRUE(c.read(out));
    return judge(problem, expect(kernel_named(kernel), problem, kSeed), to_doubles(out, c.output().type),
                 HBMARK_ALGORITHM_DIRECT);
  }
  // How a process ends that runs one gemm under this script, from probe to release.
  int end_of_process(const json& script) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      open(script);
      {
        TestCase& c = prepare(describe(gemm(4, 4, 4)));
        static_cast<void>(c.everything_until_run(kSeed));
        for (int i = 0; i < 5; ++i) static_cast<void>(c.run(1));
        case_.reset();
      }
      _exit(77);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  TestHost host_;
  std::unique_ptr<Script> script_;
  std::unique_ptr<TestSession> session_;
  std::unique_ptr<TestCase> case_;
};

TEST_F(Fake, TimesAreCycledCallByCall) {
  open(rules({{"match", "gemm:f32:nn:m4n4k4"}, {"times", {1.0, 2.0, 4.0}}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  ASSERT_TRUE(c.everything_until_run(kSeed));  // takes the 1
  EXPECT_DOUBLE_EQ(timed(c, 1), 2);
  EXPECT_DOUBLE_EQ(timed(c, 2), 5);
  EXPECT_DOUBLE_EQ(timed(c, 3000), 7000);
  EXPECT_DOUBLE_EQ(timed(c, 3001), 7002);
}

TEST_F(Fake, ARuleIsForTheProblemsItMatchesAndTheFirstWins) {
  open({{"rules",
         {{{"match", "gemm:f32:tn:*"}, {"times", {3.0}}},
          {{"match", "gemm:*k[45]"}, {"times", {5.0}}},
          {{"times", {7.0}}}}}});
  hbmark_gemm_problem p = gemm(4, 4, 4);
  p.trans_a = 1;
  ASSERT_TRUE(prepare(describe(p)).everything_until_run(kSeed));
  EXPECT_DOUBLE_EQ(timed(*case_, 1), 3);
  ASSERT_TRUE(prepare(describe(gemm(4, 4, 5))).everything_until_run(kSeed));
  EXPECT_DOUBLE_EQ(timed(*case_, 1), 5);
  ASSERT_TRUE(prepare(describe(gemm(4, 4, 6))).everything_until_run(kSeed));
  EXPECT_DOUBLE_EQ(timed(*case_, 1), 7);
}

TEST_F(Fake, WritesProblemsAsHbmarkDoes) {
  const auto matched = [&](const char* capability, const Bytes& problem, const std::string& text) {
    open(rules({{"match", text}, {"times", {123.0}}}));
    TestCase c(*session_, capability, problem);
    EXPECT_TRUE(c.everything_until_run(kSeed)) << text;
    EXPECT_DOUBLE_EQ(timed(c, 1), 123) << text;
  };
  hbmark_gemm_problem g = gemm(3, 2, 5);
  g.type = HBMARK_F64, g.trans_b = 1, g.batch = 8;
  matched(HBMARK_GEMM_V1, to_bytes(g), "gemm:f64:nt:m3n2k5/batch=8");
  hbmark_conv_problem x = conv(HBMARK_CONV_BWD_WEIGHTS, 1, 4, 9, 8, 2, 3, 2);
  x.sh = 2, x.ph = 1, x.g = 2, x.dw = 3;
  matched(HBMARK_CONV_V1, to_bytes(x), "conv:bwd_weights:f32:n1c4h9w8k2r3s2sh2sw1ph1pw0/g=2/dw=3");
  matched(HBMARK_STREAM_V1, to_bytes(hbmark_stream_problem{0, HBMARK_STREAM_TRIAD, HBMARK_F64, 0, 4096, 0.5}),
          "stream:triad:f64:4096");
  matched(HBMARK_PEAK_V1, to_bytes(hbmark_peak_problem{0, HBMARK_PEAK_FMA, HBMARK_F32, 0, 0.5, 0.5}), "peak:fma:f32");
}

std::vector<double> draw(TestCase& c, int count, const std::function<double(TestCase&)>& timed) {
  std::vector<double> result;
  for (int i = 0; i < count; ++i) result.push_back(timed(c));
  return result;
}

TEST_F(Fake, ADistributionHasTheMomentsItWasGiven) {
  constexpr int kDraws = 20000;
  const json d = {{"median", 2e-3}, {"sigma", 0.1}, {"seed", 3}, {"autocorrelation", 0.6}};
  open(rules({{"distribution", d}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  ASSERT_TRUE(c.everything_until_run(kSeed));
  const auto samples = draw(c, kDraws, [&](TestCase& x) { return timed(x, 10) / 10; });
  std::vector<double> logs;
  for (const double s : samples) logs.push_back(std::log(s / 2e-3));
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / kDraws;
  double variance = 0, lag = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double here = logs[static_cast<std::size_t>(i)] - mean;
    variance += here * here;
    if (i > 0) lag += here * (logs[static_cast<std::size_t>(i) - 1] - mean);
  }
  // Four standard errors of each estimate: 0.1 sqrt((1 + rho) / (1 - rho) / N), sigma / sqrt(2 N) and 1 / sqrt(N), widened
  // for rho.
  EXPECT_THAT(mean, DoubleNear(0, 0.006));
  EXPECT_THAT(std::sqrt(variance / kDraws), DoubleNear(0.1, 0.004));
  EXPECT_THAT(lag / variance, DoubleNear(0.6, 0.03));
}

TEST_F(Fake, ADistributionRepeatsItselfAndDiffersByProblemAndSeed) {
  const auto series = [&](int seed, std::int64_t k) {
    open(rules({{"distribution", {{"median", 1.0}, {"sigma", 0.2}, {"seed", seed}}}}));
    TestCase& c = prepare(describe(gemm(4, 4, k)));
    EXPECT_TRUE(c.everything_until_run(kSeed));
    return draw(c, 5, [&](TestCase& x) { return timed(x, 1); });
  };
  EXPECT_EQ(series(1, 4), series(1, 4));
  EXPECT_NE(series(1, 4), series(2, 4));
  EXPECT_NE(series(1, 4), series(1, 5));
}

TEST_F(Fake, DriftAddsAPartOfTheMedianEachDraw) {
  open(rules({{"distribution", {{"median", 1.0}, {"drift", 0.25}}}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  ASSERT_TRUE(c.everything_until_run(kSeed));
  EXPECT_THAT(timed(c, 1), DoubleNear(1.25, 1e-9));
  EXPECT_THAT(timed(c, 2), DoubleNear(3.0, 1e-9));
}

TEST_F(Fake, OffersTheCandidatesOfItsScript) {
  open(rules({{"candidates",
               {{{"name", "slow"}, {"times", {3.0}}, {"workspace_bytes", 4096}},
                {{"name", "fast"}, {"time_factor", 0.5}, {"class", "winograd"}}}},
              {"times", {2.0}}}));
  const ContractProblem problem = describe(gemm(4, 4, 4));
  TestCase& c = prepare(problem);
  ASSERT_TRUE(c.everything_until_run(kSeed));
  ASSERT_EQ(c.candidates().size(), 2u);
  EXPECT_STREQ(c.candidates()[0].name, "slow");
  EXPECT_EQ(c.candidates()[0].workspace_bytes, 4096u);
  EXPECT_EQ(c.candidates()[1].algorithm_class, static_cast<std::uint32_t>(HBMARK_ALGORITHM_WINOGRAD));
  EXPECT_EQ(c.operands().size(), 4u);
  EXPECT_STREQ(c.operands()[3].name, "workspace");
  EXPECT_DOUBLE_EQ(timed(c, 1), 3);
  ASSERT_TRUE(c.select(1));
  ASSERT_TRUE(c.list_operands());
  EXPECT_EQ(c.operands().size(), 3u);
  ASSERT_TRUE(c.bind_all());
  ASSERT_TRUE(c.write_all(kSeed));
  EXPECT_DOUBLE_EQ(timed(c, 4), 4);
  hbmark_case_info info;
  ASSERT_TRUE(c.info(info));
  EXPECT_STREQ(info.implementation, "fake:fast");
  EXPECT_EQ(judged(c, "gemm", problem), "");
}

TEST_F(Fake, ConversionTakesItsTime) {
  open(rules({{"conversion", 0.25}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  ASSERT_TRUE(c.everything_until_run(kSeed));
  hbmark_case_info info;
  ASSERT_TRUE(c.info(info));
  EXPECT_EQ(info.has_conversion, 1u);
  EXPECT_TRUE(c.convert(3));
}

// Every way of being wrong must be seen by the judge that the contract suite trusts.
TEST_F(Fake, TheSuiteSeesEveryWrongOutput) {
  const ContractProblem square = describe(gemm(16, 16, 16));
  hbmark_conv_problem x = conv(HBMARK_CONV_FWD, 1, 3, 8, 8, 4, 3, 3);
  x.ph = x.pw = 1;
  const ContractProblem image = describe(x);
  for (const char* kind :
       {"wrong_element", "wrong_tile", "wrong_column", "transposed_operand", "nan", "zeros", "untouched"}) {
    SCOPED_TRACE(kind);
    open(rules({{"fault", {{"kind", kind}}}}));
    ASSERT_TRUE(prepare(square).everything_until_run(kSeed));
    EXPECT_NE(judged(*case_, "gemm", square), "");
    ASSERT_TRUE(prepare(image, HBMARK_CONV_V1).everything_until_run(kSeed));
    EXPECT_NE(judged(*case_, "conv", image), "");
  }
  // Right after one call, and not after three.
  open(rules({{"fault", {{"kind", "accumulate"}, {"after", 1}}}}));
  ASSERT_TRUE(prepare(square).everything_until_run(kSeed));
  EXPECT_EQ(judged(*case_, "gemm", square), "");
  ASSERT_TRUE(case_->run(3));
  EXPECT_NE(judged(*case_, "gemm", square), "");
}

TEST_F(Fake, FaultsStrikeAfterAndForAsLongAsTheyAreTold) {
  open(rules({{"fault",
               {{"kind", "failed"}, {"after", 2}, {"count", 2}, {"message", "cudaErrorScripted"}, {"vendor_code", 719}}}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  ASSERT_TRUE(c.everything_until_run(kSeed));
  EXPECT_TRUE(c.run(1));
  for (int i = 0; i < 2; ++i) {
    const Called result = c.run(1);
    EXPECT_EQ(result.code, HBMARK_FAILED);
    EXPECT_EQ(result.vendor_code, 719);
    EXPECT_EQ(result.message, "cudaErrorScripted");
  }
  EXPECT_TRUE(c.run(1));
}

TEST_F(Fake, EveryStepCanFail) {
  const ContractProblem problem = describe(gemm(4, 4, 4));
  for (const char* step : {"prepare", "select", "alloc", "write", "run"}) {
    SCOPED_TRACE(step);
    open(rules({{"fault", {{"kind", "out_of_memory"}, {"at", step}}}}));
    EXPECT_EQ(prepare(problem).everything_until_run(kSeed).code, HBMARK_OUT_OF_MEMORY);
  }
  open(rules({{"fault", {{"kind", "failed"}, {"at", "read"}}}}));
  ASSERT_TRUE(prepare(problem).everything_until_run(kSeed));
  Bytes out;
  EXPECT_EQ(case_->read(out).code, HBMARK_FAILED);
  for (const char* step : {"probe", "open"}) {
    open(rules({{"fault", {{"kind", "unavailable"}, {"at", step}, {"message", "no driver"}}}}));
    EXPECT_EQ(session_->opened().code, HBMARK_UNAVAILABLE) << step;
    EXPECT_EQ(session_->opened().message, "no driver") << step;
  }
}

TEST_F(Fake, LiesAboutSupportInBothDirectionsAndSaysNothing) {
  const ContractProblem problem = describe(gemm(4, 4, 4));
  open(rules({{"fault", {{"kind", "unsupported"}, {"at", "prepare"}}}}));
  EXPECT_TRUE(prepare(problem).supports());
  EXPECT_EQ(case_->prepare().code, HBMARK_UNSUPPORTED);
  open(rules({{"fault", {{"kind", "unsupported"}, {"at", "supports"}, {"message", ""}}}}));
  const Called silent = prepare(problem).supports();
  EXPECT_EQ(silent.code, HBMARK_UNSUPPORTED);
  EXPECT_EQ(silent.message, "");
  EXPECT_TRUE(case_->prepare());
  open(rules({{"unsupported", "not today"}}));
  EXPECT_EQ(prepare(problem).supports().message, "not today");
  EXPECT_EQ(case_->prepare().message, "not today");
}

TEST_F(Fake, ItsClockCanLie) {
  for (const auto& [kind, is_so] :
       std::map<std::string, std::function<bool(double)>>{{"zero_clock", [](double t) { return t == 0; }},
                                                          {"negative_clock", [](double t) { return t < 0; }},
                                                          {"nan_clock", [](double t) { return std::isnan(t); }}}) {
    open(rules({{"fault", {{"kind", kind}}}}));
    TestCase& c = prepare(describe(gemm(4, 4, 4)));
    ASSERT_TRUE(c.everything_until_run(kSeed));
    EXPECT_TRUE(is_so(timed(c, 5))) << kind;
  }
}

TEST_F(Fake, DiesAsItIsTold) {
  const auto fault = [](json f) { return rules({{"fault", std::move(f)}}); };
  for (const auto& [kind, number] : std::map<std::string, int>{
           {"segv", SIGSEGV}, {"abort", SIGABRT}, {"ill", SIGILL}, {"fpe", SIGFPE}, {"kill", SIGKILL}}) {
    const int status = end_of_process(fault({{"kind", kind}, {"after", 2}}));
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << kind << " " << status;
  }
  for (const char* step : {"probe", "open", "prepare", "select", "alloc", "write", "run", "release"}) {
    const int status = end_of_process(fault({{"kind", "exit"}, {"at", step}, {"status", 9}}));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << step << " " << status;
  }
  EXPECT_EQ(WEXITSTATUS(end_of_process(rules({{"times", {1.0}}}))), 77) << "and lives when it is not told to die";
}

TEST_F(Fake, HangsForGood) {
  open(rules({{"fault", {{"kind", "hang"}}}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(c.everything_until_run(kSeed));
    _exit(77);
  }
  usleep(100000);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WNOHANG), 0) << "came back";
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

TEST_F(Fake, PrintsWhereItMustNot) {
  open(rules({{"fault", {{"kind", "print"}, {"stdout", "noise\n"}, {"stderr", "clamour\n"}}}}));
  TestCase& c = prepare(describe(gemm(4, 4, 4)));
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Called result = c.everything_until_run(kSeed);
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "noise\n");
  EXPECT_EQ(err, "clamour\n");
  EXPECT_TRUE(result);
}

TEST_F(Fake, SlownessLooksAtCancelUnlessDeaf) {
  const json slow = {{"kind", "slow"}, {"seconds", 30}};
  open(rules({{"fault", slow}}));
  host_.cancel = true;
  EXPECT_EQ(prepare(describe(gemm(4, 4, 4))).everything_until_run(kSeed).code, HBMARK_CANCELLED);
  open(rules({{"deaf", true}, {"fault", {{"kind", "slow"}, {"seconds", 0.01}}}}));
  EXPECT_EQ(prepare(describe(gemm(4, 4, 4))).everything_until_run(kSeed).code, HBMARK_OK);
}

TEST_F(Fake, DevicesAndInfoAreScripted) {
  open({{"devices", {{{"id", "gpu:0"}, {"name", "A Fake 100"}, {"kind", "gpu"}, {"memory_bytes", 1024}}}},
        {"info", {{"library", "Fakelib 9"}, {"warning", "beware"}}}});
  ASSERT_TRUE(session_->ok());
  hbmark_device device{};
  device.struct_size = sizeof device;
  std::uint32_t count = 0;
  ASSERT_TRUE(call([&](hbmark_status* s) { return session_->backend().probe(host_.get(), &device, 1, &count, s); }));
  EXPECT_STREQ(device.id, "gpu:0");
  EXPECT_EQ(device.kind, static_cast<std::uint32_t>(HBMARK_DEVICE_GPU));
  EXPECT_EQ(device.memory_bytes, 1024u);
  const auto describe_table = find_capability<hbmark_info_capability>(session_->backend(), HBMARK_INFO_V1);
  hbmark_info info{};
  info.struct_size = sizeof info;
  ASSERT_TRUE(call([&](hbmark_status* s) { return describe_table->describe(session_->handle(), &info, s); }));
  EXPECT_STREQ(info.library, "Fakelib 9");
  EXPECT_STREQ(info.warning, "beware");
  open({{"unavailable", "the driver is a lie"}});
  EXPECT_EQ(session_->opened().code, HBMARK_UNAVAILABLE);
  EXPECT_EQ(session_->opened().message, "the driver is a lie");
}

TEST_F(Fake, AWrongScriptSaysWhatIsWrong) {
  const auto reason = [&](const std::string& text) {
    session_.reset();
    script_.reset();
    script_ = std::make_unique<Script>(text);
    session_ = std::make_unique<TestSession>(find_backend("fake"), host_);
    EXPECT_EQ(session_->opened().code, HBMARK_UNAVAILABLE) << text;
    return session_->opened().message;
  };
  EXPECT_THAT(reason("{"), HasSubstr("parse error"));
  EXPECT_THAT(reason(R"({"rulez": []})"), HasSubstr("unknown key \"rulez\""));
  EXPECT_THAT(reason(R"({"rules": [{"fault": {"kind": "sulk"}}]})"), HasSubstr("no kind of fault \"sulk\""));
  EXPECT_THAT(reason(R"({"rules": [{"fault": {"kind": "segv", "at": "tea"}}]})"), HasSubstr("no step \"tea\""));
  EXPECT_THAT(reason(R"({"rules": [{"times": "soon"}]})"), HasSubstr("type must be array"));
  setenv("HBMARK_FAKE_SCRIPT", "/nonexistent/script.json", 1);
  TestSession session(find_backend("fake"), host_);
  EXPECT_THAT(session.opened().message, HasSubstr("cannot read the script /nonexistent/script.json"));
}

}  // namespace
}  // namespace hbmark::tests
