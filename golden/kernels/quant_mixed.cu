#include "optimized/codegen/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_1ba7f4154f06d9d3(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E4M3FN>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a1_0)));
  device::store<F8E4M3FN>(p0 + x0 * 1, v0);
  device::store<Plain<float>>(p1 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_1e8ad08ccb137c0d(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  using C = float;
  using W = internal::Accumulator<C>;
  __shared__ W left[16][17];
  __shared__ W right[16][17];
  const std::int64_t block = thread / 256;
  const std::int64_t matrix = block / 4;
  const std::int64_t row0 = block / 4 % 1 * 16;
  const std::int64_t column0 = block % 4 * 16;
  const int slow = threadIdx.x / 16;
  const int fast = threadIdx.x % 16;
  const char* const a = p1 + 0;
  const char* const b = p2 + 0;
  W total = 0;
  W sum = 0;
  for (std::int64_t k0 = 0; k0 < 64; k0 += 16) {
    {
      const int i = slow;
      const int t = fast;
      left[i][t] = row0 + i < 6 && k0 + t < 64 ? static_cast<W>(device::load<Plain<float>, float>(a + (row0 + i) * 256 + (k0 + t) * 4)) : W(0);
    }
    {
      const int t = fast;
      const int j = slow;
      right[t][j] = column0 + j < 64 && k0 + t < 64 ? static_cast<W>(device::load<Plain<float>, float>(b + (k0 + t) * 4 + (column0 + j) * 256)) : W(0);
    }
    __syncthreads();
    const std::int64_t depth = 64 - k0 < 16 ? 64 - k0 : 16;
    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];
    __syncthreads();
    if ((k0 + 16) % 256 == 0 || k0 + 16 >= 64) {
      total = k0 < 256 ? sum : total + sum;
      sum = 0;
    }
  }
  const std::int64_t row = row0 + slow;
  const std::int64_t column = column0 + fast;
  if (row >= 6 || column >= 64) return;
  W value = total * static_cast<W>(std::bit_cast<float>(std::uint32_t{1065353216u}));
  device::store<Plain<float>>(p0 + 0 + row * 256 + column * 4, device::rounded<Plain<float>>(static_cast<C>(value)));
}

extern "C" __global__ void __launch_bounds__(256) k_320b537f0dfd2e85(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3, char* p4) {
  const std::int64_t row = thread / 32;
  if (row >= 6) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 128;
  const auto at_to = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return to + i0 * 2;
  };
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 128;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 2;
  };
  char* const weight = p2 + 0;
  const auto at_weight = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return weight + i0 * 2;
  };
  const std::int64_t residual_o0 = static_cast<std::uint32_t>(row);
  char* const residual = p3 + residual_o0 * 128;
  const auto at_residual = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return residual + i0 * 2;
  };
  const std::int64_t sum_o0 = static_cast<std::uint32_t>(row);
  char* const sum = p4 + sum_o0 * 128;
  const auto at_sum = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return sum + i0 * 2;
  };
  const auto term = [&](std::int64_t i) -> float {
    return rounded_in<BF16>(device::load<BF16, float>(at_residual(i)) + device::load<BF16, float>(at_from(i)));
  };
  device::rms_norm<BF16, Plain<float>, true, float>(64, std::bit_cast<float>(std::uint32_t{897988541u}), term, [&](std::int64_t i, float x, float normal) {
    device::store<BF16>(at_sum(i), x);
    device::store<BF16>(at_to(i), normal * device::load<BF16, float>(at_weight(i)));
  });
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 4096) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  };
  if (thread < 256) return part0(thread - 0, p0, p1, p2, p3, p4);
  part1(thread - 256, p5, p6);
}

extern "C" __global__ void __launch_bounds__(256) k_4227333d814b634b(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3) {
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p2 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const float a1_1 = device::load<Plain<float>, float>(p3 + 0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Divide{}(a1_0, a1_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<Plain<float>>(p1 + x0 * 4, v1);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 4) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
  };
  if (thread < 512) return part0(thread - 0, p0, p1, p2, p3);
  part1(thread - 512, p4, p5);
}

