#include "optimized/kernels/view_geometry.h"

#include <algorithm>
#include <limits>

namespace graphgate::optimized {
namespace {

// `dim` as an index; a scalar has none.
std::size_t dim_of(const Tensor& self, std::int64_t dim, const char* what) {
  if (self.rank() == 0) throw OpError(std::string(what) + " of a tensor without dimensions");
  return at(wrap_dim(dim, self.rank()));
}

void erase_dim(Tensor& tensor, std::size_t dim) {
  tensor.sizes.erase(tensor.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  tensor.strides.erase(tensor.strides.begin() + static_cast<std::ptrdiff_t>(dim));
}

// Gives the dimensions of `sizes` that end before `last`, from the last backwards, the strides that
// walk `count` evenly spaced elements. False when they do not divide up so.
bool spread(const Sizes& sizes, std::size_t& last, std::int64_t count, std::int64_t stride,
            Sizes& strides) {
  std::int64_t covered = 1;
  while (last > 0 && (covered < count || sizes[last - 1] == 1)) {
    --last;
    strides[last] = covered * stride;
    covered *= sizes[last];
  }
  return covered == count;
}

Tensor widened(Tensor out, std::int64_t ratio) {
  const auto divide = [ratio](std::int64_t& number) {
    if (number % ratio != 0) throw OpError("view: items of the wider dtype would not be aligned");
    number /= ratio;
  };
  divide(out.sizes.back());
  divide(out.offset);
  for (std::size_t d = 0; d + 1 < out.strides.size(); ++d) divide(out.strides[d]);
  return out;
}

}  // namespace

Sizes infer_sizes(const Sizes& wanted, std::int64_t count) {
  Sizes out = wanted;
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& size : out) {
    if (size == -1 && open) throw OpError("only one size can be inferred: " + print_sizes(wanted));
    if (size == -1) open = &size;
    if (size < -1) throw OpError("a size is negative: " + print_sizes(wanted));
    if (size != -1 && __builtin_mul_overflow(known, size, &known)) {
      throw OpError("too many elements: " + print_sizes(wanted));
    }
  }
  if (open && known == 0 && count == 0) {
    throw OpError("the size to infer in " + print_sizes(wanted) + " is ambiguous");
  }
  if (open && known != 0 && count % known == 0) {
    *open = count / known;
    return out;
  }
  if (open || known != count) {
    throw OpError(std::to_string(count) + " elements do not make the sizes " + print_sizes(wanted));
  }
  return out;
}

std::optional<Sizes> view_strides(const Tensor& self, const Sizes& sizes) {
  if (self.count() == 0) return self.sizes == sizes ? self.strides : row_major_strides(sizes);
  Sizes strides(sizes.size(), 1);
  std::size_t last = sizes.size();
  // Dimensions of self that lie evenly one in the other make one run; new dimensions divide a run.
  std::int64_t run = 1;
  std::int64_t stride = self.rank() == 0 ? 1 : self.strides.back();
  for (std::size_t d = self.sizes.size(); d-- > 0;) {
    run *= self.sizes[d];
    const bool goes_on = d > 0 && (self.sizes[d - 1] == 1 || self.strides[d - 1] == run * stride);
    if (goes_on) continue;
    if (!spread(sizes, last, run, stride, strides)) return std::nullopt;
    if (d > 0) stride = self.strides[d - 1];
    run = 1;
  }
  return strides;
}

Tensor viewed(const Tensor& self, const Sizes& sizes) {
  Tensor out = self;
  out.sizes = infer_sizes(sizes, self.count());
  auto strides = view_strides(self, out.sizes);
  if (!strides) {
    throw OpError("sizes " + print_sizes(self.sizes) + " with strides " +
                  print_sizes(self.strides) + " have no view of sizes " + print_sizes(out.sizes));
  }
  out.strides = std::move(*strides);
  return out;
}

Tensor viewed_as(const Tensor& self, spec::DType dtype) {
  Tensor out = self;
  out.dtype = dtype;
  const std::int64_t from = self.item_bytes();
  const std::int64_t to = out.item_bytes();
  if (from == to) return out;
  if (self.rank() == 0) throw OpError("view: a scalar cannot change its item size");
  if (self.strides.back() != 1) {
    throw OpError("view: the last stride must be 1 to change the item size");
  }
  if (to > from) return widened(std::move(out), to / from);
  const std::int64_t ratio = from / to;
  out.sizes.back() *= ratio;
  out.offset *= ratio;
  for (std::size_t d = 0; d + 1 < out.strides.size(); ++d) out.strides[d] *= ratio;
  return out;
}

Tensor permuted(const Tensor& self, const Sizes& dims) {
  if (dims.size() != self.sizes.size()) {
    throw OpError("permute: " + print_sizes(dims) + " does not order " +
                  std::to_string(self.rank()) + " dimensions");
  }
  Tensor out = self;
  const auto order = wrap_dims(dims, self.rank(), false);
  for (std::size_t d = 0; d < order.size(); ++d) {
    out.sizes[d] = self.sizes[at(order[d])];
    out.strides[d] = self.strides[at(order[d])];
  }
  return out;
}

Tensor transposed(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  Tensor out = self;
  const auto a = at(wrap_dim(dim0, self.rank()));
  const auto b = at(wrap_dim(dim1, self.rank()));
  if (self.rank() == 0) return out;
  std::swap(out.sizes[a], out.sizes[b]);
  std::swap(out.strides[a], out.strides[b]);
  return out;
}

Tensor expanded(const Tensor& self, const Sizes& sizes) {
  Tensor out = self;
  const std::size_t rank = self.sizes.size();
  if (sizes.size() < rank) {
    throw OpError("expand: " + print_sizes(sizes) + " has fewer dimensions than " +
                  print_sizes(self.sizes));
  }
  const std::size_t added = sizes.size() - rank;
  out.sizes = sizes;
  out.strides.assign(sizes.size(), 0);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const bool is_new = d < added;
    const std::int64_t old = is_new ? 1 : self.sizes[d - added];
    if (sizes[d] == -1 && !is_new) out.sizes[d] = old;
    if (out.sizes[d] < 0) throw OpError("expand: a size of " + print_sizes(sizes) + " is negative");
    if (out.sizes[d] != old) {
      if (old == 1) continue;
      throw OpError("expand: " + print_sizes(self.sizes) + " does not stretch to " +
                    print_sizes(sizes));
    }
    if (!is_new) out.strides[d] = self.strides[d - added];
    if (is_new && rank > 0) out.strides[d] = out.sizes[d + 1] * out.strides[d + 1];
  }
  return out;
}

