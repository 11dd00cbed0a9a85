// The emulator's text in the place of codegen/text/ptx.cuh: the same in C++.
#pragma once

namespace graphgate::optimized::device {

// What comes before is run before the launch ahead of the kernel is (emulated_device.h).
inline void wait_for_launches_before() { graphgate_current->wait_for_launches(); }
inline void let_next_launch_begin() {}

// Of a block of the cluster that runs.
inline uint4* shared_of_block(unsigned rank) {
  static uint4 memory[8][227 * 1024 / 16];
  return memory[rank];
}
inline uint4* dynamic_shared() { return shared_of_block(graphgate_current->rank); }
inline void wait_for_cluster() { graphgate_current->wait_for_cluster(); }
inline float4 load_of_block(const float* own, int rank) {
  const long offset =
      reinterpret_cast<const char*>(own) - reinterpret_cast<const char*>(dynamic_shared());
  return *reinterpret_cast<const float4*>(reinterpret_cast<const char*>(shared_of_block(rank)) +
                                          offset);
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
inline float cut_off(double sum) {
  const auto rounded = static_cast<float>(sum);
  const bool is_further = rounded > 0 ? rounded > sum : rounded < sum;
  return is_further && rounded != 0 ? std::bit_cast<float>(std::bit_cast<unsigned>(rounded) - 1)
                                    : rounded;
}

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
    d[j] = cut_off(sum);
  }
}

// A lane's row is what it is when the lane comes by: what other lanes bring in has to be waited
// for.
template <bool is_turned>
void load_some_tiles(std::uint32_t (&out)[4], const uint4* row) {
  unsigned char* const slots = graphgate_current->exchange();
  const unsigned lane = threadIdx.x % 32;
  __builtin_memcpy(slots + lane * 64, row, sizeof *row);
  graphgate_current->wait_for_warp();
  const unsigned g = lane / 4;
  const unsigned q = lane % 4;
  for (unsigned tile = 0; tile < 4; ++tile) {
    std::uint16_t pair[2];
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned from_row = is_turned ? q * 2 + i : g;
      const unsigned column = is_turned ? g : q * 2 + i;
      __builtin_memcpy(&pair[i], slots + (tile * 8 + from_row) * 64 + column * 2, 2);
    }
    __builtin_memcpy(&out[tile], pair, 4);
  }
}
inline void load_tiles(std::uint32_t (&out)[4], const uint4* row) {
  load_some_tiles<false>(out, row);
}
inline void load_turned_tiles(std::uint32_t (&out)[4], const uint4* row) {
  load_some_tiles<true>(out, row);
}
inline std::uint32_t turned_tile(std::uint32_t tile) {
  unsigned char* const slots = graphgate_current->exchange();
  const unsigned lane = threadIdx.x % 32;
  __builtin_memcpy(slots + lane * 64, &tile, 4);
  graphgate_current->wait_for_warp();
  std::uint16_t pair[2];
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned row = lane % 4 * 2 + i;  // of the tile, at column lane / 4
    __builtin_memcpy(&pair[i], slots + (row * 4 + lane / 8) * 64 + lane / 4 % 2 * 2, 2);
  }
  std::uint32_t out = 0;
  __builtin_memcpy(&out, pair, 4);
  return out;
}
template <class Format>
std::uint32_t packed2(float low, float high) {
  return std::uint32_t{Format::encode(low)} | std::uint32_t{Format::encode(high)} << 16;
}

}  // namespace graphgate::optimized::device
