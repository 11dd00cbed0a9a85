// Nodes of a partition, launch by launch: the first step of fuse.cpp.
//
// A node that stands in several launches is made again in each but the first, with values and
// storages of its own; nodes behind it in the launch read those.
#pragma once

#include <memory>
#include <span>

#include "optimized/schedule/fuse_groups.h"

namespace graphgate::optimized {

// A partition whose nodes stand launch by launch.
struct Arranged {
  std::vector<SizedNode> nodes;
  std::vector<std::size_t> ends;  // of launches: one behind the last node of each

  [[nodiscard]] std::span<SizedNode> launch(std::size_t l) {
    const std::size_t begin = l == 0 ? 0 : ends[l - 1];
    return std::span(nodes).subspan(begin, ends[l] - begin);
  }
};

// One for all partitions of a graph: names that it makes up are new in the whole graph.
class LaunchArranger {
 public:
  // Adds values and storages to the graph.
  explicit LaunchArranger(SizedGraph& graph);
  ~LaunchArranger();
  LaunchArranger(const LaunchArranger&) = delete;
  LaunchArranger& operator=(const LaunchArranger&) = delete;

  // Takes the nodes of one partition away. Places in `launches` are places in `nodes`.
  [[nodiscard]] Arranged arrange(std::span<SizedNode> nodes, const std::vector<Launched>& launches);

 private:
  class Copier;

  SizedGraph& graph_;
  std::unique_ptr<Copier> copier_;  // null until a node is made again
};

}  // namespace graphgate::optimized
