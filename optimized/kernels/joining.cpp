// Results made of parts of the inputs: cat, stack, repeat, block_diag. flip, roll and rot90, which
// belong to the family, are in reordering.cpp.
//
// Each is a number of copies into views of the result; what they do not cover is zero (block_diag).
#include <algorithm>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/work.h"
#include "optimized/complex_numbers.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/reordering.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/promotion.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

std::vector<const Tensor*> inputs_of(const KernelCall& call) {
  auto tensors = call.tensors("tensors");
  for (const Tensor* tensor : tensors) {
    if (!tensor) throw OpError("one of the tensors is None");
  }
  return tensors;
}

// out= must hold the results' dtype: no narrower category.
void check_out_dtype(const KernelCall& call, spec::DType dtype) {
  const Tensor* out = call.written_result(0);
  if (!out) return;
  const auto category = [](spec::DType d) {
    if (spec::is_complex(d)) return 3;
    return d == spec::DType::kBool ? 0 : spec::is_floating_point(d) ? 2 : 1;
  };
  if (category(dtype) > category(out->dtype)) {
    throw OpError("a result of " + std::string(spec::torch_name(dtype)) + " does not go into " +
                  std::string(spec::torch_name(out->dtype)));
  }
}

// cat skips tensors of sizes [0], whatever the others look like.
bool is_skipped(const Tensor& tensor) { return tensor.rank() == 1 && tensor.sizes[0] == 0; }

struct Joined {
  Sizes sizes;
  Sizes strides;
  std::int64_t dim = 0;
};

void check_joins(const Tensor& first, const Tensor& other, std::int64_t dim) {
  bool fits = first.rank() == other.rank();
  for (std::int64_t d = 0; fits && d < first.rank(); ++d) {
    fits = d == dim || first.sizes[at(d)] == other.sizes[at(d)];
  }
  if (!fits) {
    throw OpError("cat: sizes " + print_sizes(first.sizes) + " and " + print_sizes(other.sizes) +
                  " differ beside dimension " + std::to_string(dim));
  }
}

Joined join(std::span<const Tensor* const> tensors, std::int64_t dim) {
  if (tensors.empty()) throw OpError("cat: no tensors");
  const Tensor* first = nullptr;
  Joined out;
  for (const Tensor* tensor : tensors) {
    if (tensor->rank() == 0) throw OpError("cat: a tensor has no dimensions");
    if (is_skipped(*tensor)) continue;
    if (!first) {
      first = tensor;
      out.dim = wrap_dim(dim, first->rank());
      out.sizes = first->sizes;
      out.sizes[at(out.dim)] = 0;
    }
    check_joins(*first, *tensor, out.dim);
    out.sizes[at(out.dim)] += tensor->sizes[at(out.dim)];
  }
  if (!first) out.sizes = {0};
  out.strides = first ? strides_in_format(out.sizes, common_format(tensors)) : Sizes{1};
  return out;
}

void infer_cat(Inference& call) {
  const auto tensors = inputs_of(call);
  Joined joined = join(tensors, call.integer("dim"));
  const spec::DType dtype = result_type(tensors);
  check_out_dtype(call, dtype);
  call.make(dtype, std::move(joined.sizes), std::move(joined.strides));
}
Launch bind_cat(const Binding& call) {
  const auto tensors = inputs_of(call);
  const Joined joined = join(tensors, call.integer("dim"));
  std::vector<Launch> copies;
  std::int64_t start = 0;
  for (const Tensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    const std::int64_t length = tensor->sizes[at(joined.dim)];
    copies.push_back(
        copy_launch(call.listener(), narrowed(call.result(), joined.dim, start, length), *tensor));
    start += length;
  }
  return in_turn(std::move(copies));
}

// stack joins along `dim`, then splits that dimension; along the last, it joins unsqueezed tensors.
void infer_stack(Inference& call) {
  const auto tensors = inputs_of(call);
  if (tensors.empty()) throw OpError("stack: no tensors");
  const Tensor& first = *tensors.front();
  for (const Tensor* tensor : tensors) {
    if (tensor->sizes != first.sizes) {
      throw OpError("stack: sizes " + print_sizes(first.sizes) + " and " +
                    print_sizes(tensor->sizes) + " differ");
    }
  }
  const std::int64_t dim = wrap_dim(call.integer("dim"), first.rank() + 1);
  Sizes sizes = first.sizes;
  sizes.insert(sizes.begin() + dim, static_cast<std::int64_t>(tensors.size()));
  Tensor joined = first;
  if (dim < first.rank()) {
    joined.sizes[at(dim)] *= static_cast<std::int64_t>(tensors.size());
    joined.strides = strides_in_format(joined.sizes, common_format(tensors));
    joined = viewed(joined, sizes);
  } else {
    std::vector<Tensor> columns;
    std::vector<const Tensor*> pointers;
    columns.reserve(tensors.size());
    pointers.reserve(tensors.size());
    for (const Tensor* tensor : tensors) columns.push_back(unsqueezed(*tensor, -1));
    for (const Tensor& column : columns) pointers.push_back(&column);
    joined.strides = join(pointers, dim).strides;
  }
  const spec::DType dtype = result_type(tensors);
  check_out_dtype(call, dtype);
  call.make(dtype, std::move(sizes), std::move(joined.strides));
}
Launch bind_stack(const Binding& call) {
  const auto tensors = inputs_of(call);
  const Tensor& result = call.result();
  const std::int64_t dim = wrap_dim(call.integer("dim"), result.rank());
  std::vector<Launch> copies;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor part = selected(result, dim, static_cast<std::int64_t>(i));
    copies.push_back(copy_launch(call.listener(), part, *tensors[i]));
  }
  return in_turn(std::move(copies));
}

