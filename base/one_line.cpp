#include "base/one_line.h"

#include "base/utf8.h"

namespace graphgate {
namespace {

// The bytes of the character that begins there; 0 where none does, or one that steers terminals
// (C0, DEL, C1).
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const std::size_t size = utf8_length(text, at);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const bool is_control = (size == 1 && (byte(at) < 0x20 || byte(at) == 0x7f)) ||
                          (size == 2 && byte(at) == 0xc2 && byte(at + 1) < 0xa0);
  return is_control ? 0 : size;
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
