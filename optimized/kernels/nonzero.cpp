#include "optimized/kernels/nonzero.h"

#include "optimized/codegen/chosen_text.h"
#include "optimized/kernels/index_list.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

constexpr auto kInt64 = spec::DType::kInt64;

void check_rows(std::int64_t found, std::int64_t inferred) {
  if (found == inferred) return;
  throw OpError("the bytes give " + std::to_string(found) + " elements where " +
                std::to_string(inferred) + " were inferred");
}

// A row-major int64 tensor over a vector's numbers.
Tensor tensor_over(std::vector<std::int64_t>& values, Sizes sizes) {
  Tensor out;
  out.dtype = kInt64;
  out.strides = row_major_strides(sizes);
  out.sizes = std::move(sizes);
  out.bytes = reinterpret_cast<std::byte*>(values.data());
  return out;
}

// Element i of `self` repeats[i] times: the indices 0, 0, 1, 2, 2, ...
std::vector<std::int64_t> repeated_indices(const Tensor& repeats, std::int64_t size) {
  const Rows rows(at_least_1d(repeats), {0});
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows.length()));
  if (!counts.empty()) rows.load(0, counts.data());
  if (counts.size() == 1) counts.assign(static_cast<std::size_t>(size), counts[0]);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0) throw OpError("repeats are negative: " + std::to_string(counts[i]));
    out.insert(out.end(), static_cast<std::size_t>(counts[i]), static_cast<std::int64_t>(i));
  }
  return out;
}

// How many elements `repeats` makes, from output_size or from its bytes.
std::int64_t repeated_size(const Inference& call, const Tensor& repeats, std::int64_t size) {
  const auto given = call.optional_integer("output_size");
  if (given && *given < 0) throw OpError("output_size is negative");
  if (!call.has_data()) {
    if (given) return *given;
    Inference::needs_data();
  }
  const auto found = static_cast<std::int64_t>(repeated_indices(repeats, size).size());
  if (given && *given != found) {
    throw OpError("output_size is " + std::to_string(*given) + ", the repeats' sum " +
                  std::to_string(found));
  }
  return found;
}

void check_repeats(const Tensor& repeats) {
  if (repeats.rank() > 1) throw OpError("repeats have rank " + std::to_string(repeats.rank()));
  check_index_dtype(repeats);
}

// self with its elements in one dimension, unless `dim` is given; then that dimension.
struct Repeated {
  Sizes sizes;
  std::int64_t dim = 0;
};
Repeated repeated_sizes(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (!call.has("dim")) return {{self.count()}, 0};
  return {at_least_1d(self).sizes, wrap_dim(call.integer("dim"), self.rank())};
}

std::int64_t& repeated_extent(Repeated& repeated) {
  return repeated.sizes[static_cast<std::size_t>(repeated.dim)];
}

void infer_equal_repeats(Inference& call) {
  Repeated out = repeated_sizes(call);
  const std::int64_t repeats = call.integer("repeats");
  if (repeats < 0) throw OpError("repeats are negative: " + std::to_string(repeats));
  repeated_extent(out) *= repeats;
  const auto given = call.optional_integer("output_size");
  if (given && *given != repeated_extent(out)) {
    throw OpError("output_size is " + std::to_string(*given) + ", the repeats give " +
                  std::to_string(repeated_extent(out)));
  }
  call.make(call.tensor("self").dtype, std::move(out.sizes));
}

// result[..., i * repeats + j, ...] = self[..., i, ...]; the flat form in parts of self's shape.
Launch bind_equal_repeats(const Binding& call) {
  const Tensor self = at_least_1d(call.tensor("self"));
  Tensor target = call.result();
  if (target.count() == 0) return {};
  const std::int64_t dim =
      call.has("dim") ? wrap_dim(call.integer("dim"), self.rank()) : self.rank() - 1;
  const std::int64_t repeats = call.integer("repeats");
  Tensor source = self;
  source.sizes.insert(source.sizes.begin() + dim + 1, repeats);
  source.strides.insert(source.strides.begin() + dim + 1, 0);
  target.sizes = source.sizes;
  target.strides = row_major_strides(source.sizes);
  return copy_launch(call.listener(), target, source);
}

// The loop that reads self by these indices along the repeated dimension.
void read_repeated(const Tensor& self, const Tensor& result, std::vector<std::int64_t>& indices,
                   std::optional<std::int64_t> dim) {
  const auto n = static_cast<std::int64_t>(indices.size());
  if (dim) {
    const Tensor base = at_least_1d(self);
    Tensor index = along_dim(tensor_over(indices, {n}), *dim, base.rank());
    const Tensor indexed = pinned(base, *dim, n);
    return read_cells(nullptr,
                      {indexed.sizes,
                       indexed,
                       {result},
                       {indexed_dim(base, *dim, std::move(index), false)}},
                      self.item_bytes())
        .run();
  }
  Tensor indexed = self;
  indexed.sizes = {n};
  indexed.strides = {0};
  read_cells(
      nullptr,
      {indexed.sizes, indexed, {result}, {indexed_elements(self, tensor_over(indices, {n}))}},
      self.item_bytes())
      .run();
}

}  // namespace

