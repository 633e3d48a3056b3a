// Placement on a Knights Landing that is not there: Debian's kernel under qemu, with MCDRAM nodes of a few dozen megabytes.
// Emulated CPUs prove where threads and pages are, and nothing about speed. One machine a test, one at a time.
#include <gmock/gmock.h>

#include "tests/vm/guest.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kCpu = "-cpu KnightsMill,model=87,l3-cache=off ";

// Small, since an emulated core does 10 MFLOP/s; each kernel of those that place memory, oneDNN's two among them.
constexpr const char* kLook =
    "part node; hbmark node --format json\n"
    "part doctor; hbmark doctor --format json; echo \"ended with $?\"\n";

const std::string kAllMemories = "ddr,fast,fast-preferred,fast-interleave";

std::string run(const std::string& part, const std::string& problems, const std::string& memories,
                const std::string& options) {
  return "part " + part + "; hbmark run -q --db /tmp/" + part + ".db " + problems + " --memory " + memories +
         " --format json --timeout 100 " + options + "; echo \"ended with $?\"\n";
}

const std::string kGemm = "--problem gemm:f32:nn:m32n32k32 ";
const std::string kConv = "--problem conv:fwd:f32:n1c8h8w8k8r3s3sh1sw1ph1pw1 ";
const std::string kStream = "--problem stream:triad:f64:1048576 ";

json node_of(const Guest& guest) {
  const auto all = guest.documents("node");
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? json::object() : all.front();
}

std::string mode_of(const Guest& guest) { return node_of(guest).value("/memory_mode/value"_json_pointer, ""); }

// Everything that the worker holds, operands and the library's own, on this node.
void expect_all_on(const json& result, const char* node) {
  EXPECT_EQ(result.value("outcome", ""), "ok") << result.value("reason", json()).dump();
  EXPECT_EQ(result.value("pages", json()), json({{node, 1.0}})) << result.value("problem", "");
  EXPECT_EQ(result.value("worker_pages", json()), json({{node, 1.0}})) << result.value("problem", "");
}

// GEMM on a machine with DDR on node 0 and MCDRAM on node 1.
void expect_each_in_its_place(const Guest& guest) {
  EXPECT_EQ(guest.last_line("run"), "ended with 0");
  expect_all_on(guest.result("run", "gemm", "ddr"), "0");
  expect_all_on(guest.result("run", "gemm", "mcdram"), "1");
  expect_all_on(guest.result("run", "gemm", "mcdram-interleave"), "1");
  const json preferred = guest.result("run", "gemm", "mcdram-preferred");
  EXPECT_EQ(preferred.value("outcome", ""), "ok");
  EXPECT_EQ(preferred.value("pages", json()), json({{"1", 1.0}})) << "there was room";
}

Machine two_nodes(const std::string& name, const std::string& fast_mib) {
  Machine machine;
  machine.name = name;
  machine.options = std::string(kCpu) + "-m " + std::to_string(256 + std::stoi(fast_mib)) +
                    "M -smp 4,sockets=1,cores=2,threads=2 -object memory-backend-ram,id=m0,size=256M "
                    "-object memory-backend-ram,id=m1,size=" +
                    fast_mib +
                    "M -numa node,nodeid=0,memdev=m0,cpus=0-3 -numa node,nodeid=1,memdev=m1 -numa dist,src=0,dst=1,val=31";
  return machine;
}

std::string hwdata(const std::string& cache_bytes, const std::string& cluster, const std::string& memory) {
  return "version: 2\ncache_size: " + cache_bytes +
         "\nassociativity: 1\ninclusiveness: 1\nline_size: 64\ncluster_mode: " + cluster + "\nmemory_mode: " + memory + "\n";
}

// 56 MiB of a file in memory leave 64 MiB and a little of the 128; triad of 16 MiB needs three arrays twice: 96 MiB.
constexpr const char* kTooLarge =
    "part small; mount -t tmpfs -o mpol=bind:1 eaten /eaten && dd if=/dev/zero of=/eaten/file bs=1M count=52\n"
    "grep MemFree /sys/devices/system/node/node1/meminfo\n"
    "hbmark run -q --db /tmp/s.db --problem stream:triad:f64:16777216 --memory fast --format json --budget 0.2\n"
    "part killed; dmesg | grep -ciE 'oom-kill|out of memory'\n"
    "umount /eaten\n";

