// Tables for people that fit a width: one elastic column goes on in further lines where it is too long, the others never.
//
// Pure, thread-safe. Under a row stand its notes (a reason, flags that found no room), indented and wrapped.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/text.h"

namespace hbmark::cli {

struct Column {
  std::string title;
  bool right = false;    // aligned to the right: numbers
  bool elastic = false;  // may be broken into lines; at most one column
};

struct Cell {
  std::string text;
  Color color = Color::kNone;
};

struct Note {
  std::string text;
  Color color = Color::kNone;
};

struct Row {
  std::vector<Cell> cells;  // one a column, or one that takes the whole line (a heading of a group)
  std::vector<Note> notes;
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// Columns wide the table would be with nothing broken; notes not counted.
int natural_width(const Table& table);

// Lines end in '\n' and have no blanks at their ends. Empty columns (no cell has text) are left out.
std::string render(const Table& table, const Style& style);

}  // namespace hbmark::cli
