// Writing a region of a tensor: index_put (index_put.cpp), masked_scatter, and the *_scatter ops,
// which copy self and write one view of the copy.
#include <algorithm>
#include <utility>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/chosen_text.h"
#include "optimized/kernels/accumulation.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/index_put.h"
#include "optimized/kernels/masked_index.h"
#include "optimized/strides.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

// ---- masked_scatter

Sizes masked_sizes(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mask = call.tensor("mask");
  if (call.written_result(0) == &self) {
    (void)broadcast_strides(mask, self.sizes);
    return self.sizes;
  }
  return broadcast_sizes(self.sizes, mask.sizes);
}

void infer_masked_scatter(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (call.tensor("source").dtype != self.dtype) throw OpError("self and source differ in dtype");
  if (call.tensor("mask").dtype != spec::DType::kBool) throw OpError("the mask is not bool");
  call.make(self.dtype, masked_sizes(call));
}

// Writes the source's elements, in row-major order, where the mask is true.
template <class Word>
void scatter_masked(const Loop& loop, const Tensor& source) {
  const std::int64_t available = source.count();
  const bool is_flat = is_contiguous(source);
  std::int64_t next = 0;
  loop.for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (at[2][i * strides[2]] == std::byte{0}) continue;
      if (next == available) {
        throw_source_too_short(available);
      }
      const std::int64_t from = is_flat ? next : offset_of(next, source.sizes, source.strides);
      ++next;
      std::memcpy(at[1] + i * strides[1],
                  source.data() + from * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
    }
  });
}

Launch bind_masked_scatter(const Binding& call) {
  const Tensor& result = call.result();
  const Tensor self = broadcast_to(call.tensor("self"), result.sizes);
  const Tensor mask = broadcast_to(call.tensor("mask"), result.sizes);
  const Tensor& source = call.tensor("source");
  const std::array<const Tensor*, 2> tensors = {&result, &mask};
  Launch scatter = [loop = row_major_loop(result.sizes, tensors), source,
                    item = self.item_bytes()] {
    with_word(item, [&]<class Word>() { scatter_masked<Word>(loop, source); });
  };
  return in_turn({start_from_self(call.listener(), result, self),
                  call.listener() != nullptr && self.item_bytes() <= 8
                      ? described(std::move(scatter), {masked_scatter_text(result, mask, source)})
                      : std::move(scatter)});
}

// ---- the *_scatter ops

// A view's geometry over a tensor.
struct Region {
  Sizes sizes, strides;
  std::int64_t offset = 0;
};

Region whole(const Tensor& tensor) { return {tensor.sizes, tensor.strides, tensor.offset}; }

Region sliced(const KernelCall& call, const Tensor& base) {
  Region region = whole(base);
  if (base.rank() == 0) throw OpError("a scalar cannot be sliced");
  const auto d = static_cast<std::size_t>(wrap_dim(call.integer("dim"), base.rank()));
  const std::int64_t size = base.sizes[d];
  const std::int64_t step = call.integer("step");
  if (step <= 0) throw OpError("the step is " + std::to_string(step) + ", not positive");
  const auto bounded = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t start = bounded(call.optional_integer("start").value_or(0));
  const std::int64_t end = std::max(start, bounded(call.optional_integer("end").value_or(size)));
  region.sizes[d] = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
  region.offset += start * base.strides[d];
  region.strides[d] *= step;
  return region;
}

Region selected(const KernelCall& call, const Tensor& base) {
  Region region = whole(base);
  if (base.rank() == 0) throw OpError("a scalar has no dimension to select from");
  const std::int64_t dim = wrap_dim(call.integer("dim"), base.rank());
  const std::int64_t index = call.integer("index");
  const std::int64_t size = base.size(dim);
  if (index < -size || index >= size) {
    throw OpError("index " + std::to_string(index) + " is out of range for dimension " +
                  std::to_string(dim) + " of size " + std::to_string(size));
  }
  region.offset += (index < 0 ? index + size : index) * base.strides[static_cast<std::size_t>(dim)];
  region.sizes.erase(region.sizes.begin() + dim);
  region.strides.erase(region.strides.begin() + dim);
  return region;
}

Region diagonal(const KernelCall& call, const Tensor& base) {
  const std::int64_t dim1 = wrap_dim(call.integer("dim1"), base.rank());
  const std::int64_t dim2 = wrap_dim(call.integer("dim2"), base.rank());
  if (dim1 == dim2) throw OpError("a diagonal wants two dimensions");
  const std::int64_t shift = call.integer("offset");
  const std::int64_t down = std::max<std::int64_t>(-shift, 0);
  const std::int64_t right = std::max<std::int64_t>(shift, 0);
  const std::int64_t length = std::min(base.size(dim1) - down, base.size(dim2) - right);
  const std::int64_t stride1 = base.strides[static_cast<std::size_t>(dim1)];
  const std::int64_t stride2 = base.strides[static_cast<std::size_t>(dim2)];
  Region region{{}, {}, base.offset};
  if (length > 0) region.offset += down * stride1 + right * stride2;
  for (std::int64_t d = 0; d < base.rank(); ++d) {
    if (d == dim1 || d == dim2) continue;
    region.sizes.push_back(base.size(d));
    region.strides.push_back(base.strides[static_cast<std::size_t>(d)]);
  }
  region.sizes.push_back(std::max<std::int64_t>(length, 0));
  region.strides.push_back(stride1 + stride2);
  return region;
}

