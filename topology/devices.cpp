#include "topology/devices.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace hbmark::topology {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;  // vendors' GB/s are decimal

struct PeakColumn {
  const char* column;
  const char* type;
};
constexpr std::array kPeaks = {PeakColumn{"peak_fp64_tflops", "f64"},  PeakColumn{"peak_fp32_tflops", "f32"},
                               PeakColumn{"peak_tf32_tflops", "tf32"}, PeakColumn{"peak_fp16_tflops", "f16"},
                               PeakColumn{"peak_bf16_tflops", "bf16"}, PeakColumn{"peak_fp8_tflops", "f8"},
                               PeakColumn{"peak_int8_tops", "s8"}};

// ---- names ----------------------------------------------------------------------------------------------------------

// A name as the words that tell devices apart, and the memory size that some names carry ("SXM4-40GB").
struct Name {
  std::vector<std::string> words;
  std::string memory;  // "40gb"
  bool operator==(const Name&) const = default;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string without(std::string text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part)) text.replace(at, part.size(), " ");
  return text;
}

bool is_memory(const std::string& word) {
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2, [](unsigned char c) { return std::isdigit(c) != 0; });
}

Name parse_name(std::string_view text) {
  std::string plain = without(without(lower(text), "(r)"), "(tm)");
  plain = plain.substr(0, plain.find('@'));  // the clock; two models never differ by it alone
  // PCI names are "GV100GL [Tesla V100 SXM2 16GB]": the chip, and the product in brackets.
  const auto open = plain.find('[');
  const auto close = plain.find(']', open == std::string::npos ? 0 : open);
  if (open != std::string::npos && close != std::string::npos) plain = plain.substr(open + 1, close - open - 1);
  // '+' tells models apart ("8480+"). Everything else that is no letter or digit separates.
  for (char& c : plain) c = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' ? c : ' ';
  static const std::set<std::string> kNoise = {"intel", "nvidia", "amd", "cpu", "processor", "gpu", "tesla"};
  Name name;
  std::istringstream stream(plain);
  for (std::string word; stream >> word;) {
    if (is_memory(word)) {
      name.memory = word;
    } else if (kNoise.count(word) == 0) {
      name.words.push_back(word);
    }
  }
  return name;
}

// The same words, no more and no fewer: what is left over in a name ("V100-SXM3", "9470C") makes another device of it.
bool means(const Name& listed, const Name& asked, double memory_gib) {
  if (listed.words.empty() || listed.words != asked.words) return false;
  if (!listed.memory.empty()) return listed.memory == asked.memory;
  return asked.memory.empty() || asked.memory == fmt::format("{}gb", memory_gib);
}

const DeviceRow* find_row(const DeviceTable& table, std::string_view text, DeviceRow::Kind kind) {
  const Name asked = parse_name(text);
  for (const DeviceRow& row : table.rows) {
    if (row.kind != kind) continue;
    for (const std::string& name : row.names) {
      if (means(parse_name(name), asked, row.fast_memory_gib)) return &row;
    }
  }
  return nullptr;
}

// ---- the file -------------------------------------------------------------------------------------------------------

struct Line {
  int number = 0;
  std::vector<std::string> fields;
};

struct Collector {
  Line line;
  std::vector<Line> lines;
  int number = 1;  // of the text being handed to libcsv
  static void field(void* text, std::size_t size, void* self) {
    auto& all = *static_cast<Collector*>(self);
    if (all.line.fields.empty()) all.line.number = all.number;
    all.line.fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void end(int, void* self) {
    auto& all = *static_cast<Collector*>(self);
    all.lines.push_back(std::move(all.line));
    all.line = {};
  }
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  Result<DeviceTable> read() {
    if (auto status = read_lines(); !status) return tl::make_unexpected(status.error());
    if (lines_.empty()) return wrong(1, "it is empty; a line of column names must stand first");
    columns_ = lines_.front().fields;
    for (const char* needed : {"device", "also_called", "kind", "os_devices", "source"}) {
      if (std::find(columns_.begin(), columns_.end(), needed) == columns_.end()) {
        return wrong(lines_.front().number, fmt::format("there is no column '{}'", needed));
      }
    }
    DeviceTable table;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      auto row = read_row(lines_[i]);
      if (!row) return tl::make_unexpected(row.error());
      for (const std::string& name : row->names) {
        if (find_row(table, name, row->kind) != nullptr) {
          return wrong(lines_[i].number, fmt::format("'{}' is already in the table under this or a like name", name));
        }
      }
      table.rows.push_back(std::move(*row));
    }
    return table;
  }

 private:
  tl::unexpected<Error> wrong(int line, const std::string& why) const {
    return environment_error("cannot read the device table " + file_.string(),
                             line > 0 ? fmt::format("line {}: {}", line, why) : why,
                             "install hbmark again, or mend the file: comma-separated, one device a row");
  }

