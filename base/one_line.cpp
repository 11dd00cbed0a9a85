#include "base/one_line.h"

#include "base/utf8.h"

namespace graphgate {
namespace {

// What ends a line (U+2028, U+2029), turns the direction of writing (U+202A to U+202E, U+2066 to
// U+2069), or is no character (U+FFFE, U+FFFF).
bool is_special(std::string_view character) {
  return (character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae") ||
         (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9") ||
         (character >= "\xef\xbf\xbe" && character <= "\xef\xbf\xbf");
}

// The bytes of the character that begins there; 0 where none does, or one that steers terminals
// (C0, DEL, C1, and those above).
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const std::size_t size = utf8_length(text, at);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const bool is_control = (size == 1 && (byte(at) < 0x20 || byte(at) == 0x7f)) ||
                          (size == 2 && byte(at) == 0xc2 && byte(at + 1) < 0xa0);
  return is_control || (size == 3 && is_special(text.substr(at, size))) ? 0 : size;
}

std::string plain(std::string_view text, std::size_t most, bool keeps_lines) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= most) return out + "...";
    const std::size_t size = character_bytes(text, at);
    if (size > 0) out += text.substr(at, size);
    const char c = text[at];
    const bool is_blank = c == '\n' || c == '\r' || c == '\t';
    if (size == 0) out += is_blank ? (keeps_lines && c == '\n' ? '\n' : ' ') : '?';
    at += size > 0 ? size : 1;
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) { return plain(text, most, false); }

std::string plain_lines(std::string_view text, std::size_t most) { return plain(text, most, true); }

}  // namespace graphgate
