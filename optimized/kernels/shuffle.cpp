// Channels exchanged with one another (channel_shuffle) or with places (pixel_shuffle and back).
//
// Each is one copy: the result, in the format that self suggests, is seen with some of its
// dimensions split and in the order of self's own dimensions.
#include "optimized/kernels/families.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

// Dimension `dim` in two: of `outer` and `inner` elements.
Tensor split_dim(Tensor tensor, std::int64_t dim, std::int64_t outer, std::int64_t inner) {
  const std::int64_t stride = tensor.strides[at(dim)];
  tensor.sizes[at(dim)] = outer;
  tensor.strides[at(dim)] = stride * inner;
  tensor.sizes.insert(tensor.sizes.begin() + dim + 1, inner);
  tensor.strides.insert(tensor.strides.begin() + dim + 1, stride);
  return tensor;
}
// Moves dimension `from` to the place `to` among the others.
Tensor moved_dim(Tensor tensor, std::int64_t from, std::int64_t to) {
  const std::int64_t size = tensor.sizes[at(from)];
  const std::int64_t stride = tensor.strides[at(from)];
  tensor.sizes.erase(tensor.sizes.begin() + from);
  tensor.strides.erase(tensor.strides.begin() + from);
  tensor.sizes.insert(tensor.sizes.begin() + to, size);
  tensor.strides.insert(tensor.strides.begin() + to, stride);
  return tensor;
}

// ---- pixel_shuffle, pixel_unshuffle: [.., C r r, H, W] and [.., C, H r, W r]

std::int64_t factor_of(const KernelCall& call, const char* name) {
  const std::int64_t factor = call.integer(name);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (call.tensor("self").rank() < 3) throw OpError("an image has at least 3 dimensions");
  if (factor < 1 || factor >= kMost) throw OpError("the factor is " + std::to_string(factor));
  return factor;
}

void make_image(Inference& call, const Sizes& sizes) {
  const Tensor& self = call.tensor("self");
  const spec::MemoryFormat format = suggested_format(self);
  if (format == spec::MemoryFormat::kChannelsLast3d) {
    throw OpError("channels that come last in five dimensions");
  }
  (void)checked_count(sizes);
  call.make(self.dtype, sizes, strides_in_format(sizes, format));
}

// The image of large pixels as that of small ones has it: [.., C, H, r, W, r] in the order
// [.., C, r, r, H, W], joined to [.., C r r, H, W] by whoever copies.
Tensor as_channels(const Tensor& large, std::int64_t factor) {
  const std::int64_t rows = large.rank() - 2;
  Tensor out = split_dim(large, rows + 1, large.size(-1) / factor, factor);
  out = split_dim(out, rows, large.size(-2) / factor, factor);
  out = moved_dim(out, rows + 1, rows);  // [.., C, r, H, W, r]
  return moved_dim(out, rows + 3, rows + 1);
}
Tensor with_split_channels(const Tensor& small, std::int64_t factor) {
  const std::int64_t channels = small.rank() - 3;
  Tensor out = split_dim(small, channels, small.size(channels) / factor, factor);
  return split_dim(out, channels, small.size(channels) / (factor * factor), factor);
}

void infer_pixel_shuffle(Inference& call) {
  const std::int64_t factor = factor_of(call, "upscale_factor");
  Sizes sizes = call.tensor("self").sizes;
  const std::size_t rank = sizes.size();
  if (sizes[rank - 3] % (factor * factor) != 0) {
    throw OpError(print_sizes(sizes) + " has no multiple of " + std::to_string(factor * factor) +
                  " channels");
  }
  sizes[rank - 3] /= factor * factor;
  sizes[rank - 2] *= factor;
  sizes[rank - 1] *= factor;
  make_image(call, sizes);
}
Launch bind_pixel_shuffle(const Binding& call) {
  const std::int64_t factor = call.integer("upscale_factor");
  return copy_launch(call.listener(), as_channels(call.result(), factor),
                     with_split_channels(call.tensor("self"), factor));
}

void infer_pixel_unshuffle(Inference& call) {
  const std::int64_t factor = factor_of(call, "downscale_factor");
  Sizes sizes = call.tensor("self").sizes;
  const std::size_t rank = sizes.size();
  if (sizes[rank - 1] % factor != 0 || sizes[rank - 2] % factor != 0) {
    throw OpError(print_sizes(sizes) + " does not divide by " + std::to_string(factor));
  }
  sizes[rank - 3] *= factor * factor;
  sizes[rank - 2] /= factor;
  sizes[rank - 1] /= factor;
  make_image(call, sizes);
}
Launch bind_pixel_unshuffle(const Binding& call) {
  const std::int64_t factor = call.integer("downscale_factor");
  return copy_launch(call.listener(), with_split_channels(call.result(), factor),
                     as_channels(call.tensor("self"), factor));
}

// ---- channel_shuffle: dimension 1 from [g, c] to [c, g]

void infer_channel_shuffle(Inference& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t groups = call.integer("groups");
  if (self.rank() < 3) throw OpError("channels of sizes " + print_sizes(self.sizes));
  if (groups < 1 || self.sizes[1] % groups != 0) {
    throw OpError(std::to_string(self.sizes[1]) + " channels in " + std::to_string(groups) +
                  " groups");
  }
  call.make(self.dtype, self.sizes, strides_in_format(self.sizes, suggested_format(self)));
}
Launch bind_channel_shuffle(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t groups = call.integer("groups");
  const std::int64_t each = self.sizes[1] / groups;
  return copy_launch(call.listener(), moved_dim(split_dim(call.result(), 1, each, groups), 2, 1),
                     split_dim(self, 1, groups, each));
}

}  // namespace

std::span<const Kernel> shuffle_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.channel_shuffle", infer_channel_shuffle, bind_channel_shuffle}.any_dtype().moves(
          "self"),
      Kernel{"aten.native_channel_shuffle", infer_channel_shuffle, bind_channel_shuffle}
          .any_dtype()
          .moves("self"),
      Kernel{"aten.pixel_shuffle", infer_pixel_shuffle, bind_pixel_shuffle}.any_dtype().moves(
          "self"),
      Kernel{"aten.pixel_unshuffle", infer_pixel_unshuffle, bind_pixel_unshuffle}.any_dtype().moves(
          "self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
