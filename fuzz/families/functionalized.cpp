// Ops that write their arguments as torch.compile passes them on: auto_functionalized_v2 runs one
// on copies of what it writes, and returns the copies. Bases stay as they are, whoever reads them.
//
//   auto_functionalized_v2(op, ..., _out_base_index=0, _all_bases=[%b]) -> own results, new bases
//
// An argument is a base, or a view of one: a slice, or sizes and strides over its storage.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

constexpr std::string_view kSpare =
    "vllm::silu_and_mul.spare(Tensor(a!) out, Tensor input, Tensor(b!)? spare=None) -> ()";
// Since which generator these are drawn.
constexpr int kSince = 4;

// How a written argument lies in its base.
enum class Place : std::uint8_t { kWhole, kAlias, kSlice, kStrided };

// Half of a base along one dimension.
struct Half {
  int dim = 0;
  bool is_second = false;
};

struct WrittenArgument {
  std::string_view name;
  std::size_t base = 0;
  Place place = Place::kWhole;
  Half half;
};

// A node in the making: the op's arguments first, then what says where it writes.
class Functionalized {
 public:
  Functionalized(Draft& draft, std::string_view op)
      : draft_(draft), node_(draft, "higher_order.auto_functionalized_v2") {
    node_.argument("", {spec::OpName{std::string(op)}});
  }

  NodeBuilder& node() { return node_; }

  void base(TensorIndex tensor) { bases_.push_back(tensor); }

  // Ids of sizes stand before the node: the draft adds them where they are first asked for.
  void written(const WrittenArgument& argument) {
    const std::string prefix = "_" + std::string(argument.name);
    const DrawnTensor from = draft_.tensor(bases_[argument.base]);
    node_.integer(prefix + "_base_index", static_cast<std::int64_t>(argument.base));
    const int dim = argument.half.dim;
    const Size half = from.sizes.rank == 0 ? 0 : from.sizes[dim] / 2;
    const Size start = argument.half.is_second ? half : 0;
    switch (argument.place) {
      case Place::kWhole:
        break;
      case Place::kAlias:
        node_.boolean(prefix + "_alias", true);
        break;
      case Place::kSlice:
        node_.integer(prefix + "_slice_dim", dim).integer(prefix + "_slice_start", start);
        node_.integer(prefix + "_slice_end", start + half);
        break;
      case Place::kStrided: {
        Shape sizes = from.sizes;
        sizes[dim] = half;
        SizeTable& table = draft_.table();
        const Size offset = table.sum(from.offset, table.product(start, from.strides[dim]));
        draft_.keep_places();
        node_.sizes(prefix + "_size", sizes).sizes(prefix + "_stride", from.strides);
        node_.size(prefix + "_storage_offset", offset);
        break;
      }
    }
  }

  // The bases, and a copy of each as a result: behind the op's own results.
  std::vector<TensorIndex> end() {
    node_.tensors("_all_bases", bases_);
    std::vector<TensorIndex> copies;
    copies.reserve(bases_.size());
    for (const TensorIndex base : bases_) copies.push_back(node_.copy_of(base));
    return copies;
  }
  // The place that an op without results has.
  void no_result() { node_.number(spec::ValueKind::kNone, std::nullopt); }

 private:
  Draft& draft_;
  NodeBuilder node_;
  std::vector<TensorIndex> bases_;
};

// What an op may write a copy of: whatever holds computed floats, state and inputs too.
bool may_be_base(Draft& draft, const DrawnTensor& tensor) {
  if (!is_computed_float(tensor.dtype) || tensor.overlaps || !tensor.has_layout) return false;
  const int last = tensor.sizes.rank - 1;
  return last >= 0 && is_constant(tensor.sizes[last]) && tensor.sizes[last] > 0 &&
         !draft.is_unbacked(tensor.sizes);
}

// A dimension that has two halves.
std::optional<int> draw_halved(GeneReader& genes, const Shape& sizes) {
  const int first = draw_dim(genes, sizes.rank);
  for (int d = 0; d < sizes.rank; ++d) {
    const int dim = (first + d) % sizes.rank;
    if (is_constant(sizes[dim]) && sizes[dim] >= 2 && sizes[dim] % 2 == 0) return dim;
  }
  return std::nullopt;
}

// Where an argument lies in its base, and the sizes that it has there.
struct DrawnPlace {
  Place place = Place::kWhole;
  Half half;
  Shape sizes;
};
DrawnPlace draw_place(Draft& draft, GeneReader& genes, TensorIndex base) {
  const DrawnTensor from = draft.tensor(base);
  const std::uint32_t form = genes.next();
  DrawnPlace out{form % 8 == 7 ? Place::kAlias : Place::kWhole, {}, from.sizes};
  const auto dim = draw_halved(genes, from.sizes);
  if (form % 8 < 4 || form % 8 == 7 || !dim) return out;
  out.place = form % 8 < 6 ? Place::kSlice : Place::kStrided;
  out.half = {*dim, form / 8 % 2 == 1};
  out.sizes[*dim] = from.sizes[*dim] / 2;
  return out;
}