// Something moves the pages of a running worker to DDR, again and again until the run has ended.
constexpr const char* kMoved =
    "part moved; hbmark run -q --db /tmp/m.db --problem stream:triad:f64:1048576 --memory fast --format json --budget 8 "
    "--precision 0.01% & run=$!\n"
    "sleep 3\n"
    "while kill -0 $run; do for worker in $(grep -l '[w]orker' /proc/[0-9]*/cmdline | cut -d/ -f3); do move_pages_of "
    "$worker 1 0; done; sleep 1; done\n"
    "wait $run; echo \"ended with $?\"\n";

constexpr const char* kHuge =
    "part no_pool; hbmark run -q --db /tmp/h.db --problem stream:triad:f64:1048576 --memory fast --pages 2m --format json "
    "--budget 0.2\n"
    "echo 4 >/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages\n"
    "part pool; hbmark run -q --db /tmp/h.db --problem stream:triad:f64:1048576 --memory fast --pages 2m --format json "
    "--budget 0.2\n";

TEST(VirtualKnl, Flat) {
  Machine machine = two_nodes("flat", "128");
  machine.script = kLook + run("run", kGemm, kAllMemories, "--budget 0.4") +
                   run("others", kConv + kStream, "ddr,fast", "--budget 0.4") + kTooLarge + kMoved + kHuge;
  const Guest guest = boot(machine);
  if (!guest.booted) return;
  EXPECT_EQ(node_of(guest).value("/numa/1/kind"_json_pointer, ""), "mcdram");
  EXPECT_EQ(guest.last_line("doctor"), "ended with 0");
  expect_each_in_its_place(guest);
  for (const char* kernel : {"conv", "stream"}) {
    expect_all_on(guest.result("others", kernel, "ddr"), "0");
    expect_all_on(guest.result("others", kernel, "mcdram"), "1");
  }

  const json small = guest.result("small", "stream", "mcdram");
  EXPECT_EQ(small.value("outcome", ""), "skipped");
  EXPECT_THAT(small.value("reason", ""), HasSubstr("needs 96 MiB of mcdram"));
  EXPECT_EQ(guest.last_line("killed"), "0");

  const json moved = guest.result("moved", "stream", "mcdram");
  EXPECT_EQ(moved.value("outcome", ""), "misplaced");
  EXPECT_THAT(moved.value("reason", ""), HasSubstr("on NUMA node 0"));
  EXPECT_EQ(guest.last_line("moved"), "ended with 1");

  EXPECT_EQ(guest.result("no_pool", "stream", "mcdram").value("outcome", ""), "skipped");
  EXPECT_THAT(guest.result("no_pool", "stream", "mcdram").value("reason", ""), HasSubstr("node1/hugepages"));
  const json pool = guest.result("pool", "stream", "mcdram");
  expect_all_on(pool, "1");
  EXPECT_EQ(pool.value("huge_pages", 0.0), 1.0);
}

// All the MCDRAM is a cache: there is none to place in, and one node of DDR.
TEST(VirtualKnl, Cache) {
  Machine machine;
  machine.name = "cache";
  machine.options = std::string(kCpu) +
                    "-m 256M -smp 4,sockets=1,cores=2,threads=2 -object memory-backend-ram,id=m0,size=256M "
                    "-numa node,nodeid=0,memdev=m0,cpus=0-3";
  machine.hwdata = hwdata("17179869184", "Quadrant", "Cache");
  machine.script = kLook + run("run", kGemm, kAllMemories, "--budget 0.4");
  const Guest guest = boot(machine);
  if (!guest.booted) return;
  EXPECT_EQ(mode_of(guest), "cache");
  EXPECT_EQ(guest.last_line("doctor"), "ended with 0");
  EXPECT_EQ(guest.last_line("run"), "ended with 3") << "memory that was asked for is not there";
  expect_all_on(guest.result("run", "gemm", "ddr"), "0");
  for (const char* memory : {"fast", "fast-preferred", "fast-interleave"}) {
    const json refused = guest.result("run", "gemm", memory);
    EXPECT_EQ(refused.value("outcome", ""), "unavailable");
    EXPECT_THAT(refused.value("reason", ""), HasSubstr("cache"));
  }
}

