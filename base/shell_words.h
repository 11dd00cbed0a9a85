// Words of a POSIX shell: text that may be pasted there, and what was pasted taken apart again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate {

// Returns one word of sh that stands for exactly this text: as it is where nothing in it means
// something to a shell, else in single quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

// Returns the words as one line, each by shell_word.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

// Returns the words that sh would make of a line: blanks, quotes and backslashes as it reads them.
// Nothing is expanded. kBadInput where a quote has no end.
[[nodiscard]] Result<std::vector<std::string>> split_shell_line(std::string_view line);

}  // namespace graphgate
