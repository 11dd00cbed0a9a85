// Kernels as text, run by the emulator: that it computes what the text says, and sees what a GPU
// would depend on. Then products of fast arithmetic on integers, whose results are exact.
#include "optimized/runtime/emulated/emulated_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <vector>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"
#include "optimized/arithmetic/float_format.h"
#include "optimized/codegen/cells_text.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/join_works.h"

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
  return TextWork{
      .statements = std::move(statements), .threads = threads, .reports_faults = reports_faults};
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
    EXPECT_TRUE(contains(std::string(error.what()), "31 lanes exchange values, 1 have ended"))
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

// Of guarded memory: one kernel over 32 bytes that nobody may write, or anybody.
void run_guarded(DeviceMemoryMode mode, const std::string& statement, bool is_read_only = false) {
  const auto device = make_emulated_device(mode).value();
  std::vector<std::int64_t> numbers(4);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
  device->memory().know(bytes, nullptr);
  device->memory().set_read_only(bytes.data(), is_read_only);
  DeviceProgramText text;
  TextWork work = text_of("  if (thread == 3) { " + statement + " }\n", 32);
  work.pointers = {bytes.data()};
  const std::vector<Device::Job> jobs = {{text.add({work}), true}};
  const auto runs = device->load(text, jobs);
  device->memory().bring_to_device(bytes);
  runs.front()->launch();
  device->finish();
}

TEST(EmulatedDeviceDeathTest, FaultsOutsideOfGuardedArenas) {
  constexpr auto kEnd = DeviceMemoryMode::kGuarded;
  constexpr auto kFront = DeviceMemoryMode::kGuardedFront;
  for (const auto mode : {kEnd, kFront}) {
    run_guarded(mode, "p0[0] = 1; p0[31] = 1;");
    run_guarded(mode, "volatile char x = p0[0]; x = p0[31];", true);
    EXPECT_DEATH(run_guarded(mode, "p0[0] = 1;", true), "");
  }
  EXPECT_DEATH(run_guarded(kEnd, "p0[32] = 1;"), "");
  EXPECT_DEATH(run_guarded(kEnd, "volatile char x = p0[32];"), "");
  EXPECT_DEATH(run_guarded(kFront, "p0[-1] = 1;"), "");
  EXPECT_DEATH(run_guarded(kFront, "volatile char x = p0[-1];"), "");
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

// Number r * 8 + c of tile t in row r, column c, plus 64 t: who has which, as the PTX ISA draws it.
TEST(EmulatedDevice, LoadsAndTurnsTilesAsAWarpDoes) {
  std::vector<std::int64_t> numbers(32 * 10);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
  TextWork work = text_of(
      "  __shared__ uint4 rows[32];\n  const int lane = threadIdx.x % 32;\n"
      "  if (threadIdx.x >= 32) return;\n"
      "  auto* const all = reinterpret_cast<std::uint16_t*>(rows);\n"
      "  for (int i = 0; i < 8; ++i) all[lane * 8 + i] = lane * 8 + i;\n  __syncwarp();\n"
      "  std::uint32_t plain[4], turned[4];\n"
      "  device::load_tiles(plain, rows + lane);\n"
      "  device::load_turned_tiles(turned, rows + lane);\n"
      "  auto* const out = reinterpret_cast<std::int64_t*>(p0) + lane * 10;\n"
      "  for (int t = 0; t < 4; ++t) {\n    out[t] = plain[t];\n    out[4 + t] = turned[t];\n  }\n"
      "  out[8] = device::turned_tile(plain[0]);\n"
      "  out[9] = device::packed2<BF16>(1.0f, -2.0f);\n",
      256);
  work.pointers = {bytes.data()};
  run_works(DeviceProgramText(true), {work}, {bytes});
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    const std::int64_t g = lane / 4;
    const std::int64_t q = lane % 4;
    const auto found = [&](std::int64_t i) {
      return numbers[static_cast<std::size_t>(lane * 10 + i)];
    };
    const auto pair = [](std::int64_t low, std::int64_t high) { return low + high * 0x10000; };
    for (std::int64_t t = 0; t < 4; ++t) {
      const std::int64_t first = t * 64;
      EXPECT_EQ(found(t), pair(first + g * 8 + q * 2, first + g * 8 + q * 2 + 1));
      EXPECT_EQ(found(4 + t), pair(first + q * 16 + g, first + q * 16 + 8 + g));
    }
    EXPECT_EQ(found(8), found(4));
    EXPECT_EQ(found(9), pair(0x3f80, 0xc000));
  }
}

