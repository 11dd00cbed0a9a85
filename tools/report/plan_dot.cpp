#include "tools/report/plan_dot.h"

#include "tools/report/escape.h"
#include "tools/report/plan_edges.h"

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
    for (const PlanEdge& edge : plan_edges(plan_, ops_)) write_edge(edge);
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

  void write_edge(const PlanEdge& edge) {
    const std::string name = dot_label("$" + plan_.buffers[edge.buffer.index].name);
    out_.append("  ").append(edge.from ? step_id(*edge.from) : name);
    out_.append(" -> ").append(edge.to ? step_id(*edge.to) : "output");
    out_.append(" [label=").append(name).append("];\n");
  }

  const spec::Plan& plan_;
  const spec::OpTable& ops_;
  std::string out_;
};

}  // namespace

std::string plan_to_dot(const spec::Plan& plan, const spec::OpTable& ops) {
  return Writer(plan, ops).write();
}

}  // namespace graphgate::tools
