#include "optimized/cache/entry_file.h"

#include <algorithm>

#include "base/sha256.h"

namespace graphgate::optimized {
namespace {

constexpr std::string_view kTitle = "graphgate plan entry 1\n";
constexpr std::string_view kChecksum = "checksum ";

bool is_hash(std::string_view text) {
  return text.size() == kSha256Digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Takes "WORD HASH\n" off the front.
std::optional<std::string> take_hash(std::string_view& text, std::string_view word) {
  const std::size_t line_size = word.size() + kSha256Digits + 1;
  if (text.size() < line_size || text.substr(0, word.size()) != word) return std::nullopt;
  const std::string_view hash = text.substr(word.size(), kSha256Digits);
  if (!is_hash(hash) || text[line_size - 1] != '\n') return std::nullopt;
  text.remove_prefix(line_size);
  return std::string(hash);
}

}  // namespace

std::string print_entry(const EntryFile& entry) {
  std::string text(kTitle);
  text += "folder " + entry.folder + "\nartifact " + entry.artifact + "\n" + entry.factors;
  return text + std::string(kChecksum) + sha256_hex(text) + "\n";
}

Result<EntryFile> parse_entry(std::string_view text) {
  const std::size_t end_size = kChecksum.size() + kSha256Digits + 1;
  if (text.substr(0, kTitle.size()) != kTitle) return bad_input("this is no entry of this version");
  if (text.size() < kTitle.size() + end_size) return bad_input("the entry is cut");
  std::string_view end = text.substr(text.size() - end_size);
  const std::string_view body = text.substr(0, text.size() - end_size);
  const auto checksum = take_hash(end, kChecksum);
  if (!checksum || *checksum != sha256_hex(body)) return bad_input("the entry is damaged");
  std::string_view rest = body.substr(kTitle.size());
  const auto folder = take_hash(rest, "folder ");
  const auto artifact = folder ? take_hash(rest, "artifact ") : std::nullopt;
  if (!artifact) return bad_input("the entry is damaged");
  return EntryFile{*folder, *artifact, std::string(rest)};
}

}  // namespace graphgate::optimized
