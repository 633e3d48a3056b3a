#include "backends/loader/open_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/loader/members.h"

namespace hbmark::loader {
namespace {

// Far above any table this contract will have; beyond it the first word was never a size.
constexpr std::uint32_t kLargestTable = 64 * 1024;
// Up to here a table must reach to be of use; `capability` is the newest member, and without it nothing is supported.
constexpr std::uint32_t kSmallestTable = offsetof(hbmark_backend, capability);

const void* no_capability(const char*) { return nullptr; }

bool is_backend_name(const char* name) {
  const std::size_t length = std::strlen(name);
  return length > 0 && length < 64 && std::strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

}  // namespace

std::string find_table_fault(const hbmark_backend* table) {
  if (table == nullptr) return "its entry returned no table: a defect of the plugin, report it to its author";
  if (table->struct_size < offsetof(hbmark_backend, name) || table->struct_size > kLargestTable) {
    return fmt::format("its table says it has {} bytes, which no version of the contract has: rebuild it",
                       table->struct_size);
  }
  if (table->abi_major != HBMARK_ABI_MAJOR) {
    return fmt::format("built for contract {}.{}, this hbmark speaks {}.{}: rebuild it", table->abi_major, table->abi_minor,
                       HBMARK_ABI_MAJOR, HBMARK_ABI_MINOR);
  }
  if (table->struct_size < kSmallestTable) {
    return fmt::format("its table has {} bytes, and the contract needs {}: rebuild it", table->struct_size, kSmallestTable);
  }
  const hbmark_backend whole = completed(table);
  const char* missing = whole.name == nullptr      ? "name"
                        : whole.version == nullptr ? "version"
                        : whole.summary == nullptr ? "summary"
                        : whole.probe == nullptr   ? "probe"
                        : whole.open == nullptr    ? "open"
                        : whole.close == nullptr   ? "close"
                                                   : nullptr;
  if (missing != nullptr) {
    return fmt::format("its table has no {} (a null pointer): a defect of the plugin, report it to its author", missing);
  }
  if (!is_backend_name(whole.name)) {
    return fmt::format("it calls itself \"{:.60}\", and a backend's name is of a-z, 0-9 and _: a defect of the plugin",
                       whole.name);
  }
  return {};
}

Opened open_plugin(const std::filesystem::path& file) {
  dlerror();
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = dlerror();
    return {{},
            fmt::format("the dynamic linker refuses it: {}; install what is missing, or look at it with ldd",
                        text == nullptr ? "no reason given" : text)};
  }
  void* symbol = dlsym(handle, HBMARK_BACKEND_ENTRY);
  if (symbol == nullptr) {
    return {{},
            fmt::format("it does not export {}: not a plugin of hbmark, or built without the version script",
                        HBMARK_BACKEND_ENTRY)};
  }
  const auto entry = reinterpret_cast<hbmark_backend_entry>(symbol);
  const hbmark_backend* table = entry();
  if (auto fault = find_table_fault(table); !fault.empty()) return {{}, std::move(fault)};
  Opened opened{completed(table), {}};
  if (opened.table.capability == nullptr) opened.table.capability = no_capability;
  return opened;
}

}  // namespace hbmark::loader
