// Pointwise kernels from one line each: a name, a PointwiseSignature and a function of one element.
//
//   constexpr PointwiseSignature kReal{.operands = 1, .numbers = Numbers::kReal};
//   const Kernel kKernels[] = {
//       pointwise_kernel<kReal>("aten.exp", [](auto x) { return exp(x); }),
//   };
//
// The operands are the first arguments of the schema, tensors or numbers. Each is converted to the
// common dtype first (torch.result_type, as TensorIterator casts), then widened to the compute type
// C of loop.h. The function's result is rounded once into the common dtype (or is a bool). Then it
// is converted to the dtype of the tensor it is written into. Ops with more to say (alpha, a
// rounding mode) write their own infer and bind around infer_pointwise and launch_pointwise.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "optimized/codegen/type_text.h"
#include "optimized/codegen/work.h"
#include "optimized/loop.h"
#include "optimized/promotion.h"
#include "optimized/strides.h"

namespace graphgate::optimized {

// The common dtypes that an op has; others throw OpError.
enum class Numbers : std::uint8_t {
  kAny,
  kNotBool,
  kFloating,  // float dtypes only
  kReal,      // integers and bool are computed as float32
  kIntegral,  // integers and bool
};

struct PointwiseSignature {
  int operands = 1;  // 1 to 3
  Numbers numbers = Numbers::kAny;
  bool gives_bool = false;     // the result is a bool, whatever is compared
  bool exact_number = false;   // the second operand, when it has one element, is not rounded to a
                               // narrower floating common dtype first (mul and div, as in ATen on a
                               // CPU); in an integer one it wraps
  bool all_one_dtype = false;  // no promotion: tensor operands of another dtype are refused
  bool is_like_self = false;   // ATen makes the result as empty_like(self): also a stride of a
                               // dimension of size 1 is self's
};

// The dtype in which the call computes. Throws OpError for one that the signature excludes.
[[nodiscard]] spec::DType common_dtype(const KernelCall& call, const PointwiseSignature& signature);

// Makes the one result of a pointwise call, of `dtype`, over the first `operands` arguments. Throws
// OpError when an in-place or out= form cannot take it: a float result for an integer tensor, or a
// written tensor that holds an element twice.
void make_pointwise(Inference& call, spec::DType dtype, int operands);
// The same with the strides that empty_like(self) has.
void make_like_self(Inference& call, spec::DType dtype);
// The same over any tensors.
void make_over(Inference& call, spec::DType dtype, std::span<const Tensor* const> inputs);
// The checks alone.
void check_written(const KernelCall& call, spec::DType dtype);

// A number argument in the compute type, as Scalar::to<dtype> converts it: OpError where it
// overflows the dtype (floats to integers truncate; infinities and NaN stay in floats).
template <class C>
[[nodiscard]] C checked_number(const Item& item, spec::DType dtype);
// The check alone.
void check_number(const Item& item, spec::DType dtype);

// Writes a number argument as one element of `dtype`: rounded, truncated, wrapped or made a bool.
void store_number(const Item& item, spec::DType dtype, std::byte* at);

// The greatest finite value of a float dtype.
[[nodiscard]] double greatest_finite(spec::DType dtype);

// Reads n elements of `dtype` as elements of `as`, widened to C: what a cast to `as` would give.
template <class C>
void load_tile_as(spec::DType as, spec::DType dtype, const std::byte* first,
                  std::int64_t stride_bytes, int n, C* out);

// One operand of a launch: elements of a tensor, or one number for all.
template <class C>
struct Source {
  Source(const Tensor& tensor, spec::DType as_dtype);
  // A tensor or a number; a number is rounded to `as_dtype`.
  Source(const Item& item, spec::DType as_dtype);
  Tensor tensor;
  spec::DType as;
  bool is_number = false;
  C number{};
};

// The dtype that holds every value of C.
template <class C>
[[nodiscard]] constexpr spec::DType native_dtype() {
  if (std::is_same_v<C, double>) return spec::DType::kFloat64;
  return std::is_same_v<C, float> ? spec::DType::kFloat32 : spec::DType::kInt64;
}

// Bools are stored as bytes.
template <class R>
using StoredAs = std::conditional_t<std::is_same_v<R, bool>, std::uint8_t, R>;

// Writes n results of one function behind each other, from elements of type C that lie behind each
// other at in[0], in[1]...; where `number` is not null, it stands for each element of in[1].
template <class C>
using ElementMap = std::function<void(const std::byte* const* in, const C* number, std::int64_t n,
                                      std::byte* out)>;

inline constexpr std::size_t kMostOperands = 6;

// A launch over the sources of a function that gives R, which is compiled into `map` alone: what is
// around it is compiled once (pointwise_launch.cpp). `text` is the function for a device, and
// whether it reports faults; "" where nobody listens, or where it has no spelling. `sources` are
// moved from.
template <class C, class R>
[[nodiscard]] Launch launch_mapped(const Tensor& result, spec::DType rounds_to,
                                   std::span<Source<C>> sources, ElementMap<C> map,
                                   std::string text, bool reports_faults);

// A launch of result[i] = f(sources[i]...), with C for every argument of f, rounded to `rounds_to`.
// Unlike loop.h's pointwise it knows numbers and casts operands to their `as` dtype.
// Where f is of elements.h, or refuses divisors of 0 and has such a one as F::Unchecked, a device
// that listens is told (codegen/work.h).
template <class C, std::size_t N, class F>
[[nodiscard]] Launch launch_sources(const DeviceListener* listener, const Tensor& result,
                                    spec::DType rounds_to, std::array<Source<C>, N> sources, F f);

// The same over tensors that are read as they are: they are not cast to a common dtype first.
template <class C, class F, class... Tensors>
[[nodiscard]] Launch launch_tensors(const DeviceListener* listener, const Tensor& result,
                                    spec::DType rounds_to, F f, const Tensors&... tensors) {
  std::array<Source<C>, sizeof...(Tensors)> sources = {Source<C>(tensors, tensors.dtype)...};
  return launch_sources<C>(listener, result, rounds_to, std::move(sources), std::move(f));
}

// Calls f.operator()<C>() with the compute type of a common dtype that the signature allows.
template <PointwiseSignature kSignature, class F>
auto with_common(spec::DType common, F&& f) {
  if constexpr (kSignature.numbers == Numbers::kIntegral) {
    return f.template operator()<std::int64_t>();
  } else if constexpr (kSignature.numbers == Numbers::kReal ||
                       kSignature.numbers == Numbers::kFloating) {
    return with_real(common, std::forward<F>(f));
  } else {
    return with_compute(common, std::forward<F>(f));
  }
}

template <PointwiseSignature kSignature>
void infer_pointwise(Inference& call);

// Binds the call; make.operator()<C>() gives the function of one element.
template <PointwiseSignature kSignature, class Make>
[[nodiscard]] Launch launch_pointwise(const Binding& call, Make&& make);

// A kernel whose function takes nothing but the operands.
template <PointwiseSignature kSignature, class F>
[[nodiscard]] constexpr Kernel pointwise_kernel(std::string_view name, F f);

}  // namespace graphgate::optimized

#include "optimized/kernels/pointwise_inl.h"
