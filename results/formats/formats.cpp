#include "results/formats/format.h"
#include "results/formats/table.h"

namespace hbmark {
namespace {

constexpr Format kFormats[] = {
    {"json", "JSON Lines, one hbmark.result/1 a line, with every sample", text_formats::write_json},
    {"csv", "RFC 4180, one row a result, units in the column names, no samples", text_formats::write_csv},
    {"gbench", "Google Benchmark's JSON, one entry a sample, for its compare.py", text_formats::write_gbench},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

}  // namespace hbmark
