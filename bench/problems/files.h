// Reading the files users write: whole, bounded, with errors that say what is there instead. Not thread-safe only in that
// files may change underneath.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results/base/result.h"

namespace hbmark::files {

// `kind` is the word for it in messages: "suite", "problem file". At most 64 MiB; errors as read_input_file's.
Result<std::string> read_text(const std::filesystem::path& file, const std::string& kind);

struct CsvRow {
  std::int64_t line = 0;  // where it starts, from 1
  std::vector<std::string> fields;
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;  // each with as many fields as there are columns
};

// RFC 4180 through libcsv's strict mode: quotes, CRLF and a UTF-8 byte order mark are read as meant; spaces round an
// unquoted field and empty lines are dropped. Errors (usage), each with file:line: NUL or another control character, a quote
// out of place or never closed, a line over 64 KiB, over a million rows, no header, a column without a name or named twice,
// a row with more or fewer fields than there are columns.
Result<CsvTable> read_csv(const std::filesystem::path& file);

}  // namespace hbmark::files
