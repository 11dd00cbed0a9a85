#include "optimized/wrapper/global_settings.h"

#include <unistd.h>

#include <cstdlib>

#include "optimized/cache/key.h"

namespace graphgate::optimized {

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
