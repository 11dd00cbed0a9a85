// Generated device kernels, on machines without a device: everything that golden models would run
// on a GPU compiles, the text is the same every time, and what stays on the host still gets it all.
#include <map>
#include <set>

#include "base/file_io.h"
#include "optimized/optimized.h"
#include "optimized/runtime/cuda/cubins.h"
#include "optimized/runtime/cuda/nvrtc.h"
#include "optimized/runtime/device/canaries.h"
#include "optimized/runtime/device/far_memory.h"
#include "tools/store/check_input.h"
#include "tools/tests/cross/golden_models_test.h"
#include "tools/tests/device/compiling_device_test.h"
#include "tools/tests/device/device_ops_test.h"
#include "tools/tests/device/order_case_test.h"

namespace graphgate {
namespace {

std::string joined(const std::vector<std::string>& sources) {
  std::string text;
  for (const std::string& source : sources) text += source;
  return text;
}

// Golden texts are kept for some models: their diff says what a change does to kernels.
void expect_golden(const std::string& model, const std::vector<std::string>& sources) {
  std::filesystem::path path = std::filesystem::path(GRAPHGATE_GOLDEN_DIR) / "kernels";
  path /= std::filesystem::path(model).stem().string() + ".cu";
  if (!std::filesystem::exists(path)) return;
  const std::string golden = must(read_whole(path));
  EXPECT_TRUE(golden == joined(sources))
      << path
      << " is not what is generated; graphgate golden update --only kernels/ writes it anew";
}

class DeviceKernels : public testing::TestWithParam<std::string> {};

TEST_P(DeviceKernels, CompileAndAreTheSameTextEveryTime) {
  const auto nvrtc = optimized::cuda::load_nvrtc();
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*optimized::make_executor(), model);
  std::vector<std::string> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto device = std::make_shared<tools::CompilingDevice>();
    device->compiles = nvrtc.ok() && repeat == 0;
    optimized::Options options;
    options.device = device;
    const auto actual = run_calls(*optimized::make_executor(options), model);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "") << "call " << i;
    }
    EXPECT_GT(device->captured, 0U);
    if (repeat == 0) {
      first = device->sources();
      RecordProperty("kernels", static_cast<int>(device->kernels));
    }
    EXPECT_TRUE(device->sources() == first);
  }
  expect_golden(GetParam(), first);
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
}

// Only guarded memory has it, and so no golden model's text.
TEST(DeviceCanaries, CompileForAGpu) {
  const auto nvrtc = optimized::cuda::load_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  optimized::FarMemory far;
  optimized::DeviceMemory memory(far);
  std::vector<std::byte> first(300);
  std::vector<std::byte> second(100);
  memory.know(first, nullptr);
  memory.know(second, nullptr);
  optimized::Canaries canaries(memory, {{first, {{10, 300}}}, {second, {{0, 1}}}}, 2);
  for (const bool is_fast : {false, true}) {
    optimized::DeviceProgramText text(is_fast);
    const auto calls = text.add({canaries.check(0), canaries.check(1)});
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(text.kernel_count(), 1U);  // numbers of jobs are no part of the text
    must(optimized::cuda::cubin_of(text, "sm_90a"));
  }
}

// What golden models have little of: long rows are another kernel than short ones.
TEST(DeviceOrders, CompileForAGpu) {
  const auto nvrtc = optimized::cuda::load_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  for (const std::string& text : order_cases()) {
    const auto script = must(tools::read_case(text, "order.case"));
    const auto device = std::make_shared<tools::CompilingDevice>();
    optimized::Options options;
    options.device = device;
    const auto program = must(optimized::make_executor(options)->load(*script.programs.front()));
    const auto& call = std::get<conformance::ScriptCall>(script.steps.front());
    EXPECT_TRUE(program->call(call.inputs).ok());
    EXPECT_EQ(device->captured, 1U);
  }
}

// Kernels of many programs, each once, compiled many at a time: most of what NVRTC does for one
// program is to read what every program includes.
class KernelBatches {
 public:
  // `source` is a program's text; `op` stands for it in messages.
  void add(const std::string& source, const std::string& op) {
    static constexpr std::string_view kKernel = "\nextern \"C\" __global__";
    static constexpr std::string_view kEnd = "\n}  // namespace";
    std::size_t begin = source.find(kKernel);
    ASSERT_NE(begin, std::string::npos) << op;
    prelude_ = source.substr(0, begin);
    const std::size_t end = source.rfind(kEnd);
    ASSERT_NE(end, std::string::npos) << op;
    end_ = source.substr(end);
    while (begin < end) {
      const std::size_t next = std::min(source.find(kKernel, begin + 1), end);
      kernels_.emplace(source.substr(begin, next - begin), op);
      begin = next;
    }
  }
  [[nodiscard]] std::size_t count() const { return kernels_.size(); }

  void compile(const optimized::cuda::Nvrtc& nvrtc) const {
    constexpr std::size_t kAtOnce = 32;
    optimized::cuda::CompileJob job{"ops.cu", "", optimized::device_headers(),
                                    optimized::device_compile_options()};
    job.options.emplace_back("--gpu-architecture=sm_90a");
    for (auto one = kernels_.begin(); one != kernels_.end();) {
      job.source = prelude_;
      std::string ops;
      for (std::size_t k = 0; k < kAtOnce && one != kernels_.end(); ++k, ++one) {
        job.source += one->first;
        ops += " " + one->second;
      }
      job.source += end_;
      const auto cubin = nvrtc.compile(job);
      EXPECT_TRUE(cubin.ok()) << ops << ": " << cubin.error().message;
    }
  }

 private:
  std::string prelude_;
  std::string end_;
  std::map<std::string, std::string> kernels_;  // the first op that has it
};

// The first case of every op that has a kernel.
TEST(DeviceKernelsOfOps, CompileForAGpu) {
  const auto nvrtc = optimized::cuda::load_nvrtc();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const auto device = std::make_shared<tools::CompilingDevice>();
  device->compiles = false;
  optimized::Options options;
  options.device = device;
  const auto executor = optimized::make_executor(options);
  std::set<std::string> compiled;
  KernelBatches batches;
  std::size_t told = 0;  // of the device's programs
  const auto visit = [&](const interop::OpCase& op_case) {
    SCOPED_TRACE(op_case.program.name);
    const std::string op = op_case.program.name.substr(0, op_case.program.name.find(' '));
    if (compiled.contains(op)) return true;
    const std::size_t before = device->kernels;
    auto loaded = executor->load(op_case.program);
    if (loaded.ok()) (void)loaded.value()->call(op_case.inputs);
    for (; told < device->sources().size(); ++told) batches.add(device->sources()[told], op);
    if (device->kernels > before) compiled.insert(op);
    return true;
  };
  visit_golden_op_cases(visit);
  EXPECT_GT(compiled.size(), 200U);
  EXPECT_GT(batches.count(), 200U);
  batches.compile(*nvrtc.value());
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceKernels, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
