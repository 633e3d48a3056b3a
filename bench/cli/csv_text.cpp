#include "bench/cli/csv_text.h"

#include <csv.h>

namespace hbmark::cli {

std::string csv_row(const std::vector<std::string>& fields) {
  std::string out;
  for (const std::string& field : fields) {
    if (!out.empty()) out += ',';
    std::string quoted(csv_write(nullptr, 0, field.data(), field.size()), '\0');
    csv_write(quoted.data(), quoted.size(), field.data(), field.size());
    out += quoted;
  }
  return out + "\r\n";
}

}  // namespace hbmark::cli
