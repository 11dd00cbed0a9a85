#include "optimized/twister.h"

#include <cstring>

namespace graphgate::optimized {
namespace {

// The bytes of a state, by their meaning. PyTorch keeps each word in eight bytes.
struct StateLayout {
  std::uint64_t seed;
  std::int32_t left;  // words before the next refill, and one
  std::int32_t is_seeded;
  std::uint64_t next;
  std::array<std::uint64_t, 624> words;
  double unused_normal;
  double spare_normal;
  double unused_radius;
  std::int32_t has_spare_normal;
  std::int32_t padding;
  float spare_float;  // of a generator whose normal numbers are floats: never on the CPU
  std::int32_t has_spare_float;
};
static_assert(sizeof(StateLayout) == Twister::kStateBytes);

}  // namespace

Twister::Twister(const Tensor& state) {
  if (state.dtype != spec::DType::kUInt8 || state.sizes != Sizes{kStateBytes} ||
      state.strides != Sizes{1}) {
    throw OpError("the state of a CPU generator has 5056 bytes, side by side");
  }
  StateLayout layout;
  std::memcpy(&layout, state.data(), sizeof layout);
  for (std::size_t i = 0; i < kLength; ++i) {
    state_[i] = static_cast<std::uint32_t>(layout.words[i]);
  }
  const bool is_state = layout.is_seeded == 1 && layout.left > 0 &&
                        layout.left <= static_cast<std::int32_t>(kLength) && layout.next <= kLength;
  if (!is_state) throw OpError("the bytes of a generator's state make no sense");
  // With one left, the next word wants a refill.
  used_ = layout.left == 1 ? kLength : static_cast<std::size_t>(layout.next);
  has_spare_ = layout.has_spare_normal == 1;
  spare_ = layout.spare_normal;
}

void Twister::refill() {
  constexpr std::size_t kAhead = 397;
  const auto twisted = [this](std::size_t i, std::size_t following, std::size_t ahead) {
    const std::uint32_t joined = (state_[i] & (1U << 31U)) + (state_[following] & ~(1U << 31U));
    const std::uint32_t odd = joined % 2 == 1 ? 0x9908B0DFU : 0;
    state_[i] = state_[ahead] ^ (joined >> 1U) ^ odd;
  };
  for (std::size_t i = 0; i < kLength - kAhead; ++i) twisted(i, i + 1, i + kAhead);
  for (std::size_t i = kLength - kAhead; i < kLength - 1; ++i) {
    twisted(i, i + 1, i + kAhead - kLength);
  }
  twisted(kLength - 1, 0, kAhead - 1);
  used_ = 0;
}

std::uint32_t Twister::next() {
  if (used_ == kLength) refill();
  std::uint32_t bits = state_[used_++];
  bits ^= bits >> 11U;
  bits ^= (bits << 7U) & 0x9D2C5680U;
  bits ^= (bits << 15U) & 0xEFC60000U;
  bits ^= bits >> 18U;
  return bits;
}

}  // namespace graphgate::optimized