// Every block of a cluster reads what the next one has; 16 clusters, of which a few begin early.
TEST(EmulatedDevice, LetsTheBlocksOfAClusterReadEachOther) {
  for (const std::int64_t cluster : {2, 3, 8}) {
    TextWork work = text_of(
        "  auto* const own = reinterpret_cast<float*>(device::dynamic_shared());\n"
        "  device::begin_in_turn();\n"
        "  const int ranks = " +
            std::to_string(cluster) +
            ", rank = blockIdx.x % ranks;\n"
            "  own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;\n"
            "  device::wait_for_cluster();\n"
            "  const float4 v = device::load_of_block(own + threadIdx.x / 4 * 4, (rank + 1) % "
            "ranks);\n"
            "  device::wait_for_cluster();\n"
            "  if (threadIdx.x == 9) reinterpret_cast<std::int64_t*>(p0)[blockIdx.x] = v.y;\n",
        16 * cluster * 256);
    work.waits_itself = true;
    work.shared_bytes = 1024;
    work.cluster = cluster;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(16 * cluster));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
    work.pointers = {bytes.data()};
    run_works(DeviceProgramText(true), {work}, {bytes});
    for (std::int64_t b = 0; b < std::ssize(numbers); ++b) {
      const std::int64_t next = b / cluster * cluster + (b + 1) % cluster;
      EXPECT_EQ(numbers[static_cast<std::size_t>(b)], next * 1000 + 9) << "block " << b;
    }
    work.threads -= 256;
    EXPECT_THROW(run_works(DeviceProgramText(true), {work}, {bytes}), DeviceError);
  }
}

// ---- pointwise works ----

// x * y + x over matrices of any dtype and any bytes, whose rows may be apart and begin anywhere.
struct Scaled {
  struct Place {
    std::int64_t pitch, first;  // in elements; a pitch of 0: one row for all
    std::int64_t step = 1;      // from column to column; 0: one element for all
  };

  Scaled(spec::DType dtype, std::int64_t rows, std::int64_t columns, Place of_x, Place of_y,
         Place of_out)
      : x(tensor(dtype, rows, columns, of_x)),
        y(tensor(dtype, rows, columns, of_y)),
        out(tensor(dtype, rows, columns, of_out)) {}

  [[nodiscard]] PointwiseWork work(std::int64_t first, std::int64_t rows) const {
    const auto part = [&](Tensor tensor) {
      tensor.bytes += first * tensor.strides[0] * tensor.item_bytes();
      tensor.sizes[0] = rows;
      return tensor;
    };
    const bool is_real = spec::is_floating_point(x.dtype);
    const spec::DType compute = x.dtype == spec::DType::kFloat64 ? x.dtype
                                : is_real                        ? spec::DType::kFloat32
                                                                 : spec::DType::kInt64;
    PointwiseWork work;
    work.result = part(out);
    work.rounds_to = x.dtype;
    work.compute = compute;
    work.function = "[](auto a, auto b, auto c) { return a * b + c; }";
    for (const Tensor& operand : {x, y, x}) {
      work.operands.push_back({part(operand), x.dtype, false, 0});
    }
    return work;
  }

  std::vector<std::vector<std::byte>> memory;
  Tensor x, y, out;

