// One declaration a format file of this folder, for the table in formats.cpp.
#pragma once

#include <ostream>
#include <span>

#include "results/formats/format.h"

namespace hbmark::text_formats {

void write_json(std::ostream& out, std::span<const ExportRow> rows);
void write_csv(std::ostream& out, std::span<const ExportRow> rows);
void write_gbench(std::ostream& out, std::span<const ExportRow> rows);

}  // namespace hbmark::text_formats
