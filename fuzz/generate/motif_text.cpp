// Texts of motifs and their choices; declared in motif_text.h.
#include "fuzz/generate/motif_text.h"

#include <algorithm>

#include "base/result.h"

namespace graphgate::fuzz {
namespace {

constexpr std::string_view kChoose = "choose ";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(between);
    parts.emplace_back(trimmed(text.substr(0, end)));
    GRAPHGATE_CHECK(!parts.back().empty());
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

MotifChoice read_choice(std::string_view line) {
  const std::size_t equals = line.find(" = ");
  GRAPHGATE_CHECK(equals != std::string_view::npos);
  MotifChoice choice;
  choice.names = parts_of(line.substr(0, equals), ';');
  for (const std::string& alternative : parts_of(line.substr(equals + 3), '|')) {
    choice.alternatives.push_back(parts_of(alternative, ';'));
    GRAPHGATE_CHECK(choice.alternatives.back().size() == choice.names.size());
  }
  return choice;
}

bool continues_name(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

void replace_name(std::string& text, const std::string& name, const std::string& by) {
  const std::string written = "$" + name;
  for (std::size_t at = text.find(written); at != std::string::npos; at = text.find(written, at)) {
    const std::size_t end = at + written.size();
    if (end < text.size() && continues_name(text[end])) {
      at = end;
      continue;
    }
    text.replace(at, written.size(), by);
    at += by.size();
  }
}

}  // namespace

std::vector<MotifText> read_motif_texts(std::string_view file) {
  std::vector<MotifText> motifs;
  MotifText motif;
  std::string choice;  // its lines so far
  const auto end_choice = [&] {
    if (!choice.empty()) motif.choices.push_back(read_choice(choice));
    choice.clear();
  };
  while (!file.empty()) {
    const std::size_t length = std::min(file.find('\n'), file.size() - 1) + 1;
    const std::string_view line = file.substr(0, length);
    const std::string_view words = line.substr(0, line.find_last_not_of('\n') + 1);
    file.remove_prefix(length);
    if (motif.program.empty() && trimmed(words).starts_with('|')) {
      choice += words;
      continue;
    }
    end_choice();
    if (words.starts_with(kChoose)) {
      choice = words.substr(kChoose.size());
    } else if (words.starts_with("program ") || !motif.program.empty()) {
      motif.program += line;
      if (words != "}") continue;
      motifs.push_back(std::move(motif));
      motif = {};
    } else {
      GRAPHGATE_CHECK(words.empty() || words.starts_with('#'));
    }
  }
  GRAPHGATE_CHECK(motif.program.empty() && motif.choices.empty());
  return motifs;
}

std::string text_with(const MotifText& motif, std::span<const std::uint32_t> picks) {
  GRAPHGATE_CHECK(picks.size() == motif.choices.size());
  std::string text = motif.program;
  // Alternatives have names of other choices, which have no others.
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t c = 0; c < picks.size(); ++c) {
      const MotifChoice& choice = motif.choices[c];
      for (std::size_t n = 0; n < choice.names.size(); ++n) {
        replace_name(text, choice.names[n], choice.alternatives[picks[c]][n]);
      }
    }
  }
  GRAPHGATE_CHECK(text.find('$') == std::string::npos);
  return text;
}

}  // namespace graphgate::fuzz
