// Counting and locating numbers in bins: histc, bincount, bucketize, searchsorted.
//
// Which bin a number falls into jumps at the edges. In an oracle run a number too near to an edge
// counts in its bin with a radius of 1, and with the same radius in the bins it might belong to.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/ops/contributions.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

long double center_of(double x) { return static_cast<long double>(x); }
template <class P>
long double center_of(const Tracked<P>& x) {
  return x.value;
}

// 1 or 0, when the oracle cannot tell which of the two.
double open_count(double count, double) { return count; }
template <class P>
Tracked<P> open_count(double count, const Tracked<P>& like) {
  return {static_cast<long double>(count), 1, like.arithmetic};
}

// A constant in the arithmetic of a number, so that what is computed from it rounds.
double in_arithmetic_of(double, double constant) { return constant; }
template <class P>
Tracked<P> in_arithmetic_of(const Tracked<P>& like, const Tracked<P>& constant) {
  return {constant.value, constant.radius, like.arithmetic};
}

// ---- histc ------------------------------------------------------------------------------------

// The range of the data when none is given (min == max), one more on each side when it is empty.
template <class N>
struct Range {
  N low, high;
  bool is_of_data = false;  // nothing lies outside
};

template <class N>
Range<N> histogram_range(const Call& call, const Array<N>& data, DType dtype) {
  N low = number<N>(call.datum("min"), dtype);
  N high = number<N>(call.datum("max"), dtype);
  if (data.count() > 0) {
    low = in_arithmetic_of(data[0], low);
    high = in_arithmetic_of(data[0], high);
  }
  const bool is_of_data = center_of(low) == center_of(high) && data.count() > 0;
  if (is_of_data) {
    low = data[0];
    high = data[0];
    for (const N& x : data.data) {
      low = minimum(low, x);
      high = maximum(high, x);
    }
  }
  if (center_of(low) == center_of(high)) {
    low = low - N(1.0);
    high = high + N(1.0);
  }
  if (!std::isfinite(center_of(low)) || !std::isfinite(center_of(high))) {
    throw OpError("histc: the range is not finite");
  }
  if (center_of(low) > center_of(high)) throw OpError("histc: max must be larger than min");
  return {low, high, is_of_data};
}

// Bins of one width over [low, high], both numbers of the dtype.
template <class N>
struct Bins {
  N low, high;
  std::int64_t count;
  DType dtype;
  bool hold_all;  // whether no number lies outside of the range

  // Where a number lies, counted in bins: computed in the dtype, as PyTorch's kernel does. Which
  // bin that is can differ from what a comparison with the edges would say.
  [[nodiscard]] N position(const N& x) const {
    const N bins(round_to_dtype(static_cast<double>(count), dtype));
    const N scaled = held_in(held_in(x - low, dtype) * bins, dtype);
    return held_in(scaled / held_in(high - low, dtype), dtype);
  }
};

// What one number sends to the bins.
template <class N>
struct Votes {
  std::vector<Picked> bins;
  std::vector<N> counts;
  void add(std::int64_t bin, const N& count) {
    bins.push_back({bin, false});
    counts.push_back(count);
  }
};

// A number that may lie outside of the range may count or not.
template <class N>
void vote(const N& x, const Bins<N>& bins, Votes<N>& votes) {
  const long double value = center_of(x);
  const bool is_between = value >= center_of(bins.low) && value <= center_of(bins.high);
  const bool is_inside = bins.hold_all ? !std::isnan(value) : is_between;
  const bool may_leave = !bins.hold_all && (less(x, bins.low) | less(bins.high, x)).undecided;
  const bool may_count = is_inside || may_leave || is_nan(x).undecided;
  const bool is_sure = is_inside && !may_leave && !is_nan(x).undecided;
  if (!may_count) return;
  const N position = bins.position(x);
  const std::int64_t whole = to_whole(center_of(position)).value;
  const std::int64_t bin = std::clamp<std::int64_t>(whole, 0, bins.count - 1);
  // Edges on either side that the number may lie beyond.
  const auto is_open = [&](std::int64_t edge) {
    return edge > 0 && edge < bins.count && less(position, N(static_cast<double>(edge))).undecided;
  };
  std::int64_t lowest = bin;
  while (is_open(lowest)) --lowest;
  std::int64_t highest = bin;
  while (is_open(highest + 1)) ++highest;
  for (std::int64_t b = lowest; b <= highest; ++b) {
    const double one = b == bin && is_inside ? 1 : 0;
    votes.add(b, lowest == highest && is_sure ? N(one) : open_count(one, x));
  }
}

// Numbers outside the range and NaN do not count; the last bin has both of its edges.
void histc(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t bins = call.integer("bins");
  if (!spec::is_floating_point(self.dtype)) throw OpError("histc wants a floating dtype");
  if (bins <= 0) throw OpError("histc: bins must be > 0");
  const TensorRef counts = new_tensor(self.dtype, {bins}, self.device);
  with_real(call.mode(), [&]<class N>() {
    const Array<N> data = load<N>(self, self.dtype);
    const Range<N> range = histogram_range(call, data, self.dtype);
    const Bins<N> all{cast(range.low, self.dtype), cast(range.high, self.dtype), bins, self.dtype,
                      range.is_of_data};
    Votes<N> votes;
    for (const N& x : data.data) vote(x, all, votes);
    accumulate(*counts, votes.bins, votes.counts, {Combining::kSum, Partials::kOwnDtype});
  });
  emit_made(call, counts);
}

