// From columns, or a suite's `set`, to problems. Pure but for reading the named file.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"

namespace hbmark::rows {

using Choices = std::vector<std::pair<std::string, std::vector<std::string>>>;  // name -> values, in the file's order

// Which rows of a CSV, and what they get in place of (or beside) their columns: one problem for every combination of `set`.
struct Selection {
  std::string kernel;  // empty: told from the columns
  Choices where;       // column -> values of the rows wanted
  Choices except;      // column -> values of the rows not wanted
  Choices set;         // field -> values
};

// "where" and "except" values that match no row, unknown columns and fields are errors. Notes name the columns that are not
// read.
Result<std::vector<SuiteCase>> from_csv(const std::filesystem::path& file, const Selection& selection,
                                        std::vector<std::string>* notes);

// One problem for every combination. Errors carry no file: the caller adds
// it.
Result<std::vector<Problem>> from_set(const KernelSpec& kernel, const Choices& set);

// The problem with these texts as fields; a field without text takes its default, or is missing.
// Errors: `why` alone says it all ("field k (length of the sums) is missing").
Result<Problem> assemble(const KernelSpec& kernel,
                         const std::function<std::optional<std::string>(const FieldSpec&)>& text_of);

// Calls visit with every combination, the last name varying fastest; ends at the first error.
Status for_each_combination(const Choices& set,
                            const std::function<Status(const std::vector<std::pair<std::string, std::string>>&)>& visit);

// Folds cases of the same problem into the first, adding up occurrences and counting the repeats.
void fold(Suite& suite, std::vector<SuiteCase> cases);

}  // namespace hbmark::rows
