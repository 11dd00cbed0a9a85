#include "optimized/kernels/index_list.h"

#include <numeric>

namespace graphgate::optimized {
namespace {

bool is_mask(const Tensor& index) {
  return index.dtype == spec::DType::kBool || index.dtype == spec::DType::kUInt8;
}

// Calls visit(position) for every element that is not 0, in row-major order.
template <class Visit>
void for_each_nonzero(const Tensor& tensor, Visit&& visit) {
  const std::array<const Tensor*, 1> tensors = {&tensor};
  std::int64_t position = 0;
  const Loop loop = row_major_loop(tensor.sizes, tensors);
  with_compute(tensor.dtype, [&]<class C>() {
    loop.for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
      std::array<C, kTile> tile;
      for (std::int64_t begin = 0; begin < n; begin += kTile) {
        const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
        load_tile<C>(tensor.dtype, at[1] + begin * strides[1], strides[1], length, tile.data());
        for (int i = 0; i < length; ++i, ++position) {
          if (tile[static_cast<std::size_t>(i)] != C{0}) visit(position);
        }
      }
    });
  });
}

void check_mask(const Tensor& self, const Tensor& mask, std::size_t first_dim) {
  for (std::size_t d = 0; d < mask.sizes.size(); ++d) {
    const std::size_t dim = first_dim + d;
    if (dim >= self.sizes.size() || mask.sizes[d] != self.sizes[dim]) {
      throw OpError("the mask has sizes " + print_sizes(mask.sizes) +
                    ", which do not fit the indexed tensor's " + print_sizes(self.sizes) +
                    " from dimension " + std::to_string(first_dim) + " on");
    }
  }
}

void check_index(const Tensor& index) {
  if (!is_mask(index)) check_index_dtype(index);
}

void check_rank(const Tensor& self, std::size_t covered) {
  if (covered > self.sizes.size()) {
    throw OpError("too many indices for a tensor of rank " + std::to_string(self.rank()));
  }
}

// The dimensions of self in the frame's order: indexed ones stay together.
struct Placement {
  std::vector<std::size_t> before, indexed, after;
};

Placement place_dims(const Tensor& self, const IndexList& list) {
  Placement out;
  std::vector<std::size_t> rest;
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    const bool is_indexed = d < list.indices.size() && list.indices[d].has_value();
    (is_indexed ? out.indexed : rest).push_back(d);
  }
  const bool adjacent =
      out.indexed.empty() || out.indexed.back() - out.indexed.front() + 1 == out.indexed.size();
  for (const std::size_t d : rest) {
    const bool is_before = adjacent && !out.indexed.empty() && d < out.indexed.front();
    (is_before ? out.before : out.after).push_back(d);
  }
  return out;
}

void append_dims(Tensor& view, const Tensor& self, const std::vector<std::size_t>& dims) {
  for (const std::size_t d : dims) {
    view.sizes.push_back(self.sizes[d]);
    view.strides.push_back(self.strides[d]);
  }
}

}  // namespace

Coordinates nonzero_coordinates(const Tensor& tensor) {
  Coordinates out;
  std::vector<std::int64_t> positions;
  for_each_nonzero(tensor, [&](std::int64_t position) { positions.push_back(position); });
  out.count = static_cast<std::int64_t>(positions.size());
  const std::size_t rank = tensor.sizes.size();
  out.values.resize(positions.size() * rank);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    std::int64_t left = positions[i];
    for (std::size_t d = rank; d-- > 0;) {
      out.values[d * positions.size() + i] = left % tensor.sizes[d];
      left /= tensor.sizes[d];
    }
  }
  return out;
}

std::int64_t count_nonzero(const Tensor& tensor) {
  std::int64_t count = 0;
  for_each_nonzero(tensor, [&](std::int64_t) { ++count; });
  return count;
}

bool has_mask(std::span<const Tensor* const> indices) {
  return std::any_of(indices.begin(), indices.end(),
                     [](const Tensor* index) { return index && is_mask(*index); });
}

void check_masks(const Tensor& self, std::span<const Tensor* const> indices) {
  std::size_t dim = 0;
  for (const Tensor* index : indices) {
    if (index) check_index(*index);
    if (index && is_mask(*index)) check_mask(self, *index, dim);
    dim += index && is_mask(*index) ? index->sizes.size() : 1;
  }
  check_rank(self, dim);
}

IndexList expand_masks(const Tensor& self, std::span<const Tensor* const> indices) {
  check_masks(self, indices);
  IndexList out;
  for (const Tensor* index : indices) {
    if (!index) {
      out.indices.emplace_back();
    } else if (!is_mask(*index)) {
      out.indices.emplace_back(*index);
    } else {
      Coordinates found = nonzero_coordinates(*index);
      out.owned.push_back(std::move(found.values));
      for (std::int64_t d = 0; d < index->rank(); ++d) {
        Tensor column;
        column.dtype = spec::DType::kInt64;
        column.sizes = {found.count};
        column.strides = {1};
        column.offset = d * found.count;
        column.bytes = reinterpret_cast<std::byte*>(out.owned.back().data());
        out.indices.emplace_back(std::move(column));
      }
    }
  }
  return out;
}

IndexFrame index_frame(const Tensor& self, const IndexList& list) {
  const Placement dims = place_dims(self, list);
  std::vector<const Tensor*> tensors;
  tensors.reserve(dims.indexed.size());
  for (const std::size_t d : dims.indexed) tensors.push_back(&*list.indices[d]);
  const Sizes replacement = broadcast_sizes(tensors);
  IndexFrame out;
  out.indexed = self;
  out.indexed.sizes.clear();
  out.indexed.strides.clear();
  append_dims(out.indexed, self, dims.before);
  for (const std::int64_t size : replacement) {
    out.indexed.sizes.push_back(size);
    out.indexed.strides.push_back(0);
  }
  append_dims(out.indexed, self, dims.after);
  out.sizes = out.indexed.sizes;
  for (const std::size_t d : dims.indexed) {
    if (self.sizes[d] == 0 && checked_count(replacement) != 0) {
      throw OpError("an index is out of range for dimension " + std::to_string(d) + " of size 0");
    }
    Tensor index = broadcast_to(*list.indices[d], replacement);
    index.sizes.insert(index.sizes.end(), dims.after.size(), 1);
    index.strides.insert(index.strides.end(), dims.after.size(), 0);
    out.dims.push_back(indexed_dim(self, static_cast<std::int64_t>(d), std::move(index), true));
  }
  return out;
}

}  // namespace graphgate::optimized
