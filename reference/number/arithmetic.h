// The declared arithmetic: what an executor may do in a dot product, and in float32 beside it.
//
// Strict is IEEE: operands as they are, float32 (float64) accumulators rounded to nearest, any
// order, fused or not. Matrix units do less, and a bound must say so. A product of two operands of
// at most 12 significant bits is exact in float32 in all of them.
//
//   name        operands of float32   accumulator          which hardware
//   strict      24 bits               24 bits, to nearest  scalar and vector units
//   tf32        11 bits, truncated    24 bits, truncated   tensor cores with TF32 allowed
//   tensor-core 24 bits               24 bits, truncated   tensor cores, f16 and bf16 operands
//   fp8         24 bits               14 bits, truncated   float8 tensor cores (Hopper)
//   fast        24 bits               24 bits, to nearest  fused kernels
//   approximate 24 bits               24 bits, truncated   fused kernels on a GPU
//
// Fast is what fusing compilers make of chains of ops where nobody asks for the roundings of eager
// mode. A value goes to the next op as wide as it was computed, through explicit casts, too.
// Approximate is that on a GPU, on tensor cores, with float32 quotients, square roots and
// exponentials by the unit's approximations, and subnormal operands and results as 0.
//
// Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ
// Computer Science 7:e330 (2021). By it products are exact, and terms of a block are aligned to the
// largest and truncated. The first generation has no guard bits, so a step loses up to 2u of the
// block's largest term for each term. Blanchard, Higham, Lopez, Mary, Pranesh, "Mixed precision
// block fused multiply-add", SIAM J. Sci. Comput. 42(3) (2020): the error of sums of blocks.
// DeepSeek-V3 technical report (arXiv 2412.19437), section 3.5.2: float8 products keep about 14
// bits when they are accumulated. TF32's conversion keeps 10 stored fraction bits (NVIDIA A100
// whitepaper); code that hands float32 bits to the unit truncates them. Approximations: PTX ISA
// 9.0, div.full.f32 (2 ulp), sqrt.approx.f32 (relative 2^-23), ex2.approx.f32 (2 ulp), each with
// .ftz. There exp(x) is ex2 of x times log2(e), rounded, which moves it by |x| half ulps for the
// product and as much for the factor.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "spec/dtype.h"

namespace graphgate::reference {

struct Arithmetic {
  std::string_view name = "strict";
  // Significant bits of float32 operands of products; what lies behind them is cut off.
  int operand_bits = 24;
  // Significant bits of the accumulator that float32 sums of products go to.
  int accumulator_bits = 24;
  // The smallest block of terms that are aligned together; blocks are added one after the other.
  int block = 4;
  // Terms are cut off instead of rounded, and each is aligned to the largest of its block: a term
  // and its block's sum lose up to one unit in the accumulator's last place each.
  bool truncates = false;
  // What several indices send to one element may be added in its own dtype, be it narrow (atomic
  // additions), and so may a bias to a product, where PyTorch's CPU kernels keep float32 sums.
  bool adds_in_dtype = false;
  // Casts to narrower dtypes may be left out where the next op computes in a wider one.
  bool keeps_wide = false;
  // Float32 division, square root and exponential are the GPU's approximations, and subnormal
  // operands and results may count as zero of their sign.
  bool approximates = false;
  // Declared beside the name: CUDA's kernels decide what PyTorch leaves to kernels; otherwise its
  // CPU kernels do, and it is what they give.
  bool has_cuda_kernels = false;
  // Declared instead of that: an engine's own kernels do, and where PyTorch promises nothing of
  // equal elements, it is open which comes first.
  bool has_own_kernels = false;
  // Declared with that: what they refuse and the CPU's take is refused.
  bool refuses_as_cuda = false;
  // Declared beside the name: convolutions of float32 may go to a GPU's matrix units as TF32.
  bool tf32_convolutions = false;
  // Never declared: an op asks for it where its kernels take subnormal float32 for 0 (flushed.h).
  bool flushes_float32 = false;
  // Declared beside the name: products of tensors of this dtype may be summed in parts, which are
  // rounded to it, and added up in it (split_sum.h).
  bool splits_float16 = false;
  bool splits_bfloat16 = false;

  // Whether it is open which of equal elements comes first, where PyTorch leaves it to kernels.
  [[nodiscard]] constexpr bool opens_ties() const { return has_cuda_kernels || has_own_kernels; }
  [[nodiscard]] constexpr bool splits(spec::DType dtype) const {
    if (dtype == spec::DType::kFloat16) return splits_float16;
    return dtype == spec::DType::kBFloat16 && splits_bfloat16;
  }
  // Whether there is such a declaration for products of this dtype: of 16-bit ones alone.
  constexpr bool declare_splits(spec::DType dtype) {
    if (dtype == spec::DType::kFloat16) splits_float16 = true;
    if (dtype == spec::DType::kBFloat16) splits_bfloat16 = true;
    return splits(dtype);
  }
};

inline constexpr Arithmetic kArithmetics[] = {
    {"strict", 24, 24, 4, false},           {"tf32", 11, 24, 4, true, true},
    {"tensor-core", 24, 24, 4, true, true}, {"fp8", 24, 14, 4, true, true},
    {"fast", 24, 24, 4, false, true, true}, {"approximate", 24, 24, 4, true, true, true, true}};

// One of these by name; nothing for another name.
[[nodiscard]] constexpr std::optional<Arithmetic> parse_arithmetic(std::string_view name) {
  for (const Arithmetic& arithmetic : kArithmetics) {
    if (arithmetic.name == name) return arithmetic;
  }
  return std::nullopt;
}

// "strict, tf32, ... or approximate".
[[nodiscard]] inline std::string arithmetic_names() {
  std::string text;
  for (const Arithmetic& arithmetic : kArithmetics) {
    const bool is_last = &arithmetic == std::end(kArithmetics) - 1;
    text += text.empty() ? "" : is_last ? " or " : ", ";
    text += arithmetic.name;
  }
  return text;
}

// The arithmetic that the running thread's oracle is asked for. Ops' bodies know nothing of it;
// executor.cpp sets it for a run.
[[nodiscard]] inline Arithmetic& declared_arithmetic() {
  thread_local Arithmetic arithmetic;
  return arithmetic;
}

// Sets it as long as it lives.
class DeclaredArithmetic {
 public:
  explicit DeclaredArithmetic(const Arithmetic& arithmetic) : before_(declared_arithmetic()) {
    declared_arithmetic() = arithmetic;
  }
  DeclaredArithmetic(const DeclaredArithmetic&) = delete;
  DeclaredArithmetic& operator=(const DeclaredArithmetic&) = delete;
  ~DeclaredArithmetic() { declared_arithmetic() = before_; }

 private:
  Arithmetic before_;
};

}  // namespace graphgate::reference
