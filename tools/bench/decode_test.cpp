// The decoder's step that `bench decode` measures, at a small size: what it is, and what a GPU
// would be given of it. device_emulated_test.cpp judges what those kernels compute.
#include <gtest/gtest.h>

#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/nvrtc.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "spec/graph_check.h"
#include "tools/bench/decode_bench.h"
#include "tools/bench/decode_program.h"
#include "tools/tests/device/compiling_device_test.h"

namespace graphgate::tools {
namespace {

DecodeShape small_shape() {
  DecodeShape shape = DecodeShape::small();
  shape.batch = 3;
  return shape;
}

spec::Program small_program(const DecodeShape& shape = small_shape()) {
  return must(make_decode_program(shape));
}

optimized::Options fast_options(std::shared_ptr<optimized::Device> device, bool is_piecewise) {
  optimized::Options options;
  options.device = std::move(device);
  options.compile.arithmetic = optimized::Arithmetic::kFast;
  if (is_piecewise) {
    options.compile.partition.split_ops.emplace_back("aten.scaled_dot_product_attention");
  }
  return options;
}

// One call, whose kernels are compiled.
void call_once(const spec::Program& program, const optimized::Options& options) {
  auto loaded = must(optimized::make_executor(options)->load(program));
  must(loaded->call({}));
}

TEST(DecodeProgram, IsValidAndWhatItReadsIsCounted) {
  const spec::Program program = small_program();
  must(spec::check_program(program, spec::builtin_op_table()));
  std::int64_t weights = 0;
  std::int64_t caches = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    const spec::HostTensor& tensor = program.tensors.at(input.target);
    const auto bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
    if (input.kind == spec::InputKind::kParameter && tensor.sizes.size() == 2) weights += bytes;
    if (input.kind == spec::InputKind::kBuffer && tensor.sizes.size() == 4) caches += bytes;
  }
  EXPECT_EQ(weights, small_shape().weight_bytes());
  EXPECT_EQ(caches, small_shape().cache_bytes());
}

TEST(DecodeKernels, EveryStepRunsOnTheDeviceInOnePartition) {
  if (const auto nvrtc = optimized::cuda::load_nvrtc(); !nvrtc.ok()) {
    GTEST_SKIP() << nvrtc.error().message;
  }
  const spec::Program program = small_program();
  for (const bool is_piecewise : {false, true}) {
    const auto device = std::make_shared<CompilingDevice>();
    auto loaded = must(optimized::make_executor(fast_options(device, is_piecewise))->load(program));
    must(loaded->call({}));
    const spec::Plan& plan = *loaded->plan();
    EXPECT_EQ(plan.arithmetic, "fast");
    const auto& partitions = plan.blocks.front().partitions;
    const auto layers = static_cast<std::size_t>(small_shape().layers);
    EXPECT_EQ(partitions.size(), is_piecewise ? 2 * layers + 1 : 1);
    EXPECT_EQ(device->captured, is_piecewise ? layers + 1 : 1);
    EXPECT_EQ(device->eager, is_piecewise ? layers : 0);
    EXPECT_TRUE(device->is_fast);
    const std::string source = device->sources().front();
    EXPECT_TRUE(contains(source, "multiply_few_rows"));
    EXPECT_TRUE(contains(source, "attend_chunk"));
    EXPECT_TRUE(contains(source, "rms_norm_by_block"));
    const auto findings =
        verify::verify_plan({&plan, &program, &spec::builtin_op_table(), nullptr});
    EXPECT_TRUE(findings.empty()) << findings.front().message;
  }
}

// What is measured, on an emulated device: the times say nothing, the rest does.
TEST(DecodeBench, CountsLaunchesAndComparesLogits) {
  DecodeMeasure measure;
  measure.shape = small_shape();
  measure.compares = measure.by_kernel = true;
  measure.rounds = measure.replays = 1;
  for (const bool is_piecewise : {false, true}) {
    measure.is_piecewise = is_piecewise;
    measure.device = optimized::emulated::make_emulated_device().value();
    const auto times = must(measure_decode(measure));
    const auto layers = static_cast<std::size_t>(measure.shape.layers);
    EXPECT_EQ(times.findings, 0U) << times.first_finding;
    EXPECT_EQ(times.graphs, is_piecewise ? layers + 1 : 1);
    EXPECT_EQ(times.eager_kernels, is_piecewise ? layers : 0);
    std::size_t kernels = 0;
    for (const KernelTime& kernel : times.by_kernel) kernels += kernel.count;
    EXPECT_EQ(kernels, times.kernels);
    // That the same was computed; device_emulated_test.cpp judges how well.
    EXPECT_GE(times.error, 0);
    EXPECT_LT(times.error, 0x1p-6);
    EXPECT_GT(times.floor_seconds, 0);
  }
}

TEST(DecodeBench, AsksACommandForTheTimesOfPyTorch) {
  // It answers with the batch, and then with an error; then it ends.
  const auto process = must(ExternalProcess::start(
      "read line; echo \"$line\" | grep -q '\"mode\":\"eager\",\"batch\":3,\"layers\":2' && "
      "echo '{\"microseconds\": 1500, \"torch\": \"2.11.0\"}'; read line; "
      "echo '{\"error\": \"no GPU\"}'; read line; echo '{\"microseconds\": 1000}'; "
      "read line; echo nonsense"));
  const auto times = must(measure_torch(*process, small_shape()));
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].mode, "eager");
  EXPECT_DOUBLE_EQ(times[0].step_seconds, 1.5e-3);
  EXPECT_EQ(times[0].version, "2.11.0");
  EXPECT_EQ(times[1].error, "no GPU");
  EXPECT_DOUBLE_EQ(times[2].step_seconds, 1e-3);
  EXPECT_EQ(failure_of(measure_torch(*process, small_shape())).message,
            "--torch: expected microseconds, found nonsense");
}