extern "C" __global__ void __launch_bounds__(256) k_4999206028d69416(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{3286237184u});
  const float a0_2 = std::bit_cast<float>(std::uint32_t{1138753536u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Clamp{}(a0_0, a0_1, a0_2)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_4c583c364672c660(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const std::int64_t row = thread / 32;
  if (row >= 1) return;
  char* const to = p0 + 0;
  char* const from = p1 + 0;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::uint32_t i_1 = static_cast<std::uint32_t>(i);
  const std::int64_t i1 = i_1 % 64;
  const std::int64_t i0 = i_1 / 64;
    return from + i0 * 256 + i1 * 4;
  };
  const auto term = [&](std::int64_t i) -> float {
    return device::load<Plain<float>, float>(at_from(i));
  };
  const auto value = device::widened(device::ExtremeValue<float, true>{}(device::Terms<float, decltype(term)>{term}, 384));
  if (threadIdx.x % 32 != 0) return;
  device::store<Plain<float>>(to, device::rounded<Plain<float>>(value));
}

extern "C" __global__ void __launch_bounds__(256) k_655be6d9dc1c2e95(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6, char* p7) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1) return;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p4 + 0);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  const std::int64_t a1_0 = device::load<Plain<std::int32_t>, std::int64_t>(p5 + 0);
  const auto v1 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a1_0)));
  const std::int64_t a2_0 = device::load<Plain<std::int32_t>, std::int64_t>(p6 + 0);
  const auto v2 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a2_0)));
  const std::int64_t a3_0 = device::load<Plain<std::int32_t>, std::int64_t>(p7 + 0);
  const auto v3 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a3_0)));
  device::store<Plain<std::int32_t>>(p0 + 0, v0);
  device::store<Plain<std::int32_t>>(p1 + 0, v1);
  device::store<Plain<std::int32_t>>(p2 + 0, v2);
  device::store<Plain<std::int32_t>>(p3 + 0, v3);
}

