// Any bytes as a name or a message in each form of report: what comes out belongs there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/one_line.h"
#include "base/utf8.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"

namespace {

using namespace graphgate;

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

// Bytes that steer a terminal, but for those in `blanks`.
bool has_control(std::string_view text, std::string_view blanks = "") {
  return std::ranges::any_of(text, [&](const char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 || byte == 0x7f) && blanks.find(c) == std::string_view::npos;
  });
}

void check_line(const std::string& line) {
  GRAPHGATE_CHECK(is_utf8(line) && !has_control(line));
  GRAPHGATE_CHECK(one_line(line) == line);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_line(one_line(text));
  check_line(tools::plain_name(text));
  check_line(tools::plain_text(text));
  GRAPHGATE_CHECK(tools::plain_name(text).size() <= tools::kLongestName + 8);
  check_line(tools::markdown_text(text));
  check_line(tools::markdown_code(text));
  check_line(tools::markdown_link(text));
  check_line(tools::uri_text(text));
  check_line(tools::file_name_part(text, 100));
  GRAPHGATE_CHECK(!has(tools::markdown_text(text), "<"));
  GRAPHGATE_CHECK(!has(tools::markdown_link(text), "(") && !has(tools::markdown_link(text), "<"));
  GRAPHGATE_CHECK(!tools::markdown_link(text).starts_with("javascript:"));
  GRAPHGATE_CHECK(!has(tools::file_name_part(text, 100), "/"));
  const std::string xml = tools::xml_text(text);
  GRAPHGATE_CHECK(is_utf8(xml) && !has_control(xml, "\n\t\r") && !has(xml, "<"));
  GRAPHGATE_CHECK(!has(xml, "\xef\xbf\xbe") && !has(xml, "\xef\xbf\xbf"));
  const std::string attribute = tools::xml_attribute(text);
  GRAPHGATE_CHECK(is_utf8(attribute) && !has_control(attribute) && !has(attribute, "\""));
  GRAPHGATE_CHECK(is_utf8(tools::sarif_text(text)) && is_utf8(tools::dot_label(text)));
  const std::string json = tools::print_json(tools::Json{{"text", text}});
  GRAPHGATE_CHECK(is_utf8(json) && !has_control(json, "\n"));
  const std::string html = tools::html_json(json);
  GRAPHGATE_CHECK(!has(html, "<") && !has(html, ">") && !has(html, "&"));
  const auto again = tools::Json::parse(html, nullptr, /*allow_exceptions=*/false);
  GRAPHGATE_CHECK(again == tools::Json::parse(json, nullptr, /*allow_exceptions=*/false));
  return 0;
}
