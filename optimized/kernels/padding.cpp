// constant_pad_nd, reflection_pad, replication_pad, and pad, which is any of them or circular.
//
// `pad` numbers come in pairs (before, after), for the last dimension first; a negative one cuts
// off. The constant mode copies what is left of self into a filled result. The other modes copy the
// input's elements that an index list names for each padded dimension.
#include <algorithm>

#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/work.h"
#include "optimized/geometry/plane_gradient.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

enum class PaddingMode : std::uint8_t { kConstant, kReflect, kReplicate, kCircular };

struct Pad {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

// One Pad for each dimension.
std::vector<Pad> pads_of(const Sizes& numbers, const Tensor& self) {
  const std::size_t rank = self.sizes.size();
  if (numbers.size() % 2 != 0 || numbers.size() / 2 > rank) {
    throw OpError("pad: " + print_sizes(numbers) + " for a tensor of sizes " +
                  print_sizes(self.sizes));
  }
  std::vector<Pad> out(rank);
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    out[rank - 1 - i / 2] = {numbers[i], numbers[i + 1]};
  }
  return out;
}

Sizes padded_sizes(const Tensor& self, const std::vector<Pad>& pads) {
  Sizes sizes = self.sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] += pads[d].before + pads[d].after;
    if (sizes[d] < 0) {
      throw OpError("pad: dimension " + std::to_string(d) + " of " + print_sizes(self.sizes) +
                    " would have size " + std::to_string(sizes[d]));
    }
  }
  return sizes;
}

// self without what negative numbers cut off.
Tensor cut(Tensor self, const std::vector<Pad>& pads) {
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    const Pad& pad = pads[static_cast<std::size_t>(d)];
    const std::int64_t first = std::max<std::int64_t>(0, -pad.before);
    const std::int64_t end = self.size(d) - std::max<std::int64_t>(0, -pad.after);
    if (first > 0 || end < self.size(d))
      self = narrowed(self, d, first, std::max(end, first) - first);
  }
  return self;
}

// --- constant

void infer_constant(Inference& call) {
  const Tensor& self = call.tensor("self");
  const auto pads = pads_of(call.integers("pad"), self);
  Sizes sizes = padded_sizes(self, pads);
  const bool only_cuts = std::all_of(
      pads.begin(), pads.end(), [](const Pad& pad) { return pad.before <= 0 && pad.after <= 0; });
  Sizes strides = only_cuts ? strides_like(cut(self, pads), spec::MemoryFormat::kPreserve)
                            : strides_in_format(sizes, suggested_format(self));
  call.make(self.dtype, std::move(sizes), std::move(strides));
}

Launch bind_constant(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const auto pads = pads_of(call.integers("pad"), self);
  const Item value = call.has("value") ? call.item("value") : Item{std::int64_t{0}};
  const Tensor kept = cut(self, pads);
  Tensor target = result;
  for (std::int64_t d = 0; d < result.rank(); ++d) {
    const std::int64_t first = std::max<std::int64_t>(pads[static_cast<std::size_t>(d)].before, 0);
    target = narrowed(target, d, first, kept.size(d));
  }
  return in_turn({fill_launch(call.listener(), result, element_of(value, result.dtype)),
                  copy_launch(call.listener(), target, kept)});
}

// --- reflect, replicate, circular

// The input's index behind padded index `i` of `size` elements.
std::int64_t source_index(PaddingMode mode, std::int64_t i, std::int64_t size) {
  if (mode == PaddingMode::kReplicate) return std::clamp<std::int64_t>(i, 0, size - 1);
  if (mode == PaddingMode::kCircular) return i < 0 ? i + size : i >= size ? i - size : i;
  if (i < 0) return -i;
  return i >= size ? 2 * (size - 1) - i : i;
}

void check_pad(PaddingMode mode, const Pad& pad, std::int64_t size, std::int64_t dim) {
  const std::int64_t more = std::max(pad.before, pad.after);
  std::int64_t limit = size == 0 ? 0 : more;  // replication has none
  if (mode == PaddingMode::kReflect) limit = size - 1;
  if (mode == PaddingMode::kCircular) limit = size;
  if (more > 0 && more > limit) {
    throw OpError("pad: " + std::to_string(pad.before) + " before and " +
                  std::to_string(pad.after) + " after are too much for size " +
                  std::to_string(size) + " of dimension " + std::to_string(dim));
  }
}

