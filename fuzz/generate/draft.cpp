#include "fuzz/generate/draft.h"

#include <algorithm>

namespace graphgate::fuzz {

using spec::Argument;
using spec::DType;

void Shape::insert(int dim, Size size) {
  for (int d = rank; d > dim; --d) (*this)[d] = (*this)[d - 1];
  (*this)[dim] = size;
  ++rank;
}

// Strides that nobody knows have no dimensions to lose.
void Shape::erase(int dim) {
  if (dim >= rank) return;
  for (int d = dim; d + 1 < rank; ++d) (*this)[d] = (*this)[d + 1];
  --rank;
}

void Draft::begin(DraftSettings settings) {
  settings_ = std::move(settings);
  tensors_.reserve(64);
  storages_.reserve(64);
  values_.reserve(64);
  nodes_.reserve(32);
}

spec::ValueId Draft::add_value(DrawnValue value) {
  values_.push_back(value);
  return {static_cast<std::uint32_t>(values_.size() - 1)};
}

TensorIndex Draft::add_tensor(DrawnTensor tensor) {
  const auto index = static_cast<TensorIndex>(tensors_.size());
  tensor.id = add_value({spec::ValueKind::kTensor, index, std::nullopt});
  tensor.is_large = !is_small(tensor.sizes);
  ++storages_[tensor.storage].tensors;
  tensors_.push_back(tensor);
  return index;
}

std::uint16_t Draft::add_storage(DrawnStorage storage) {
  storages_.push_back(storage);
  return static_cast<std::uint16_t>(storages_.size() - 1);
}

// A gene of 0 takes the latest; others the latest few, any, or the oldest few.
std::optional<TensorIndex> Draft::choose(GeneReader& genes,
                                         const std::array<TensorIndex, 64>& found,
                                         std::size_t count) const {
  const std::uint32_t gene = genes.next();
  if (count == 0) return std::nullopt;
  const std::size_t rest = gene / 4;
  switch (gene % 4) {
    case 0:
      return found[rest % std::min<std::size_t>(count, 2)];
    case 1:
      return found[rest % std::min<std::size_t>(count, 4)];
    case 2:
      return found[rest % count];
    default:
      return found[count - 1 - rest % std::min<std::size_t>(count, 6)];
  }
}

Shape Draft::draw_shape(GeneReader& genes, int least_rank, int most_rank) const {
  const int rank =
      least_rank +
      static_cast<int>(genes.below(static_cast<std::size_t>(most_rank - least_rank) + 1));
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    const std::size_t which = genes.below(settings_.dims.size() + (d == 0 ? 2 : 0));
    shape.push(settings_.dims[which % settings_.dims.size()]);
  }
  return shape;
}

DType Draft::draw_floating(GeneReader& genes) const {
  const DType dtype = settings_.dtypes[genes.below(settings_.dtypes.size())];
  return spec::is_floating_point(dtype) ? dtype : settings_.dtypes.front();
}

TensorIndex Draft::pick_floating(GeneReader& genes, int least_rank, int most_rank) {
  const auto fits = [&](const DrawnTensor& tensor) {
    return spec::is_floating_point(tensor.dtype) && spec::item_size_bytes(tensor.dtype) > 1 &&
           tensor.sizes.rank >= least_rank && tensor.sizes.rank <= most_rank;
  };
  if (const auto found = pick(genes, fits)) return *found;
  const DType dtype = draw_floating(genes);
  return add_input(genes, dtype,
                   draw_shape(genes, std::max(1, least_rank),
                              std::clamp(2, std::max(1, least_rank), most_rank)));
}

TensorIndex Draft::pick_like(GeneReader& genes, DType dtype, const Shape& sizes) {
  const auto fits = [&](const DrawnTensor& tensor) {
    return tensor.dtype == dtype && tensor.sizes == sizes;
  };
  if (const auto found = pick_of_any_dtype(genes, fits)) return *found;
  // A size that data decide is no input's.
  if (is_unbacked(sizes)) return add_filled(dtype, sizes, 1);
  return add_input(genes, dtype, sizes);
}

bool Draft::is_unbacked(const Shape& sizes) const {
  for (int d = 0; d < sizes.rank; ++d) {
    if (table_.is_unbacked(sizes[d])) return true;
  }
  return false;
}

TensorIndex Draft::add_filled(DType dtype, const Shape& sizes, std::int64_t value) {
  NodeBuilder node(*this, "aten.full.default");
  node.sizes("size", sizes).integer("fill_value", value).dtype("dtype", dtype);
  if (settings_.on_accelerator) node.argument("device", {main_device()});
  const TensorIndex made = node.fresh(dtype, sizes);
  set_range(made, {value, value});
  return made;
}

std::optional<TensorIndex> Draft::pick_broadcast(GeneReader& genes, DType dtype,
                                                 const Shape& sizes) const {
  return pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == dtype && broadcasts_to(tensor.sizes, sizes);
  });
}

