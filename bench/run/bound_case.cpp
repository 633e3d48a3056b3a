#include "bench/run/bound_case.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

#include "bench/problems/text.h"
#include "bench/problems/types.h"
#include "topology/placement.h"

namespace hbmark {

namespace {

constexpr std::uint32_t kMaxOperands = 16;
constexpr std::uint32_t kMaxCandidates = 256;

std::string_view name_of(const hbmark_operand& operand) {
  return {std::begin(operand.name),
          static_cast<std::size_t>(std::find(std::begin(operand.name), std::end(operand.name), '\0') -
                                   std::begin(operand.name))};
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Step<std::unique_ptr<BoundCase>> BoundCase::prepare(OpenBackend& backend, const hbmark_kernel& kernel,
                                                    const std::vector<std::byte>& problem, const PhaseListener& phase,
                                                    const std::function<Step<void>()>& before_prepare) {
  hbmark_status status = new_status();
  phase("supports");
  std::int32_t code = kernel.supports(backend.session(), problem.data(), &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "supports"));
  if (auto go_on = before_prepare(); !go_on) return tl::make_unexpected(go_on.error());
  std::unique_ptr<BoundCase> bound(new BoundCase(backend, kernel, phase));
  status = new_status();
  phase("prepare");
  code = kernel.prepare(backend.session(), problem.data(), &bound->case_, &status);
  if (code != HBMARK_OK) {
    bound->case_ = nullptr;
    return tl::make_unexpected(end_of_call(code, status, "prepare"));
  }
  if (bound->case_ == nullptr) return case_ends(Outcome::kFailed, "the plugin prepared the problem without giving a case");
  return bound;
}

BoundCase::~BoundCase() {
  phase_("release");
  if (case_ != nullptr) kernel_.release(case_);
  for (Buffer& buffer : buffers_) free_buffer(buffer);
}

void BoundCase::free_buffer(Buffer& buffer) {
  if (buffer.handle != nullptr) backend_.memory().free(backend_.session(), buffer.handle);
  buffer = {};
}

Step<std::vector<hbmark_candidate>> BoundCase::candidates() {
  std::vector<hbmark_candidate> list(kMaxCandidates);
  for (hbmark_candidate& candidate : list) candidate.struct_size = sizeof candidate;
  std::uint32_t count = 0;
  hbmark_status status = new_status();
  const std::int32_t code = kernel_.candidates(case_, list.data(), kMaxCandidates, &count, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "candidates"));
  list.resize(std::min(count, kMaxCandidates));
  for (hbmark_candidate& candidate : list) candidate.name[sizeof candidate.name - 1] = '\0';
  return list;
}

Step<void> BoundCase::select(std::uint32_t candidate) {
  hbmark_status status = new_status();
  const std::int32_t code = kernel_.select(case_, candidate, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "select"));
  return {};
}

Step<std::uint64_t> BoundCase::load_operands() {
  std::vector<hbmark_operand> list(kMaxOperands);
  for (hbmark_operand& operand : list) operand.struct_size = sizeof operand;
  std::uint32_t count = 0;
  hbmark_status status = new_status();
  const std::int32_t code = kernel_.operands(case_, list.data(), kMaxOperands, &count, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "operands"));
  if (count > kMaxOperands) return case_ends(Outcome::kFailed, fmt::format("the plugin wants {} operands", count));
  list.resize(count);
  operands_ = std::move(list);
  std::uint64_t bytes = 0;
  for (const hbmark_operand& operand : operands_) {
    if (__builtin_add_overflow(bytes, operand.device_bytes, &bytes)) bytes = UINT64_MAX;
  }
  return bytes;
}

Step<void> BoundCase::compare_operands(std::span<const OperandSpec> expected) const {
  std::vector<const hbmark_operand*> given;
  for (const hbmark_operand& operand : operands_) {
    if (operand.role != HBMARK_WORKSPACE) given.push_back(&operand);
  }
  if (given.size() != expected.size()) {
    return case_ends(Outcome::kFailed,
                     fmt::format("the plugin gives {} operands where the kernel has {}", given.size(), expected.size()));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const hbmark_operand& operand = *given[i];
    const OperandSpec& spec = expected[i];
    const auto role = static_cast<std::uint32_t>(spec.output ? HBMARK_OUTPUT : HBMARK_INPUT);
    const std::uint64_t bytes = spec.elements * element_bytes(spec.type);
    const bool sized = spec.elements == 0
                           ? operand.canonical_bytes > 0 && operand.canonical_bytes % element_bytes(spec.type) == 0
                           : operand.canonical_bytes == bytes;
    if (name_of(operand) != spec.name || operand.role != role || operand.type != spec.type || !sized) {
      return case_ends(Outcome::kFailed, fmt::format("the plugin's operand {} is '{}' (role {}, type {}, {} bytes); the "
                                                     "kernel's is '{}' (role {}, type {}, {} bytes)",
                                                     i, name_of(operand), operand.role, operand.type,
                                                     operand.canonical_bytes, spec.name, role, spec.type, bytes));
    }
  }
  return {};
}

