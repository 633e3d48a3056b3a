#include "bench/problems/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/problems/files.h"
#include "bench/problems/grammar.h"
#include "bench/problems/text.h"

namespace hbmark::rows {
namespace {

// Columns that say where a problem comes from; what they hold becomes its origin, in this order.
constexpr std::string_view kOriginColumns[] = {"network", "name", "layer", "origin", "application", "set"};
// Columns that may stand beside a kernel's own without being read as its fields.
constexpr std::string_view kOtherColumns[] = {"occurrences", "pass"};
constexpr std::string_view kProblemColumn = "problem";
constexpr std::size_t kMaxCases = 1000000;

bool has(const std::vector<std::string>& columns, std::string_view name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

// Every name a column for this field may have.
std::vector<std::string_view> column_names(const FieldSpec& field) {
  std::vector<std::string_view> names{field.name};
  names.insert(names.end(), field.csv_aliases.begin(), field.csv_aliases.end());
  return names;
}

bool has_flags(const std::vector<std::string>& columns, const FieldSpec& field) {
  return !field.csv_flags.empty() && std::all_of(field.csv_flags.begin(), field.csv_flags.end(),
                                                 [&](std::string_view flag) { return has(columns, flag); });
}

bool is_required(const FieldSpec& field) { return !grammar::is_option(field) && field.default_word.empty(); }

bool is_given(const FieldSpec& field, const std::vector<std::string>& columns, const Choices& set) {
  const auto names = column_names(field);
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return has(columns, name); }) ||
         has_flags(columns, field) ||
         std::any_of(set.begin(), set.end(), [&](const auto& choice) { return choice.first == field.name; });
}

class CsvProblems {
 public:
  CsvProblems(const std::filesystem::path& file, files::CsvTable table, const Selection& selection)
      : file_(file), table_(std::move(table)), selection_(selection) {}

  Result<std::vector<SuiteCase>> read(std::vector<std::string>* notes) {
    if (auto status = choose_kernel(); !status) return tl::make_unexpected(status.error());
    if (auto status = check_columns(notes); !status) return tl::make_unexpected(status.error());
    for (const auto* choices : {&selection_.where, &selection_.except}) {
      if (auto status = check_choices(*choices); !status) return tl::make_unexpected(status.error());
    }
    std::vector<SuiteCase> cases;
    for (const auto& row : table_.rows) {
      if (!wanted(row)) continue;
      if (auto status = read_row(row, cases); !status) return tl::make_unexpected(status.error());
    }
    if (cases.empty()) return error(1, "there are no problems below the header", "add a row for each problem");
    return cases;
  }

 private:
  tl::unexpected<Error> error(std::int64_t line, const std::string& why, std::string next) const {
    return usage_error(fmt::format("cannot read problems from {}", file_.string()),
                       fmt::format("{}:{}: {}", file_.string(), line, why), std::move(next));
  }

  // The kernel named, or the one that has all its required fields among the columns, and most fields at all.
  Status choose_kernel() {
    if (!selection_.kernel.empty()) {
      asked_ = find_kernel(selection_.kernel);
      const auto names = grammar::kernel_names();
      if (asked_ == nullptr) {
        return error(1,
                     fmt::format("kernel {} is unknown{}", text::quote(selection_.kernel),
                                 text::did_you_mean(selection_.kernel, names)),
                     fmt::format("name one of {}", text::alternatives(names)));
      }
    }
    if (has(table_.columns, kProblemColumn)) return {};
    kernel_ = asked_;
    if (kernel_ != nullptr) return {};
    std::int64_t most = 0;
    bool tie = false;
    for (const auto* candidate : kernels()) {
      std::int64_t given = 0, missing = 0;
      for (const auto& field : candidate->grammar) {
        const bool there = is_given(field, table_.columns, selection_.set);
        given += there ? 1 : 0;
        missing += is_required(field) && !there ? 1 : 0;
      }
      if (missing != 0 || given < most) continue;
      tie = given == most;
      most = given;
      kernel_ = candidate;
    }
    if (kernel_ != nullptr && !tie) return {};
    return error(1,
                 fmt::format("the columns {} are those of no kernel{}",
                             text::quote(fmt::format("{}", fmt::join(table_.columns, ",")), 200), nearest_kernel()),
                 "name the columns as the fields are named: m,n,k for gemm; n,c,h,w,k,r,s,sh,sw,ph,pw for conv; or one "
                 "column problem");
  }

