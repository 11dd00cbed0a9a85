// Sizes: symbols become numbers, numbers become smaller ones, everywhere in a program at once.
#include <algorithm>
#include <map>
#include <set>

#include "conformance/harness/seeded_inputs.h"
#include "fuzz/graph_edit.h"
#include "fuzz/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::Graph;
using spec::Program;
using spec::SymExpr;
using spec::TensorType;
using Candidate = std::optional<CaseFile>;

// The expression with some leaves changed; what has no symbol left becomes a number.
template <class ChangeLeaf>
SymExpr rebuilt(const SymExpr& expr, ChangeLeaf&& change) {
  if (expr.is_constant() || expr.op() == spec::SymOp::kSymbol) return change(expr);
  std::vector<SymExpr> operands;
  bool is_constant = true;
  for (const SymExpr& operand : expr.operands()) {
    operands.push_back(rebuilt(operand, change));
    is_constant &= operands.back().is_constant();
  }
  SymExpr out = SymExpr::apply(expr.op(), std::move(operands));
  if (!is_constant) return out;
  const auto value = spec::evaluate(out, {});
  return value.ok() ? SymExpr(value.value()) : out;
}

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

// ---- symbols become numbers

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

std::size_t count_symbols(const CaseFile& the_case) { return symbols_of(the_case).size(); }

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

// ---- smaller numbers

enum class Smaller { kTwo, kOne, kThree, kHalf, kOneLess };

std::optional<std::int64_t> smaller(std::int64_t size, Smaller how) {
  std::int64_t out = 0;
  switch (how) {
    case Smaller::kTwo:
      out = 2;
      break;
    case Smaller::kOne:
      out = 1;
      break;
    case Smaller::kThree:
      out = 3;
      break;
    case Smaller::kHalf:
      out = size / 2;
      break;
    case Smaller::kOneLess:
      out = size - 1;
      break;
  }
  if (out >= size || out < 1) return std::nullopt;
  return out;
}

// A size that calls of one program name.
struct CallSize {
  std::string program;
  std::string symbol;
  std::int64_t size = 0;
  friend auto operator<=>(const CallSize&, const CallSize&) = default;
};

std::vector<CallSize> call_sizes(const CaseFile& the_case) {
  std::set<CallSize> out;
  for (const spec::Step& step : the_case.scenario.steps) {
    const auto* call = std::get_if<spec::CallStep>(&step);
    if (!call) continue;
    for (const auto& [symbol, size] : call->sizes) out.insert({call->program, symbol, size});
  }
  return {out.begin(), out.end()};
}

Candidate shrink_call_size(const CaseFile& the_case, std::size_t index, Smaller how) {
  const CallSize place = call_sizes(the_case)[index];
  const auto size = smaller(place.size, how);
  if (!size) return std::nullopt;
  CaseFile out = the_case;
  for (spec::Step& step : out.scenario.steps) {
    auto* call = std::get_if<spec::CallStep>(&step);
    if (!call || call->program != place.program) continue;
    for (auto& [symbol, named] : call->sizes) {
      if (symbol == place.symbol && named == place.size) named = *size;
    }
  }
  return out;
}

// A constant size of one program, over its inputs.
struct ConstantPlace {
  std::size_t program = 0;
  std::int64_t size = 0;
};

std::vector<ConstantPlace> constants_of(const CaseFile& the_case) {
  std::vector<ConstantPlace> out;
  for (std::size_t p = 0; p < the_case.programs.size(); ++p) {
    std::set<std::int64_t> sizes;
    const Graph& graph = the_case.programs[p].graph;
    for (const spec::ValueId id : graph.inputs) {
      const auto& type = graph.value(id).type;
      if (!type) continue;
      for (const SymExpr& size : type->sizes) {
        if (size.is_constant() && size.constant() > 1) sizes.insert(size.constant());
      }
    }
    for (const std::int64_t size : sizes) out.push_back({p, size});
  }
  return out;
}

// Row-major strides follow their sizes: a stride that is the product of the constant sizes behind
// its dimension, or has that product as a factor, is changed. False where another stride is left.
bool restride(TensorType& type, const std::vector<SymExpr>& sizes_before) {
  std::int64_t before = 1;
  std::int64_t after = 1;
  for (std::size_t d = type.sizes.size(); d-- > 0;) {
    SymExpr& stride = type.strides[d];
    const bool is_unused = stride.is_constant() && stride.constant() == 0;
    if (stride.is_constant() && !is_unused && stride.constant() != before) return false;
    if (!is_unused) {
      stride = rebuilt(stride, [&](const SymExpr& leaf) {
        return leaf.is_constant() && leaf.constant() == before ? SymExpr(after) : leaf;
      });
    }
    if (sizes_before[d].is_constant()) {
      before *= std::max<std::int64_t>(sizes_before[d].constant(), 1);
      after *= std::max<std::int64_t>(type.sizes[d].constant(), 1);
    }
  }
  return true;
}

class SizeChange {
 public:
  SizeChange(std::int64_t before, std::int64_t after, bool in_arguments)
      : before_(before), after_(after), in_arguments_(in_arguments) {}

