#include "tools/report/plan_edges.h"

#include <map>
#include <set>

#include "spec/plan_drawing.h"

namespace graphgate::tools {
namespace {

class EdgeFinder {
 public:
  EdgeFinder(const spec::Plan& plan, const spec::OpTable& ops) : plan_(plan), ops_(ops) {}

  std::vector<PlanEdge> find() {
    for (const std::uint32_t step : spec::execution_order(plan_)) visit(step);
    for (const spec::Argument& output : plan_.outputs) read(output, std::nullopt);
    return std::move(edges_);
  }

 private:
  // Edges into a step; then it is the writer of what it makes and of what its op writes.
  void visit(std::uint32_t step) {
    const spec::Node& node = plan_.steps[step].node;
    const spec::OpRow* row = ops_.find(node.op);
    std::set<spec::BufferId> written;
    for (const spec::NamedArgument& named : node.arguments) {
      read(named.argument, step);
      const auto argument = row ? row->schema.find_argument(named.name) : std::nullopt;
      if (argument && row->writes(*argument)) add_buffers(named.argument, written);
    }
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) add_buffers({id}, written);
    }
    for (const spec::BufferId buffer : written) writer_[buffer] = step;
  }

  void read(const spec::Argument& argument, std::optional<std::uint32_t> reader) {
    std::set<spec::BufferId> buffers;
    add_buffers(argument, buffers);
    for (const spec::BufferId buffer : buffers) {
      const auto writer = writer_.find(buffer);
      std::optional<std::uint32_t> from;
      if (writer != writer_.end()) from = writer->second;
      edges_.push_back({from, reader, buffer});
    }
  }

  void add_buffers(const spec::Argument& argument, std::set<spec::BufferId>& out) const {
    for_each_value(argument, [&](spec::ValueId id) {
      if (const auto& buffer = plan_.values[id.index].buffer) out.insert(*buffer);
    });
  }

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  std::map<spec::BufferId, std::uint32_t> writer_;
  std::vector<PlanEdge> edges_;
};

}  // namespace

std::vector<PlanEdge> plan_edges(const spec::Plan& plan, const spec::OpTable& ops) {
  return EdgeFinder(plan, ops).find();
}

}  // namespace graphgate::tools