extern "C" __global__ void __launch_bounds__(256) k_71148a05df05ce21(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1536) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_b66255bbc17220fe(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Absolute{}(a1_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<Plain<float>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_c7dd63e7dd731696(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F16, float>(p1 + x0 * 2);
  const float a0_1 = device::load<F16, float>(p2 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<F16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_d2a755c8bc4f6779(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  using C = float;
  using W = internal::Accumulator<C>;
  __shared__ W left[16][17];
  __shared__ W right[16][17];
  const std::int64_t block = thread / 256;
  const std::int64_t matrix = block / 4;
  const std::int64_t row0 = block / 4 % 1 * 16;
  const std::int64_t column0 = block % 4 * 16;
  const int slow = threadIdx.x / 16;
  const int fast = threadIdx.x % 16;
  const char* const a = p1 + 0;
  const char* const b = p2 + 0;
  W total = 0;
  W sum = 0;
  for (std::int64_t k0 = 0; k0 < 64; k0 += 16) {
    {
      const int i = slow;
      const int t = fast;
      left[i][t] = row0 + i < 6 && k0 + t < 64 ? static_cast<W>(device::load<BF16, float>(a + (row0 + i) * 128 + (k0 + t) * 2)) : W(0);
    }
    {
      const int t = fast;
      const int j = slow;
      right[t][j] = column0 + j < 64 && k0 + t < 64 ? static_cast<W>(device::load<BF16, float>(b + (k0 + t) * 2 + (column0 + j) * 128)) : W(0);
    }
    __syncthreads();
    const std::int64_t depth = 64 - k0 < 16 ? 64 - k0 : 16;
    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];
    __syncthreads();
    if ((k0 + 16) % 256 == 0 || k0 + 16 >= 64) {
      total = k0 < 256 ? sum : total + sum;
      sum = 0;
    }
  }
  const std::int64_t row = row0 + slow;
  const std::int64_t column = column0 + fast;
  if (row >= 6 || column >= 64) return;
  W value = total * static_cast<W>(std::bit_cast<float>(std::uint32_t{1065353216u}));
  device::store<BF16>(p0 + 0 + row * 128 + column * 2, device::rounded<BF16>(static_cast<C>(value)));
}

extern "C" __global__ void __launch_bounds__(256) k_d616f57f04e0b172(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 768) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_d7f63249230ad579(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 768) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  const std::int64_t row = thread / 32;
  if (row >= 6) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 128;
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 128;
  const auto at_to = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return to + i0 * 2;
  };
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 2;
  };
  device::softmax<float>(64, [&](std::int64_t i) -> float {
    return device::load<F16, float>(at_from(i));
  }, [&](std::int64_t i, float value) {
    device::store<F16>(at_to(i), device::rounded<F16>(value));
  });
  };
  const auto part2 = [=](std::int64_t thread, char* p0, char* p1) {
  const std::int64_t row = thread / 32;
  if (row >= 6) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 8;
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 512;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 8;
  };
  const auto term = [&](std::int64_t i) -> std::int64_t {
    return device::load<Plain<std::int64_t>, std::int64_t>(at_from(i));
  };
  const auto value = device::widened(element::RowSum<long>{}(device::Terms<std::int64_t, decltype(term)>{term}, 64));
  if (threadIdx.x % 32 != 0) return;
  device::store<Plain<std::int64_t>>(to, device::rounded<Plain<std::int64_t>>(value));
  };
  if (thread < 768) return part0(thread - 0, p0, p1);
  if (thread < 1024) return part1(thread - 768, p2, p3);
  part2(thread - 1024, p4, p5);
}

extern "C" __global__ void __launch_bounds__(256) k_f374a58c703ea715(char* p0, char* p1, char* p2, char* p3) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p3 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<F8E5M2>(device::widened(element::Identity{}(a1_0)));
  const float a2_0 = convert<float>(v1);
  const auto v2 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a2_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<F8E5M2>(p1 + x0 * 1, v1);
  device::store<Plain<float>>(p2 + x0 * 4, v2);
}

extern "C" __global__ void __launch_bounds__(256) k_f73fa98964776c3b(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6, char* p7, char* p8) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p7 + x0 * 4);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = device::load<BF16, float>(p2 + x0 * 2);
  const auto v1 = device::rounded<F16>(device::widened(element::Identity{}(a1_0)));
  const float a2_0 = device::load<Plain<float>, float>(p7 + x0 * 4);
  const auto v2 = device::rounded<BF16>(device::widened(element::Identity{}(a2_0)));
  const float a3_0 = device::load<F8E4M3FN, float>(p4 + x0 * 1);
  const auto v3 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a3_0)));
  const float a4_0 = device::load<BF16, float>(p8 + x0 * 2);
  const auto v4 = device::rounded<Plain<std::int8_t>>(device::widened(element::Identity{}(a4_0)));
  const std::int64_t a5_0 = convert<std::int64_t>(v4);
  const auto v5 = device::rounded<Plain<std::int64_t>>(device::widened(element::Identity{}(a5_0)));
  const float a6_0 = convert<float>(v1);
  const auto v6 = device::rounded<F16>(device::widened(element::Sigmoid{}(a6_0)));
  device::store<F16>(p0 + x0 * 2, v0);
  device::store<F16>(p1 + x0 * 2, v1);
  device::store<BF16>(p2 + x0 * 2, v2);
  device::store<Plain<float>>(p3 + x0 * 4, v3);
  device::store<Plain<std::int8_t>>(p4 + x0 * 1, v4);
  device::store<Plain<std::int64_t>>(p5 + x0 * 8, v5);
  device::store<F16>(p6 + x0 * 2, v6);
}

}  // namespace graphgate::optimized
#include "optimized/codegen/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_0fe145bac2d6ec4d(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F16, float>(p1 + x0 * 2);
  const float a0_1 = device::load<F16, float>(p2 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<F16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_28e8983114fb4ace(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3, char* p4) {
  const std::int64_t row = thread / 32;
  if (row >= 3) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 128;
  const auto at_to = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return to + i0 * 2;
  };
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 128;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 2;
  };
  char* const weight = p2 + 0;
  const auto at_weight = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return weight + i0 * 2;
  };
  const std::int64_t residual_o0 = static_cast<std::uint32_t>(row);
  char* const residual = p3 + residual_o0 * 128;
  const auto at_residual = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return residual + i0 * 2;
  };
  const std::int64_t sum_o0 = static_cast<std::uint32_t>(row);
  char* const sum = p4 + sum_o0 * 128;
  const auto at_sum = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return sum + i0 * 2;
  };
  const auto term = [&](std::int64_t i) -> float {
    return rounded_in<BF16>(device::load<BF16, float>(at_residual(i)) + device::load<BF16, float>(at_from(i)));
  };
  device::rms_norm<BF16, Plain<float>, true, float>(64, std::bit_cast<float>(std::uint32_t{897988541u}), term, [&](std::int64_t i, float x, float normal) {
    device::store<BF16>(at_sum(i), x);
    device::store<BF16>(at_to(i), normal * device::load<BF16, float>(at_weight(i)));
  });
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 4096) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  };
  if (thread < 256) return part0(thread - 0, p0, p1, p2, p3, p4);
  part1(thread - 256, p5, p6);
}