void infer_repeat(Inference& call) {
  const Tensor& self = call.tensor("self");
  Sizes sizes = call.integers("repeats");
  if (sizes.size() < self.sizes.size()) {
    throw OpError("repeat: " + print_sizes(sizes) + " has fewer numbers than " +
                  print_sizes(self.sizes) + " dimensions");
  }
  (void)checked_count(sizes);
  const std::size_t added = sizes.size() - self.sizes.size();
  for (std::size_t d = 0; d < self.sizes.size(); ++d) sizes[added + d] *= self.sizes[d];
  call.make(self.dtype, std::move(sizes));
}
// Every dimension in two: the repetitions, along which self has stride 0, and self's own.
Launch bind_repeat(const Binding& call) {
  const Sizes repeats = call.integers("repeats");
  Tensor target = call.result();
  Tensor source = call.tensor("self");
  const std::size_t added = repeats.size() - source.sizes.size();
  const Tensor self = source;
  const Tensor result = target;
  source.sizes.clear();
  source.strides.clear();
  target.strides.clear();
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    const std::int64_t size = d < added ? 1 : self.sizes[d - added];
    source.sizes.insert(source.sizes.end(), {repeats[d], size});
    source.strides.insert(source.strides.end(), {0, d < added ? 0 : self.strides[d - added]});
    target.strides.insert(target.strides.end(), {size * result.strides[d], result.strides[d]});
  }
  target.sizes = source.sizes;
  return copy_launch(call.listener(), target, source);
}

// Scalars and vectors count as matrices of one row.
Tensor as_matrix(const Tensor& tensor) {
  if (tensor.rank() > 2) throw OpError("block_diag: more than 2 dimensions");
  Tensor out = tensor;
  while (out.rank() < 2) out = unsqueezed(out, 0);
  return out;
}
void infer_block_diag(Inference& call) {
  const auto tensors = inputs_of(call);
  Sizes sizes = tensors.empty() ? Sizes{1, 0} : Sizes{0, 0};
  for (const Tensor* tensor : tensors) {
    const Tensor matrix = as_matrix(*tensor);
    sizes[0] += matrix.sizes[0];
    sizes[1] += matrix.sizes[1];
  }
  call.make(tensors.empty() ? spec::DType::kFloat32 : result_type(tensors), std::move(sizes));
}
Launch bind_block_diag(const Binding& call) {
  const Tensor& result = call.result();
  std::vector<Launch> launches = {fill_launch(call.listener(), result, {})};
  std::int64_t row = 0;
  std::int64_t column = 0;
  for (const Tensor* tensor : inputs_of(call)) {
    const Tensor matrix = as_matrix(*tensor);
    const Tensor rows = narrowed(result, 0, row, matrix.sizes[0]);
    launches.push_back(
        copy_launch(call.listener(), narrowed(rows, 1, column, matrix.sizes[1]), matrix));
    row += matrix.sizes[0];
    column += matrix.sizes[1];
  }
  return in_turn(std::move(launches));
}

// ---- complex: two real tensors as the components of one

void infer_complex(Inference& call) {
  const Tensor& real = call.tensor("real");
  const Tensor& imag = call.tensor("imag");
  if (real.dtype == spec::DType::kFloat16) throw Unsupported("complex32 is not supported");
  const bool is_known = real.dtype == spec::DType::kFloat32 || real.dtype == spec::DType::kFloat64;
  if (!is_known || real.dtype != imag.dtype) {
    throw OpError("complex wants two tensors of float32 or of float64");
  }
  const Tensor* const out = call.written_result(0);
  if (out && !spec::is_complex(out->dtype)) throw OpError("complex: out is not complex");
  const Sizes sizes = broadcast_sizes(real.sizes, imag.sizes);
  const bool is_wide = real.dtype == spec::DType::kFloat64;
  call.make(is_wide ? spec::DType::kComplex128 : spec::DType::kComplex64, sizes,
            pointwise_strides({&real, &imag}, sizes));
}
Launch bind_complex(const Binding& call) {
  const Tensor& result = call.result();
  return in_turn({copy_launch(call.listener(), component_of(result, 0), call.tensor("real")),
                  copy_launch(call.listener(), component_of(result, 1), call.tensor("imag"))});
}

