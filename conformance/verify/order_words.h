// How findings about order say which step wrote what, and when.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/verify/rule_families.h"

namespace graphgate::verify {

// What is wrong with one tensor: a token that nobody expects, or a writer that is not there.
struct Mismatch {
  std::optional<Writer> unexpected;  // a token of the flow
  std::optional<Writer> missing;     // a writer of the graph
  ByteRange range;                   // of the plan's buffer
};

// The end of a sentence that began with who reads what: " as 'mul_' (aten.mul_.Tensor) in step 2
// 'mul_' left it; the graph says input 'x'". `expected` are writers of the graph; times are told as
// seen from `step`.
[[nodiscard]] std::string order_words(const RuleCase& rule_case, const Mismatch& mismatch,
                                      const Writers& expected, std::uint32_t step);

}  // namespace graphgate::verify
