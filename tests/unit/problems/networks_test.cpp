// The shipped shapes are those of the networks: layers, parameters and multiply-adds as published.
#include <gtest/gtest.h>

#include <string>

#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"

namespace hbmark {
namespace {

struct Network {
  const char* name;
  double convolutions, dense;  // layers
  double weights;        // of these layers, without biases and batch normalisation: counted by hand from the papers' tables
  double parameters;     // as published, everything trained
  double not_weights;    // biases and batch normalisation, by hand
  double multiply_adds;  // of one image, as published
  double tolerance;      // relative, for figures published rounded
};

// AlexNet: Krizhevsky et al. 2012 with two groups; 60,965,224 parameters and 724 M multiply-adds are those of the Caffe
// model.
//   biases 96 + 256 + 384 + 384 + 256 + 4096 + 4096 + 1000 = 10568
// VGG-16: Simonyan and Zisserman 2015, configuration D: 138,357,544 parameters, 15.5 G multiply-adds.
//   biases 2 64 + 2 128 + 3 256 + 6 512 + 2 4096 + 1000 = 13416
// GoogLeNet: Szegedy et al. 2015, table 1, without the auxiliary classifiers: 6,998,552 parameters in Caffe's model; the
// paper says
//   1.5 G multiply-adds. biases: 64 + 64 + 192, each inception's six outputs, 1000
// ResNet-50 v1.5: torchvision: 25,557,032 parameters, 4.09 G multiply-adds.
//   2 x 26560 of batch normalisation, 1000 biases
constexpr Network kNetworks[] = {
    {"alexnet", 5, 3, 60954656, 60965224, 10568, 724e6, 0.005},
    {"vgg16", 13, 3, 138344128, 138357544, 13416, 15.47e9, 0.002},
    {"googlenet", 57, 1, 6990272, 6998552, 8280, 1.55e9, 0.05},
    {"resnet50", 53, 1, 25502912, 25557032, 2 * 26560 + 1000, 4.09e9, 0.002},
};

class Networks : public testing::TestWithParam<Network> {
 protected:
  static Suite load(const std::string& name) {
    return load_problem_csv(std::string(HBMARK_SOURCE_DIR) + "/bench/problems/" + name + ".csv", "").value();
  }
};

TEST_P(Networks, HaveThePublishedLayersParametersAndWork) {
  const auto& network = GetParam();
  double convolutions = 0, dense = 0, weights = 0, flop = 0;
  for (const auto& one : load(network.name).cases) {
    const auto& p = one.problem;
    EXPECT_EQ(p.number("n"), 32);
    convolutions += one.occurrences;
    weights += one.occurrences *
               static_cast<double>(p.number("k") * (p.number("c") / p.number("g")) * p.number("r") * p.number("s"));
    flop += one.occurrences * *p.kernel->flop(p) / 32;
  }
  for (const auto& one : load(std::string(network.name) + "_fc").cases) {
    const auto& p = one.problem;
    if (p.word("trans") != "tn") continue;  // the gradients, checked below
    EXPECT_EQ(p.number("n"), 32);
    dense += one.occurrences;
    weights += one.occurrences * static_cast<double>(p.number("m") * p.number("k"));
    flop += one.occurrences * *p.kernel->flop(p) / 32;
  }
  EXPECT_EQ(convolutions, network.convolutions);
  EXPECT_EQ(dense, network.dense);
  EXPECT_EQ(weights, network.weights);
  EXPECT_EQ(weights + network.not_weights, network.parameters);
  EXPECT_NEAR(flop / 2 / network.multiply_adds, 1, network.tolerance) << flop / 2;
}

TEST_P(Networks, DenseLayersDoTheSameWorkInEveryPass) {
  const auto fc = load(std::string(GetParam().name) + "_fc");
  double by_trans[3] = {};
  for (const auto& one : fc.cases) {
    const auto& trans = one.problem.word("trans");
    by_trans[trans == "tn" ? 0 : trans == "nn" ? 1 : 2] += *one.problem.kernel->flop(one.problem) * one.occurrences;
  }
  EXPECT_GT(by_trans[0], 0);
  EXPECT_EQ(by_trans[0], by_trans[1]);
  EXPECT_EQ(by_trans[0], by_trans[2]);
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(kNetworks),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(SquareGemm, RunsFrom64To8192) {
  const auto suite = load_problem_csv(std::string(HBMARK_SOURCE_DIR) + "/bench/problems/square_gemm.csv", "").value();
  EXPECT_EQ(suite.cases.front().problem.number("m"), 64);
  EXPECT_EQ(suite.cases.back().problem.number("m"), 8192);
  EXPECT_EQ(suite.repeats_folded, 0);
  for (const auto& one : suite.cases) {
    EXPECT_EQ(one.problem.number("m"), one.problem.number("n"));
    EXPECT_EQ(one.problem.number("m"), one.problem.number("k"));
  }
}

}  // namespace
}  // namespace hbmark
