// Sizes: smaller numbers, everywhere in a program at once.
#include <algorithm>
#include <set>

#include "fuzz/reduce/expr_edit.h"
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::Graph;
using spec::Program;
using spec::SymExpr;
using spec::TensorType;

// ---- smaller numbers

enum class Smaller { kTwo, kOne, kThree, kHalf, kOneLess };

std::optional<std::int64_t> smaller(std::int64_t size, Smaller how) {
  const std::int64_t choices[] = {2, 1, 3, size / 2, size - 1};  // in the order of Smaller
  const std::int64_t out = choices[static_cast<std::size_t>(how)];
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

bool change_literals(CaseFile& the_case, const Program& program, const SizeChange& change) {
  const std::vector<spec::HostTensor*> literals = literals_of(the_case, program.name);
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
  return single_pass(name, count_of<call_sizes>, [how](const CaseFile& the_case, std::size_t i) {
    return shrink_call_size(the_case, i, how);
  });
}

ReductionPass constant_pass(const char* name, Smaller how, bool in_arguments) {
  return single_pass(name, count_of<constants_of>,
                     [how, in_arguments](const CaseFile& the_case, std::size_t i) {
                       return shrink_constant(the_case, i, how, in_arguments);
                     });
}

}  // namespace

std::vector<ReductionPass> size_passes() {
  return {call_size_pass("sizes of calls to 2", Smaller::kTwo),
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
