// Global settings of the process, kept for the caller.
//
// Strict numerics wants rounding to nearest and subnormal numbers as IEEE 754 has them; a caller
// may have set other modes, and a user's pass or compiler may set what it likes. GlobalSettings
// gives a compile and a call what they need, and gives the caller back what was there, on every way
// out:
//
//   floating point   rounding mode, flush-to-zero, denormals-are-zero, exception flags and masks,
//   of
//                    this thread: IEEE's defaults inside
//   environment      GRAPHGATE_* variables: as they were outside; those that work inside set,
//   altered
//                    or removed are put back
#pragma once

#include <cfenv>
#include <map>
#include <string>

namespace graphgate::optimized {

class GlobalSettings {
 public:
  GlobalSettings();
  ~GlobalSettings();
  GlobalSettings(const GlobalSettings&) = delete;
  GlobalSettings& operator=(const GlobalSettings&) = delete;

 private:
  std::fenv_t floating_point_{};
  std::map<std::string, std::string> environment_;
};

}  // namespace graphgate::optimized
