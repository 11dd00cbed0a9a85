// Versions of Python packages, compared as PyTorch and vLLM compare them (PEP 440).
//
//   2.9.0.dev20250801 < 2.9.0a1 < 2.9.0rc2 < 2.9.0 < 2.9.0+cu128 < 2.9.0.post1 < 2.9.1
//
// Missing places of the release count as zero: 2.9 == 2.9.0.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate::optimized {

struct Version {
  enum class Phase : std::uint8_t { kDevelopment, kAlpha, kBeta, kCandidate, kFinal };

  std::vector<std::uint32_t> release;  // 2.9.0: {2, 9, 0}
  Phase phase = Phase::kFinal;
  std::uint32_t phase_number = 0;  // of a1, b1, rc1
  // The number of .postN plus one; 0: none.
  std::uint32_t post = 0;
  // The number of .devN; without one the version follows all of its development versions.
  std::uint32_t development = 0xFFFFFFFF;
  std::string local;  // behind "+"
};

// kBadInput for what is no such version, with the text.
[[nodiscard]] Result<Version> parse_version(std::string_view text);

[[nodiscard]] std::strong_ordering operator<=>(const Version& a, const Version& b);
[[nodiscard]] inline bool operator==(const Version& a, const Version& b) {
  return (a <=> b) == std::strong_ordering::equal;
}

// vLLM's is_torch_equal: `version` is `target`, whatever its local part, and not a development
// version of it.
[[nodiscard]] bool is_equal_release(const Version& version, const Version& target);

}  // namespace graphgate::optimized
