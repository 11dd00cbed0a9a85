// PyTorch's generator of the CPU: the Mersenne Twister (Matsumoto and Nishimura, "Mersenne
// Twister", ACM TOMACS 8, 1998), and how PyTorch makes numbers of its bits, as it shows them.
// Uniform floats have the lowest 24 bits of one word, doubles the lowest 53 of two. The first of
// the two is the upper. Source: include/ATen/core/MT19937RNGEngine.h, DistributionsHelper.h,
// TransformationHelper.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "reference/tensor.h"

namespace graphgate::reference {

class CpuGenerator {
 public:
  // Takes the 5056 bytes that torch.get_rng_state() returns. Throws OpError for any others,
  // Undecidable for bytes that are open.
  explicit CpuGenerator(const Tensor& state);

  std::uint32_t word();
  std::uint64_t two_words();
  // In [0, 1), of 24 and 53 bits.
  double uniform_float() { return static_cast<double>(word() & 0xFFFFFFU) * 0x1p-24; }
  double uniform_double() { return static_cast<double>(two_words() & 0x1FFFFFFFFFFFFFU) * 0x1p-53; }
  // The second normal number of a pair, where the state keeps one. The caller has it.
  [[nodiscard]] std::optional<double> take_normal();

 private:
  void twist();

  static constexpr std::size_t kWords = 624;
  std::array<std::uint32_t, kWords> words_{};
  std::int64_t left_ = 0;  // words before the next twist, and one
  std::size_t next_ = 0;
  std::optional<double> kept_;
};

}  // namespace graphgate::reference
