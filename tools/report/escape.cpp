#include "tools/report/escape.h"

#include <algorithm>
#include <cctype>

#include "base/one_line.h"
#include "base/utf8.h"

namespace graphgate::tools {
namespace {

std::string with_backslashes(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Percent-encoding of all but letters, digits and `plain`.
std::string encoded(std::string_view text, std::string_view plain) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || plain.find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

}  // namespace

std::string plain_name(std::string_view name) { return one_line(name, kLongestName); }

std::string plain_text(std::string_view text) { return one_line(text, kLongestText); }

std::string indented(const std::string& text, const char* indent) {
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += indent + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

spec::Finding plain_finding(spec::Finding finding) {
  finding.rule = plain_name(finding.rule);
  finding.message = plain_text(finding.message);
  finding.drawing = plain_lines(finding.drawing, kLongestText);
  finding.program = plain_name(finding.program);
  for (std::string& node : finding.nodes) node = plain_name(node);
  for (std::string& buffer : finding.buffers) buffer = plain_name(buffer);
  for (spec::FindingRange& range : finding.ranges) range.where = plain_name(range.where);
  return finding;
}

std::string xml_text(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    const std::string_view character = text.substr(i, std::max<std::size_t>(length, 1));
    const bool is_blank = c == '\n' || c == '\t' || c == '\r';
    const bool has_none = length == 0 || (!is_blank && one_line(character) != character);
    if (has_none) {
      out += kReplacement;
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += character;
    }
    i += character.size();
  }
  return out;
}

std::string xml_attribute(std::string_view text) {
  std::string out;
  for (const char c : xml_text(text)) {
    const bool is_blank = c == '\n' || c == '\t' || c == '\r';
    out += is_blank ? "&#" + std::to_string(static_cast<int>(c)) + ";" : std::string(1, c);
  }
  return out;
}

// Outside of its strings JSON has none of these.
std::string html_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += with_backslashes({&c, 1}, "\\`*[]|~");
    }
  }
  return out;
}

// A span ends at a run of as many backticks as it begins with.
std::string markdown_code(std::string_view name) {
  const std::string plain = one_line(name);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : plain) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 ? " " : "";
  return fence + pad + with_backslashes(plain, "|") + pad + fence;
}

std::string markdown_link(std::string_view target) {
  const bool is_web = target.starts_with("https://") || target.starts_with("http://");
  const bool has_scheme = target.substr(0, target.find('/')).find(':') != std::string_view::npos;
  return has_scheme && !is_web ? "#" : encoded(target, "-._~/!$*,;=@:?#%&+");
}

std::string uri_text(std::string_view path) { return encoded(path, "-._~/!$'()*,;=@"); }

std::string sarif_text(std::string_view text) {
  const std::string plain = plain_lines(text);
  std::string out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    const bool is_digit = rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1])) != 0;
    if (rest.starts_with("](")) out += '\\';
    if (rest[0] == '{' && is_digit) out += '{';
    out += rest[0];
  }
  return out;
}

std::string dot_label(std::string_view text) {
  return '"' + with_backslashes(plain_lines(text), "\"\\") + '"';
}

std::string file_name_part(std::string_view text, std::size_t most) {
  std::string name;
  for (const char c : one_line(text, most)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                          std::string_view("._-+=,@ ").find(c) != std::string_view::npos ||
                          static_cast<unsigned char>(c) >= 0x80;
    name += is_plain ? c : '_';
  }
  return name;
}

}  // namespace graphgate::tools
