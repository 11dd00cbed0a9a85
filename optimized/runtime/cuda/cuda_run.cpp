#include "optimized/runtime/cuda/cuda_run.h"

#include <algorithm>
#include <array>
#include <set>

#include "optimized/runtime/device/call_order.h"

namespace graphgate::optimized::cuda {
namespace {

// A kernel has to be allowed more (CUDA programming guide, shared memory).
constexpr std::int64_t kSharedWithoutAsking = std::int64_t{48} << 10U;

// Says at what it was that something failed. Calls out of order say so themselves.
template <class Work>
void named(const std::string& what, Work&& work) {
  try {
    work();
  } catch (const UnorderedCalls&) {
    throw;
  } catch (const DeviceError& error) {
    throw DeviceError(what + ": " + error.what());
  }
}

}  // namespace

CudaRun::CudaRun(const Driver& driver, Streams& streams, const DeviceMemory& memory,
                 std::shared_ptr<const Module> module, const Device::Job& job, CUdeviceptr fault,
                 bool overlaps, bool waits)
    : driver_(driver),
      stream_(streams.main()),
      twins_(memory),
      module_(std::move(module)),
      overlaps_(overlaps),
      waits_(waits),
      what_(job.what.empty() ? "a job" : job.what) {
  named("making " + what_ + " ready", [&] {
    bind(job, fault);
    bind_streams(job.calls, streams);
    if (job.is_captured && !calls_.empty()) record(job.calls);
  });
}

void CudaRun::record(std::span<const DeviceCall> calls) {
  const Graph graph = capture();
  captured_ = checked(read_graph(driver_, graph.get(), calls_), calls);
  graph_ = instantiate(graph.get());
  GRAPHGATE_CUDA(driver_, cuGraphUpload, graph_.get(), stream_);
}

void CudaRun::bind(const Device::Job& job, CUdeviceptr fault) {
  for (const DeviceCall& call : job.calls) {
    BoundCall bound;
    bound.name = call.name;
    GRAPHGATE_CUDA(driver_, cuModuleGetFunction, &bound.function, module_->get(),
                   call.name.c_str());
    bound.blocks = static_cast<unsigned>((call.threads + kDeviceBlock - 1) / kDeviceBlock);
    bound.shared_bytes = static_cast<unsigned>(call.shared_bytes);
    bound.cluster = static_cast<unsigned>(call.cluster);
    if (call.shared_bytes > kSharedWithoutAsking) {
      GRAPHGATE_CUDA(driver_, cuFuncSetAttribute, bound.function,
                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     static_cast<int>(call.shared_bytes));
    }
    for (const std::byte* pointer : call.pointers) {
      bound.arguments.push_back(twins_.note(pointer));
    }
    if (call.reports_faults) bound.arguments.push_back(fault);
    calls_.push_back(std::move(bound));
  }
}

CUevent CudaRun::make_event() {
  CUevent event = nullptr;
  GRAPHGATE_CUDA(driver_, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
  events_.emplace_back(event, driver_.cuEventDestroy);
  return event;
}

// Streams and events are made before a capture begins.
void CudaRun::bind_streams(std::span<const DeviceCall> calls, Streams& streams) {
  const std::vector<CallPlace> places = places_of(calls);
  std::set<std::uint32_t> sides;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    BoundCall& call = calls_[c];
    call.stream = streams.at(calls[c].stream);
    if (calls[c].stream != 0) sides.insert(calls[c].stream);
    call.overlaps = overlaps_ && places[c].is_behind_one();
    for (const std::size_t other : places[c].awaited) {
      CUevent& done = calls_[other].done;
      if (done == nullptr) done = make_event();
      call.waits.push_back(done);
    }
  }
  for (const std::uint32_t side : sides) sides_.push_back({streams.at(side), make_event()});
  if (!sides_.empty()) begun_ = make_event();
}

void CudaRun::launch_calls() const {
  if (!sides_.empty()) GRAPHGATE_CUDA(driver_, cuEventRecord, begun_, stream_);
  for (const Side& side : sides_) {
    GRAPHGATE_CUDA(driver_, cuStreamWaitEvent, side.stream, begun_, CU_EVENT_WAIT_DEFAULT);
  }
  for (const BoundCall& call : calls_) {
    for (CUevent event : call.waits) {
      GRAPHGATE_CUDA(driver_, cuStreamWaitEvent, call.stream, event, CU_EVENT_WAIT_DEFAULT);
    }
    launch(call);
    if (call.done != nullptr) GRAPHGATE_CUDA(driver_, cuEventRecord, call.done, call.stream);
  }
  for (const Side& side : sides_) {
    GRAPHGATE_CUDA(driver_, cuEventRecord, side.done, side.stream);
    GRAPHGATE_CUDA(driver_, cuStreamWaitEvent, stream_, side.done, CU_EVENT_WAIT_DEFAULT);
  }
}

void CudaRun::launch(const BoundCall& call) const {
  std::vector<void*> arguments;
  for (const CUdeviceptr& argument : call.arguments) {
    arguments.push_back(const_cast<CUdeviceptr*>(&argument));  // NOLINT: the driver only reads
  }
  std::array<CUlaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (call.overlaps) {
    CUlaunchAttribute& overlap = attributes.at(count++);
    overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    overlap.value.programmaticStreamSerializationAllowed = 1;
  }
  if (call.cluster > 1) {
    CUlaunchAttribute& cluster = attributes.at(count++);
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = call.cluster;
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
  }
  CUlaunchConfig config{};
  config.gridDimX = call.blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = kDeviceBlock;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = call.shared_bytes;
  config.hStream = call.stream;
  config.attrs = attributes.data();
  config.numAttrs = count;
  GRAPHGATE_CUDA(driver_, cuLaunchKernelEx, &config, call.function, arguments.data(), nullptr);
}

// Whatever goes wrong, the stream captures no more afterwards, and no graph of a part is left.
Graph CudaRun::capture() const {
  GRAPHGATE_CUDA(driver_, cuStreamBeginCapture, stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUgraph captured = nullptr;
  try {
    launch_calls();
  } catch (...) {
    (void)driver_.cuStreamEndCapture(stream_, &captured);
    const Graph part(captured, driver_.cuGraphDestroy);
    throw;
  }
  const CUresult ended = driver_.cuStreamEndCapture(stream_, &captured);
  Graph graph(captured, driver_.cuGraphDestroy);
  driver_.check(ended, "cuStreamEndCapture");
  return graph;
}

GraphExec CudaRun::instantiate(CUgraph graph) const {
  CUgraphExec exec = nullptr;
  GRAPHGATE_CUDA(driver_, cuGraphInstantiateWithFlags, &exec, graph, 0);
  return {exec, driver_.cuGraphExecDestroy};
}

std::vector<CapturedKernel> CudaRun::expected_kernels() const {
  std::vector<CapturedKernel> out;
  out.reserve(calls_.size());
  for (const BoundCall& call : calls_) {
    out.push_back({call.name,
                   {call.blocks, 1, 1},
                   {kDeviceBlock, 1, 1},
                   call.shared_bytes,
                   call.cluster,
                   {call.arguments.begin(), call.arguments.end()}});
  }
  return out;
}

// As many kernels as there are calls, each with its own shape and arguments, in the calls' order;
// and what has to stay in order does.
DeviceCapture CudaRun::checked(const DeviceCapture& captured,
                               std::span<const DeviceCall> calls) const {
  if (captured.kernels.size() != calls_.size()) {
    throw DeviceError("a capture of " + std::to_string(calls_.size()) + " kernels has " +
                      std::to_string(captured.kernels.size()) + " nodes");
  }
  std::optional<DeviceCapture> out = in_order_of(expected_kernels(), captured);
  if (!out) {
    throw DeviceError("a capture has a kernel with another shape or other arguments than given");
  }
  for (const CapturedEdge& edge : out->edges) {
    if (edge.from < edge.to) continue;
    throw DeviceError("a capture has call " + std::to_string(edge.to) + " behind call " +
                      std::to_string(edge.from));
  }
  if (const auto disorder = first_disorder(*out, calls, overlaps_)) {
    throw UnorderedCalls(what_, calls, *disorder);
  }
  return *std::move(out);
}

void CudaRun::launch() {
  twins_.check();
  if (!waits_) return start();  // what it throws may be another's
  named(what_, [this] {
    start();
    GRAPHGATE_CUDA(driver_, cuStreamSynchronize, stream_);
  });
}

void CudaRun::start() {
  if (graph_.get() == nullptr) return launch_calls();
  GRAPHGATE_CUDA(driver_, cuGraphLaunch, graph_.get(), stream_);
}

std::function<void()> CudaRun::bare_launch() {
  if (graph_.get() == nullptr) return {};
  return [this, launch = driver_.cuGraphLaunch, graph = graph_.get(), stream = stream_] {
    const CUresult result = launch(graph, stream);
    if (result != CUDA_SUCCESS) driver_.check(result, "cuGraphLaunch");
  };
}

}  // namespace graphgate::optimized::cuda
