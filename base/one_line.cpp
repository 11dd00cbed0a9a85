#include "base/one_line.h"

namespace graphgate {
namespace {

// The bytes of the UTF-8 character that begins there; 0 where none does, or one that steers
// terminals (C1).
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  std::size_t size = 0;
  if (first >= 0xc2 && first < 0xe0) size = 2;
  if (first >= 0xe0 && first < 0xf0) size = 3;
  if (first >= 0xf0 && first < 0xf5) size = 4;
  if (size == 0 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool is_other = (first == 0xc2 && second < 0xa0) || (first == 0xe0 && second < 0xa0) ||
                        (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
                        (first == 0xf4 && second >= 0x90);
  return is_other ? 0 : size;
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
