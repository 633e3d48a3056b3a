// The table of nominal figures: names found and names refused, and rows that are wrong.
#include "topology/devices.h"

#include <gmock/gmock.h>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/temp_tree.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

const DeviceTable& installed() {
  static const DeviceTable table = [] {
    auto loaded = load_devices(std::string(HBMARK_STAGE) + "/share/hbmark/devices.csv");
    if (!loaded) ADD_FAILURE() << loaded.error().what << ": " << loaded.error().why;
    return loaded.value_or(DeviceTable{});
  }();
  return table;
}

std::string device_of(std::string_view cpu_model) {
  const auto figures = nominal_figures(installed(), cpu_model);
  return figures ? figures->device : "none";
}

std::string gpu_of(std::string_view name) {
  const auto figures = nominal_gpu_figures(installed(), name);
  return figures ? figures->device : "none";
}

TEST(Devices, TheInstalledTableLoads) {
  EXPECT_GE(installed().rows.size(), 19U);
  for (const DeviceRow& row : installed().rows) {
    EXPECT_FALSE(row.figures.source.empty()) << row.figures.device;
    EXPECT_GT(row.cores, 0) << row.figures.device;
    const auto& figures = row.figures;
    EXPECT_FALSE(figures.peak_flop_per_s.empty() && !figures.fast_bytes_per_s && !figures.ddr_bytes_per_s &&
                 !figures.fast_measured_bytes_per_s)
        << figures.device << " has no figure at all";
    for (const auto& [type, peak] : figures.peak_flop_per_s) {  // terafigures, not giga and not peta
      EXPECT_GT(peak, 1e11) << figures.device << " " << type;
      EXPECT_LT(peak, 1e16) << figures.device << " " << type;
    }
  }
}

TEST(Devices, ProcessorsAreFoundByTheNamesTheyGiveThemselves) {
  EXPECT_EQ(device_of("Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz"), "Xeon Phi 7250");
  EXPECT_EQ(device_of("Intel(R) Xeon Phi(TM) CPU 7250F @ 1.40GHz"), "Xeon Phi 7250");
  EXPECT_EQ(device_of("Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz"), "Xeon Phi 7210");
  EXPECT_EQ(device_of("Intel(R) Xeon Phi(TM) CPU 7295 @ 1.50GHz"), "Xeon Phi 7295");
  EXPECT_EQ(device_of("Intel(R) Xeon(R) CPU Max 9480"), "Xeon Max 9480");
  EXPECT_EQ(device_of("INTEL(R) XEON(R) CPU MAX 9480  "), "Xeon Max 9480");
}

TEST(Devices, ANearNameIsAnotherDevice) {
  for (const char* model : {"",
                            " ",
                            "@",
                            "Intel",
                            "Intel(R) Xeon Phi(TM)",
                            "Intel(R) Xeon Phi(TM) CPU",
                            "7250",
                            "Xeon 7250",
                            "Intel(R) Xeon Phi(TM) CPU 72 50",
                            "Intel(R) Xeon Phi(TM) CPU 7250X @ 1.40GHz",
                            "Intel(R) Xeon Phi(TM) CPU 7235",
                            "Intel(R) Xeon(R) CPU Max 9470C",
                            "Intel(R) Xeon(R) CPU Max 9480+",
                            "Intel(R) Xeon(R) CPU E7-7250 @ 1.40GHz",
                            "Intel(R) Genuine Intel(R) CPU 0000 @ 1.30GHz",
                            "06/57",
                            "Xeon Phi 7250 Xeon Phi 7210",
                            "Neoverse-V2",
                            "Tesla K40",
                            "AMD Instinct MI300A Accelerator",
                            "Intel(R) Xeon(R) Platinum 8480+"}) {
    EXPECT_EQ(device_of(model), "none") << model;
  }
}

TEST(Devices, GpusAreFoundByPciAndDriverNames) {
  EXPECT_EQ(gpu_of("GV100GL [Tesla V100 SXM2 16GB]"), "Tesla V100 SXM2");
  EXPECT_EQ(gpu_of("GV100GL [Tesla V100 SXM2]"), "Tesla V100 SXM2");
  EXPECT_EQ(gpu_of("Tesla V100-SXM2-16GB"), "Tesla V100 SXM2");
  EXPECT_EQ(gpu_of("NVIDIA A100-SXM4-40GB"), "A100 SXM4 40GB");
  EXPECT_EQ(gpu_of("GA100 [A100 SXM4 80GB]"), "A100 SXM4 80GB");
  EXPECT_EQ(gpu_of("NVIDIA H100 80GB HBM3"), "H100 SXM5 80GB");
  EXPECT_EQ(gpu_of("GH100 [H200 SXM 141GB]"), "H200 SXM 141GB");
  EXPECT_EQ(gpu_of("NVIDIA H200"), "H200 SXM 141GB");
  EXPECT_EQ(gpu_of("GP100GL [Tesla P100 PCIe 16GB]"), "Tesla P100 PCIe 16GB");
  EXPECT_EQ(gpu_of("GK110BGL [Tesla K40m]"), "Tesla K40");
  EXPECT_EQ(gpu_of("GH100[H100 SXM5 80GB]"), "H100 SXM5 80GB");   // as pci.ids of 2023 spells it
  EXPECT_EQ(gpu_of("NVIDIA GPU [10de:20b0]"), "A100 SXM4 40GB");  // what a node without pci.ids shows
}

