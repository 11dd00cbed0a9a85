#include "optimized/wrapper/global_settings.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace graphgate::optimized {
namespace {

std::map<std::string, std::string> own_environment() {
  constexpr std::string_view kPrefix = "GRAPHGATE_";
  std::map<std::string, std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.substr(0, kPrefix.size()) != kPrefix) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

GlobalSettings::GlobalSettings() : environment_(own_environment()) {
  std::fegetenv(&floating_point_);
  std::fesetenv(FE_DFL_ENV);  // the control register too, and flush-to-zero in it
}

GlobalSettings::~GlobalSettings() {
  for (const auto& [name, value] : own_environment()) {
    if (!environment_.contains(name)) ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : environment_) {
    const char* now = std::getenv(name.c_str());
    if (now == nullptr || value != now) ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::fesetenv(&floating_point_);
}

}  // namespace graphgate::optimized
