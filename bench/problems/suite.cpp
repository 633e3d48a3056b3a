#include "bench/problems/suite.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>

#include "bench/problems/files.h"
#include "bench/problems/grammar.h"
#include "bench/problems/rows.h"
#include "bench/problems/sizes.h"
#include "bench/problems/text.h"

namespace hbmark {
namespace {

bool is_suite_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Reads one suite file strictly: every key is known and of its type.
class SuiteReader {
 public:
  SuiteReader(std::filesystem::path file, std::filesystem::path share_dir, const SuiteContext& context)
      : file_(std::move(file)), share_dir_(std::move(share_dir)), context_(context) {}

  Result<Suite> read() {
    auto text = files::read_text(file_, "suite");
    if (!text) return tl::make_unexpected(text.error());
    try {
      const auto table = toml::parse(std::string_view(*text), file_.string());
      return read_suite(table);
    } catch (const toml::parse_error& e) {
      return error_at(e.source().begin.line, fmt::format("it is no TOML: {}", e.description()));
    }
  }

 private:
  tl::unexpected<Error> error_at(std::int64_t line, const std::string& why,
                                 std::string next = "correct the file; docs/problems.md describes every key") const {
    return usage_error(fmt::format("cannot read the suite {}", file_.string()),
                       fmt::format("{}:{}: {}", file_.string(), std::max<std::int64_t>(line, 1), why), std::move(next));
  }
  tl::unexpected<Error> error(const toml::node& node, const std::string& why) const {
    return error_at(node.source().begin.line, why);
  }

  Status check_keys(const toml::table& table, std::span<const std::string_view> known, std::string_view where) const {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      return error(value, fmt::format("{} has no key {}{}; there are {}", where, text::quote(key.str()),
                                      text::did_you_mean(key.str(), known), text::alternatives(known)));
    }
    return {};
  }

  // Empty when the key is absent.
  Result<std::optional<std::string>> read_string(const toml::table& table, std::string_view key) const {
    const auto* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto text = node->value_exact<std::string>();
    if (!text || text->empty() || text->find_first_of("\n\r") != std::string::npos) {
      return error(*node, fmt::format("{} must be a text of one line: {} = \"...\"", key, key));
    }
    return text;
  }

  Result<std::optional<double>> read_real(const toml::table& table, std::string_view key, double low, double high) const {
    const auto* node = table.get(key);
    if (node == nullptr) return std::nullopt;
    const auto number = node->is_number() ? node->value<double>() : std::nullopt;
    if (!number || !(*number >= low && *number <= high))
      return error(*node, fmt::format("{} must be a number from {} to {}", key, low, high));
    return number;
  }

  // A text or whole number, or an array of them; as texts.
  Result<std::vector<std::string>> read_values(const toml::node& node, std::string_view key) const {
    std::vector<std::string> values;
    const auto add = [&](const toml::node& one) {
      if (const auto text = one.value_exact<std::string>()) {
        values.push_back(*text);
      } else if (const auto number = one.value_exact<std::int64_t>()) {
        values.push_back(fmt::format("{}", *number));
      } else {
        return false;
      }
      return true;
    };
    bool good = true;
    if (const auto* array = node.as_array()) {
      for (const auto& one : *array) good = good && add(one);
    } else {
      good = add(node);
    }
    if (!good || values.empty())
      return error(node, fmt::format("{} must be a text, a whole number, or an array of these", text::quote(key)));
    return values;
  }

  Result<rows::Choices> read_choices(const toml::table& table, std::string_view key) const {
    rows::Choices choices;
    const auto* node = table.get(key);
    if (node == nullptr) return choices;
    const auto* entries = node->as_table();
    if (entries == nullptr || entries->empty())
      return error(*node, fmt::format("{} must be a table: {} = {{ n = 32 }}", key, key));
    for (const auto& [name, value] : *entries) {
      auto values = read_values(value, name.str());
      if (!values) return tl::make_unexpected(values.error());
      choices.emplace_back(std::string(name.str()), std::move(*values));
    }
    return choices;
  }

