// Ops that cut a tensor along a dimension into a list of parts.
//
// An op is one function from its call to the parts. View ops return them; _copy ops copy each into
// a tensor of its own, or into the tensors of `out`, which they do not return.
#include <algorithm>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/work.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

using Parts = std::vector<Tensor>;
using Cut = Parts (*)(const KernelCall&);

std::int64_t extent_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("a tensor without dimensions cannot be split");
  return self.size(call.integer("dim"));
}

Parts cut_in(const KernelCall& call, const Sizes& lengths) {
  const std::int64_t extent = extent_of(call);
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) throw OpError("a split size is negative: " + print_sizes(lengths));
    total += length;
  }
  if (total != extent) {
    throw OpError("split sizes " + print_sizes(lengths) + " do not add up to " +
                  std::to_string(extent));
  }
  Parts out;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    out.push_back(narrowed(call.tensor("self"), call.integer("dim"), start, length));
    start += length;
  }
  return out;
}

// Parts of `length` each, the last one with what remains.
Parts cut_every(const KernelCall& call, std::int64_t length) {
  std::int64_t rest = extent_of(call);
  if (length < 0 || (length == 0 && rest != 0)) {
    throw OpError("split size " + std::to_string(length) + " for a size of " +
                  std::to_string(rest));
  }
  Sizes lengths;
  do {
    lengths.push_back(std::min(length, rest));
    rest -= lengths.back();
  } while (rest > 0);
  return cut_in(call, lengths);
}

Parts split(const KernelCall& call) {
  if (call.item("split_size").as<Item::List>()) return cut_in(call, call.integers("split_size"));
  return cut_every(call, call.integer("split_size"));
}
Parts split_with_sizes(const KernelCall& call) {
  return cut_in(call, call.integers("split_sizes"));
}
Parts chunk(const KernelCall& call) {
  const std::int64_t chunks = call.integer("chunks");
  if (chunks <= 0) throw OpError("chunk: " + std::to_string(chunks) + " chunks");
  const std::int64_t extent = extent_of(call);
  if (extent == 0) return cut_in(call, Sizes(static_cast<std::size_t>(chunks), 0));
  return cut_every(call, extent / chunks + (extent % chunks != 0 ? 1 : 0));
}
// From each place to the next, as slices are taken: places count from the end where they are
// negative, and end with the tensor.
Parts cut_at(const KernelCall& call, const std::vector<std::int64_t>& places) {
  const std::int64_t extent = extent_of(call);
  const auto within = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + extent : place, 0, extent);
  };
  Parts out;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    const std::int64_t start = i == 0 ? 0 : within(places[i - 1]);
    const std::int64_t end = i == places.size() ? extent : within(places[i]);
    out.push_back(narrowed(call.tensor("self"), call.integer("dim"), start,
                           std::max<std::int64_t>(end - start, 0)));
  }
  return out;
}

// As many parts, the first ones longer by one where the sizes differ.
Parts cut_evenly(const KernelCall& call, std::int64_t count) {
  if (count < 1) throw OpError("a tensor is split into one part at least");
  const std::int64_t extent = extent_of(call);
  Sizes lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(extent / count + (i < extent % count ? 1 : 0));
  }
  return cut_in(call, lengths);
}

// By a number of parts or by places; both may stand in a tensor, whose numbers the call sees.
Parts tensor_split(const KernelCall& call) {
  if (call.has("sections")) return cut_evenly(call, call.integer("sections"));
  if (call.has("indices")) {
    const Sizes indices = call.integers("indices");
    return cut_at(call, {indices.begin(), indices.end()});
  }
  const Tensor& given = call.tensor("tensor_indices_or_sections");
  if (given.dtype != spec::DType::kInt64 || given.rank() > 1) {
    throw OpError("a tensor is split by a vector of int64, or by one number");
  }
  if (!call.has_data()) Inference::needs_data();
  std::vector<std::int64_t> numbers;
  const Rows elements(given, {});
  for (std::int64_t i = 0; i < elements.count(); ++i) {
    numbers.push_back(load_element<std::int64_t>(given.dtype, elements.at(i)));
  }
  return given.rank() == 0 ? cut_evenly(call, numbers.front()) : cut_at(call, numbers);
}

Parts unbind(const KernelCall& call) {
  Parts out;
  const std::int64_t extent = extent_of(call);
  for (std::int64_t i = 0; i < extent; ++i) {
    out.push_back(selected(call.tensor("self"), call.integer("dim"), i));
  }
  return out;
}

template <Cut cut>
void infer_views(Inference& call) {
  const Parts parts = cut(call);
  call.begin_list();
  for (const Tensor& part : parts) {
    call.make_view(part, part.sizes, part.strides, part.offset);
  }
  call.end_list();
}

// The tensors of `out`, which must be as many as the parts, and of their sizes.
std::vector<const Tensor*> out_tensors(const KernelCall& call, const Parts& parts) {
  auto outs = call.tensors("out");
  if (outs.size() != parts.size()) {
    throw OpError(std::to_string(outs.size()) + " out tensors for " + std::to_string(parts.size()) +
                  " parts");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!outs[i] || outs[i]->sizes != parts[i].sizes) {
      throw Unsupported("out tensor " + std::to_string(i) + " is not of sizes " +
                        print_sizes(parts[i].sizes) + ": it is not resized");
    }
  }
  return outs;
}

template <Cut cut>
void infer_copies(Inference& call) {
  const Parts parts = cut(call);
  if (call.has("out")) return void(out_tensors(call, parts));
  call.begin_list();
  for (const Tensor& part : parts) call.make(part.dtype, part.sizes);
  call.end_list();
}
template <Cut cut>
Launch bind_copies(const Binding& call) {
  const Parts parts = cut(call);
  const bool is_out = call.has("out");
  const auto outs = is_out ? out_tensors(call, parts) : std::vector<const Tensor*>{};
  std::vector<Launch> copies;
  copies.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    copies.push_back(copy_launch(call.listener(), is_out ? *outs[i] : call.result(i), parts[i]));
  }
  return in_turn(std::move(copies));
}

}  // namespace

std::span<const Kernel> splitting_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.chunk", infer_views<chunk>, nullptr}.any_dtype().rows(row_rules::along_dim),
      Kernel{"aten.split", infer_views<split>, nullptr}.any_dtype().rows(row_rules::along_dim),
      Kernel{"aten.split_with_sizes", infer_views<split_with_sizes>, nullptr}.any_dtype().rows(
          row_rules::along_dim),
      Kernel{"aten.split_with_sizes_copy", infer_copies<split_with_sizes>,
             bind_copies<split_with_sizes>}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("self"),
      Kernel{"aten.tensor_split", infer_views<tensor_split>, nullptr}.any_dtype().rows(
          row_rules::along_dim),
      Kernel{"aten.unbind", infer_views<unbind>, nullptr}.any_dtype().rows(row_rules::along_dim),
      Kernel{"aten.unbind_copy", infer_copies<unbind>, bind_copies<unbind>}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("self"),
      // By its schema tensors of their own; ATen makes views.
      Kernel{"aten.unsafe_split", infer_views<split>, nullptr}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("self"),
      Kernel{"aten.unsafe_split_with_sizes", infer_views<split_with_sizes>, nullptr}
          .any_dtype()
          .rows(row_rules::along_dim)
          .moves("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
