// Nodes in the making; declared in draft.h.
#include <algorithm>
#include <utility>

#include "fuzz/generate/draft.h"
#include "fuzz/generate/out_form.h"

namespace graphgate::fuzz {

using spec::Argument;

NodeBuilder::NodeBuilder(Draft& draft, std::string_view op) : draft_(draft) {
  GRAPHGATE_CHECK(!op.empty());
  node_.op = op;
  node_.arguments.reserve(4);
}

NodeBuilder::~NodeBuilder() { draft_.nodes_.push_back(std::move(node_)); }

NodeBuilder& NodeBuilder::argument(std::string_view name, Argument value) {
  node_.arguments.push_back({std::string(name), std::move(value)});
  return *this;
}

NodeBuilder& NodeBuilder::tensor(std::string_view name, TensorIndex index) {
  draft_.mark_read(index);
  return argument(name, {draft_.tensors_[index].id});
}

NodeBuilder& NodeBuilder::optional_tensor(std::string_view name, std::optional<TensorIndex> index) {
  return index ? tensor(name, *index) : none(name);
}

NodeBuilder& NodeBuilder::tensors(std::string_view name, const std::vector<TensorIndex>& indices) {
  Argument::List list;
  for (const TensorIndex index : indices) {
    draft_.mark_read(index);
    list.push_back({draft_.tensors_[index].id});
  }
  return argument(name, {std::move(list)});
}

NodeBuilder& NodeBuilder::value(std::string_view name, spec::ValueId id) {
  return argument(name, {id});
}
NodeBuilder& NodeBuilder::integer(std::string_view name, std::int64_t value) {
  return argument(name, {value});
}
NodeBuilder& NodeBuilder::real(std::string_view name, double value) {
  return argument(name, {value});
}
NodeBuilder& NodeBuilder::boolean(std::string_view name, bool value) {
  return argument(name, {value});
}
NodeBuilder& NodeBuilder::text(std::string_view name, std::string_view value) {
  return argument(name, {std::string(value)});
}
NodeBuilder& NodeBuilder::dtype(std::string_view name, spec::DType value) {
  return argument(name, {value});
}
NodeBuilder& NodeBuilder::size(std::string_view name, Size value) {
  return argument(name, draft_.size_argument(value));
}
NodeBuilder& NodeBuilder::none(std::string_view name) { return argument(name, {spec::None{}}); }

NodeBuilder& NodeBuilder::sizes(std::string_view name, const Shape& value) {
  Argument::List list;
  for (int d = 0; d < value.rank; ++d) list.push_back(draft_.size_argument(value[d]));
  return argument(name, {std::move(list)});
}

NodeBuilder& NodeBuilder::integers(std::string_view name, const std::vector<std::int64_t>& values) {
  Argument::List list;
  for (const std::int64_t value : values) list.push_back({value});
  return argument(name, {std::move(list)});
}

TensorIndex NodeBuilder::result(const DrawnTensor& tensor) {
  const TensorIndex index = draft_.add_tensor(tensor);
  node_.results.push_back({false, {draft_.tensors_[index].id}});
  return index;
}

TensorIndex NodeBuilder::fresh(spec::DType dtype, const Shape& sizes) {
  return fresh(dtype, sizes, Layout{true, draft_.row_major(sizes)});
}

bool NodeBuilder::reads_storage(std::uint16_t storage) const {
  bool reads = false;
  spec::for_each_operand(node_, [&](spec::ValueId id) {
    const Draft::DrawnValue& value = draft_.values_[id.index];
    const bool is_tensor = value.kind == spec::ValueKind::kTensor;
    reads = reads || (is_tensor && draft_.tensors_[value.tensor].storage == storage);
  });
  return reads;
}

std::optional<TensorIndex> NodeBuilder::as_out_form(spec::DType dtype, const Shape& sizes) {
  const std::uint32_t gene = std::exchange(draft_.out_gene_, 0);
  constexpr std::uint32_t kPercent = 12;
  if (gene % 100 < 100 - kPercent || draft_.is_unbacked(sizes)) return std::nullopt;
  const OutForm* const form = out_form_of(node_.op);
  if (!form) return std::nullopt;
  for (const spec::NamedArgument& named : node_.arguments) {
    if (std::find(form->taken.begin(), form->taken.end(), named.name) == form->taken.end()) {
      return std::nullopt;
    }
  }
  // Integers have a range that their storage is known by: nothing else may lie there.
  std::optional<TensorIndex> target;
  if (!spec::is_integral(dtype)) target = draft_.pick_out(gene / 100, dtype, sizes);
  if (target && reads_storage(draft_.tensors_[*target].storage)) target.reset();
  if (!target) target = draft_.add_empty(dtype, sizes);
  node_.op = form->op;
  tensor(form->out, *target);
  return written(*target);
}

TensorIndex NodeBuilder::fresh(spec::DType dtype, const Shape& sizes, const Layout& layout,
                               Size offset) {
  if (const auto out = as_out_form(dtype, sizes)) return *out;
  DrawnTensor tensor;
  tensor.dtype = dtype;
  tensor.sizes = sizes;
  tensor.has_layout = layout.is_known;
  tensor.strides = layout.strides;
  tensor.offset = offset;
  DrawnStorage storage;
  if (dtype == spec::DType::kBool) storage.range = {0, 1};
  tensor.storage = draft_.add_storage(storage);
  return result(tensor);
}

TensorIndex NodeBuilder::view(TensorIndex base, const Shape& sizes, const Shape& strides,
                              Size offset, bool overlaps) {
  DrawnTensor tensor = draft_.tensors_[base];
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.offset = offset;
  tensor.overlaps = tensor.overlaps || overlaps;
  tensor.is_read = false;
  return result(tensor);
}

TensorIndex NodeBuilder::view_as(TensorIndex base, spec::DType dtype) {
  DrawnTensor tensor = draft_.tensors_[base];
  tensor.dtype = dtype;
  tensor.is_read = false;
  return result(tensor);
}

TensorIndex NodeBuilder::view_as(TensorIndex base, spec::DType dtype, const Shape& sizes,
                                 const Shape& strides, Size offset) {
  DrawnTensor tensor = draft_.tensors_[base];
  tensor.dtype = dtype;
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.offset = offset;
  tensor.is_read = false;
  return result(tensor);
}

TensorIndex NodeBuilder::copy_of(TensorIndex base) {
  DrawnTensor tensor = draft_.tensors_[base];
  const DrawnStorage& of = draft_.storages_[tensor.storage];
  DrawnStorage storage;
  storage.is_unfilled = of.is_unfilled;
  storage.range = of.range;
  tensor.storage = draft_.add_storage(storage);
  tensor.is_read = false;
  return result(tensor);
}

NodeBuilder& NodeBuilder::writes(TensorIndex target) {
  draft_.note_write(target);
  draft_.note_conflicts(node_, target);
  draft_.note_filled(target);
  return *this;
}

TensorIndex NodeBuilder::written(TensorIndex target, Bounds range) {
  draft_.note_write(target, range);
  draft_.note_conflicts(node_, target);
  draft_.note_filled(target);
  DrawnTensor tensor = draft_.tensors_[target];
  tensor.is_read = false;
  return result(tensor);
}

spec::ValueId NodeBuilder::number(spec::ValueKind kind, std::optional<Size> size) {
  const spec::ValueId id = draft_.add_value({kind, 0, size});
  if (size) draft_.numbers_.push_back({id, *size});
  node_.results.push_back({false, {id}});
  return id;
}

void NodeBuilder::as_list() {
  spec::NodeResult list{true, {}};
  for (const spec::NodeResult& result : node_.results) list.values.push_back(result.values.front());
  node_.results.assign(1, list);
}

}  // namespace graphgate::fuzz
