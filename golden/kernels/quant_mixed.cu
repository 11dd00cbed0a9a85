#include "optimized/device/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_04cfbc457ceb5135(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<std::int8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_04e2b205d085b0f6(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_105cd92e77c79c0f(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E4M3FN>(device::widened(element::Identity{}(a0_0)));
  device::store<F8E4M3FN>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_1b0149b899bbb68d(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<BF16>(device::widened(element::Identity{}(a0_0)));
  device::store<BF16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_1c416addc1fdfbad(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  device::store<F16>(p0 + x0 * 2, v0);
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

extern "C" __global__ void __launch_bounds__(256) k_2e2a1d6c643aab3c(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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

extern "C" __global__ void __launch_bounds__(256) k_653fafa96b20d4a7(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::int64_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int64_t>>(p0 + x0 * 8, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_682c2ad54a0d8006(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E5M2>(device::widened(element::Identity{}(a0_0)));
  device::store<F8E5M2>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_70aa5d0b34159c96(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p2 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Divide{}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const float a1_1 = std::bit_cast<float>(std::uint32_t{3286237184u});
  const float a1_2 = std::bit_cast<float>(std::uint32_t{1138753536u});
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Clamp{}(a1_0, a1_1, a1_2)));
  device::store<Plain<float>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_71148a05df05ce21(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1536) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_7d0f8c43772c7004(char* p0) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Absolute{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_97656134bd8ac577(char* p0, char* p1, char* p2, char* p3, char* p4) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_a3c48fb7f8042b68(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  device::store<F16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_a981b1c7ca26bcc6(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_b738ea096c1c19f1(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Sigmoid{}(a0_0)));
  const float a1_0 = device::load<F16, float>(p2 + x0 * 2);
  const float a1_1 = convert<float>(v0);
  const auto v1 = device::rounded<F16>(device::widened(element::Multiply{}(a1_0, a1_1)));
  device::store<F16>(p0 + x0 * 2, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_bb832529028d8f73(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E5M2, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_c06a7874472e2ab5(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1) return;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + 0);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + 0, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_c2ddff6b38e4a342(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_cd700a7148ed0916(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p1 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
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

extern "C" __global__ void __launch_bounds__(256) k_fd4e8b36cf031cac(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 4) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_fefe70574c974daa(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 4096) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

}  // namespace graphgate::optimized
#include "optimized/device/text/prelude.cuh"

namespace graphgate::optimized {

extern "C" __global__ void __launch_bounds__(256) k_0d90a08fb60027c6(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::int64_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int64_t>>(p0 + x0 * 8, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_264be2e2907f366c(char* p0) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Absolute{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
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

extern "C" __global__ void __launch_bounds__(256) k_4242830cb2e269bd(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E4M3FN>(device::widened(element::Identity{}(a0_0)));
  device::store<F8E4M3FN>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_47592334b3654849(char* p0, char* p1, char* p2, char* p3, char* p4) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_5340111e58831636(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_55c31a00ec7e2e41(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_5abe6396125508fa(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_65f574538e9bd4e1(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<Plain<std::int8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_67de543030df3215(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 384) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_683e929bf9662981(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<BF16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  device::store<F16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_6a23eafab9629bda(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E5M2, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_82d98516f785d079(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p2 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Divide{}(a0_0, a0_1)));
  const float a1_0 = convert<float>(v0);
  const float a1_1 = std::bit_cast<float>(std::uint32_t{3286237184u});
  const float a1_2 = std::bit_cast<float>(std::uint32_t{1138753536u});
  const auto v1 = device::rounded<Plain<float>>(device::widened(element::Clamp{}(a1_0, a1_1, a1_2)));
  device::store<Plain<float>>(p0 + x0 * 4, v1);
}

extern "C" __global__ void __launch_bounds__(256) k_9168775bd3f96ba5(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<BF16>(device::widened(element::Identity{}(a0_0)));
  device::store<BF16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_a48513d8c72b5a3c(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F8E5M2>(device::widened(element::Identity{}(a0_0)));
  device::store<F8E5M2>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_ace53258da683e8f(char* p0, char* p1, char* p2) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F16, float>(p1 + x0 * 2);
  const auto v0 = device::rounded<F16>(device::widened(element::Sigmoid{}(a0_0)));
  const float a1_0 = device::load<F16, float>(p2 + x0 * 2);
  const float a1_1 = convert<float>(v0);
  const auto v1 = device::rounded<F16>(device::widened(element::Multiply{}(a1_0, a1_1)));
  device::store<F16>(p0 + x0 * 2, v1);
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

extern "C" __global__ void __launch_bounds__(256) k_b8b2e69c39c2acdf(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p1 + x0 * 4);
  const auto v0 = device::rounded<F16>(device::widened(element::Identity{}(a0_0)));
  device::store<F16>(p0 + x0 * 2, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_c06a7874472e2ab5(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 1) return;
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + 0);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + 0, v0);
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

extern "C" __global__ void __launch_bounds__(256) k_d616f57f04e0b172(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 768) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::uint8_t>, std::int64_t>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<std::uint8_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::uint8_t>>(p0 + x0 * 1, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_f62c4935df74cea2(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 192) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<Plain<float>, float>(p0 + x0 * 4);
  const float a0_1 = device::load<Plain<float>, float>(p1 + 0);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Multiply{}(a0_0, a0_1)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_fa4472f706a94246(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
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
}

extern "C" __global__ void __launch_bounds__(256) k_fd4e8b36cf031cac(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 4) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const std::int64_t a0_0 = device::load<Plain<std::int32_t>, std::int64_t>(p1 + x0 * 4);
  const auto v0 = device::rounded<Plain<std::int32_t>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<std::int32_t>>(p0 + x0 * 4, v0);
}

extern "C" __global__ void __launch_bounds__(256) k_fefe70574c974daa(char* p0, char* p1) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (thread >= 4096) return;
  const std::int64_t x0 = static_cast<std::uint32_t>(thread);
  const float a0_0 = device::load<F8E4M3FN, float>(p1 + x0 * 1);
  const auto v0 = device::rounded<Plain<float>>(device::widened(element::Identity{}(a0_0)));
  device::store<Plain<float>>(p0 + x0 * 4, v0);
}

}  // namespace graphgate::optimized
