#include "tests/perf/plugin_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "bench/measure/block.h"
#include "bench/measure/stopwatch.h"

namespace hbmark::perf {
namespace {

const hbmark_host kHost = {
    sizeof(hbmark_host), HBMARK_ABI_MAJOR, HBMARK_ABI_MINOR, 0, nullptr, [](const hbmark_host*, const char*) -> const void* {
      return nullptr;
    }};

template <class T>
void fill(std::vector<std::byte>& bytes, std::mt19937_64& random) {
  std::uniform_real_distribution<T> uniform(-1, 1);
  T* values = reinterpret_cast<T*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) values[i] = uniform(random);
}

template <class T>
std::vector<double> values(const std::vector<std::byte>& bytes) {
  const T* first = reinterpret_cast<const T*>(bytes.data());
  return {first, first + bytes.size() / sizeof(T)};
}

}  // namespace

Status PluginCase::check(std::int32_t code, const char* what) const {
  if (code == HBMARK_OK) return {};
  return environment_error(fmt::format("the backend {} failed: {}", backend_->name, what), status_.message,
                           "see that `hbmark doctor` lists it as loaded");
}

Result<std::unique_ptr<PluginCase>> PluginCase::open(const hbmark_backend& backend, const char* capability,
                                                     const void* problem, std::uint32_t candidate) {
  std::unique_ptr<PluginCase> made(new PluginCase);
  made->status_.struct_size = sizeof(hbmark_status);
  made->backend_ = &backend;
  made->kernel_ = static_cast<const hbmark_kernel*>(backend.capability(capability));
  made->memory_ = static_cast<const hbmark_memory*>(backend.capability(HBMARK_MEMORY_V1));
  if (made->kernel_ == nullptr || made->memory_ == nullptr) {
    return environment_error("cannot compare", fmt::format("the backend {} lacks {}", backend.name, capability),
                             "build the backend of this tree");
  }
  if (const Status status = made->check(backend.open(&kHost, "cpu", &made->session_, &made->status_), "open"); !status) {
    return tl::make_unexpected(status.error());
  }
  const std::int32_t prepared = made->kernel_->prepare(made->session_, problem, &made->case_, &made->status_);
  if (const Status status = made->check(prepared, "prepare"); !status) return tl::make_unexpected(status.error());
  if (const Status status = made->select_and_bind(candidate); !status) return tl::make_unexpected(status.error());
  if (const Status status = made->fill_inputs(); !status) return tl::make_unexpected(status.error());
  return made;
}

PluginCase::~PluginCase() {
  if (case_ != nullptr) kernel_->release(case_);
  for (hbmark_buffer* buffer : buffers_) memory_->free(session_, buffer);
  if (session_ != nullptr) backend_->close(session_);
}

Status PluginCase::select_and_bind(std::uint32_t candidate) {
  if (const Status status = check(kernel_->select(case_, candidate, &status_), "select"); !status) return status;
  std::uint32_t count = 0;
  if (const Status status = check(kernel_->operands(case_, nullptr, 0, &count, &status_), "operands"); !status)
    return status;
  operands_.assign(count, hbmark_operand{});
  for (hbmark_operand& operand : operands_) operand.struct_size = sizeof(hbmark_operand);
  const std::int32_t listed = kernel_->operands(case_, operands_.data(), count, &count, &status_);
  if (const Status status = check(listed, "operands"); !status) return status;
  if (std::none_of(operands_.begin(), operands_.end(), [](const auto& each) { return each.role == HBMARK_OUTPUT; })) {
    return fail(ErrorKind::kInternal, "cannot compare", "the case has no output", "compare another problem");
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    hbmark_buffer* buffer = nullptr;
    const std::int32_t allocated = memory_->alloc(session_, operands_[i].device_bytes, &buffer, &status_);
    if (const Status status = check(allocated, "alloc"); !status) return status;
    buffers_.push_back(buffer);
    if (const Status status = check(kernel_->bind(case_, i, buffer, &status_), "bind"); !status) return status;
  }
  return {};
}

Status PluginCase::fill_inputs() {
  std::mt19937_64 random(1);
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role != HBMARK_INPUT) continue;
    std::vector<std::byte> data(operands_[i].canonical_bytes);
    if (operands_[i].type == HBMARK_F64) {
      fill<double>(data, random);
    } else {
      fill<float>(data, random);
    }
    const std::int32_t written = memory_->write_input(case_, i, data.data(), data.size(), &status_);
    if (const Status status = check(written, "write_input"); !status) return status;
  }
  return {};
}

Result<double> PluginCase::time_calls(std::int64_t calls) {
  const RunCalls run = [this](std::int64_t count) -> Result<double> {
    const std::int32_t code = kernel_->run(case_, static_cast<std::uint64_t>(count), &status_);
    if (const Status status = check(code, "run"); !status) return tl::make_unexpected(status.error());
    return 0.0;  // the host's clock is in charge
  };
  Stopwatch watch(run, false);
  Block block;
  block.calls_per_sample = calls;
  block.timed_calls = [&](std::int64_t count) { return watch.run(count); };
  const Result<std::vector<double>> samples = run_block(block);
  if (!samples) return tl::make_unexpected(samples.error());
  return samples->front() * static_cast<double>(calls);
}

Result<std::string> PluginCase::implementation() const {
  hbmark_case_info info = {};
  info.struct_size = sizeof(info);
  if (const Status status = check(kernel_->info(case_, &info, &status_), "info"); !status) {
    return tl::make_unexpected(status.error());
  }
  return std::string(info.implementation);
}

std::vector<void*> PluginCase::addresses() const {
  std::vector<void*> result;
  for (hbmark_buffer* buffer : buffers_) result.push_back(memory_->address(buffer));
  result.push_back(nullptr);
  return result;
}

Result<std::vector<double>> PluginCase::read_output() const {
  const std::uint32_t i = output();
  std::vector<std::byte> bytes(operands_[i].canonical_bytes);
  const std::int32_t code = memory_->read_output(case_, i, bytes.data(), bytes.size(), &status_);
  if (const Status status = check(code, "read_output"); !status) return tl::make_unexpected(status.error());
  return operands_[i].type == HBMARK_F64 ? values<double>(bytes) : values<float>(bytes);
}

void PluginCase::spoil_output() {
  const std::uint32_t i = output();
  std::memset(memory_->address(buffers_[i]), 0xff, operands_[i].device_bytes);  // a not-a-number in every IEEE type
}

std::uint32_t PluginCase::output() const {
  std::uint32_t i = 0;
  while (operands_[i].role != HBMARK_OUTPUT) ++i;  // open() saw to it that there is one
  return i;
}

}  // namespace hbmark::perf
