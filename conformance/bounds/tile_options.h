// How large calls are judged by tiles (tiles.h).
#pragma once

#include <cstdint>
#include <memory>

namespace graphgate::conformance {

// What came of tiles in which nothing was off, by what was judged (tiles.h).
class PassedTiles;

struct TileOptions {
  // Calls with more elements than twice as many are judged by tiles of about so many.
  std::int64_t elements = std::int64_t{1} << 20;
  int jobs = 1;  // tiles at a time
  // Where several subjects run the same script: a tile that one of them has passed is not judged
  // again for another that has the same bits of everything. Null: each is judged.
  std::shared_ptr<PassedTiles> passed = {};
};

}  // namespace graphgate::conformance
