#include "bench/problems/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "bench/kernels/kernel.h"
#include "bench/problems/grammar.h"
#include "bench/problems/text.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace {

// Longer than any problem can be (conv with every number at 2^40 has about 200 characters), short enough to print.
constexpr std::size_t kMaxLength = 512;
constexpr double kMaxOperandBytes = 0x1p62;

[[noreturn]] void no_such_field(const Problem& problem, std::string_view name) {
  std::fprintf(stderr, "hbmark: bug: kernel %s has no field %s\n",
               problem.kernel == nullptr ? "(none)" : std::string(problem.kernel->name).c_str(), std::string(name).c_str());
  std::abort();
}

// Where parsing is: what is left, and how to complain.
class Reader {
 public:
  explicit Reader(std::string_view whole) : whole_(whole), rest_(whole) {}

  std::string_view rest() const { return rest_; }
  bool starts_with(std::string_view text) const { return rest_.substr(0, text.size()) == text; }
  void skip(std::size_t count) { rest_.remove_prefix(count); }

  // Up to the next ':' or '/', or the end.
  std::string_view take_segment() { return take(std::min(rest_.find_first_of(":/"), rest_.size())); }
  std::string_view take_until(char stop) { return take(std::min(rest_.find(stop), rest_.size())); }
  std::string_view take_number() {
    // A sign or a letter in place of a digit belongs to the number that is wrong, so that the message shows it.
    std::size_t count = 0;
    while (count < rest_.size() && (rest_[count] == '-' || rest_[count] == '+')) ++count;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') ++count;
    return take(count);
  }

  tl::unexpected<Error> error(std::string why, std::string_view example) const {
    return usage_error(fmt::format("cannot read the problem {}", text::quote(whole_)), std::move(why),
                       fmt::format("write it like this: {}", example));
  }

 private:
  std::string_view take(std::size_t count) {
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view whole_;
  std::string_view rest_;
};

// What must precede the field: a colon, except between the dimensions of one run.
Status read_separator(Reader& reader, const FieldSpec& field, const FieldSpec* before, const KernelSpec& kernel) {
  const bool in_run =
      field.kind == FieldSpec::Kind::kDimension && before != nullptr && before->kind == FieldSpec::Kind::kDimension;
  if (in_run) return {};
  if (!reader.starts_with(":")) {
    return reader.error(fmt::format("{} is missing: {} stood where \":\" and it must", grammar::describe(field),
                                    reader.rest().empty() ? std::string("the end") : text::quote(reader.rest(), 40)),
                        kernel.example);
  }
  reader.skip(1);
  return {};
}

Status read_segment(Reader& reader, Problem& problem, const FieldSpec& field) {
  std::string_view given;
  if (field.kind == FieldSpec::Kind::kDimension) {
    if (!reader.starts_with(field.name)) {
      return reader.error(
          fmt::format("{}: {} stood where {}<number> must", grammar::describe(field),
                      reader.rest().empty() ? std::string("the end") : text::quote(reader.rest(), 40), field.name),
          problem.kernel->example);
    }
    reader.skip(field.name.size());
    given = reader.take_number();
  } else {
    given = reader.take_segment();
  }
  const auto wrong = grammar::put(problem, field, given);
  if (!wrong.empty()) return reader.error(fmt::format("{} {}", grammar::describe(field), wrong), problem.kernel->example);
  return {};
}

std::vector<const FieldSpec*> options_of(const KernelSpec& kernel) {
  std::vector<const FieldSpec*> options;
  for (const auto& field : kernel.grammar) {
    if (grammar::is_option(field)) options.push_back(&field);
  }
  return options;
}

// "/name=value" as often as there are any, in the grammar's order; the rest of the options take their defaults.
Status read_options(Reader& reader, Problem& problem) {
  const auto& kernel = *problem.kernel;
  const auto options = options_of(kernel);
  std::vector<std::string_view> names;
  for (const auto* option : options) names.push_back(option->name);
  std::size_t next = 0;
  while (reader.starts_with("/")) {
    reader.skip(1);
    const auto text = reader.take_until('/');
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string allowed = names.empty() ? fmt::format("kernel {} has none", kernel.name)
                                                : fmt::format("{} may stand there", text::alternatives(names));
      return reader.error(
          fmt::format("option {} is unknown{}: {}", text::quote(name, 40), text::did_you_mean(name, names), allowed),
          kernel.example);
    }
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (index < next) {
      return reader.error(
          fmt::format("option {} is given twice or out of order; the order is /{}=", name, fmt::join(names, "= /")),
          kernel.example);
    }
    if (equals == std::string_view::npos) {
      return reader.error(fmt::format("option {} has no value; /{}=VALUE must stand there", name, name), kernel.example);
    }
    for (; next < index; ++next) grammar::put_default(problem, *options[next]);
    const auto wrong = grammar::put(problem, *options[next++], text.substr(equals + 1));
    if (!wrong.empty()) return reader.error(fmt::format("option {} {}", name, wrong), kernel.example);
  }
  for (; next < options.size(); ++next) grammar::put_default(problem, *options[next]);
  return {};
}