// Circular padding repeats what negative numbers leave: it is cut first, then padded.
struct Padded {
  Tensor self;
  std::vector<Pad> pads;
};
Padded mapped_input(const Tensor& self, const Sizes& numbers, PaddingMode mode) {
  Padded out{self, pads_of(numbers, self)};
  if (mode != PaddingMode::kCircular) return out;
  (void)padded_sizes(self, out.pads);
  out.self = cut(self, out.pads);
  for (Pad& pad : out.pads) {
    pad = {std::max<std::int64_t>(pad.before, 0), std::max<std::int64_t>(pad.after, 0)};
  }
  return out;
}

// Pads the last `dims` dimensions; there may be a channel and a batch dimension before them.
void infer_mapped(Inference& call, const Sizes& numbers, PaddingMode mode) {
  const auto [self, pads] = mapped_input(call.tensor("self"), numbers, mode);
  const auto dims = static_cast<std::int64_t>(numbers.size() / 2);
  if (self.rank() != dims + 1 && self.rank() != dims + 2) {
    throw OpError("pad: " + print_sizes(numbers) + " wants " + std::to_string(dims + 1) + " or " +
                  std::to_string(dims + 2) + " dimensions, not " + print_sizes(self.sizes));
  }
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    check_pad(mode, pads[static_cast<std::size_t>(d)], self.size(d), d);
  }
  Sizes sizes = padded_sizes(self, pads);
  for (std::size_t d = self.rank() == dims + 2 ? 1 : 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0 && mode != PaddingMode::kCircular)
      throw OpError("pad: the result would be empty: " + print_sizes(sizes));
  }
  const auto format = mode == PaddingMode::kCircular ? spec::MemoryFormat::kContiguous
                                                     : suggested_format(call.tensor("self"));
  Sizes strides = strides_in_format(sizes, format);
  call.make(self.dtype, std::move(sizes), std::move(strides));
}

// A run of padded indices whose source indices go up or down by one, or stay.
struct Segment {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t source = 0;
  std::int64_t step = 0;
};

std::vector<Segment> segments_of(PaddingMode mode, const Pad& pad, std::int64_t size) {
  std::vector<Segment> out;
  for (std::int64_t i = 0; i < size + pad.before + pad.after; ++i) {
    const std::int64_t source = source_index(mode, i - pad.before, size);
    if (!out.empty()) {
      Segment& last = out.back();
      const std::int64_t step = source - (last.source + (last.length - 1) * last.step);
      const bool goes_on = last.length == 1 ? step >= -1 && step <= 1 : step == last.step;
      if (goes_on) {
        last.step = step;
        ++last.length;
        continue;
      }
    }
    out.push_back({i, 1, source, 0});
  }
  return out;
}

// One copy for every combination of segments of the padded dimensions.
void add_copies(const DeviceListener* listener, PaddingMode mode, const std::vector<Pad>& pads,
                std::size_t dim, const Tensor& target, const Tensor& source,
                std::vector<Launch>& copies) {
  if (dim == pads.size()) return copies.push_back(copy_launch(listener, target, source));
  const std::int64_t size = source.sizes[dim];
  for (const Segment& segment : segments_of(mode, pads[dim], size)) {
    Tensor from = source;
    from.sizes[dim] = segment.length;
    from.offset += segment.source * source.strides[dim];
    from.strides[dim] *= segment.step;
    const Tensor to =
        narrowed(target, static_cast<std::int64_t>(dim), segment.begin, segment.length);
    add_copies(listener, mode, pads, dim + 1, to, from, copies);
  }
}

Launch bind_mapped(const Binding& call, const Sizes& numbers, PaddingMode mode) {
  const auto [self, pads] = mapped_input(call.tensor("self"), numbers, mode);
  std::vector<Launch> copies;
  add_copies(call.listener(), mode, pads, 0, call.result(), self, copies);
  return in_turn(std::move(copies));
}

template <PaddingMode mode>
void infer_fixed(Inference& call) {
  infer_mapped(call, call.integers("padding"), mode);
}
template <PaddingMode mode>
Launch bind_fixed(const Binding& call) {
  return bind_mapped(call, call.integers("padding"), mode);
}

// ---- gradients: an element gets those of all its copies

template <PaddingMode mode, int dims>
void infer_gradient(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& gradient = call.tensor("grad_output");
  const Sizes numbers = call.integers("padding");
  if (numbers.size() != 2 * dims) throw OpError("padding: expected two numbers a dimension");
  check_planes(self, dims);
  if (!spec::is_floating_point(self.dtype) || gradient.dtype != self.dtype) {
    throw OpError("padding: gradients are floats of one dtype");
  }
  const auto pads = pads_of(numbers, self);
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    check_pad(mode, pads[static_cast<std::size_t>(d)], self.size(d), d);
  }
  const auto format = dims == 1 ? spec::MemoryFormat::kContiguous : suggested_format(self);
  make_plane_gradient(call, dims, self.sizes, strides_in_format(self.sizes, format),
                      plane_extents(padded_sizes(self, pads), dims));
}

