// Symbols become numbers: sizes, and whatever is computed from them.
#include <map>

#include "conformance/run/seeded_inputs.h"
#include "fuzz/reduce/expr_edit.h"
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::Graph;
using spec::Program;
using spec::SymExpr;

template <class Change>
void for_each_expr(Graph& graph, Change&& change) {
  for (spec::Value& value : graph.values) {
    if (value.expr) change(*value.expr);
    if (!value.type) continue;
    for (SymExpr& size : value.type->sizes) change(size);
    for (SymExpr& stride : value.type->strides) change(stride);
    change(value.type->storage_offset);
  }
  for (Graph& subgraph : graph.subgraphs) for_each_expr(subgraph, change);
}

struct SymbolPlace {
  std::size_t program = 0;
  std::string symbol;
};

std::vector<SymbolPlace> symbols_of(const CaseFile& the_case) {
  std::vector<SymbolPlace> out;
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    for (const auto& [name, info] : the_case.programs[p].symbols) out.push_back({p, name});
  }
  return out;
}

// The size that a literal input of some call has where the symbol stands alone.
std::optional<std::int64_t> size_in_sets(const CaseFile& the_case, const Program& program,
                                         const std::string& symbol) {
  for (const spec::InputSet& set : the_case.inputs) {
    if (set.program != program.name) continue;
    for (const spec::CaseInput& given : set.inputs) {
      const auto* tensor = std::get_if<spec::HostTensor>(&given.data);
      const auto input = program.find_input(spec::InputKind::kUserInput, given.name);
      if (!tensor || !input || program.inputs[*input].constant) continue;
      const auto& type = program.graph.value(program.inputs[*input].value).type;
      if (!type || type->sizes.size() != tensor->sizes.size()) continue;
      for (std::size_t d = 0; d < type->sizes.size(); ++d) {
        const SymExpr& size = type->sizes[d];
        const bool is_it = size.op() == spec::SymOp::kSymbol && size.name() == symbol;
        if (is_it) return tensor->sizes[d];
      }
    }
  }
  return std::nullopt;
}

// As the last call has it: failures show there.
std::int64_t size_of_symbol(const CaseFile& the_case, const SymbolPlace& place) {
  const Program& program = the_case.programs[place.program];
  const bool is_alone = program.symbols.size() == 1;
  std::optional<std::int64_t> out;
  for (const spec::Step& step : the_case.scenario.steps) {
    const auto* call = std::get_if<spec::CallStep>(&step);
    if (!call || call->program != program.name) continue;
    for (const auto& [name, size] : call->sizes) {
      if (name == place.symbol || (name == "size" && is_alone)) out = size;
    }
  }
  if (!out) out = size_in_sets(the_case, program, place.symbol);
  return out ? *out : conformance::traced_size(program.symbols.find(place.symbol)->second);
}

// A symbolic number whose value is known by now is written as that number.
void write_numbers(Graph& graph) {
  std::map<spec::ValueId, std::int64_t> known;
  for (std::uint32_t v = 0; v < graph.values.size(); ++v) {
    const auto& expr = graph.values[v].expr;
    if (expr && expr->is_constant() && graph.values[v].kind == spec::ValueKind::kSymInt) {
      known.emplace(spec::ValueId{v}, expr->constant());
    }
  }
  const auto write = [&](const auto& self, spec::Argument& argument) -> void {
    if (const auto* id = argument.as<spec::ValueId>()) {
      const auto found = known.find(*id);
      if (found != known.end()) argument.value = found->second;
    }
    if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
      for (spec::Argument& element : *list) self(self, element);
    }
  };
  for (spec::Node& node : graph.nodes) {
    const bool holds_graphs = node.op.starts_with("higher_order.");
    for (spec::NamedArgument& named : node.arguments) {
      if (!holds_graphs) write(write, named.argument);
    }
  }
  for (spec::Argument& output : graph.outputs) write(write, output);
  for (Graph& subgraph : graph.subgraphs) write_numbers(subgraph);
}

Candidate bind_symbols(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  const std::vector<SymbolPlace> places = symbols_of(the_case);
  CaseFile out = the_case;
  for (std::size_t i = begin; i < end; ++i) {
    const std::int64_t value = size_of_symbol(the_case, places[i]);
    const auto bind = [&](const SymExpr& leaf) {
      return !leaf.is_constant() && leaf.name() == places[i].symbol ? SymExpr(value) : leaf;
    };
    for_each_expr(out.programs[places[i].program].graph,
                  [&](SymExpr& expr) { expr = rebuilt(expr, bind); });
  }
  for (Program& program : out.programs) write_numbers(program.graph);
  tidy_case(out);
  return out;
}

}  // namespace

std::vector<ReductionPass> symbol_passes() {
  return {{"symbols for numbers", count_of<symbols_of>, bind_symbols}};
}

}  // namespace graphgate::fuzz