  Result<Suite> read_suite(const toml::table& table) {
    static constexpr std::string_view kKeys[] = {"name", "summary", "budget_s", "precision", "case"};
    if (auto status = check_keys(table, kKeys, "a suite"); !status) return tl::make_unexpected(status.error());
    Suite suite;
    for (const auto& [key, target] : {std::pair{"name", &suite.name}, std::pair{"summary", &suite.summary}}) {
      auto text = read_string(table, key);
      if (!text) return tl::make_unexpected(text.error());
      if (!*text) return error_at(1, fmt::format("key {} is missing: {} = \"...\"", key, key));
      *target = **text;
    }
    if (!is_suite_name(suite.name)) {
      return error(*table.get("name"),
                   fmt::format("name is {}; small letters, digits, - and _ make a name", text::quote(suite.name)));
    }
    const auto budget = read_real(table, "budget_s", 0, 604800);  // a week: the planner takes no more
    if (!budget) return tl::make_unexpected(budget.error());
    suite.budget_s = budget->value_or(0);
    const auto precision = read_real(table, "precision", 1e-4, 0.5);
    if (!precision) return tl::make_unexpected(precision.error());
    suite.precision = precision->value_or(suite.precision);
    const auto* node = table.get("case");
    if (node == nullptr) return error_at(1, "it has no [[case]]");
    const auto* cases = node->as_array();
    if (cases == nullptr || cases->empty()) return error(*node, "case must be an array of tables: [[case]]");
    for (const auto& one : *cases) {
      if (one.as_table() == nullptr) return error(one, "case must be an array of tables: [[case]]");
      auto read = read_case(*one.as_table());
      if (!read) return tl::make_unexpected(read.error());
      rows::fold(suite, std::move(*read));
    }
    return suite;
  }

  Result<std::vector<SuiteCase>> read_case(const toml::table& table) {
    static constexpr std::string_view kKeys[] = {"problem", "csv",   "kernel",      "where", "except",
                                                 "set",     "suite", "occurrences", "origin"};
    if (auto status = check_keys(table, kKeys, "a case"); !status) return tl::make_unexpected(status.error());
    if (table.contains("suite")) return read_suite_case(table);
    const bool problem = table.contains("problem"), csv = table.contains("csv");
    if (problem && csv) return error(table, "a case has problem or csv, not both");
    if (!problem && !csv && !table.contains("kernel")) {
      return error(table,
                   "a case has one of problem = \"...\", csv = \"FILE.csv\", suite = \"NAME\", or kernel = \"...\" "
                   "with set = { ... }");
    }
    for (const auto* key : {"kernel", "set"}) {
      if (problem && table.contains(key))
        return error(*table.get(key), fmt::format("{} goes with csv or alone, not with problem", key));
    }
    for (const auto* key : {"occurrences", "origin"}) {
      if (csv && table.contains(key))
        return error(*table.get(key), fmt::format("{} is a column of the csv, no key beside it", key));
    }
    for (const auto* key : {"where", "except"}) {
      if (!csv && table.contains(key))
        return error(*table.get(key), fmt::format("{} chooses rows of a csv; there is none", key));
    }
    if (problem) return read_problems(table);
    return csv ? read_csv(table) : read_kernel(table);
  }

  Result<std::vector<SuiteCase>> finish(const toml::table& table, std::vector<Problem> problems) const {
    const auto occurrences = read_real(table, "occurrences", 1, 1e9);
    if (!occurrences) return tl::make_unexpected(occurrences.error());
    const auto origin = read_string(table, "origin");
    if (!origin) return tl::make_unexpected(origin.error());
    std::vector<SuiteCase> cases;
    for (auto& problem : problems) {
      cases.push_back({std::move(problem), occurrences->value_or(1), origin->value_or("")});
    }
    return cases;
  }

  Result<std::vector<SuiteCase>> read_problems(const toml::table& table) const {
    const auto& node = *table.get("problem");
    auto texts = read_values(node, "problem");
    if (!texts) return tl::make_unexpected(texts.error());
    std::vector<Problem> problems;
    for (const auto& text : *texts) {
      auto problem = parse_problem(text);
      if (!problem) return error(node, fmt::format("{}: {}", problem.error().what, problem.error().why));
      problems.push_back(std::move(*problem));
    }
    return finish(table, std::move(problems));
  }

