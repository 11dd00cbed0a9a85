#include "optimized/kernels/reordering.h"

#include <algorithm>
#include <array>

#include "optimized/codegen/work.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/scratch.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

Tensor flipped(Tensor self, const Sizes& dims) {
  const auto wrapped = wrap_dims(dims, self.rank(), false);
  if (self.rank() == 0) return self;
  for (const std::int64_t dim : wrapped) self = reversed(self, dim);
  return self;
}

// rot90 turns the plane (dims[0], dims[1]) by k quarters: flips and one transposition.
struct Turn {
  std::int64_t quarters = 0;
  Sizes dims;
};
Turn turn_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Sizes dims = call.integers("dims");
  if (dims.size() != 2 || self.rank() < 2) {
    throw OpError("rot90: " + print_sizes(dims) + " is no plane of " + print_sizes(self.sizes));
  }
  return {(call.integer("k") % 4 + 4) % 4, wrap_dims(dims, self.rank(), false)};
}
Tensor turned(const Tensor& self, const Turn& turn) {
  if (turn.quarters == 0) return self;
  if (turn.quarters == 2) return flipped(self, turn.dims);
  const Tensor flip = reversed(self, turn.dims[turn.quarters == 1 ? 1 : 0]);
  return transposed(flip, turn.dims[0], turn.dims[1]);
}

struct Shift {
  std::int64_t dim = 0;
  std::int64_t start = 0;  // the index of self that comes first
};

// One shift for each of dims; without dims, one along the flattened tensor (dim is then -1).
std::vector<Shift> shifts_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Sizes shifts = call.integers("shifts");
  const Sizes dims = call.integers("dims");
  const auto start_of = [](std::int64_t shift, std::int64_t size) {
    if (size == 0) return std::int64_t{0};
    const std::int64_t start = (size - shift % size) % size;
    return start < 0 ? start + size : start;
  };
  if (shifts.empty()) throw OpError("roll: no shifts");
  if (dims.empty() && shifts.size() == 1) return {{-1, start_of(shifts[0], self.count())}};
  if (dims.size() != shifts.size()) {
    throw OpError("roll: " + print_sizes(shifts) + " for dimensions " + print_sizes(dims));
  }
  std::vector<Shift> out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (self.rank() == 0) throw OpError("roll: the tensor has no dimensions");
    const std::int64_t dim = wrap_dim(dims[i], self.rank());
    out.push_back({dim, start_of(shifts[i], self.sizes[at(dim)])});
  }
  return out;
}

// Copies the two parts of `source` along each shifted dimension: 2^n blocks. One shift a dimension.
void add_blocks(const DeviceListener* listener, const Tensor& target, const Tensor& source,
                std::span<const Shift> shifts, std::vector<Launch>& copies) {
  if (shifts.empty()) return copies.push_back(copy_launch(listener, target, source));
  const auto [dim, start] = shifts.front();
  const std::int64_t tail = source.sizes[at(dim)] - start;
  add_blocks(listener, narrowed(target, dim, 0, tail), narrowed(source, dim, start, tail),
             shifts.subspan(1), copies);
  if (start == 0) return;
  add_blocks(listener, narrowed(target, dim, tail, start), narrowed(source, dim, 0, start),
             shifts.subspan(1), copies);
}

std::vector<Shift> merged(const std::vector<Shift>& shifts, const Tensor& self) {
  std::vector<Shift> out;
  for (const Shift& shift : shifts) {
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const Shift& other) { return other.dim == shift.dim; });
    if (same == out.end()) {
      out.push_back(shift);
    } else if (const std::int64_t size = self.sizes[at(shift.dim)]; size > 0) {
      same->start = (same->start + shift.start) % size;
    }
  }
  return out;
}

// Through two row-major copies, so that self and result may have any strides.
Launch roll_flattened(const Binding& call, Shift shift) {
  const Tensor& self = call.tensor("self");
  std::byte* workspace = call.workspace();
  const Tensor before = scratch_tensor(self.dtype, self.sizes, workspace);
  const Tensor after = scratch_tensor(self.dtype, self.sizes, workspace);
  const Sizes flat = {self.count()};
  shift.dim = 0;
  std::vector<Launch> copies = {copy_launch(call.listener(), before, self)};
  add_blocks(call.listener(), viewed(after, flat), viewed(before, flat), {&shift, 1}, copies);
  copies.push_back(copy_launch(call.listener(), call.result(), after));
  return in_turn(std::move(copies));
}

}  // namespace

// channels_last where every input is, else row-major.
spec::MemoryFormat common_format(std::span<const Tensor* const> tensors) {
  const spec::MemoryFormat first = suggested_format(*tensors.front());
  const bool agree = std::all_of(tensors.begin(), tensors.end(), [first](const Tensor* tensor) {
    return suggested_format(*tensor) == first;
  });
  return agree ? first : spec::MemoryFormat::kContiguous;
}

void infer_flip(Inference& call) {
  const Tensor& self = call.tensor("self");
  (void)wrap_dims(call.integers("dims"), self.rank(), false);
  call.make(self.dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

Launch bind_flip(const Binding& call) {
  return copy_launch(call.listener(), call.result(),
                     flipped(call.tensor("self"), call.integers("dims")));
}

void infer_rot90(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Turn turn = turn_of(call);
  if (turn.quarters == 0) return call.make(self.dtype, self.sizes);
  Tensor dense = self;
  dense.strides = strides_like(self, spec::MemoryFormat::kPreserve);
  if (turn.quarters % 2 != 0) dense = transposed(dense, turn.dims[0], turn.dims[1]);
  call.make(self.dtype, dense.sizes, dense.strides);
}

Launch bind_rot90(const Binding& call) {
  return copy_launch(call.listener(), call.result(), turned(call.tensor("self"), turn_of(call)));
}

// The strides of a roll are those of joining its two parts, for each shift in turn.
void infer_roll(Inference& call) {
  Tensor rolled = call.tensor("self");
  for (const Shift& shift : shifts_of(call)) {
    if (rolled.count() == 0) {
      rolled.strides = strides_like(rolled, spec::MemoryFormat::kPreserve);
    } else if (shift.dim < 0) {
      rolled.strides = row_major_strides(rolled.sizes);
    } else {
      const std::int64_t size = rolled.sizes[at(shift.dim)];
      const Tensor tail = narrowed(rolled, shift.dim, shift.start, size - shift.start);
      const Tensor head = narrowed(rolled, shift.dim, 0, shift.start);
      const std::array<const Tensor*, 2> parts = {&tail, &head};
      rolled.strides = strides_in_format(rolled.sizes, common_format(parts));
    }
  }
  if (shifts_of(call).front().dim < 0) {
    call.want_workspace(2 * scratch_bytes(rolled.dtype, rolled.sizes));
  }
  call.make(rolled.dtype, rolled.sizes, rolled.strides);
}

Launch bind_roll(const Binding& call) {
  const auto shifts = shifts_of(call);
  if (shifts.front().dim < 0) return roll_flattened(call, shifts.front());
  const Tensor& self = call.tensor("self");
  std::vector<Launch> copies;
  add_blocks(call.listener(), call.result(), self, merged(shifts, self), copies);
  return in_turn(std::move(copies));
}

}  // namespace graphgate::optimized
