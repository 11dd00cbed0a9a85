// Texts of others in messages of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graphgate {

// Returns the text as a part of one line. An end of a line becomes a blank. What would steer a
// terminal or is no UTF-8 becomes a question mark. What is longer than `most` bytes is cut.
[[nodiscard]] std::string one_line(std::string_view text,
                                   std::size_t most = std::string_view::npos);

// The same, line by line: ends of lines stay.
[[nodiscard]] std::string plain_lines(std::string_view text,
                                      std::size_t most = std::string_view::npos);

}  // namespace graphgate
