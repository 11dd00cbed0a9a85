// Data: what is drawn from a seed takes no line, plain numbers are better than odd ones, and
// float32 and int64 better than other dtypes, complex64 better than complex128.
#include <algorithm>
#include <set>

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;
using spec::DType;
using spec::Program;

struct EntryPlace {
  std::size_t set = 0;
  std::size_t entry = 0;
};

std::vector<EntryPlace> entries_of(const CaseFile& the_case) {
  std::vector<EntryPlace> out;
  for (std::size_t s = 0; s < the_case.inputs.size(); ++s) {
    for (std::size_t e = 0; e < the_case.inputs[s].inputs.size(); ++e) out.push_back({s, e});
  }
  return out;
}

Candidate drop_entries(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  const std::vector<EntryPlace> places = entries_of(the_case);
  CaseFile out = the_case;
  for (std::size_t i = end; i-- > begin;) {
    auto& inputs = out.inputs[places[i].set].inputs;
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(places[i].entry));
  }
  return out;
}

// ---- elements of programs

Candidate draw_state(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (std::size_t p = begin; p < end; ++p) {
    Program& program = out.programs[p];
    program.tensors.clear();
    std::erase_if(out.weights,
                  [&](const auto& weights) { return weights.program == program.name; });
    out.weights.push_back({program.name, spec::SeededData{1}});
  }
  tidy_case(out);
  return out;
}

// ---- seeds

Candidate plain_seeds(const CaseFile& the_case, std::size_t /*index*/) {
  CaseFile out = the_case;
  out.seed = 1;
  for (spec::CaseWeights& weights : out.weights) {
    if (auto* seeded = std::get_if<spec::SeededData>(&weights.source)) seeded->seed = 1;
  }
  return out;
}

// ---- elements of literals

std::size_t count_literals(const CaseFile& the_case) {
  CaseFile copy = the_case;
  return literals_of(copy).size();
}

// Storages shared by aliases stay shared: all of them are looked up in `plain`.
using Storages =
    std::vector<std::pair<const spec::HostStorage*, std::shared_ptr<spec::HostStorage>>>;

Candidate zero_literals(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  const std::vector<spec::HostTensor*> literals = literals_of(out);
  Storages plain;
  for (std::size_t i = begin; i < end; ++i) {
    auto& storage = literals[i]->storage;
    auto zeros = std::make_shared<spec::HostStorage>();
    zeros->bytes.resize(storage->bytes.size());
    plain.emplace_back(storage.get(), std::move(zeros));
  }
  for (spec::HostTensor* tensor : literals) {
    const auto found = std::find_if(plain.begin(), plain.end(), [&](const auto& row) {
      return row.first == tensor->storage.get();
    });
    if (found != plain.end()) tensor->storage = found->second;
  }
  return out;
}

// ---- dtypes

bool has_dtype(const spec::Graph& graph, DType dtype) {
  return std::any_of(
             graph.values.begin(), graph.values.end(),
             [&](const spec::Value& value) { return value.type && value.type->dtype == dtype; }) ||
         std::any_of(graph.subgraphs.begin(), graph.subgraphs.end(),
                     [&](const spec::Graph& subgraph) { return has_dtype(subgraph, dtype); });
}

std::vector<DType> odd_dtypes_of(const CaseFile& the_case) {
  std::vector<DType> out;
  for (int d = 0; d < spec::kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    const bool is_odd = dtype != DType::kFloat32 && dtype != DType::kInt64 && dtype != DType::kBool;
    const bool is_used = is_odd && std::any_of(the_case.programs.begin(), the_case.programs.end(),
                                               [&](const Program& program) {
                                                 return has_dtype(program.graph, dtype);
                                               });
    if (is_used) out.push_back(dtype);
  }
  return out;
}

void change_dtype(spec::Argument& argument, DType before, DType after) {
  if (auto* dtype = std::get_if<DType>(&argument.value)) {
    if (*dtype == before) *dtype = after;
  }
  if (auto* list = std::get_if<spec::Argument::List>(&argument.value)) {
    for (spec::Argument& element : *list) change_dtype(element, before, after);
  }
}

void change_dtype(spec::Graph& graph, DType before, DType after) {
  for (spec::Value& value : graph.values) {
    if (value.type && value.type->dtype == before) value.type->dtype = after;
  }
  for (spec::Node& node : graph.nodes) {
    for (spec::NamedArgument& named : node.arguments) change_dtype(named.argument, before, after);
  }
  for (spec::Graph& subgraph : graph.subgraphs) change_dtype(subgraph, before, after);
}

DType simpler(DType dtype) {
  if (dtype == DType::kComplex128) return DType::kComplex64;
  const bool is_whole = spec::is_integral(dtype);
  return is_whole ? DType::kInt64 : DType::kFloat32;
}

// Literals of that dtype are drawn instead. complex128 goes with float64: one is seen as the other.
Candidate change_dtypes(const CaseFile& the_case, std::size_t index) {
  const DType before = odd_dtypes_of(the_case)[index];
  const DType after = simpler(before);
  const auto is_changed = [&](DType dtype) {
    return dtype == before || (before == DType::kFloat64 && dtype == DType::kComplex128);
  };
  CaseFile out = the_case;
  for (spec::InputSet& set : out.inputs) {
    std::erase_if(set.inputs, [&](const spec::CaseInput& input) {
      const auto* tensor = std::get_if<spec::HostTensor>(&input.data);
      return tensor && is_changed(tensor->dtype);
    });
  }
  for (Program& program : out.programs) {
    change_dtype(program.graph, before, after);
    if (before == DType::kFloat64) {
      change_dtype(program.graph, DType::kComplex128, DType::kComplex64);
    }
    forget_result_types(program.graph);
    const bool has_literals =
        std::any_of(program.tensors.begin(), program.tensors.end(),
                    [&](const auto& row) { return is_changed(row.second.dtype); });
    if (!has_literals) continue;
    program.tensors.clear();
    out.weights.push_back({program.name, spec::SeededData{1}});
  }
  return out;
}

}  // namespace

std::vector<ReductionPass> data_passes() {
  return {{"entries of input sets", count_of<entries_of>, drop_entries},
          {"state for a seed", count_programs, draw_state},
          single_pass("dtypes", count_of<odd_dtypes_of>, change_dtypes),
          {"elements for zeros", count_literals, zero_literals},
          single_pass(
              "seeds", [](const CaseFile&) { return std::size_t{1}; }, plain_seeds)};
}

}  // namespace graphgate::fuzz
