#include "optimized/codegen/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_34b2a0f6f508d5db(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  using C = float;
  using W = internal::Accumulator<C>;
  __shared__ W left[16][17];
  __shared__ W right[16][17];
  const std::int64_t block = thread / 256;
  const std::int64_t matrix = block / 1;
  const std::int64_t row0 = block / 1 % 1 * 16;
  const std::int64_t column0 = block % 1 * 16;
  const int slow = threadIdx.x / 16;
  const int fast = threadIdx.x % 16;
  const char* const a = p1 + 0;
  const char* const b = p2 + 0;
  W total = 0;
  W sum = 0;
  for (std::int64_t k0 = 0; k0 < 16; k0 += 16) {
    {
      const int i = slow;
      const int t = fast;
      left[i][t] = row0 + i < 8 && k0 + t < 16 ? static_cast<W>(device::load<Plain<float>, float>(a + (row0 + i) * 64 + (k0 + t) * 4)) : W(0);
    }
    {
      const int t = slow;
      const int j = fast;
      right[t][j] = column0 + j < 16 && k0 + t < 16 ? static_cast<W>(device::load<Plain<float>, float>(b + (k0 + t) * 64 + (column0 + j) * 4)) : W(0);
    }
    __syncthreads();
    const std::int64_t depth = 16 - k0 < 16 ? 16 - k0 : 16;
    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];
    __syncthreads();
    if ((k0 + 16) % 256 == 0 || k0 + 16 >= 16) {
      total = k0 < 256 ? sum : total + sum;
      sum = 0;
    }
  }
  const std::int64_t row = row0 + slow;
  const std::int64_t column = column0 + fast;
  if (row >= 8 || column >= 16) return;
  W value = total * static_cast<W>(std::bit_cast<float>(std::uint32_t{1065353216u}));
  device::store<Plain<float>>(p0 + 0 + row * 64 + column * 4, device::rounded<Plain<float>>(static_cast<C>(value)));
}

extern "C" __global__ void __launch_bounds__(256) k_37199794d92d0eb1(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::uint32_t x_1 = static_cast<std::uint32_t>(thread);
  const std::int64_t x1 = x_1 % 16;
  const std::int64_t x0 = x_1 / 16;
  const std::int64_t a0_0 = device::load<Boolean, std::int64_t>(p1 + x0 * 1);
  const std::int64_t a0_1 = device::load<Plain<std::int32_t>, std::int64_t>(p2 + x1 * 4);
  const std::int64_t a0_2 = device::load<Plain<std::int32_t>, std::int64_t>(p0 + x0 * 64 + x1 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Select{}(a0_0, a0_1, a0_2)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 64 + x1 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_3b609748099ce01c(char* p0) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1065353216u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::SubtractScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_5686d2568b335a1c(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1, char* p2) {
  if (thread >= 64) return;
  const std::uint32_t x_1 = static_cast<std::uint32_t>(thread);
  const std::int64_t x1 = x_1 % 8;
  const std::int64_t x0 = x_1 / 8;
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 64 + x1 * 8);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1056964608u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a1_0)));
  const std::int64_t a2_0 = device::load<Plain<std::int32_t>, std::int64_t>(p2 + x0 * 64 + x1 * 4);
  const auto v2 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a2_0)));
  device::store<Plain<float>>(p0 + x0 * 64 + x1 * 8, v1);
  device::store<Plain<std::int32_t>>(p1 + x0 * 32 + x1 * 4, v2);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3) {
  if (thread >= 512) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p2 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  const std::int64_t a1_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p3 + x0 * 1);
  const auto v1 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a1_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
  device::store<Plain<std::uint8_t>>(p1 + x0 * 1, v1);
  };
  if (thread < 256) return part0(thread - 0, p0, p1, p2);
  part1(thread - 256, p3, p4, p5, p6);
}

extern "C" __global__ void __launch_bounds__(256) k_56a262e585e6c82f(char* p0, char* p1, char* p2, char* p3) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p3 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Relu{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Sigmoid{}(a1_0)));
  const float a2_0 = convert<float>(v0);
  const float a2_1 = convert<float>(v1);
  const auto v2 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a2_0, a2_1)));
  const float a3_0 = convert<float>(v2);
  const auto v3 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a3_0)));
  const std::int64_t a4_0 = std::bit_cast<std::int64_t>(std::uint64_t{0u});
  const auto v4 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a4_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v1);
  device::store<Plain<float>>(p1 + x0 * 4, v3);
  device::store<Plain<std::int32_t>>(p2 + x0 * 4, v4);
}

