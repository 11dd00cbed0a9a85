// What compiling came to, as counts: intent against what really happened.
//
// An option that is silently not in effect, a capture that never took place, a cache that is never
// hit: none of these alters a result, and each alters a count. compile(), the sessions and the
// caches add to the counters that they are given; tests and `--verbose` compare them:
//
//   EXPECT_EQ(unmet(before, after, {.plans_compiled = 1, .cache_hits = 0}), "");
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace graphgate::optimized {

struct CompileCounters {
  std::int64_t graphs_seen = 0;          // programs that were loaded
  std::int64_t plans_compiled = 0;       // made, not found in a cache
  std::int64_t partitions = 0;           // of these plans, captured or not
  std::int64_t captured_partitions = 0;  // of these, those that are captured
  std::int64_t captures = 0;             // recordings that were made
  std::int64_t recompiles = 0;           // plans beyond the first that a failed guard asked for
  std::int64_t cache_hits = 0;
  std::int64_t cache_misses = 0;
  std::int64_t entries_rejected = 0;  // found and unsound: damaged, foreign, of another key
  std::int64_t entries_saved = 0;
  std::int64_t artifacts_saved = 0;  // files written; entries with the same plan share one
  std::int64_t artifacts_loaded = 0;
  friend bool operator==(const CompileCounters&, const CompileCounters&) = default;
};

// What a counter is expected to have grown by; absent: whatever.
struct ExpectedCounters {
  std::optional<std::int64_t> graphs_seen = {};
  std::optional<std::int64_t> plans_compiled = {};
  std::optional<std::int64_t> partitions = {};
  std::optional<std::int64_t> captured_partitions = {};
  std::optional<std::int64_t> captures = {};
  std::optional<std::int64_t> recompiles = {};
  std::optional<std::int64_t> cache_hits = {};
  std::optional<std::int64_t> cache_misses = {};
  std::optional<std::int64_t> entries_rejected = {};
  std::optional<std::int64_t> entries_saved = {};
  std::optional<std::int64_t> artifacts_saved = {};
  std::optional<std::int64_t> artifacts_loaded = {};
};

// What differs between the growth from `before` to `after` and what was expected, one sentence:
// "plans_compiled grew by 2, expected 1; cache_hits grew by 0, expected 1"; "" when nothing does.
[[nodiscard]] std::string unmet(const CompileCounters& before, const CompileCounters& after,
                                const ExpectedCounters& expected);

// All of them: "plans_compiled" -> 2.
[[nodiscard]] std::map<std::string, std::int64_t> counts_by_name(const CompileCounters& counters);

// "plans_compiled 2, cache_hits 1": the counters that are not 0, or "nothing".
[[nodiscard]] std::string print_counters(const CompileCounters& counters);

}  // namespace graphgate::optimized
