// Captures over a driver of the test's own: what is read back from a graph, and what is refused.
#include "optimized/runtime/cuda/cuda_run.h"

#include <gtest/gtest.h>

#include "optimized/device/far_memory.h"
#include "optimized/runtime/cuda/fake_driver_test.h"

namespace graphgate::optimized::cuda {
namespace {

constexpr CUdeviceptr kFault = 0xfa00;

// Three calls over two arenas, before a device of its own.
class Captured {
 public:
  explicit Captured(std::function<void(FakeDriver&)> tamper = {}, bool waits = false)
      : Captured(Later{}) {
    FakeDriver::instance().tamper = std::move(tamper);
    record(waits);
  }
  // To be recorded later.
  struct Later {};
  explicit Captured(Later /*later*/) : driver_(FakeDriver::make()) {
    FakeDriver::instance().functions = {{"k_long", 3}, {"k_short", 1}};
    memory_.know(first_, nullptr);
    memory_.know(second_, nullptr);
  }

  void record(bool waits = false) {
    const std::vector<DeviceCall> calls = {
        {"k_long", {first_.data(), second_.data() + 8}, 1000, true, "", 50'000, 2},
        {"k_short", {first_.data() + 16}, 256, false, "", 0, 1},
        {"k_short", {second_.data()}, 1, false, "", 0, 1}};
    run_.emplace(driver_, nullptr, memory_, std::make_shared<const Module>(),
                 Device::Job{calls, true, "partition 0 of @main"}, kFault, true, waits);
  }
  [[nodiscard]] CudaRun& run() { return *run_; }
  [[nodiscard]] std::uint64_t twin(std::size_t offset) {
    return memory_.twin_of(first_.data() + offset);
  }
  [[nodiscard]] std::uint64_t second_twin(std::size_t offset) {
    return memory_.twin_of(second_.data() + offset);
  }
  [[nodiscard]] std::vector<DeviceArena> arenas() const {
    auto arenas = memory_.arenas();
    arenas.push_back({kFault, sizeof(DeviceFault)});
    return arenas;
  }

 private:
  Driver driver_;
  std::vector<std::byte> first_ = std::vector<std::byte>(64);
  std::vector<std::byte> second_ = std::vector<std::byte>(32);
  FarMemory far_;
  DeviceMemory memory_{far_};
  std::optional<CudaRun> run_;
};

TEST(CudaRun, ReadsItsCallsBackFromTheGraphInOrder) {
  Captured captured;
  const DeviceCapture capture = captured.run().captured();
  const std::vector<CapturedKernel> expected = {
      {"k_long",
       {4, 1, 1},
       {256, 1, 1},
       50'000,
       2,
       {captured.twin(0), captured.second_twin(8), kFault}},
      {"k_short", {1, 1, 1}, {256, 1, 1}, 0, 1, {captured.twin(16)}},
      {"k_short", {1, 1, 1}, {256, 1, 1}, 0, 1, {captured.second_twin(0)}}};
  EXPECT_TRUE(capture.kernels == expected);
  const unsigned programmatic = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_TRUE(capture.edges ==
              (std::vector<CapturedEdge>{{0, 1, programmatic}, {1, 2, programmatic}}));
  captured.run().launch();
  EXPECT_EQ(FakeDriver::instance().replays, 1U);
  EXPECT_EQ(FakeDriver::instance().waits, 0U);
}

TEST(CudaRun, CapturesTheSameOverOtherArenas) {
  Captured one;
  const DeviceCapture capture = one.run().captured();
  Captured other;  // while the first one's arenas are there
  EXPECT_NE(one.twin(0), other.twin(0));
  EXPECT_EQ(first_difference({capture, one.arenas()}, {other.run().captured(), other.arenas()}),
            "");
}

TEST(CudaRun, RefusesACaptureThatIsNotItsCalls) {
  const auto refusal = [](const std::function<void(FakeNode&)>& change) -> std::string {
    try {
      Captured captured([&](FakeDriver& fake) { change(fake.nodes.back()); });
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "taken";
  };
  const std::string where = "making partition 0 of @main ready: ";
  const std::string other =
      where + "a capture has a kernel with another shape or other arguments than given";
  EXPECT_EQ(refusal([](FakeNode&) {}), "taken");
  EXPECT_EQ(refusal([](FakeNode& node) { node.is_kernel = false; }),
            where + "a capture has a node of type 1, which is no kernel");
  EXPECT_EQ(refusal([](FakeNode& node) { node.function = FakeDriver::handle<CUfunction>(77); }),
            where + "a capture has a kernel of somebody else");
  EXPECT_EQ(refusal([](FakeNode& node) { node.values[0] += 1; }), other);
  EXPECT_EQ(refusal([](FakeNode& node) { node.blocks = 2; }), other);
  EXPECT_EQ(refusal([](FakeNode& node) { node.threads = 128; }), other);
  EXPECT_EQ(refusal([](FakeNode& node) { node.shared_bytes = 8; }), other);
  EXPECT_EQ(refusal([](FakeNode& node) { node.cluster = 2; }), other);
  try {
    Captured captured([](FakeDriver& fake) { fake.nodes.pop_back(); });
    FAIL() << "taken";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.what(), where + "a capture of 3 kernels has 2 nodes");
  }
}

// What goes wrong while a job is recorded, and what is said of it.
struct Failure {
  FakeDriver::Refusal refusal;
  std::function<void(const Driver&)> before_launch;
  std::string said;  // behind the job's words
};

const std::vector<Failure>& failures() {
  static const std::vector<Failure> kFailures = {
      {{"cuFuncSetAttribute", CUDA_ERROR_INVALID_VALUE},  // too much shared memory
       {},
       "cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE"},
      {{"cuLaunchKernelEx", CUDA_ERROR_INVALID_CLUSTER_SIZE},
       {},
       "cuLaunchKernelEx: CUDA_ERROR_INVALID_CLUSTER_SIZE"},
      {{"cuLaunchKernelEx", CUDA_ERROR_INVALID_VALUE, 2},  // too many threads, after two kernels
       {},
       "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE"},
      // This runtime waits for the stream; somebody else does, and says nothing.
      {{},
       [](const Driver& driver) { GRAPHGATE_CUDA(driver, cuStreamSynchronize, nullptr); },
       "cuStreamSynchronize: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {{},
       [](const Driver& driver) { (void)driver.cuStreamSynchronize(nullptr); },
       "cuLaunchKernelEx: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
      {{"cuStreamEndCapture", CUDA_ERROR_STREAM_CAPTURE_UNJOINED},
       {},
       "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
      {{"cuGraphInstantiateWithFlags", CUDA_ERROR_OUT_OF_MEMORY},
       {},
       "cuGraphInstantiateWithFlags: CUDA_ERROR_OUT_OF_MEMORY"},
      {{"cuGraphUpload", CUDA_ERROR_OUT_OF_MEMORY}, {}, "cuGraphUpload: CUDA_ERROR_OUT_OF_MEMORY"}};
  return kFailures;
}

TEST(CudaRun, SaysWhatFailedWhileItWasRecordedAndLeavesNothingBehind) {
  for (const Failure& failure : failures()) {
    Captured captured(Captured::Later{});
    FakeDriver& fake = FakeDriver::instance();
    fake.refusal = failure.refusal;
    fake.before_launch = failure.before_launch;
    try {
      captured.record();
      ADD_FAILURE() << "nothing was said of " << failure.said;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(),
                "making partition 0 of @main ready: " + failure.said + " (as the fake has it)");
    }
    EXPECT_EQ(fake.capture, FakeDriver::Capture::kNone) << failure.said;
    EXPECT_EQ(fake.graphs, 0U) << failure.said;
    EXPECT_EQ(fake.execs, 0U) << failure.said;
    // The same job again, on the same stream.
    fake.before_launch = {};
    captured.record();
    captured.run().launch();
    EXPECT_EQ(fake.replays, 1U) << failure.said;
    EXPECT_EQ(fake.nodes.size(), 3U) << failure.said;
    EXPECT_EQ(fake.graphs, 0U) << failure.said;
    EXPECT_EQ(fake.execs, 1U) << failure.said;
  }
}

TEST(CudaRun, EndsTheCaptureWhereThisProcessIsOutOfMemory) {
  Captured captured(Captured::Later{});
  FakeDriver::instance().before_launch = [](const Driver&) { throw std::bad_alloc(); };
  EXPECT_THROW(captured.record(), std::bad_alloc);
  EXPECT_EQ(FakeDriver::instance().capture, FakeDriver::Capture::kNone);
  EXPECT_EQ(FakeDriver::instance().graphs, 0U);
}

TEST(CudaRun, NamesTheJobThatFaultedWhereItWaits) {
  Captured captured({}, true);
  captured.run().launch();
  EXPECT_EQ(FakeDriver::instance().waits, 1U);
  FakeDriver::instance().waiting_gives = CUDA_ERROR_ILLEGAL_ADDRESS;
  try {
    captured.run().launch();
    FAIL() << "nothing was said";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()).find("partition 0 of @main: a kernel touched memory that"),
              0U)
        << error.what();
  }
}

}  // namespace
}  // namespace graphgate::optimized::cuda
