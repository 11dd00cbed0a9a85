// Pointwise ops from a formula: promotion, broadcasting, strides and the in-place form are handled
// here; a body gives only f.
//
//   void silu(Call& call) { pointwise_real(call, {"self"}, [](auto x) { return x / (1.0 + exp(-x));
//   }); }
//
// f takes one number per operand and returns a number (the common dtype) or, from real numbers, a
// Whole (bool). Operands are tensors or numbers, named as in the schema. A number is an operand
// like any other: a tensor without dimensions, converted to the common dtype before f sees it (so
// 0.1 beside bfloat16 is the bfloat16 nearest to 0.1).
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "reference/call.h"

namespace graphgate::reference {

// The operands of one pointwise call.
struct Operands {
  std::vector<Datum> data;
  std::vector<TensorRef> tensors;  // those of `data` that are tensors
  spec::DType common;              // result_type of all
  Sizes sizes;                     // what the tensors broadcast to
  // ATen's mul and div keep a last operand of one element in the compute dtype (float32 beside
  // bfloat16) instead of converting it to the common one.
  bool wide_last = false;
  // ATen makes the result as empty_like(self) and not by TensorIterator, which has strides of its
  // own where a size is 1 or 0.
  bool like_self = false;
};
[[nodiscard]] Operands gather_operands(const Call& call,
                                       std::initializer_list<std::string_view> names);

// The strides of a new result over these operands: numbers count as tensors without dimensions.
[[nodiscard]] Sizes operand_strides(const Operands& operands);

// A view of a tensor that has `sizes`. Throws OpError where it does not stretch to them.
[[nodiscard]] Tensor stretched_operand(const Tensor& tensor, const Sizes& sizes);

// The operands, where the next result can be written block by block while they are read so: those
// over which it lies in another order are copies.
[[nodiscard]] Operands read_before_writing(const Call& call, Operands operands);

// Whether the last operand is a number or a tensor of one element.
[[nodiscard]] bool last_is_single(const Operands& operands);

// Throws OpError when an in-place or out= op would write `dtype` into a tensor of a lower category
// (floating to integer, anything but bool to bool). Throws it too when arithmetic on an 8-bit
// floating dtype is asked for.
void check_result_fits(const Call& call, spec::DType dtype);
void refuse_float8(const Call& call, spec::DType dtype);
// Throws OpError unless the dtype is floating, or integral (bool included).
void require_floating(const Call& call, spec::DType dtype);
void require_integral(const Call& call, spec::DType dtype);
void refuse_bool(const Call& call, spec::DType dtype);

// The number arguments of ops that are no operands (bounds, fill values): throws OpError where
// `dtype` cannot hold the number; then it is converted.
void check_number_fits(const Datum& datum, spec::DType dtype);
template <class N>
[[nodiscard]] N checked_number(const Datum& datum, spec::DType dtype) {
  check_number_fits(datum, dtype);
  const N x = number<N>(datum, dtype);
  if constexpr (std::is_same_v<N, Whole>) {
    return x;
  } else {
    return cast(x, dtype);
  }
}

namespace detail {

// Reads an operand by blocks, stretched to `sizes` and converted to `dtype`. Throws OpError where
// it does not stretch.
template <class N>
class OperandReader {
 public:
  OperandReader(const Datum& datum, spec::DType dtype, const Sizes& sizes) {
    if (const auto* tensor = datum.as<TensorRef>()) {
      elements_.emplace(stretched_operand(**tensor, sizes), dtype);
    } else if constexpr (std::is_same_v<N, Whole>) {
      number_ = number<N>(datum, dtype);
    } else {
      number_ = cast(number<N>(datum, dtype), dtype);
    }
  }

  void read(std::span<N> block) {
    if (elements_) return elements_->read(block);
    std::ranges::fill(block, number_);
  }

 private:
  std::optional<Reader<N>> elements_;
  N number_{};
};

// An operand as an array of `sizes`, converted to `dtype`.
template <class N>
Array<N> operand_array(const Datum& datum, spec::DType dtype, const Sizes& sizes) {
  Array<N> out(sizes);
  OperandReader<N>(datum, dtype, sizes).read(out.data);
  return out;
}

// The elements of an operand one by one.
template <class N>
class ElementReader {
 public:
  ElementReader(const Datum& datum, spec::DType dtype, const Sizes& sizes)
      : left_(count_of(sizes)), reader_(datum, dtype, sizes) {}

  // One must be left.
  const N& next() {
    if (at_ == block_.size()) {
      block_.resize(static_cast<std::size_t>(std::min(left_, kBlockElements)));
      left_ -= std::ssize(block_);
      reader_.read(block_);
      at_ = 0;
    }
    return block_[at_++];
  }