Step<void> BoundCase::allocate_and_bind() {
  while (buffers_.size() > operands_.size()) {
    free_buffer(buffers_.back());
    buffers_.pop_back();
  }
  buffers_.resize(operands_.size());
  // What does not fit is given back before anything new is asked for: two candidates' workspaces need not fit together.
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const std::uint64_t wanted = operands_[i].device_bytes;
    if (buffers_[i].size_bytes < wanted || wanted == 0 || buffers_[i].size_bytes / 2 > wanted) free_buffer(buffers_[i]);
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const std::uint64_t wanted = operands_[i].device_bytes;
    if (wanted == 0) continue;
    hbmark_status status = new_status();
    if (buffers_[i].handle == nullptr) {
      phase_("allocate");
      const std::int32_t code = backend_.memory().alloc(backend_.session(), wanted, &buffers_[i].handle, &status);
      if (code != HBMARK_OK) {
        buffers_[i].handle = nullptr;
        CaseEnd end = end_of_call(code, status, "allocate");
        end.reason += fmt::format(" (operand '{}', {})", name_of(operands_[i]), text::bytes_text(wanted));
        return tl::make_unexpected(std::move(end));
      }
      if (buffers_[i].handle == nullptr) return case_ends(Outcome::kFailed, "the plugin allocated without giving a buffer");
      buffers_[i].size_bytes = wanted;
    }
    phase_("bind");
    const std::int32_t code = kernel_.bind(case_, static_cast<std::uint32_t>(i), buffers_[i].handle, &status);
    if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "bind"));
  }
  return {};
}

Step<void> BoundCase::write_inputs(std::span<const HostArray> inputs) {
  phase_("write inputs");
  std::size_t next = 0;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role != HBMARK_INPUT) continue;
    const HostArray& array = inputs[next++];
    hbmark_status status = new_status();
    const std::int32_t code =
        backend_.memory().write_input(case_, static_cast<std::uint32_t>(i), array.bytes.data(), array.bytes.size(), &status);
    if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "write inputs"));
  }
  return {};
}

void BoundCase::poison_outputs() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role != HBMARK_OUTPUT || buffers_[i].handle == nullptr) continue;
    if (void* address = backend_.memory().address(buffers_[i].handle)) std::memset(address, 0xFF, operands_[i].device_bytes);
  }
}

Step<void> BoundCase::read_outputs(std::span<HostArray> outputs) {
  phase_("read outputs");
  std::size_t next = 0;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].role != HBMARK_OUTPUT) continue;
    HostArray& array = outputs[next++];
    hbmark_status status = new_status();
    const std::int32_t code =
        backend_.memory().read_output(case_, static_cast<std::uint32_t>(i), array.bytes.data(), array.bytes.size(), &status);
    if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "read outputs"));
  }
  return {};
}

Step<double> BoundCase::timed(std::int32_t (*call)(hbmark_case*, std::uint64_t, hbmark_status*), std::uint64_t calls,
                              const char* what) {
  hbmark_status status = new_status();
  const hbmark_timer* timer = backend_.timer();
  if (timer == nullptr) {
    const auto start = std::chrono::steady_clock::now();
    const std::int32_t code = call(case_, calls, &status);
    const double elapsed_s = seconds_since(start);
    if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, what));
    return elapsed_s;
  }
  double elapsed_s = 0;
  std::int32_t code = timer->begin(backend_.session(), &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "timer begin"));
  code = call(case_, calls, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, what));
  code = timer->end(backend_.session(), &status);
  if (code == HBMARK_OK) code = timer->elapsed(backend_.session(), &elapsed_s, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "timer end"));
  return elapsed_s;
}

Step<double> BoundCase::run(std::uint64_t calls) { return timed(kernel_.run, calls, "run"); }

Step<double> BoundCase::convert(std::uint64_t calls) {
  if (kernel_.convert == nullptr) return case_ends(Outcome::kFailed, "the plugin speaks of conversion and cannot do it");
  return timed(kernel_.convert, calls, "convert");
}

Step<hbmark_case_info> BoundCase::info() {
  hbmark_case_info info{};
  info.struct_size = sizeof info;
  hbmark_status status = new_status();
  const std::int32_t code = kernel_.info(case_, &info, &status);
  if (code != HBMARK_OK) return tl::make_unexpected(end_of_call(code, status, "info"));
  info.implementation[sizeof info.implementation - 1] = '\0';
  info.isa[sizeof info.isa - 1] = '\0';
  info.layout[sizeof info.layout - 1] = '\0';
  return info;
}

bool BoundCase::on_host() const {
  return std::all_of(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) {
    return buffer.handle == nullptr || backend_.memory().address(buffer.handle) != nullptr;
  });
}

std::vector<std::span<const std::byte>> BoundCase::buffers() const {
  std::vector<std::span<const std::byte>> all;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const void* address = buffers_[i].handle != nullptr ? backend_.memory().address(buffers_[i].handle) : nullptr;
    if (address != nullptr) all.emplace_back(static_cast<const std::byte*>(address), operands_[i].device_bytes);
  }
  return all;
}

Result<topology::BytesByNode> BoundCase::bytes_by_node() const {
  topology::BytesByNode bytes;
  for (const auto& buffer : buffers()) {
    const auto found = topology::find_pages(buffer.data(), buffer.size());
    if (!found) return tl::make_unexpected(found.error());
    for (const auto& [node, pages] : found->pages_by_node) bytes[node] += pages * page_bytes();
  }
  return bytes;
}

}  // namespace hbmark
