#include "optimized/runtime/cuda/cuda_run.h"

#include <algorithm>
#include <array>
#include <map>

namespace graphgate::optimized::cuda {
namespace {

// A kernel has to be allowed more (CUDA programming guide, shared memory).
constexpr std::int64_t kSharedWithoutAsking = std::int64_t{48} << 10U;

// Says at what it was that something failed.
template <class Work>
void named(const std::string& what, Work&& work) {
  try {
    work();
  } catch (const DeviceError& error) {
    throw DeviceError(what + ": " + error.what());
  }
}

}  // namespace

CudaRun::CudaRun(const Driver& driver, CUstream stream, const DeviceMemory& memory,
                 std::shared_ptr<const Module> module, const Device::Job& job, CUdeviceptr fault,
                 bool overlaps, bool waits)
    : driver_(driver),
      stream_(stream),
      memory_(memory),
      module_(std::move(module)),
      overlaps_(overlaps),
      waits_(waits),
      what_(job.what.empty() ? "a job" : job.what) {
  named("making " + what_ + " ready", [&] {
    bind(job, fault);
    if (job.is_captured && !calls_.empty()) record();
  });
}

void CudaRun::record() {
  const Graph graph = capture();
  captured_ = read_graph(driver_, graph.get(), calls_);
  check_captured();
  graph_ = instantiate(graph.get());
  GRAPHGATE_CUDA(driver_, cuGraphUpload, graph_.get(), stream_);
}

void CudaRun::bind(const Device::Job& job, CUdeviceptr fault) {
  std::map<const std::byte*, CUdeviceptr> twins;
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
      const CUdeviceptr twin = memory_.twin_of(pointer);
      twins.emplace(pointer, twin);
      bound.arguments.push_back(twin);
    }
    if (call.reports_faults) bound.arguments.push_back(fault);
    calls_.push_back(std::move(bound));
  }
  addresses_.assign(twins.begin(), twins.end());
  generation_ = memory_.generation();
}

void CudaRun::launch_calls() const {
  for (const BoundCall& call : calls_) {
    std::vector<void*> arguments;
    for (const CUdeviceptr& argument : call.arguments) {
      arguments.push_back(const_cast<CUdeviceptr*>(&argument));  // NOLINT: the driver only reads
    }
    std::array<CUlaunchAttribute, 2> attributes{};
    unsigned count = 0;
    // The first call of a job waits for all that was started before it.
    if (overlaps_ && &call != &calls_.front()) {
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
    config.hStream = stream_;
    config.attrs = attributes.data();
    config.numAttrs = count;
    GRAPHGATE_CUDA(driver_, cuLaunchKernelEx, &config, call.function, arguments.data(), nullptr);
  }
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

// As many kernels as there are calls, each with its own shape and arguments.
void CudaRun::check_captured() const {
  std::vector<CapturedKernel> kernels = captured_.kernels;
  if (kernels.size() != calls_.size()) {
    throw DeviceError("a capture of " + std::to_string(calls_.size()) + " kernels has " +
                      std::to_string(kernels.size()) + " nodes");
  }
  for (const BoundCall& call : calls_) {
    const CapturedKernel expected{
        call.name,         {call.blocks, 1, 1}, {kDeviceBlock, 1, 1},
        call.shared_bytes, call.cluster,        {call.arguments.begin(), call.arguments.end()}};
    const auto found = std::find(kernels.begin(), kernels.end(), expected);
    if (found == kernels.end()) {
      throw DeviceError("a capture has a kernel with another shape or other arguments than given");
    }
    kernels.erase(found);
  }
}

void CudaRun::check_addresses() {
  if (generation_ == memory_.generation()) return;
  for (const auto& [host, twin] : addresses_) {
    if (memory_.twin_of(host) != twin) {
      throw DeviceError(
          "a recorded address has moved: what was captured there must be recorded "
          "anew");
    }
  }
  generation_ = memory_.generation();
}

void CudaRun::launch() {
  check_addresses();
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