Tensor squeezed(const Tensor& self, const std::vector<std::int64_t>& dims) {
  Tensor out = self;
  for (std::size_t d = self.sizes.size(); d-- > 0;) {
    const bool named =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    if (named && self.sizes[d] == 1) erase_dim(out, d);
  }
  return out;
}

Tensor unsqueezed(const Tensor& self, std::int64_t dim) {
  Tensor out = self;
  const std::int64_t place = wrap_dim(dim, self.rank() + 1);
  const bool is_last = place == self.rank();
  const std::int64_t stride = is_last ? 1 : self.sizes[at(place)] * self.strides[at(place)];
  out.sizes.insert(out.sizes.begin() + place, 1);
  out.strides.insert(out.strides.begin() + place, stride);
  return out;
}

Tensor sliced(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
              std::optional<std::int64_t> end, std::int64_t step) {
  const std::size_t d = dim_of(self, dim, "slice");
  if (step <= 0) throw OpError("slice: the step must be positive");
  const std::int64_t size = self.sizes[d];
  const auto clamped = [size](std::int64_t at, std::int64_t least) {
    return std::clamp(at < 0 ? at + size : at, least, size);
  };
  const std::int64_t first = clamped(start.value_or(0), 0);
  const std::int64_t last = clamped(end.value_or(std::numeric_limits<std::int64_t>::max()), first);
  Tensor out = self;
  out.offset += first * self.strides[d];
  out.sizes[d] = (last - first) / step + ((last - first) % step != 0 ? 1 : 0);
  out.strides[d] *= step;
  return out;
}

