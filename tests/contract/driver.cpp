#include "tests/contract/driver.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "backends/loader/members.h"

namespace hbmark::tests {
namespace {

constexpr std::uint32_t kMostDevices = 16;
constexpr std::uint32_t kMostItems = 64;
constexpr char kPoison = 0x5A;

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood 2014)
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

template <class T>
void put(Bytes& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof value);
}
template <class T>
T get(const Bytes& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof value);
  return value;
}

std::uint32_t float_bits(double value) {
  const auto narrow = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

// Of a value that is exact and normal in binary16.
std::uint16_t half_bits(double value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t exponent = ((bits >> 23) & 0xff) - 127 + 15;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3ff));
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const double size = exponent == 0 ? std::ldexp(bits & 0x3ff, -24) : std::ldexp(1024 + (bits & 0x3ff), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

double from_bfloat(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::size_t element_bytes(std::uint32_t type) {
  switch (type) {
    case HBMARK_F64:
      return 8;
    case HBMARK_BF16:
    case HBMARK_F16:
      return 2;
    case HBMARK_S8:
    case HBMARK_U8:
      return 1;
    default:
      return 4;
  }
}

}  // namespace

const LoadReport& plugins() {
  static const LoadReport report = load_backends({HBMARK_TEST_BACKENDS}, std::filesystem::path(HBMARK_STAGE) / "bin/hbmark");
  return report;
}

const hbmark_backend* find_backend(const std::string& name) {
  for (const LoadedBackend& backend : plugins().backends) {
    if (backend.name == name) return backend.table;
  }
  return nullptr;
}

std::string checked_text(const char* text, std::size_t capacity) {
  const void* end = std::memchr(text, '\0', capacity);
  EXPECT_NE(end, nullptr) << "a string of " << capacity << " bytes is not NUL-terminated";
  return end == nullptr ? std::string(text, capacity) : std::string(text);
}

Called call(const std::function<std::int32_t(hbmark_status*)>& function) {
  hbmark_status status;
  std::memset(&status, kPoison, sizeof status);
  status.struct_size = sizeof status;
  Called result;
  result.code = function(&status);
  EXPECT_EQ(status.struct_size, sizeof status) << "the plugin changed a struct_size that the host set";
  EXPECT_GE(result.code, HBMARK_OK) << "an unknown code";
  EXPECT_LE(result.code, HBMARK_FAILED) << "an unknown code";
  if (result.code == HBMARK_OK) return result;
  result.message = checked_text(status.message, sizeof status.message);
  result.vendor_code = status.vendor_code;
  EXPECT_EQ(status.code, result.code) << "status.code differs from the returned code: " << result.message;
  return result;
}

TestSession::TestSession(const hbmark_backend* backend, TestHost& host) : backend_(backend) {
  std::vector<hbmark_device> devices(kMostDevices);
  for (auto& device : devices) device.struct_size = sizeof(hbmark_device);
  std::uint32_t count = 0;
  opened_ = call([&](hbmark_status* s) { return backend->probe(host.get(), devices.data(), kMostDevices, &count, s); });
  if (!opened_) return;
  if (count == 0) {
    ADD_FAILURE() << "probe is OK and finds no device: it must be unavailable, with a reason";
    return;
  }
  const std::string id = checked_text(devices[0].id, sizeof devices[0].id);
  EXPECT_FALSE(id.empty());
  EXPECT_FALSE(checked_text(devices[0].name, sizeof devices[0].name).empty());
  opened_ = call([&](hbmark_status* s) { return backend->open(host.get(), id.c_str(), &handle_, s); });
  EXPECT_EQ(handle_ != nullptr, static_cast<bool>(opened_));
  if (const auto memory = find_capability<hbmark_memory>(*backend, HBMARK_MEMORY_V1)) memory_ = *memory;
}

TestSession::~TestSession() {
  if (handle_ != nullptr) backend_->close(handle_);
}

hbmark_kernel TestSession::kernel(const std::string& capability) const {
  return find_capability<hbmark_kernel>(*backend_, capability.c_str()).value_or(hbmark_kernel{});
}

TestCase::TestCase(TestSession& session, const std::string& capability, const Bytes& problem)
    : session_(session), table_(session.kernel(capability)), problem_(problem) {}

TestCase::~TestCase() {
  release();
  free_buffers();
}

void TestCase::free_buffers() {
  for (hbmark_buffer* buffer : buffers_) {
    if (buffer != nullptr) session_.memory().free(session_.handle(), buffer);
  }
  buffers_.clear();
}

void TestCase::release() {
  if (handle_ != nullptr) table_.release(handle_);
  handle_ = nullptr;
}

Called TestCase::supports() const {
  return call([&](hbmark_status* s) { return table_.supports(session_.handle(), problem_.data(), s); });
}

Called TestCase::prepare() {
  const Called result =
      call([&](hbmark_status* s) { return table_.prepare(session_.handle(), problem_.data(), &handle_, s); });
  EXPECT_EQ(handle_ != nullptr, static_cast<bool>(result)) << "a case without success, or success without a case";
  return result;
}

Called TestCase::list_candidates() {
  candidates_.assign(kMostItems, hbmark_candidate{});
  for (auto& each : candidates_) each.struct_size = sizeof each;
  std::uint32_t count = 0;
  const Called result =
      call([&](hbmark_status* s) { return table_.candidates(handle_, candidates_.data(), kMostItems, &count, s); });
  candidates_.resize(result ? std::min(count, kMostItems) : 0);
  EXPECT_TRUE(!result || count > 0) << "a prepared case has at least the candidate that runs";
  for (const auto& each : candidates_) EXPECT_FALSE(checked_text(each.name, sizeof each.name).empty());
  return result;
}

Called TestCase::select(std::uint32_t index) {
  return call([&](hbmark_status* s) { return table_.select(handle_, index, s); });
}

Called TestCase::list_operands() {
  operands_.assign(kMostItems, hbmark_operand{});
  for (auto& each : operands_) each.struct_size = sizeof each;
  std::uint32_t count = 0;
  const Called result =
      call([&](hbmark_status* s) { return table_.operands(handle_, operands_.data(), kMostItems, &count, s); });
  operands_.resize(result ? std::min(count, kMostItems) : 0);
  for (const auto& each : operands_) EXPECT_FALSE(checked_text(each.name, sizeof each.name).empty());
  return result;
}

Called TestCase::bind_all() {
  free_buffers();
  buffers_.assign(operands_.size(), nullptr);
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].device_bytes == 0) continue;
    Called result = call([&](hbmark_status* s) {
      return session_.memory().alloc(session_.handle(), operands_[i].device_bytes, &buffers_[i], s);
    });
    if (!result) return result;
    const auto address = reinterpret_cast<std::uintptr_t>(session_.memory().address(buffers_[i]));
    EXPECT_EQ(address % 64, 0u) << "a buffer is aligned to 64 bytes";
    result = call([&](hbmark_status* s) { return table_.bind(handle_, i, buffers_[i], s); });
    if (!result) return result;
  }
  return {};
}

