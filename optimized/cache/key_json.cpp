#include "optimized/cache/key_json.h"

#include <nlohmann/json.hpp>

namespace graphgate::optimized {

std::string print_factors_json(const KeyFactors& factors) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [section, values] : factors.sections()) json[section] = values;
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace graphgate::optimized
