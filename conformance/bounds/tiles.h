// Calls against the oracle's estimate, some rows at a time: what the oracle knows of a large tensor
// need not be held as a whole.
#pragma once

#include <memory>

#include "conformance/bounds/estimate.h"
#include "conformance/bounds/tile_options.h"
#include "conformance/run/row_cut.h"

namespace graphgate::conformance {

// What the oracle leaves open of one output or final input.
struct OpenElements {
  std::string where;       // "output 0"
  std::int64_t count = 0;  // 0: nothing
  std::int64_t first = 0;  // in row-major order
  std::int64_t elements = 0;
};

// Makes one that knows of no tile. Several threads may use it at a time.
[[nodiscard]] std::shared_ptr<PassedTiles> no_passed_tiles();

struct TiledCall {
  EstimatedCall judged;
  std::vector<OpenElements> open;
};

// Judges call `index` of the subject's trace as judge_by_estimate() does, by rows that the program
// does not take together (row_cut.h). What is said of a result's values names the rows of the first
// tile in which it is so. kUnsupported, saying why, where the call is small, the script has more
// than calls, or rows depend on each other. The same where a tile would leave open what only the
// whole tells. Then the whole has to be judged. Errors else are the oracle's.
[[nodiscard]] Result<TiledCall> judge_by_tiles(Runs& runs, const Trace& subject, std::size_t index,
                                               const ExpectedCall& expected,
                                               const JudgeOptions& options,
                                               const TileOptions& tiles);

}  // namespace graphgate::conformance
