#include "optimized/schedule/schedule.h"

namespace graphgate::optimized {

Schedule make_schedule(const SizedGraph& graph) {
  Schedule schedule;
  schedule.blocks.resize(graph.blocks.size());
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    for (std::uint32_t n = 0; n < graph.blocks[b].nodes.size(); ++n) {
      schedule.blocks[b].push_back({{n}});
    }
  }
  return schedule;
}

}  // namespace graphgate::optimized
