#include <algorithm>
#include <map>

#include "optimized/runtime/cuda/cuda_run.h"

namespace graphgate::optimized::cuda {
namespace {

CapturedKernel kernel_of(const Driver& driver, CUgraphNode node,
                         const std::map<CUfunction, const BoundCall*>& calls) {
  CUgraphNodeType type{};
  GRAPHGATE_CUDA(driver, cuGraphNodeGetType, node, &type);
  if (type != CU_GRAPH_NODE_TYPE_KERNEL) {
    throw DeviceError("a capture has a node of type " + std::to_string(static_cast<int>(type)) +
                      ", which is no kernel");
  }
  CUDA_KERNEL_NODE_PARAMS params{};
  GRAPHGATE_CUDA(driver, cuGraphKernelNodeGetParams, node, &params);
  const auto call = calls.find(params.func);
  if (call == calls.end()) throw DeviceError("a capture has a kernel of somebody else");
  CapturedKernel kernel{call->second->name,
                        {params.gridDimX, params.gridDimY, params.gridDimZ},
                        {params.blockDimX, params.blockDimY, params.blockDimZ},
                        params.sharedMemBytes,
                        1,
                        {}};
  CUlaunchAttributeValue value{};
  GRAPHGATE_CUDA(driver, cuGraphKernelNodeGetAttribute, node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                 &value);
  kernel.cluster = std::max(value.clusterDim.x, 1U);  // 0 where none was asked for
  for (std::size_t i = 0; i < call->second->arguments.size(); ++i) {
    kernel.arguments.push_back(*static_cast<const CUdeviceptr*>(params.kernelParams[i]));
  }
  return kernel;
}

struct Edge {
  CUgraphNode from = nullptr;
  CUgraphNode to = nullptr;
  unsigned type = 0;
};

// A full edge that a kernel gives before it has ended would be none.
Edge edge_of(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData& data) {
  const bool is_plain = data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && data.from_port == 0;
  if (!is_plain && data.type != CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
    throw DeviceError("a capture has an edge of type " + std::to_string(data.type) + " from port " +
                      std::to_string(data.from_port));
  }
  return {from, to, data.type};
}

std::vector<Edge> edges_of(const Driver& driver, CUgraph graph, std::size_t nodes) {
  // The driver fills what room there is: if it fills all of it, there may be more.
  for (std::size_t room = 2 * nodes + 1;; room *= 2) {
    std::size_t count = room;
    std::vector<CUgraphNode> from(count);
    std::vector<CUgraphNode> to(count);
    std::vector<CUgraphEdgeData> data(count);
    GRAPHGATE_CUDA(driver, cuGraphGetEdges_v2, graph, from.data(), to.data(), data.data(), &count);
    if (count >= room) continue;
    std::vector<Edge> edges;
    edges.reserve(count);
    for (std::size_t i = 0; i < count; ++i) edges.push_back(edge_of(from[i], to[i], data[i]));
    return edges;
  }
}

// The nodes in an order that the edges allow; of several the one that the graph names first.
std::vector<CUgraphNode> in_order(std::vector<CUgraphNode> nodes, std::vector<Edge> edges) {
  std::vector<CUgraphNode> out;
  while (!nodes.empty()) {
    const auto next = std::ranges::find_if(nodes, [&](CUgraphNode node) {
      return std::ranges::none_of(edges, [&](const Edge& edge) { return edge.to == node; });
    });
    if (next == nodes.end()) throw DeviceError("a capture has edges in a circle");
    std::erase_if(edges, [&](const Edge& edge) { return edge.from == *next; });
    out.push_back(*next);
    nodes.erase(next);
  }
  return out;
}

}  // namespace

DeviceCapture read_graph(const Driver& driver, CUgraph graph, std::span<const BoundCall> calls) {
  std::size_t count = 0;
  GRAPHGATE_CUDA(driver, cuGraphGetNodes, graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  GRAPHGATE_CUDA(driver, cuGraphGetNodes, graph, nodes.data(), &count);
  std::map<CUfunction, const BoundCall*> by_function;
  for (const BoundCall& call : calls) by_function.emplace(call.function, &call);
  const std::vector<Edge> edges = edges_of(driver, graph, count);
  nodes = in_order(std::move(nodes), edges);
  DeviceCapture capture;
  std::map<CUgraphNode, std::size_t> numbers;
  for (CUgraphNode node : nodes) {
    numbers.emplace(node, capture.kernels.size());
    capture.kernels.push_back(kernel_of(driver, node, by_function));
  }
  for (const Edge& edge : edges) {
    capture.edges.push_back({numbers.at(edge.from), numbers.at(edge.to), edge.type});
  }
  std::ranges::sort(capture.edges);
  return capture;
}

}  // namespace graphgate::optimized::cuda
