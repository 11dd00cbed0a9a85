// Which cases a process runs: ids, shards, and how clusters say which shard a task is.
//
// A case is a pure function of the campaign's seed and the case's index. Shard i of N takes the
// indices with index % N == i, so any shard can run alone, again, elsewhere, and what shards found
// adds up to what one process would have found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"
#include "fuzz/generate/descent.h"

namespace graphgate::fuzz {

// One drawn case, by the generator that draws it.
struct CaseId {
  std::uint32_t generator = 0;  // kGeneratorVersion
  std::uint64_t seed = 0;
  Descent descent;
  friend bool operator==(const CaseId&, const CaseId&) = default;
};

// "g1:42:4711": generator 1, seed 42, index 4711, drawn blindly.
// "f1:42:17-903-4711": bred from case 903, that was bred from case 17, that was drawn blindly.
[[nodiscard]] std::string print_case_id(const CaseId& id);
// Whether a text looks like an id at all: a word that begins with g or f and a digit, and has a
// colon.
[[nodiscard]] bool is_case_id(std::string_view text);
// The generators whose ids are drawn here: from the oldest to the newest, both included.
struct KnownGenerators {
  std::uint32_t oldest = 0;
  std::uint32_t newest = 0;
};
// kBadInput for what is no id, and for an id of a generator that is not known.
[[nodiscard]] Result<CaseId> parse_case_id(std::string_view text, KnownGenerators known);

struct Shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  [[nodiscard]] bool has(std::uint64_t case_index) const { return case_index % count == index; }
  // The shard's n-th case, from 0.
  [[nodiscard]] std::uint64_t case_index(std::uint64_t ordinal) const {
    return ordinal * count + index;
  }
  // How many of the cases [0, cases) are the shard's.
  [[nodiscard]] std::uint64_t size(std::uint64_t cases) const {
    return cases > index ? (cases - index - 1) / count + 1 : 0;
  }
  friend bool operator==(const Shard&, const Shard&) = default;
  friend bool operator<(const Shard& a, const Shard& b) {
    return std::tie(a.index, a.count) < std::tie(b.index, b.count);
  }
};

// "2/8".
[[nodiscard]] std::string print_shard(const Shard& shard);
// kBadInput for what is no i/N with i < N.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;

struct ShardChoice {
  Shard shard;
  std::string source;  // "--shard", "SLURM_ARRAY_TASK_ID"; empty: nobody asked for shards
};

// `flag` (the value of --shard; empty: not given) wins over the environment:
//
//   SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP    a Slurm job array
//   JOB_COMPLETION_INDEX, GRAPHGATE_SHARDS      a Kubernetes indexed job; the second is for the
//                                               manifest to set, since Kubernetes has none
//   GTEST_SHARD_INDEX, GTEST_TOTAL_SHARDS       a GoogleTest runner (Bazel)
//
// kBadInput for halves of a pair, for numbers that do not fit, and for two of them that disagree.
[[nodiscard]] Result<ShardChoice> choose_shard(std::string_view flag,
                                               const Environment& environment);

}  // namespace graphgate::fuzz
