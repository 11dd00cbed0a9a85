#include "tools/gate/side_choice.h"

#include <algorithm>
#include <string_view>

namespace graphgate::tools {
namespace {

// Where "cmd:", "python:" or "vllm:" stands: at the beginning, or behind "NAME="; npos where
// nowhere.
std::size_t find_form(const std::string& text) {
  std::size_t first = std::string::npos;
  for (const std::string word : {"cmd:", "python:", "vllm:"}) {
    if (text.starts_with(word)) return 0;
    const std::size_t named = text.find("=" + word);
    if (named != std::string::npos && named > 0) first = std::min(first, named + 1);
  }
  return first;
}

}  // namespace

Result<SideChoice> parse_side(const std::string& text, const SubjectSettings& settings) {
  SideChoice side;
  side.name = text;
  side.text = text;
  const std::size_t form = find_form(text);
  if (form == std::string::npos && text.ends_with(".json")) {
    side.file = text;
    return side;
  }
  if (form == std::string::npos) side.profile = text;
  if (form != std::string::npos && form > 0) side.name = text.substr(0, form - 1);
  if (form != std::string::npos) side.text = text.substr(form);
  auto made = make_subject(form == std::string::npos ? "optimized" : text.substr(form), settings);
  if (!made.ok()) return made.error().at("'" + text + "'");
  side.subject = std::move(made).value();
  return side;
}

}  // namespace graphgate::tools