template <PaddingMode mode, int dims>
Launch bind_gradient(const Binding& call) {
  const Tensor& result = call.result();
  const auto pads = pads_of(call.integers("padding"), result);
  const Extents in = plane_extents(result.sizes, dims);
  Extents before{};
  for (int d = 0; d < dims; ++d) {
    before[static_cast<std::size_t>(kSpatialDims - 1 - d)] =
        pads[pads.size() - 1 - static_cast<std::size_t>(d)].before;
  }
  return plane_gradient(call, dims, [=](const Extents& at, auto g, const auto& add) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < kSpatialDims; ++d) {
      position = position * in[d] + source_index(mode, at[d] - before[d], in[d]);
    }
    add(position, g);
  });
}

PaddingMode mode_of(const KernelCall& call) {
  const std::string_view mode = call.text("mode");
  if (mode == "constant") return PaddingMode::kConstant;
  if (call.has("value") && call.real("value") != 0) {
    throw OpError("pad: only the constant mode takes a value");
  }
  if (mode == "reflect") return PaddingMode::kReflect;
  if (mode == "replicate") return PaddingMode::kReplicate;
  if (mode == "circular") return PaddingMode::kCircular;
  throw OpError("pad: unknown mode '" + std::string(mode) + "'");
}
void infer_pad(Inference& call) {
  const PaddingMode mode = mode_of(call);
  if (mode == PaddingMode::kConstant) return infer_constant(call);
  infer_mapped(call, call.integers("pad"), mode);
}
Launch bind_pad(const Binding& call) {
  const PaddingMode mode = mode_of(call);
  if (mode == PaddingMode::kConstant) return bind_constant(call);
  return bind_mapped(call, call.integers("pad"), mode);
}

}  // namespace

std::span<const Kernel> padding_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.constant_pad_nd", infer_constant, bind_constant}
          .any_dtype()
          .rows(row_rules::pad)
          .moves("self"),
      Kernel{"aten.pad", infer_pad, bind_pad}.any_dtype().rows(row_rules::pad).moves("self"),
      Kernel{"aten.reflection_pad1d", infer_fixed<PaddingMode::kReflect>,
             bind_fixed<PaddingMode::kReflect>}
          .any_dtype()
          .moves("self"),
      {"aten.reflection_pad1d_backward", infer_gradient<PaddingMode::kReflect, 1>,
       bind_gradient<PaddingMode::kReflect, 1>},
      Kernel{"aten.reflection_pad2d", infer_fixed<PaddingMode::kReflect>,
             bind_fixed<PaddingMode::kReflect>}
          .any_dtype()
          .moves("self"),
      {"aten.reflection_pad2d_backward", infer_gradient<PaddingMode::kReflect, 2>,
       bind_gradient<PaddingMode::kReflect, 2>},
      Kernel{"aten.reflection_pad3d", infer_fixed<PaddingMode::kReflect>,
             bind_fixed<PaddingMode::kReflect>}
          .any_dtype()
          .moves("self"),
      {"aten.reflection_pad3d_backward", infer_gradient<PaddingMode::kReflect, 3>,
       bind_gradient<PaddingMode::kReflect, 3>},
      Kernel{"aten.replication_pad1d", infer_fixed<PaddingMode::kReplicate>,
             bind_fixed<PaddingMode::kReplicate>}
          .any_dtype()
          .moves("self"),
      {"aten.replication_pad1d_backward", infer_gradient<PaddingMode::kReplicate, 1>,
       bind_gradient<PaddingMode::kReplicate, 1>},
      Kernel{"aten.replication_pad2d", infer_fixed<PaddingMode::kReplicate>,
             bind_fixed<PaddingMode::kReplicate>}
          .any_dtype()
          .moves("self"),
      {"aten.replication_pad2d_backward", infer_gradient<PaddingMode::kReplicate, 2>,
       bind_gradient<PaddingMode::kReplicate, 2>},
      Kernel{"aten.replication_pad3d", infer_fixed<PaddingMode::kReplicate>,
             bind_fixed<PaddingMode::kReplicate>}
          .any_dtype()
          .moves("self"),
      {"aten.replication_pad3d_backward", infer_gradient<PaddingMode::kReplicate, 3>,
       bind_gradient<PaddingMode::kReplicate, 3>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