 private:
  Tensor tensor(spec::DType dtype, std::int64_t rows, std::int64_t columns, Place place) {
    Tensor made{.dtype = dtype, .sizes = {rows, columns}, .strides = {place.pitch, place.step}};
    std::vector<std::byte>& bytes = memory.emplace_back();
    const std::int64_t size =
        place.first + (rows - 1) * place.pitch + (columns - 1) * place.step + 1;
    bytes.resize(static_cast<std::size_t>(size * made.item_bytes()));
    std::mt19937 random(static_cast<unsigned>(memory.size()));
    for (std::byte& one : bytes) one = static_cast<std::byte>(random());
    made.bytes = bytes.data() + place.first * made.item_bytes();
    return made;
  }
};

// Of matrices so large that threads take several elements: the same bytes as row by row, where
// there are too few for that, and none behind a row.
TEST(EmulatedDevice, TakesNeighboursTogetherWhereThereAreMany) {
  using enum spec::DType;
  constexpr std::int64_t kRows = 264;
  constexpr std::int64_t kColumns = 1024;  // four times 264 blocks of 256
  constexpr Scaled::Place kPlain = {kColumns, 0};
  struct Case {
    spec::DType dtype;
    std::int64_t rows, columns;
    Scaled::Place x, y, out;
    std::string word;  // "item bytes, elements", "" for one element at a time
  };
  for (const Case& c : {
           Case{kBFloat16, kRows, kColumns, kPlain, kPlain, kPlain, "2, 4"},
           Case{kInt8, kRows, kColumns, kPlain, kPlain, kPlain, "1, 4"},
           Case{kFloat64, kRows, kColumns, kPlain, kPlain, kPlain, "8, 2"},
           // Rows apart, a row for all, a number for each row, a number for all.
           Case{kFloat32, kRows, kColumns, {kColumns + 4, 4}, {0, 0}, {kColumns + 8, 0}, "4, 4"},
           Case{kFloat16, kRows, kColumns, kPlain, {1, 0, 0}, {kColumns + 2, 0}, "2, 2"},
           Case{kInt16, kRows, kColumns, {0, 0, 0}, kPlain, {kColumns + 6, 2}, "2, 2"},
           // Not where a word would begin at an odd place, or between two rows.
           Case{kBFloat16, kRows, kColumns, {kColumns, 2}, kPlain, kPlain, "2, 2"},
           Case{kBFloat16, kRows, kColumns, {kColumns, 1}, kPlain, kPlain, ""},
           Case{kFloat32, kRows, kColumns, {kColumns + 1, 0}, kPlain, kPlain, ""},
           Case{kFloat16, kRows, 1027, {1030, 0}, {1030, 0}, {1030, 0}, ""},
           // Not where few threads would be left.
           Case{kBFloat16, kRows - 1, kColumns, kPlain, kPlain, kPlain, "2, 2"},
       }) {
    SCOPED_TRACE(testing::PrintToString(c.dtype) + " " + c.word);
    const auto run = [&](std::int64_t rows_at_once, std::string& source) {
      Scaled scaled(c.dtype, c.rows, c.columns, c.x, c.y, c.out);
      DeviceWorks works;
      for (std::int64_t row = 0; row < c.rows; row += rows_at_once) {
        works.emplace_back(scaled.work(row, std::min(rows_at_once, c.rows - row)));
      }
      DeviceProgramText text;
      (void)text.add(works);
      source = text.source();
      run_works(text, works, {scaled.memory[0], scaled.memory[1], scaled.memory[2]});
      return scaled.memory[2];
    };
    std::string together;
    std::string apart;
    EXPECT_EQ(run(c.rows, together), run(16, apart));
    EXPECT_FALSE(contains(apart, "device::Word<"));
    EXPECT_EQ(together.find("device::Word<") != std::string::npos, !c.word.empty());
    EXPECT_TRUE(contains(together, c.word.empty() ? "" : "device::Word<" + c.word + ">"));
  }
}

