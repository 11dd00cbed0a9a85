#include "spec/missing_op.h"

#include <algorithm>

#include "spec/graph_text.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kFor = " for ";
constexpr std::string_view kNorFor = ", nor for ";
constexpr std::string_view kHint =
    " (give one by --custom-ops, or export with --decompose, which makes core ops of most)";

// The word in front of the text: up to a blank or what no op's name has.
std::string_view first_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" ,;:()\n"), text.size()));
}

}  // namespace

void MissingOps::add(std::string_view node, std::string_view op) {
  if (ops_.empty()) node_ = node;
  if (std::ranges::find(ops_, op) == ops_.end()) ops_.emplace_back(op);
}

Error MissingOps::error(std::string_view who_lacks_what) const {
  std::string text(who_lacks_what);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    text += i == 0 ? kFor : kNorFor;
    text += ops_[i];
  }
  if (who_lacks_what == kNoSchema) text += kHint;
  Error error = unsupported(std::move(text));
  return node_.empty() ? error : error.at("node '" + node_ + "'");
}

std::vector<std::string> missing_ops_in(std::string_view message) {
  std::vector<std::string> ops;
  for (const std::string_view who : {kNoSchema, kNoBody, kNoKernel}) {
    const std::string begin = std::string(who) + std::string(kFor);
    const std::size_t found = message.find(begin);
    if (found == std::string_view::npos) continue;
    std::string_view rest = message.substr(found + begin.size());
    while (true) {
      const std::string_view op = first_word(rest);
      if (!op.empty()) ops.emplace_back(op);
      rest.remove_prefix(op.size());
      if (!rest.starts_with(kNorFor)) break;
      rest.remove_prefix(kNorFor.size());
    }
  }
  return ops;
}

void add_ops_without_schema(const Graph& graph, const OpTable& ops, MissingOps& missing) {
  for (const Node& node : graph.nodes) {
    if (!is_higher_order(node.op) && !ops.find(node.op)) missing.add(node.name, node.op);
  }
  for (const Graph& subgraph : graph.subgraphs) add_ops_without_schema(subgraph, ops, missing);
}

Result<void> check_schemas_known(const Graph& graph, const OpTable& ops) {
  MissingOps missing;
  add_ops_without_schema(graph, ops, missing);
  if (missing.empty()) return {};
  return missing.error(kNoSchema);
}

}  // namespace graphgate::spec
