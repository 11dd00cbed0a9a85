// segment_reduce: sums, means, products and extrema of neighbouring runs along one dimension.
// PyTorch's CPU kernel keeps what it has so far in the dtype itself.
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/ops/contributions.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

Combining segment_reduction(const Call& call) {
  const std::string_view name = call.text("reduce");
  if (name == "max") return Combining::kLargest;
  if (name == "min") return Combining::kSmallest;
  return reduction_of(name);
}

// Where the segments of each row lie: rows of `count` pairs of begin and end along the axis.
struct Segments {
  std::int64_t rows = 1;
  std::int64_t count = 0;
  Sizes sizes;  // of the result, up to the axis
  std::vector<std::int64_t> begins, ends;
};

std::vector<std::int64_t> decided_numbers(const Tensor& tensor) {
  std::vector<std::int64_t> out;
  for (const Whole x : load_index(tensor).data) {
    if (x.undecided) throw Undecidable("where segments end depends on rounding");
    out.push_back(x.value);
  }
  return out;
}

Segments segments_of(const Call& call, const Tensor& data, std::int64_t axis) {
  const TensorRef offsets = call.optional_tensor("offsets");
  const TensorRef lengths = call.optional_tensor("lengths");
  if (call.has("indices")) throw OpError("segment_reduce(): indices are not supported");
  if (!offsets && !lengths) throw OpError("segment_reduce(): wants lengths or offsets");
  const Tensor& given = offsets ? *offsets : *lengths;
  if (given.rank() == 0 || given.rank() > data.rank() || axis != given.rank() - 1) {
    throw OpError("segment_reduce(): Expected axis to be the last dimension of lengths");
  }
  Segments out;
  out.sizes = given.sizes;
  for (std::int64_t d = 0; d < axis; ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (given.sizes[at] != data.sizes[at]) throw OpError("segment_reduce(): sizes do not fit");
    out.rows *= given.sizes[at];
  }
  const std::int64_t stated = given.sizes.back();
  if (offsets && stated < 1) throw OpError("segment_reduce(): offsets must not be empty");
  out.count = offsets ? stated - 1 : stated;
  out.sizes.back() = out.count;
  const std::vector<std::int64_t> numbers = decided_numbers(given);
  const std::int64_t length = data.sizes[static_cast<std::size_t>(axis)];
  for (std::int64_t row = 0; row < out.rows; ++row) {
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < out.count; ++i) {
      const std::int64_t number = numbers[static_cast<std::size_t>(row * stated + i)];
      const std::int64_t begin = offsets ? number : next;
      if (!offsets && number < 0) throw OpError("lengths contains negative value!");
      const std::int64_t end =
          offsets ? numbers[static_cast<std::size_t>(row * stated + i + 1)] : next + number;
      if (begin < 0 || end > length) throw OpError("segment_reduce(): a segment lies outside");
      out.begins.push_back(begin);
      out.ends.push_back(end);
      next = end;
    }
    if (!offsets && !call.boolean("unsafe") && next != length) {
      throw OpError("segment_reduce(): Expected all rows of lengths along axis to sum to the size");
    }
  }
  return out;
}

// What a segment begins with, where nothing is asked for.
double identity_of(Combining reduction) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Combining::kLargest:
      return -kInfinity;
    case Combining::kSmallest:
      return kInfinity;
    case Combining::kProduct:
      return 1;
    case Combining::kSum:
    case Combining::kMean:
      return 0;
  }
  return 0;
}

void segment_reduce(Call& call) {
  const Tensor& data = *call.tensor("data");
  const DType dtype = data.dtype;
  require_floating(call, dtype);
  refuse_float8(call, dtype);
  const Combining reduction = segment_reduction(call);
  const std::int64_t axis = wrap_dim(call.integer("axis"), data.rank());
  const Segments segments = segments_of(call, data, axis);
  const bool has_initial = call.has("initial");
  const double initial =
      round_to_dtype(has_initial ? call.real("initial") : identity_of(reduction), dtype);
  const bool is_mean = reduction == Combining::kMean;
  const Accumulation how{.reduction = is_mean ? Combining::kSum : reduction,
                         .partials = Partials::kOwnDtype};
  Sizes sizes = segments.sizes;
  sizes.insert(sizes.end(), data.sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               data.sizes.end());
  std::int64_t inner = 1;
  for (std::int64_t d = axis + 1; d < data.rank(); ++d) inner *= data.sizes[std::size_t(d)];
  const std::int64_t length = data.sizes[static_cast<std::size_t>(axis)];
  with_real(call.mode(), [&]<class N>() {
    const Array<N> x = load<N>(data, dtype);
    Array<N> out(sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const auto segment = static_cast<std::size_t>(i / inner);
      const std::int64_t row = i / inner / segments.count;
      detail::Slot<N> slot;
      slot.add(N(initial), how, dtype);
      for (std::int64_t at = segments.begins[segment]; at < segments.ends[segment]; ++at) {
        slot.add(x[(row * length + at) * inner + i % inner], how, dtype);
      }
      out[i] = slot.result(how, dtype);
      if (!is_mean) continue;
      const std::int64_t count = segments.ends[segment] - segments.begins[segment];
      if (count > 0) {
        out[i] = held_in(out[i], dtype) / cast(N(static_cast<double>(count)), dtype);
      } else if (!has_initial) {
        out[i] = N(std::numeric_limits<double>::quiet_NaN());
      }
    }
    call.emit(out, dtype);
  });
}

constexpr std::array kSegmentReduceOps = {
    OpBody{"aten.segment_reduce", segment_reduce},
};

}  // namespace

std::span<const OpBody> segment_reduce_ops() { return kSegmentReduceOps; }

}  // namespace graphgate::reference
