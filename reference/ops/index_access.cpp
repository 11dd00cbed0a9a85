#include "reference/ops/index_access.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "reference/movement.h"
#include "reference/ops/view.h"

namespace graphgate::reference {

using spec::DType;

void require_index(const Tensor& index) {
  if (index.dtype == DType::kInt64 || index.dtype == DType::kInt32) return;
  throw OpError("an index must be of dtype int64 or int32");
}

Array<Whole> load_index(const Tensor& index) {
  require_index(index);
  return load<Whole>(index, DType::kInt64);
}

std::int64_t checked_index(Whole index, std::int64_t size, std::int64_t dim, Negative negative) {
  const std::int64_t least = negative == Negative::kWraps ? -size : 0;
  if (index.undecided && size > 0) return std::clamp<std::int64_t>(index.value, 0, size - 1);
  if (index.value < least || index.value >= size) {
    throw OpError("index " + std::to_string(index.value) + " is out of bounds for dimension " +
                  std::to_string(dim) + " with size " + std::to_string(size));
  }
  return index.value < 0 ? index.value + size : index.value;
}

Sizes at_least_1d(const Sizes& sizes) { return sizes.empty() ? Sizes{1} : sizes; }

std::vector<std::int64_t> corner_positions(const Sizes& part, const Sizes& whole) {
  Tensor corner;
  corner.sizes = part;
  corner.strides = spec::contiguous_strides(whole);
  return element_positions(corner);
}

namespace {

// Every element of an index of these sizes, its coordinate along `dim` set to 0: geometry alone.
Tensor along_zero(const Sizes& index, const Sizes& sizes, std::int64_t dim) {
  Tensor base;
  base.sizes = index;
  base.strides = spec::contiguous_strides(sizes);
  base.strides[static_cast<std::size_t>(dim)] = 0;
  return base;
}

}  // namespace

std::vector<Picked> positions_along(const Array<Whole>& index, const Sizes& sizes,
                                    std::int64_t dim) {
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t stride = spec::contiguous_strides(sizes)[d];
  const std::vector<std::int64_t> starts = element_positions(along_zero(index.sizes, sizes, dim));
  std::vector<Picked> picked(starts.size());
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const Whole at = index.data[i];
    const std::int64_t coordinate = checked_index(at, sizes[d], dim, Negative::kRefused);
    picked[i] = {starts[i] + coordinate * stride, at.undecided};
  }
  return picked;
}

PositionsAlong::PositionsAlong(const Tensor& index, const Sizes& sizes, std::int64_t dim)
    : index_(index, DType::kInt64),
      starts_(along_zero(at_least_1d(index.sizes), sizes, dim)),
      size_(sizes[static_cast<std::size_t>(dim)]),
      stride_(spec::contiguous_strides(sizes)[static_cast<std::size_t>(dim)]),
      dim_(dim) {}

void PositionsAlong::next(std::span<Picked> picked) {
  block_.resize(picked.size());
  index_.read(block_);
  std::size_t i = 0;
  starts_.next(std::ssize(picked), [&](std::int64_t start, std::int64_t step, std::int64_t count) {
    for (; count > 0; --count, start += step, ++i) {
      const std::int64_t at = checked_index(block_[i], size_, dim_, Negative::kRefused);
      picked[i] = {start + at * stride_, block_[i].undecided};
    }
  });
}

std::vector<Picked> rows_along(const Sizes& sizes, std::int64_t dim,
                               const std::vector<Whole>& index, Negative negative) {
  const auto d = static_cast<std::size_t>(dim);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < d; ++i) outer *= sizes[i];
  std::int64_t inner = 1;
  for (std::size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
  std::vector<Picked> picked;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const Whole at : index) {
      const std::int64_t start =
          (o * sizes[d] + checked_index(at, sizes[d], dim, negative)) * inner;
      for (std::int64_t i = 0; i < inner; ++i) picked.push_back({start + i, at.undecided});
    }
  }
  return picked;
}

std::vector<std::int64_t> stretched_positions(const Sizes& from, const Sizes& sizes) {
  Tensor row_major;
  row_major.sizes = from;
  row_major.strides = spec::contiguous_strides(from);
  return element_positions(*view_of(row_major, expanded(row_major, sizes)));
}