TEST(EmulatedDevice, SaysWhatDoesNotCompile) {
  EXPECT_THROW((void)run_text(text_of("  this is no C++;\n", 1), std::vector<std::int64_t>(1)),
               DeviceError);
}

// Programs share kernels: a second one compiles only what is new, and runs all.
TEST(EmulatedDevice, CompilesAKernelOnceForAProcess) {
  const TestFolder folder;
  const std::string compiler = folder.file("compiler");
  must(write_file(compiler, "#!/bin/sh\necho >> '" + folder.file("calls") +
                                "'\nexec ${ITS_COMPILER:-c++} \"$@\"\n"));
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
  const char* const before = std::getenv("CXX");
  if (before != nullptr) setenv("ITS_COMPILER", before, 1);
  setenv("CXX", compiler.c_str(), 1);
  const auto run = [&](std::initializer_list<int> factors) {
    std::vector<std::int64_t> number = {1};
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(number));
    DeviceWorks works;
    for (const int factor : factors) {
      TextWork work = text_of("  if (thread == 0) *reinterpret_cast<std::int64_t*>(p0) *= " +
                                  std::to_string(factor) + ";\n",
                              1);
      work.pointers = {bytes.data()};
      works.emplace_back(std::move(work));
    }
    run_works(DeviceProgramText(), works, {bytes});
    return number.front();
  };
  const auto compiled = [&] { return must(read_whole(folder.file("calls"))).size(); };
  EXPECT_EQ(run({3}), 3);
  EXPECT_EQ(run({3, 5}), 15);
  EXPECT_EQ(compiled(), 2U);
  EXPECT_EQ(run({5, 3, 5}), 75);
  EXPECT_EQ(run({3}), 3);
  EXPECT_EQ(compiled(), 2U);
  if (before != nullptr) {
    setenv("CXX", before, 1);
  } else {
    unsetenv("CXX");
  }
  // NOLINTEND(concurrency-mt-unsafe)
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
  void set(std::int64_t row, std::int64_t column, float number) {
    bits[static_cast<std::size_t>(row * tensor.strides[0] + column)] =
        tensor.dtype == spec::DType::kFloat16 ? float_to_f16(number) : float_to_bf16(number);
  }
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(bits)); }
  std::vector<std::uint16_t> bits;
  Tensor tensor;
};

// out = a @ w^T.
Product product_of(const Matrix& out, const Matrix& a, const Matrix& w) {
  return Product{.result = out.tensor,
                 .a = a.tensor,
                 .b = swapped(w.tensor, 0, 1),
                 .rounds_to = out.tensor.dtype};
}

struct Shape {
  std::int64_t m, n, k;
};

// What follows a product: nothing, x + bias with one bias for each row, or the first half of the
// columns times the second.
enum class Behind : std::uint8_t { kNothing, kBias, kHalves };