// A block has 227 KiB of shared memory, and registers for as many blocks as are to run at once.
TEST(DecodeKernels, FitIntoAMultiprocessorWhateverTheHeads) {
  if (const auto nvrtc = optimized::cuda::load_nvrtc(); !nvrtc.ok()) {
    GTEST_SKIP() << nvrtc.error().message;
  }
  DecodeShape shape = small_shape();
  shape.layers = 1;
  shape.batch = 64;
  shape.context = 2048;
  struct Heads {
    std::int64_t heads, kv_heads, size;
  };
  for (const Heads& heads :
       {Heads{8, 1, 128}, Heads{8, 1, 256}, Heads{1, 1, 8}, Heads{16, 2, 64}, Heads{4, 2, 96}}) {
    shape.heads = heads.heads;
    shape.kv_heads = heads.kv_heads;
    shape.head_size = heads.size;
    const auto device = std::make_shared<CompilingDevice>();
    ASSERT_NO_FATAL_FAILURE(call_once(small_program(shape), fast_options(device, false)));
    EXPECT_TRUE(contains(device->sources().front(), "attend_chunk")) << heads.size;
    EXPECT_GT(device->shared_bytes, 0) << heads.size;
    EXPECT_LE(device->shared_bytes, 227 * 1024) << heads.size;
  }
}

// Where wgmma is not, tiles are multiplied by mma.
TEST(DecodeKernels, CompileWithoutWhatOneGpuAloneHas) {
  if (const auto nvrtc = optimized::cuda::load_nvrtc(); !nvrtc.ok()) {
    GTEST_SKIP() << nvrtc.error().message;
  }
  DecodeShape shape = small_shape();
  shape.layers = 1;
  shape.batch = 64;
  const auto device = std::make_shared<CompilingDevice>();
  device->architecture = "sm_90";
  ASSERT_NO_FATAL_FAILURE(call_once(small_program(shape), fast_options(device, false)));
  EXPECT_TRUE(contains(device->sources().front(), "multiply_tile"));
}

// Clusters and launches that overlap are fast arithmetic's alone.
TEST(DecodeKernels, CompileForOlderGpusInStrictArithmetic) {
  if (const auto nvrtc = optimized::cuda::load_nvrtc(); !nvrtc.ok()) {
    GTEST_SKIP() << nvrtc.error().message;
  }
  const spec::Program program = small_program();
  for (const char* architecture : {"sm_80", "sm_89"}) {
    const auto device = std::make_shared<CompilingDevice>();
    device->architecture = architecture;
    optimized::Options options;
    options.device = device;
    ASSERT_NO_FATAL_FAILURE(call_once(program, options));
    EXPECT_GT(device->kernels, 0U);
    EXPECT_FALSE(device->is_fast);
    EXPECT_LE(device->shared_bytes, 48 * 1024);  // what every GPU has
  }
}

}  // namespace
}  // namespace graphgate::tools
