#include "optimized/schedule/fuse_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace graphgate::optimized {
namespace {

// Whether an overload of the family has the tag, by the built-in table.
bool is_pointwise_family(std::string_view base) {
  thread_local std::map<std::string, bool, std::less<>> known;
  const auto found = known.find(base);
  if (found != known.end()) return found->second;
  const bool is_pointwise =
      std::ranges::any_of(spec::builtin_op_table().find_by_base_name(base),
                          [](const spec::OpRow* row) { return row->has_tag("pointwise"); });
  known.emplace(base, is_pointwise);
  return is_pointwise;
}

using Operands = SmallVector<const Tensor*, 6>;

void collect(const Item& item, Operands& out) {
  if (const auto* tensor = item.as<Tensor>()) out.push_back(tensor);
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) collect(element, out);
  }
}

Operands operands_of(const TileCall& call) {
  Operands out;
  for (const Item& item : call.arguments) collect(item, out);
  return out;
}

const Item* argument(const TileCall& call, std::string_view name) {
  const auto index = call.row->schema.find_argument(name);
  return index ? &call.arguments[*index] : nullptr;
}

// The least of the dimensions that the op works over, or nothing where it takes all of them.
std::optional<std::int64_t> first_inner_dim(const TileCall& call, std::int64_t rank) {
  const Fusion fusion = call.kernel->fusion;
  if (fusion == Fusion::kLastDim) return rank - 1;
  const Item* item = argument(call, fusion == Fusion::kAlongDim ? "dim" : "normalized_shape");
  if (item == nullptr) return {};
  const auto* list = item->as<Item::List>();
  if (fusion == Fusion::kNormalizedShape) {
    return rank - (list != nullptr ? static_cast<std::int64_t>(list->size()) : 1);
  }
  std::optional<std::int64_t> least;
  const auto take = [&](const Item& element) {
    const auto* dim = element.as<std::int64_t>();
    if (dim == nullptr) return;
    const std::int64_t inner = *dim < 0 ? *dim + rank : *dim;
    least = std::min(least.value_or(inner), inner);
  };
  if (list == nullptr) take(*item);
  for (const Item& element : list != nullptr ? *list : Item::List()) take(element);
  return least;
}

// What the rows of a call are counted over, and the tensors that go with them.
struct Frame {
  Sizes sizes;                // of the leading dimensions, and behind them
  std::int64_t max_lead = 0;  // how many of them may be rows
  Operands operands;
};

std::optional<Frame> frame_of(const TileCall& call, bool pointwise) {
  Frame frame;
  frame.operands = operands_of(call);
  if (pointwise || is_scatter(*call.kernel)) {
    if (call.results.empty()) return {};
    frame.sizes = call.results.front().sizes;
    frame.max_lead = call.results.front().rank();
    return frame;
  }
  if (!is_row_op(*call.kernel)) return {};
  const Sizes* widest = nullptr;
  for (const Tensor* tensor : frame.operands) {
    if (widest == nullptr || tensor->sizes.size() > widest->size()) widest = &tensor->sizes;
  }
  if (widest != nullptr) frame.sizes = *widest;
  const auto rank = static_cast<std::int64_t>(frame.sizes.size());
  const auto first = first_inner_dim(call, rank);
  if (!first || *first < 0) return {};
  frame.max_lead = *first;
  return frame;
}

// The bytes at the first place of the leading dimensions.
ByteRange range_behind(const Tensor& tensor, std::int64_t lead) {
  ByteRange range = byte_range(tensor);
  if (range.begin == range.end) return range;
  for (std::int64_t d = 0; d < lead; ++d) {
    range.end -= (tensor.sizes[at(d)] - 1) * tensor.strides[at(d)] * tensor.item_bytes();
  }
  return range;
}

// The form with dims [0, lead) of the frame as rows, but for `first_row`; `missing` of them stand
// in front of the tensor's own. Nothing where it does not go with the rows at one pitch.
std::optional<RowForm> form_of(const Tensor& tensor, std::int64_t missing, const Sizes& frame,
                               std::int64_t lead) {
  RowForm form;
  form.lead = std::max<std::int64_t>(lead - missing, 0);
  if (form.lead > tensor.rank()) return {};
  bool is_fixed = false;
  std::int64_t expected = 0;  // the stride that continues the walk
  for (std::int64_t i = lead; i-- > 0;) {
    const std::int64_t size = frame[at(i)];
    if (size == 1) continue;
    const std::int64_t own = i - missing;
    const bool present = own >= 0 && tensor.sizes[at(own)] != 1;
    if (present && tensor.sizes[at(own)] != size) return {};
    const std::int64_t stride = present ? tensor.strides[at(own)] : 0;
    if (stride == 0) {
      if (form.pitch != 0) return {};
      is_fixed = true;
      continue;
    }
    if (is_fixed || (form.pitch != 0 && stride != expected)) return {};
    if (form.pitch == 0) form.pitch = stride;
    expected = stride * size;
  }
  return form;
}