Tensor narrowed(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const std::size_t d = dim_of(self, dim, "narrow");
  const std::int64_t size = self.sizes[d];
  const std::int64_t first = start < 0 ? start + size : start;
  if (length < 0 || first < 0 || first > size || length > size - first) {
    throw OpError("narrow: " + std::to_string(length) + " from " + std::to_string(start) +
                  " is outside of size " + std::to_string(size));
  }
  return sliced(self, dim, first, first + length, 1);
}

Tensor selected(const Tensor& self, std::int64_t dim, std::int64_t index) {
  const std::size_t d = dim_of(self, dim, "select");
  const std::int64_t size = self.sizes[d];
  if (index < -size || index >= size) {
    throw OpError("select: index " + std::to_string(index) + " is outside of size " +
                  std::to_string(size));
  }
  Tensor out = self;
  out.offset += (index < 0 ? index + size : index) * self.strides[d];
  erase_dim(out, d);
  return out;
}

Tensor diagonal_of(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const std::size_t a = dim_of(self, dim1, "diagonal");
  const std::size_t b = dim_of(self, dim2, "diagonal");
  if (a == b) throw OpError("diagonal: the two dimensions are the same");
  const std::int64_t rows = self.sizes[a] + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = self.sizes[b] - std::max<std::int64_t>(offset, 0);
  const std::int64_t length = std::max<std::int64_t>(std::min(rows, columns), 0);
  Tensor out = self;
  if (length > 0) {
    out.offset += offset >= 0 ? offset * self.strides[b] : -offset * self.strides[a];
  }
  erase_dim(out, std::max(a, b));
  erase_dim(out, std::min(a, b));
  out.sizes.push_back(length);
  out.strides.push_back(self.strides[a] + self.strides[b]);
  return out;
}

Tensor unfolded(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const std::int64_t d = wrap_dim(dim, self.rank());
  const std::int64_t extent = self.size(d);
  if (size < 0 || size > extent) {
    throw OpError("unfold: a window of " + std::to_string(size) + " over a size of " +
                  std::to_string(extent));
  }
  if (step <= 0) throw OpError("unfold: the step must be positive");
  Tensor out = self;
  out.sizes.push_back(size);
  out.strides.push_back(self.rank() == 0 ? 1 : self.strides[at(d)]);
  if (self.rank() == 0) return out;
  out.sizes[at(d)] = (extent - size) / step + 1;
  out.strides[at(d)] *= step;
  return out;
}

Tensor strided(const Tensor& self, const Sizes& sizes, const Sizes& strides,
               std::optional<std::int64_t> offset) {
  if (sizes.size() != strides.size()) {
    throw OpError("as_strided: sizes " + print_sizes(sizes) + " and strides " +
                  print_sizes(strides) + " differ in length");
  }
  Tensor out = self;
  out.sizes = sizes;
  out.strides = strides;
  out.offset = offset.value_or(self.offset);
  if (std::any_of(strides.begin(), strides.end(), [](auto stride) { return stride < 0; })) {
    throw OpError("as_strided: a stride is negative: " + print_sizes(strides));
  }
  if (out.offset < 0) throw OpError("as_strided: the storage offset is negative");
  (void)out.count();
  return out;
}

Tensor reversed(const Tensor& self, std::int64_t dim) {
  const std::size_t d = dim_of(self, dim, "flip");
  Tensor out = self;
  if (self.sizes[d] > 0) out.offset += (self.sizes[d] - 1) * self.strides[d];
  out.strides[d] = -self.strides[d];
  return out;
}

}  // namespace graphgate::optimized