TEST(Devices, OtherBoardsOfTheSameChipAreNotTaken) {
  for (const char* name : {"GV100GL [Tesla V100 PCIe 16GB]",
                           "GV100GL [Tesla V100 SXM2 32GB]",
                           "Tesla V100-SXM3-32GB-H",
                           "GV100 [TITAN V]",
                           "NVIDIA H100 PCIe",
                           "GH100 [H100 PCIe]",
                           "NVIDIA H100 NVL",
                           "NVIDIA H100",
                           "NVIDIA H200 NVL",
                           "NVIDIA A100-SXM4",
                           "NVIDIA A100-PCIE-40GB",
                           "GP100GL [Tesla P100 PCIe 12GB]",
                           "Tesla M40 24GB",
                           "GK110GL [Tesla K20Xm]",
                           "NVIDIA GPU [10de:2331]",
                           "AMD GPU [1002:2330]",
                           "NVIDIA GPU [10de:2342]",
                           "Aqua Vanjaram [Instinct MI300A]",
                           "GeForce GTX 1070",
                           "",
                           "[",
                           "]["}) {
    EXPECT_EQ(gpu_of(name), "none") << name;
  }
}

TEST(Devices, FiguresAreInSiUnits) {
  const auto knl = nominal_figures(installed(), "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz");
  ASSERT_TRUE(knl);
  // 68 cores x 1.4 GHz x 2 units x 16 lanes x 2 flop
  EXPECT_NEAR(knl->peak_flop_per_s.at("f32"), 68 * 1.4e9 * 64, 1e9);
  EXPECT_NEAR(knl->peak_flop_per_s.at("f64"), 68 * 1.4e9 * 32, 1e9);
  EXPECT_EQ(knl->peak_flop_per_s.count("bf16"), 0U);
  EXPECT_FALSE(knl->fast_bytes_per_s);  // only measured figures are published
  EXPECT_FALSE(knl->ddr_bytes_per_s);
  EXPECT_DOUBLE_EQ(knl->fast_measured_bytes_per_s.value_or(0), 422e9);
  EXPECT_DOUBLE_EQ(knl->ddr_measured_bytes_per_s.value_or(0), 88e9);
  const auto a100 = nominal_gpu_figures(installed(), "NVIDIA A100-SXM4-80GB");
  ASSERT_TRUE(a100);
  EXPECT_DOUBLE_EQ(a100->peak_flop_per_s.at("f16"), 312e12);
  EXPECT_DOUBLE_EQ(a100->peak_flop_per_s.at("tf32"), 156e12);
  EXPECT_DOUBLE_EQ(a100->peak_flop_per_s.at("s8"), 624e12);
  EXPECT_DOUBLE_EQ(a100->fast_bytes_per_s.value_or(0), 2039e9);
  EXPECT_FALSE(a100->fast_measured_bytes_per_s);
}

TEST(Devices, ABoardOfTwoChipsIsTwoDevices) {
  const auto half = nominal_gpu_figures(installed(), "GK210GL [Tesla K80]");
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->peak_flop_per_s.at("f32"), 8.74e12 / 2);
  EXPECT_DOUBLE_EQ(half->fast_bytes_per_s.value_or(0), 240e9);
}

Node node_of(const std::string& model, int packages, int cores) {
  Node node;
  node.cpu_model = model;
  node.packages = packages;
  node.cores.resize(static_cast<std::size_t>(cores));
  return node;
}

TEST(Devices, ANodeHasTheFiguresOfAllItsPackages) {
  const auto both = nominal_figures(installed(), node_of("Intel(R) Xeon(R) CPU Max 9480", 2, 112));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->device, "2 x Xeon Max 9480");
  EXPECT_DOUBLE_EQ(both->fast_bytes_per_s.value_or(0), 2000e9);
}

TEST(Devices, APartOfAMachineHasNoNominalFigures) {
  const std::string model = "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz";
  EXPECT_TRUE(nominal_figures(installed(), node_of(model, 1, 68)));
  EXPECT_FALSE(nominal_figures(installed(), node_of(model, 1, 18)));
  EXPECT_FALSE(nominal_figures(installed(), node_of(model, 2, 68)));
  EXPECT_FALSE(nominal_figures(installed(), node_of(model, 0, 0)));
}