  // `; gemm lacks column k`: the kernel that lacks fewest.
  std::string nearest_kernel() const {
    std::string out;
    std::size_t fewest = 0;
    for (const auto* candidate : kernels()) {
      std::vector<std::string_view> missing;
      std::size_t required = 0;
      for (const auto& field : candidate->grammar) {
        if (!is_required(field)) continue;
        ++required;
        if (!is_given(field, table_.columns, selection_.set)) missing.push_back(field.name);
      }
      if (missing.empty() || missing.size() == required) continue;
      if (out.empty() || missing.size() < fewest) {
        fewest = missing.size();
        out = fmt::format("; {} lacks column {}", candidate->name, fmt::join(missing, ", "));
      }
    }
    return out;
  }

  std::vector<std::string_view> known_columns() const {
    std::vector<std::string_view> known(std::begin(kOriginColumns), std::end(kOriginColumns));
    known.insert(known.end(), std::begin(kOtherColumns), std::end(kOtherColumns));
    if (kernel_ == nullptr) {
      known.push_back(kProblemColumn);
      return known;
    }
    for (const auto& field : kernel_->grammar) {
      for (const auto name : column_names(field)) known.push_back(name);
      for (const auto name : field.csv_flags) known.push_back(name);
    }
    return known;
  }

  Status check_columns(std::vector<std::string>* notes) const {
    const auto known = known_columns();
    for (const auto& column : table_.columns) {
      if (std::find(known.begin(), known.end(), column) != known.end()) continue;
      // A slip of the hand would leave an option unread in silence. Words too short to tell slips from names pass.
      const auto guess = column.size() < 4 ? std::string_view() : text::nearest(column, known);
      if (!guess.empty() && guess.size() >= 4) {
        return error(1, fmt::format("column {} is unknown (did you mean \"{}\"?)", text::quote(column), guess),
                     "rename or remove it");
      }
      if (notes != nullptr) notes->push_back(fmt::format("{}: column {} is not read", file_.string(), text::quote(column)));
    }
    if (kernel_ == nullptr) {
      if (selection_.set.empty()) return {};
      return error(1, "whole problem strings have no fields to set", "leave out set, or give columns");
    }
    for (const auto& [name, values] : selection_.set) {
      const auto names = grammar::field_names(*kernel_);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        return error(
            1, fmt::format("kernel {} has no field {}{}", kernel_->name, text::quote(name), text::did_you_mean(name, names)),
            fmt::format("set one of {}", text::alternatives(names)));
      }
    }
    for (const auto& field : kernel_->grammar) {
      const auto names = column_names(field);
      const auto given =
          std::count_if(names.begin(), names.end(), [&](std::string_view name) { return has(table_.columns, name); }) +
          (has_flags(table_.columns, field) ? 1 : 0);
      if (given > 1) {
        return error(1, fmt::format("{} has more than one column", grammar::describe(field)),
                     fmt::format("keep one of {}", text::alternatives(names)));
      }
      if (is_required(field) && !is_given(field, table_.columns, selection_.set)) {
        return error(1, fmt::format("column {} ({}) is missing", field.name, field.summary),
                     fmt::format("add a column {}", text::alternatives(names)));
      }
    }
    return {};
  }

