#include "conformance/harness/executor_source.h"

namespace graphgate::conformance {

std::string print_configuration(const Configuration& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration) {
    text += (text.empty() ? "" : " ") + name + (value.empty() ? "" : "=" + value);
  }
  return text.empty() ? "default" : text;
}

Configuration merged(const Configuration& base, const Configuration& changes) {
  Configuration both = changes;
  both.insert(base.begin(), base.end());
  return both;
}

}  // namespace graphgate::conformance
