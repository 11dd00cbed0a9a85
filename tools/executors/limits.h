// How much an answer of a command may be (docs/executors.md). All of it is looked at before
// anything of that size is allocated; who goes beyond has given no answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "interop/json_limits.h"

namespace graphgate::tools {

// Bytes of a line, and how deep it nests, and how many values it has.
inline constexpr std::size_t kLongestLine = 256U << 20U;
inline constexpr interop::JsonLimits kLineLimits = {interop::kMaxJsonDepth, std::size_t{4} << 20U};

// Dimensions of a tensor.
inline constexpr std::size_t kMostDimensions = 1024;

// Bytes of the folder of an answer, and of the elements of each tensor, where one with a stride of
// 0 has more of them than its storage. It grows with the bytes that went out: an answer repeats the
// inputs and states.
inline constexpr std::int64_t kFreeAnswerBytes = std::int64_t{2} << 30U;
inline constexpr std::int64_t kAnswerBytesPerByte = 16;

// `free_bytes` is what an answer may have where nothing was sent.
inline std::int64_t most_answer_bytes(std::int64_t sent_bytes, std::int64_t free_bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (sent_bytes > (kMost - free_bytes) / kAnswerBytesPerByte) return kMost;
  return free_bytes + kAnswerBytesPerByte * sent_bytes;
}

}  // namespace graphgate::tools
