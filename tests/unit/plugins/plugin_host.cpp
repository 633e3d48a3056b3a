#include "plugin_host.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#if defined(__SANITIZE_ADDRESS__)
// GCC 12's leak check dies in the thread-local storage of a library that was loaded while OpenMP threads ran, unless it
// keeps its hands off __tls_get_addr. What $ASAN_OPTIONS says is added to this.
extern "C" const char* __asan_default_options();  // NOLINT: the runtime's name
extern "C" const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
#endif

namespace hbmark::tests {
namespace {

void write_log(const hbmark_host* host, std::int32_t, const char* text) { PluginHost::of(host).log.emplace_back(text); }

std::int32_t allocate(const hbmark_host* host, std::uint64_t bytes, std::uint64_t alignment, void** address,
                      hbmark_status* status) {
  PluginHost& self = PluginHost::of(host);
  if (bytes > self.refuse_above_bytes) {
    status->code = HBMARK_OUT_OF_MEMORY;
    std::strcpy(status->message, "refused by the test");
    return HBMARK_OUT_OF_MEMORY;
  }
  *address = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (*address == nullptr) return HBMARK_OUT_OF_MEMORY;
  std::memset(*address, 0xA5, bytes);  // what is not written is noticed
  ++self.live_allocations;
  return HBMARK_OK;
}

void release(const hbmark_host* host, void* address) {
  --PluginHost::of(host).live_allocations;
  std::free(address);
}

std::int32_t cancel_requested(const hbmark_host* host) { return PluginHost::of(host).cancel ? 1 : 0; }

const hbmark_host_log kLog = {sizeof kLog, 0, write_log};
const hbmark_host_memory kMemory = {sizeof kMemory, 0, allocate, release};
const hbmark_host_cancel kCancel = {sizeof kCancel, 0, cancel_requested};

const void* service(const hbmark_host* host, const char* id) {
  if (!PluginHost::of(host).offer_services) return nullptr;
  if (std::strcmp(id, HBMARK_HOST_LOG_V1) == 0) return &kLog;
  if (std::strcmp(id, HBMARK_HOST_MEMORY_V1) == 0) return &kMemory;
  if (std::strcmp(id, HBMARK_HOST_CANCEL_V1) == 0) return &kCancel;
  return nullptr;
}

void demand(std::int32_t code, const hbmark_status& status, const char* what) {
  if (code != HBMARK_OK) throw std::runtime_error(std::string(what) + ": " + std::to_string(code) + " " + status.message);
}

}  // namespace

PluginHost::PluginHost() {
  table_.struct_size = sizeof table_;
  table_.abi_major = HBMARK_ABI_MAJOR;
  table_.abi_minor = HBMARK_ABI_MINOR;
  table_.context = this;
  table_.service = service;
}

PluginHost::~PluginHost() = default;

hbmark_status empty_status() {
  hbmark_status status{};
  status.struct_size = sizeof status;
  return status;
}

const hbmark_backend* plugin(const std::string& name) {
  static std::map<std::string, const hbmark_backend*> loaded;
  const hbmark_backend*& table = loaded[name];
  if (table == nullptr) {
    // Idle threads of a team that spin would fight the other tests for cores. Read by libgomp as it is loaded, with the
    // plugin.
    setenv("OMP_WAIT_POLICY", "passive", 0);
    const std::string file = std::string(HBMARK_BACKEND_DIR) + "/hbmark_" + name + ".so";
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto entry = reinterpret_cast<hbmark_backend_entry>(dlsym(library, HBMARK_BACKEND_ENTRY));
    if (entry == nullptr) throw std::runtime_error(file + " has no entry symbol");
    table = entry();
  }
  return table;
}

OpenSession::OpenSession(PluginHost& host, const hbmark_backend* b, const char* device) : backend(b) {
  hbmark_status status = empty_status();
  demand(b->open(host.table(), device, &handle, &status), status, "open");
  memory = static_cast<const hbmark_memory*>(b->capability(HBMARK_MEMORY_V1));
}

OpenSession::~OpenSession() { backend->close(handle); }

const hbmark_kernel* OpenSession::kernel(const char* id) const {
  const auto* table = static_cast<const hbmark_kernel*>(backend->capability(id));
  if (table == nullptr) throw std::runtime_error(std::string("no capability ") + id);
  return table;
}

hbmark_info OpenSession::describe() const {
  hbmark_info info{};
  info.struct_size = sizeof info;
  hbmark_status status = empty_status();
  const auto* table = static_cast<const hbmark_info_capability*>(backend->capability(HBMARK_INFO_V1));
  demand(table->describe(handle, &info, &status), status, "describe");
  return info;
}

hbmark_status OpenSession::supports(const char* id, const void* problem) const {
  hbmark_status status = empty_status();
  status.code = kernel(id)->supports(handle, problem, &status);
  return status;
}

OpenCase::OpenCase(const OpenSession& session, const char* id, const void* problem)
    : kernel(session.kernel(id)), session_(session) {
  hbmark_status status = empty_status();
  demand(kernel->prepare(session.handle, problem, &handle, &status), status, "prepare");
}

OpenCase::~OpenCase() {
  kernel->release(handle);
  free_buffers();
}

void OpenCase::free_buffers() {
  for (hbmark_buffer* each : buffers_) {
    if (each != nullptr) session_.memory->free(session_.handle, each);
  }
  buffers_.clear();
}

std::vector<hbmark_candidate> OpenCase::candidates() const {
  std::vector<hbmark_candidate> list(16);
  for (hbmark_candidate& each : list) each.struct_size = sizeof each;
  std::uint32_t count = 0;
  hbmark_status status = empty_status();
  demand(kernel->candidates(handle, list.data(), 16, &count, &status), status, "candidates");
  list.resize(count);
  return list;
}

void OpenCase::select(std::uint32_t index) {
  hbmark_status status = empty_status();
  demand(kernel->select(handle, index, &status), status, "select");
}

std::vector<hbmark_operand> OpenCase::operands() const {
  std::vector<hbmark_operand> list(8);
  for (hbmark_operand& each : list) each.struct_size = sizeof each;
  std::uint32_t count = 0;
  hbmark_status status = empty_status();
  demand(kernel->operands(handle, list.data(), 8, &count, &status), status, "operands");
  list.resize(count);
  return list;
}

void OpenCase::bind_all() {
  free_buffers();
  const std::vector<hbmark_operand> list = operands();
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    hbmark_buffer*& made = buffers_.emplace_back(nullptr);
    if (list[i].device_bytes == 0) continue;
    hbmark_status status = empty_status();
    demand(session_.memory->alloc(session_.handle, list[i].device_bytes, &made, &status), status, "alloc");
    demand(kernel->bind(handle, i, made, &status), status, "bind");
  }
}

