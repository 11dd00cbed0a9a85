// What a plan costs, as a line of text that can be stored and compared.
//
//   llama_bf16 call 0: peak 81920 lower-bound 73728 no-reuse 262144 partitions 1 captured 1
//   steps 40 captured-steps 40 copied-in 512
//
// (one line). golden/quality.txt holds such lines for the default configuration; `graphgate plan
// --quality` prints them. judge_quality fails what got worse. The name is the script's, with the
// options that ask for something behind it: "two sizes call 1 with memory=lines".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/judges/plan_stats.h"
#include "conformance/run/executor_source.h"

namespace graphgate::conformance {

// Numbers by name, in the order of print_quality. Bytes for peak, lower-bound, no-reuse and
// copied-in (what every call copies into static slots); counts for the others.
using Quality = std::vector<std::pair<std::string, std::int64_t>>;

[[nodiscard]] Quality quality_of(const spec::Plan& plan);

// A line with its line end.
[[nodiscard]] std::string print_quality(const std::string& program, std::size_t call,
                                        const Quality& quality);

// The options that ask for something, without those that make decisions wrong (deviation, profile)
// or say where things are kept: " with memory=lines", or "".
[[nodiscard]] std::string quality_suffix(const Configuration& configuration);

// Lines by "PROGRAM call N"; `#` starts a comment. kBadInput names the line.
using QualityBaseline = std::map<std::string, Quality, std::less<>>;
[[nodiscard]] Result<QualityBaseline> parse_quality(std::string_view text);

// What is worse now, in words: a higher peak, more partitions, more steps, fewer captured steps,
// more bytes copied in. Numbers that only one side has do not count.
[[nodiscard]] std::vector<std::string> worse_than(const Quality& now, const Quality& before);

}  // namespace graphgate::conformance