TEST(VirtualKnl, Hybrid) {
  Machine machine = two_nodes("hybrid", "64");
  machine.hwdata = hwdata("67108864", "Quadrant", "Hybrid50");
  machine.script = kLook + run("run", kGemm, kAllMemories, "--budget 0.4");
  const Guest guest = boot(machine);
  if (!guest.booted) return;
  EXPECT_EQ(mode_of(guest), "hybrid50");
  EXPECT_EQ(guest.last_line("doctor"), "ended with 0");
  expect_each_in_its_place(guest);
}

// Four clusters, each one core with DDR (nodes 0 to 3) and MCDRAM (4 to 7) of its own.
Machine four_clusters() {
  Machine machine;
  machine.name = "snc4";
  machine.options = std::string(kCpu) + "-m 704M -smp 4,sockets=1,cores=4,threads=1";
  for (int i = 0; i < 8; ++i) {
    const std::string number = std::to_string(i);
    // Node 0 holds the kernel and our file system too.
    const std::string size = i == 0 ? "224M" : i < 4 ? "96M" : "48M";
    machine.options += " -object memory-backend-ram,id=m" + number + ",size=" + size + " -numa node,nodeid=" + number +
                       ",memdev=m" + number;
  }
  for (int i = 0; i < 4; ++i) {
    machine.options +=
        " -numa cpu,node-id=" + std::to_string(i) + ",socket-id=0,core-id=" + std::to_string(i) + ",thread-id=0";
  }
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      if (from == to) continue;
      const bool same_cluster = from % 4 == to % 4;
      const bool both_ddr = from < 4 && to < 4;
      const int distance = same_cluster ? 31 : both_ddr ? 21 : 41;
      machine.options +=
          " -numa dist,src=" + std::to_string(from) + ",dst=" + std::to_string(to) + ",val=" + std::to_string(distance);
    }
  }
  return machine;
}

void expect_only_on(const json& result, int first, int last) {
  EXPECT_EQ(result.value("outcome", ""), "ok") << result.value("reason", json()).dump();
  for (const char* member : {"pages", "worker_pages"}) {
    const json shares = result.value(member, json::object());
    for (const auto& [node, share] : shares.items()) {
      EXPECT_TRUE(std::stoi(node) >= first && std::stoi(node) <= last) << member << " " << share << " on " << node;
    }
  }
}

TEST(VirtualKnl, Snc4) {
  Machine machine = four_clusters();
  machine.script = kLook + run("run", kGemm, kAllMemories, "--budget 0.4") +
                   run("even", "--problem stream:triad:f64:8388608 ", "fast-interleave,fast", "--pages 4k --budget 0.4");
  const Guest guest = boot(machine);
  if (!guest.booted) return;
  EXPECT_EQ(node_of(guest).value("fast_memory", json()).size(), 4U);
  EXPECT_EQ(guest.last_line("doctor"), "ended with 0");
  EXPECT_EQ(guest.last_line("run"), "ended with 0");
  expect_only_on(guest.result("run", "gemm", "ddr"), 0, 3);
  expect_only_on(guest.result("run", "gemm", "mcdram"), 4, 7);
  expect_only_on(guest.result("run", "gemm", "mcdram-interleave"), 4, 7);

  const json even = guest.result("even", "stream", "mcdram-interleave");
  expect_only_on(even, 4, 7);
  const json shares = even.value("pages", json::object());
  EXPECT_EQ(shares.size(), 4U);
  for (const auto& [node, share] : shares.items()) {
    EXPECT_NEAR(share.get<double>(), 0.25, 0.0025) << "node " << node << " of " << shares;
  }
  // First touch by threads of four clusters: each thread's part is beside it.
  const json near = guest.result("even", "stream", "mcdram");
  expect_only_on(near, 4, 7);
  const json near_shares = near.value("pages", json::object());
  for (const auto& [node, share] : near_shares.items()) {
    EXPECT_NEAR(share.get<double>(), 0.25, 0.02) << "node " << node;
  }
}

}  // namespace
}  // namespace hbmark::tests