std::optional<TensorIndex> Draft::pick_target(GeneReader& genes, DType dtype,
                                              const Shape& sizes) const {
  return pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == dtype && tensor.sizes == sizes && !tensor.overlaps &&
           storages_[tensor.storage].may_be_written;
  });
}

std::optional<TensorIndex> Draft::pick_out(std::uint32_t gene, DType dtype, const Shape& sizes) {
  std::optional<TensorIndex> filled;
  for (std::size_t i = tensors_.size(); i-- > 0;) {
    const DrawnTensor& tensor = tensors_[i];
    if (tensor.dtype != dtype || tensor.sizes != sizes || tensor.on_host || tensor.is_retired ||
        !may_write(static_cast<TensorIndex>(i))) {
      continue;
    }
    if (storages_[tensor.storage].is_unfilled) return static_cast<TensorIndex>(i);
    if (!filled || gene % 3 == 0) filled = static_cast<TensorIndex>(i);
  }
  if (gene % 4 == 1) return add_empty(dtype, sizes);
  return filled;
}

TensorIndex Draft::add_empty(DType dtype, const Shape& sizes) {
  NodeBuilder empty(*this, "aten.empty.memory_format");
  empty.sizes("size", sizes).dtype("dtype", dtype);
  if (settings_.on_accelerator) empty.argument("device", {main_device()});
  const TensorIndex made = empty.fresh(dtype, sizes);
  storage_of(made).is_unfilled = true;
  return made;
}

TensorIndex Draft::pick_index(GeneReader& genes, const Shape& sizes, Size limit) {
  const std::int64_t most = table_.least(limit) - 1;
  const auto fits = [&](const DrawnTensor& tensor) {
    const Bounds& range = storages_[tensor.storage].range;
    return tensor.dtype == DType::kInt64 && tensor.sizes == sizes && range.least >= 0 &&
           range.most <= most;
  };
  if (const auto found = pick(genes, fits)) return *found;
  if (most >= 1 && genes.chance(75) && !is_unbacked(sizes)) {
    // Seeded integers are 0 or 1 (conformance/run/seeded_inputs.h).
    const TensorIndex made = add_input(spec::InputKind::kUserInput, DType::kInt64, sizes);
    storage_of(made).may_be_written = false;
    return made;
  }
  return add_filled(DType::kInt64, sizes, most >= 1 ? 1 : 0);
}

bool Draft::is_ever_written(TensorIndex index) const {
  const std::uint16_t wanted = tensors_[index].storage;
  return std::any_of(storages_.begin(), storages_.end(), [&](const DrawnStorage& storage) {
    if (storage.writes == 0) return false;
    const DrawnStorage* at = &storage;
    while (at != &storages_[wanted] && at->copied) at = &storages_[*at->copied];
    return at == &storages_[wanted];
  });
}

bool Draft::may_write(TensorIndex index) const {
  return !tensors_[index].overlaps && storage_of(index).may_be_written;
}

bool Draft::may_read_while_writing(TensorIndex operand, TensorIndex target) const {
  const DrawnTensor& a = tensors_[operand];
  const DrawnTensor& b = tensors_[target];
  if (a.storage != b.storage) return true;
  if (operand == target) return true;
  if (!a.has_layout || !b.has_layout) return false;
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset;
}

void Draft::note_write(TensorIndex index, Bounds range) {
  DrawnStorage& storage = storage_of(index);
  storage.range = {std::min(storage.range.least, range.least),
                   std::max(storage.range.most, range.most)};
  ++storage.writes;
}

void Draft::note_conflicts(const spec::Node& node, TensorIndex target) {
  const DrawnTensor& to = tensors_[target];
  if (!storages_[to.storage].is_input) return;
  spec::for_each_operand(node, [&](spec::ValueId id) {
    if (values_[id.index].kind != spec::ValueKind::kTensor) return;
    const DrawnTensor& from = tensors_[values_[id.index].tensor];
    if (from.storage == to.storage || !storages_[from.storage].is_input) return;
    const bool is_same_place = from.sizes == to.sizes && from.strides == to.strides &&
                               from.offset == to.offset && from.dtype == to.dtype;
    if (!is_same_place) conflicts_.emplace_back(from.storage, to.storage);
  });
}

void Draft::retire_older(TensorIndex index) {
  const std::uint16_t storage = tensors_[index].storage;
  for (std::size_t t = 0; t + 1 < tensors_.size(); ++t) {
    if (tensors_[t].storage == storage) tensors_[t].is_retired = true;
  }
}

