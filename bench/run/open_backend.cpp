#include "bench/run/open_backend.h"

#include <fmt/format.h>

#include <algorithm>

namespace hbmark {

namespace {

template <std::size_t size>
std::string text_of(const char (&text)[size]) {
  return std::string(std::begin(text), std::find(std::begin(text), std::end(text), '\0'));
}

// A table shorter than version 1 of its capability is not that capability.
template <class Table>
const Table* whole(const void* found) {
  const auto* table = static_cast<const Table*>(found);
  return table != nullptr && table->struct_size >= sizeof(Table) ? table : nullptr;
}

}  // namespace

Step<std::unique_ptr<OpenBackend>> OpenBackend::open(const LoadedBackend& backend, const std::string& device,
                                                     const hbmark_host* host) {
  std::unique_ptr<OpenBackend> opened(new OpenBackend);
  opened->table_ = backend.table;
  opened->name_ = backend.name;
  opened->device_ = device;
  hbmark_status status = new_status();
  const std::int32_t code = backend.table->open(host, device.c_str(), &opened->session_, &status);
  if (code != HBMARK_OK) {
    opened->session_ = nullptr;
    CaseEnd end = end_of_call(code, status, "open");
    if (code == HBMARK_UNSUPPORTED) end.outcome = Outcome::kUnavailable;  // of a device, not of a problem
    end.reason = fmt::format("device '{}' of backend '{}' cannot be opened: {}", device, backend.name, end.reason);
    return tl::make_unexpected(std::move(end));
  }
  if (opened->session_ == nullptr) {
    return case_ends(Outcome::kFailed,
                     fmt::format("backend '{}' opened '{}' without giving a session", backend.name, device));
  }
  if (auto found = opened->find_capabilities(); !found) return tl::make_unexpected(found.error());
  opened->describe();
  return opened;
}

OpenBackend::~OpenBackend() {
  if (session_ != nullptr) table_->close(session_);
}

Step<void> OpenBackend::find_capabilities() {
  memory_ = whole<hbmark_memory>(table_->capability(HBMARK_MEMORY_V1));
  timer_ = whole<hbmark_timer>(table_->capability(HBMARK_TIMER_V1));
  if (memory_ != nullptr) return {};
  return case_ends(Outcome::kFailed,
                   fmt::format("backend '{}' lacks {}, without which nothing can be run on it", name_, HBMARK_MEMORY_V1));
}

void OpenBackend::describe() {
  const auto* capability = whole<hbmark_info_capability>(table_->capability(HBMARK_INFO_V1));
  if (capability == nullptr) return;
  hbmark_info info{};
  info.struct_size = sizeof info;
  hbmark_status status = new_status();
  if (capability->describe(session_, &info, &status) != HBMARK_OK) {
    warning_ = fmt::format("backend '{}' cannot describe itself: {}", name_, status_text(status));
    return;
  }
  library_ = text_of(info.library);
  isa_ = text_of(info.isa);
  warning_ = text_of(info.warning);
}

const hbmark_kernel* OpenBackend::kernel(const std::string& capability) const {
  return whole<hbmark_kernel>(table_->capability(capability.c_str()));
}

Backends::Backends(const Plan& plan, const std::filesystem::path& program, const hbmark_host* host) : host_(host) {
  loaded_ = load_backend_files({plan.backend_files.begin(), plan.backend_files.end()});
  const auto is_loaded = [&](const PlannedCase& planned) {
    return std::any_of(loaded_.backends.begin(), loaded_.backends.end(),
                       [&](const LoadedBackend& backend) { return backend.name == planned.backend; });
  };
  if (std::all_of(plan.cases.begin(), plan.cases.end(), is_loaded)) return;
  loaded_ = load_backends({plan.backend_paths.begin(), plan.backend_paths.end()}, program);
}

Step<OpenBackend*> Backends::get(const std::string& name, const std::string& device, bool& newly_opened) {
  newly_opened = false;
  for (const auto& backend : open_) {
    if (backend->name() == name && backend->device() == device) return backend.get();
  }
  const auto found =
      std::find_if(loaded_.backends.begin(), loaded_.backends.end(), [&](const LoadedBackend& b) { return b.name == name; });
  if (found == loaded_.backends.end()) {
    std::string why;
    for (const RejectedFile& file : loaded_.rejected) {
      if (file.file.filename().string().find(name) != std::string::npos)
        why = fmt::format(": {}: {}", file.file.string(), file.reason);
    }
    return case_ends(
        Outcome::kUnavailable,
        fmt::format("the worker found no backend named '{}'{}; `hbmark doctor` shows where it looks", name, why));
  }
  auto opened = OpenBackend::open(*found, device, host_);
  if (!opened) return tl::make_unexpected(opened.error());
  newly_opened = true;
  open_.push_back(std::move(*opened));
  return open_.back().get();
}

}  // namespace hbmark
