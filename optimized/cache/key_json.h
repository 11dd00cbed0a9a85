// Key factors as JSON, for people: {"section": {"factor": "value", ...}, ...}.
//
// Nothing reads it back. Bytes that are no UTF-8 are shown as U+FFFD.
#pragma once

#include <string>

#include "optimized/cache/key.h"

namespace graphgate::optimized {

// Ends in a line end.
[[nodiscard]] std::string print_factors_json(const KeyFactors& factors);

}  // namespace graphgate::optimized