void expect_exact(const Shape& s, spec::DType dtype, bool is_constant, Behind behind) {
  Matrix a(s.m, s.k, s.k + 8, dtype, 1);
  Matrix w(s.n, s.k, s.k, dtype, 2);
  Matrix out(s.m, s.n, s.n + 4, dtype, 3);
  const bool halves = behind == Behind::kHalves;
  const std::int64_t columns = halves ? s.n / 2 : s.n;
  Matrix bias(s.m, 1, 1, dtype, 4);
  Matrix last(s.m, columns, columns + 4, dtype, 5);
  const Matrix before = out;
  const Matrix before_last = last;
  const Product product = product_of(out, a, w);
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [=](const Tensor&) { return is_constant; });
  auto works = fast_product_works(listener, product);
  ASSERT_TRUE(works.has_value());
  if (behind != Behind::kNothing) {
    Tensor first = out.tensor;
    first.sizes[1] = columns;
    Tensor second = halves ? first : bias.tensor;
    if (halves) second.offset = columns;
    works->emplace_back(
        PointwiseWork{last.tensor,
                      dtype,
                      spec::DType::kFloat32,
                      halves ? "element::Multiply{}" : "[](float x, float y) { return x + y; }",
                      {{first, dtype, false, 0}, {second, dtype, false, 0}}});
    works = join_works(*works);
    ASSERT_EQ(works->size(), 1U);
  }
  run_works(DeviceProgramText(true), *works,
            {a.bytes(), w.bytes(), out.bytes(), bias.bytes(), last.bytes()});
  const auto rounded = [dtype](float x) {
    return dtype == spec::DType::kFloat16 ? f16_to_float(float_to_f16(x))
                                          : bf16_to_float(float_to_bf16(x));
  };
  const auto expect_untouched = [&](const Matrix& now, const Matrix& then, std::int64_t row) {
    const std::int64_t width = now.tensor.sizes[1];
    for (std::int64_t column = width; column < width + 4 && row + 1 < s.m; ++column) {
      ASSERT_EQ(now.at(row, column), then.at(row, column)) << "behind row " << row;
    }
  };
  for (std::int64_t row = 0; row < s.m; ++row) {
    for (std::int64_t column = 0; column < s.n; ++column) {
      float sum = 0;
      for (std::int64_t k = 0; k < s.k; ++k) sum += a.at(row, k) * w.at(column, k);
      ASSERT_EQ(out.at(row, column), rounded(sum)) << "row " << row << ", column " << column;
    }
    expect_untouched(out, before, row);
    for (std::int64_t column = 0; column < columns; ++column) {
      const float x = out.at(row, column);
      const float expected = behind == Behind::kNothing ? before_last.at(row, column)
                             : halves                   ? rounded(x * out.at(row, columns + column))
                                                        : rounded(x + bias.at(row, 0));
      ASSERT_EQ(last.at(row, column), expected) << "row " << row << ", column " << column;
    }
    expect_untouched(last, before_last, row);
  }
}

TEST(FastProduct, IsExactOnIntegersWhateverTheShape) {
  for (const Shape& shape :
       {Shape{1, 16, 32}, Shape{1, 1, 8}, Shape{7, 17, 40}, Shape{8, 33, 264}, Shape{9, 15, 2088},
        Shape{16, 48, 256}, Shape{32, 20, 8},
        // So many columns that blocks go on with others.
        Shape{1, 6352, 8}, Shape{2, 8500, 1032}, Shape{17, 4500, 72},
        // In tiles: one, several of rows and columns, split in depth, wide
        // and narrow.
        Shape{33, 64, 8}, Shape{64, 65, 136}, Shape{65, 20, 200}, Shape{300, 70, 72},
        Shape{33, 7, 1032}, Shape{129, 66, 904}, Shape{40, 64, 1544}, Shape{70, 130, 1104}}) {
    SCOPED_TRACE(std::to_string(shape.m) + " x " + std::to_string(shape.k) + " x " +
                 std::to_string(shape.n));
    const bool is_odd = shape.n % 2 != 0;
    expect_exact(shape, spec::DType::kBFloat16, true, is_odd ? Behind::kNothing : Behind::kHalves);
    expect_exact(shape, spec::DType::kFloat16, false, is_odd ? Behind::kBias : Behind::kNothing);
  }
  expect_exact({5, 40, 72}, spec::DType::kFloat16, true, Behind::kBias);
  expect_exact({70, 132, 72}, spec::DType::kBFloat16, true, Behind::kBias);
  expect_exact({40, 68, 1544}, spec::DType::kBFloat16, false, Behind::kBias);
}