// Only what lies in the result's own bytes can be written.
Region strided(const KernelCall& call, const Tensor& base) {
  Tensor view = base;
  view.sizes = call.integers("size");
  view.strides = call.integers("stride");
  view.offset = call.optional_integer("storage_offset").value_or(base.offset);
  bool is_sound = view.sizes.size() == view.strides.size() && view.offset >= 0;
  for (const std::int64_t stride : view.strides) is_sound &= stride >= 0;
  if (!is_sound) throw OpError("not a geometry: " + print_sizes(view.strides));
  const ByteRange inside = byte_range(base);
  const ByteRange wanted = byte_range(view);
  if (view.count() != 0 && (wanted.begin < inside.begin || wanted.end > inside.end)) {
    throw OpError("the strided region leaves the tensor");
  }
  return whole(view);
}

using FindRegion = Region (*)(const KernelCall&, const Tensor&);

// Whether two indices share an element for certain: a stretched dimension.
bool is_stretched(const Tensor& tensor) {
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] > 1 && tensor.strides[d] == 0) return true;
  }
  return false;
}

// The copy of self that a region is written into, without bytes: it keeps self's place in its
// storage; a stretched self is laid out anew.
Tensor copied(const Tensor& self) {
  Tensor copy = self;
  copy.storage = kNoStorage;
  copy.bytes = nullptr;
  if (is_stretched(self)) {
    copy.strides = strides_like(self, spec::MemoryFormat::kPreserve);
    copy.offset = 0;
  }
  return copy;
}

// Whether two indices may share an element: windows of an unfold do.
bool may_share_places(const Tensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, size
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] > 1) steps.emplace_back(tensor.strides[d], tensor.sizes[d]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 1;  // elements from the first to behind the last, along the steps so far
  for (const auto& [stride, size] : steps) {
    if (stride < reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

// Whether elements of two tensors of the same sizes lie at the same places: the stride of a single
// one means nothing.
bool lie_alike(const Tensor& a, const Tensor& b) {
  bool alike = a.offset == b.offset;
  for (std::size_t d = 0; d < a.sizes.size(); ++d) {
    alike &= a.sizes[d] == 1 || a.strides[d] == b.strides[d];
  }
  return alike;
}

// A region that strides describe, and one that shares elements with others, lies at places of the
// copy, which an out= argument of another geometry does not have: there the copy is made in the
// workspace.
template <FindRegion find>
bool wants_a_copy(const Tensor& self, const Tensor& result) {
  const Tensor copy = copied(self);
  return (find == strided || may_share_places(copy)) && !lie_alike(result, copy);
}

template <FindRegion find>
void infer_region_scatter(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Region region = find(call, self);
  if (region.sizes != call.tensor("src").sizes) {
    throw OpError("the source has sizes " + print_sizes(call.tensor("src").sizes) +
                  ", the region " + print_sizes(region.sizes));
  }
  const Tensor copy = copied(self);
  const Tensor* const written = call.written_result(0);
  if (written && wants_a_copy<find>(self, *written)) call.want_workspace(byte_range(copy).end);
  call.make(self.dtype, self.sizes, copy.strides);
  Made& made = call.results().back();
  if (made.kind == Made::Kind::kNew) made.tensor.offset = copy.offset;
}

template <FindRegion find>
Launch bind_region_scatter(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const bool copies = wants_a_copy<find>(self, call.result());
  Tensor base = call.result();
  if (copies) {
    base = copied(self);
    base.bytes = call.workspace();
  }
  const Region region = find(call, base);
  Tensor target = base;
  target.sizes = region.sizes;
  target.strides = region.strides;
  target.offset = region.offset;
  std::vector<Launch> steps = {copy_launch(call.listener(), base, self),
                               copy_launch(call.listener(), target, call.tensor("src"))};
  if (copies) steps.push_back(copy_launch(call.listener(), call.result(), base));
  return in_turn(std::move(steps));
}

}  // namespace

std::span<const Kernel> region_scatter_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._index_put_impl", infer_index_put, bind_index_put, Overlap::kSameGeometry}
          .any_dtype()
          .rows(row_rules::scatter_anywhere)
          .row_major(RowMajorRule::kLikeSelfInPlace)
          .moves("self", "values"),
      Kernel{"aten._unsafe_index_put", infer_index_put, bind_index_put}
          .any_dtype()
          .rows(row_rules::scatter_anywhere)
          .moves("self", "values"),
      {"aten._unsafe_masked_index_put_accumulate", infer_masked_index_put, bind_masked_index_put},
      Kernel{"aten.as_strided_scatter", infer_region_scatter<strided>, bind_region_scatter<strided>}
          .any_dtype()
          .moves("self", "src"),
      Kernel{"aten.diagonal_scatter", infer_region_scatter<diagonal>, bind_region_scatter<diagonal>}
          .any_dtype()
          .moves("self", "src"),
      Kernel{"aten.index_put", infer_index_put, bind_index_put, Overlap::kSameGeometry}
          .any_dtype()
          .fuses(Fusion::kScatter)
          .rows(row_rules::scatter_anywhere)
          .row_major(RowMajorRule::kLikeSelfInPlace)
          .moves("self", "values"),
      Kernel{"aten.masked_scatter", infer_masked_scatter, bind_masked_scatter,
             Overlap::kSameGeometry}
          .any_dtype()
          .rows(row_rules::scatter_anywhere)
          .moves("self", "source"),
      Kernel{"aten.select_scatter", infer_region_scatter<selected>, bind_region_scatter<selected>}
          .any_dtype()
          .rows(row_rules::scatter_along_dim)
          .row_major(RowMajorRule::kLikeSelf)
          .moves("self", "src"),
      Kernel{"aten.slice_scatter", infer_region_scatter<sliced>, bind_region_scatter<sliced>}
          .any_dtype()
          .rows(row_rules::scatter_along_dim)
          .row_major(RowMajorRule::kLikeSelf)
          .moves("self", "src"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
