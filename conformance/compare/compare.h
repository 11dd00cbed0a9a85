// Comparing what an executor produced with what an oracle allows, and with a recorded geometry.
//
// Verdicts are data: a comparison says how far, where, and in which words, never true or false
// alone. The policies for special values:
//   NaN         where the oracle has NaN, NaN is required; elsewhere it is an error
//   infinity    required where the oracle has it; allowed where value + radius reaches overflow
//   -0.0, +0.0  equal; recorded data movement is compared bit by bit elsewhere
//   subnormals  ordinary numbers, with the spacing they have
//   complex     part by part: the real and the imaginary part are two numbers, with a radius each
#pragma once

#include <cstdint>
#include <string>

#include "spec/executor.h"
#include "spec/outcome.h"

namespace graphgate::conformance {

// The comparison of one tensor's elements. `ratio` is |error| / allowed: above 1 is outside. A
// complex element counts as two, its parts.
struct ValueComparison {
  std::int64_t elements = 0;
  std::int64_t undecided = 0;  // elements of which the oracle cannot tell
  std::int64_t outside = 0;    // elements beyond what is allowed
  double worst_ratio = 0;      // over decided elements with a radius; 0 when every error is 0
  double worst_error = 0;      // at the element of worst_ratio
  double worst_allowed = 0;
  std::int64_t worst_index = -1;  // among Spread::values; -1 when every error is 0
  std::string message;            // empty unless outside > 0: the worst element in words

  [[nodiscard]] bool ok() const { return outside == 0; }
};

// Every element must lie within `multiple` radii of the oracle's value. An element of radius 0 must
// be the oracle's value rounded to the tensor's dtype. Counts that differ are a programmer's error:
// compare geometry first.
[[nodiscard]] ValueComparison compare_values(const spec::HostTensor& actual,
                                             const spec::Spread& expected, double multiple);

// A float64 tensor without dimensions, which holds the number: numbers are compared as tensors are.
[[nodiscard]] spec::HostTensor number_tensor(double number);

// The number of standard deviations that none of `elements` independent normal errors exceeds, but
// with probability `false_alarm_rate`: the union bound with the tail 2 exp(-k^2 / 2).
[[nodiscard]] double sigma_multiple(std::int64_t elements, double false_alarm_rate);

// What is known of an expected tensor beside its values.
struct Geometry {
  spec::DType dtype = spec::DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;
  std::optional<spec::Device> device;  // compared by type, when given
};
[[nodiscard]] Geometry geometry_of(const spec::HostTensor& tensor);

// Empty when dtype, sizes (and device) agree, else what differs in words.
[[nodiscard]] std::string compare_form(const spec::HostTensor& actual, const Geometry& expected);
// The same of strides and offset, of tensors of the same form. Strides of dimensions of size 1 mean
// nothing and are ignored; so are the offset and all strides of tensors without elements.
[[nodiscard]] std::string compare_layout(const spec::HostTensor& actual, const Geometry& expected);

}  // namespace graphgate::conformance