  Result<std::vector<SuiteCase>> read_csv(const toml::table& table) const {
    const auto name = read_string(table, "csv");
    if (!name) return tl::make_unexpected(name.error());
    rows::Selection selection;
    const auto kernel = read_string(table, "kernel");
    if (!kernel) return tl::make_unexpected(kernel.error());
    selection.kernel = kernel->value_or("");
    for (const auto& [key, target] :
         {std::pair{"where", &selection.where}, std::pair{"except", &selection.except}, std::pair{"set", &selection.set}}) {
      auto choices = read_choices(table, key);
      if (!choices) return tl::make_unexpected(choices.error());
      *target = std::move(*choices);
    }
    // Beside the suite, or among the installed shapes.
    std::error_code code;
    auto path = file_.parent_path() / **name;
    if (!std::filesystem::exists(path, code)) path = share_dir_ / "problems" / **name;
    if (!std::filesystem::exists(path, code)) {
      return error(*table.get("csv"), fmt::format("{} is neither beside the suite nor in {}", text::quote(**name),
                                                  (share_dir_ / "problems").string()));
    }
    auto cases = rows::from_csv(path, selection, context_.notes);
    if (!cases) return error(*table.get("csv"), cases.error().why);
    return cases;
  }

  Result<std::vector<SuiteCase>> read_kernel(const toml::table& table) const {
    const auto name = read_string(table, "kernel");
    if (!name) return tl::make_unexpected(name.error());
    const auto names = grammar::kernel_names();
    const auto* kernel = find_kernel(**name);
    if (kernel == nullptr) {
      return error(*table.get("kernel"), fmt::format("kernel {} is unknown{}; there are {}", text::quote(**name),
                                                     text::did_you_mean(**name, names), text::alternatives(names)));
    }
    auto set = read_choices(table, "set");
    if (!set) return tl::make_unexpected(set.error());
    const auto& where = table.contains("set") ? *table.get("set") : *table.get("kernel");
    const auto fields = grammar::field_names(*kernel);
    for (const auto& [field, values] : *set) {
      if (std::find(fields.begin(), fields.end(), field) != fields.end()) continue;
      return error(where, fmt::format("kernel {} has no field {}{}", kernel->name, text::quote(field),
                                      text::did_you_mean(field, fields)));
    }
    std::vector<Problem> problems;
    const auto status = rows::for_each_combination(*set, [&](const auto& chosen) -> Status {
      auto made = problems_of(*kernel, chosen);
      if (!made) return error(where, made.error().why);
      problems.insert(problems.end(), made->begin(), made->end());
      return {};
    });
    if (!status) return tl::make_unexpected(status.error());
    return finish(table, std::move(problems));
  }

  // One problem, or one for every size that a symbol stands for.
  Result<std::vector<Problem>> problems_of(const KernelSpec& kernel,
                                           const std::vector<std::pair<std::string, std::string>>& chosen) const {
    rows::Choices choices;
    std::vector<std::pair<std::string, std::string>> others;
    std::string symbol;
    for (const auto& [field, value] : chosen) {
      if (!sizes::is_symbol(value)) {
        choices.emplace_back(field, std::vector<std::string>{value});
        others.emplace_back(field, value);
      } else if (field == "array_bytes") {
        symbol = value;
      } else {
        return usage_error("", fmt::format("{} is a size for array_bytes, not for {}", value, field), "");
      }
    }
    if (!symbol.empty()) {
      const auto sizes = sizes::resolve(symbol, kernel, others, context_);
      if (!sizes) return tl::make_unexpected(sizes.error());
      std::vector<std::string> texts;
      for (const std::int64_t size : *sizes) texts.push_back(fmt::format("{}", size));
      choices.emplace_back("array_bytes", std::move(texts));
    }
    std::vector<Problem> problems;
    const auto status = rows::for_each_combination(choices, [&](const auto& one) -> Status {
      rows::Choices single;
      for (const auto& [field, value] : one) single.emplace_back(field, std::vector<std::string>{value});
      auto made = rows::from_set(kernel, single);
      if (!made) return tl::make_unexpected(made.error());
      problems.push_back(std::move(made->front()));
      return {};
    });
    if (!status) return tl::make_unexpected(status.error());
    return problems;
  }

