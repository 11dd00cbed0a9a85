// A driver's functions for tests without one: "device" memory is the process's own, mapped and
// protected as asked, so that what would fault on a GPU is a SIGSEGV here. Kernels are captured and
// looked at, and never run. Streams, events and captures keep to the driver's rules. What is
// launched is behind what its stream is behind, and an event takes that to another stream. A
// capture that leaves a stream unjoined is refused. They end as those of an H100's driver do:
// whatever is refused in one invalidates it, and its end gives no graph.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "optimized/runtime/cuda/driver.h"

namespace graphgate::optimized::cuda {

struct FakeNode {
  bool is_kernel = true;
  CUfunction function = nullptr;
  unsigned blocks = 0;
  unsigned threads = 0;  // of a block
  unsigned shared_bytes = 0;
  unsigned cluster = 0;
  CUstream stream = nullptr;
  std::vector<CUdeviceptr> values;
  std::vector<void*> parameters;
};

struct FakeEdge {
  std::size_t from = 0;  // nodes
  std::size_t to = 0;
  unsigned type = 0;
  unsigned port = 0;
};

struct FakeDriver {
  struct Copy {
    void* to = nullptr;
    const std::byte* from = nullptr;
    std::size_t size = 0;
  };
  std::vector<Copy> coming;
  std::map<CUdeviceptr, std::unique_ptr<std::byte[]>> allocated;  // by cuMemAlloc
  std::size_t allocations = 0;
  static constexpr std::size_t kPageBytes = std::size_t{1} << 16;
  std::map<CUdeviceptr, std::size_t> reserved;  // bytes, by address
  std::map<CUdeviceptr, std::size_t> mapped;
  std::size_t handles = 0;  // created, and not released yet
  std::size_t waits = 0;    // for the stream
  bool maps_read_only = true;
  bool has_memory = true;
  std::map<std::string, std::size_t> functions;  // how many parameters each has, by name
  std::deque<FakeNode> nodes;                    // that were launched last, in order
  std::vector<FakeEdge> edges;
  std::map<CUstream, std::set<std::size_t>> behind;  // nodes that come before what is next
  std::map<CUevent, std::set<std::size_t>> recorded;
  std::optional<CUstream> captures;  // where a capture began
  std::set<CUstream> captured;       // streams that are in it
  std::set<CUevent> captured_events;
  std::uint64_t made = 0;                        // streams and events
  std::size_t events = 0;                        // created, and not destroyed yet
  std::function<void(FakeDriver&)> tamper = {};  // with what was captured
  bool reverses_edges = false;                   // names them in another order
  std::size_t replays = 0;
  CUresult waiting_gives = CUDA_SUCCESS;
  enum class Capture { kNone, kActive, kInvalidated };
  Capture capture = Capture::kNone;
  std::size_t graphs = 0;  // that are there
  std::size_t execs = 0;
  std::function<void(const Driver&)> before_launch = {};  // what somebody does there
  // What a call answers, once, after it has been right so often.
  struct Refusal {
    std::string call;
    CUresult result = CUDA_SUCCESS;
    std::size_t after = 0;
  };
  Refusal refusal;

  static FakeDriver& instance() {
    static FakeDriver fake;
    return fake;
  }

  // Anew, with nothing in it.
  static Driver make() {
    instance() = {};
    return table();
  }