std::vector<Picked> true_positions(Mode mode, const Tensor& tensor) {
  std::vector<Picked> positions;
  with_number(mode, tensor.dtype, [&]<class N>() {
    const Array<N> elements = load<N>(tensor, tensor.dtype);
    bool undecided = false;
    for (std::int64_t i = 0; i < elements.count(); ++i) {
      const Whole zero = is_zero(elements[i]);
      undecided = undecided || zero.undecided;
      if (zero.value == 0) positions.push_back({i, undecided});
    }
  });
  return positions;
}

bool has_undecided_zero(Mode mode, const Tensor& tensor) {
  bool out = false;
  with_number(mode, tensor.dtype, [&]<class N>() {
    for (const N& element : load<N>(tensor, tensor.dtype).data) {
      out = out || is_zero(element).undecided;
    }
  });
  return out;
}

void require_decided_zeros(Mode mode, const Tensor& tensor) {
  if (has_undecided_zero(mode, tensor)) {
    throw Undecidable("the count of nonzero elements depends on a tie");
  }
}

TensorRef nonzero_of(Mode mode, const Tensor& tensor) {
  const std::vector<Picked> positions = true_positions(mode, tensor);
  const auto count = static_cast<std::int64_t>(positions.size());
  Array<Whole> coordinates({count, tensor.rank()});
  std::int64_t next = 0;
  for (const Picked& picked : positions) {
    std::int64_t rest = picked.position;
    for (std::int64_t d = tensor.rank(); d-- > 0;) {
      const std::int64_t size = tensor.sizes[static_cast<std::size_t>(d)];
      coordinates[next + d] = Whole(rest % size, picked.undecided);
      rest /= size;
    }
    next += tensor.rank();
  }
  TensorRef result = new_tensor(DType::kInt64, coordinates.sizes, {1, count}, tensor.device);
  store(*result, coordinates);
  return result;
}

TensorRef pick_blocks(const Tensor& self, const Sizes& sizes,
                      const std::function<void(std::span<Picked>)>& next) {
  TensorRef result = new_tensor(self.dtype, sizes, self.device);
  const Sizes steps = spec::contiguous_strides(self.sizes);
  const bool is_dense = is_contiguous(self);
  const auto storage_position = [&](std::int64_t position) {
    if (is_dense) return self.offset + position;
    std::int64_t at = self.offset;
    for (std::size_t d = 0; d < steps.size(); ++d) {
      at += position / steps[d] % self.sizes[d] * self.strides[d];
    }
    return at;
  };
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> unknown;
  std::int64_t done = 0;
  for_each_block<Picked>(result->count(), next, [&](std::span<const Picked> picked) {
    from.clear();
    unknown.clear();
    for (const Picked& element : picked) {
      if (element.undecided) unknown.push_back(std::ssize(from));
      from.push_back(storage_position(element.position));
    }
    Tensor part = *result;
    part.sizes = {std::ssize(from)};
    part.strides = {1};
    part.offset = done;
    move_elements(part, self, from);
    mark_unknown(part, unknown);
    done += std::ssize(from);
  });
  return result;
}

TensorRef pick(const Tensor& self, const Sizes& sizes, const std::vector<Picked>& picked,
               Sizes strides) {
  if (strides.empty()) strides = spec::contiguous_strides(sizes);
  TensorRef result = new_tensor(self.dtype, sizes, std::move(strides), self.device);
  // A few rows of a large table must not cost a list of all its elements.
  const bool is_dense = is_contiguous(self);
  const auto stored = is_dense ? std::vector<std::int64_t>() : element_positions(self);
  std::vector<std::int64_t> from(picked.size());
  std::vector<std::int64_t> unknown;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const std::int64_t position = picked[i].position;
    from[i] = is_dense ? self.offset + position : stored[static_cast<std::size_t>(position)];
    if (picked[i].undecided) unknown.push_back(static_cast<std::int64_t>(i));
  }
  move_elements(*result, self, from);
  mark_unknown(*result, unknown);
  return result;
}

