// Words in one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphgate {

// Returns the words with `between` between them: join_words({"a", "b"}, ", ") is "a, b". A word
// behind nothing but empty ones has nothing before it.
[[nodiscard]] std::string join_words(const std::vector<std::string>& words,
                                     std::string_view between);

}  // namespace graphgate
