// What an oracle knows of inputs after a call, those that it leaves out too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/executor.h"

namespace graphgate::conformance {

// Returns the spread of final input `index` of an oracle's result. Where the oracle left it out,
// as it does with a large input that nobody wrote (spec/spread_limit.h), each element is exactly
// its bytes: then the spread is made in `made`. Null where there is no such spread.
[[nodiscard]] const spec::Spread* spread_of_input(const spec::CallResult& oracle, std::size_t index,
                                                  spec::Spread& made);

// Whether the oracle left the spread of final input `index` out.
[[nodiscard]] bool is_input_left_out(const spec::CallResult& oracle, std::size_t index);

// Counts the numbers that the spread of final input `index` has or would have.
[[nodiscard]] std::int64_t numbers_of_input(const spec::CallResult& oracle, std::size_t index);

}  // namespace graphgate::conformance
