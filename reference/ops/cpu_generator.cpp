#include "reference/ops/cpu_generator.h"

#include <bit>

#include "reference/array.h"

namespace graphgate::reference {
namespace {

constexpr std::int64_t kStateBytes = 5056;

// Little-endian numbers of the state's bytes.
class StateBytes {
 public:
  explicit StateBytes(const Tensor& state) {
    if (state.dtype != spec::DType::kUInt8 || state.sizes != Sizes{kStateBytes}) {
      throw OpError("a state of the CPU's generator is 5056 bytes in one dimension");
    }
    require_decided(state);
    bytes_ = load<Whole>(state, spec::DType::kUInt8);
  }
  std::uint64_t take(int width) {
    std::uint64_t out = 0;
    for (int i = 0; i < width; ++i) {
      out |= static_cast<std::uint64_t>(bytes_[at_++].value) << (8 * static_cast<unsigned>(i));
    }
    return out;
  }

 private:
  Array<Whole> bytes_;
  std::int64_t at_ = 0;
};

}  // namespace

CpuGenerator::CpuGenerator(const Tensor& state) {
  StateBytes bytes(state);
  (void)bytes.take(8);  // the seed that it began with
  left_ = static_cast<std::int64_t>(bytes.take(4));
  const bool is_seeded = bytes.take(4) == 1;
  next_ = bytes.take(8);
  for (std::uint32_t& word : words_) word = static_cast<std::uint32_t>(bytes.take(8));
  (void)bytes.take(8);  // of an older form: normal_x
  const double kept = std::bit_cast<double>(bytes.take(8));
  (void)bytes.take(8);  // normal_rho
  if (bytes.take(4) == 1) kept_ = kept;
  const bool is_valid =
      is_seeded && left_ > 0 && left_ <= static_cast<std::int64_t>(kWords) && next_ <= kWords;
  if (!is_valid) throw OpError("these bytes are no state of the CPU's generator");
}

void CpuGenerator::twist() {
  constexpr std::size_t kMiddle = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t mixed =
        (words_[i] & 0x80000000U) | (words_[(i + 1) % kWords] & 0x7FFFFFFFU);
    words_[i] = words_[(i + kMiddle) % kWords] ^ (mixed >> 1U) ^ ((mixed & 1U) * 0x9908B0DFU);
  }
  left_ = kWords;
  next_ = 0;
}

std::uint32_t CpuGenerator::word() {
  if (--left_ == 0) twist();
  std::uint32_t y = words_.at(next_++);
  y ^= y >> 11U;
  y ^= (y << 7U) & 0x9D2C5680U;
  y ^= (y << 15U) & 0xEFC60000U;
  return y ^ (y >> 18U);
}

std::uint64_t CpuGenerator::two_words() {
  const std::uint64_t upper = word();
  return upper << 32U | word();
}

std::optional<double> CpuGenerator::take_normal() { return std::exchange(kept_, std::nullopt); }

}  // namespace graphgate::reference
