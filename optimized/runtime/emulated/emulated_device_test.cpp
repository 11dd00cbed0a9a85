// Kernels as text, run by the emulator: that it computes what the text says, and sees what a GPU
// would hang on. Then products of fast arithmetic on integers, whose results are exact.
#include "optimized/runtime/emulated/emulated_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "optimized/arithmetic/float_format.h"
#include "optimized/device/fast_text.h"

namespace graphgate::optimized::emulated {
namespace {

// Runs works over memory of the host, there and back.
void run_works(DeviceProgramText text, const DeviceWorks& works,
               std::initializer_list<std::span<std::byte>> memory) {
  const auto device = make_emulated_device().value();
  for (const auto bytes : memory) device->memory().know(bytes, nullptr);
  const std::vector<Device::Job> jobs = {{text.add(works), true}};
  const auto runs = device->load(text, jobs);
  for (const auto bytes : memory) device->memory().bring_to_device(bytes);
  runs.front()->launch();
  for (const auto bytes : memory) device->memory().device_wrote(bytes);
  device->finish();
  for (const auto bytes : memory) device->memory().bring_to_host(bytes);
}

// Runs one kernel over 64-bit numbers.
std::vector<std::int64_t> run_text(TextWork work, std::vector<std::int64_t> numbers) {
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
  work.pointers = {bytes.data()};
  run_works(DeviceProgramText(), {std::move(work)}, {bytes});
  return numbers;
}

TextWork text_of(std::string statements, std::int64_t threads, bool reports_faults = false) {
  TextWork work;
  work.statements = std::move(statements);
  work.threads = threads;
  work.reports_faults = reports_faults;
  return work;
}

TEST(EmulatedDevice, TurnsABlockAroundInSharedMemory) {
  std::vector<std::int64_t> numbers(512);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const auto turned = run_text(text_of("  __shared__ std::int64_t all[256];\n"
                                       "  auto* const x = reinterpret_cast<std::int64_t*>(p0);\n"
                                       "  all[threadIdx.x] = x[thread];\n  __syncthreads();\n"
                                       "  x[thread] = all[255 - threadIdx.x];\n",
                                       512),
                               numbers);
  for (std::int64_t i = 0; i < 512; ++i) {
    EXPECT_EQ(turned[static_cast<std::size_t>(i)], i / 256 * 256 + 255 - i % 256);
  }
}

TEST(EmulatedDevice, ShufflesAsAWarpDoes) {
  const auto sums = run_text(text_of("  std::int64_t x = thread;\n"
                                     "  for (int w = 16; w > 0; w /= 2) {\n"
                                     "    x += __shfl_down_sync(0xffffffffu, x, w);\n  }\n"
                                     "  std::int64_t y = threadIdx.x % 32;\n"
                                     "  y += __shfl_xor_sync(0xffffffffu, y, 1);\n"
                                     "  const std::int64_t z = __shfl_sync(0xffffffffu, y, 6);\n"
                                     "  if (thread % 32 == 0) {\n"
                                     "    reinterpret_cast<std::int64_t*>(p0)[thread / 32] = "
                                     "x * 100 + z;\n  }\n",
                                     256),
                             std::vector<std::int64_t>(8));
  for (std::int64_t warp = 0; warp < 8; ++warp) {
    const std::int64_t sum = 32 * (32 * warp) + 31 * 16;
    EXPECT_EQ(sums[static_cast<std::size_t>(warp)], sum * 100 + 13);
  }
}

TEST(EmulatedDevice, SaysWhatAGpuWouldHangOn) {
  try {
    (void)run_text(text_of("  if (threadIdx.x == 5) return;\n"
                           "  (void)__shfl_sync(0xffffffffu, 1, 0);\n",
                           256),
                   std::vector<std::int64_t>(1));
    FAIL() << "nothing was said";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("31 lanes exchange values, 1 have ended"),
              std::string::npos)
        << error.what();
  }
}

TEST(EmulatedDevice, HandsFaultsOn) {
  try {
    (void)run_text(text_of("  if (thread == 7) device::report(fault, 12, 1, 9);\n", 32, true),
                   std::vector<std::int64_t>(1));
    FAIL() << "nothing was said";
  } catch (const OpError& error) {
    EXPECT_STREQ(error.what(), "index 12 is out of range for dimension 1 of size 9");
  }
}

TEST(EmulatedDevice, SeesWritesOutsideOfArenas) {
  for (const char* place : {"-1", "8"}) {
    EXPECT_THROW(
        (void)run_text(text_of("  if (thread == 3) p0[" + std::string(place) + "] = 1;\n", 32),
                       std::vector<std::int64_t>(1)),
        DeviceError);
  }
}

// What a launch reads before it waits is what was there before the launch ahead of it.
TEST(EmulatedDevice, BeginsALaunchBeforeTheOneAheadOfItInFastArithmetic) {
  for (const bool waits_first : {false, true}) {
    std::vector<std::int64_t> numbers = {5, 0};
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
    TextWork writes = text_of("  if (thread == 0) reinterpret_cast<long*>(p0)[0] = 7;\n", 1);
    const std::string wait = "  device::wait_for_launches_before();\n";
    const std::string read = "  const long x = reinterpret_cast<long*>(p0)[0];\n";
    TextWork reads = text_of((waits_first ? wait + read : read + wait) +
                                 "  if (thread == 0) reinterpret_cast<long*>(p0)[1] = x;\n",
                             1);
    reads.waits_itself = true;
    writes.pointers = reads.pointers = {bytes.data()};
    run_works(DeviceProgramText(true), {writes, reads}, {bytes});
    EXPECT_EQ(numbers[1], waits_first ? 7 : 5);
  }
}

TEST(EmulatedDevice, SaysWhatDoesNotCompile) {
  EXPECT_THROW((void)run_text(text_of("  this is no C++;\n", 1), std::vector<std::int64_t>(1)),
               DeviceError);
}

// ---- products in fast arithmetic ----

// Small integers as 16-bit floats, in a matrix whose rows are `pitch` elements apart.
struct Matrix {
  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t pitch, spec::DType dtype,
         unsigned seed)
      : bits(static_cast<std::size_t>(rows * pitch)) {
    std::mt19937 random(seed);
    for (std::uint16_t& one : bits) {
      const auto number = static_cast<float>(static_cast<int>(random() % 7) - 3);
      one = dtype == spec::DType::kFloat16 ? float_to_f16(number) : float_to_bf16(number);
    }
    tensor.dtype = dtype;
    tensor.sizes = {rows, columns};
    tensor.strides = {pitch, 1};
    tensor.bytes = reinterpret_cast<std::byte*>(bits.data());  // NOLINT: their bytes
  }
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    const std::uint16_t one = bits[static_cast<std::size_t>(row * tensor.strides[0] + column)];
    return tensor.dtype == spec::DType::kFloat16 ? f16_to_float(one) : bf16_to_float(one);
  }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(bits)); }
  std::vector<std::uint16_t> bits;
  Tensor tensor;
};

