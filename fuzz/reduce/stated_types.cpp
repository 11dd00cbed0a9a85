#include "fuzz/reduce/stated_types.h"

#include <algorithm>
#include <map>

#include "conformance/run/input_layout.h"

namespace graphgate::fuzz {
namespace {

using spec::Program;
using spec::ProvenanceRow;
using spec::SymExpr;
using spec::TensorType;

// Sizes as numbers, to be said in symbols.
class Wording {
 public:
  Wording(const Program& program, const conformance::CallRecord& call) {
    for (const auto& [name, value] : conformance::symbols_of(program, call.inputs)) {
      // Of two symbols with one value, and of sizes 0 and 1, nobody can tell which is meant.
      const bool is_new = value > 1 && symbols_.emplace(value, name).second;
      if (!is_new) symbols_[value].clear();
    }
  }

  [[nodiscard]] SymExpr size(std::int64_t value) const {
    const auto found = symbols_.find(value);
    if (found == symbols_.end() || found->second.empty()) return value;
    return SymExpr::symbol(found->second);
  }
  [[nodiscard]] bool is_plain() const { return symbols_.empty(); }

 private:
  std::map<std::int64_t, std::string> symbols_;
};

std::vector<SymExpr> row_major(const std::vector<SymExpr>& sizes) {
  std::vector<SymExpr> out(sizes.size(), SymExpr(1));
  for (std::size_t d = sizes.size(); d-- > 1;) {
    const SymExpr& next = out[d];
    if (next.is_constant() && sizes[d].is_constant()) {
      out[d - 1] = next.constant() * std::max<std::int64_t>(sizes[d].constant(), 1);
    } else if (next.is_constant() && next.constant() == 1) {
      out[d - 1] = sizes[d];
    } else {
      out[d - 1] = SymExpr::apply(spec::SymOp::kMul, {next, sizes[d]});
    }
  }
  return out;
}

std::optional<TensorType> type_of(const ProvenanceRow& row, const Wording& wording,
                                  const spec::Device& device) {
  TensorType type;
  type.dtype = row.dtype;
  type.device = device;
  for (const std::int64_t size : row.sizes) type.sizes.push_back(wording.size(size));
  const bool is_row_major =
      row.storage_offset == 0 && row.strides == spec::contiguous_strides(row.sizes);
  if (is_row_major) {
    type.strides = row_major(type.sizes);
    return type;
  }
  if (!wording.is_plain()) return std::nullopt;
  type.strides.assign(row.strides.begin(), row.strides.end());
  type.storage_offset = row.storage_offset;
  return type;
}

// Of the first tensor among the inputs; programs on several devices state their types.
spec::Device device_of(const Program& program) {
  for (const spec::ValueId id : program.graph.inputs) {
    const auto& type = program.graph.value(id).type;
    if (type) return type->device;
  }
  return {};
}

void state_types(Program& program, const conformance::CallRecord& call) {
  const Wording wording(program, call);
  const spec::Device device = device_of(program);
  std::map<std::pair<std::string, std::string>, const ProvenanceRow*> rows;
  for (const ProvenanceRow& row : call.result.provenance) {
    // A node that runs twice, and one of the same name in an arm, make no single type.
    const auto [at, is_new] = rows.emplace(std::pair(row.node, row.port), &row);
    if (!is_new) at->second = nullptr;
  }
  for (const spec::Node& node : program.graph.nodes) {
    std::size_t port = 0;
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) {
        spec::Value& value = program.graph.values[id.index];
        const auto found = rows.find({node.name, "result " + std::to_string(port++)});
        const bool is_open = value.kind == spec::ValueKind::kTensor && !value.type;
        if (!is_open || found == rows.end() || !found->second) continue;
        value.type = type_of(*found->second, wording, device);
      }
    }
  }
}

}  // namespace

spec::CaseFile with_stated_types(const spec::CaseFile& the_case, const CaseExecutors& executors) {
  spec::CaseFile out = the_case;
  const auto trace = run_reference(the_case, executors, "provenance");
  if (!trace.ok()) return out;
  std::vector<bool> done(out.programs.size(), false);
  for (const conformance::CallRecord& call : trace.value().calls) {
    if (done[call.program]) continue;
    done[call.program] = true;
    state_types(out.programs[call.program], call);
  }
  return spec::check_case(out).ok() ? out : the_case;
}

}  // namespace graphgate::fuzz