bool Draft::conflict(std::uint16_t a, std::uint16_t b) const {
  return std::any_of(conflicts_.begin(), conflicts_.end(), [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

// A layout of 0 is row-major; others are columns first, or rows with a gap or an offset.
TensorIndex Draft::add_input(spec::InputKind kind, DType dtype, const Shape& sizes,
                             std::uint32_t layout) {
  DrawnTensor tensor;
  tensor.dtype = dtype;
  tensor.sizes = sizes;
  tensor.strides = row_major(sizes);
  if (layout == 1 && sizes.rank == 2) {
    tensor.strides[0] = 1;
    tensor.strides[1] = sizes[0] == 0 ? 1 : sizes[0];
  }
  DrawnStorage storage;
  storage.is_input = true;
  storage.is_state = kind != spec::InputKind::kUserInput;
  storage.may_be_written = kind == spec::InputKind::kUserInput || kind == spec::InputKind::kBuffer;
  if (spec::is_integral(dtype) || dtype == DType::kBool) storage.range = {0, 1};
  // What calls leave in a buffer, others find there.
  if (kind == spec::InputKind::kBuffer) storage.range = {INT64_MIN, INT64_MAX};
  tensor.storage = add_storage(storage);
  const TensorIndex index = add_tensor(tensor);
  inputs_.push_back({kind, spec::ValueKind::kTensor, index, tensors_[index].id});
  return index;
}

TensorIndex Draft::add_input(GeneReader& genes, DType dtype, const Shape& sizes) {
  static constexpr spec::InputKind kKinds[] = {
      spec::InputKind::kUserInput, spec::InputKind::kUserInput, spec::InputKind::kUserInput,
      spec::InputKind::kParameter, spec::InputKind::kParameter, spec::InputKind::kBuffer,
      spec::InputKind::kBuffer};
  spec::InputKind kind = genes.of(kKinds);
  bool is_fixed = true;
  for (int d = 0; d < sizes.rank; ++d) is_fixed = is_fixed && is_constant(sizes[d]);
  if (!is_fixed) kind = spec::InputKind::kUserInput;
  return add_input(kind, dtype, sizes, genes.chance(15) ? 1 : 0);
}

spec::ValueId Draft::add_number_input(spec::ValueKind kind) {
  ++number_inputs_;
  const spec::ValueId id = add_value({kind, 0, std::nullopt});
  inputs_.push_back({spec::InputKind::kUserInput, kind, 0, id});
  return id;
}

Size Draft::add_symbol(std::string name, Bounds range, std::optional<std::int64_t> hint) {
  symbols_.emplace(name, spec::SymbolInfo{range.least, range.most, hint});
  return table_.symbol(std::move(name), range);
}

Size Draft::add_unbacked(Bounds range) {
  return add_symbol("u" + std::to_string(next_unbacked_++), range, std::nullopt);
}

Argument Draft::size_argument(Size size) {
  if (is_constant(size)) return {std::int64_t{size}};
  for (const DrawnNumber& number : numbers_) {
    if (number.size == size) return {number.id};
  }
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    for (int d = 0; d < tensors_[t].sizes.rank; ++d) {
      if (tensors_[t].sizes[d] != size) continue;
      NodeBuilder node(*this, "aten.sym_size.int");
      node.tensor("self", static_cast<TensorIndex>(t)).integer("dim", d);
      return {node.number(spec::ValueKind::kSymInt, size)};
    }
  }
  // A product of sizes: one factor after the other.
  const SizeTable::Split split = table_.split(size);
  const Argument a = size_argument(split.a);
  const Argument b = split.number ? Argument{*split.number} : size_argument(split.b);
  NodeBuilder node(*this, split.op);
  node.argument("a", a).argument("b", b);
  return {node.number(spec::ValueKind::kSymInt, size)};
}

std::optional<spec::ValueId> Draft::pick_number(GeneReader& genes) const {
  const std::uint32_t gene = genes.next();
  if (numbers_.empty()) return std::nullopt;
  return numbers_[gene % numbers_.size()].id;
}

void Draft::add_custom_op(std::string_view row) {
  if (std::find(custom_ops_.begin(), custom_ops_.end(), row) == custom_ops_.end()) {
    custom_ops_.push_back(row);
  }
}

spec::SubgraphId Draft::add_subgraph(spec::Graph graph) {
  subgraphs_.push_back(std::move(graph));
  return {static_cast<std::uint32_t>(subgraphs_.size() - 1)};
}

Size Draft::elements(const Shape& sizes) {
  Size count = 1;
  for (int d = 0; d < sizes.rank; ++d) count = table_.product(count, sizes[d]);
  return count;
}

bool Draft::is_small(const Shape& sizes) const {
  constexpr std::int64_t kMostElements = 600;  // with symbols at a usual value
  constexpr int kMostFactors = 3;
  std::int64_t count = 1;
  int factors = 0;
  for (int d = 0; d < sizes.rank; ++d) {
    count *= table_.sample(sizes[d]);
    factors += table_.atoms(sizes[d]);
  }
  return sizes.rank <= 5 && count <= kMostElements && factors <= kMostFactors;
}

spec::Device Draft::main_device() const { return {settings_.on_accelerator ? "cuda" : "cpu", -1}; }

}  // namespace graphgate::fuzz