extern "C" __global__ void __launch_bounds__(256) k_3b44f21737b07f72(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  using C = float;
  using W = internal::Accumulator<C>;
  __shared__ W left[16][17];
  __shared__ W right[16][17];
  const std::int64_t block = thread / 256;
  const std::int64_t matrix = block / 4;
  const std::int64_t row0 = block / 4 % 1 * 16;
  const std::int64_t column0 = block % 4 * 16;
  const int slow = threadIdx.x / 16;
  const int fast = threadIdx.x % 16;
  const char* const a = p1 + 0;
  const char* const b = p2 + 0;
  W total = 0;
  W sum = 0;
  for (std::int64_t k0 = 0; k0 < 64; k0 += 16) {
    {
      const int i = slow;
      const int t = fast;
      left[i][t] = row0 + i < 3 && k0 + t < 64 ? static_cast<W>(device::load<Plain<float>, float>(a + (row0 + i) * 256 + (k0 + t) * 4)) : W(0);
    }
    {
      const int t = fast;
      const int j = slow;
      right[t][j] = column0 + j < 64 && k0 + t < 64 ? static_cast<W>(device::load<Plain<float>, float>(b + (k0 + t) * 4 + (column0 + j) * 256)) : W(0);
    }
    __syncthreads();
    const std::int64_t depth = 64 - k0 < 16 ? 64 - k0 : 16;
    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];
    __syncthreads();
    if ((k0 + 16) % 256 == 0 || k0 + 16 >= 64) {
      total = k0 < 256 ? sum : total + sum;
      sum = 0;
    }
  }
  const std::int64_t row = row0 + slow;
  const std::int64_t column = column0 + fast;
  if (row >= 3 || column >= 64) return;
  W value = total * static_cast<W>(std::bit_cast<float>(std::uint32_t{1065353216u}));
  device::store<Plain<float>>(p0 + 0 + row * 256 + column * 4, device::rounded<Plain<float>>(static_cast<C>(value)));
}

extern "C" __global__ void __launch_bounds__(256) k_5050af5047072079(char* p0, char* p1, char* p2, char* p3) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p3 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<F8E5M2>(device::widened(element::Identity{}(a1_0)));
  const float a2_0 = convert<float>(v1);
  const auto v2 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a2_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<F8E5M2>(p1 + x0 * 1, v1);
  device::store<Plain<float>>(p2 + x0 * 4, v2);
}

