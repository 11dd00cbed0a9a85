#include "optimized/geometry/planes.h"

#include <string>

namespace graphgate::optimized {

Extents plane_extents(const Sizes& sizes, int spatial) {
  Extents out = {1, 1, 1};
  for (int i = 0; i < spatial; ++i) {
    out[static_cast<std::size_t>(kSpatialDims - 1 - i)] =
        sizes[sizes.size() - 1 - static_cast<std::size_t>(i)];
  }
  return out;
}

std::vector<std::int64_t> plane_dims(const Tensor& tensor, int spatial) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = tensor.rank() - spatial; d < tensor.rank(); ++d) out.push_back(d);
  return out;
}

Extents spatial_values(const Sizes& values, int spatial, std::int64_t neutral) {
  const auto wanted = static_cast<std::size_t>(spatial);
  if (values.size() != 1 && values.size() != wanted) {
    throw OpError("expected " + std::to_string(spatial) + " values, not " + print_sizes(values));
  }
  Extents out = {neutral, neutral, neutral};
  for (std::size_t i = 0; i < wanted; ++i) {
    out[kSpatialDims - wanted + i] = values.size() == 1 ? values[0] : values[i];
  }
  return out;
}

void check_planes(const Tensor& tensor, int spatial) {
  bool is_sound = tensor.rank() == spatial + 1 || tensor.rank() == spatial + 2;
  for (std::int64_t d = tensor.rank() == spatial + 2 ? 1 : 0; is_sound && d < tensor.rank(); ++d) {
    is_sound = tensor.size(d) != 0;
  }
  if (!is_sound) {
    throw OpError("sizes " + print_sizes(tensor.sizes) + " are not channels of " +
                  std::to_string(spatial) + " spatial dimensions");
  }
}

Sizes with_plane(const Tensor& tensor, const Extents& extents, int spatial) {
  Sizes out = tensor.sizes;
  out.resize(out.size() - static_cast<std::size_t>(spatial));
  out.insert(out.end(), extents.end() - spatial, extents.end());
  return out;
}

Window window_of(const KernelCall& call, int spatial) {
  Window out;
  const Sizes kernel = call.integers("kernel_size");
  const Sizes stride = call.has("stride") ? call.integers("stride") : Sizes{};
  out.kernel = spatial_values(kernel, spatial, 1);
  out.stride = spatial_values(stride.empty() ? kernel : stride, spatial, 1);
  out.padding = spatial_values(call.integers("padding"), spatial, 0);
  out.dilation = call.has("dilation") ? spatial_values(call.integers("dilation"), spatial, 1)
                                      : Extents{1, 1, 1};
  out.ceil_mode = call.boolean("ceil_mode");
  for (std::size_t d = 0; d < kSpatialDims; ++d) {
    if (out.kernel[d] <= 0 || out.stride[d] <= 0 || out.dilation[d] <= 0) {
      throw OpError("a window's sizes, strides and dilations must be positive");
    }
    const std::int64_t reach = out.dilation[d] * (out.kernel[d] - 1) + 1;
    if (out.padding[d] < 0 || out.padding[d] > reach / 2) {
      throw OpError("padding " + std::to_string(out.padding[d]) +
                    " is outside [0, half of the window's " + std::to_string(reach) + "]");
    }
  }
  return out;
}

Extents window_counts(const Window& window, const Extents& in, int spatial) {
  Extents out = {1, 1, 1};
  for (std::size_t d = static_cast<std::size_t>(kSpatialDims - spatial); d < kSpatialDims; ++d) {
    const std::int64_t stride = window.stride[d];
    const std::int64_t last_start =
        in[d] + 2 * window.padding[d] - window.dilation[d] * (window.kernel[d] - 1) - 1;
    if (last_start < 0 && !(window.ceil_mode && last_start + stride > 0)) {
      throw OpError("the window is larger than the padded input of size " + std::to_string(in[d]));
    }
    out[d] = (last_start + (window.ceil_mode ? stride - 1 : 0)) / stride + 1;
    // A window that ceil_mode adds must start inside the input or its left padding.
    if (window.ceil_mode && (out[d] - 1) * stride >= in[d] + window.padding[d]) --out[d];
    if (out[d] <= 0) throw OpError("no window fits the input of size " + std::to_string(in[d]));
  }
  return out;
}

}  // namespace graphgate::optimized