// Visits each tensor of the call with its form, which lacks `first_row`. False where one has none.
template <class Visit>
bool for_each_form(const TileCall& call, const Frame& frame, std::int64_t lead, Visit&& visit) {
  const auto rank = static_cast<std::int64_t>(frame.sizes.size());
  for (const Tensor* tensor : frame.operands) {
    if (tensor->rank() > rank) return false;
    const auto form = form_of(*tensor, rank - tensor->rank(), frame.sizes, lead);
    if (!form) return false;
    visit(*tensor, *form);
  }
  for (const Tensor& tensor : call.results) {
    const auto form = form_of(tensor, 0, frame.sizes, lead);
    const auto prefix = std::min(lead, tensor.rank());
    const bool is_whole =
        form && prefix == lead &&
        std::equal(frame.sizes.begin(), frame.sizes.begin() + lead, tensor.sizes.begin());
    if (!is_whole) return false;
    visit(tensor, *form);
  }
  return true;
}

std::int64_t rows_of(const Frame& frame, std::int64_t lead) {
  std::int64_t rows = 1;
  for (std::int64_t d = 0; d < lead; ++d) rows *= frame.sizes[at(d)];
  return rows;
}

// The dimension that has the rows of a tile, if any has: the last that is made of rows.
std::optional<std::size_t> carrier_of(const Tensor& tensor, const RowForm& form) {
  for (std::size_t d = at(form.lead); d-- > 0;) {
    if (tensor.sizes[d] != 1) return d;
  }
  return {};
}

}  // namespace

RowCounts possible_rows(const TileCall& call, bool pointwise) {
  const auto frame = frame_of(call, pointwise);
  if (!frame || std::ranges::count(frame->sizes, 0) > 0) return {};
  RowCounts out;
  for (std::int64_t lead = 0; lead <= frame->max_lead; ++lead) {
    if (!for_each_form(call, *frame, lead, [](const Tensor&, const RowForm&) {})) break;
    const std::int64_t rows = rows_of(*frame, lead);
    if (out.empty() || out.back() != rows) out.push_back(rows);
  }
  return out;
}

RowCounts rows_of_both(const RowCounts& a, const RowCounts& b) {
  RowCounts out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

std::vector<FormedTensor> forms_at(const TileCall& call, bool pointwise, std::int64_t rows) {
  const auto frame = frame_of(call, pointwise);
  GRAPHGATE_CHECK(frame.has_value());
  for (std::int64_t lead = 0; lead <= frame->max_lead; ++lead) {
    if (rows_of(*frame, lead) != rows) continue;
    std::vector<FormedTensor> out;
    out.reserve(frame->operands.size() + call.results.size());
    const bool all = for_each_form(call, *frame, lead, [&](const Tensor& tensor, RowForm form) {
      form.first_row = range_behind(tensor, form.lead);
      out.push_back({&tensor, form});
    });
    GRAPHGATE_CHECK(all);
    return out;
  }
  GRAPHGATE_CHECK(false);
  return {};
}

Tensor tile_of(Tensor tensor, const RowForm& form, std::int64_t rows, std::int64_t tile_rows,
               std::int64_t pitch) {
  if (rows == 1) return tensor;
  if (const auto d = carrier_of(tensor, form)) {
    tensor.sizes = tile_sizes(tensor, form, rows, tile_rows);
    tensor.strides[*d] = form.pitch == 0 ? 0 : pitch;
  }
  return tensor;
}

Sizes tile_sizes(const Tensor& tensor, const RowForm& form, std::int64_t rows,
                 std::int64_t tile_rows) {
  Sizes sizes = tensor.sizes;
  const auto d = carrier_of(tensor, form);
  if (rows == 1 || !d) return sizes;
  std::fill_n(sizes.begin(), form.lead, 1);
  sizes[*d] = tile_rows;
  return sizes;
}

bool is_pointwise(const spec::OpRow& row, const Kernel& kernel) {
  if (kernel.bind == nullptr || row.has_tag("nondeterministic_seeded")) return false;
  if (row.has_tag("pointwise")) return true;
  if (kernel.fusion == Fusion::kPointwise) return true;
  // add_ and add.out are what add is.
  return kernel.overlap == Overlap::kSameGeometry && row.effects.mutates() &&
         is_pointwise_family(kernel.base_name);
}

bool is_row_op(const Kernel& kernel) {
  return kernel.fusion == Fusion::kAlongDim || kernel.fusion == Fusion::kNormalizedShape ||
         kernel.fusion == Fusion::kLastDim;
}

bool is_scatter(const Kernel& kernel) { return kernel.fusion == Fusion::kScatter; }

}  // namespace graphgate::optimized
