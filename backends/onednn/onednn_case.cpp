#include "backends/onednn/onednn_case.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <numeric>

#include "backends/onednn/compat.h"
#include "backends/onednn/failure.h"

namespace hbmark::onednn {
namespace {

dnnl::memory::desc argument_desc(const dnnl::primitive_desc& desc, int argument) {
  return desc.query_md(dnnl::query::exec_arg_md, argument);
}

// The address comes with the binding; without DNNL_MEMORY_NONE the library would allocate.
dnnl::memory unbound(const dnnl::memory::desc& desc, const dnnl::engine& engine) {
  return dnnl::memory(desc, engine, DNNL_MEMORY_NONE);
}

std::uint64_t workspace_bytes(const dnnl::primitive_desc& desc) { return desc.scratchpad_desc().get_size(); }

}  // namespace

std::string layout_name(const dnnl::memory::desc& desc, const std::string& letters) {
  const std::optional<Blocking> blocking = blocking_of(desc);
  if (!blocking) return "opaque";
  std::vector<std::size_t> order(letters.size());
  std::iota(order.begin(), order.end(), 0u);
  // Of equal strides (a dimension of size 1) the earlier dimension goes first, as in the plain layout.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocking->strides[a] > blocking->strides[b]; });
  std::string name;
  for (const std::size_t dim : order) {
    const auto blocked =
        std::count(blocking->inner_dims.begin(), blocking->inner_dims.end(), static_cast<std::int64_t>(dim));
    const char letter = letters[dim];
    name += blocked > 0 ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
  }
  for (std::size_t i = 0; i < blocking->inner_sizes.size(); ++i) {
    name += std::to_string(blocking->inner_sizes[i]) + letters[static_cast<std::size_t>(blocking->inner_dims[i])];
  }
  return name;
}

std::uint32_t algorithm_class(const dnnl::primitive_desc& desc) {
  return std::string(desc.impl_info_str()).find("wino") != std::string::npos ? HBMARK_ALGORITHM_WINOGRAD
                                                                             : HBMARK_ALGORITHM_DIRECT;
}

sdk::Expected<std::unique_ptr<sdk::Case>> OnednnCase::make(const Context& context, const sdk::Host& host, Recipe recipe,
                                                           std::vector<std::string> letters) {
  std::unique_ptr<OnednnCase> made(new OnednnCase(context, host, std::move(recipe), std::move(letters)));
  HBMARK_SDK_TRY(made->select(0));
  return std::unique_ptr<sdk::Case>(std::move(made));
}

std::vector<sdk::Candidate> OnednnCase::candidates() const {
  std::vector<sdk::Candidate> list;
  for (const Algorithm& each : recipe_.algorithms) {
    list.push_back({each.name, algorithm_class(each.desc), workspace_bytes(each.desc)});
  }
  return list;
}

sdk::Status OnednnCase::select(std::uint32_t index) {
  const Algorithm& algorithm = recipe_.algorithms[index];
  return creating("creating the primitive " + algorithm.name, [&]() -> sdk::Status {
    dnnl::primitive primitive(algorithm.desc);
    std::vector<dnnl::memory::desc> chosen;
    std::vector<dnnl::memory> memories;
    for (const Tensor& tensor : recipe_.tensors) {
      chosen.push_back(argument_desc(algorithm.desc, tensor.argument));
      memories.push_back(unbound(chosen.back(), context_.engine));
    }
    memories.push_back(unbound(algorithm.desc.scratchpad_desc(), context_.engine));
    arguments_.clear();
    for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
      arguments_.push_back({recipe_.tensors[i].argument, memories[i].get()});
    }
    arguments_.push_back({DNNL_ARG_SCRATCHPAD, memories.back().get()});
    primitive_ = std::move(primitive);
    chosen_ = std::move(chosen);
    memories_ = std::move(memories);
    conversions_.clear();
    selected_ = index;
    return {};
  });
}

std::vector<sdk::Operand> OnednnCase::operands() const {
  std::vector<sdk::Operand> list;
  for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
    const Tensor& tensor = recipe_.tensors[i];
    list.push_back({tensor.name, tensor.role, tensor.type, tensor.plain.get_size(), chosen_[i].get_size()});
  }
  const std::uint64_t bytes = workspace_bytes(recipe_.algorithms[selected_].desc);
  if (bytes > 0) list.push_back({"workspace", HBMARK_WORKSPACE, 0, 0, bytes});
  return list;
}

