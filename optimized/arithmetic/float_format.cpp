#include "optimized/arithmetic/float_format.h"

namespace graphgate::optimized {

// The ends of every format, checked whenever this file is compiled.
static_assert(float_to_f16(65519.0F) == 0x7bff && float_to_f16(65520.0F) == 0x7c00);
static_assert(float_to_f16(0x1p-25F) == 0 && float_to_f16(0x1.8p-25F) == 1);
static_assert(float_to_bf16(0x1.fffffep127F) == 0x7f80);
static_assert(float_to_f8e4m3fn(464.0F) == 0x7e && float_to_f8e4m3fn(464.5F) == 0x7f);
static_assert(float_to_f8e5m2(57344.0F) == 0x7b && float_to_f8e5m2(61440.0F) == 0x7c);
static_assert(f16_to_float(1) == 0x1p-24F && f8e4m3fn_to_float(1) == 0x1p-9F);
static_assert(f8e5m2_to_float(1) == 0x1p-16F && bf16_to_float(0x4049) == 3.140625F);

}  // namespace graphgate::optimized
