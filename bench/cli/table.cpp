#include "bench/cli/table.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hbmark::cli {
namespace {

constexpr int kGap = 2;
constexpr int kNoteIndent = 4;
constexpr int kElasticMin = 12;  // fewer columns say nothing of a problem

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths(table.columns.size(), 0);
  for (const Row& row : table.rows) {
    if (row.cells.size() != table.columns.size()) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(table.columns[i].title));
  }
  return widths;
}

int total_width(const std::vector<int>& widths) {
  int total = 0;
  for (const int width : widths) {
    if (width > 0) total += width + (total > 0 ? kGap : 0);
  }
  return total;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

// Bytes of `word` that fill at most `width` columns; a problem is broken behind a colon, slash or comma where one is near.
std::size_t bytes_that_fit(std::string_view word, int width) {
  std::size_t fits = 0;
  std::size_t after_mark = 0;
  int columns = 0;
  for (std::size_t i = 0; i < word.size();) {
    std::size_t next = i + 1;
    while (next < word.size() && (static_cast<unsigned char>(word[next]) & 0xC0U) == 0x80U) ++next;
    if (++columns > width) break;
    fits = next;
    if (word[i] == ':' || word[i] == '/' || word[i] == ',') after_mark = next;
    i = next;
  }
  return after_mark > fits / 2 ? after_mark : fits;
}

// The text in lines of at most `width` columns, nothing of it lost; its indent stands before each.
std::vector<std::string> broken(const std::string& text, int width) {
  if (display_width(text) <= width) return {text};
  const std::string indent(std::min<std::size_t>(text.find_first_not_of(' '), static_cast<std::size_t>(width) / 2), ' ');
  const int room = std::max(1, width - static_cast<int>(indent.size()));
  std::vector<std::string> lines;
  for (const std::string& line : wrap(text, room)) {
    std::string_view rest = line;
    while (display_width(rest) > room) {
      const std::size_t bytes = bytes_that_fit(rest, room);
      lines.push_back(indent + std::string(rest.substr(0, bytes)));
      rest.remove_prefix(bytes);
    }
    lines.push_back(indent + std::string(rest));
  }
  return lines;
}

std::string render_line(const Table& table, const std::vector<Cell>& cells, const std::vector<int>& widths,
                        const Style& style) {
  std::string line;
  bool first = true;
  std::string pending;  // blanks are written only when something follows
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    if (!first) pending.append(kGap, ' ');
    first = false;
    const std::string& text = cells[i].text;
    const std::string fill(static_cast<std::size_t>(std::max(0, widths[i] - display_width(text))), ' ');
    if (text.empty()) {
      pending += fill;
      continue;
    }
    line += pending;
    pending.clear();
    if (table.columns[i].right) {
      line += fill + style.paint(text, cells[i].color);
    } else {
      line += style.paint(text, cells[i].color);
      pending = fill;
    }
  }
  return line;
}

// One row on as many lines as its elastic cell needs.
void append_cells(const Table& table, const std::vector<Cell>& cells, const std::vector<int>& widths, const Style& style,
                  std::string& out) {
  std::vector<std::vector<Cell>> lines = {cells};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0 || !table.columns[i].elastic) continue;
    std::vector<std::string> parts = broken(cells[i].text, widths[i]);
    lines.resize(std::max(lines.size(), parts.size()), std::vector<Cell>(cells.size()));
    for (std::size_t k = 0; k < parts.size(); ++k) lines[k][i] = {std::move(parts[k]), cells[i].color};
  }
  for (const std::vector<Cell>& each : lines) {
    std::string line = render_line(table, each, widths, style);
    trim_end(line);
    out += line + '\n';
  }
}

void append_notes(const Row& row, const Style& style, std::string& out) {
  for (const Note& note : row.notes) {
    for (const std::string& line : wrap(note.text, std::max(20, style.width - kNoteIndent))) {
      out += std::string(kNoteIndent, ' ') + style.paint(line, note.color) + '\n';
    }
  }
}

}  // namespace

int natural_width(const Table& table) { return total_width(column_widths(table)); }

std::string render(const Table& table, const Style& style) {
  std::vector<int> widths = column_widths(table);
  const int too_wide = total_width(widths) - style.width;
  for (std::size_t i = 0; i < widths.size() && too_wide > 0; ++i) {
    if (table.columns[i].elastic) widths[i] = std::max(std::min(kElasticMin, widths[i]), widths[i] - too_wide);
  }
  std::vector<Cell> titles;
  for (const Column& column : table.columns) titles.push_back({column.title, Color::kBold});
  std::string out;
  if (std::any_of(titles.begin(), titles.end(), [](const Cell& cell) { return !cell.text.empty(); })) {
    out = render_line(table, titles, widths, style) + '\n';
  }
  for (const Row& row : table.rows) {
    if (row.cells.size() == table.columns.size()) {
      append_cells(table, row.cells, widths, style, out);
    } else {
      std::string line = row.cells.empty() ? std::string() : style.paint(row.cells[0].text, row.cells[0].color);
      trim_end(line);
      out += line + '\n';
    }
    append_notes(row, style, out);
  }
  return out;
}

}  // namespace hbmark::cli
