#include "bench/cli/commands.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace hbmark::cli {

std::span<const Command> commands() {
  static const auto table = std::to_array<Command>({
      {"run", "Measure a suite or single problems and store the results",
       "hbmark run\n"
       "hbmark run --suite networks --precision 1% --label before-bios-update\n"
       "hbmark run --problem gemm:f32:nn:m1024n1024k1024 --threads 4\n"
       "hbmark run --problems shapes.csv --filter 'conv:fwd:*' --dry-run\n"
       "hbmark run --resume last",
       declare_run},
      {"show", "Show the results of a run",
       "hbmark show\n"
       "hbmark show --summary\n"
       "hbmark show before-bios-update --plot\n"
       "hbmark show before-bios-update -v\n"
       "hbmark show 3f2a9c1e --format json | jq .time_s.median",
       declare_show},
      {"compare", "Compare two runs, or all results by a mode, a memory kind or another field",
       "hbmark compare before-bios-update after-bios-update\n"
       "hbmark compare --by memory_mode --against cache/any --filter stream\n"
       "hbmark compare --by label --equivalence 1%\n"
       "hbmark compare --save-baseline release-1\n"
       "hbmark compare --baseline release-1 last --fail-on slower:5%",
       declare_compare},
      {"list", "List runs, suites, backends or kernels",
       "hbmark list\n"
       "hbmark list suites",
       declare_list},
      {"node", "Describe this machine: CPU, caches, memory and its modes",
       "hbmark node\n"
       "hbmark node --format json\n"
       "hbmark node --topology knl.xml",
       declare_node, false, "text json"},
      {"doctor", "Look for what would spoil a measurement, and say what to do about it",
       "hbmark doctor\n"
       "hbmark doctor --format json",
       declare_doctor},
      {"export", "Write a run with all its samples as JSON Lines, CSV or Google Benchmark's JSON",
       "hbmark export --output run.jsonl\n"
       "hbmark export --format gbench --output run.json\n"
       "hbmark export before-bios-update --format csv --output run.csv",
       declare_export, false, "json csv gbench"},
      {"import", "Store what a program that uses Google Benchmark wrote",
       "hbmark import mine.json\n"
       "hbmark import mine.json --from gbench --label mine",
       declare_import},
      {"generate", "Make the man page, or completions for a shell",
       "hbmark generate man --output hbmark.1\n"
       "hbmark generate completions bash --output hbmark.bash",
       declare_generate},
      {"help", "Explain a command", "hbmark help run", declare_help},
      {"worker", "Carry out a plan file (started by `run`)", "", declare_worker, true},
  });
  return table;
}

std::vector<std::string> formats_of(std::string_view command) {
  const auto table = commands();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Command& each) { return each.name == command; });
  std::istringstream words(std::string(row == table.end() ? Command{}.formats : row->formats));
  std::vector<std::string> names;
  for (std::string name; words >> name;) names.push_back(name);
  return names;
}

}  // namespace hbmark::cli