Called TestCase::write(std::uint32_t operand, const Bytes& canonical) {
  return call([&](hbmark_status* s) {
    return session_.memory().write_input(handle_, operand, canonical.data(), canonical.size(), s);
  });
}

Called TestCase::write_all(std::uint64_t seed, bool absolute) {
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role != HBMARK_INPUT) continue;
    const Called result = write(i, make_input(operands_[i], seed, absolute));
    if (!result) return result;
  }
  return {};
}

Called TestCase::run(std::uint64_t calls) {
  return call([&](hbmark_status* s) { return table_.run(handle_, calls, s); });
}

Called TestCase::convert(std::uint64_t calls) {
  return call([&](hbmark_status* s) { return table_.convert(handle_, calls, s); });
}

Called TestCase::info(hbmark_case_info& out) {
  std::memset(static_cast<void*>(&out), kPoison, sizeof out);
  out.struct_size = sizeof out;
  return call([&](hbmark_status* s) { return table_.info(handle_, &out, s); });
}

std::uint32_t TestCase::output_index() const {
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role == HBMARK_OUTPUT) return i;
  }
  ADD_FAILURE() << "no output among the operands";
  return 0;
}

const hbmark_operand& TestCase::output() const { return operands_.at(output_index()); }

Called TestCase::read(Bytes& out) {
  const std::uint32_t index = output_index();
  out.assign(operands_.at(index).canonical_bytes, std::byte{0xEE});
  return call([&](hbmark_status* s) { return session_.memory().read_output(handle_, index, out.data(), out.size(), s); });
}