Result<Problem> read_problem(std::string_view text) {
  Reader reader(text);
  const auto names = grammar::kernel_names();
  const auto examples = [&] { return names.empty() ? std::string_view() : kernels().front()->example; };
  if (text.empty()) {
    return reader.error(fmt::format("it is empty; a kernel ({}) must stand first", text::alternatives(names)), examples());
  }
  if (text.size() > kMaxLength) {
    return reader.error(fmt::format("it has {} characters, at most {} make a problem", text.size(), kMaxLength), examples());
  }
  const auto odd = std::find_if(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; });
  if (odd != text.end()) {
    return reader.error(
        fmt::format("{} stood at character {}; white space, control characters and letters beyond ASCII have no place",
                    text::quote(std::string_view(&*odd, 1)), odd - text.begin() + 1),
        examples());
  }
  const auto name = reader.take_segment();
  const auto* kernel = find_kernel(name);
  if (kernel == nullptr) {
    return reader.error(fmt::format("kernel {} is unknown{}; there are {}", text::quote(name, 40),
                                    text::did_you_mean(name, names), text::alternatives(names)),
                        examples());
  }
  Problem problem;
  problem.kernel = kernel;
  const FieldSpec* before = nullptr;
  for (const auto& field : kernel->grammar) {
    if (grammar::is_option(field)) break;
    if (auto status = read_separator(reader, field, before, *kernel); !status) return tl::make_unexpected(status.error());
    if (auto status = read_segment(reader, problem, field); !status) return tl::make_unexpected(status.error());
    before = &field;
  }
  if (auto status = read_options(reader, problem); !status) return tl::make_unexpected(status.error());
  if (!reader.rest().empty()) {
    return reader.error(
        fmt::format("{} follows the last field; only options may: /NAME=VALUE", text::quote(reader.rest(), 40)),
        kernel->example);
  }
  return problem;
}

}  // namespace

const std::string& Problem::word(std::string_view name) const {
  for (const auto& [field, value] : words) {
    if (field == name) return value;
  }
  no_such_field(*this, name);
}

std::int64_t Problem::number(std::string_view name) const {
  for (const auto& [field, value] : numbers) {
    if (field == name) return value;
  }
  no_such_field(*this, name);
}

Result<Problem> parse_problem(std::string_view text) {
  auto problem = read_problem(text);
  if (!problem) return problem;
  if (auto status = grammar::validate(*problem); !status) {
    auto error = status.error();
    error.what = fmt::format("cannot use the problem {}: {}", text::quote(text), error.what);
    return tl::make_unexpected(std::move(error));
  }
  return problem;
}

std::string to_string(const Problem& problem) {
  std::string out(problem.kernel->name);
  const FieldSpec* before = nullptr;
  for (const auto& field : problem.kernel->grammar) {
    const std::string value =
        grammar::is_word(field) ? problem.word(field.name) : fmt::format("{}", problem.number(field.name));
    switch (field.kind) {
      case FieldSpec::Kind::kWord:
      case FieldSpec::Kind::kNumber:
        out += ":" + value;
        break;
      case FieldSpec::Kind::kDimension:
        if (before == nullptr || before->kind != FieldSpec::Kind::kDimension) out += ':';
        out += field.name;
        out += value;
        break;
      case FieldSpec::Kind::kOptionNumber:
        if (problem.number(field.name) != field.default_number) out += fmt::format("/{}={}", field.name, value);
        break;
      case FieldSpec::Kind::kOptionWord:
        if (value != field.default_word) out += fmt::format("/{}={}", field.name, value);
        break;
    }
    before = &field;
  }
  return out;
}

namespace grammar {

std::string put(Problem& problem, const FieldSpec& field, std::string_view text) {
  if (is_word(field)) {
    if (std::find(field.allowed.begin(), field.allowed.end(), text) == field.allowed.end()) {
      return fmt::format("is {}{}; {} must stand there", text.empty() ? std::string("empty") : text::quote(text, 40),
                         text::did_you_mean(text, field.allowed), text::alternatives(field.allowed));
    }
    problem.words.emplace_back(field.name, text);
    return {};
  }
  std::int64_t value = 0;
  std::string why;
  if (!text::read_number(text, field.min, field.max, value, why)) return why;
  problem.numbers.emplace_back(field.name, value);
  return {};
}

void put_default(Problem& problem, const FieldSpec& field) {
  if (is_word(field)) {
    problem.words.emplace_back(field.name, field.default_word);
  } else {
    problem.numbers.emplace_back(field.name, field.default_number);
  }
}

std::vector<std::string_view> field_names(const KernelSpec& kernel) {
  std::vector<std::string_view> names;
  for (const auto& field : kernel.grammar) names.push_back(field.name);
  return names;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const auto* kernel : kernels()) names.push_back(kernel->name);
  return names;
}

std::string describe(const FieldSpec& field) {
  return field.summary.empty() ? fmt::format("field {}", field.name)
                               : fmt::format("field {} ({})", field.name, field.summary);
}

Status validate(const Problem& problem) {
  if (auto status = problem.kernel->validate(problem); !status) return status;
  // In double, before operands() multiplies in 64 bits: validate() of a kernel bounds each factor, this their products.
  double total = 0;
  for (const auto& operand : problem.kernel->operands(problem)) {
    total += operand.elements == std::numeric_limits<std::uint64_t>::max()
                 ? kMaxOperandBytes
                 : static_cast<double>(operand.elements) * static_cast<double>(element_bytes(operand.type));
  }
  if (!(total < kMaxOperandBytes)) {
    return usage_error("its operands are too large", "together they would not fit 2^62 bytes",
                       fmt::format("give smaller numbers: {}", problem.kernel->example));
  }
  return {};
}

}  // namespace grammar
}  // namespace hbmark
