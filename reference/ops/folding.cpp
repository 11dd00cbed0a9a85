// Blocks of an image as columns of a matrix, and back: im2col (torch.nn.Unfold) and col2im (Fold).
//
// A matrix [channels * kernel, blocks] for each image. Column b has what lies under the kernel in
// block b, blocks in row-major order; what lies in the padding is 0. The way back adds up what
// several blocks have of one place.
#include <array>

#include "reference/ops/contributions.h"
#include "reference/ops/view.h"
#include "reference/ops/window.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// The blocks of an image of two dimensions.
struct Blocks {
  Sizes image;
  Sizes kernel;
  Sizes dilation;
  Sizes padding;
  Sizes stride;
  Sizes count;  // along each dimension

  Blocks(const Call& call, const Sizes& of_image) : image(of_image), count(2) {
    const auto option = [&](std::string_view name, std::int64_t least) {
      Sizes values = per_dimension(call.integers(name), 2, name);
      for (const std::int64_t value : values) {
        if (value >= least && value <= INT32_MAX) continue;
        throw OpError(std::string(name) + " is out of range: " + std::to_string(value));
      }
      return values;
    };
    kernel = option("kernel_size", 1);
    dilation = option("dilation", 1);
    padding = option("padding", 0);
    stride = option("stride", 1);
    for (std::size_t d = 0; d < 2; ++d) {
      if (image[d] < 0 || image[d] > kMostElements)
        throw OpError("an image's size is out of range");
      const std::int64_t room = image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
      if (room < 0) throw OpError("the array of sliding blocks has no element");
      count[d] = room / stride[d] + 1;
    }
  }

  [[nodiscard]] std::int64_t columns() const { return count_of(count); }
  [[nodiscard]] std::int64_t taps() const { return count_of(kernel); }

  // visit(tap, block, position in the image, or -1 in the padding), for every tap of every block.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::int64_t tap = 0;
    for_each_index(kernel, [&](const Sizes& at) {
      std::int64_t block = 0;
      for_each_index(count, [&](const Sizes& of) {
        std::int64_t position = 0;
        for (std::size_t d = 0; d < 2; ++d) {
          const std::int64_t p = of[d] * stride[d] - padding[d] + at[d] * dilation[d];
          const bool is_inside = position >= 0 && p >= 0 && p < image[d];
          position = is_inside ? position * image[d] + p : -1;
        }
        visit(tap, block++, position);
      });
      ++tap;
    });
  }
};

// The sizes of all but the batch must not be 0; `dims` dimensions and maybe one of a batch.
bool has_batch(const Tensor& self, std::int64_t dims, const char* what) {
  const bool is_batched = self.rank() == dims + 1;
  bool fits = is_batched || self.rank() == dims;
  for (std::size_t d = is_batched ? 1 : 0; fits && d < self.sizes.size(); ++d) {
    fits = self.sizes[d] != 0;
  }
  if (!fits) {
    throw OpError(std::string(what) + ": expected a tensor of " + std::to_string(dims) + " or " +
                  std::to_string(dims + 1) + " dimensions, none but the batch of size 0");
  }
  return is_batched;
}

void im2col(Call& call) {
  const Tensor& self = *call.tensor("self");
  const bool is_batched = has_batch(self, 3, "im2col");
  const auto last = self.sizes.end();
  const Blocks blocks(call, {last[-2], last[-1]});
  const std::int64_t channels = last[-3];
  const std::int64_t planes = (is_batched ? self.sizes[0] : 1) * channels;
  const std::int64_t area = count_of(blocks.image);
  const std::vector<std::int64_t> stored = element_positions(self);
  Sizes sizes = {channels * blocks.taps(), blocks.columns()};
  if (is_batched) sizes.insert(sizes.begin(), self.sizes[0]);
  const TensorRef made = new_tensor(self.dtype, sizes, self.device);
  std::vector<std::int64_t> from;
  from.reserve(static_cast<std::size_t>(count_of(sizes)));
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    blocks.for_each([&](std::int64_t, std::int64_t, std::int64_t position) {
      const auto at = static_cast<std::size_t>(plane * area + position);
      from.push_back(position < 0 ? -1 : stored[at]);
    });
  }
  move_elements(*made, self, from);
  emit_made(call, made);
}

// PyTorch adds in the dtype itself.
void col2im(Call& call) {
  const Tensor& self = *call.tensor("self");
  const bool is_batched = has_batch(self, 2, "col2im");
  const Blocks blocks(call, per_dimension(call.integers("output_size"), 2, "output_size"));
  const auto last = self.sizes.end();
  if (last[-2] % blocks.taps() != 0) {
    throw OpError("col2im: expected the channels to be divisible by the product of kernel_size");
  }
  if (last[-1] != blocks.columns()) {
    throw OpError("col2im: expected " + std::to_string(blocks.columns()) + " sliding blocks, got " +
                  std::to_string(last[-1]));
  }
  const std::int64_t channels = last[-2] / blocks.taps();
  const std::int64_t planes = (is_batched ? self.sizes[0] : 1) * channels;
  Sizes sizes = {channels, blocks.image[0], blocks.image[1]};
  if (is_batched) sizes.insert(sizes.begin(), self.sizes[0]);
  const TensorRef made = new_tensor(self.dtype, sizes, self.device);
  std::vector<Picked> picked;
  std::vector<std::int64_t> sources;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    blocks.for_each([&](std::int64_t tap, std::int64_t block, std::int64_t position) {
      if (position < 0) return;
      picked.push_back({plane * count_of(blocks.image) + position, false});
      sources.push_back((plane * blocks.taps() + tap) * blocks.columns() + block);
    });
  }
  accumulate(call.mode(), *made, picked, self, sources, {Combining::kSum, Partials::kOwnDtype});
  emit_made(call, made);
}

constexpr std::array kFoldingOps = {
    OpBody{"aten.col2im", col2im},
    OpBody{"aten.im2col", im2col}.moves("self"),
};

}  // namespace

std::span<const OpBody> folding_ops() { return kFoldingOps; }

}  // namespace graphgate::reference