// ---- _chunk_cat: rows of parts, a tensor's next to one another

// A tensor that is cut along `dim`, with zeros behind its end.
struct Chunked {
  std::int64_t dim = 0;
  std::int64_t length = 0;  // of a part, along `dim`
  std::int64_t width = 0;   // elements of a part, from `dim` on
};
Chunked chunked(const Tensor& tensor, std::int64_t dim, std::int64_t chunks) {
  const std::int64_t size = tensor.sizes[at(dim)];
  Chunked out{dim, size / chunks + (size % chunks != 0 ? 1 : 0), 0};
  out.width = out.length;
  for (std::int64_t d = dim + 1; d < tensor.rank(); ++d) out.width *= tensor.sizes[at(d)];
  return out;
}

void infer_chunk_cat(Inference& call) {
  const auto tensors = inputs_of(call);
  const std::int64_t chunks = call.integer("num_chunks");
  if (tensors.empty() || chunks < 1) throw OpError("_chunk_cat of nothing");
  const Tensor& first = *tensors.front();
  const std::int64_t dim = wrap_dim(call.integer("dim"), first.rank());
  std::int64_t width = 0;
  for (const Tensor* tensor : tensors) {
    const bool fits =
        tensor->rank() > dim && tensor->dtype == first.dtype && tensor->count() > 0 &&
        std::equal(first.sizes.begin(), first.sizes.begin() + dim, tensor->sizes.begin());
    if (!fits) {
      throw OpError("_chunk_cat: sizes " + print_sizes(first.sizes) + " and " +
                    print_sizes(tensor->sizes) + ", or their dtypes, do not go together");
    }
    width += chunked(*tensor, dim, chunks).width;
  }
  Sizes sizes(first.sizes.begin(), first.sizes.begin() + dim);
  sizes.insert(sizes.end(), {chunks, width});
  call.make(first.dtype, std::move(sizes));
}
Launch bind_chunk_cat(const Binding& call) {
  const auto tensors = inputs_of(call);
  const Tensor& result = call.result();
  const std::int64_t dim = wrap_dim(call.integer("dim"), tensors.front()->rank());
  const std::int64_t chunks = call.integer("num_chunks");
  std::vector<Launch> launches = {fill_launch(call.listener(), result, {})};
  std::int64_t column = 0;
  for (const Tensor* tensor : tensors) {
    const Chunked part = chunked(*tensor, dim, chunks);
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::int64_t begin = c * part.length;
      const std::int64_t length = std::min(part.length, tensor->sizes[at(dim)] - begin);
      if (length <= 0) break;
      const Tensor source = narrowed(*tensor, dim, begin, length);
      Tensor target = narrowed(selected(result, dim, c), dim, column, part.width);
      Sizes behind(source.sizes.begin() + dim, source.sizes.end());
      behind = row_major_strides(behind);
      for (std::int64_t& stride : behind) stride *= target.strides.back();
      target.strides.pop_back();
      target.strides.insert(target.strides.end(), behind.begin(), behind.end());
      target.sizes = source.sizes;
      launches.push_back(copy_launch(call.listener(), target, source));
    }
    column += part.width;
  }
  return in_turn(std::move(launches));
}

}  // namespace

std::span<const Kernel> joining_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._chunk_cat", infer_chunk_cat, bind_chunk_cat}.any_dtype().moves("tensors"),
      Kernel{"aten.block_diag", infer_block_diag, bind_block_diag}.any_dtype().moves("tensors"),
      Kernel{"aten.cat", infer_cat, bind_cat}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("tensors"),
      Kernel{"aten.complex", infer_complex, bind_complex}.any_dtype(),
      Kernel{"aten.concat", infer_cat, bind_cat}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("tensors"),
      Kernel{"aten.concatenate", infer_cat, bind_cat}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("tensors"),
      Kernel{"aten.flip", infer_flip, bind_flip}
          .any_dtype()
          .rows(row_rules::along_dims)
          .moves("self"),
      Kernel{"aten.repeat", infer_repeat, bind_repeat}
          .any_dtype()
          .rows(row_rules::repeat)
          .moves("self"),
      Kernel{"aten.roll", infer_roll, bind_roll}
          .any_dtype()
          .rows(row_rules::along_dims)
          .moves("self"),
      Kernel{"aten.rot90", infer_rot90, bind_rot90}.any_dtype().moves("self"),
      Kernel{"aten.stack", infer_stack, bind_stack}
          .any_dtype()
          .rows(row_rules::move_dims)
          .moves("tensors"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
