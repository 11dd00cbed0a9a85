// How `graphgate bench` prints and writes what it has measured.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/configuration.h"
#include "tools/bench/stopwatch.h"
#include "tools/report/json.h"

namespace graphgate::tools {

// What is measured, as the command line says.
struct BenchOptions {
  std::string what;               // "plan", "judges", "fuzz", "replay" or "decode"
  std::vector<std::string> only;  // parts; empty: all
  std::size_t nodes = 100'000;
  std::int64_t tensor_mib = 256;
  std::string model;                     // of a part; empty: the part's own
  std::string models = "golden/models";  // a folder
  std::string json;
  std::uint64_t cases = 4000;                        // of bench fuzz
  std::vector<std::int64_t> batches = {1, 16, 128};  // of bench decode
  std::string torch;                                 // of bench decode: a command; empty: none
  spec::Configuration device;                        // of bench replay and decode
  std::vector<std::int64_t> capture_sizes;           // of bench replay; empty: 1, 2, 4 ... 512
};

// Where people read: standard output, unless JSON goes there.
[[nodiscard]] std::FILE* page_of(const BenchOptions& options);
// "op at a time / fused    3.10x  (0.812 s / 0.262 s)"
void print_ratio(std::FILE* page, const char* what, const Comparison& comparison);
// {"ratio": 3.1, "unfused_seconds": 0.812, "fused_seconds": 0.262}
[[nodiscard]] Json json_of(const Comparison& comparison, const char* first, const char* second);

// The parts, by the files that they stand in: each measures, prints, and returns its JSON.
// plan_bench.cpp
[[nodiscard]] Result<Json> bench_planning(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_start(const BenchOptions& options);
// replay_bench.cpp
[[nodiscard]] Result<Json> bench_fusion(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_replay(const BenchOptions& options);
// replay_report.cpp
[[nodiscard]] Result<Json> bench_runtime(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_launch(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_boundaries(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_graphs(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_sizes(const BenchOptions& options);
// decode_bench.cpp
[[nodiscard]] Result<Json> bench_llama_1b(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_llama_8b(const BenchOptions& options);
// judge_bench.cpp
[[nodiscard]] Result<Json> bench_provenance(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_reference_provenance(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_shadow(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_verifier(const BenchOptions& options);
// fuzz_bench.cpp
[[nodiscard]] Result<Json> bench_draw(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_judging(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_features(const BenchOptions& options);
[[nodiscard]] Result<Json> bench_search(const BenchOptions& options);

// What `bench plan` starts where no program is named.
inline constexpr const char* kStartedModel = "golden/models/llama_sdpa.pt2";

}  // namespace graphgate::tools
