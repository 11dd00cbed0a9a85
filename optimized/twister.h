// The state of PyTorch's generator of the CPU, as torch.get_rng_state() shows it, and the words of
// the Mersenne Twister (MT19937; Matsumoto and Nishimura, ACM TOMACS 8, 1998) that come next.
//
// Random kernels draw from it where a program gives the state; else by draws.h.
#pragma once

#include <array>
#include <cstdint>

#include "optimized/tensor.h"

namespace graphgate::optimized {

class Twister {
 public:
  static constexpr std::int64_t kStateBytes = 5056;

  // `state` has an address. Throws OpError where it holds no such state.
  explicit Twister(const Tensor& state);

  [[nodiscard]] std::uint32_t next();
  // 64 bits, the first word on top.
  [[nodiscard]] std::uint64_t next_pair() {
    const std::uint64_t top = next();
    return top << 32U | next();
  }
  // Multiples of 2^-24 and of 2^-53 below 1.
  [[nodiscard]] float next_float() { return static_cast<float>(next() % (1U << 24U)) * 0x1p-24F; }
  [[nodiscard]] double next_double() {
    return static_cast<double>(next_pair() % (std::uint64_t{1} << 53U)) * 0x1p-53;
  }

  // The normal number that the last pair left over, where there is one.
  [[nodiscard]] bool has_spare() const { return has_spare_; }
  [[nodiscard]] double spare() const { return spare_; }

 private:
  void refill();

  static constexpr std::size_t kLength = 624;
  std::array<std::uint32_t, kLength> state_{};
  std::size_t used_ = 0;  // of state_; kLength: all
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace graphgate::optimized
