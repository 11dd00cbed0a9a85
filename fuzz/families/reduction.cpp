// Reductions over some dimensions, or all of them.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

// What a reduction takes, and what it returns.
enum class Rule : std::uint8_t {
  kSum,     // integers and booleans become int64; a dtype may be asked for
  kFloats,  // floating alone
  kTruth,   // booleans, from anything
  kCount,   // int64, from anything
};

struct Reduction {
  std::string_view name;
  std::string_view all;   // the op that reduces all dimensions; empty if there is none
  std::string_view dims;  // with a list of dimensions
  std::string_view dim;   // with one
  std::uint32_t weight = 2;
  Rule rule = Rule::kFloats;
  bool has_dtype = false;
};

constexpr Reduction kReductions[] = {
    {"aten.sum", "aten.sum.default", "aten.sum.dim_IntList", "", 10, Rule::kSum, true},
    {"aten.mean", "aten.mean.default", "aten.mean.dim", "", 6, Rule::kFloats, true},
    {"aten.prod", "aten.prod.default", "", "aten.prod.dim_int", 1, Rule::kSum, true},
    {"aten.any", "aten.any.default", "aten.any.dims", "aten.any.dim", 2, Rule::kTruth, false},
    {"aten.all", "aten.all.default", "aten.all.dims", "aten.all.dim", 2, Rule::kTruth, false},
    {"aten.nansum", "", "aten.nansum.default", "", 1, Rule::kFloats, false},
    {"aten.logsumexp", "", "aten.logsumexp.default", "", 1, Rule::kFloats, false},
    {"aten.linalg_vector_norm", "", "aten.linalg_vector_norm.default", "", 2, Rule::kFloats, false},
    {"aten.count_nonzero", "aten.count_nonzero.default", "aten.count_nonzero.dim_IntList", "", 1,
     Rule::kCount, false},
    {"aten.norm", "aten.norm.Scalar", "aten.norm.ScalarOpt_dim", "", 1, Rule::kFloats, false},
};

bool takes(Rule rule, const DrawnTensor& tensor, bool others) {
  if (is_computed_float(tensor.dtype)) return true;
  return others && rule != Rule::kFloats && !spec::is_floating_point(tensor.dtype) &&
         tensor.dtype != DType::kUInt8;
}

DType result_of(Rule rule, DType dtype) {
  if (rule == Rule::kTruth) return DType::kBool;
  if (rule == Rule::kCount) return DType::kInt64;
  return spec::is_floating_point(dtype) ? dtype : DType::kInt64;
}

bool draw_reduction(Draft& draft, GeneReader& genes, std::size_t variant) {
  const Reduction& reduction = kReductions[variant];
  const bool others = genes.chance(20);
  auto self = draft.pick(genes, [&](const DrawnTensor& tensor) {
    return takes(reduction.rule, tensor, others) && (others || tensor.sizes.rank > 0);
  });
  if (!self) self = draft.pick_floating(genes, 1);
  const DrawnTensor from = draft.tensor(*self);
  const int rank = from.sizes.rank;
  const DType dtype = result_of(reduction.rule, from.dtype);
  const std::uint32_t form = genes.next() % 4;
  const int dim = rank == 0 ? 0 : static_cast<int>(genes.next() % static_cast<unsigned>(rank));
  const bool keepdim = genes.chance(35);
  const bool reduces_all = !reduction.all.empty() && (rank == 0 || form == 3);
  if (rank == 0 && !reduces_all) return false;
  // One dimension, or two.
  std::vector<std::int64_t> dims;
  if (!reduces_all) {
    dims.push_back(genes.chance(20) ? dim - rank : dim);
    if (!reduction.dims.empty() && rank > 1 && form == 2) dims.push_back((dim + 1) % rank);
  }
  const bool by_list = !reduction.dims.empty() && (reduction.dim.empty() || dims.size() > 1);
  Shape sizes;
  for (int d = 0; d < rank; ++d) {
    bool is_reduced = reduces_all;
    for (const std::int64_t one : dims)
      is_reduced = is_reduced || (one < 0 ? one + rank : one) == d;
    if (!is_reduced) sizes.push(from.sizes[d]);
    if (is_reduced && keepdim && !reduces_all && reduction.name != "aten.count_nonzero") {
      sizes.push(1);
    }
  }
  NodeBuilder node(draft, reduces_all ? reduction.all : by_list ? reduction.dims : reduction.dim);
  node.tensor("self", *self);
  if (reduction.name == "aten.linalg_vector_norm" && genes.chance(40)) node.real("ord", 1.0);
  if (reduction.name == "aten.norm" && !reduces_all) node.integer("p", 2);
  if (!reduces_all && by_list) node.integers("dim", dims);
  if (!reduces_all && !by_list) node.integer("dim", dims.front());
  if (!reduces_all && keepdim && reduction.name != "aten.count_nonzero") {
    node.boolean("keepdim", true);
  }
  DType result = dtype;
  if (reduction.has_dtype && genes.chance(10)) {
    result = DType::kFloat32;
    node.dtype("dtype", result);
  }
  const bool has_layout = draft.is_row_major(from) || sizes.rank <= 1;
  node.fresh(result, sizes, Layout{has_layout, draft.row_major(sizes)});
  return true;
}

// The norm of a difference of tensors of one dtype.
bool draw_dist(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes);
  const auto other = pick_second(draft, genes, self, false);
  const DType dtype = draft.tensor(self).dtype;
  if (!other || draft.tensor(*other).dtype != dtype) return false;
  NodeBuilder node(draft, "aten.dist.default");
  node.tensor("self", self).tensor("other", *other);
  if (genes.chance(30)) node.integer("p", 1);
  node.fresh(dtype, Shape{});
  return true;
}

bool draw_trace(Draft& draft, GeneReader& genes, std::size_t) {
  const TensorIndex self = draft.pick_floating(genes, 2, 2);
  const spec::DType dtype = draft.tensor(self).dtype;
  NodeBuilder node(draft, "aten.trace.default");
  node.tensor("self", self).fresh(dtype, {});
  return true;
}

}  // namespace

std::span<const DrawnOp> reduction_rows() {
  static const std::vector<DrawnOp> kRows = [] {
    std::vector<DrawnOp> rows;
    rows.reserve(std::size(kReductions) + 1);
    for (std::uint32_t i = 0; i < std::size(kReductions); ++i) {
      rows.push_back({kReductions[i].name, kReductions[i].weight, draw_reduction, i});
    }
    rows.push_back({"aten.dist", 1, draw_dist, 0, 6});
    rows.push_back({"aten.trace", 1, draw_trace, 0, 6});
    return rows;
  }();
  return kRows;
}

}  // namespace graphgate::fuzz