  // A choice that chooses nothing is a slip: its columns and values must be there.
  Status check_choices(const Choices& choices) const {
    for (const auto& [column, values] : choices) {
      const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
      if (found == table_.columns.end()) {
        std::vector<std::string_view> columns(table_.columns.begin(), table_.columns.end());
        return error(1,
                     fmt::format("there is no column {} to choose rows by{}", text::quote(column),
                                 text::did_you_mean(column, columns)),
                     fmt::format("choose by {}", text::alternatives(columns)));
      }
      const auto index = static_cast<std::size_t>(found - table_.columns.begin());
      for (const auto& value : values) {
        if (std::any_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) { return row.fields[index] == value; }))
          continue;
        std::vector<std::string_view> there;
        for (const auto& row : table_.rows) there.push_back(row.fields[index]);
        return error(
            1, fmt::format("no row has {} in column {}{}", text::quote(value), column, text::did_you_mean(value, there)),
            "choose a value that is there");
      }
    }
    return {};
  }

  const std::string* cell(const files::CsvRow& row, std::string_view column) const {
    const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
    return found == table_.columns.end() ? nullptr : &row.fields[static_cast<std::size_t>(found - table_.columns.begin())];
  }

  bool wanted(const files::CsvRow& row) const {
    const auto matches = [&](const auto& choice) {
      return std::find(choice.second.begin(), choice.second.end(), *cell(row, choice.first)) != choice.second.end();
    };
    return std::all_of(selection_.where.begin(), selection_.where.end(), matches) &&
           std::none_of(selection_.except.begin(), selection_.except.end(), matches);
  }

  // A word spelt by columns of 0 and 1; anything else is given as it stands, for the grammar to refuse.
  std::optional<std::string> from_flags(const files::CsvRow& row, const FieldSpec& field) const {
    if (!has_flags(table_.columns, field)) return std::nullopt;
    std::size_t index = 0;
    for (const auto flag : field.csv_flags) {
      const auto& text = *cell(row, flag);
      if (text != "0" && text != "1") return fmt::format("{}={}", flag, text);
      index = 2 * index + (text == "1" ? 1 : 0);
    }
    return std::string(field.allowed[index]);
  }

  Status read_row(const files::CsvRow& row, std::vector<SuiteCase>& cases) const {
    SuiteCase one;
    one.origin = file_.stem().string();
    for (const auto column : kOriginColumns) {
      const auto* text = cell(row, column);
      if (text != nullptr && !text->empty()) one.origin += " " + *text;
    }
    if (const auto* text = cell(row, "occurrences"); text != nullptr) {
      std::int64_t count = 0;
      std::string why;
      if (!text::read_number(*text, 1, 1000000000, count, why)) {
        return error(row.line, fmt::format("column occurrences {}", why),
                     "say how often the problem occurs, or drop the column");
      }
      one.occurrences = static_cast<double>(count);
    }
    if (kernel_ == nullptr) return read_problem_column(row, std::move(one), cases);
    return for_each_combination(selection_.set, [&](const auto& set) -> Status {
      auto problem = assemble(*kernel_, [&](const FieldSpec& field) -> std::optional<std::string> {
        for (const auto& [name, value] : set) {
          if (name == field.name) return value;
        }
        for (const auto name : column_names(field)) {
          if (const auto* text = cell(row, name); text != nullptr) return *text;
        }
        return from_flags(row, field);
      });
      if (!problem) return error(row.line, problem.error().why, problem.error().next);
      if (cases.size() == kMaxCases)
        return error(row.line, fmt::format("more than {} problems", kMaxCases), "choose fewer rows");
      one.problem = std::move(*problem);
      cases.push_back(one);
      return {};
    });
  }

  Status read_problem_column(const files::CsvRow& row, SuiteCase one, std::vector<SuiteCase>& cases) const {
    const auto* text = cell(row, kProblemColumn);  // there, or a kernel would have been chosen
    auto problem = parse_problem(*text);
    if (!problem)
      return error(row.line, fmt::format("column problem: {}: {}", problem.error().what, problem.error().why),
                   problem.error().next);
    if (asked_ != nullptr && problem->kernel != asked_) {
      return error(row.line, fmt::format("column problem is {}, no {}", text::quote(*text), asked_->name),
                   "ask for the other kernel");
    }
    one.problem = std::move(*problem);
    cases.push_back(std::move(one));
    return {};
  }

  std::filesystem::path file_;
  files::CsvTable table_;
  const Selection& selection_;
  const KernelSpec* asked_ = nullptr;   // the one named by the caller
  const KernelSpec* kernel_ = nullptr;  // null: problem strings
};

}  // namespace