void infer_nonzero(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!call.has_data()) Inference::needs_data();
  const std::int64_t count = count_nonzero(self);
  // Coordinates of one dimension stand together.
  call.make(kInt64, {count, self.rank()}, {1, count});
}

Launch bind_nonzero(const Binding& call) {
  return [self = call.tensor("self"), result = call.result()] {
    Coordinates found = nonzero_coordinates(self);
    check_rows(found.count, result.sizes[0]);
    Tensor columns = tensor_over(found.values, result.sizes);
    columns.strides = {1, found.count};
    copy_now(result, columns);
  };
}

void infer_nonzero_static(Inference& call) {
  const std::int64_t size = call.integer("size");
  if (size < 0) throw OpError("size is negative: " + std::to_string(size));
  call.make(kInt64, {size, call.tensor("self").rank()});
}

Launch bind_nonzero_static(const Binding& call) {
  Launch launch = [self = call.tensor("self"), result = call.result(),
                   fill = call.integer("fill_value")] {
    const Coordinates found = nonzero_coordinates(self);
    const std::int64_t rows = result.sizes[0];
    std::vector<std::int64_t> values(static_cast<std::size_t>(result.count()), fill);
    for (std::int64_t d = 0; d < self.rank(); ++d) {
      for (std::int64_t i = 0; i < std::min(rows, found.count); ++i) {
        values[static_cast<std::size_t>(i * self.rank() + d)] =
            found.values[static_cast<std::size_t>(d * found.count + i)];
      }
    }
    copy_now(result, tensor_over(values, result.sizes));
  };
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {nonzero_static_text(call.result(), call.tensor("self"),
                                                           call.integer("fill_value"))});
}

void infer_masked_select(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mask = call.tensor("mask");
  if (mask.dtype != spec::DType::kBool) throw OpError("the mask is not bool");
  const Sizes sizes = broadcast_sizes(self.sizes, mask.sizes);
  if (!call.has_data()) Inference::needs_data();
  call.make(self.dtype, {count_nonzero(broadcast_to(mask, sizes))});
}

Launch bind_masked_select(const Binding& call) {
  const Sizes sizes = broadcast_sizes(call.tensor("self").sizes, call.tensor("mask").sizes);
  return [self = broadcast_to(call.tensor("self"), sizes),
          mask = broadcast_to(call.tensor("mask"), sizes), result = call.result()] {
    Coordinates found = nonzero_coordinates(mask);
    check_rows(found.count, result.count());
    std::vector<IndexedDim> dims;
    for (std::int64_t d = 0; d < self.rank(); ++d) {
      Tensor index = tensor_over(found.values, {found.count});
      index.offset = d * found.count;
      dims.push_back(indexed_dim(self, d, std::move(index), false));
    }
    Tensor indexed = self;
    indexed.sizes = {found.count};
    indexed.strides = {0};
    read_cells(nullptr, {indexed.sizes, indexed, {result}, std::move(dims)}, self.item_bytes())
        .run();
  };
}

void infer_repeat_interleave(Inference& call) {
  if (call.has("self") && !call.is_tensor("repeats")) return infer_equal_repeats(call);
  const Tensor& repeats = call.tensor("repeats");
  check_repeats(repeats);
  if (!call.has("self")) {
    return call.make(repeats.dtype, {repeated_size(call, repeats, repeats.count())});
  }
  Repeated out = repeated_sizes(call);
  std::int64_t& extent = repeated_extent(out);
  if (repeats.count() != 1 && repeats.count() != extent) {
    throw OpError(std::to_string(repeats.count()) + " repeats for " + std::to_string(extent) +
                  " elements");
  }
  extent = repeated_size(call, repeats, extent);
  call.make(call.tensor("self").dtype, std::move(out.sizes));
}

Launch bind_repeat_interleave(const Binding& call) {
  if (call.has("self") && !call.is_tensor("repeats")) return bind_equal_repeats(call);
  const Tensor& repeats = call.tensor("repeats");
  if (!call.has("self")) {
    return [repeats, result = call.result()] {
      std::vector<std::int64_t> indices = repeated_indices(repeats, repeats.count());
      check_rows(static_cast<std::int64_t>(indices.size()), result.count());
      copy_now(result, tensor_over(indices, result.sizes));
    };
  }
  Repeated repeated = repeated_sizes(call);
  std::optional<std::int64_t> dim;
  if (call.has("dim")) dim = repeated.dim;
  return [repeats, dim, size = repeated_extent(repeated), self = call.tensor("self"),
          result = call.result()] {
    std::vector<std::int64_t> indices = repeated_indices(repeats, size);
    check_rows(static_cast<std::int64_t>(indices.size()), dim ? result.size(*dim) : result.count());
    read_repeated(self, result, indices, dim);
  };
}

}  // namespace graphgate::optimized
