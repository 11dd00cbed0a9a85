#include "optimized/codegen/plane_text.h"

#include "optimized/codegen/spelling.h"
#include "optimized/geometry/planes.h"

namespace graphgate::optimized {
namespace {

// "x2", the coordinate of spatial dimension d (of three) of an element of `tensor` at x0, x1...
std::string spatial_coordinate(const Tensor& tensor, int spatial, int d) {
  const int given = d - (kSpatialDims - spatial);
  return given < 0 ? "0" : "x" + text_of(tensor.rank() - spatial + given);
}

// Statements, at x0, x1... of the result: the extents of self's planes as `in`, the place in its
// own plane as `at`, and `plane(z, y, x)`, which reads one of self's elements.
std::string plane_text(const PlaneWork& work, std::size_t self_pointer) {
  const Tensor& self = work.self;
  Sizes strides = strides_in_bytes(self);
  const Sizes inner(strides.end() - work.spatial, strides.end());
  strides.resize(strides.size() - inner.size());
  std::string from = "first";
  constexpr std::array<const char*, kSpatialDims> kNames = {"z", "y", "x"};
  for (std::size_t d = 0; d < inner.size(); ++d) {
    from += joined({" + ", kNames.at(kNames.size() - inner.size() + d), " * ", text_of(inner[d])});
  }
  std::string text = "  const Extents at{";
  for (int d = 0; d < kSpatialDims; ++d) {
    text += (d == 0 ? "" : ", ") + spatial_coordinate(work.result, work.spatial, d);
  }
  const Extents in = plane_extents(self.sizes, work.spatial);
  text += joined({"};\n  const Extents in{", text_of(in[0]), ", ", text_of(in[1]), ", ",
                  text_of(in[2]), "};\n"});
  text += "  const char* const first = p" + text_of(static_cast<std::int64_t>(self_pointer)) +
          " + " + offset_text(strides, "x") + ";\n";
  return text + "  const auto plane = [&](std::int64_t z, std::int64_t y, std::int64_t x) -> " +
         compute_name(self.dtype) + " {\n    return " +
         load_text(self.dtype, self.dtype, self.dtype, from) + ";\n  };\n";
}

// "device::store<F>(pK + ..., value);" at x0, x1...
std::string store_text(const Tensor& tensor, std::size_t pointer, const std::string& value) {
  return joined({"  device::store<", format_name(tensor.dtype), ">(p",
                 text_of(static_cast<std::int64_t>(pointer)), " + ",
                 offset_text(strides_in_bytes(tensor), "x"), ", ", value, ");\n"});
}

TextWork begin(std::vector<DeviceAccess> accesses, std::int64_t threads, std::string what) {
  TextWork out;
  for (const DeviceAccess& access : accesses) out.pointers.push_back(access.tensor.data());
  out.accesses = std::move(accesses);
  out.threads = threads;
  out.what = std::move(what);
  out.shares_launches = true;
  return out;
}

}  // namespace

TextWork max_pool_text(const PlaneWork& work, const Tensor* places, std::uint64_t least) {
  TextWork out = begin({{work.result, true}, {work.self, false}}, work.result.count(), "max_pool");
  const std::string c = compute_name(work.self.dtype);
  out.statements = "  if (thread >= " + text_of(out.threads) + ") return;\n" +
                   coordinates_text(work.result.sizes, "thread", "x") + plane_text(work, 1) +
                   "  const auto best = element::greatest_of_part<" + c + ">(plane, in, " +
                   work.function + "(at), " + number_text(work.self.dtype, least) + ");\n" +
                   store_text(work.result, 0, "best.value");
  if (places == nullptr) return out;
  out.statements += store_text(*places, 2, "best.place");
  out.pointers.push_back(places->data());
  out.accesses.push_back({*places, true});
  return out;
}

TextWork average_pool_text(const PlaneWork& work) {
  const std::int64_t count = work.result.count();
  TextWork out = begin({{work.result, true}, {work.self, false}}, count * 32, "avg_pool");
  const std::string c = compute_name(work.self.dtype);
  out.statements = "  const std::int64_t place = thread / 32;\n  if (place >= " + text_of(count) +
                   ") return;\n" + coordinates_text(work.result.sizes, "place", "x") +
                   plane_text(work, 1) + "  const auto part = " + work.function +
                   "(at);\n"
                   "  const std::int64_t height = part.end[1] - part.begin[1];\n"
                   "  const std::int64_t width = part.end[2] - part.begin[2];\n"
                   "  const std::int64_t count = part.count();\n  const " +
                   c + " sum = ordered_sum_of<" + c + ">(count, [&](std::int64_t i) -> " + c +
                   " {\n    return plane(part.begin[0] + i / width / height, part.begin[1] + i / "
                   "width % height, "
                   "part.begin[2] + i % width);\n  });\n  if (threadIdx.x % 32 != 0) return;\n" +
                   store_text(work.result, 0,
                              "count == 0 ? " + c + "(0) : static_cast<" + c +
                                  ">(sum / static_cast<" + c + ">(part.divisor))");
  return out;
}

TextWork max_pool_backward_text(const Tensor& result, const Tensor& gradient, const Tensor& places,
                                int spatial) {
  TextWork out = begin({{result, true}, {gradient, false}, {places, false}}, result.count(),
                       "max_pool_backward");
  out.reports_faults = true;
  const std::string c = compute_name(gradient.dtype);
  const std::string in = text_of(volume(plane_extents(result.sizes, spatial)));
  // Where a window's element lies: the coordinates before the planes' are the result's.
  const auto leading = [&](const Tensor& tensor) {
    Sizes strides = strides_in_bytes(tensor);
    strides.resize(strides.size() - static_cast<std::size_t>(spatial));
    return offset_text(strides, "x");
  };
  const auto inner = [&](const Tensor& tensor) {
    Sizes strides = strides_in_bytes(tensor);
    strides.erase(strides.begin(), strides.end() - spatial);
    return offset_text(strides, "w");
  };
  const Sizes windows(gradient.sizes.end() - spatial, gradient.sizes.end());
  std::string own = "0";
  for (int d = 0; d < kSpatialDims; ++d) {
    own = joined({"(", own, ") * ",
                  text_of(plane_extents(result.sizes, spatial)[static_cast<std::size_t>(d)]), " + ",
                  spatial_coordinate(result, spatial, d)});
  }
  std::string& text = out.statements;
  text = "  if (thread >= " + text_of(out.threads) + ") return;\n" +
         coordinates_text(result.sizes, "thread", "x") + "  const std::int64_t own = " + own +
         ";\n  " + c + " sum = 0;\n  for (std::int64_t w = 0; w < " +
         text_of(checked_count(windows)) + "; ++w) {\n" + coordinates_text(windows, "w", "w") +
         "  const std::int64_t place = " +
         load_text(places.dtype, places.dtype, places.dtype,
                   "p2 + " + leading(places) + " + " + inner(places)) +
         ";\n  if (place < 0 || place >= " + in + ") {\n    device::report(fault, place, 0, " + in +
         ", device::kIndexOutsidePlane);\n    return;\n  }\n  if (place == own) sum = "
         "element::Add{}(sum, " +
         load_text(gradient.dtype, gradient.dtype, gradient.dtype,
                   "p1 + " + leading(gradient) + " + " + inner(gradient)) +
         ");\n  }\n" + store_text(result, 0, "sum");
  return out;
}

TextWork resize_text(const PlaneWork& work,
                     const std::array<element::ResizedAxis, kSpatialDims>& axes) {
  TextWork out = begin({{work.result, true}, {work.self, false}}, work.result.count(), "resize");
  const std::string c = compute_name(work.self.dtype);
  const std::string w = c == "std::int64_t" ? "float" : c;
  std::string& text = out.statements;
  text = "  if (thread >= " + text_of(out.threads) + ") return;\n" +
         coordinates_text(work.result.sizes, "thread", "x") + plane_text(work, 1);
  for (std::size_t d = 0; d < kSpatialDims; ++d) {
    const element::ResizedAxis& axis = axes.at(d);
    text += joined({"  const auto t", text_of(static_cast<std::int64_t>(d)),
                    " = element::ResizedAxis{element::Resize{",
                    text_of(static_cast<std::int64_t>(axis.mode)), "}, ", text_of(axis.in), ", ",
                    text_of(axis.out), ", ", text_of(axis.aligns_corners), ", ",
                    text_of(axis.scale_bits), "}.taps<", w, ">(at[",
                    text_of(static_cast<std::int64_t>(d)), "]);\n"});
  }
  text +=
      store_text(work.result, 0, "element::interpolated<" + c + ", " + w + ">(plane, t0, t1, t2)");
  return out;
}

TextWork sample_text(const PlaneWork& work, const Tensor& grid, const element::Sampling& sampling) {
  TextWork out = begin({{work.result, true}, {work.self, false}, {grid, false}},
                       work.result.count(), "sample");
  const std::string c = compute_name(work.self.dtype);
  std::string& text = out.statements;
  text = "  if (thread >= " + text_of(out.threads) + ") return;\n" +
         coordinates_text(work.result.sizes, "thread", "x") + plane_text(work, 1) +
         joined({"  const element::Sampling sampling{element::Interpolation{",
                 text_of(static_cast<std::int64_t>(sampling.interpolation)), "}, element::Padding{",
                 text_of(static_cast<std::int64_t>(sampling.padding)), "}, ",
                 text_of(sampling.aligns_corners), "};\n"});
  // The point of x0 and the spatial coordinates.
  Sizes strides = strides_in_bytes(grid);
  const std::int64_t step = strides.back();
  strides.back() = 0;
  strides.insert(strides.begin() + 1, 0);
  strides.pop_back();
  text += "  const char* const point = p2 + " + offset_text(strides, "x") + ";\n";
  text += "  element::Taps<" + c + "> t0, t1, t2;\n  t0.add(0, " + c + "(1));\n";
  for (int d = 0; d < work.spatial; ++d) {
    const std::string axis = text_of(kSpatialDims - 1 - d);
    text += joined({"  t", axis, " = sampling.taps<", c, ">(",
                    load_text(grid.dtype, grid.dtype, grid.dtype, "point + " + text_of(d * step)),
                    ", in[", axis, "]);\n"});
  }
  text += store_text(work.result, 0, "element::sampled<" + c + ">(plane, t0, t1, t2)");
  return out;
}

}  // namespace graphgate::optimized