 private:
  std::int64_t left_;
  OperandReader<N> reader_;
  std::vector<N> block_;
  std::size_t at_ = 0;
};

// The dtype that operand i is converted to.
inline spec::DType operand_dtype(const Operands& operands, spec::DType common, std::size_t i) {
  const bool wide = operands.wide_last && i + 1 == operands.data.size();
  return wide && spec::is_floating_point(common) && last_is_single(operands) ? compute_dtype(common)
                                                                             : common;
}

// f of the operands, block by block in row-major order.
template <class N, std::size_t kOperands>
class FormulaReader {
 public:
  FormulaReader(const Operands& operands, spec::DType dtype) {
    for (std::size_t i = 0; i < kOperands; ++i) {
      readers_.emplace_back(operands.data[i], operand_dtype(operands, dtype, i), operands.sizes);
    }
  }

  template <class Out, class F>
  void read(std::span<Out> out, F& f) {
    for (std::size_t i = 0; i < kOperands; ++i) {
      blocks_[i].resize(out.size());
      readers_[i].read(blocks_[i]);
    }
    apply(out, f, std::make_index_sequence<kOperands>());
  }

 private:
  template <class Out, class F, std::size_t... I>
  void apply(std::span<Out> out, F& f, std::index_sequence<I...>) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = f(static_cast<const N&>(blocks_[I][i])...);
    }
  }

  std::vector<OperandReader<N>> readers_;
  std::array<std::vector<N>, kOperands> blocks_;
};

// What f makes of so many numbers.
template <class N, class F, class Indices>
struct ResultOfFormula;
template <class N, class F, std::size_t... I>
struct ResultOfFormula<N, F, std::index_sequence<I...>> {
  using Type = std::decay_t<decltype(std::declval<F&>()(
      (static_cast<void>(I), std::declval<const N&>())...))>;
};
template <class N, class F, class Indices>
using ResultOf = typename ResultOfFormula<N, F, Indices>::Type;

template <class N, class F, std::size_t... I>
auto apply_formula(const Operands& operands, spec::DType dtype, const F& f,
                   std::index_sequence<I...> indices) {
  using Out = ResultOf<N, const F, decltype(indices)>;
  FormulaReader<N, sizeof...(I)> formula(operands, dtype);
  Array<Out> out(operands.sizes);
  for (std::size_t done = 0; done < out.data.size();) {
    const std::size_t size =
        std::min(out.data.size() - done, static_cast<std::size_t>(kBlockElements));
    formula.read(std::span<Out>(out.data).subspan(done, size), f);
    done += size;
  }
  return out;
}

// How many numbers F takes.
template <class F, class N>
constexpr std::size_t arity() {
  if constexpr (std::is_invocable_v<F, N>)
    return 1;
  else if constexpr (std::is_invocable_v<F, N, N>)
    return 2;
  else if constexpr (std::is_invocable_v<F, N, N, N>)
    return 3;
  else
    return 4;
}

}  // namespace detail

// Emits a formula of so many operands, with these strides.
template <class N, std::size_t kOperands, class F>
void emit_formula_as(Call& call, const Operands& operands, spec::DType compute, spec::DType result,
                     const Sizes& strides, F& f) {
  using Indices = std::make_index_sequence<kOperands>;
  using Out = detail::ResultOf<N, F, Indices>;
  detail::FormulaReader<N, kOperands> formula(read_before_writing(call, operands), compute);
  call.emit_blocks<Out>(operands.sizes, result, strides,
                        [&](std::span<Out> block) { formula.read(block, f); });
}

// One formula over operands already gathered, computed in `compute`, emitted as `result`.
template <class N, class F>
void emit_formula(Call& call, const Operands& operands, spec::DType compute, spec::DType result,
                  F f) {
  constexpr std::size_t n = detail::arity<F, N>();
  GRAPHGATE_CHECK(operands.data.size() == n);
  check_result_fits(call, result);
  emit_formula_as<N, n>(call, operands, compute, result, operand_strides(operands), f);
}

// For functions of real numbers: integers are taken as float32.
template <class F>
void pointwise_real(Call& call, std::initializer_list<std::string_view> names, F f,
                    bool like_self = false) {
  Operands operands = gather_operands(call, names);
  operands.like_self = like_self;
  const spec::DType dtype = to_floating(operands.common);
  refuse_float8(call, dtype);
  with_real(call.mode(), [&]<class N>() { emit_formula<N>(call, operands, dtype, dtype, f); });
}

// For functions of any number, in the common dtype of the operands.
template <class F>
void pointwise(Call& call, std::initializer_list<std::string_view> names, F f,
               bool like_self = false) {
  Operands operands = gather_operands(call, names);
  operands.like_self = like_self;
  const spec::DType dtype = operands.common;
  refuse_float8(call, dtype);
  with_number(call.mode(), dtype,
              [&]<class N>() { emit_formula<N>(call, operands, dtype, dtype, f); });
}

// For predicates: f returns a Whole, the result is bool.
template <class F>
void pointwise_bool(Call& call, std::initializer_list<std::string_view> names, F f) {
  const Operands operands = gather_operands(call, names);
  with_number(call.mode(), operands.common, [&]<class N>() {
    emit_formula<N>(call, operands, operands.common, spec::DType::kBool, f);
  });
}

}  // namespace graphgate::reference