// Columns are four heads of 16. Halves of two of them, from `first` on, are multiplied by each
// other; what comes of the second one goes into cells, and so does the last head.
void expect_heads(std::int64_t m, std::int64_t k, std::int64_t first) {
  constexpr auto kDtype = spec::DType::kBFloat16;
  Matrix a(m, k, k, kDtype, 1);
  Matrix w(64, k, k, kDtype, 2);
  Matrix out(m, 64, 80, kDtype, 3);
  Matrix last(m, 16, 24, kDtype, 4);
  Matrix keys(3 * m, 8, 8, kDtype, 5);
  Matrix values(3 * m, 16, 16, kDtype, 6);
  const Matrix keys_before = keys;
  std::vector<std::int64_t> place = {2};
  const auto view = [](const Matrix& matrix, Sizes sizes, Sizes strides, std::int64_t offset) {
    Tensor tensor = matrix.tensor;
    tensor.sizes = std::move(sizes);
    tensor.strides = std::move(strides);
    tensor.offset = offset;
    return tensor;
  };
  const auto written = [&](const Matrix& cells, const Tensor& source) {
    const std::int64_t row = source.sizes[2];
    Tensor all = view(cells, {3, m, row}, {m * row, row, 1}, 0);
    Tensor index;
    index.dtype = spec::DType::kInt64;
    index.sizes = {1, 1, 1};
    index.strides = {0, 0, 0};
    index.bytes = reinterpret_cast<std::byte*>(place.data());  // NOLINT: its bytes
    const IndexedDim dim = indexed_dim(all, 0, index, false);
    all.sizes[0] = 1;
    all.strides[0] = 0;
    return write_cells_text({source.sizes, all, {source}, {dim}}, 2);
  };
  const Product product = product_of(out, a, w);
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  DeviceWorks works = fast_product_works(listener, product).value();
  works.emplace_back(
      PointwiseWork{view(last, {m, 2, 8}, {24, 8, 1}, 0),
                    kDtype,
                    spec::DType::kFloat32,
                    "element::Multiply{}",
                    {{view(out, {m, 2, 8}, {80, 16, 1}, first * 16), kDtype, false, 0},
                     {view(out, {m, 2, 8}, {80, 16, 1}, first * 16 + 8), kDtype, false, 0}}});
  works.emplace_back(written(keys, view(last, {1, m, 8}, {0, 24, 1}, 8)));
  works.emplace_back(written(values, view(out, {1, m, 16}, {0, 80, 1}, 48)));
  works = join_works(works);
  ASSERT_EQ(works.size(), 1U);
  run_works(DeviceProgramText(true), works,
            {a.bytes(), w.bytes(), out.bytes(), last.bytes(), keys.bytes(), values.bytes(),
             std::as_writable_bytes(std::span(place))});
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::int64_t column = 0; column < 16; ++column) {
      const std::int64_t left = (first + column / 8) * 16 + column % 8;
      const float expected =
          bf16_to_float(float_to_bf16(out.at(row, left) * out.at(row, left + 8)));
      ASSERT_EQ(last.at(row, column), expected) << "row " << row << ", column " << column;
      ASSERT_EQ(values.at(2 * m + row, column), out.at(row, 48 + column)) << row;
      if (column < 8) {
        ASSERT_EQ(keys.at(2 * m + row, column), last.at(row, 8 + column)) << row;
        ASSERT_EQ(keys.at(row, column), keys_before.at(row, column)) << row;
      }
    }
  }
}

TEST(FastProduct, TurnsHalvesOfHeadsAndPutsThemIntoCells) {
  for (const std::int64_t first : {0, 1}) {
    expect_heads(1, 40, first);
    expect_heads(5, 72, first);
    expect_heads(40, 136, first);   // in tiles
    expect_heads(70, 1104, first);  // split in depth
  }
}

TEST(FastProduct, LeavesOtherProductsToOthers) {
  const DeviceListener listener([](std::int64_t) { return nullptr; },
                                [](const Tensor&) { return true; });
  const auto takes = [&](const Shape& s, std::int64_t shift, bool has_more) {
    Matrix a(s.m, s.k + shift, s.k + 8, spec::DType::kBFloat16, 1);
    Matrix w(s.n, s.k + shift, s.k + 8, spec::DType::kBFloat16, 2);
    Matrix out(s.m, s.n, s.n, spec::DType::kBFloat16, 3);
    Product product = product_of(out, a, w);
    if (has_more) product.added = out.tensor;
    return fast_product_works(listener, product).has_value();
  };
  EXPECT_TRUE(takes({4, 16, 32}, 0, false));
  EXPECT_TRUE(takes({33, 16, 512}, 0, false)) << "though nobody reserves";
  EXPECT_FALSE(takes({4, 16, 32}, -1, false)) << "rows that are no multiple of 16 bytes";
  EXPECT_FALSE(takes({4, 16, 32}, 0, true)) << "something is added";
}

