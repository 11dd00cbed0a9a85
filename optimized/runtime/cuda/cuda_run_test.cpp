// Captures over a driver of the test's own: what is read back from a graph, and what is refused.
#include "optimized/runtime/cuda/cuda_run.h"

#include <gtest/gtest.h>

#include "optimized/codegen/touched.h"
#include "optimized/runtime/cuda/fake_driver_test.h"
#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/device/far_memory.h"

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
  explicit Captured(Later /*later*/) : driver_(FakeDriver::make()), streams_(driver_) {
    FakeDriver::instance().functions = {{"k_long", 3}, {"k_short", 1}};
    memory_.know(first_, nullptr);
    memory_.know(second_, nullptr);
  }

  void record(bool waits = false) {
    const std::vector<DeviceCall> calls = {
        {"k_long", {first_.data(), second_.data() + 8}, 1000, true, "", 50'000, 2},
        {"k_short", {first_.data() + 16}, 256, false, "", 0, 1},
        {"k_short", {second_.data()}, 1, false, "", 0, 1}};
    run_.emplace(driver_, streams_, memory_, std::make_shared<const Module>(),
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
  Streams streams_;
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
    Captured captured([](FakeDriver& fake) {
      fake.nodes.pop_back();
      fake.edges.pop_back();
    });
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

// --- Streams ------------------------------------------------------------------------------------

// Bytes of a memory, by calls with pointers to all that they touch.
class Branched {
 public:
  struct Options {
    std::function<void(FakeDriver&)> tamper = {};
    bool overlaps = true;
    bool is_captured = true;
    bool reverses_edges = false;
  };
  Branched() : Branched(Options{}) {}
  explicit Branched(Options options) : driver_(FakeDriver::make()), streams_(driver_) {
    FakeDriver& fake = FakeDriver::instance();
    fake.functions = {{"k_1", 1}, {"k_2", 2}, {"k_3", 3}};
    fake.tamper = std::move(options.tamper);
    fake.reverses_edges = options.reverses_edges;
    memory_.know(bytes_, nullptr);
    add(0, {0}, {}, {}, {{0}});
    add(1, {1}, {0}, {{0}}, {{1}});
    add(0, {2}, {0}, {}, {});
    add(0, {3}, {1, 2}, {{1}}, {});
    add(1, {4}, {1}, {}, {});
    run_.emplace(driver_, streams_, memory_, std::make_shared<const Module>(),
                 Device::Job{calls_, options.is_captured, "partition 0 of @main"}, kFault,
                 options.overlaps, false);
  }
  [[nodiscard]] CudaRun& run() { return *run_; }
  [[nodiscard]] const std::vector<DeviceCall>& calls() const { return calls_; }

 private:
  // Places have eight bytes.
  void add(std::uint32_t stream, const std::vector<std::int64_t>& writes,
           const std::vector<std::int64_t>& reads, std::vector<spec::EventId> waits,
           std::vector<spec::EventId> records) {
    DeviceCall& call = calls_.emplace_back();
    call.name = "k_" + std::to_string(writes.size() + reads.size());
    call.threads = 1;
    call.stream = stream;
    call.waits = std::move(waits);
    call.records = std::move(records);
    const auto touch = [&](std::int64_t place, bool is_written) {
      const Tensor tensor = tensor_of_bytes(bytes_.data() + 8 * place, 8);
      call.pointers.push_back(tensor.data());
      call.accesses.push_back({tensor, is_written});
    };
    for (const std::int64_t place : writes) touch(place, true);
    for (const std::int64_t place : reads) touch(place, false);
  }

  Driver driver_;
  Streams streams_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(64);
  FarMemory far_;
  DeviceMemory memory_{far_};
  std::vector<DeviceCall> calls_;
  std::optional<CudaRun> run_;
};

TEST(CudaRunOnStreams, CapturesTheBranchesThatEventsLeave) {
  for (const bool overlaps : {false, true}) {
    Branched branched({.overlaps = overlaps});
    const auto& edges = branched.run().captured().edges;
    EXPECT_TRUE(edges == edges_of(places_of(branched.calls()), overlaps));
    const unsigned early = overlaps ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC : 0;
    EXPECT_TRUE(edges == (std::vector<CapturedEdge>{
                             {0, 1, 0}, {0, 2, early}, {1, 3, 0}, {1, 4, early}, {2, 3, 0}}));
    EXPECT_FALSE(FakeDriver::instance().captures);
  }
  EXPECT_EQ(FakeDriver::instance().events, 0U);
}

TEST(CudaRunOnStreams, CapturesTheSameHoweverTheDriverNamesEdges) {
  const DeviceCapture one = Branched().run().captured();
  const DeviceCapture other = Branched({.reverses_edges = true}).run().captured();
  EXPECT_TRUE(one.edges == other.edges);
  ASSERT_EQ(one.kernels.size(), 5U);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(one.kernels[k].name, other.kernels[k].name);
}

// Every edge keeps two calls in order that meet in a byte.
TEST(CudaRunOnStreams, RefusesACaptureThatLacksAnEdge) {
  const std::vector<CapturedEdge> edges = Branched().run().captured().edges;
  for (const CapturedEdge& gone : edges) {
    try {
      Branched branched({.tamper = [&](FakeDriver& fake) {
        const auto count = std::erase_if(fake.edges, [&](const FakeEdge& edge) {
          return edge.from == gone.from && edge.to == gone.to;
        });
        EXPECT_EQ(count, 1U);
      }});
      ADD_FAILURE() << gone.from << " to " << gone.to << " is gone, and nobody saw it";
    } catch (const UnorderedCalls& error) {
      EXPECT_EQ(error.job, "partition 0 of @main");
      EXPECT_EQ(error.disorder.earlier, gone.from);
      EXPECT_EQ(error.disorder.later, gone.to);
      ASSERT_TRUE(error.disorder.bytes);
      EXPECT_EQ(error.disorder.bytes->end - error.disorder.bytes->begin, 8);
      EXPECT_EQ(error.what(), "partition 0 of @main: as captured, nothing orders call " +
                                  std::to_string(gone.from) + " (k_" +
                                  (gone.from == 0 ? "1" : "2") + ") before call " +
                                  std::to_string(gone.to) + " (k_" + (gone.to == 3 ? "3" : "2") +
                                  ")");
    }
  }
}

TEST(CudaRunOnStreams, RefusesACaptureWhoseEdgesSayLessOrLeadBack) {
  const auto refusal = [](bool overlaps, const std::function<void(FakeEdge&)>& change) {
    try {
      Branched branched(
          {.tamper = [&](FakeDriver& fake) { change(fake.edges.front()); }, .overlaps = overlaps});
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  const auto early = [](FakeEdge& edge) { edge.type = edge.port = 1; };
  EXPECT_EQ(refusal(true, early), "taken");  // kernels wait for it themselves
  EXPECT_EQ(refusal(false, early),
            "partition 0 of @main: as captured, nothing orders call 0 (k_1) before call 1 (k_2)");
  EXPECT_EQ(refusal(true, [](FakeEdge& edge) { edge.port = 2; }),
            "making partition 0 of @main ready: a capture has an edge of type 0 from port 2");
  EXPECT_EQ(refusal(true, [](FakeEdge& edge) { std::swap(edge.from, edge.to); }),
            "making partition 0 of @main ready: a capture has call 0 behind call 1");
  EXPECT_EQ(refusal(true,
                    [](FakeEdge& edge) {
                      edge = {3, 0, 0, 0};
                    }),
            "making partition 0 of @main ready: a capture has edges in a circle");
}

// What runs next comes behind both streams of what ran before.
TEST(CudaRunOnStreams, LaunchesCallsOnTheirStreamsAndJoinsThem) {
  Branched branched({.is_captured = false});
  FakeDriver& fake = FakeDriver::instance();
  branched.run().launch();
  EXPECT_EQ(fake.replays, 0U);
  ASSERT_EQ(fake.nodes.size(), 5U);
  EXPECT_EQ(fake.nodes[1].stream, fake.nodes[4].stream);
  EXPECT_NE(fake.nodes[0].stream, fake.nodes[1].stream);
  branched.run().launch();
  ASSERT_EQ(fake.nodes.size(), 10U);
  for (std::size_t last : {3U, 4U}) {
    for (std::size_t first : {5U, 6U}) {
      const bool is_direct =
          std::any_of(fake.edges.begin(), fake.edges.end(), [&](const FakeEdge& edge) {
            return edge.from == last && edge.to == first && edge.type == 0;
          });
      EXPECT_TRUE(is_direct) << last << " to " << first;
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized::cuda
