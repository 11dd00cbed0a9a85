// Captures that go wrong on a GPU: what is said, and that the next program runs rightly in the same
// process. Each in a child process, so that no failure is another's. Skipped without a GPU.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "optimized/runtime/cuda/cuda_device.h"
#include "optimized/runtime/cuda/driver.h"

namespace graphgate::optimized::cuda {
namespace {

const Driver& real() { return *load_driver().value(); }

// The functions that the device under test calls.
Driver& broken() {
  static Driver driver = real();
  return driver;
}

// What goes wrong: with the second of three calls, at every launch, or with the driver.
struct Failure {
  void (*spoil)(DeviceCall& call) = nullptr;
  void (*at_launch)(CUlaunchConfig& config) = nullptr;
  void (*break_driver)(Driver& driver) = nullptr;
};

// Launches what `at_launch` has made of it.
void (*g_at_launch)(CUlaunchConfig& config) = nullptr;
CUresult launch(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  CUlaunchConfig changed = *config;
  g_at_launch(changed);
  return real().cuLaunchKernelEx(&changed, function, arguments, extra);
}

void make_fail(const Failure& failure, std::vector<DeviceCall>& calls) {
  if (failure.spoil != nullptr) failure.spoil(calls.at(1));
  if (failure.break_driver != nullptr) failure.break_driver(broken());
  if (failure.at_launch == nullptr) return;
  g_at_launch = failure.at_launch;
  broken().cuLaunchKernelEx = launch;
}

// Three kernels that each count one number up, as one job.
class Job {
 public:
  explicit Job(Device& device) : device_(device) {
    device.memory().know(bytes(), nullptr);
    DeviceWorks works;
    for (int i = 0; i < 3; ++i) {
      TextWork work{.statements = "  if (thread == " + std::to_string(i) +
                                  ") reinterpret_cast<std::int64_t*>(p0)[thread] += thread + 1;\n",
                    .pointers = {bytes().data()},
                    .threads = 1024};
      works.emplace_back(std::move(work));
    }
    calls_ = text_.add(works);
  }

  [[nodiscard]] std::vector<DeviceCall> calls() const { return calls_; }
  [[nodiscard]] auto load(std::vector<DeviceCall> calls, const char* what) const {
    const std::vector<Device::Job> jobs = {{std::move(calls), true, what}};
    return device_.load(text_, jobs);
  }
  // The numbers after two replays.
  [[nodiscard]] std::string run() {
    const auto runs = load(calls_, "the next");
    device_.memory().bring_to_device(bytes());
    for (int i = 0; i < 2; ++i) runs.front()->launch();
    device_.memory().device_wrote(bytes());
    device_.finish();
    device_.memory().bring_to_host(bytes());
    std::string text;
    for (const std::int64_t number : numbers_) text += " " + std::to_string(number);
    return text;
  }

 private:
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(numbers_)); }

  Device& device_;
  std::vector<std::int64_t> numbers_ = std::vector<std::int64_t>(3);
  DeviceProgramText text_;
  std::vector<DeviceCall> calls_;
};

// On standard error, in a process of its own.
[[noreturn]] void record_and_say(const Failure& failure) {
  std::string said = "nothing";
  std::string then = " nothing";
  try {
    const auto device = make_cuda_device_over(broken()).value();
    Job job(*device);
    std::vector<DeviceCall> calls = job.calls();
    make_fail(failure, calls);
    try {
      (void)job.load(std::move(calls), "partition 0 of @main");
    } catch (const DeviceError& error) {
      said = error.what();
    }
    broken() = real();
    then = job.run();
  } catch (const std::exception& error) {
    then += std::string(" but ") + error.what();
  }
  std::fprintf(stderr, "said: %s; then%s\n", said.c_str(), then.c_str());
  std::_Exit(0);
}

class CaptureFailureDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto device = make_cuda_device();
    if (!device.ok()) GTEST_SKIP() << device.error().message;
  }
  static void expect_said(const Failure& failure, const std::string& said) {
    EXPECT_EXIT(record_and_say(failure), testing::ExitedWithCode(0),
                "said: making partition 0 of @main ready: " + said + " [^;]*; then 2 4 6\n");
  }
};

TEST_F(CaptureFailureDeathTest, NothingOfTheKindIsSaidOfARightJob) {
  EXPECT_EXIT(record_and_say({}), testing::ExitedWithCode(0), "said: nothing; then 2 4 6");
}

TEST_F(CaptureFailureDeathTest, TellsMoreSharedMemoryThanThereIs) {
  Failure failure;
  failure.spoil = [](DeviceCall& call) { call.shared_bytes = 300'000; };
  expect_said(failure, "cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE");
}

TEST_F(CaptureFailureDeathTest, TellsAClusterThatCannotBe) {
  Failure failure;
  failure.spoil = [](DeviceCall& call) { call.cluster = 3; };  // of four blocks
  expect_said(failure, "cuLaunchKernelEx: CUDA_ERROR_INVALID_CLUSTER_SIZE");
}

TEST_F(CaptureFailureDeathTest, TellsMoreThreadsThanABlockHas) {
  Failure failure;
  failure.at_launch = [](CUlaunchConfig& config) { config.blockDimX = 2048; };
  expect_said(failure, "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE");
}

TEST_F(CaptureFailureDeathTest, TellsThatThisRuntimeWaitsForTheStream) {
  Failure failure;
  failure.at_launch = [](CUlaunchConfig& config) {
    GRAPHGATE_CUDA(real(), cuStreamSynchronize, config.hStream);
  };
  expect_said(failure, "cuStreamSynchronize: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
}

TEST_F(CaptureFailureDeathTest, TellsThatSomebodyElseWaitsForTheStream) {
  Failure failure;
  failure.at_launch = [](CUlaunchConfig& config) {
    (void)real().cuStreamSynchronize(config.hStream);
  };
  expect_said(failure, "cuLaunchKernelEx: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
}

TEST_F(CaptureFailureDeathTest, TellsMemoryThatIsAllocatedMeanwhile) {
  Failure failure;
  failure.at_launch = [](CUlaunchConfig& /*config*/) {
    CUdeviceptr address = 0;
    GRAPHGATE_CUDA(real(), cuMemAlloc, &address, std::size_t{1} << 20U);
  };
  expect_said(failure, "cuMemAlloc: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
}

// Another stream, made before anything is captured.
struct Aside {
  Aside() {
    GRAPHGATE_CUDA(real(), cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    GRAPHGATE_CUDA(real(), cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
  }
  static const Aside& instance() {
    static const Aside aside;
    return aside;
  }
  CUstream stream = nullptr;
  CUevent event = nullptr;
};

TEST_F(CaptureFailureDeathTest, TellsAStreamThatIsNotJoined) {
  Failure failure;
  failure.spoil = [](DeviceCall&) { (void)Aside::instance(); };
  failure.at_launch = [](CUlaunchConfig& config) {
    const Aside& aside = Aside::instance();
    GRAPHGATE_CUDA(real(), cuEventRecord, aside.event, config.hStream);
    GRAPHGATE_CUDA(real(), cuStreamWaitEvent, aside.stream, aside.event, 0);
    config.hStream = aside.stream;
  };
  expect_said(failure, "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
}

// The driver's own answer, put there: filling a GPU would take it from others.
TEST_F(CaptureFailureDeathTest, TellsAGraphForWhichThereIsNoMemory) {
  Failure failure;
  failure.break_driver = [](Driver& driver) {
    driver.cuGraphUpload = [](CUgraphExec, CUstream) { return CUDA_ERROR_OUT_OF_MEMORY; };
  };
  expect_said(failure, "cuGraphUpload: CUDA_ERROR_OUT_OF_MEMORY");
}

}  // namespace
}  // namespace graphgate::optimized::cuda
