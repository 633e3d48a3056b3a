#include "results/store/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace hbmark::store {
namespace {

constexpr std::size_t kShortestPrefix = 4;
constexpr std::size_t kCandidatesShown = 3;
constexpr std::size_t kDigitsShown = 8;  // as `hbmark list` shows them

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_start_of_uuid(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0 || c == '-'; });
}

std::string candidates(const std::vector<const RunRecord*>& runs, std::size_t digits) {
  std::string text;
  for (std::size_t i = 0; i < std::min(runs.size(), kCandidatesShown); ++i) {
    const RunRecord& run = *runs[i];
    text += fmt::format("{}{} ({}{})", i == 0 ? "" : ", ", run.uuid.substr(0, digits),
                        run.label.empty() ? "" : "'" + run.label + "', ", run.started_at);
  }
  if (runs.size() > kCandidatesShown) text += fmt::format(" and {} more", runs.size() - kCandidatesShown);
  return text;
}

// Every run that `name` may mean: at most one by its label, the newest.
std::vector<const RunRecord*> matches(const std::vector<RunRecord>& runs, const std::string& name) {
  const std::string wanted = lower(name);
  std::vector<const RunRecord*> found;
  bool label_found = false;
  for (const RunRecord& run : runs) {
    if (lower(run.uuid) == wanted) return {&run};
    const bool by_label = !label_found && run.label == name;
    label_found = label_found || by_label;
    const bool by_prefix =
        wanted.size() >= kShortestPrefix && is_start_of_uuid(wanted) && lower(run.uuid).starts_with(wanted);
    if (by_label || by_prefix) found.push_back(&run);
  }
  return found;
}

}  // namespace

Result<RunRecord> find_run(const std::vector<RunRecord>& runs, const std::string& name, const std::string& store_name) {
  const std::string what = fmt::format("cannot find the run '{}'", name);
  if (runs.empty()) {
    return fail(ErrorKind::kNothingRan, what, fmt::format("the store {} holds no run", store_name),
                "measure something first (hbmark run), or name another store with --db");
  }
  if (name.empty())
    return usage_error(what, "its name is empty",
                       "give 'last', a label, or the first digits of a run's id; `hbmark list` shows them");
  if (name == "last") return runs.front();
  const auto found = matches(runs, name);
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) {
    return usage_error(what, fmt::format("it could be {}", candidates(found, std::string::npos)),
                       "give more digits of the id");
  }
  std::vector<const RunRecord*> all;
  for (const RunRecord& run : runs) all.push_back(&run);
  const bool too_short = name.size() < kShortestPrefix && is_start_of_uuid(name);
  return usage_error(what,
                     too_short ? fmt::format("no run has that label, and an id needs at least {} digits", kShortestPrefix)
                               : "no run has that id or label",
                     fmt::format("there are {}; `hbmark list` shows all", candidates(all, kDigitsShown)));
}

}  // namespace hbmark::store