// What was functionalized was written to once: an input or buffer takes the new contents over.
void copy_back(Draft& draft, GeneReader& genes, const std::vector<TensorIndex>& bases,
               const std::vector<TensorIndex>& copies) {
  const std::uint32_t gene = genes.next();
  for (std::size_t b = 0; b < bases.size(); ++b) {
    if (gene % 3 != 1 || !draft.may_write(bases[b])) continue;
    if (!draft.is_input(draft.tensor(bases[b])) && gene / 3 % 4 != 1) continue;
    NodeBuilder node(draft, "aten.copy_.default");
    node.tensor("self", bases[b]).tensor("src", copies[b]).written(bases[b]);
  }
}

struct SiluKind {
  std::string_view op;
  std::string_view row;  // of the op table, where the case brings it
  bool has_spare = false;
};
constexpr SiluKind kSilu[] = {{"vllm.silu_and_mul.default", "", false},
                              {"vllm.silu_and_mul.keep", kKeepingSilu, false},
                              {"vllm.silu_and_mul.spare", kSpare, true}};

bool draw_silu_and_mul(Draft& draft, GeneReader& genes, std::size_t variant) {
  const SiluKind& kind = kSilu[variant];
  const auto base =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return may_be_base(draft, tensor); });
  if (!base) return false;
  const DrawnPlace place = draw_place(draft, genes, *base);
  Shape doubled = place.sizes;
  Size& last = doubled[doubled.rank - 1];
  last *= 2;
  if (!draft.is_small(doubled)) return false;
  const TensorIndex input = draft.pick_like(genes, draft.tensor(*base).dtype, doubled);
  if (!kind.row.empty()) draft.add_custom_op(kind.row);
  std::vector<TensorIndex> copies;
  {
    Functionalized call(draft, kind.op);
    call.node().tensor("input", input);
    call.base(*base);
    call.written({"out", 0, place.place, place.half});
    if (kind.has_spare) call.node().none("_spare_base_index");
    call.no_result();
    copies = call.end();
  }
  copy_back(draft, genes, {*base}, copies);
  return true;
}

// Two arguments that are written: of two bases, of one tensor that is a base twice, or the halves
// of one base.
bool draw_add_rms_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const auto first =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return may_be_base(draft, tensor); });
  if (!first) return false;
  const DrawnTensor from = draft.tensor(*first);
  const std::uint32_t form = genes.next() % 8;
  const auto dim = draw_halved(genes, from.sizes);
  const bool is_halved = form >= 5 && dim && *dim + 1 < from.sizes.rank;
  Shape sizes = from.sizes;
  if (is_halved) sizes[*dim] = sizes[*dim] / 2;
  std::vector<TensorIndex> bases = {*first};
  if (form == 4) bases.push_back(*first);
  if (form != 4 && !is_halved) {
    const auto second = draft.pick(genes, [&](const DrawnTensor& tensor) {
      return tensor.dtype == from.dtype && tensor.sizes == sizes && may_be_base(draft, tensor);
    });
    if (!second) return false;
    bases.push_back(*second);
  }
  const TensorIndex weight = draft.pick_like(genes, from.dtype, Shape{sizes[sizes.rank - 1]});
  std::vector<TensorIndex> copies;
  {
    Functionalized call(draft, "vllm.fused_add_rms_norm.default");
    call.node().tensor("weight", weight).real("epsilon", 1e-5);
    for (const TensorIndex base : bases) call.base(base);
    const Place place = is_halved ? (form == 5 ? Place::kStrided : Place::kSlice) : Place::kWhole;
    const bool is_swapped = form % 2 == 1;
    const std::size_t other = bases.size() - 1;
    const Half half{dim.value_or(0), false};
    call.written({"input", is_swapped ? other : 0, place, {half.dim, is_swapped}});
    call.written({"residual", is_swapped ? 0 : other, place, {half.dim, !is_swapped}});
    call.no_result();
    copies = call.end();
  }
  copy_back(draft, genes, bases, copies);
  return true;
}