// ---- attention in fast arithmetic ----

constexpr std::int64_t kHeads = 3;  // that share keys
constexpr std::int64_t kDepth = 16;

// Queries, keys and values of one group, and a mask of each head. Behind the last key there are
// others, which are no numbers.
struct AttentionCase {
  AttentionCase(std::int64_t keys, spec::DType dtype)
      : count(keys),
        query(kHeads, kDepth, kDepth, dtype, 1),
        key(keys + 16, kDepth, kDepth, dtype, 2),
        value(keys + 16, kDepth, kDepth, dtype, 3),
        out(kHeads, kDepth, kDepth, dtype, 4),
        mask(static_cast<std::size_t>(kHeads * keys), std::byte{1}) {
    for (Matrix* matrix : {&key, &value}) {
      std::fill(matrix->bits.end() - 16 * kDepth, matrix->bits.end(), std::uint16_t{0x7fff});
    }
  }
  [[nodiscard]] std::byte& sees(std::int64_t head, std::int64_t at) {
    return mask[static_cast<std::size_t>(head * count + at)];
  }
  void run() {
    Tensor masks{.dtype = spec::DType::kBool, .sizes = {1, kHeads, 1, count}};
    masks.strides = row_major_strides(masks.sizes);
    masks.bytes = mask.data();
    const auto four = [](Tensor tensor, std::int64_t groups, std::int64_t rows) {
      tensor.sizes = {1, groups, rows, kDepth};
      tensor.strides = row_major_strides(tensor.sizes);
      return tensor;
    };
    AttentionWork work;
    work.scale = 0.25;
    work.query = four(query.tensor, kHeads, 1);
    work.key = four(key.tensor, 1, count);
    work.value = four(value.tensor, 1, count);
    work.result = four(out.tensor, kHeads, 1);
    work.mask = &masks;
    std::vector<std::byte> scratch;
    const auto reserve = [&](std::int64_t size_bytes) {
      scratch.assign(static_cast<std::size_t>(size_bytes), std::byte{0xee});
      return scratch.data();
    };
    const DeviceListener listener(reserve, [](const Tensor&) { return false; });
    const auto works = one_row_attention_works(listener, work);
    ASSERT_TRUE(works.has_value());
    EXPECT_EQ(works->size(), scratch.empty() ? 1U : 2U);
    if (scratch.empty()) scratch.resize(1);
    run_works(DeviceProgramText(true), *works,
              {query.bytes(), key.bytes(), value.bytes(), out.bytes(), mask, scratch});
  }
  std::int64_t count;
  Matrix query, key, value, out;
  std::vector<std::byte> mask;
};

// A score that is no number makes a row none, whichever chunk it is in, and whoever does not see
// its key keeps to the others.
TEST(FastAttention, LosesWhatSeesAKeyThatIsNoNumber) {
  for (const std::int64_t keys : {20, 200}) {
    for (const std::int64_t lost : {std::int64_t{0}, std::int64_t{17}, keys - 1}) {
      SCOPED_TRACE("key " + std::to_string(lost) + " of " + std::to_string(keys));
      AttentionCase attention(keys, spec::DType::kBFloat16);
      attention.key.set(lost, 5, std::numeric_limits<float>::quiet_NaN());
      // The first head sees all, the second all others, the third this one alone.
      for (std::int64_t i = 0; i < keys; ++i) {
        attention.sees(1, i) = std::byte{i != lost};
        attention.sees(2, i) = std::byte{i == lost};
      }
      attention.run();
      for (std::int64_t i = 0; i < kDepth; ++i) {
        EXPECT_TRUE(std::isnan(attention.out.at(0, i))) << i;
        EXPECT_LE(std::abs(attention.out.at(1, i)), 3) << i;
        EXPECT_TRUE(std::isnan(attention.out.at(2, i))) << i;
      }
    }
  }
}