extern "C" __global__ void __launch_bounds__(256) k_68ce94b613cb1ea1(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 512) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_a39d2d6525f8aeda(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0) {
  if (thread >= 8) return;
  device::store<Plain<std::int64_t>>(p0 + thread * 8, element::Sequence<long>{std::bit_cast<std::int64_t>(std::uint64_t{0u}), std::bit_cast<std::int64_t>(std::uint64_t{1u})}(thread));
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1073741824u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  };
  if (thread < 256) return part0(thread - 0, p0);
  part1(thread - 256, p1, p2);
}

extern "C" __global__ void __launch_bounds__(256) k_acb8af0b7cdd1d93(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a1_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_bef17bc503bd1517(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {
  const std::int64_t row = thread / 32;
  if (row >= 8) return;
  const std::int64_t to_o0 = static_cast<std::uint32_t>(row);
  char* const to = p0 + to_o0 * 4;
  const std::int64_t from_o0 = static_cast<std::uint32_t>(row);
  char* const from = p1 + from_o0 * 64;
  const auto at_from = [&](std::int64_t i) -> char* {
    const std::int64_t i0 = static_cast<std::uint32_t>(i);
    return from + i0 * 4;
  };
  const auto term = [&](std::int64_t i) -> float {
    return device::load<Plain<float>, float>(at_from(i));
  };
  const auto value = device::widened(element::RowSum<float>{}(device::Terms<float, decltype(term)>{term}, 8));
  if (threadIdx.x % 32 != 0) return;
  device::store<Plain<float>>(to, device::rounded<Plain<float>>(value));
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1, char* p2) {
  if (thread >= 16) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p2 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  };
  const auto part2 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 8) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int64_t>, std::int64_t>(p1 + x0 * 8);
  const std::int64_t a0_1 = std::bit_cast<std::int64_t>(std::uint64_t{1u});
  const auto v0 = device::rounded<Boolean>(device::widened(element::Equal{}(a0_0, a0_1)));
  device::store<Boolean>(p0 + x0 * 1, v0);
  };
  if (thread < 256) return part0(thread - 0, p0, p1);
  if (thread < 512) return part1(thread - 256, p2, p3, p4);
  part2(thread - 512, p5, p6);
}

extern "C" __global__ void __launch_bounds__(256) k_e89bf93660ba7c59(char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6, char* p7, char* p8) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 64) return;
  const std::uint32_t x_1 = static_cast<std::uint32_t>(thread);
  const std::int64_t x1 = x_1 % 16;
  const std::int64_t x0 = x_1 / 16;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * -64 + x1 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 64 + x1 * 4, v0);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1, char* p2, char* p3, char* p4, char* p5, char* p6) {
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p4 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1065353216u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  const float a1_0 = device::load<Plain<float>, float>(p4 + x0 * 4);
  const float a1_1 = std::bit_cast<float>(std::uint32_t{0u});
  const auto v1 = device::rounded<Boolean>(device::widened(element::Greater{}(a1_0, a1_1)));
  const std::int64_t a2_0 = convert<std::int64_t>(v1);
  const std::int64_t a2_1 = device::load<Plain<std::int32_t>, std::int64_t>(p4 + x0 * 4);
  const std::int64_t a2_2 = device::load<Plain<std::int32_t>, std::int64_t>(p5 + x0 * 4);
  const auto v2 = device::rounded<Plain<std::int32_t>>(device::widened(element::Select{}(a2_0, a2_1, a2_2)));
  const std::int64_t a3_0 = device::load<Plain<std::int32_t>, std::int64_t>(p4 + x0 * 4);
  const auto v3 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a3_0)));
  const std::int64_t a4_0 = device::load<Plain<std::int32_t>, std::int64_t>(p6 + x0 * 4);
  const auto v4 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a4_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
  device::store<Plain<std::int32_t>>(p1 + x0 * 4, v2);
  device::store<Plain<std::int32_t>>(p2 + x0 * 4, v3);
  device::store<Plain<std::int32_t>>(p3 + x0 * 4, v4);
  };
  if (thread < 256) return part0(thread - 0, p0, p1);
  part1(thread - 256, p2, p3, p4, p5, p6, p7, p8);
}

extern "C" __global__ void __launch_bounds__(256) k_eb6d909a94a0838a(char* p0, char* p1, char* p2, char* p3) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  const auto part0 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 512) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
  };
  const auto part1 = [=](std::int64_t thread, char* p0, char* p1) {
  if (thread >= 16) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  const std::int64_t a1_0 = convert<std::int64_t>(v0);
  const auto v1 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a1_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v1);
  };
  if (thread < 512) return part0(thread - 0, p0, p1);
  part1(thread - 512, p2, p3);
}

}  // namespace graphgate::optimized