sdk::Status OnednnCase::bound(std::uint32_t operand, sdk::Buffer& buffer) {
  return executing("binding an operand", [&] { memories_[operand].set_data_handle(buffer.data()); });
}

sdk::Status OnednnCase::run(std::uint64_t calls) {
  for (std::uint64_t call = 0; call < calls; ++call) {
    if (host_.cancel_requested()) return sdk::cancelled();
    const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), context_.stream.get(),
                                                        static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) return execution_failure(status, "running the primitive");
  }
  const dnnl_status_t status = dnnl_stream_wait(context_.stream.get());
  if (status != dnnl_success) return execution_failure(status, "waiting for the primitive");
  return {};
}

sdk::Status OnednnCase::prepare_conversions() {
  return creating("preparing the layout conversions", [&]() -> sdk::Status {
    std::vector<Conversion> made;
    for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
      if (!converts(i)) continue;
      const Tensor& tensor = recipe_.tensors[i];
      const bool input = tensor.role == HBMARK_INPUT;
      const dnnl::memory::desc& from = input ? tensor.plain : chosen_[i];
      const dnnl::memory::desc& to = input ? chosen_[i] : tensor.plain;
      Conversion& each = made.emplace_back();
      sdk::Expected<std::unique_ptr<sdk::Buffer>> from_buffer = host_.allocate(from.get_size());
      HBMARK_SDK_TRY(from_buffer);
      sdk::Expected<std::unique_ptr<sdk::Buffer>> to_buffer = host_.allocate(to.get_size());
      HBMARK_SDK_TRY(to_buffer);
      each.from_buffer = std::move(*from_buffer);
      each.to_buffer = std::move(*to_buffer);
      std::memset(each.from_buffer->data(), 0x3c, from.get_size());  // a normal number in every type
      each.from = dnnl::memory(from, context_.engine, each.from_buffer->data());
      each.to = dnnl::memory(to, context_.engine, each.to_buffer->data());
      each.reorder = dnnl::reorder(each.from, each.to);
    }
    conversions_ = std::move(made);
    return {};
  });
}

sdk::Status OnednnCase::convert(std::uint64_t calls) {
  if (conversions_.empty()) HBMARK_SDK_TRY(prepare_conversions());
  if (conversions_.empty()) return sdk::invalid("every operand is in its plain layout; there is nothing to convert");
  for (std::uint64_t call = 0; call < calls; ++call) {
    if (host_.cancel_requested()) return sdk::cancelled();
    HBMARK_SDK_TRY(executing("converting layouts", [&] {
      for (Conversion& each : conversions_) each.reorder.execute(context_.stream, each.from, each.to);
      dnnl::stream(context_.stream).wait();
    }));
  }
  return {};
}

sdk::CaseInfo OnednnCase::info() const {
  const dnnl::primitive_desc& desc = recipe_.algorithms[selected_].desc;
  sdk::CaseInfo info;
  info.algorithm_class = algorithm_class(desc);
  info.implementation = desc.impl_info_str();
  info.isa = context_.isa;
  for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
    const Tensor& tensor = recipe_.tensors[i];
    const std::string plain = layout_name(tensor.plain, letters_[i]);
    if (!info.layout.empty()) info.layout += ", ";
    info.layout += tensor.name + " " + plain;
    if (!converts(i)) continue;
    info.has_conversion = true;
    const std::string own = layout_name(chosen_[i], letters_[i]);
    info.layout += tensor.role == HBMARK_INPUT ? "->" + own : "<-" + own;
  }
  return info;
}

sdk::Status OnednnCase::write_input(std::uint32_t operand, std::span<const std::byte> canonical) {
  return executing("writing \"" + recipe_.tensors[operand].name + "\"", [&] {
    // The library takes a mutable pointer and only reads through it.
    dnnl::memory from(recipe_.tensors[operand].plain, context_.engine, const_cast<std::byte*>(canonical.data()));
    dnnl::stream stream = context_.stream;
    dnnl::reorder(from, memories_[operand]).execute(stream, from, memories_[operand]);
    stream.wait();
  });
}

sdk::Status OnednnCase::read_output(std::uint32_t operand, std::span<std::byte> canonical) {
  return executing("reading \"" + recipe_.tensors[operand].name + "\"", [&] {
    dnnl::memory to(recipe_.tensors[operand].plain, context_.engine, canonical.data());
    dnnl::stream stream = context_.stream;
    dnnl::reorder(memories_[operand], to).execute(stream, memories_[operand], to);
    stream.wait();
  });
}

}  // namespace hbmark::onednn