  // False where the type of an input cannot follow. What nodes make is left open.
  bool change(Graph& graph) const {
    for (const spec::ValueId id : graph.inputs) {
      auto& type = graph.values[id.index].type;
      if (type && !change(*type)) return false;
    }
    forget_result_types(graph);
    if (in_arguments_) {
      for (spec::Node& node : graph.nodes) {
        for (spec::NamedArgument& named : node.arguments) change(named.argument);
      }
    }
    return std::all_of(graph.subgraphs.begin(), graph.subgraphs.end(),
                       [this](Graph& subgraph) { return change(subgraph); });
  }

  // The leading elements of a literal; false where its storage is shared or its strides are odd.
  [[nodiscard]] bool crop(spec::HostTensor& tensor, bool is_shared) const {
    if (std::find(tensor.sizes.begin(), tensor.sizes.end(), before_) == tensor.sizes.end()) {
      return true;
    }
    if (is_shared || tensor.strides != spec::contiguous_strides(tensor.sizes)) return false;
    std::vector<std::int64_t> sizes = tensor.sizes;
    std::replace(sizes.begin(), sizes.end(), before_, after_);
    spec::HostTensor view = tensor;
    view.sizes = sizes;
    spec::HostTensor out = spec::make_host_tensor(tensor.dtype, std::move(sizes), tensor.device);
    out.storage->bytes = spec::packed_bytes(view);
    tensor = std::move(out);
    return true;
  }

 private:
  bool change(TensorType& type) const {
    const std::vector<SymExpr> before = type.sizes;
    for (SymExpr& size : type.sizes) {
      if (size.is_constant() && size.constant() == before_) size = SymExpr(after_);
    }
    return type.sizes == before || restride(type, before);
  }

  void change(spec::Argument& argument) const {
    if (auto* number = std::get_if<std::int64_t>(&argument.value)) {
      if (*number == before_) *number = after_;
    }
    if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
      for (spec::Argument& element : *list) change(element);
    }
  }

  std::int64_t before_;
  std::int64_t after_;
  bool in_arguments_;
};

// Of state and of input sets.
std::vector<spec::HostTensor*> literals_of(CaseFile& the_case, Program& program) {
  std::vector<spec::HostTensor*> out;
  for (auto& [target, tensor] : program.tensors) out.push_back(&tensor);
  for (spec::InputSet& set : the_case.inputs) {
    if (set.program != program.name) continue;
    for (spec::CaseInput& input : set.inputs) {
      if (auto* tensor = std::get_if<spec::HostTensor>(&input.data)) out.push_back(tensor);
    }
  }
  return out;
}

bool change_literals(CaseFile& the_case, Program& program, const SizeChange& change) {
  const std::vector<spec::HostTensor*> literals = literals_of(the_case, program);
  std::multiset<const spec::HostStorage*> storages;
  for (const spec::HostTensor* tensor : literals) storages.insert(tensor->storage.get());
  return std::all_of(literals.begin(), literals.end(), [&](spec::HostTensor* tensor) {
    return change.crop(*tensor, storages.count(tensor->storage.get()) > 1);
  });
}

Candidate shrink_constant(const CaseFile& the_case, std::size_t index, Smaller how,
                          bool in_arguments) {
  const ConstantPlace place = constants_of(the_case)[index];
  const auto size = smaller(place.size, how);
  if (!size) return std::nullopt;
  CaseFile out = the_case;
  const SizeChange change(place.size, *size, in_arguments);
  Program& program = out.programs[place.program];
  if (!change.change(program.graph)) return std::nullopt;
  if (!change_literals(out, program, change)) return std::nullopt;
  return out;
}

ReductionPass call_size_pass(const char* name, Smaller how) {
  return {name, [](const CaseFile& the_case) { return call_sizes(the_case).size(); },
          [how](const CaseFile& the_case, std::size_t begin, std::size_t /*end*/) {
            return shrink_call_size(the_case, begin, how);
          },
          /*is_joint=*/false};
}

ReductionPass constant_pass(const char* name, Smaller how, bool in_arguments) {
  return {name, [](const CaseFile& the_case) { return constants_of(the_case).size(); },
          [how, in_arguments](const CaseFile& the_case, std::size_t begin, std::size_t /*end*/) {
            return shrink_constant(the_case, begin, how, in_arguments);
          },
          /*is_joint=*/false};
}

}  // namespace

std::vector<ReductionPass> size_passes() {
  return {{"symbols for numbers", count_symbols, bind_symbols},
          call_size_pass("sizes of calls to 2", Smaller::kTwo),
          call_size_pass("sizes of calls to 1", Smaller::kOne),
          call_size_pass("sizes of calls to 3", Smaller::kThree),
          call_size_pass("half the sizes of calls", Smaller::kHalf),
          call_size_pass("sizes of calls less one", Smaller::kOneLess),
          constant_pass("sizes to 2", Smaller::kTwo, /*in_arguments=*/true),
          constant_pass("sizes to 2, arguments apart", Smaller::kTwo, /*in_arguments=*/false),
          constant_pass("sizes to 1", Smaller::kOne, /*in_arguments=*/true),
          constant_pass("sizes to 1, arguments apart", Smaller::kOne, /*in_arguments=*/false),
          constant_pass("half the sizes", Smaller::kHalf, /*in_arguments=*/true),
          constant_pass("half the sizes, arguments apart", Smaller::kHalf,
                        /*in_arguments=*/false)};
}

}  // namespace graphgate::fuzz
