// UTF-8 (RFC 3629), taken apart.
#pragma once

#include <cstddef>
#include <string_view>

namespace graphgate {

// The bytes of the character that begins at `at`; 0 where none does.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace graphgate
