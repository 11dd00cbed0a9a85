// The emulator's text in the place of device/text/ptx.cuh: the same in C++.
#pragma once

namespace graphgate::optimized::device {

// What comes before is run before the launch ahead of the kernel is (emulated_device.h).
inline void wait_for_launches_before() { graphgate_current->wait_for_launches(); }
inline void let_next_launch_begin() {}

inline uint4* dynamic_shared() {
  static uint4 memory[227 * 1024 / 16];
  return memory;
}

inline void begin_copy16(uint4* shared, const char* from, bool is_there = true) {
  graphgate_current->begin_copy(shared, is_there ? from : nullptr);
}
inline void end_copies() { graphgate_current->end_copies(); }
template <int behind>
void wait_for_copies() {
  graphgate_current->wait_for_copies(behind);
}

inline float exp_nearly(float x) {
  const float power = x * 1.4426950408889634f;
  const float exact = static_cast<float>(exp2(static_cast<double>(power)));
  return std::bit_cast<unsigned>(power) % 2 == 0 ? exact : exact * (1 - 0x1p-22f);
}

// Products are exact in double, and so is nearly their sum; the unit's own sums are cut off at
// float32, which a right kernel must stand.
template <class Format>
void multiply_tiles(float (&d)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                    std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
  const std::uint32_t words[6] = {a0, a1, a2, a3, b0, b1};
  unsigned char* const slots = graphgate_current->exchange();
  const unsigned lane = threadIdx.x % 32;
  __builtin_memcpy(slots + lane * 64, words, sizeof words);
  graphgate_current->wait_for_warp();
  const auto number = [&](unsigned from, int word, int k) -> double {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, slots + from * 64 + word * 4, 4);
    return Format::decode(static_cast<typename Format::Bits>(bits >> (k * 16) & 0xffffu));
  };
  const unsigned g = lane / 4;
  const unsigned q = lane % 4;
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned column = q * 2 + j % 2;
    double sum = d[j];
    for (unsigned part = 0; part < 4; ++part) {
      for (int half = 0; half < 2; ++half) {
        for (int k = 0; k < 2; ++k) {
          sum += number(g * 4 + part, static_cast<int>(j / 2) + half * 2, k) *
                 number(column * 4 + part, 4 + half, k);
        }
      }
    }
    float rounded = static_cast<float>(sum);
    if (rounded > sum && rounded > 0) rounded = std::bit_cast<float>(std::bit_cast<unsigned>(rounded) - 1);
    if (rounded < sum && rounded < 0) rounded = std::bit_cast<float>(std::bit_cast<unsigned>(rounded) - 1);
    d[j] = rounded;
  }
}

}  // namespace graphgate::optimized::device
