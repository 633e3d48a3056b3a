#include "topology/doctor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/unit/topology/fixtures.h"
#include "topology/cpu_times.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

Node two_pus() {
  Node node;
  node.cores = {{{0}, 0, 0}, {{1}, 0, 0}};
  node.pus = node.allowed_pus = {0, 1};
  return node;
}

std::vector<Finding> examined(const std::string& name, const Node& node = two_pus()) {
  DoctorOptions options;
  options.root = tree(name);
  auto findings = examine(node, options);
  if (!findings) ADD_FAILURE() << findings.error().what;
  return findings.value_or(std::vector<Finding>{});
}

Finding finding(const std::vector<Finding>& findings, const std::string& id) {
  for (const auto& each : findings) {
    if (each.id == id) return each;
  }
  ADD_FAILURE() << "no finding " << id;
  return {};
}

// Severity of each id, as one would jot it down: "governor=warning".
std::string severity(const std::vector<Finding>& findings, const std::string& id) {
  switch (finding(findings, id).severity) {
    case Severity::kGood:
      return "good";
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kProblem:
      return "problem";
  }
  return "";
}

TEST(Doctor, EveryCheckIsListedOnceAndAdvisesUnlessGood) {
  for (const char* name : {"laptop", "hpc", "kvm-guest", "container-v1", "container-v2", "knl"}) {
    std::set<std::string> ids;
    for (const auto& each : examined(name)) {
      EXPECT_TRUE(ids.insert(each.id).second) << each.id;
      EXPECT_FALSE(each.observed.empty()) << name << " " << each.id;
      EXPECT_EQ(each.advice.empty(), each.severity == Severity::kGood) << name << " " << each.id << ": " << each.observed;
    }
    EXPECT_EQ(ids, (std::set<std::string>{"governor", "turbo", "smt", "thp", "numa-balancing", "swap", "other-load", "steal",
                                          "container", "virtual-machine", "cgroup-quota", "cgroup-memory", "clock-source",
                                          "offline-cpus", "energy"}));
  }
}

TEST(Doctor, Laptop) {
  const auto findings = examined("laptop");
  EXPECT_EQ(severity(findings, "governor"), "warning");
  EXPECT_THAT(finding(findings, "governor").observed, HasSubstr("powersave on 4 CPU(s), driver intel_pstate"));
  EXPECT_EQ(severity(findings, "turbo"), "note");
  EXPECT_EQ(severity(findings, "smt"), "note");
  EXPECT_EQ(severity(findings, "thp"), "good");
  EXPECT_EQ(severity(findings, "numa-balancing"), "good");  // on, with one node
  EXPECT_EQ(severity(findings, "swap"), "warning");
  EXPECT_THAT(finding(findings, "swap").observed, HasSubstr("1.91 GiB of 7.63 GiB used"));
  EXPECT_EQ(severity(findings, "container"), "good");
  EXPECT_EQ(severity(findings, "virtual-machine"), "good");
  EXPECT_EQ(severity(findings, "cgroup-quota"), "good");
}

TEST(Doctor, TunedServerIsGoodThroughout) {
  for (const auto& each : examined("hpc")) {
    if (each.id == "other-load") continue;  // not measured on a recorded tree
    EXPECT_EQ(each.severity, Severity::kGood) << each.id << ": " << each.observed;
  }
}

TEST(Doctor, GuestWithSteal) {
  const auto findings = examined("kvm-guest");
  EXPECT_EQ(severity(findings, "steal"), "warning");
  EXPECT_THAT(finding(findings, "steal").observed, HasSubstr("5.00 %"));
  EXPECT_EQ(severity(findings, "virtual-machine"), "note");
  EXPECT_THAT(finding(findings, "virtual-machine").observed, HasSubstr("product KVM"));
  EXPECT_EQ(severity(findings, "governor"), "note");
  EXPECT_THAT(finding(findings, "governor").observed, HasSubstr("cannot be read"));
  EXPECT_EQ(severity(findings, "clock-source"), "good");
}

TEST(Doctor, ContainersWithQuotas) {
  const auto old_kind = examined("container-v1");
  EXPECT_EQ(severity(old_kind, "container"), "note");
  EXPECT_EQ(severity(old_kind, "cgroup-quota"), "problem");
  EXPECT_THAT(finding(old_kind, "cgroup-quota").observed, HasSubstr("1.50 CPUs' worth of time for 2 allowed PU(s)"));
  EXPECT_EQ(severity(old_kind, "cgroup-memory"), "warning");
  EXPECT_THAT(finding(old_kind, "cgroup-memory").observed, HasSubstr("limit 2.00 GiB, 1.50 GiB of it free"));
  EXPECT_EQ(severity(old_kind, "thp"), "warning");

  const auto new_kind = examined("container-v2");
  EXPECT_EQ(severity(new_kind, "cgroup-quota"), "problem");
  EXPECT_THAT(finding(new_kind, "cgroup-quota").advice, HasSubstr("--threads 1"));
  EXPECT_EQ(severity(new_kind, "cgroup-memory"), "note");
  EXPECT_EQ(severity(new_kind, "container"), "note");
}

