// What the losses share: their reduction, and strides of what a composite op makes on the way.
// Called by loss.cpp and class_loss.cpp.
#pragma once

#include "reference/call.h"
#include "reference/number/sum.h"

namespace graphgate::reference {

// The argument `reduction`, as at::Reduction numbers it.
enum class LossReduction : std::uint8_t { kNone = 0, kMean = 1, kSum = 2 };

// Returns it. Throws OpError for any other number.
[[nodiscard]] inline LossReduction loss_reduction(const Call& call) {
  const std::int64_t number = call.integer("reduction");
  if (number < 0 || number > 2) throw OpError("a reduction is 0 (none), 1 (mean) or 2 (sum)");
  return static_cast<LossReduction>(number);
}

// Returns the sum or the mean of the losses, which the executor holds in `dtype`; sums of 16-bit
// losses are float32 until the result is rounded.
template <class N>
[[nodiscard]] N reduced_loss(const Array<N>& losses, LossReduction reduction, spec::DType dtype) {
  Sum<N> sum;
  for (const N& loss : losses.data) sum.add(held_in(loss, dtype));
  if (reduction == LossReduction::kSum) return sum.result();
  return sum.result() / N(static_cast<double>(losses.count()));
}

// Emits the losses in `dtype`: as they are, with `strides`, or reduced to one number.
template <class N>
void emit_losses(Call& call, const Array<N>& losses, spec::DType dtype, const Sizes& strides) {
  const LossReduction reduction = loss_reduction(call);
  if (reduction == LossReduction::kNone) return call.emit(losses, dtype, strides);
  call.emit(Array<N>(Sizes{}, reduced_loss(losses, reduction, dtype)), dtype);
}

}  // namespace graphgate::reference
