// What a person may do after a comparison: who wins where, by how much, and the command line that gives a program of one's
// own the winner's placement.
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/comparison.h"

namespace hbmark::cli {

// One line for each kernel and class of working sets.
std::vector<std::string> advice_lines(const Comparison& comparison, double margin);

struct Recipe {
  std::string side;                // "A" or "B"
  std::string when;                // "in memory mode flat"; empty: nothing to set up before
  std::vector<std::string> lines;  // for a shell
};

// For each side that wins somewhere, where the two sides place threads or memory differently.
std::vector<Recipe> recipes(const Comparison& comparison);

// "{0}:64:1", "{0},{4},{2}"; empty when a thread is not pinned.
std::string omp_places(const std::vector<int>& thread_pus);

// "numactl --membind=1" of a configuration's memory policy; empty: the kernel's own.
std::string numactl_of(const std::string& memory_policy);

}  // namespace hbmark::cli
