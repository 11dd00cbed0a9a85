// Reports as JSON.
#include "tools/report/forms.h"

namespace graphgate::tools {

std::string print_json(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string print_json(const Report& report) { return print_json(report.facts); }

}  // namespace graphgate::tools
