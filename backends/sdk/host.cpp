#include "backends/sdk/host.h"

#include <cstdlib>
#include <limits>

#include "backends/sdk/border.h"

namespace hbmark::sdk {
namespace {

constexpr std::uint64_t kCacheLineBytes = 64;
constexpr std::uint64_t kPageBytes = 4096;  // so that no two buffers share a page, and "where are its pages" has one answer

class ServiceBuffer final : public Buffer {
 public:
  ServiceBuffer(const hbmark_host* host, const hbmark_host_memory* memory, void* data, std::uint64_t size_bytes)
      : Buffer(data, size_bytes), host_(host), memory_(memory) {}
  ~ServiceBuffer() override { memory_->release(host_, data()); }

 private:
  const hbmark_host* host_;
  const hbmark_host_memory* memory_;
};

class PlainBuffer final : public Buffer {
 public:
  PlainBuffer(void* data, std::uint64_t size_bytes) : Buffer(data, size_bytes) {}
  ~PlainBuffer() override { std::free(data()); }
};

template <class Table>
const Table* find_service(const hbmark_host* host, const char* id) {
  return host == nullptr || host->service == nullptr ? nullptr : static_cast<const Table*>(host->service(host, id));
}

std::string refused(std::uint64_t size_bytes) { return std::to_string(size_bytes) + " bytes of host memory were refused"; }

}  // namespace

Host::Host(const hbmark_host* host)
    : host_(host),
      log_(find_service<hbmark_host_log>(host, HBMARK_HOST_LOG_V1)),
      memory_(find_service<hbmark_host_memory>(host, HBMARK_HOST_MEMORY_V1)),
      cancel_(find_service<hbmark_host_cancel>(host, HBMARK_HOST_CANCEL_V1)) {}

void Host::log(std::int32_t level, const std::string& text) const {
  if (log_ != nullptr) log_->write(host_, level, text.c_str());
}

bool Host::cancel_requested() const { return cancel_ != nullptr && cancel_->requested(host_) != 0; }

Expected<std::unique_ptr<Buffer>> Host::allocate(std::uint64_t size_bytes) const {
  if (size_bytes == 0) return invalid("a buffer of 0 bytes was asked for");
  const std::uint64_t alignment = size_bytes < kPageBytes ? kCacheLineBytes : kPageBytes;
  if (size_bytes > std::numeric_limits<std::size_t>::max() / 2) return out_of_memory(refused(size_bytes));
  if (memory_ == nullptr) {
    void* data = std::aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
    if (data == nullptr) return out_of_memory(refused(size_bytes));
    return std::make_unique<PlainBuffer>(data, size_bytes);
  }
  hbmark_status status = make_status();
  void* data = nullptr;
  const std::int32_t code = memory_->allocate(host_, size_bytes, alignment, &data, &status);
  if (code != HBMARK_OK) {
    return failure(code, status.message[0] != '\0' ? status.message : refused(size_bytes), status.vendor_code);
  }
  if (data == nullptr) return failed("the host's memory service gave no address and no reason");
  return std::make_unique<ServiceBuffer>(host_, memory_, data, size_bytes);
}

}  // namespace hbmark::sdk
