#include "bench/problems/files.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "bench/problems/text.h"
#include "results/base/input_file.h"

namespace hbmark::files {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxLine = std::size_t{64} << 10;
constexpr std::size_t kMaxRows = 1000000;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr const char* kNext = "save it as comma-separated text with one header line of column names";

// Rows as libcsv hands them over, field by field.
struct Collector {
  CsvRow row;
  std::vector<CsvRow> rows;
  std::int64_t line = 1;  // of the text being handed to libcsv

  static void field(void* text, std::size_t size, void* self) {
    auto& collector = *static_cast<Collector*>(self);
    if (collector.row.fields.empty()) collector.row.line = collector.line;
    collector.row.fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void end(int, void* self) {
    auto& collector = *static_cast<Collector*>(self);
    collector.rows.push_back(std::move(collector.row));
    collector.row = {};
  }
};

class CsvReader {
 public:
  explicit CsvReader(const std::filesystem::path& file) : file_(file.string()) {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
  }
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader() { csv_free(&parser_); }

  Result<CsvTable> read(std::string_view text) {
    if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
    // Line by line, so that every row and error knows its line; a quoted line break just goes on.
    for (std::size_t at = 0; at < text.size(); ++collector_.line) {
      const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
      if (auto status = read_line(text.substr(at, end - at)); !status) return tl::make_unexpected(status.error());
      at = end;
    }
    collector_.line = std::max<std::int64_t>(1, collector_.line - 1);
    if (csv_fini(&parser_, Collector::field, Collector::end, &collector_) != 0) {
      return error(collector_.row.line > 0 ? collector_.row.line : collector_.line, "a quote is never closed");
    }
    return table();
  }

 private:
  tl::unexpected<Error> error(std::int64_t line, const std::string& why) const {
    return usage_error(fmt::format("cannot read the problem file {}", file_), fmt::format("{}:{}: {}", file_, line, why),
                       kNext);
  }

  Status read_line(std::string_view line) {
    if (line.size() > kMaxLine) {
      return error(collector_.line, fmt::format("the line has {} characters, at most {} make a row", line.size(), kMaxLine));
    }
    const auto odd = std::find_if(line.begin(), line.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && c != '\t' && c != '\r' && c != '\n') || byte == 0x7f;
    });
    if (odd != line.end()) {
      return error(collector_.line,
                   fmt::format("character {} is the control character \\x{:02x}; is it comma-separated text?",
                               odd - line.begin() + 1, static_cast<unsigned char>(*odd)));
    }
    if (csv_parse(&parser_, line.data(), line.size(), Collector::field, Collector::end, &collector_) != line.size()) {
      return error(collector_.line,
                   "a double quote stands inside a field; quote the whole field and double the quote in it");
    }
    if (collector_.rows.size() > kMaxRows) return error(collector_.line, fmt::format("more than {} rows", kMaxRows));
    return {};
  }

  Result<CsvTable> table() {
    auto& rows = collector_.rows;
    if (rows.empty()) return error(1, "it is empty; a line of column names must stand first");
    CsvTable out;
    out.columns = std::move(rows.front().fields);
    for (std::size_t i = 0; i < out.columns.size(); ++i) {
      const auto& name = out.columns[i];
      if (name.empty())
        return error(rows.front().line, fmt::format("column {} of {} has no name", i + 1, out.columns.size()));
      if (std::find(out.columns.begin(), out.columns.begin() + static_cast<std::ptrdiff_t>(i), name) !=
          out.columns.begin() + static_cast<std::ptrdiff_t>(i)) {
        return error(rows.front().line, fmt::format("column {} is there twice", text::quote(name)));
      }
    }
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].fields.size() != out.columns.size()) {
        return error(rows[i].line,
                     fmt::format("the row has {} fields, the header names {} columns ({})", rows[i].fields.size(),
                                 out.columns.size(), text::quote(fmt::format("{}", fmt::join(out.columns, ",")))));
      }
    }
    out.rows.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
    return out;
  }

  std::string file_;
  csv_parser parser_{};
  Collector collector_;
};

}  // namespace

Result<std::string> read_text(const std::filesystem::path& file, const std::string& kind) {
  return read_input_file(file, fmt::format("cannot read the {} {}", kind, file.string()), kMaxBytes);
}

Result<CsvTable> read_csv(const std::filesystem::path& file) {
  auto text = read_text(file, "problem file");
  if (!text) return tl::make_unexpected(text.error());
  return CsvReader(file).read(*text);
}

}  // namespace hbmark::files
