// The configurations that must not change a bit.
//
// judge_configurations runs a script under each row and compares with the default;
// first_divergence tries them in this order as changes that may make a failure go away. Rows name
// options by the command line's flags. What an executor refuses is counted apart by whoever asks.
#pragma once

#include <string>
#include <vector>

#include "conformance/run/trace.h"

namespace graphgate::conformance {

struct ConfigurationRow {
  std::string text;  // as print_configuration has it: "memory=pools memory-pool=outputs"
  Configuration options;
  bool is_common = true;  // part of the small set
};

// Rows that fit any program. Options stand one by one and in pairs that act on each other.
[[nodiscard]] const std::vector<ConfigurationRow>& configuration_rows();

// "memory=lines no-reuse" -> the options. The inverse of print_configuration for such rows.
[[nodiscard]] Configuration parse_configuration(const std::string& text);

// Returns rows that depend on the program and on what the default did. Some have capture sizes
// above the sizes called, so that calls are padded, with each way to fill what lies behind. Others
// have split ops, from the ops that ran, or arenas filled with two patterns.
[[nodiscard]] std::vector<ConfigurationRow> derived_rows(const Script& script, const Trace& base);

}  // namespace graphgate::conformance
