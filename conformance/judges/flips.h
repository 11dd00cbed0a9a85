// Changes of an input that a program must notice.
//
// judge_vacuity makes them one at a time, and looks whether anything that the program returns
// changes with them. New contents are of the kind that was there: integers stay near valid indices,
// booleans are turned over, floats change sign or place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/executor.h"

namespace graphgate::conformance {

enum class Flip : std::uint8_t {
  kRotate,      // every element takes the next one's place
  kAll,         // every element becomes another: -x, 1 for 0 and NaN, i ^ 1, not b
  kOneElement,  // one of them does, drawn from the seed
};

// The contents after the flip, in storage of their own; nothing where the flip changes no bit (no
// elements, or all the same).
[[nodiscard]] std::optional<spec::HostTensor> flipped(const spec::HostTensor& tensor, Flip flip,
                                                      std::uint64_t seed);
[[nodiscard]] std::optional<spec::InputValue> flipped(const spec::InputValue& value, Flip flip,
                                                      std::uint64_t seed);

}  // namespace graphgate::conformance
