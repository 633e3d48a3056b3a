#include "backends/sdk/backend.h"

#include <cstring>

namespace hbmark::sdk {

Status Case::select(std::uint32_t) { return {}; }
Status Case::convert(std::uint64_t) { return invalid("this case has no layout conversion"); }
Status Case::bound(std::uint32_t, Buffer&) { return {}; }

Status Case::write_input(std::uint32_t operand, std::span<const std::byte> canonical) {
  std::memcpy(buffer(operand).data(), canonical.data(), canonical.size());
  return {};
}

Status Case::read_output(std::uint32_t operand, std::span<std::byte> canonical) {
  std::memcpy(canonical.data(), buffer(operand).data(), canonical.size());
  return {};
}

Status Case::adopt() {
  operands_ = operands();
  bound_.assign(operands_.size(), nullptr);
  return {};
}

Status Case::checked_select(std::uint32_t index) {
  const std::size_t count = candidates().size();
  if (index >= count) {
    return invalid("candidate " + std::to_string(index) + " was selected; there are " + std::to_string(count));
  }
  bound_.assign(bound_.size(), nullptr);
  HBMARK_SDK_TRY(select(index));
  return adopt();
}

Status Case::checked_bind(std::uint32_t operand, Buffer* buffer) {
  if (operand >= operands_.size()) {
    return invalid("operand " + std::to_string(operand) + " was bound; there are " + std::to_string(operands_.size()));
  }
  const Operand& wanted = operands_[operand];
  if (buffer == nullptr) return invalid("no buffer was given for \"" + wanted.name + "\"");
  if (buffer->size_bytes() < wanted.device_bytes) {
    return invalid("\"" + wanted.name + "\" needs " + std::to_string(wanted.device_bytes) + " bytes; the buffer has " +
                   std::to_string(buffer->size_bytes()));
  }
  HBMARK_SDK_TRY(bound(operand, *buffer));
  bound_[operand] = buffer;
  return {};
}

Status Case::check_all_bound() const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].device_bytes > 0 && bound_[i] == nullptr) return invalid("\"" + operands_[i].name + "\" is not bound");
  }
  return {};
}

Status Case::checked_run(std::uint64_t calls) {
  HBMARK_SDK_TRY(check_all_bound());
  return run(calls);
}

Status Case::checked_convert(std::uint64_t calls) {
  HBMARK_SDK_TRY(check_all_bound());
  return convert(calls);
}

Status Case::check_transfer(std::uint32_t operand, const void* canonical, std::uint64_t bytes, std::uint32_t role) const {
  if (operand >= operands_.size()) return invalid("there is no operand " + std::to_string(operand));
  const Operand& wanted = operands_[operand];
  const char* action = role == HBMARK_INPUT ? "written" : "read";
  if (wanted.role != role) return invalid("\"" + wanted.name + "\" cannot be " + action);
  if (bound_[operand] == nullptr) return invalid("\"" + wanted.name + "\" was " + action + " before it was bound");
  if (canonical == nullptr) return invalid("there is no data for \"" + wanted.name + "\"");
  if (bytes != wanted.canonical_bytes) {
    return invalid("\"" + wanted.name + "\" has " + std::to_string(wanted.canonical_bytes) + " bytes, not " +
                   std::to_string(bytes));
  }
  return {};
}

Status Case::checked_write(std::uint32_t operand, const void* canonical, std::uint64_t bytes) {
  HBMARK_SDK_TRY(check_transfer(operand, canonical, bytes, HBMARK_INPUT));
  return write_input(operand, {static_cast<const std::byte*>(canonical), bytes});
}

Status Case::checked_read(std::uint32_t operand, void* canonical, std::uint64_t bytes) {
  HBMARK_SDK_TRY(check_transfer(operand, canonical, bytes, HBMARK_OUTPUT));
  return read_output(operand, {static_cast<std::byte*>(canonical), bytes});
}

namespace {
struct TypeRow {
  std::uint32_t type;
  const char* name;
  std::uint64_t size_bytes;
};
constexpr TypeRow kTypes[] = {{HBMARK_F32, "f32", 4}, {HBMARK_F64, "f64", 8},  {HBMARK_BF16, "bf16", 2},
                              {HBMARK_F16, "f16", 2}, {HBMARK_S8, "s8", 1},    {HBMARK_U8, "u8", 1},
                              {HBMARK_S32, "s32", 4}, {HBMARK_TF32, "tf32", 4}};
}  // namespace

std::string type_name(std::uint32_t type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return "type " + std::to_string(type);
}

std::uint64_t size_of_type(std::uint32_t type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.size_bytes;
  }
  return 0;
}

Expected<std::uint64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 0) return invalid("a size is negative");
    if (__builtin_mul_overflow(product, factor, &product)) return unsupported("a size does not fit in 63 bits");
  }
  return static_cast<std::uint64_t>(product);
}

}  // namespace hbmark::sdk
