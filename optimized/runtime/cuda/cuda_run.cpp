#include "optimized/runtime/cuda/cuda_run.h"

#include <algorithm>
#include <array>
#include <map>

namespace graphgate::optimized::cuda {
namespace {

// A kernel has to be allowed more (CUDA programming guide, shared memory).
constexpr std::int64_t kSharedWithoutAsking = std::int64_t{48} << 10U;

}  // namespace

CudaRun::CudaRun(const Driver& driver, CUstream stream, const DeviceMemory& memory,
                 std::shared_ptr<const Module> module, const Device::Job& job, CUdeviceptr fault,
                 bool overlaps)
    : driver_(driver),
      stream_(stream),
      memory_(memory),
      module_(std::move(module)),
      overlaps_(overlaps) {
  bind(job, fault);
  if (!job.is_captured || calls_.empty()) return;
  const Graph graph = capture();
  check(graph.get());
  graph_ = instantiate(graph.get());
  GRAPHGATE_CUDA(driver_, cuGraphUpload, graph_.get(), stream_);
}

void CudaRun::bind(const Device::Job& job, CUdeviceptr fault) {
  std::map<const std::byte*, CUdeviceptr> twins;
  for (const DeviceCall& call : job.calls) {
    BoundCall bound;
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

Graph CudaRun::capture() const {
  GRAPHGATE_CUDA(driver_, cuStreamBeginCapture, stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUgraph captured = nullptr;
  try {
    launch_calls();
  } catch (const DeviceError&) {
    (void)driver_.cuStreamEndCapture(stream_, &captured);
    throw;
  }
  GRAPHGATE_CUDA(driver_, cuStreamEndCapture, stream_, &captured);
  return {captured, driver_.cuGraphDestroy};
}

GraphExec CudaRun::instantiate(CUgraph graph) const {
  CUgraphExec exec = nullptr;
  GRAPHGATE_CUDA(driver_, cuGraphInstantiateWithFlags, &exec, graph, 0);
  return {exec, driver_.cuGraphExecDestroy};
}

// Kernels alone, as many as there are calls, each with its own shape and arguments.
void CudaRun::check(CUgraph graph) const {
  std::size_t count = 0;
  GRAPHGATE_CUDA(driver_, cuGraphGetNodes, graph, nullptr, &count);
  if (count != calls_.size()) {
    throw DeviceError("a capture of " + std::to_string(calls_.size()) + " kernels has " +
                      std::to_string(count) + " nodes");
  }
  std::vector<CUgraphNode> nodes(count);
  GRAPHGATE_CUDA(driver_, cuGraphGetNodes, graph, nodes.data(), &count);
  std::multimap<CUfunction, const BoundCall*> expected;
  for (const BoundCall& call : calls_) expected.emplace(call.function, &call);
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    GRAPHGATE_CUDA(driver_, cuGraphNodeGetType, node, &type);
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) {
      throw DeviceError("a capture has a node of type " + std::to_string(static_cast<int>(type)) +
                        ", which is no kernel");
    }
    CUDA_KERNEL_NODE_PARAMS params{};
    GRAPHGATE_CUDA(driver_, cuGraphKernelNodeGetParams, node, &params);
    const auto [first, last] = expected.equal_range(params.func);
    const auto found = std::find_if(first, last, [&](const auto& one) {
      const BoundCall& call = *one.second;
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        if (*static_cast<const CUdeviceptr*>(params.kernelParams[i]) != call.arguments[i]) {
          return false;
        }
      }
      return params.gridDimX == call.blocks && params.blockDimX == kDeviceBlock &&
             params.sharedMemBytes == call.shared_bytes;
    });
    if (found == last) {
      throw DeviceError("a capture has a kernel with another shape or other arguments than given");
    }
    expected.erase(found);
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