namespace {

// What an oracle knows of a stored element.
Mark mark_of(const Tensor& tensor, std::int64_t stored) {
  const std::vector<StoredMark>& marks = tensor.storage->marks;
  if (marks.empty()) return exact_mark(tensor, stored);
  return marks[static_cast<std::size_t>(stored)];
}

// How far from `a` one has to go to reach `b` as well.
double reach_of(const Mark& a, const Mark& b) {
  if (a.value == b.value) return std::max(a.radius, b.radius);
  const double reach = detail::rounded_up(std::fabs(a.value - b.value)) + b.radius;
  return std::isnan(reach) ? detail::kInfinity : std::max(reach, a.radius);
}

// The same of both parts of a complex number, one after the other.
std::vector<std::int64_t> part_positions(const std::vector<std::int64_t>& positions) {
  std::vector<std::int64_t> out;
  for (const std::int64_t position : positions) {
    out.insert(out.end(), {2 * position, 2 * position + 1});
  }
  return out;
}

// For elements that several sources want: the storage positions of these sources.
using Contested = std::map<std::int64_t, std::vector<std::int64_t>>;

// An estimate has nothing to say of a choice: two operands that depend on one choose alike.
void mark_contested(Mode mode, Tensor& target, const Tensor& source, const Contested& contested) {
  if (contested.empty()) return;
  if (spec::is_complex(target.dtype)) {
    Contested parts;
    for (const auto& [position, sources] : contested) {
      for (const std::int64_t part : {0, 1}) {
        for (const std::int64_t at : sources) parts[2 * position + part].push_back(2 * at + part);
      }
    }
    Tensor reals = as_components(target);
    return mark_contested(mode, reals, as_components(source), parts);
  }
  const std::vector<std::int64_t> stored = element_positions(target);
  for (const auto& [position, sources] : contested) {
    Mark mark = mark_of(source, sources.back());
    const Mark last = mark;
    for (const std::int64_t other : sources) {
      mark.radius = std::max(mark.radius, reach_of(last, mark_of(source, other)));
    }
    if (mark.radius == 0) continue;
    if (mode == Mode::kSampled && mark.radius != mark_of(source, sources.back()).radius) {
      mark.radius = detail::kInfinity;
    }
    add_marks(target);
    const auto at = static_cast<std::size_t>(stored[static_cast<std::size_t>(position)]);
    target.storage->marks[at] = mark;
  }
}

}  // namespace

void place(Mode mode, Tensor& target, const std::vector<Picked>& picked, const Tensor& source,
           const std::vector<std::int64_t>& source_positions) {
  const std::vector<std::int64_t> stored = element_positions(source);
  std::vector<std::int64_t> from(static_cast<std::size_t>(target.count()), -1);
  Contested contested;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const std::int64_t position = picked[i].position;
    std::int64_t& wanted = from[static_cast<std::size_t>(position)];
    const std::int64_t found = stored[static_cast<std::size_t>(source_positions[i])];
    if (wanted >= 0 && mode != Mode::kEager) {
      std::vector<std::int64_t>& sources = contested[position];
      if (sources.empty()) sources.push_back(wanted);
      sources.push_back(found);
    }
    wanted = found;
  }
  if (target.storage == source.storage) {
    const TensorRef apart = copy_of(target);
    move_elements(*apart, source, from);
    mark_contested(mode, *apart, source, contested);
    move_all(target, *apart);
    return;
  }
  move_elements(target, source, from);
  mark_contested(mode, target, source, contested);
}

void mark_unknown(Tensor& tensor, const std::vector<std::int64_t>& positions) {
  if (positions.empty()) return;
  if (spec::is_complex(tensor.dtype)) {
    Tensor parts = as_components(tensor);
    return mark_unknown(parts, part_positions(positions));
  }
  add_marks(tensor);
  const std::vector<std::int64_t> stored = element_positions(tensor);
  for (const std::int64_t position : positions) {
    const auto at = static_cast<std::size_t>(stored[static_cast<std::size_t>(position)]);
    tensor.storage->marks[at].set_radius(detail::kInfinity);
  }
}

void mark_all_unknown(Tensor& tensor) {
  if (tensor.count() == 0) return;
  if (spec::is_complex(tensor.dtype)) {
    Tensor parts = as_components(tensor);
    return mark_all_unknown(parts);
  }
  add_marks(tensor);
  for (const std::int64_t stored : element_positions(tensor)) {
    tensor.storage->marks[static_cast<std::size_t>(stored)].set_radius(detail::kInfinity);
  }
}

void mark_lines_unknown(Tensor& target, const std::vector<Picked>& picked, std::int64_t dim) {
  const Sizes sizes = at_least_1d(target.sizes);
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t stride = spec::contiguous_strides(sizes)[d];
  std::vector<std::int64_t> unknown;
  for (const Picked& element : picked) {
    if (!element.undecided) continue;
    const std::int64_t start = element.position - element.position / stride % sizes[d] * stride;
    for (std::int64_t i = 0; i < sizes[d]; ++i) unknown.push_back(start + i * stride);
  }
  mark_unknown(target, unknown);
}

}  // namespace graphgate::reference
