// A hash of the sources of spec/ and optimized/: plans of other code are not found again.
//
// The build makes the definition (code_hash.cmake), anew whenever a source changes.
#pragma once

#include <string_view>

namespace graphgate::optimized {

extern const std::string_view kCodeHash;  // 64 hexadecimal digits

}  // namespace graphgate::optimized
