// The shipped shapes are those of the networks: layers, parameters and multiply-adds as published.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"
#include "tests/shared_data.h"

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

Suite shapes(const std::string& name) {
  return load_problem_csv(std::string(HBMARK_SOURCE_DIR) + "/bench/problems/" + name + ".csv", "").value();
}

// Devlin et al. 2019: 24 layers, 1024 wide, feed-forward 4096, 30522 words, 512 positions, 2 segments. Published:
// 335,141,888 parameters. Not in a product: a layer's biases 4 1024 + 4096 + 1024 and its two normalisations 4 1024; the
// embeddings of positions and segments 514 1024; their normalisation 2048; the pooler 1024^2 + 1024.
TEST(BertLarge, HasThePublishedParametersAndTheSameWorkInEveryPass) {
  double weights = 0, vocabulary = 0;
  std::map<std::string, double> dense_flop;
  for (const auto& one : shapes("bert_large").cases) {
    const auto& p = one.problem;
    if (p.number("batch") != 1) continue;  // attention has no weights
    dense_flop[p.word("trans")] += one.occurrences * *p.kernel->flop(p);
    if (p.word("trans") != "tn") continue;
    (p.number("m") == 30522 ? vocabulary : weights) += one.occurrences * static_cast<double>(p.number("m") * p.number("k"));
  }
  EXPECT_EQ(weights, 24 * 12.0 * 1024 * 1024);
  const double others = 24 * (4 * 1024 + 4096 + 1024 + 4 * 1024) + 514 * 1024 + 2048 + 1024 * 1024 + 1024;
  EXPECT_EQ(weights + vocabulary + others, 335141888);
  ASSERT_EQ(dense_flop.size(), 3u);
  EXPECT_EQ(dense_flop["tn"], dense_flop["nn"]);
  EXPECT_EQ(dense_flop["tn"], dense_flop["nt"]);
}

// Every LSTM and GRU of DeepBench's training set: four gates of h outputs an LSTM, three a GRU, one product a time step.
TEST(LstmGru, HasEveryRecurrentProductOfDeepBenchsTrainingSet) {
  HBMARK_NEED_SHARED("data/deepbench/rnn_problems.csv");
  std::ifstream file(tests::shared_dir() / "data/deepbench/rnn_problems.csv");
  const auto ours = shapes("lstm_gru");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "hidden,batch,timesteps,cell,set");
  int looked_for = 0;
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::int64_t hidden = 0, batch = 0, steps = 0;
    std::string cell, set;
    fields >> hidden >> batch >> steps >> cell >> set;
    if (set.find("training") != 0 || cell == "vanilla") continue;
    const std::int64_t gates = cell == "lstm" ? 4 : 3;
    const auto has = [&](const char* trans, std::int64_t m, std::int64_t k) {
      return std::any_of(ours.cases.begin(), ours.cases.end(), [&](const SuiteCase& one) {
        const auto& p = one.problem;
        return p.word("trans") == trans && p.number("m") == m && p.number("n") == batch && p.number("k") == k;
      });
    };
    EXPECT_TRUE(has("tn", gates * hidden, hidden)) << line;
    EXPECT_TRUE(has("nn", hidden, gates * hidden)) << line;
    ++looked_for;
  }
  EXPECT_EQ(looked_for, 41);
}

TEST(SkinnyGemm, HasOneShortSideOrALongSum) {
  for (const auto& one : shapes("skinny_gemm").cases) {
    const auto& p = one.problem;
    const auto [least, most] = std::minmax({p.number("m"), p.number("n"), p.number("k")});
    EXPECT_LE(least, 256);
    EXPECT_GE(most, 16 * least) << one.origin;
  }
}

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