  static Driver table() {
    Driver driver;
    driver.cuGetErrorName = [](CUresult result, const char** name) {
      static const std::map<CUresult, const char*> kNames = {
          {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
          {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
          {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
          {CUDA_ERROR_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
          {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
          {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
          {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"}};
      const auto found = kNames.find(result);
      *name = found == kNames.end() ? "CUDA_ERROR" : found->second;
      return CUDA_SUCCESS;
    };
    driver.cuGetErrorString = [](CUresult, const char** text) {
      *text = "as the fake has it";
      return CUDA_SUCCESS;
    };
    driver.cuStreamSynchronize = [](CUstream) {
      ++instance().waits;
      if (instance().capture != Capture::kNone) {
        instance().capture = Capture::kInvalidated;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      }
      for (const Copy& copy : std::exchange(instance().coming, {})) {
        std::memcpy(copy.to, copy.from, copy.size);
      }
      return instance().waiting_gives;
    };
    driver.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t size, CUstream) {
      std::memcpy(at(to), from, size);
      return CUDA_SUCCESS;
    };
    // What is copied to the host is there when the stream was waited for, as with pinned memory.
    driver.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr from, std::size_t size, CUstream) {
      instance().coming.push_back({to, at(from), size});
      return CUDA_SUCCESS;
    };
    add_plain_memory(driver);
    add_virtual_memory(driver);
    add_streams(driver);
    add_launches(driver);
    add_graphs(driver);
    return driver;
  }

  void forget_launches() {
    nodes.clear();
    edges.clear();
    behind.clear();
    recorded.clear();
  }
  static std::byte* at(CUdeviceptr address) { return handle<std::byte*>(address); }
  // Functions and nodes are their numbers, from 1.
  template <class Handle>
  static Handle handle(std::uint64_t number) {
    return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  static FakeNode& node_of(CUgraphNode node) {
    return instance().nodes.at(reinterpret_cast<std::uint64_t>(node) - 1);
  }
  static CUresult answer(const char* call) {
    Refusal& refusal = instance().refusal;
    if (refusal.call != call || refusal.after-- > 0) return CUDA_SUCCESS;
    refusal.call.clear();
    return refusal.result;
  }
  static CUresult launch(const CUlaunchConfig* config, CUfunction function, void** parameters,
                         void** /*extra*/) {
    FakeDriver& fake = instance();
    if (fake.before_launch) fake.before_launch(table());
    if (fake.capture == Capture::kInvalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (const CUresult refused = answer("cuLaunchKernelEx"); refused != CUDA_SUCCESS) {
      if (fake.capture == Capture::kActive) fake.capture = Capture::kInvalidated;
      return refused;
    }
    if (fake.captures && !fake.captured.contains(config->hStream)) {
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    unsigned type = CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
    FakeNode& node = fake.nodes.emplace_back();
    node.function = function;
    node.stream = config->hStream;
    node.blocks = config->gridDimX;
    node.threads = config->blockDimX;
    node.shared_bytes = config->sharedMemBytes;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const CUlaunchAttribute& attribute = config->attrs[i];
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        node.cluster = attribute.value.clusterDim.x;
      } else {
        type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      }
    }
    std::set<std::size_t>& behind = fake.behind[config->hStream];
    // What a driver makes of an overlap with several others is nobody's promise.
    if (type != 0 && behind.size() != 1) return CUDA_ERROR_INVALID_VALUE;
    for (const std::size_t before : behind) {
      fake.edges.push_back({before, fake.nodes.size() - 1, type, type});
    }
    behind = {fake.nodes.size() - 1};
    const auto number = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(function)) - 1;
    node.values.resize(std::next(fake.functions.begin(), number)->second);
    for (std::size_t i = 0; i < node.values.size(); ++i) {
      node.values[i] = *static_cast<const CUdeviceptr*>(parameters[i]);
      node.parameters.push_back(&node.values[i]);
    }
    return CUDA_SUCCESS;
  }
  static bool all_are_joined() {
    FakeDriver& fake = instance();
    std::set<std::size_t> reached = fake.behind[*fake.captures];
    for (std::size_t e = fake.edges.size(); e-- > 0;) {  // later nodes have later edges
      if (reached.contains(fake.edges[e].to)) reached.insert(fake.edges[e].from);
    }
    return std::all_of(fake.captured.begin(), fake.captured.end(), [&](CUstream stream) {
      const std::set<std::size_t>& last = fake.behind[stream];
      return std::includes(reached.begin(), reached.end(), last.begin(), last.end());
    });
  }
  static void add_streams(Driver& driver) {
    driver.cuStreamCreate = [](CUstream* stream, unsigned) {
      *stream = handle<CUstream>(++instance().made);
      return CUDA_SUCCESS;
    };
    driver.cuStreamDestroy = [](CUstream) { return CUDA_SUCCESS; };
    driver.cuEventCreate = [](CUevent* event, unsigned flags) {
      *event = handle<CUevent>(++instance().made);
      ++instance().events;
      return flags == CU_EVENT_DISABLE_TIMING && !instance().captures
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    };
    driver.cuEventDestroy = [](CUevent) {
      --instance().events;
      return CUDA_SUCCESS;
    };
    driver.cuEventRecord = [](CUevent event, CUstream stream) {
      FakeDriver& fake = instance();
      fake.recorded[event] = fake.behind[stream];
      if (fake.captured.contains(stream)) fake.captured_events.insert(event);
      return CUDA_SUCCESS;
    };
    driver.cuStreamWaitEvent = [](CUstream stream, CUevent event, unsigned) {
      FakeDriver& fake = instance();
      if (fake.captured_events.contains(event)) fake.captured.insert(stream);
      fake.behind[stream].insert(fake.recorded[event].begin(), fake.recorded[event].end());
      return CUDA_SUCCESS;
    };
    driver.cuStreamBeginCapture = [](CUstream stream, CUstreamCaptureMode) {
      FakeDriver& fake = instance();
      if (fake.capture != Capture::kNone) return CUDA_ERROR_ILLEGAL_STATE;
      fake.capture = Capture::kActive;
      fake.forget_launches();
      fake.captures = stream;
      fake.captured = {stream};
      return CUDA_SUCCESS;
    };
    driver.cuStreamEndCapture = [](CUstream stream, CUgraph* graph) {
      FakeDriver& fake = instance();
      *graph = nullptr;
      if (!fake.captures || *fake.captures != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
      const bool are_joined = all_are_joined();
      const Capture was = std::exchange(fake.capture, Capture::kNone);
      fake.captures = {};
      fake.captured.clear();
      fake.captured_events.clear();
      if (was == Capture::kInvalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      if (!are_joined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
      if (const CUresult refused = answer("cuStreamEndCapture"); refused != CUDA_SUCCESS) {
        return refused;
      }
      if (fake.tamper) fake.tamper(fake);
      *graph = handle<CUgraph>(1);
      ++fake.graphs;
      return CUDA_SUCCESS;
    };
  }
  static void add_launches(Driver& driver) {
    driver.cuModuleGetFunction = [](CUfunction* function, CUmodule, const char* name) {
      const auto found = instance().functions.find(name);
      if (found == instance().functions.end()) return CUDA_ERROR_NOT_FOUND;
      *function = handle<CUfunction>(
          static_cast<std::uint64_t>(std::distance(instance().functions.begin(), found)) + 1);
      return CUDA_SUCCESS;
    };
    driver.cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) {
      return answer("cuFuncSetAttribute");
    };
    driver.cuLaunchKernelEx = launch;
  }
  static void add_graphs(Driver& driver) {
    // Last come first: nobody promises an order.
    driver.cuGraphGetNodes = [](CUgraph, CUgraphNode* found, std::size_t* count) {
      *count = instance().nodes.size();
      for (std::size_t i = 0; found != nullptr && i < *count; ++i) {
        found[i] = handle<CUgraphNode>(*count - i);
      }
      return CUDA_SUCCESS;
    };
    driver.cuGraphGetEdges_v2 = [](CUgraph, CUgraphNode* from, CUgraphNode* to,
                                   CUgraphEdgeData* data, std::size_t* count) {
      std::vector<FakeEdge> all = instance().edges;
      if (instance().reverses_edges) std::reverse(all.begin(), all.end());
      *count = std::min(*count, all.size());
      for (std::size_t e = 0; e < *count; ++e) {
        from[e] = handle<CUgraphNode>(all[e].from + 1);
        to[e] = handle<CUgraphNode>(all[e].to + 1);
        data[e] = {};
        data[e].type = static_cast<unsigned char>(all[e].type);
        data[e].from_port = static_cast<unsigned char>(all[e].port);
      }
      return CUDA_SUCCESS;
    };
    driver.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType* type) {
      *type = node_of(node).is_kernel ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_MEMCPY;
      return CUDA_SUCCESS;
    };
    driver.cuGraphKernelNodeGetParams = [](CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
      FakeNode& kernel = node_of(node);
      params->func = kernel.function;
      params->gridDimX = kernel.blocks;
      params->blockDimX = kernel.threads;
      params->gridDimY = params->gridDimZ = params->blockDimY = params->blockDimZ = 1;
      params->sharedMemBytes = kernel.shared_bytes;
      params->kernelParams = kernel.parameters.data();
      return CUDA_SUCCESS;
    };
    driver.cuGraphKernelNodeGetAttribute = [](CUgraphNode node, CUlaunchAttributeID,
                                              CUlaunchAttributeValue* value) {
      value->clusterDim.x = node_of(node).cluster;
      return CUDA_SUCCESS;
    };
    driver.cuGraphInstantiateWithFlags = [](CUgraphExec* exec, CUgraph, unsigned long long) {
      const CUresult result = answer("cuGraphInstantiateWithFlags");
      if (result != CUDA_SUCCESS) return result;
      *exec = handle<CUgraphExec>(1);
      ++instance().execs;
      return CUDA_SUCCESS;
    };
    driver.cuGraphUpload = [](CUgraphExec, CUstream) { return answer("cuGraphUpload"); };
    driver.cuGraphLaunch = [](CUgraphExec, CUstream) {
      ++instance().replays;
      return CUDA_SUCCESS;
    };
    driver.cuGraphDestroy = [](CUgraph) {
      --instance().graphs;
      return CUDA_SUCCESS;
    };
    driver.cuGraphExecDestroy = [](CUgraphExec) {
      --instance().execs;
      return CUDA_SUCCESS;
    };
  }
  static void add_plain_memory(Driver& driver) {
    driver.cuMemAlloc = [](CUdeviceptr* address, std::size_t size) {
      auto bytes = std::make_unique<std::byte[]>(size);
      *address = reinterpret_cast<CUdeviceptr>(bytes.get());
      instance().allocated[*address] = std::move(bytes);
      ++instance().allocations;
      return CUDA_SUCCESS;
    };
    driver.cuMemFree = [](CUdeviceptr address) {
      return instance().allocated.erase(address) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemAllocHost = [](void** bytes, std::size_t size) {
      static std::deque<std::vector<std::byte>> pinned;  // outlives a test, as what is kept does
      *bytes = pinned.emplace_back(size).data();
      return CUDA_SUCCESS;
    };
  }
  static void add_virtual_memory(Driver& driver) {
    driver.cuMemGetAllocationGranularity = [](std::size_t* size, const CUmemAllocationProp*,
                                              CUmemAllocationGranularity_flags) {
      *size = kPageBytes;
      return CUDA_SUCCESS;
    };
    driver.cuMemAddressReserve = [](CUdeviceptr* address, std::size_t size, std::size_t,
                                    CUdeviceptr, unsigned long long) {
      void* const pages =
          mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      *address = reinterpret_cast<CUdeviceptr>(pages);
      instance().reserved[*address] = size;
      return pages == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    };
    driver.cuMemAddressFree = [](CUdeviceptr address, std::size_t size) {
      const auto found = instance().reserved.find(address);
      if (found == instance().reserved.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      instance().reserved.erase(found);
      return munmap(at(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemCreate = [](CUmemGenericAllocationHandle* handle, std::size_t size,
                            const CUmemAllocationProp*, unsigned long long) {
      if (!instance().has_memory) return CUDA_ERROR_OUT_OF_MEMORY;
      *handle = ++instance().handles;
      return size % kPageBytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemRelease = [](CUmemGenericAllocationHandle) {
      --instance().handles;
      return CUDA_SUCCESS;
    };
    driver.cuMemMap = [](CUdeviceptr address, std::size_t size, std::size_t,
                         CUmemGenericAllocationHandle, unsigned long long) {
      instance().mapped[address] = size;
      return CUDA_SUCCESS;
    };
    driver.cuMemUnmap = [](CUdeviceptr address, std::size_t size) {
      const auto found = instance().mapped.find(address);
      if (found == instance().mapped.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      instance().mapped.erase(found);
      return mprotect(at(address), size, PROT_NONE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemSetAccess = [](CUdeviceptr address, std::size_t size, const CUmemAccessDesc* access,
                               std::size_t) {
      const auto found = instance().mapped.find(address);
      if (found == instance().mapped.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      const bool is_read_only = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
      if (is_read_only && !instance().maps_read_only) return CUDA_ERROR_NOT_SUPPORTED;
      const int protection = is_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
      return mprotect(at(address), size, protection) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
  }
};

}  // namespace graphgate::optimized::cuda
