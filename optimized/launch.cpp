#include "optimized/launch.h"

#include <algorithm>

#include "optimized/codegen/work.h"
#include "optimized/complex_numbers.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t packed_bytes(const Tensor& tensor) {
  return aligned(tensor.count() * tensor.item_bytes());
}

// Whether return values are written into argument `index`.
bool is_returned(const spec::OpRow& row, std::size_t index) {
  return std::ranges::any_of(row.effects.returns, [&](const auto& r) {
    return std::ranges::find(r.aliases, index) != r.aliases.end();
  });
}

// The tensors that a call writes among its arguments.
using Written = SmallVector<const Tensor*, 4>;
Written written_tensors(const KernelCall& call) {
  Written out;
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const auto* tensor = call.arguments()[i].as<Tensor>();
    const auto* list = call.arguments()[i].as<Item::List>();
    if ((tensor == nullptr && list == nullptr) || !call.row().writes(i)) continue;
    if (tensor != nullptr) out.push_back(tensor);
    if (list != nullptr) {
      for (const Item& element : *list) {
        if (const auto* inner = element.as<Tensor>()) out.push_back(inner);
      }
    }
  }
  return out;
}

bool needs_copy(const Kernel& kernel, const Tensor& read, const Tensor& written) {
  if (!may_overlap(read, written)) return false;
  return kernel.overlap == Overlap::kNone || !same_geometry(read, written);
}

// The tensor arguments, in order, that must be read from a copy.
SmallVector<Tensor*, 4> copied_tensors(const Kernel& kernel, const spec::OpRow& row,
                                       std::vector<Item>& arguments, const Written& written) {
  SmallVector<Tensor*, 4> out;
  const auto consider = [&](Item& item) {
    auto* tensor = std::get_if<Tensor>(&item.value);
    if (tensor && std::ranges::any_of(written, [&](const Tensor* target) {
          return needs_copy(kernel, *tensor, *target);
        })) {
      out.push_back(tensor);
    }
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!row.effects.arguments[i].reads) continue;
    if (row.writes(i) && !is_returned(row, i)) continue;
    if (auto* list = std::get_if<Item::List>(&arguments[i].value)) {
      if (row.writes(i)) continue;
      for (Item& element : *list) consider(element);
    } else {
      consider(arguments[i]);
    }
  }
  return out;
}

void flatten(Made made, std::vector<Tensor>& out) {
  if (made.kind != Made::Kind::kList) return out.push_back(std::move(made.tensor));
  for (Made& element : made.list) flatten(std::move(element), out);
}

bool makes_tensor(const Made& made) {
  return made.kind == Made::Kind::kNew || std::ranges::any_of(made.list, makes_tensor);
}

}  // namespace

Inference infer_call(const Kernel& kernel, const spec::OpRow& row, std::vector<Item> arguments,
                     bool has_data) {
  Inference inference(row, std::move(arguments), has_data);
  refuse_complex(inference);
  kernel.infer(inference);
  if (!kernel.bind) return inference;
  const auto written = written_tensors(inference);
  if (written.empty()) return inference;
  for (const Tensor* read : copied_tensors(kernel, row, inference.arguments(), written)) {
    inference.want_workspace(packed_bytes(*read));
  }
  return inference;
}

bool takes_step(const Kernel& kernel, const Inference& inference) {
  return std::ranges::any_of(inference.results(), makes_tensor) ||
         (kernel.bind && (inference.results().empty() || !written_tensors(inference).empty()));
}

std::vector<Tensor> flat_tensors(std::vector<Made> made) {
  std::vector<Tensor> out;
  out.reserve(made.size());
  for (Made& one : made) flatten(std::move(one), out);
  return out;
}

Launch bind_call(const Kernel& kernel, const spec::OpRow& row, std::vector<Item> arguments,
                 std::vector<Tensor> results, std::byte* workspace,
                 const DeviceListener* listener) {
  if (!kernel.bind) return {};
  Binding probe(row, std::move(arguments), {}, nullptr, nullptr);
  std::vector<Launch> copies;
  for (Tensor* read : copied_tensors(kernel, row, probe.arguments(), written_tensors(probe))) {
    Tensor copy = *read;
    copy.strides = row_major_strides(read->sizes);
    copy.offset = 0;
    copy.storage = kNoStorage;
    copy.bytes = workspace;
    workspace += packed_bytes(*read);
    copies.push_back(copy_launch(listener, copy, *read));
    *read = std::move(copy);
  }
  Launch launch = kernel.bind(
      Binding(row, std::move(probe.arguments()), std::move(results), workspace, listener));
  if (copies.empty()) return launch;
  copies.push_back(std::move(launch));
  return in_turn(std::move(copies));
}

}  // namespace graphgate::optimized