extern "C" __global__ void __launch_bounds__(256) k_6393015555b582a2(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  const std::int64_t row = thread / 32;
  if (row >= 3) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 128;
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 128;
  const auto at_to = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return to + i0 * 2;
  };
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 2;
  };
  device::softmax<float>(64, [&](std::int64_t i) -> float {
    return device::load<F16, float>(at_from(i));
  }, [&](std::int64_t i, float value) {
    device::store<F16>(at_to(i), device::rounded<F16>(value));
  });
  };
  const auto part2 = [=](std::int64_t thread, char* p0, char* p1) {
  const std::int64_t row = thread / 32;
  if (row >= 3) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 8;
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 512;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 8;
  };
  const auto term = [&](std::int64_t i) -> std::int64_t {
    return device::load<Plain<std::int64_t>, std::int64_t>(at_from(i));
  };
  const auto value = device::widened(element::RowSum<long>{}(device::Terms<std::int64_t, decltype(term)>{term}, 64));
  if (threadIdx.x % 32 != 0) return;
  device::store<Plain<std::int64_t>>(to, device::rounded<Plain<std::int64_t>>(value));
  };
  if (thread < 512) return part0(thread - 0, p0, p1);
  if (thread < 768) return part1(thread - 512, p2, p3);
  part2(thread - 768, p4, p5);
}

extern "C" __global__ void __launch_bounds__(256) k_655be6d9dc1c2e95(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6, char* p7) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1) return;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p4 + 0);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  const std::int64_t a1_0 = device::load<Plain<std::int32_t>, std::int64_t>(p5 + 0);
  const auto v1 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a1_0)));
  const std::int64_t a2_0 = device::load<Plain<std::int32_t>, std::int64_t>(p6 + 0);
  const auto v2 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a2_0)));
  const std::int64_t a3_0 = device::load<Plain<std::int32_t>, std::int64_t>(p7 + 0);
  const auto v3 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a3_0)));
  device::store<Plain<std::int32_t>>(p0 + 0, v0);
  device::store<Plain<std::int32_t>>(p1 + 0, v1);
  device::store<Plain<std::int32_t>>(p2 + 0, v2);
  device::store<Plain<std::int32_t>>(p3 + 0, v3);
}

extern "C" __global__ void __launch_bounds__(256) k_67de543030df3215(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_8927b047166406b8(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6, char* p7, char* p8, char* p9) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p7 + x0 * 4);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = device::load<BF16, float>(p2 + x0 * 2);
  const auto v1 = device::rounded<F16>(device::widened(element::Identity{}(a1_0)));
  const float a2_0 = device::load<Plain<float>, float>(p7 + x0 * 4);
  const auto v2 = device::rounded<BF16>(device::widened(element::Identity{}(a2_0)));
  const float a3_0 = device::load<F8E4M3FN, float>(p8 + x0 * 1);
  const auto v3 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a3_0)));
  const float a4_0 = device::load<BF16, float>(p9 + x0 * 2);
  const auto v4 = device::rounded<Plain<std::int8_t>>(device::widened(element::Identity{}(a4_0)));
  const std::int64_t a5_0 = convert<std::int64_t>(v4);
  const auto v5 = device::rounded<Plain<std::int64_t>>(device::widened(element::Identity{}(a5_0)));
  const float a6_0 = convert<float>(v1);
  const auto v6 = device::rounded<F16>(device::widened(element::Sigmoid{}(a6_0)));
  device::store<F16>(p0 + x0 * 2, v0);
  device::store<F16>(p1 + x0 * 2, v1);
  device::store<BF16>(p2 + x0 * 2, v2);
  device::store<Plain<float>>(p3 + x0 * 4, v3);
  device::store<Plain<std::int8_t>>(p4 + x0 * 1, v4);
  device::store<Plain<std::int64_t>>(p5 + x0 * 8, v5);
  device::store<F16>(p6 + x0 * 2, v6);
}

