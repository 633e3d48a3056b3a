#include "backends/sdk/border.h"

namespace hbmark::sdk {

void copy_text(char* target, std::size_t capacity, std::string_view text) {
  std::size_t length = std::min(text.size(), capacity - 1);
  if (length < text.size()) {
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) --length;  // a continuation byte
  }
  std::memcpy(target, text.data(), length);
  std::memset(target + length, 0, capacity - length);
}

std::int32_t report(hbmark_status* status, std::int32_t code, std::int64_t vendor_code, std::string_view message) noexcept {
  if (status == nullptr) return code;  // against the contract, but no reason to die
  hbmark_status full = make_status();
  full.code = code;
  full.vendor_code = vendor_code;
  copy_text(full.message, message);
  const std::size_t room = std::min<std::size_t>(status->struct_size, sizeof full);
  if (room > sizeof full.struct_size) {
    std::memcpy(reinterpret_cast<char*>(status) + sizeof full.struct_size,
                reinterpret_cast<const char*>(&full) + sizeof full.struct_size, room - sizeof full.struct_size);
  }
  return code;
}

}  // namespace hbmark::sdk
