// Blocks of images laid out as columns (im2col), and columns added up to images (col2im).
//
// im2col is one copy for every place of the kernel: what that place reads of all blocks is a view
// of the image with steps. col2im adds the columns of a channel into a plane, one after the other.
#include <algorithm>

#include "optimized/codegen/work.h"
#include "optimized/geometry/planes.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/view_geometry.h"

namespace graphgate::optimized {
namespace {

// One spatial dimension.
struct Sliding {
  std::int64_t size = 0, kernel = 1, dilation = 1, padding = 0, stride = 1, blocks = 0;

  // Where place `tap` of the kernel lies in block 0; may be negative.
  [[nodiscard]] std::int64_t start(std::int64_t tap) const { return tap * dilation - padding; }
  // The blocks [first, last) whose place `tap` lies inside.
  [[nodiscard]] std::int64_t first(std::int64_t tap) const {
    return std::min(blocks, start(tap) >= 0 ? 0 : (-start(tap) + stride - 1) / stride);
  }
  [[nodiscard]] std::int64_t last(std::int64_t tap) const {
    const std::int64_t room = size - 1 - start(tap);
    return room < 0 ? 0 : std::min(blocks, room / stride + 1);
  }
};
struct SlidingImage {
  Sliding y, x;
  [[nodiscard]] std::int64_t taps() const { return y.kernel * x.kernel; }
  [[nodiscard]] std::int64_t blocks() const { return y.blocks * x.blocks; }
};

SlidingImage sliding_image(const KernelCall& call, std::int64_t height, std::int64_t width) {
  SlidingImage out;
  const auto option = [&](const char* name, std::int64_t Sliding::*member, std::int64_t least) {
    const Extents values = spatial_values(call.integers(name), 2, 1);
    out.y.*member = values[1];
    out.x.*member = values[2];
    for (const std::int64_t value : {values[1], values[2]}) {
      constexpr std::int64_t kMost = std::int64_t{1} << 31;
      if (value < least || value >= kMost) {
        throw OpError(std::string(name) + " is " + std::to_string(value));
      }
    }
  };
  option("kernel_size", &Sliding::kernel, 1);
  option("dilation", &Sliding::dilation, 1);
  option("padding", &Sliding::padding, 0);
  option("stride", &Sliding::stride, 1);
  (void)checked_count({height, width});
  out.y.size = height;
  out.x.size = width;
  for (Sliding* dim : {&out.y, &out.x}) {
    const std::int64_t reach = dim->dilation * (dim->kernel - 1) + 1;
    const std::int64_t room = dim->size + 2 * dim->padding - reach;
    if (room < 0) throw OpError("no block fits an image of " + print_sizes({height, width}));
    dim->blocks = room / dim->stride + 1;
  }
  return out;
}

// With a batch in front, if it has none: `rank` dimensions then.
Tensor batched(const Tensor& tensor, std::int64_t rank) {
  return tensor.rank() == rank ? tensor : unsqueezed(tensor, 0);
}

void check_folding(const Tensor& self, std::int64_t rank) {
  bool fits = self.rank() == rank || self.rank() == rank - 1;
  for (std::int64_t d = self.rank() - rank + 1; fits && d < self.rank(); ++d) {
    fits = d < 0 || self.sizes[at(d)] != 0;
  }
  if (!fits) throw OpError("sizes " + print_sizes(self.sizes) + " do not fold");
}

// ---- im2col

void infer_im2col(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_folding(self, 4);
  const SlidingImage image = sliding_image(call, self.size(-2), self.size(-1));
  Sizes sizes = {self.size(-3) * image.taps(), image.blocks()};
  if (self.rank() == 4) sizes.insert(sizes.begin(), self.sizes[0]);
  call.make(self.dtype, std::move(sizes));
}
Launch bind_im2col(const Binding& call) {
  const Tensor self = batched(call.tensor("self"), 4);
  const Tensor result = batched(call.result(), 3);
  const SlidingImage image = sliding_image(call, self.size(-2), self.size(-1));
  // [N, C, kernel, kernel, blocks, blocks]
  Tensor columns = result;
  columns.sizes = {self.sizes[0],  self.sizes[1],  image.y.kernel,
                   image.x.kernel, image.y.blocks, image.x.blocks};
  const std::int64_t row = result.strides[1];
  const std::int64_t block = result.strides[2];
  columns.strides = {result.strides[0],      image.taps() * row,
                     image.x.kernel * row,   row,
                     image.x.blocks * block, block};
  std::vector<Launch> launches = {fill_launch(call.listener(), result, {})};
  for (std::int64_t ky = 0; ky < image.y.kernel; ++ky) {
    for (std::int64_t kx = 0; kx < image.x.kernel; ++kx) {
      Tensor target = selected(selected(columns, 2, ky), 2, kx);
      Tensor source = self;
      std::int64_t d = 2;
      bool is_empty = false;
      for (const auto& [dim, tap] : {std::pair{image.y, ky}, std::pair{image.x, kx}}) {
        const std::int64_t first = dim.first(tap);
        const std::int64_t count = dim.last(tap) - first;
        is_empty |= count <= 0;
        if (is_empty) break;
        const std::int64_t from = dim.start(tap) + first * dim.stride;
        target = narrowed(target, d, first, count);
        source = sliced(source, d, from, from + (count - 1) * dim.stride + 1, dim.stride);
        ++d;
      }
      if (!is_empty) launches.push_back(copy_launch(call.listener(), target, source));
    }
  }
  return in_turn(std::move(launches));
}

// ---- col2im

SlidingImage folded_image(const KernelCall& call) {
  const Extents size = spatial_values(call.integers("output_size"), 2, 1);
  return sliding_image(call, size[1], size[2]);
}

void infer_col2im(Inference& call) {
  const Tensor& self = call.tensor("self");
  check_folding(self, 3);
  const SlidingImage image = folded_image(call);
  if (self.size(-2) % image.taps() != 0 || self.size(-1) != image.blocks()) {
    throw OpError("columns of sizes " + print_sizes(self.sizes) + " are not " +
                  std::to_string(image.blocks()) + " blocks of " + std::to_string(image.taps()));
  }
  call.want_workspace(scratch_bytes(image.y.size * image.x.size) + scratch_bytes(image.blocks()));
  Sizes sizes = {self.size(-2) / image.taps(), image.y.size, image.x.size};
  if (self.rank() == 3) sizes.insert(sizes.begin(), self.sizes[0]);
  call.make(self.dtype, std::move(sizes));
}
Launch bind_col2im(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const SlidingImage image = folded_image(call);
  return with_compute(self.dtype, [&]<class C>() -> Launch {
    const std::int64_t area = image.y.size * image.x.size;
    auto* plane = reinterpret_cast<C*>(call.workspace());
    auto* blocks = reinterpret_cast<C*>(call.workspace() + scratch_bytes(area));
    return [=, rows = Rows(self, {self.rank() - 1}),
            planes = Rows(call.result(), plane_dims(call.result(), 2))] {
      for (std::int64_t p = 0; p < planes.count(); ++p) {
        std::fill(plane, plane + area, C{0});
        for (std::int64_t tap = 0; tap < image.taps(); ++tap) {
          const std::int64_t ky = tap / image.x.kernel;
          const std::int64_t kx = tap % image.x.kernel;
          rows.load(p * image.taps() + tap, blocks);
          for (std::int64_t by = image.y.first(ky); by < image.y.last(ky); ++by) {
            const std::int64_t y = image.y.start(ky) + by * image.y.stride;
            for (std::int64_t bx = image.x.first(kx); bx < image.x.last(kx); ++bx) {
              const std::int64_t x = image.x.start(kx) + bx * image.x.stride;
              plane[y * image.x.size + x] += blocks[by * image.x.blocks + bx];
            }
          }
        }
        planes.store(p, plane);
      }
    };
  });
}

}  // namespace

std::span<const Kernel> folding_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.col2im", infer_col2im, bind_col2im},
      Kernel{"aten.im2col", infer_im2col, bind_im2col}.any_dtype().moves("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
