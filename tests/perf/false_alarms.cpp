// What three methods call different in identical runs, and which true changes they find, at length: the table behind
// docs/adr/0008-comparing.md. Exit 1 when `compare` calls more than 5 % of the problems of identical runs different, or
// misses more than one in ten changes of 5 % under 2 % noise.
//   perf_false_alarms [pairs [first_seed]]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/unit/stats/false_alarms.h"

namespace {

using namespace hbmark::simulation;

std::vector<Tally> show(const char* title, const Setting& setting) {
  std::vector<Tally> rows;
  for (const LaunchNoise& noise : launch_noises()) rows.push_back(simulate(noise, setting));
  fmt::print("{}: {} pairs of runs of {} problems, {} launches x {} samples\n{}\n", title, setting.pairs, setting.problems,
             setting.launches, setting.samples, table(rows));
  std::fflush(stdout);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  Setting setting;
  setting.pairs = argc > 1 ? std::atoi(argv[1]) : 1000;
  setting.first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000;  // the method was not chosen on these
  if (setting.pairs < 10) {
    std::fputs("perf_false_alarms: the number of pairs must be at least 10; give none for 1000\n", stderr);
    return 2;
  }
  bool kept = true;
  for (const Tally& row : show("identical runs", setting)) kept = kept && row.different <= 0.05;
  Setting six = setting;
  six.launches = 6;
  for (const Tally& row : show("identical runs", six)) kept = kept && row.different <= 0.05;
  setting.changed = setting.problems / 2;
  for (const Tally& row : show("half of the problems slower by 5 %", setting)) kept = kept && row.different >= 0.9;
  setting.changed = 1;
  show("one problem slower by 5 %", setting);
  setting.changed = setting.problems;
  setting.change = setting.margin;
  show("all problems slower by the margin of 2 %", setting);
  fmt::print("at most 5 % different where nothing changed, 9 in 10 changes of 5 % found: {}\n", kept ? "kept" : "broken");
  return kept ? 0 : 1;
}
