// How large calls are judged by tiles (tiles.h).
#pragma once

#include <cstdint>

namespace graphgate::conformance {

struct TileOptions {
  // Calls with more elements than twice as many are judged by tiles of about so many.
  std::int64_t elements = std::int64_t{1} << 20;
  int jobs = 1;  // tiles at a time
};

}  // namespace graphgate::conformance