// Attention into an output that was empty until then, as vLLM's graphs have it.
bool draw_unified_attention(Draft& draft, GeneReader& genes, std::size_t) {
  const AttentionOperands in = draw_attention_operands(draft, genes);
  const std::uint32_t form = genes.next() % 4;
  const TensorIndex output = form == 3 ? in.value : draft.add_empty(in.dtype, in.sizes);
  if (!may_be_base(draft, draft.tensor(output))) return false;
  Functionalized call(draft, "vllm.unified_attention_with_output.default");
  call.node().tensor("query", in.query).tensor("key", in.key).tensor("value", in.value);
  call.node().text("layer_name", "layer");
  call.base(output);
  call.written({"output", 0, form == 2 ? Place::kAlias : Place::kWhole, {}});
  call.no_result();
  draft.note_filled(call.end().front());
  return true;
}

// A written list: an argument for each element.
bool draw_split(Draft& draft, GeneReader& genes, std::size_t) {
  const auto self =
      draft.pick(genes, [&](const DrawnTensor& tensor) { return may_be_base(draft, tensor); });
  if (!self) return false;
  const DrawnTensor from = draft.tensor(*self);
  const auto dim = draw_halved(genes, from.sizes);
  if (!dim) return false;
  Shape sizes = from.sizes;
  sizes[*dim] = sizes[*dim] / 2;
  const TensorIndex first = draft.pick_like(genes, from.dtype, sizes);
  const TensorIndex second = draft.pick_like(genes, from.dtype, sizes);
  if (draft.tensor(first).overlaps || draft.tensor(second).overlaps) return false;
  if (!draft.tensor(first).has_layout || !draft.tensor(second).has_layout) return false;
  Functionalized call(draft, "aten.split_with_sizes_copy.out");
  call.node().tensor("self", *self).integer("dim", *dim);
  call.node().integers("split_sizes", {sizes[*dim], sizes[*dim]});
  call.base(first);
  call.base(second);
  call.node().integer("_out_length", 2);
  call.written({"out_0", 0, Place::kWhole, {}});
  call.written({"out_1", 1, Place::kWhole, {}});
  call.no_result();
  call.end();
  return true;
}

// Results of its own, and statistics as bases.
bool draw_batch_norm(Draft& draft, GeneReader& genes, std::size_t) {
  const auto input = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return tensor.dtype == DType::kFloat32 && tensor.sizes.rank == 3 &&
           is_constant(tensor.sizes[1]) && draft.table().least(draft.elements(tensor.sizes)) > 0 &&
           draft.is_row_major(tensor) && !draft.is_unbacked(tensor.sizes);
  });
  if (!input) return false;
  const DrawnTensor from = draft.tensor(*input);
  const Shape channels{from.sizes[1]};
  if (draft.table().least(from.sizes[0]) * draft.table().least(from.sizes[2]) < 2) return false;
  const TensorIndex mean = draft.pick_like(genes, DType::kFloat32, channels);
  const TensorIndex variance = draft.pick_like(genes, DType::kFloat32, channels);
  for (const TensorIndex base : {mean, variance}) {
    if (!may_be_base(draft, draft.tensor(base))) return false;
  }
  Functionalized call(draft, "aten._native_batch_norm_legit.default");
  call.node().tensor("input", *input).none("weight").none("bias");
  call.node().boolean("training", true).real("momentum", 0.25).real("eps", 1e-3);
  call.base(mean);
  call.base(variance);
  call.written({"running_mean", 0, Place::kWhole, {}});
  call.written({"running_var", 1, Place::kWhole, {}});
  call.node().fresh(DType::kFloat32, from.sizes);
  call.node().fresh(DType::kFloat32, channels);
  call.node().fresh(DType::kFloat32, channels);
  call.end();
  return true;
}

constexpr DrawnOp kFunctionalizedRows[] = {
    {"functionalized.silu_and_mul", 4, draw_silu_and_mul, 0, kSince, "vllm.silu_and_mul.default"},
    {"functionalized.silu_and_mul.keep", 2, draw_silu_and_mul, 1, kSince, "vllm.silu_and_mul.keep"},
    {"functionalized.silu_and_mul.spare", 2, draw_silu_and_mul, 2, kSince,
     "vllm.silu_and_mul.spare"},
    {"functionalized.fused_add_rms_norm", 6, draw_add_rms_norm, 0, kSince,
     "vllm.fused_add_rms_norm.default"},
    {"functionalized.unified_attention_with_output", 3, draw_unified_attention, 0, kSince,
     "vllm.unified_attention_with_output.default"},
    {"functionalized.split_with_sizes_copy", 2, draw_split, 0, kSince,
     "aten.split_with_sizes_copy.out"},
    {"functionalized.batch_norm", 1, draw_batch_norm, 0, kSince,
     "aten._native_batch_norm_legit.default"}};

}  // namespace

std::span<const DrawnOp> functionalized_rows() { return kFunctionalizedRows; }

}  // namespace graphgate::fuzz
