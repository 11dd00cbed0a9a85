// How `graphgate bench` prints and writes what it has measured.
#pragma once

#include <cstdio>

#include "tools/bench/stopwatch.h"
#include "tools/cli/verbs.h"
#include "tools/store/json.h"

namespace graphgate::tools {

// Where people read: standard output, unless JSON goes there.
[[nodiscard]] std::FILE* page_of(const BenchVerb& verb);
// "op at a time / fused    3.10x  (0.812 s / 0.262 s)"
void print_ratio(std::FILE* page, const char* what, const Comparison& comparison);
// {"ratio": 3.1, "unfused_seconds": 0.812, "fused_seconds": 0.262}
[[nodiscard]] Json json_of(const Comparison& comparison, const char* first, const char* second);

// Parts of `bench replay`, in replay_report.cpp: each prints, and returns its JSON.
[[nodiscard]] Result<Json> bench_runtime(const BenchVerb& verb);
[[nodiscard]] Result<Json> bench_launch(const BenchVerb& verb);
[[nodiscard]] Result<Json> bench_boundaries(const BenchVerb& verb);
[[nodiscard]] Result<Json> bench_graphs(const BenchVerb& verb);
[[nodiscard]] Result<Json> bench_sizes(const BenchVerb& verb);

}  // namespace graphgate::tools
