// Packing instances in the CSV form of the minimalloc project: one buffer per line, lifetimes in
// steps, sizes in bytes.
//
//   id,lower,upper,size
//   b1,0,3,4            alive during steps [0, 3), 4 bytes
//
// The columns may stand in any order. Further columns of that project (alignment, hint, gaps, fixed
// offset) change what a packing must satisfy: they are UNSUPPORTED. Used to measure packers on
// published instances and to hand our own to other packers; nothing of graphgate's verdicts depends
// on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graphgate::interop {

// `id` is any text without a comma; ids are different. Half-open lifetime, lower < upper.
struct MinimallocBuffer {
  std::string id;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size_bytes = 0;  // >= 0
  friend bool operator==(const MinimallocBuffer&, const MinimallocBuffer&) = default;
};

// Errors begin with "NAME:LINE:" and say what was expected there; lines count from 1. A file with a
// header and no buffers is valid, a last line without a newline and lines that end in CR LF too.
[[nodiscard]] Result<std::vector<MinimallocBuffer>> parse_minimalloc(std::string_view text,
                                                                     std::string_view name);

// The same, from a file. kBadInput when it cannot be read.
[[nodiscard]] Result<std::vector<MinimallocBuffer>> read_minimalloc(const std::string& path);

// A buffer with the place that some packer gave it.
struct PlacedMinimallocBuffer {
  MinimallocBuffer buffer;
  std::int64_t offset_bytes = 0;  // any number: whether it is a right one is for a judge to say
  friend bool operator==(const PlacedMinimallocBuffer&, const PlacedMinimallocBuffer&) = default;
};

// The same form with a further column, `offset`: what packers write. Errors as above.
[[nodiscard]] Result<std::vector<PlacedMinimallocBuffer>> parse_placed_minimalloc(
    std::string_view text, std::string_view name);

}  // namespace graphgate::interop