// ---- bincount ---------------------------------------------------------------------------------

void bincount(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() != 1 || spec::is_floating_point(self.dtype)) {
    throw OpError("bincount only supports 1-d non-negative integral inputs.");
  }
  const Array<Whole> values = load<Whole>(self, DType::kInt64);
  std::int64_t size = call.integer("minlength");
  if (size < 0) throw OpError("minlength should be >= 0");
  std::vector<Picked> picked;
  bool undecided = false;
  for (const Whole value : values.data) {
    if (value.value < 0) throw OpError("bincount only supports 1-d non-negative integral inputs.");
    if (value.value >= kMostElements) throw OpError("bincount: a value is too large");
    size = std::max(size, value.value + 1);
    picked.push_back({value.value, value.undecided});
    undecided = undecided || value.undecided;
  }
  const TensorRef weights = call.optional_tensor("weights");
  if (weights && weights->sizes != self.sizes) {
    throw OpError("weights should be 1-d and have the same length as input");
  }
  const bool weighted = weights && values.count() > 0;
  const DType real =
      weights && weights->dtype == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  const TensorRef counts = new_tensor(weighted ? real : DType::kInt64, {size}, self.device);
  with_number(call.mode(), counts->dtype, [&]<class N>() {
    std::vector<N> terms(picked.size(), N(1));
    if (weighted) terms = load<N>(*weights, counts->dtype).data;
    accumulate(*counts, picked, terms, {});
  });
  if (undecided) mark_all_unknown(*counts);
  emit_made(call, counts);
}

// ---- searchsorted and bucketize ---------------------------------------------------------------

// The first place in [begin, begin + length) whose boundary is not below x (with `right`: is above
// x), by bisection, so that NaN goes to the end.
template <class N>
Whole place_of(const N& x, const Array<N>& boundaries, const std::vector<std::int64_t>& order,
               std::int64_t begin, std::int64_t length, bool right) {
  std::int64_t low = 0;
  std::int64_t high = length;
  bool undecided = false;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::int64_t at = begin + order[static_cast<std::size_t>(begin + middle)];
    const Whole below = less(boundaries[at], x);
    const Whole above = less(x, boundaries[at]);
    const Whole stays = right ? above : select(is_nan(x), Whole(0), logical_not(below));
    undecided = undecided || stays.undecided;
    if (stays.value != 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {low, undecided};
}

// The order that `sorter` gives to each row, or the order there is.
std::vector<std::int64_t> row_order(const Call& call, const Tensor& boundaries) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(boundaries.count()));
  const std::int64_t length = boundaries.sizes.back();
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::int64_t>(i) % std::max<std::int64_t>(length, 1);
  }
  const TensorRef sorter = call.optional_tensor("sorter");
  if (!sorter) return order;
  if (sorter->sizes != boundaries.sizes) throw OpError("boundary and sorter must have one size");
  const Array<Whole> given = load_index(*sorter);
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = checked_index(given.data[i], length, boundaries.rank() - 1, Negative::kRefused);
  }
  return order;
}

bool wants_right(const Call& call) {
  const bool right = call.boolean("right");
  if (!call.has("side")) return right;
  const std::string_view side = call.text("side");
  if (side != "left" && side != "right") throw OpError("side can only be 'left' or 'right'");
  if (right && side == "left") throw OpError("side and right can't be set to opposites");
  return side == "right";
}

void search(Call& call, std::string_view boundaries_name) {
  const Tensor& boundaries = *call.tensor(boundaries_name);
  const Datum& value = call.datum("self");
  const auto* values = value.as<TensorRef>();
  const Sizes sizes = values ? (*values)->sizes : Sizes{};
  if (boundaries.rank() == 0) throw OpError("boundaries must have dimensions");
  const bool one_row = boundaries.rank() == 1;
  Sizes rows = boundaries.sizes;
  if (!one_row && !sizes.empty()) rows.back() = sizes.back();
  if (!one_row && rows != sizes) throw OpError("boundaries and values differ in their first sizes");
  const std::array<Datum, 2> operands = {Datum{call.tensor(boundaries_name)}, value};
  const DType dtype = result_type(operands);
  const bool right = wants_right(call);
  const std::vector<std::int64_t> order = row_order(call, boundaries);
  Array<Whole> out(sizes);
  with_number(call.mode(), dtype, [&]<class N>() {
    const Array<N> edges = load<N>(boundaries, dtype);
    const Array<N> in = values ? load<N>(**values, dtype) : Array<N>({}, number<N>(value, dtype));
    const std::int64_t length = boundaries.sizes.back();
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const std::int64_t begin = one_row ? 0 : i / sizes.back() * length;
      out[i] = place_of(in[i], edges, order, begin, length, right);
    }
  });
  call.emit(out, call.boolean("out_int32") ? DType::kInt32 : DType::kInt64);
}

void bucketize(Call& call) { search(call, "boundaries"); }
void searchsorted(Call& call) { search(call, "sorted_sequence"); }

constexpr std::array kHistogramOps = {
    OpBody{"aten.bincount", bincount},
    OpBody{"aten.bucketize", bucketize},
    OpBody{"aten.histc", histc},
    OpBody{"aten.searchsorted", searchsorted},
};

}  // namespace

std::span<const OpBody> histogram_ops() { return kHistogramOps; }

}  // namespace graphgate::reference
