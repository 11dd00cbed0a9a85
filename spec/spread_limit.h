// Up to which size an oracle says what it knows of inputs that nobody wrote.
#pragma once

#include <cstdint>

namespace graphgate::spec {

// Elements. Of a larger input that lies as the caller gave it, an oracle leaves out the spread
// (CallResult): each element is exactly its bytes, and 24 bytes an element would say no more.
inline constexpr std::int64_t kMostSpreadElements = std::int64_t{1} << 21;

}  // namespace graphgate::spec