struct Shape {
  std::int64_t m, n, k;
};

void expect_exact(const Shape& s, spec::DType dtype, bool is_constant) {
  Matrix a(s.m, s.k, s.k + 8, dtype, 1);
  Matrix w(s.n, s.k, s.k, dtype, 2);
  Matrix out(s.m, s.n, s.n + 3, dtype, 3);
  const Matrix before = out;
  Product product;
  product.result = out.tensor;
  product.a = a.tensor;
  product.b = swapped(w.tensor, 0, 1);
  product.rounds_to = dtype;
  std::vector<std::byte> scratch;
  const auto reserve = [&](std::int64_t size_bytes) {
    scratch.assign(static_cast<std::size_t>(size_bytes), std::byte{0xee});
    return scratch.data();
  };
  const DeviceListener listener(reserve, [=](const Tensor&) { return is_constant; });
  const auto works = fast_product_works(product);
  ASSERT_TRUE(works.has_value());
  EXPECT_EQ(works->size() > 1, !scratch.empty());
  if (scratch.empty()) scratch.resize(1);
  run_works(DeviceProgramText(true), *works, {a.bytes(), w.bytes(), out.bytes(), scratch});
  for (std::int64_t row = 0; row < s.m; ++row) {
    for (std::int64_t column = 0; column < s.n; ++column) {
      float sum = 0;
      for (std::int64_t k = 0; k < s.k; ++k) sum += a.at(row, k) * w.at(column, k);
      const float rounded = dtype == spec::DType::kFloat16 ? f16_to_float(float_to_f16(sum))
                                                           : bf16_to_float(float_to_bf16(sum));
      ASSERT_EQ(out.at(row, column), rounded) << "row " << row << ", column " << column;
    }
    for (std::int64_t column = s.n; column < s.n + 3 && row + 1 < s.m; ++column) {
      ASSERT_EQ(out.at(row, column), before.at(row, column)) << "behind row " << row;
    }
  }
}

TEST(FastProduct, IsExactOnIntegersWhateverTheShape) {
  for (const Shape& shape : {Shape{1, 16, 32}, Shape{1, 1, 8}, Shape{7, 17, 40}, Shape{8, 33, 264},
                             Shape{9, 15, 2088}, Shape{16, 48, 256}, Shape{32, 20, 8},
                             // In tiles: one, several of rows and columns, split in depth.
                             Shape{33, 64, 8}, Shape{64, 65, 136}, Shape{65, 20, 200},
                             Shape{300, 70, 72}, Shape{33, 7, 1032}, Shape{129, 66, 904}}) {
    SCOPED_TRACE(std::to_string(shape.m) + " x " + std::to_string(shape.k) + " x " +
                 std::to_string(shape.n));
    expect_exact(shape, spec::DType::kBFloat16, true);
    expect_exact(shape, spec::DType::kFloat16, false);
  }
}

TEST(FastProduct, LeavesOtherProductsToOthers) {
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  const auto takes = [](const Shape& s, std::int64_t shift, bool has_more) {
    Matrix a(s.m, s.k + shift, s.k + 8, spec::DType::kBFloat16, 1);
    Matrix w(s.n, s.k + shift, s.k + 8, spec::DType::kBFloat16, 2);
    Matrix out(s.m, s.n, s.n, spec::DType::kBFloat16, 3);
    Product product;
    product.result = out.tensor;
    product.a = a.tensor;
    product.b = swapped(w.tensor, 0, 1);
    product.rounds_to = spec::DType::kBFloat16;
    if (has_more) product.added = out.tensor;
    return fast_product_works(product).has_value();
  };
  EXPECT_TRUE(takes({4, 16, 32}, 0, false));
  EXPECT_TRUE(takes({33, 16, 512}, 0, false)) << "though nobody reserves";
  EXPECT_FALSE(takes({4, 16, 32}, -1, false)) << "rows that are no multiple of 16 bytes";
  EXPECT_FALSE(takes({4, 16, 32}, 0, true)) << "something is added";
}

}  // namespace
}  // namespace graphgate::optimized::emulated
