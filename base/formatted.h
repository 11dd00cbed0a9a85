// Numbers in words: printf into a string.
#pragma once

#include <string>

namespace graphgate {

// What printf would print. The compiler holds the arguments to the format.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

}  // namespace graphgate