  // The cases of a shipped suite. One that holds suites itself is refused: no circle, and no surprise.
  Result<std::vector<SuiteCase>> read_suite_case(const toml::table& table) const {
    for (const auto& [key, value] : table) {
      if (key.str() != "suite") return error(value, fmt::format("{} does not go with suite", key.str()));
    }
    const auto& node = *table.get("suite");
    const auto name = read_string(table, "suite");
    if (!name) return tl::make_unexpected(name.error());
    if (is_part_) return error(node, "a suite that is part of another may not have parts itself");
    if (!is_suite_name(**name)) {
      return error(node, fmt::format("{} is no suite's name; a part is one of the shipped suites", text::quote(**name)));
    }
    const auto path = share_dir_ / "suites" / (**name + ".toml");
    std::error_code code;
    if (!std::filesystem::exists(path, code)) {
      return error(node, fmt::format("there is no suite {} in {}", text::quote(**name), path.parent_path().string()));
    }
    SuiteReader reader(path, share_dir_, context_);
    reader.is_part_ = true;
    auto part = reader.read();
    if (!part) return error(node, part.error().why);
    return std::move(part->cases);
  }

  std::filesystem::path file_;
  std::filesystem::path share_dir_;
  const SuiteContext& context_;
  bool is_part_ = false;
};

// Paths of the suites there are, sorted.
Result<std::vector<std::filesystem::path>> suite_files(const std::filesystem::path& share_dir) {
  const auto folder = share_dir / "suites";
  std::vector<std::filesystem::path> paths;
  std::error_code code;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() == ".toml") paths.push_back(it->path());
  }
  if (code) {
    return environment_error("cannot look for suites", fmt::format("{}: {}", folder.string(), code.message()),
                             "install hbmark again, or name a suite's file: --suite FILE.toml");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Result<Suite> load_suite(const std::string& name_or_file, const std::filesystem::path& share_dir,
                         const SuiteContext& context) {
  if (name_or_file.size() > 5 && name_or_file.ends_with(".toml"))
    return SuiteReader(name_or_file, share_dir, context).read();
  const auto paths = suite_files(share_dir);
  if (!paths) return tl::make_unexpected(paths.error());
  std::vector<std::string> names;
  for (const auto& path : *paths) {
    names.push_back(path.stem().string());
    if (names.back() == name_or_file) return SuiteReader(path, share_dir, context).read();
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return usage_error(
      fmt::format("there is no suite {}{}", text::quote(name_or_file), text::did_you_mean(name_or_file, views)),
      names.empty() ? fmt::format("{} holds none", (share_dir / "suites").string())
                    : fmt::format("there are {}", fmt::join(names, ", ")),
      "name one of them, or a file that ends in .toml");
}

Result<std::vector<Suite>> list_suites(const std::filesystem::path& share_dir, const SuiteContext& context) {
  const auto paths = suite_files(share_dir);
  if (!paths) return tl::make_unexpected(paths.error());
  std::vector<Suite> suites;
  for (const auto& path : *paths) {
    auto suite = SuiteReader(path, share_dir, context).read();
    if (!suite) return tl::make_unexpected(suite.error());
    suites.push_back(std::move(*suite));
  }
  return suites;
}

Result<Suite> load_problem_csv(const std::filesystem::path& file, std::string_view kernel, std::vector<std::string>* notes) {
  rows::Selection selection;
  selection.kernel = kernel;
  auto cases = rows::from_csv(file, selection, notes);
  if (!cases) return tl::make_unexpected(cases.error());
  Suite suite;
  suite.name = file.stem().string();
  suite.summary = fmt::format("problems of {}", file.string());
  rows::fold(suite, std::move(*cases));
  return suite;
}

}  // namespace hbmark