TEST(Devices, RecordedMachines) {
  HBMARK_NEED_SHARED("data/topologies");
  const auto device = [](const char* name) {
    const auto figures = nominal_figures(installed(), describe_shared(name));
    return figures ? figures->device : "none";
  };
  EXPECT_EQ(device("knl7250-quad-cache-real"), "Xeon Phi 7250");
  EXPECT_EQ(device("knl7290-quad-hybrid50-misreported"), "Xeon Phi 7290");
  EXPECT_EQ(device("xeonmax9480-2s-hbmonly-quad"), "2 x Xeon Max 9480");
  EXPECT_EQ(device("knl7250-snc4-flat-cgroup-local"), "none");
  EXPECT_EQ(device("knl-es64-flat-nosubtype-real"), "none");
  EXPECT_EQ(device("xeonmax9462-2s-flat-snc4-real"), "none");
  EXPECT_EQ(device("gh200-real"), "none");
  EXPECT_EQ(device("vm-2vcpu"), "none");
  for (const Gpu& gpu : describe_shared("spr-4xh100-nvlink-real").gpus) EXPECT_EQ(gpu_of(gpu.name), "H100 SXM5 80GB");
}

constexpr const char* kHeader = "device,also_called,kind,os_devices,peak_fp32_tflops,source";

std::string complaint(const std::string& text) {
  TempTree tree;
  tree.write("/devices.csv", text);
  const auto table = load_devices(tree.path("/devices.csv"));
  if (table) {
    ADD_FAILURE() << "accepted: " << text;
    return "";
  }
  EXPECT_EQ(table.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(table.error().what, HasSubstr("devices.csv"));
  EXPECT_FALSE(table.error().next.empty());
  return table.error().why;
}

TEST(DeviceTableFile, WrongRowsAreNamed) {
  const std::string head = std::string(kHeader) + "\n";
  EXPECT_THAT(complaint(head + "A,,cpu,1,1.5x,me"), HasSubstr("line 2: column peak_fp32_tflops is '1.5x'"));
  EXPECT_THAT(complaint(head + "A,,cpu,1,1.5,me\nB,,cpu,1,-3,me"), HasSubstr("line 3: column peak_fp32_tflops is '-3'"));
  for (const char* number : {"0", "nan", "inf", "1e999", "0x10", "1 5", "1,5"}) {
    EXPECT_THAT(complaint(head + "A,,cpu,1," + number + ",me"), HasSubstr("line 2")) << number;
  }
  EXPECT_THAT(complaint(head + "A,,cpu,0,1,me"), HasSubstr("os_devices"));
  EXPECT_THAT(complaint(head + "A,,fpga,1,1,me"), HasSubstr("kind is 'fpga', not cpu or gpu"));
  EXPECT_THAT(complaint(head + "A,,cpu,1,1"), HasSubstr("the row has 5 fields, the header names 6"));
  EXPECT_THAT(complaint(head + ",,cpu,1,1,me"), HasSubstr("no name"));
  EXPECT_THAT(complaint(head + "Intel CPU,,cpu,1,1,me"), HasSubstr("no name"));  // words that tell nothing apart
  EXPECT_THAT(complaint(head + "A,,cpu,1,1,"), HasSubstr("no source"));
  EXPECT_THAT(complaint(head + "A 1,,cpu,1,1,me\nB,Intel(R) a-1,cpu,1,1,me"),
              HasSubstr("line 3: 'Intel(R) a-1' is already"));
  EXPECT_THAT(complaint(head + "A,,cpu,1,1,\"me"), HasSubstr("line 2: a quote is never closed"));
  EXPECT_THAT(complaint(head + "A,,cpu,1,1,m\"e"), HasSubstr("line 2: a double quote stands inside a field"));
  EXPECT_THAT(complaint("device,kind\nA,cpu"), HasSubstr("there is no column 'also_called'"));
}

TEST(DeviceTableFile, AbsentOrAFolder) {
  const TempTree tree;
  EXPECT_THAT(load_devices(tree.path("/absent.csv")).error().why, HasSubstr("No such file"));
  EXPECT_THAT(load_devices(tree.root()).error().why, HasSubstr("it is a folder"));
}

TEST(DeviceTableFile, ColumnsMayStandInAnyOrderAndOthersMayBeAdded) {
  TempTree tree;
  tree.write("/devices.csv", "colour,source,os_devices,kind,also_called,device\nred,\"me, and you\",,gpu,B 2;C,A 1");
  const auto table = load_devices(tree.path("/devices.csv"));
  ASSERT_TRUE(table) << table.error().why;
  EXPECT_EQ(nominal_gpu_figures(*table, "NVIDIA B-2")->device, "A 1");
  EXPECT_EQ(nominal_gpu_figures(*table, "c")->source, "me, and you");
  EXPECT_TRUE(nominal_gpu_figures(*table, "c")->peak_flop_per_s.empty());
  EXPECT_FALSE(nominal_figures(*table, "A 1"));  // a GPU is no processor
}

}  // namespace
}  // namespace hbmark::topology::tests