  Status read_lines() {
    std::error_code code;
    if (std::filesystem::is_directory(file_, code)) return wrong(0, "it is a folder");
    errno = 0;
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) return wrong(0, std::strerror(errno != 0 ? errno : ENOENT));
    struct Parser {
      csv_parser state{};
      Parser() { csv_init(&state, CSV_STRICT | CSV_STRICT_FINI); }
      Parser(const Parser&) = delete;
      Parser& operator=(const Parser&) = delete;
      ~Parser() { csv_free(&state); }
    } parser;
    Collector all;
    for (std::string text; std::getline(stream, text); ++all.number) {
      text += '\n';
      if (csv_parse(&parser.state, text.data(), text.size(), Collector::field, Collector::end, &all) != text.size()) {
        return wrong(all.number, "a double quote stands inside a field");
      }
    }
    if (csv_fini(&parser.state, Collector::field, Collector::end, &all) != 0) {
      return wrong(all.line.number > 0 ? all.line.number : all.number - 1, "a quote is never closed");
    }
    lines_ = std::move(all.lines);
    return {};
  }

  std::string text(const Line& line, std::string_view column) const {
    const auto at = std::find(columns_.begin(), columns_.end(), column);
    return at == columns_.end() ? "" : line.fields[static_cast<std::size_t>(at - columns_.begin())];
  }

  // An empty field is no figure; anything else must be a number above zero.
  Result<std::optional<double>> number(const Line& line, std::string_view column) const {
    const std::string field = text(line, column);
    if (field.empty()) return std::optional<double>{};
    double value = 0;
    const char* last = field.data() + field.size();
    const auto [end, code] = std::from_chars(field.data(), last, value);
    if (code != std::errc() || end != last || !std::isfinite(value) || value <= 0) {
      return wrong(line.number,
                   fmt::format("column {} is '{}': give a number above zero, or leave it empty", column, field));
    }
    return std::optional<double>{value};
  }

  Status read_figures(const Line& line, double share, NominalFigures& figures) const {
    for (const auto& [column, type] : kPeaks) {
      const auto value = number(line, column);
      if (!value) return tl::make_unexpected(value.error());
      if (*value) figures.peak_flop_per_s[type] = **value * kTera / share;
    }
    const std::array<std::pair<const char*, std::optional<double>*>, 4> bandwidths = {
        {{"fast_mem_nominal_gbs", &figures.fast_bytes_per_s},
         {"fast_mem_published_gbs", &figures.fast_measured_bytes_per_s},
         {"ddr_nominal_gbs", &figures.ddr_bytes_per_s},
         {"ddr_published_gbs", &figures.ddr_measured_bytes_per_s}}};
    for (const auto& [column, place] : bandwidths) {
      const auto value = number(line, column);
      if (!value) return tl::make_unexpected(value.error());
      if (*value) *place = **value * kGiga / share;
    }
    return {};
  }

  Result<DeviceRow> read_row(const Line& line) const {
    if (line.fields.size() != columns_.size()) {
      return wrong(line.number,
                   fmt::format("the row has {} fields, the header names {}", line.fields.size(), columns_.size()));
    }
    DeviceRow row;
    row.figures.device = text(line, "device");
    row.figures.source = text(line, "source");
    if (parse_name(row.figures.device).words.empty()) return wrong(line.number, "the device has no name");
    if (row.figures.source.empty()) return wrong(line.number, "the figures have no source");
    const std::string kind = text(line, "kind");
    if (kind != "cpu" && kind != "gpu") return wrong(line.number, fmt::format("kind is '{}', not cpu or gpu", kind));
    row.kind = kind == "cpu" ? DeviceRow::Kind::kCpu : DeviceRow::Kind::kGpu;
    row.names = {row.figures.device};
    std::istringstream also(text(line, "also_called"));
    for (std::string name; std::getline(also, name, ';');) row.names.push_back(name);
    // A board with two chips is two devices to the system: the table's figures are the board's.
    const auto share = number(line, "os_devices");
    const auto cores = number(line, "cores_or_sms");
    const auto memory = number(line, "fast_mem_gib");
    for (const auto* each : {&share, &cores, &memory}) {
      if (!*each) return tl::make_unexpected(each->error());
    }
    const double devices = share->value_or(1);
    row.cores = static_cast<int>(cores->value_or(0) / devices);
    row.fast_memory_gib = memory->value_or(0) / devices;
    if (auto status = read_figures(line, devices, row.figures); !status) return tl::make_unexpected(status.error());
    return row;
  }

  std::filesystem::path file_;
  std::vector<Line> lines_;
  std::vector<std::string> columns_;
};

void scale(std::optional<double>& value, double factor) {
  if (value) *value *= factor;
}

}  // namespace

Result<DeviceTable> load_devices(const std::filesystem::path& file) { return Reader(file).read(); }

std::optional<NominalFigures> nominal_figures(const DeviceTable& table, std::string_view cpu_model) {
  const DeviceRow* row = find_row(table, cpu_model, DeviceRow::Kind::kCpu);
  return row != nullptr ? std::optional(row->figures) : std::nullopt;
}

std::optional<NominalFigures> nominal_figures(const DeviceTable& table, const Node& node) {
  const DeviceRow* row = find_row(table, node.cpu_model, DeviceRow::Kind::kCpu);
  if (row == nullptr || node.packages < 1) return std::nullopt;
  if (row->cores > 0 &&
      node.cores.size() != static_cast<std::size_t>(row->cores) * static_cast<std::size_t>(node.packages)) {
    return std::nullopt;
  }
  NominalFigures all = row->figures;
  if (node.packages > 1) all.device = fmt::format("{} x {}", node.packages, all.device);
  const double factor = node.packages;
  for (auto& [type, peak] : all.peak_flop_per_s) peak *= factor;
  for (auto* each :
       {&all.fast_bytes_per_s, &all.ddr_bytes_per_s, &all.fast_measured_bytes_per_s, &all.ddr_measured_bytes_per_s})
    scale(*each, factor);
  return all;
}

std::optional<NominalFigures> nominal_gpu_figures(const DeviceTable& table, std::string_view gpu_name) {
  const DeviceRow* row = find_row(table, gpu_name, DeviceRow::Kind::kGpu);
  return row != nullptr ? std::optional(row->figures) : std::nullopt;
}

}  // namespace hbmark::topology
