#include "backends/sdk/tables.h"

namespace hbmark::sdk::thunk {
namespace {

Case* to_case(hbmark_case* handle) { return reinterpret_cast<Case*>(handle); }
Buffer* to_buffer(hbmark_buffer* handle) { return reinterpret_cast<Buffer*>(handle); }

std::int32_t alloc(hbmark_session* session, std::uint64_t bytes, hbmark_buffer** out, hbmark_status* status) {
  return at_border(status, [&]() -> Status {
    if (out == nullptr) return invalid("there is nowhere to put the buffer");
    *out = nullptr;
    Expected<std::unique_ptr<Buffer>> made = to_session(session)->allocate(bytes);
    HBMARK_SDK_TRY(made);
    *out = reinterpret_cast<hbmark_buffer*>(made->release());
    return {};
  });
}

void free_buffer(hbmark_session*, hbmark_buffer* buffer) { delete to_buffer(buffer); }

void* address(hbmark_buffer* buffer) { return buffer == nullptr ? nullptr : to_buffer(buffer)->host_address(); }

std::int32_t write_input(hbmark_case* c, std::uint32_t operand, const void* canonical, std::uint64_t bytes,
                         hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_write(operand, canonical, bytes); });
}

std::int32_t read_output(hbmark_case* c, std::uint32_t operand, void* canonical, std::uint64_t bytes,
                         hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_read(operand, canonical, bytes); });
}

std::int32_t describe(hbmark_session* session, hbmark_info* info, hbmark_status* status) {
  return at_border(status, [&]() -> Status {
    const Expected<SessionInfo> described = to_session(session)->describe();
    HBMARK_SDK_TRY(described);
    hbmark_info filled{};
    copy_text(filled.library, described->library);
    copy_text(filled.runtime, described->runtime);
    copy_text(filled.isa, described->isa);
    copy_text(filled.warning, described->warning);
    return copy_out(info, filled);
  });
}

}  // namespace

const hbmark_memory kMemory = {sizeof(hbmark_memory), 0, alloc, free_buffer, address, write_input, read_output};
const hbmark_info_capability kInfo = {sizeof(hbmark_info_capability), 0, describe};

std::int32_t candidates(hbmark_case* c, hbmark_candidate* list, std::uint32_t capacity, std::uint32_t* count,
                        hbmark_status* status) {
  return at_border(status, [&] {
    std::vector<hbmark_candidate> filled;
    for (const Candidate& each : to_case(c)->candidates()) {
      hbmark_candidate& out = filled.emplace_back();
      out.algorithm_class = each.algorithm_class;
      out.workspace_bytes = each.workspace_bytes;
      copy_text(out.name, each.name);
    }
    return copy_list_out(list, capacity, count, filled);
  });
}

std::int32_t select(hbmark_case* c, std::uint32_t index, hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_select(index); });
}

std::int32_t operands(hbmark_case* c, hbmark_operand* list, std::uint32_t capacity, std::uint32_t* count,
                      hbmark_status* status) {
  return at_border(status, [&] {
    std::vector<hbmark_operand> filled;
    for (const Operand& each : to_case(c)->operands()) {
      hbmark_operand& out = filled.emplace_back();
      out.role = each.role;
      out.type = each.type;
      out.canonical_bytes = each.canonical_bytes;
      out.device_bytes = each.device_bytes;
      copy_text(out.name, each.name);
    }
    return copy_list_out(list, capacity, count, filled);
  });
}

std::int32_t bind(hbmark_case* c, std::uint32_t operand, hbmark_buffer* buffer, hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_bind(operand, to_buffer(buffer)); });
}

std::int32_t run(hbmark_case* c, std::uint64_t calls, hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_run(calls); });
}

std::int32_t convert(hbmark_case* c, std::uint64_t calls, hbmark_status* status) {
  return at_border(status, [&] { return to_case(c)->checked_convert(calls); });
}

std::int32_t info(hbmark_case* c, hbmark_case_info* info, hbmark_status* status) {
  return at_border(status, [&] {
    const CaseInfo given = to_case(c)->info();
    hbmark_case_info filled{};
    filled.algorithm_class = given.algorithm_class;
    filled.has_conversion = given.has_conversion ? 1 : 0;
    filled.flop_per_call = given.flop_per_call;
    filled.bytes_per_call = given.bytes_per_call;
    copy_text(filled.implementation, given.implementation);
    copy_text(filled.isa, given.isa);
    copy_text(filled.layout, given.layout);
    return copy_out(info, filled);
  });
}

void release(hbmark_case* c) { delete to_case(c); }

void close(hbmark_session* session) { delete to_session(session); }

Status put_case(Expected<std::unique_ptr<Case>> prepared, hbmark_case** out) {
  if (out == nullptr) return invalid("there is nowhere to put the case");
  *out = nullptr;
  HBMARK_SDK_TRY(prepared);
  HBMARK_SDK_TRY((*prepared)->adopt());
  *out = reinterpret_cast<hbmark_case*>(prepared->release());
  return {};
}

Status put_devices(const Expected<std::vector<Device>>& found, hbmark_device* list, std::uint32_t capacity,
                   std::uint32_t* count) {
  if (count != nullptr) *count = 0;
  HBMARK_SDK_TRY(found);
  std::vector<hbmark_device> filled;
  for (const Device& each : *found) {
    hbmark_device& out = filled.emplace_back();
    out.kind = each.kind;
    out.memory_bytes = each.memory_bytes;
    copy_text(out.id, each.id);
    copy_text(out.name, each.name);
  }
  return copy_list_out(list, capacity, count, filled);
}

}  // namespace hbmark::sdk::thunk