extern "C" __global__ void __launch_bounds__(256) k_900281d5d2928f9f(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E4M3FN>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a1_0)));
  device::store<F8E4M3FN>(p0 + x0 * 1, v0);
  device::store<Plain<float>>(p1 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_a3b2fa6608c64f1a(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Absolute{}(a1_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<Plain<float>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_af7f1ec713a912e7(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const std::int64_t row = thread / 32;
  if (row >= 1) return;
  char* const to = p0 + 0;
  char* const from = p1 + 0;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::uint32_t i_1 = static_cast<std::uint32_t>(i);
  const std::int64_t i1 = i_1 % 64;
  const std::int64_t i0 = i_1 / 64;
    return from + i0 * 256 + i1 * 4;
  };
  const auto term = [&](std::int64_t i) -> float {
    return device::load<Plain<float>, float>(at_from(i));
  };
  const auto value = device::widened(device::ExtremeValue<float, true>{}(device::Terms<float, decltype(term)>{term}, 192));
  if (threadIdx.x % 32 != 0) return;
  device::store<Plain<float>>(to, device::rounded<Plain<float>>(value));
}

extern "C" __global__ void __launch_bounds__(256) k_c5089a8073abd1af(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  using C = float;
  using W = internal::Accumulator<C>;
  __shared__ W left[16][17];
  __shared__ W right[16][17];
  const std::int64_t block = thread / 256;
  const std::int64_t matrix = block / 4;
  const std::int64_t row0 = block / 4 % 1 * 16;
  const std::int64_t column0 = block % 4 * 16;
  const int slow = threadIdx.x / 16;
  const int fast = threadIdx.x % 16;
  const char* const a = p1 + 0;
  const char* const b = p2 + 0;
  W total = 0;
  W sum = 0;
  for (std::int64_t k0 = 0; k0 < 64; k0 += 16) {
    {
      const int i = slow;
      const int t = fast;
      left[i][t] = row0 + i < 3 && k0 + t < 64 ? static_cast<W>(device::load<BF16, float>(a + (row0 + i) * 128 + (k0 + t) * 2)) : W(0);
    }
    {
      const int t = fast;
      const int j = slow;
      right[t][j] = column0 + j < 64 && k0 + t < 64 ? static_cast<W>(device::load<BF16, float>(b + (k0 + t) * 2 + (column0 + j) * 128)) : W(0);
    }
    __syncthreads();
    const std::int64_t depth = 64 - k0 < 16 ? 64 - k0 : 16;
    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];
    __syncthreads();
    if ((k0 + 16) % 256 == 0 || k0 + 16 >= 64) {
      total = k0 < 256 ? sum : total + sum;
      sum = 0;
    }
  }
  const std::int64_t row = row0 + slow;
  const std::int64_t column = column0 + fast;
  if (row >= 3 || column >= 64) return;
  W value = total * static_cast<W>(std::bit_cast<float>(std::uint32_t{1065353216u}));
  device::store<BF16>(p0 + 0 + row * 128 + column * 2, device::rounded<BF16>(static_cast<C>(value)));
}

extern "C" __global__ void __launch_bounds__(256) k_c78040d131377f7f(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{3286237184u});
  const float a0_2 = std::bit_cast<float>(std::uint32_t{1138753536u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Clamp{}(a0_0, a0_1, a0_2)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_d616f57f04e0b172(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 768) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_dd77565471ca47c8(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3) {
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p2 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const float a1_1 = device::load<Plain<float>, float>(p3 + 0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Divide{}(a1_0, a1_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<Plain<float>>(p1 + x0 * 4, v1);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 4) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
  };
  if (thread < 256) return part0(thread - 0, p0, p1, p2, p3);
  part1(thread - 256, p4, p5);
}

}  // namespace graphgate::optimized
