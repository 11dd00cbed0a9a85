// One escape for each format, since names and messages are a file's or an executor's. What a
// terminal shows is made plain by base/one_line.h, JSON by print_json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "spec/finding.h"

namespace graphgate::tools {

// Bytes of one text that goes into a report, what a refusal or a finding says; and of a name.
// Longer ones are cut.
inline constexpr std::size_t kLongestText = 16U << 10U;
inline constexpr std::size_t kLongestName = 200;

// One line each, plain for a terminal, and cut.
[[nodiscard]] std::string plain_name(std::string_view name);
[[nodiscard]] std::string plain_text(std::string_view text);
[[nodiscard]] spec::Finding plain_finding(spec::Finding finding);

// Each line behind `indent`: no line of another's begins where ours do.
[[nodiscard]] std::string indented(const std::string& text, const char* indent);

// For an element of XML 1.0. What it has no place for, or what steers a terminal, becomes U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);
// The same for an attribute, on one line.
[[nodiscard]] std::string xml_attribute(std::string_view text);

// JSON as the contents of an element `script` of HTML: nothing in it ends the element, or begins a
// comment there.
[[nodiscard]] std::string html_json(std::string_view json);

// Words of a paragraph or a cell of GitHub's Markdown: one line, no markup, no HTML.
[[nodiscard]] std::string markdown_text(std::string_view text);
// A name as code, in a cell, too.
[[nodiscard]] std::string markdown_code(std::string_view name);

// The target of a link, percent-encoded: an address of the web or a path; what else it may be
// ("javascript:") comes to "#".
[[nodiscard]] std::string markdown_link(std::string_view target);

// A path as a reference (RFC 3986): what that has no place for is percent-encoded.
[[nodiscard]] std::string uri_text(std::string_view path);

// A message of SARIF 2.1.0: no link (3.11.6) and no placeholder (3.11.5).
[[nodiscard]] std::string sarif_text(std::string_view text);

// A label of Graphviz's, with its quotes.
[[nodiscard]] std::string dot_label(std::string_view text);

// A part of the name of a file, cut: no folder, nothing that a shell or an archive takes otherwise.
// "golden/models/a.pt2" -> "golden_models_a.pt2".
[[nodiscard]] std::string file_name_part(std::string_view text, std::size_t most);

}  // namespace graphgate::tools