void OpenCase::run(std::uint64_t calls) {
  hbmark_status status = empty_status();
  demand(kernel->run(handle, calls, &status), status, "run");
}

void OpenCase::convert(std::uint64_t calls) {
  hbmark_status status = empty_status();
  demand(kernel->convert(handle, calls, &status), status, "convert");
}

hbmark_case_info OpenCase::info() const {
  hbmark_case_info info{};
  info.struct_size = sizeof info;
  hbmark_status status = empty_status();
  demand(kernel->info(handle, &info, &status), status, "info");
  return info;
}

void OpenCase::write_bytes(std::uint32_t operand, const void* data, std::uint64_t bytes) {
  hbmark_status status = empty_status();
  demand(session_.memory->write_input(handle, operand, data, bytes, &status), status, "write_input");
}

void OpenCase::read_bytes(std::uint32_t operand, void* data, std::uint64_t bytes) const {
  hbmark_status status = empty_status();
  demand(session_.memory->read_output(handle, operand, data, bytes, &status), status, "read_output");
}

namespace {
template <class T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    const auto step = static_cast<std::int32_t>(random() % 2048) - 1024;
    value = static_cast<T>(step == 0 ? 512 : step) / T{1024};
  }
  return values;
}
}  // namespace

std::vector<float> random_floats(std::size_t count, std::uint32_t seed) { return random_values<float>(count, seed); }
std::vector<double> random_doubles(std::size_t count, std::uint32_t seed) { return random_values<double>(count, seed); }

}  // namespace hbmark::tests
