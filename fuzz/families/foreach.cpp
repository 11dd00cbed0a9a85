// One op over lists of tensors: a list of results, or each element in place.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

struct ListOpRow {
  std::string_view name;  // "aten._foreach_add"
  std::string_view overload;
  std::string_view other;   // a second list; or none
  std::string_view number;  // a number for all; or none
};
constexpr ListOpRow kListOpTable[] = {
    {"aten._foreach_add", "List", "other", ""},     {"aten._foreach_mul", "List", "other", ""},
    {"aten._foreach_sub", "Scalar", "", "scalar"},  {"aten._foreach_mul", "Scalar", "", "scalar"},
    {"aten._foreach_maximum", "List", "other", ""}, {"aten._foreach_neg", "default", "", ""},
    {"aten._foreach_sigmoid", "default", "", ""},
};

bool draw_foreach(Draft& draft, GeneReader& genes, std::size_t variant) {
  const ListOpRow& row = kListOpTable[variant];
  std::vector<TensorIndex> list = {draft.pick_floating(genes)};
  const spec::DType dtype = draft.tensor(list[0]).dtype;
  const std::size_t length = 1 + genes.next() % 3;
  while (list.size() < length) {
    const auto next =
        draft.pick(genes, [&](const DrawnTensor& tensor) { return tensor.dtype == dtype; });
    if (!next) break;
    list.push_back(*next);
  }
  std::vector<TensorIndex> others;
  std::vector<Layout> layouts;
  std::vector<Shape> sizes;
  for (const TensorIndex index : list) {
    sizes.push_back(draft.tensor(index).sizes);
    if (!row.other.empty()) others.push_back(draft.pick_like(genes, dtype, sizes.back()));
    layouts.push_back(others.empty() ? row_major_like(draft, {index}, sizes.back())
                                     : row_major_like(draft, {index, others.back()}, sizes.back()));
  }
  NodeBuilder node(draft, std::string(row.name) + "." + std::string(row.overload));
  node.tensors("self", list);
  if (!row.other.empty()) node.tensors(row.other, others);
  if (!row.number.empty()) node.argument(row.number, draw_scalar(genes, dtype));
  for (std::size_t i = 0; i < list.size(); ++i) node.fresh(dtype, sizes[i], layouts[i]);
  node.as_list();
  return true;
}

constexpr DrawnOp kForeachRows[] = {
    {"aten._foreach_add", 2, draw_foreach, 0, 6},     {"aten._foreach_mul", 1, draw_foreach, 1, 6},
    {"aten._foreach_sub", 1, draw_foreach, 2, 6},     {"aten._foreach_mul", 1, draw_foreach, 3, 6},
    {"aten._foreach_maximum", 1, draw_foreach, 4, 6}, {"aten._foreach_neg", 1, draw_foreach, 5, 6},
    {"aten._foreach_sigmoid", 1, draw_foreach, 6, 6},
};

}  // namespace

std::span<const DrawnOp> foreach_rows() { return kForeachRows; }

}  // namespace graphgate::fuzz
