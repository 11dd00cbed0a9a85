// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw ("Parallel random
// numbers: as easy as 1, 2, 3", SC 2011), and PyTorch's uniform numbers of it on CUDA.
#pragma once

#include <array>
#include <cstdint>

#include "reference/number/float_format.h"

namespace graphgate::reference {

// Four words of a counter of four, least first, under a key.
inline std::array<std::uint32_t, 4> philox_words(std::array<std::uint32_t, 4> counter,
                                                 std::uint64_t key) {
  auto low_key = static_cast<std::uint32_t>(key);
  auto high_key = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ low_key,
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ high_key,
               static_cast<std::uint32_t>(first)};
    low_key += 0x9E3779B9U;
    high_key += 0xBB67AE85U;
  }
  return counter;
}

// The number that thread `thread` draws first, of a dtype of 16 or 32 bits: cuRAND's, which is in
// (0, 1], with 0 for 1. `offset` counts words.
inline double cuda_uniform(std::uint64_t seed, std::uint64_t offset, std::uint64_t thread,
                           spec::DType dtype) {
  const std::uint64_t block = offset / 4;
  const std::uint32_t word =
      philox_words({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U),
                    static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(thread >> 32U)},
                   seed)[0];
  const float drawn = static_cast<float>(word) * 0x1p-32F + 0x1p-33F;
  const double rounded = round_to_dtype(double{drawn}, dtype);
  return rounded == 1 ? 0 : rounded;
}

}  // namespace graphgate::reference
