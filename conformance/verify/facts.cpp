#include "conformance/verify/facts.h"

#include <algorithm>

#include "conformance/verify/facts_walk.h"

namespace graphgate::verify {

PlacedTensor::PlacedTensor(const spec::ProvenanceRow& row) {
  dtype = row.dtype;
  sizes = row.sizes;
  strides = row.strides;
  storage_offset = row.storage_offset;
  bytes = bytes_of(*this);
}

Writers TensorFact::writers() const {
  if (contents.size() == 1) return contents.front().writers;
  Writers out;
  for (const Content& content : contents) out = united(out, content.writers);
  return out;
}

bool TensorFact::is_certain() const {
  return std::ranges::none_of(contents, [](const Content& content) { return content.may; });
}

Writer GraphFacts::first_node() const { return static_cast<Writer>(program->inputs.size()); }

const spec::Node& GraphFacts::node(std::uint32_t index) const {
  return frames[nodes[index].frame].graph->node(nodes[index].node);
}

std::optional<std::uint32_t> GraphFacts::find(std::uint32_t frame, std::string_view name) const {
  const auto& names = by_name[frame];
  const auto place = std::lower_bound(
      names.begin(), names.end(), name,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (place == names.end() || place->first != name) return std::nullopt;
  return place->second;
}

std::string GraphFacts::name_of(Writer writer) const {
  if (is_input(writer)) return "input '" + program->inputs[writer].target + "'";
  const spec::Node& made_by = node(node_of(writer));
  return "'" + made_by.name + "' (" + made_by.op + ")";
}

GraphFacts facts_of(const spec::Program& program, const spec::OpTable& ops,
                    const std::map<std::string, std::int64_t>& symbols,
                    const std::vector<std::uint32_t>& input_groups, const RunRows& rows) {
  GraphFacts facts;
  facts.program = &program;
  FactsWalk(program, ops, symbols, rows, facts).walk(input_groups);
  return facts;
}

}  // namespace graphgate::verify