TEST(Doctor, AQuotaAboveTheAllowedPusIsGood) {
  Node node = two_pus();
  node.allowed_pus = {0};
  EXPECT_EQ(severity(examined("container-v1", node), "cgroup-quota"), "good");
}

TEST(Doctor, UntunedKnightsLanding) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-quad-flat-real", tree("knl"));
  const auto findings = examined("knl", node);
  EXPECT_EQ(severity(findings, "knl-hwdata"), "warning");
  EXPECT_THAT(finding(findings, "knl-hwdata").advice, HasSubstr("hwloc-dump-hwdata"));
  EXPECT_EQ(severity(findings, "governor"), "warning");
  EXPECT_THAT(finding(findings, "governor").observed, HasSubstr("ondemand on 2 CPU(s), performance on 1 CPU(s)"));
  EXPECT_EQ(severity(findings, "turbo"), "note");
  EXPECT_EQ(severity(findings, "numa-balancing"), "warning");
  EXPECT_EQ(severity(findings, "thp"), "warning");
  EXPECT_EQ(severity(findings, "clock-source"), "warning");
  EXPECT_EQ(severity(findings, "cgroup-memory"), "good");
  EXPECT_EQ(severity(examined("knl-hwdata", node), "knl-hwdata"), "good");
}

TEST(Doctor, AbsentFilesAreNotesNeverGood) {
  for (const auto& each : examined("there-is-no-such-tree")) {
    EXPECT_EQ(each.severity, Severity::kNote) << each.id << ": " << each.observed;
    EXPECT_THAT(each.observed, testing::AnyOf(HasSubstr("cannot be read"), HasSubstr("not measured"))) << each.id;
  }
}

TEST(Doctor, ThisMachine) {
  const auto node = describe_node({});
  ASSERT_TRUE(node);
  DoctorOptions options;
  options.window_s = 0.1;
  const auto findings = examine(*node, options);
  ASSERT_TRUE(findings);
  EXPECT_THAT(finding(*findings, "other-load").observed, HasSubstr("others use"));
  EXPECT_THAT(finding(*findings, "steal").observed, HasSubstr("% of the CPU time"));
}

TEST(Doctor, WithoutAWindowTheLoadIsNotMeasuredAndSaysSo) {
  DoctorOptions options;
  options.window_s = 0;
  const auto findings = examine(two_pus(), options);
  ASSERT_TRUE(findings);
  EXPECT_EQ(finding(*findings, "other-load").severity, Severity::kNote);
  EXPECT_THAT(finding(*findings, "other-load").observed, HasSubstr("not measured"));
}

TEST(Doctor, AbsurdWindowsAreRefused) {
  for (double window_s : {-1.0, 61.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    DoctorOptions options;
    options.window_s = window_s;
    const auto findings = examine(two_pus(), options);
    ASSERT_FALSE(findings) << window_s;
    EXPECT_EQ(findings.error().kind, ErrorKind::kUsage);
  }
}

TEST(CpuTimesTest, ReadsTheKernelsColumns) {
  const auto times = read_cpu_times(tree("kvm-guest"));
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy, 50000U);
  EXPECT_EQ(times->idle, 900000U);
  EXPECT_EQ(times->steal, 50000U);
  EXPECT_EQ(times->cpus, 2);
  EXPECT_EQ(own_ticks(tree("kvm-guest")), 42U);  // the name in that line holds blanks and brackets
}

TEST(CpuTimesTest, OthersAreWhatIsBusyLessOurOwn) {
  const CpuTimes before{1000, 9000, 0, 4};
  const CpuTimes after{1200, 9190, 10, 4};  // 400 ticks on 4 CPUs: 100 ticks of time
  const auto load = load_between(before, after, 50);
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->others_cpus, 1.5);  // 150 of 400 ticks, times 4
  EXPECT_DOUBLE_EQ(load->steal_share, 10.0 / 400);
  EXPECT_DOUBLE_EQ(load_between(before, after, 999)->others_cpus, 0);  // ticks of the two files need not agree
  EXPECT_FALSE(load_between(after, before, 0));
  EXPECT_FALSE(load_between(after, after, 0));
}

}  // namespace
}  // namespace hbmark::topology::tests
