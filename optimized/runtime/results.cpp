#include "optimized/runtime/results.h"

#include <algorithm>
#include <utility>

namespace graphgate::optimized {

ExactShapes exact_shapes(const SizedGraph& graph) {
  ExactShapes shapes;
  for (const SizedStorage& storage : graph.storages) shapes.storage_bytes.push_back(storage.bytes);
  for (const spec::Argument& output : graph.outputs) {
    const auto* id = output.as<spec::ValueId>();
    const SizedValue* value = id ? &graph.value(*id) : nullptr;
    const bool is_known = value && value->kind == spec::ValueKind::kTensor && !value->is_dynamic;
    shapes.outputs.push_back(is_known ? std::optional(value->tensor) : std::nullopt);
  }
  for (const spec::PlanInput& input : graph.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    shapes.inputs.push_back(graph.value(input.final_value.value_or(input.value)).tensor);
  }
  return shapes;
}

void cut_into(const Tensor& planned, const Tensor& exact, spec::HostStorage& storage) {
  GRAPHGATE_CHECK(planned.rank() == exact.rank() && planned.dtype == exact.dtype);
  Sizes sizes = exact.sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::min(sizes[d], planned.sizes[d]);
  const std::int64_t item = exact.item_bytes();
  GRAPHGATE_CHECK(static_cast<std::size_t>(byte_range(exact).end) <= storage.bytes.size());
  copy_elements(planned.data(), planned.strides, storage.bytes.data() + exact.offset * item,
                exact.strides, sizes, item);
}

spec::OutputValue Exporter::output(std::size_t index) {
  const spec::Argument& returned = program_.plan().outputs[index];
  if (const Tensor* tensor = program_.tensor_of(returned)) {
    const auto& padding = program_.plan().padding;
    const bool is_cut = padding && exact_ && padding->output_dims[index] && exact_->outputs[index];
    return this->tensor(*tensor, is_cut ? &*exact_->outputs[index] : nullptr);
  }
  const Item item = program_.read(returned);
  if (const auto* i = item.as<std::int64_t>()) return *i;
  if (const auto* x = item.as<double>()) return *x;
  if (const auto* b = item.as<bool>()) return *b;
  return spec::None{};
}

spec::HostTensor Exporter::tensor(const Tensor& planned, const Tensor* exact) {
  const bool is_whole = exact && is_free_of_rows(planned, *exact);
  if (exact && !is_whole) {
    auto& storage = exact_storages_[exact->storage];
    if (!storage) storage = std::make_shared<spec::HostStorage>();
    storage->bytes.resize(static_cast<std::size_t>(exact_->storage_bytes[exact->storage]));
    cut_into(planned, *exact, *storage);
    return {exact->dtype, exact->sizes, exact->strides, exact->offset, planned.device, storage};
  }
  auto& storage = storages_[planned.storage];
  if (!storage) {
    const auto bytes = program_.storage_bytes(planned);
    storage = std::make_shared<spec::HostStorage>();
    storage->bytes.assign(bytes.begin(), bytes.end());
  }
  const Tensor& shape = is_whole ? *exact : planned;
  return {shape.dtype, shape.sizes, shape.strides, shape.offset, planned.device, storage};
}

bool Exporter::is_free_of_rows(const Tensor& planned, const Tensor& exact) const {
  const auto bytes = program_.storage_bytes(planned);
  return !exact_storages_.contains(exact.storage) &&
         std::cmp_equal(bytes.size(), exact_->storage_bytes[exact.storage]);
}

void Exporter::adopt(StorageIndex planned, const std::shared_ptr<spec::HostStorage>& storage) {
  storages_.try_emplace(planned, storage);
}

void Exporter::begin_with(StorageIndex exact, std::span<const std::byte> bytes) {
  auto& storage = exact_storages_[exact];
  if (storage) return;
  storage = std::make_shared<spec::HostStorage>();
  storage->bytes.assign(bytes.begin(), bytes.end());
}

}  // namespace graphgate::optimized