// A weight is two numbers, and an infinite value has to find both above 0: of the one key that a
// head sees, and of one among many.
TEST(FastAttention, KeepsInfiniteValues) {
  for (const spec::DType dtype : {spec::DType::kFloat16, spec::DType::kBFloat16}) {
    for (const std::int64_t keys : {20, 200}) {
      AttentionCase attention(keys, dtype);
      attention.value.set(18, 3, std::numeric_limits<float>::infinity());
      for (std::int64_t i = 0; i < keys; ++i) {
        attention.sees(1, i) = std::byte{i == 18};
        for (std::int64_t j = 0; j < kDepth; ++j) {  // so that no weight is nearly 0
          if (i % 7 != j) attention.key.set(i, j, 0);
        }
      }
      attention.run();
      for (std::int64_t head = 0; head < kHeads; ++head) {
        EXPECT_TRUE(std::isinf(attention.out.at(head, 3))) << head;
        EXPECT_LE(std::abs(attention.out.at(head, 4)), 3) << head;
      }
      EXPECT_EQ(attention.out.at(1, 4), attention.value.at(18, 4));
    }
  }
}

// Weights are held against the greatest score so far, in rounds; it may come in any of them. Small
// weights count where the greatest one's value is 0.
TEST(FastAttention, WeighsKeysWhereverTheGreatestScoreIs) {
  struct Place {
    std::int64_t keys, greatest;
  };
  const Place one_tile = {16, 5};
  const Place first_round = {20000, 3 * 640 + 5};  // of chunks of 640, two rounds each
  const Place second_round = {20000, 3 * 640 + 630};
  for (const spec::DType dtype : {spec::DType::kFloat16, spec::DType::kBFloat16}) {
    // The result is rounded to 8 or 11 bits. Of a weight there are 16 at least, but for F16's small
    // ones here, 2^-11 of their unit: their second number is a multiple of 2^-24.
    const double error = (dtype == spec::DType::kBFloat16 ? 0x1p-8 : 0x1p-11) + 0x1p-13;
    for (const auto& [keys, greatest] : {one_tile, first_round, second_round}) {
      for (const bool are_small : {false, true}) {
        SCOPED_TRACE(std::to_string(greatest) + (are_small ? ", small weights" : ""));
        AttentionCase attention(keys, dtype);
        for (std::int64_t i = 0; i < kDepth; ++i) {
          for (std::int64_t head = 0; head < kHeads; ++head) attention.query.set(head, i, 2);
          for (std::int64_t at = 0; are_small && at < keys; ++at) {
            attention.key.set(at, i, i < 12 ? 1 : 0);
            attention.value.set(at, i, 16384);
          }
          attention.key.set(greatest, i, 3);
          attention.value.set(greatest, i, are_small ? 0 : 3);
        }
        attention.run();
        std::vector<double> weights;
        double sum = 0;
        for (std::int64_t at = 0; at < keys; ++at) {
          double score = 0;
          for (std::int64_t i = 0; i < kDepth; ++i) score += 0.5 * attention.key.at(at, i);
          weights.push_back(std::exp(score - 24));
          sum += weights.back();
        }
        for (std::int64_t i = 0; i < kDepth; ++i) {
          double weighed = 0;
          for (std::int64_t at = 0; at < keys; ++at) {
            weighed += weights[static_cast<std::size_t>(at)] / sum * attention.value.at(at, i);
          }
          for (std::int64_t head = 0; head < kHeads; ++head) {
            EXPECT_LE(std::abs(attention.out.at(head, i) - weighed), std::abs(weighed) * error)
                << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized::emulated
