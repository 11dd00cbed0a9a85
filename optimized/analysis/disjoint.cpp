// Telling elements of strided tensors apart.
#include <numeric>

#include "optimized/analysis/dependences.h"

namespace graphgate::optimized {
namespace {

// Bytes [begin, begin + length) of every period of `pitch` bytes; begin < pitch, and the window may
// run over the end of the period.
struct Window {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

// Where elements can lie within periods of `pitch` bytes: dimensions whose stride is a multiple of
// the pitch do not move an element inside its period, the others span the window.
Window window_of(const Tensor& tensor, std::int64_t pitch) {
  Window window{tensor.offset * tensor.item_bytes() % pitch, tensor.item_bytes()};
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    const std::int64_t stride = tensor.strides[d] * tensor.item_bytes();
    if (stride % pitch == 0) continue;
    const std::int64_t steps = tensor.sizes[d] - 1;
    if (steps > pitch / stride) return {0, pitch};  // leaves the period; no overflow below
    window.length += steps * stride;
  }
  return window;
}

bool windows_meet(const Window& a, const Window& b, std::int64_t pitch) {
  if (a.length >= pitch || b.length >= pitch) return true;
  const std::int64_t from_a = (b.begin - a.begin + pitch) % pitch;
  const std::int64_t from_b = (a.begin - b.begin + pitch) % pitch;
  return from_a < a.length || from_b < b.length;
}

}  // namespace

bool provably_disjoint(const Tensor& a, const Tensor& b) {
  if (a.storage != b.storage || !byte_range(a).overlaps(byte_range(b))) return true;
  if (same_geometry(a, b)) return false;  // as most that meet
  std::int64_t common = 0;
  const auto try_pitch = [&](std::int64_t pitch) {
    return pitch > 1 && !windows_meet(window_of(a, pitch), window_of(b, pitch), pitch);
  };
  for (const Tensor* tensor : {&a, &b}) {
    for (std::size_t d = 0; d < tensor->sizes.size(); ++d) {
      if (tensor->sizes[d] < 2) continue;
      const std::int64_t stride = tensor->strides[d] * tensor->item_bytes();
      common = std::gcd(common, stride);
      if (try_pitch(stride)) return true;
    }
  }
  return try_pitch(common);
}

}  // namespace graphgate::optimized
