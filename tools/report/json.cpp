// Reports as JSON.
#include "base/formatted.h"
#include "tools/report/forms.h"

namespace graphgate::tools {
namespace {

// JSON leaves DEL and C1 as they are, which terminals follow; both stand in strings alone.
std::string without_controls(const std::string& json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const unsigned char next = i + 1 < json.size() ? static_cast<unsigned char>(json[i + 1]) : 0;
    const bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (byte != 0x7f && !is_c1) {
      out += json[i];
      continue;
    }
    out += formatted("\\u%04x", static_cast<unsigned>(is_c1 ? next : byte));
    i += is_c1 ? 1 : 0;
  }
  return out;
}

}  // namespace

std::string json_line(const nlohmann::ordered_json& json, int indent) {
  return without_controls(
      json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string print_json(const nlohmann::ordered_json& json) { return json_line(json, 2) + "\n"; }

std::string print_json(const Report& report) { return print_json(report.facts); }

}  // namespace graphgate::tools
