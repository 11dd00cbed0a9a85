#include "tools/report/plan_dot.h"

#include <map>
#include <set>

#include "spec/plan_drawing.h"
#include "tools/report/escape.h"

namespace graphgate::tools {
namespace {

std::string step_id(std::uint32_t step) { return "s" + std::to_string(step); }

class Writer {
 public:
  Writer(const spec::Plan& plan, const spec::OpTable& ops) : plan_(plan), ops_(ops) {}

  std::string write() {
    out_ = "digraph " + dot_label(plan_.name) + " {\n  node [shape=box, fontname=monospace];\n";
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      for (std::size_t p = 0; p < plan_.blocks[b].partitions.size(); ++p) write_partition(b, p);
    }
    for (const std::uint32_t step : spec::execution_order(plan_)) write_edges(step);
    for (const spec::Argument& output : plan_.outputs) read(output, "output");
    return out_ + "}\n";
  }

 private:
  void write_partition(std::size_t block, std::size_t index) {
    const spec::PlanPartition& partition = plan_.blocks[block].partitions[index];
    const std::string name = plan_.blocks[block].name + "_" + std::to_string(index);
    const std::string kind = partition.captured ? "captured" : "eager: " + partition.reason;
    out_ += "  subgraph " + dot_label("cluster_" + name) +
            " {\n    label=" + dot_label(name + " " + kind) +
            ";\n    style=" + (partition.captured ? "filled" : "dashed") + ";\n";
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      const spec::PlanStep& step = plan_.steps[s];
      std::string label = step.node.name + "\n" + step.node.op;
      for (const spec::Node& node : step.body) label.append("\n  ").append(node.op);
      out_ += "    " + step_id(s) + " [label=" + dot_label(label) + "];\n";
    }
    out_ += "  }\n";
  }

  // Edges into a step; then it is the writer of what it makes and of what its op writes.
  void write_edges(std::uint32_t step) {
    const spec::Node& node = plan_.steps[step].node;
    const spec::OpRow* row = ops_.find(node.op);
    std::set<spec::BufferId> written;
    for (const spec::NamedArgument& named : node.arguments) {
      read(named.argument, step_id(step));
      const auto argument = row ? row->schema.find_argument(named.name) : std::nullopt;
      if (argument && row->writes(*argument)) add_buffers(named.argument, written);
    }
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) add_buffers({id}, written);
    }
    for (const spec::BufferId buffer : written) writer_[buffer] = step_id(step);
  }

  void read(const spec::Argument& argument, const std::string& reader) {
    std::set<spec::BufferId> buffers;
    add_buffers(argument, buffers);
    for (const spec::BufferId buffer : buffers) {
      const auto writer = writer_.find(buffer);
      const std::string& name = plan_.buffers[buffer.index].name;
      const std::string from = writer == writer_.end() ? dot_label("$" + name) : writer->second;
      out_.append("  ").append(from).append(" -> ").append(reader);
      out_.append(" [label=").append(dot_label("$" + name)).append("];\n");
    }
  }

  void add_buffers(const spec::Argument& argument, std::set<spec::BufferId>& out) const {
    for_each_value(argument, [&](spec::ValueId id) {
      if (const auto& buffer = plan_.values[id.index].buffer) out.insert(*buffer);
    });
  }

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  std::map<spec::BufferId, std::string> writer_;
  std::string out_;
};

}  // namespace

std::string plan_to_dot(const spec::Plan& plan, const spec::OpTable& ops) {
  return Writer(plan, ops).write();
}

}  // namespace graphgate::tools
