#include "optimized/device/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_1417e27b2a5ac402(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 8);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1056964608u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_1d0637c4cf5ed528(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p2 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

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

extern "C" __global__ void __launch_bounds__(256) k_3f997562ce8250cf(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1073741824u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_6272fa219ae2243b(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{0u});
  const auto v0 = device::rounded<Boolean>(device::widened(element::Greater{}(a0_0, a0_1)));
  const std::int64_t a1_0 = convert<std::int64_t>(v0);
  const std::int64_t a1_1 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const std::int64_t a1_2 = device::load<Plain<std::int32_t>, std::int64_t>(p2 + x0 * 4);
  const auto v1 = device::rounded<Plain<std::int32_t>>(device::widened(element::Select{}(a1_0, a1_1, a1_2)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_67c9aa6370f13762(char* p0) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = std::bit_cast<std::int64_t>(std::uint64_t{0u});
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_68ce94b613cb1ea1(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 512) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_8a62769e5cda60e9(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = std::bit_cast<float>(std::uint32_t{1065353216u});
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_a1361cf43277d0c7(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::uint32_t x_1 = static_cast<std::uint32_t>(thread);
  const std::int64_t x1 = x_1 % 8;
  const std::int64_t x0 = x_1 / 8;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 64 + x1 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 32 + x1 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_a7fefe63e9704c0e(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 16) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p2 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_ab995d2f8616b45b(char* p0) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 8) return;
  device::store<Plain<std::int64_t>>(p0 + thread * 8, element::Sequence<long>{std::bit_cast<std::int64_t>(std::uint64_t{0u}), std::bit_cast<std::int64_t>(std::uint64_t{1u})}(thread));
}

extern "C" __global__ void __launch_bounds__(256) k_bf3ec3f42d14d445(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_bf8643d301513346(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_c34916292d82052f(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 16) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  const std::int64_t a1_0 = convert<std::int64_t>(v0);
  const auto v1 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a1_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_d0793f1c5c4e3a02(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 128) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p2 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Relu{}(a0_0)));
  const float a1_0 = convert<float>(v0);
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Sigmoid{}(a1_0)));
  const float a2_0 = convert<float>(v0);
  const float a2_1 = convert<float>(v1);
  const auto v2 = device::rounded<Plain<float>>(device::widened(element::AddScaled<float>{std::bit_cast<float>(std::uint32_t{1065353216u})}(a2_0, a2_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v1);
  device::store<Plain<float>>(p1 + x0 * 4, v2);
}

extern "C" __global__ void __launch_bounds__(256) k_d43329c9b32fe46d(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 8) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int64_t>, std::int64_t>(p1 + x0 * 8);
  const std::int64_t a0_1 = std::bit_cast<std::int64_t>(std::uint64_t{1u});
  const auto v0 = device::rounded<Boolean>(device::widened(element::Equal{}(a0_0, a0_1)));
  device::store<Boolean>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_e71bc2d54200e895(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_e7e2ee8fcd4eb711(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 8, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_f16d33e36359fb7e(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 64) return;
  const std::uint32_t x_1 = static_cast<std::uint32_t>(thread);
  const std::int64_t x1 = x_1 % 16;
  const std::int64_t x0 = x_1 / 16;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * -64 + x1 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 64 + x1 * 4, v0);
}

}  // namespace graphgate::optimized
