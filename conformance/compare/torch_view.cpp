#include "conformance/compare/torch_view.h"

#include <cmath>
#include <span>

#include "conformance/compare/element.h"

namespace graphgate::conformance {
namespace {

using spec::DType;
using spec::HostTensor;

struct Tolerance {
  long double relative = 0;
  long double absolute = 0;
};

// The table of torch.testing's documentation; integers and what it does not list must be equal.
Tolerance tolerance_of(DType dtype) {
  switch (spec::component_dtype(dtype)) {
    case DType::kFloat64:
      return {1e-7L, 1e-7L};
    case DType::kFloat32:
      return {1.3e-6L, 1e-5L};
    case DType::kFloat16:
      return {1e-3L, 1e-5L};
    case DType::kBFloat16:
      return {1.6e-2L, 1e-5L};
    default:
      return {};
  }
}

bool is_close(long double actual, long double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) && std::isnan(expected);
  if (actual == expected) return true;
  if (!std::isfinite(actual) || !std::isfinite(expected)) return false;
  return std::abs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

// Of complex numbers, the distance counts, not that of their parts.
bool is_close(std::span<const long double> a, std::span<const long double> e,
              const Tolerance& tolerance) {
  if (a.size() == 1) return is_close(a[0], e[0], tolerance);
  const auto has_nan = [](auto z) { return std::isnan(z[0]) || std::isnan(z[1]); };
  if (has_nan(a) || has_nan(e)) return has_nan(a) && has_nan(e);
  if (a[0] == e[0] && a[1] == e[1]) return true;
  const long double far = std::hypot(a[0] - e[0], a[1] - e[1]);
  return std::isfinite(far) &&
         far <= tolerance.absolute + tolerance.relative * std::hypot(e[0], e[1]);
}

bool are_close(const HostTensor& actual, const HostTensor& expected) {
  if (actual.dtype != expected.dtype || actual.sizes != expected.sizes) return false;
  const auto a = decode_elements(actual);
  const auto e = decode_elements(expected);
  const Tolerance tolerance = tolerance_of(expected.dtype);
  const std::span<const long double> x(a);
  const std::span<const long double> y(e);
  const std::size_t parts = parts_of(actual.dtype);
  for (std::size_t i = 0; i < a.size(); i += parts) {
    if (!is_close(x.subspan(i, parts), y.subspan(i, parts), tolerance)) return false;
  }
  return true;
}

}  // namespace

std::string torch_difference(const spec::CallResult& actual, const spec::CallResult& expected) {
  if (actual.outputs.size() != expected.outputs.size()) return "another count of outputs";
  for (std::size_t o = 0; o < actual.outputs.size(); ++o) {
    const auto* a = std::get_if<HostTensor>(&actual.outputs[o]);
    const auto* e = std::get_if<HostTensor>(&expected.outputs[o]);
    if (!a && !e) continue;
    if (!a || !e || !are_close(*a, *e)) return "output " + std::to_string(o);
  }
  return "";
}

}  // namespace graphgate::conformance