Status for_each_combination(const Choices& set,
                            const std::function<Status(const std::vector<std::pair<std::string, std::string>>&)>& visit) {
  std::vector<std::pair<std::string, std::string>> chosen(set.size());
  std::vector<std::size_t> index(set.size());
  for (;;) {
    for (std::size_t i = 0; i < set.size(); ++i) chosen[i] = {set[i].first, set[i].second[index[i]]};
    if (auto status = visit(chosen); !status) return status;
    std::size_t i = set.size();
    while (i > 0 && ++index[i - 1] == set[i - 1].second.size()) index[--i] = 0;
    if (i == 0) return {};
  }
}

Result<Problem> assemble(const KernelSpec& kernel,
                         const std::function<std::optional<std::string>(const FieldSpec&)>& text_of) {
  Problem problem;
  problem.kernel = &kernel;
  for (const auto& field : kernel.grammar) {
    const auto text = text_of(field);
    if (!text) {
      if (is_required(field)) {
        return usage_error("cannot make a problem", fmt::format("{} is missing", grammar::describe(field)),
                           fmt::format("a problem has all of these: {}", kernel.example));
      }
      grammar::put_default(problem, field);
      continue;
    }
    if (auto wrong = grammar::put(problem, field, *text); !wrong.empty()) {
      return usage_error("cannot make a problem", fmt::format("{} {}", grammar::describe(field), wrong),
                         fmt::format("a problem has numbers like these: {}", kernel.example));
    }
  }
  if (auto status = grammar::validate(problem); !status) {
    auto error = status.error();
    error.why = fmt::format("{}: {}: {}", to_string(problem), error.what, error.why);
    return tl::make_unexpected(std::move(error));
  }
  return problem;
}

Result<std::vector<Problem>> from_set(const KernelSpec& kernel, const Choices& set) {
  std::vector<Problem> problems;
  const auto status = for_each_combination(set, [&](const auto& chosen) -> Status {
    auto problem = assemble(kernel, [&](const FieldSpec& field) -> std::optional<std::string> {
      for (const auto& [name, value] : chosen) {
        if (name == field.name) return value;
      }
      return std::nullopt;
    });
    if (!problem) return tl::make_unexpected(problem.error());
    problems.push_back(std::move(*problem));
    return {};
  });
  if (!status) return tl::make_unexpected(status.error());
  return problems;
}

Result<std::vector<SuiteCase>> from_csv(const std::filesystem::path& file, const Selection& selection,
                                        std::vector<std::string>* notes) {
  auto table = files::read_csv(file);
  if (!table) return tl::make_unexpected(table.error());
  return CsvProblems(file, std::move(*table), selection).read(notes);
}

void fold(Suite& suite, std::vector<SuiteCase> cases) {
  constexpr std::size_t kMaxOrigin = 200;
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) seen.emplace(to_string(suite.cases[i].problem), i);
  for (auto& one : cases) {
    ++suite.rows_read;
    const auto [found, fresh] = seen.emplace(to_string(one.problem), suite.cases.size());
    if (fresh) {
      suite.cases.push_back(std::move(one));
      continue;
    }
    ++suite.repeats_folded;
    auto& first = suite.cases[found->second];
    first.occurrences += one.occurrences;
    if (first.origin.find(one.origin) == std::string::npos && first.origin.size() + one.origin.size() < kMaxOrigin) {
      first.origin += "; " + one.origin;
    }
  }
}

}  // namespace hbmark::rows
