// How large a JSON document may be, looked at before any of it is built.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace graphgate::interop {

inline constexpr std::size_t kMaxJsonDepth = 256;

// Values are scalars, arrays and objects; names of members are none.
struct JsonLimits {
  std::size_t depth = kMaxJsonDepth;
  std::size_t values = 0;  // 0: any number
};

// kBadInput, saying which limit, for a text that goes beyond one. It need not be JSON otherwise.
[[nodiscard]] Result<void> check_json_limits(std::string_view text, const JsonLimits& limits);

}  // namespace graphgate::interop
