// Plans as bytes: what the cache and ahead-of-time files hold.
//
// Plan text (spec/plan_text.h) is for people, and numbers a plan anew; this form keeps every id and
// every bit, NaN included, and is read many times faster. It says nothing of whether a plan is
// sound: whoever reads one checks it (check_plan).
//
//   "ggplan" version | fields in the order of spec/plan.h
//
// Integers are variable-length (7 bits a byte, zigzag), lists start with their count, names stand
// once and are numbers afterwards. A change of spec/plan.h does not compile until the field is
// listed in plan_codec.cpp, and then wants another kPlanCodecVersion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/plan.h"

namespace graphgate::optimized {

inline constexpr std::uint8_t kPlanCodecVersion = 1;

// decode_plan(encode_plan(p)) == p.
[[nodiscard]] std::string encode_plan(const spec::Plan& plan);

// kBadInput for bytes that are no plan of this version, whatever they are: no read goes beyond
// them, and what is allocated is bounded by their count.
[[nodiscard]] Result<spec::Plan> decode_plan(std::string_view bytes);

}  // namespace graphgate::optimized
