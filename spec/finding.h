// A finding: one thing that is wrong, as data.
//
// Judges and an executor's own instruments (shadow memory, canaries) report these, and collect all
// of them: nothing stops at the first. Tools print them, fuzzing tells them apart by `rule`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/outcome.h"

namespace graphgate::spec {

// Bytes [begin_bytes, end_bytes) of the pool or buffer called `where`.
struct FindingRange {
  std::string where;
  std::int64_t begin_bytes = 0;
  std::int64_t end_bytes = 0;
  friend bool operator==(const FindingRange&, const FindingRange&) = default;
};

// `rule` is stable, a row of docs/rules.md: "V3.overlap", "S1.unwritten-read". `message` is one
// sentence that a person can act on, without a line end. `nodes` and `buffers` are names, the ones
// at fault first, in the program called `program`, which may be empty where there is but one.
// `drawing` has several lines, or none.
struct Finding {
  std::string rule = {};
  Outcome outcome = Outcome::kFail;
  std::string message = {};
  std::vector<std::string> nodes = {};
  std::vector<std::string> buffers = {};
  std::vector<FindingRange> ranges = {};
  std::string drawing = {};
  std::string program = {};
  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace graphgate::spec
