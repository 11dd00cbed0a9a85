// segment_reduce: reductions of neighbouring runs along one dimension, whose lengths a tensor
// tells. It runs on the host: where a run ends depends on all lengths before it.
#include <limits>

#include "optimized/arithmetic/sum.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

enum class SegmentKind : std::uint8_t { kTotal, kMean, kMultiplied, kGreatest, kLeast };

SegmentKind segment_kind(const KernelCall& call) {
  const std::string_view name = call.text("reduce");
  if (name == "sum") return SegmentKind::kTotal;
  if (name == "mean") return SegmentKind::kMean;
  if (name == "prod") return SegmentKind::kMultiplied;
  if (name == "max" || name == "amax") return SegmentKind::kGreatest;
  if (name == "min" || name == "amin") return SegmentKind::kLeast;
  throw OpError("segment_reduce has no reduction '" + std::string(name) + "'");
}

// Which tensor tells where segments lie, and of how many.
struct SegmentPlan {
  Tensor told;
  bool are_offsets = false;
  std::int64_t count = 0;
  std::int64_t axis = 0;
};

SegmentPlan segment_plan(const KernelCall& call) {
  const Tensor& data = call.tensor("data");
  const Tensor* lengths = call.optional_tensor("lengths");
  const Tensor* offsets = call.optional_tensor("offsets");
  if (call.has("indices")) throw OpError("segment_reduce takes no indices");
  if (!lengths && !offsets) throw OpError("segment_reduce wants lengths or offsets");
  if (!spec::is_floating_point(data.dtype) || spec::item_size_bytes(data.dtype) == 1) {
    throw OpError("segment_reduce is not for " + std::string(spec::torch_name(data.dtype)));
  }
  SegmentPlan out;
  out.told = offsets ? *offsets : *lengths;
  out.are_offsets = offsets != nullptr;
  out.axis = wrap_dim(call.integer("axis"), data.rank());
  if (out.told.dtype != DType::kInt64 && out.told.dtype != DType::kInt32) {
    throw OpError("segments are told by integers");
  }
  const std::int64_t rank = out.told.rank();
  bool fits = rank > 0 && rank <= data.rank() && out.axis == rank - 1;
  for (std::int64_t d = 0; fits && d < out.axis; ++d) fits = out.told.size(d) == data.size(d);
  if (!fits || (out.are_offsets && out.told.size(-1) == 0)) {
    throw OpError("segments of sizes " + print_sizes(out.told.sizes) + " do not fit axis " +
                  std::to_string(out.axis) + " of " + print_sizes(data.sizes));
  }
  out.count = out.told.size(-1) - (out.are_offsets ? 1 : 0);
  return out;
}

void infer_segments(Inference& call) {
  const Tensor& data = call.tensor("data");
  const SegmentPlan plan = segment_plan(call);
  (void)segment_kind(call);
  Sizes sizes = data.sizes;
  sizes[at(plan.axis)] = plan.count;
  call.make(data.dtype, std::move(sizes));
}

template <class C>
struct SegmentReduction {
  SegmentKind kind;
  std::optional<C> initial;

  // Of n elements.
  C operator()(const C* x, std::int64_t n) const {
    switch (kind) {
      case SegmentKind::kTotal:
        return initial.value_or(C(0)) + ordered_sum(x, n);
      case SegmentKind::kMean: {
        if (n == 0) return initial.value_or(std::numeric_limits<C>::quiet_NaN());
        return (initial.value_or(C(0)) + ordered_sum(x, n)) / static_cast<C>(n);
      }
      case SegmentKind::kMultiplied: {
        C product = initial.value_or(C(1));
        for (std::int64_t i = 0; i < n; ++i) product *= x[i];
        return product;
      }
      case SegmentKind::kGreatest:
        return extremum(x, n, C(1));
      case SegmentKind::kLeast:
        return extremum(x, n, C(-1));
    }
    return C(0);
  }

  // NaN wins.
  C extremum(const C* x, std::int64_t n, C sign) const {
    const C first = sign * initial.value_or(-sign * std::numeric_limits<C>::infinity());
    const C rest = greatest_of<C>(n, [&](std::int64_t i) { return sign * x[i]; });
    return sign * (rest > first || rest != rest ? rest : first);
  }
};

// Of a row of what the tensor tells, the segments' begins and ends along an axis of `length`.
std::vector<std::pair<std::int64_t, std::int64_t>> segments_in(
    const std::vector<std::int64_t>& told, bool are_offsets, bool must_fill, std::int64_t length) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  std::int64_t next = are_offsets ? told.front() : 0;
  for (std::size_t i = are_offsets ? 1 : 0; i < told.size(); ++i) {
    if (!are_offsets && told[i] < 0) throw OpError("a segment has a negative length");
    const std::int64_t end = are_offsets ? told[i] : next + told[i];
    if (next < 0 || end > length) throw OpError("a segment does not lie in the tensor");
    out.emplace_back(next, std::max(next, end));
    next = end;
  }
  if (must_fill && next != length) throw OpError("the segments do not fill the axis");
  return out;
}

Launch bind_segments(const Binding& call) {
  const Tensor& data = call.tensor("data");
  const SegmentPlan plan = segment_plan(call);
  // Rows along the axis: the elements behind it are the innermost of what is counted.
  return with_real(data.dtype, [&]<class C>() -> Launch {
    SegmentReduction<C> reduce{segment_kind(call), {}};
    if (call.has("initial")) {
      C first = number_as<C>(call.item("initial"));
      round_values<C>(data.dtype, &first, 1);
      reduce.initial = first;
    }
    std::int64_t inner = 1;
    for (std::int64_t d = plan.axis + 1; d < data.rank(); ++d) inner *= data.size(d);
    return [from = Rows(data, {plan.axis}), to = Rows(call.result(), {plan.axis}),
            told = Rows(plan.told, {plan.axis}), are_offsets = plan.are_offsets,
            must_fill = !plan.are_offsets && !call.boolean("unsafe"), result = call.result(),
            dtype = data.dtype, inner, reduce] {
      std::vector<C> row(at(from.length()));
      std::vector<C> out(at(to.length()));
      std::vector<std::int64_t> numbers(at(told.length()));
      for (std::int64_t t = 0; t < told.count(); ++t) {
        told.template load<std::int64_t>(t, numbers.data());
        const auto segments = segments_in(numbers, are_offsets, must_fill, from.length());
        for (std::int64_t r = t * inner; r < (t + 1) * inner; ++r) {
          from.template load<C>(r, row.data());
          for (std::size_t s = 0; s < segments.size(); ++s) {
            const auto [begin, end] = segments[s];
            out[s] = reduce(row.data() + begin, end - begin);
          }
          store_row<C>(result, to, r, dtype, out.data());
        }
      }
    };
  });
}

}  // namespace

std::span<const Kernel> segment_reduce_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.segment_reduce", infer_segments, bind_segments},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