Called TestCase::everything_until_run(std::uint64_t seed, bool absolute) {
  Called result = prepare();
  if (result) result = list_candidates();
  if (result) result = select(0);
  if (result) result = list_operands();
  if (result) result = bind_all();
  if (result) result = write_all(seed, absolute);
  if (result) result = run(1);
  return result;
}

namespace {

// For a chase: one cycle through all lines, whatever the numbers mixed (Sattolo's shuffle).
Bytes make_cycle(std::uint64_t bytes, std::uint64_t key) {
  Bytes cycle(bytes);
  const std::size_t lines = bytes / sizeof(std::int32_t);
  for (std::size_t i = 0; i < lines; ++i) put(cycle, i, static_cast<std::int32_t>(i));
  for (std::size_t i = lines - 1; i > 0; --i) {
    const std::size_t j = mix(key + i) % i;
    const auto kept = get<std::int32_t>(cycle, i);
    put(cycle, i, get<std::int32_t>(cycle, j));
    put(cycle, j, kept);
  }
  return cycle;
}

}  // namespace

Bytes make_input(const hbmark_operand& operand, std::uint64_t seed, bool absolute) {
  const std::size_t size = element_bytes(operand.type);
  Bytes bytes(operand.canonical_bytes);
  std::uint64_t key = seed;
  for (const char* c = operand.name; *c != '\0'; ++c) key = mix(key ^ static_cast<unsigned char>(*c));
  if (std::string_view(operand.name) == "next") return make_cycle(operand.canonical_bytes, key);
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint64_t random = mix(key + i);
    const int magnitude = 1 + static_cast<int>(random % 15);
    const int k = !absolute && (random >> 32 & 1) != 0 ? -magnitude : magnitude;
    const double value = k / 16.0;
    switch (operand.type) {
      case HBMARK_F64:
        put(bytes, i, value);
        break;
      case HBMARK_BF16:
        put(bytes, i, static_cast<std::uint16_t>(float_bits(value) >> 16));
        break;
      case HBMARK_F16:
        put(bytes, i, half_bits(value));
        break;
      case HBMARK_S8:
        put(bytes, i, static_cast<std::int8_t>(k));
        break;
      case HBMARK_U8:
        put(bytes, i, static_cast<std::uint8_t>(magnitude));
        break;
      case HBMARK_S32:
        put(bytes, i, static_cast<std::int32_t>(k));
        break;
      default:
        put(bytes, i, static_cast<float>(value));
    }
  }
  return bytes;
}

std::vector<double> to_doubles(const Bytes& bytes, std::uint32_t type) {
  std::vector<double> values(bytes.size() / element_bytes(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (type) {
      case HBMARK_F64:
        values[i] = get<double>(bytes, i);
        break;
      case HBMARK_BF16:
        values[i] = from_bfloat(get<std::uint16_t>(bytes, i));
        break;
      case HBMARK_F16:
        values[i] = from_half(get<std::uint16_t>(bytes, i));
        break;
      case HBMARK_S8:
        values[i] = get<std::int8_t>(bytes, i);
        break;
      case HBMARK_U8:
        values[i] = get<std::uint8_t>(bytes, i);
        break;
      case HBMARK_S32:
        values[i] = get<std::int32_t>(bytes, i);
        break;
      default:
        values[i] = get<float>(bytes, i);
    }
  }
  return values;
}

}  // namespace hbmark::tests
