#include "optimized/passes/pass_manager.h"

#include <algorithm>
#include <exception>
#include <new>

#include "base/sha256.h"

namespace graphgate::optimized {
namespace {

using spec::ValueId;

// Every output is still there, and everything is made once, before it is read. Returns what is
// wrong, or "".
std::string fault_of(const spec::Graph& graph) {
  std::vector<bool> is_made(graph.values.size(), false);
  // The first value that nobody made before it is read.
  const auto missing_in = [&](const auto& values_of) {
    std::optional<ValueId> missing;
    values_of([&](ValueId id) {
      const bool is_there = id.index < is_made.size() && is_made[id.index];
      if (!missing && !is_there) missing = id;
    });
    return missing;
  };
  const auto say = [&](const std::string& reader, ValueId id) {
    return id.index >= is_made.size()
               ? reader + " reads a value that is not in the graph"
               : reader + " reads %" + graph.value(id).name + ", which nothing makes before";
  };
  for (const ValueId id : graph.inputs) is_made[id.index] = true;
  for (const spec::Node& node : graph.nodes) {
    const auto missing = missing_in([&](const auto& visit) { for_each_operand(node, visit); });
    if (missing) return say("node '" + node.name + "'", *missing);
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        if (id.index >= is_made.size() || is_made[id.index]) {
          return "node '" + node.name + "' makes a value that is made already, or unknown";
        }
        is_made[id.index] = true;
      }
    }
  }
  for (const spec::Argument& output : graph.outputs) {
    const auto missing = missing_in([&](const auto& visit) { for_each_value(output, visit); });
    if (missing) return say("an output", *missing);
  }
  return "";
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// What a built-in pass says that it left alone is looked at again on request alone: `is_checked`.
Result<void> run_on(const Pass& pass, bool is_builtin, bool is_checked, spec::Graph& graph,
                    PassContext& context) {
  for (spec::Graph& subgraph : graph.subgraphs) {
    GRAPHGATE_TRY_VOID(run_on(pass, is_builtin, is_checked, subgraph, context));
  }
  const auto fail = [&](const std::string& what) {
    return Error{is_builtin ? ErrorKind::kInternal : ErrorKind::kBadInput,
                 "pass '" + pass.name + "': " + what};
  };
  const std::size_t nodes = graph.nodes.size();
  const std::size_t outputs = graph.outputs.size();
  PassCount& count = context.counts[pass.name];
  const std::int64_t matches = count.matches;
  try {
    pass.run(graph, context);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the pass
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  count.nodes_removed +=
      static_cast<std::int64_t>(nodes) - static_cast<std::int64_t>(graph.nodes.size());
  if (graph.outputs.size() != outputs) return fail("it changed the number of outputs");
  const bool changed = count.matches != matches || graph.nodes.size() != nodes;
  if (is_builtin && !is_checked && !changed) return {};
  const std::string fault = fault_of(graph);
  return fault.empty() ? Result<void>() : fail(fault);
}

}  // namespace

PassManager::Entry* PassManager::find(std::string_view name) {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.pass.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

Result<void> PassManager::insert(Entry entry, std::size_t at) {
  const Pass& pass = entry.pass;
  if (pass.name.empty()) return bad_input("a pass has no name");
  if (pass.version.empty()) return bad_input("pass '" + pass.name + "' has no version");
  if (!pass.run) return bad_input("pass '" + pass.name + "' has no function");
  if (find(pass.name)) return bad_input("there is a pass '" + pass.name + "' already");
  entry.is_on = pass.is_default;
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), std::move(entry));
  return {};
}

Result<void> PassManager::add(Pass pass) {
  return insert({std::move(pass), true, false}, entries_.size());
}

Result<void> PassManager::add(const PassManager& /*manager*/) {
  return bad_input(
      "a pass manager was put where a pass belongs: add its passes one by one, so that each stands "
      "in the cache key");
}

Result<void> PassManager::turn(const PassOptions& options) {
  std::vector<std::string> known;
  known.reserve(entries_.size());
  for (const Entry& entry : entries_) known.push_back(entry.pass.name);
  const auto set = [&](const std::vector<std::string>& names, bool is_on) -> Result<void> {
    for (const std::string& name : names) {
      Entry* entry = find(name);
      if (!entry) return bad_input("unknown pass '" + name + "'; there are " + list_of(known));
      entry->is_on = is_on;
    }
    return {};
  };
  GRAPHGATE_TRY_VOID(set(options.enabled, true));
  GRAPHGATE_TRY_VOID(set(options.disabled, false));
  for (const std::string& name : options.disabled) {
    const auto& on = options.enabled;
    if (std::ranges::find(on, name) != on.end()) {
      return bad_input("pass '" + name + "' is disabled and enabled");
    }
  }
  return {};
}

Result<PassManager> PassManager::make(const PassOptions& options) {
  if (options.range && options.range->begin >= options.range->end) {
    return bad_input("the range of sizes [" + std::to_string(options.range->begin) + ", " +
                     std::to_string(options.range->end) + ") is empty");
  }
  PassManager manager;
  manager.range_ = options.range;
  for (Pass& pass : builtin_passes()) {
    GRAPHGATE_TRY_VOID(manager.insert({std::move(pass), true, true}, manager.entries_.size()));
  }
  for (const Pass& pass : options.user_passes) {
    GRAPHGATE_TRY_VOID(manager.insert({pass, true, false}, manager.entries_.size() - 1));
  }
  GRAPHGATE_TRY_VOID(manager.turn(options));
  return manager;
}

Result<void> PassManager::run(spec::Graph& graph, PassContext& context) const {
  if (!context.current.empty()) {
    return bad_input("pass '" + context.current +
                     "' runs a pass manager: a manager was put where a pass belongs");
  }
  const auto is_on = [](const Entry& entry) { return entry.is_on; };
  const auto first = std::ranges::find_if(entries_, is_on);
  const auto last = std::find_if(entries_.rbegin(), entries_.rend(), is_on);
  for (const Entry& entry : entries_) {
    if (!entry.is_on) continue;
    context.current = entry.pass.name;
    const bool is_at_an_end = &entry == &*first || &entry == &*last;
    Result<void> result = run_on(entry.pass, entry.is_builtin, is_at_an_end, graph, context);
    context.current.clear();
    if (!result.ok()) return result;
  }
  return {};
}

std::string PassManager::uuid() const {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += part;
    text += '\xff';  // no UTF-8 text holds it: parts cannot run into each other
  };
  for (const Entry& entry : entries_) {
    if (!entry.is_on) continue;
    add(entry.pass.name);
    add(entry.pass.version);
    add(entry.is_builtin ? "builtin" : "user");
  }
  if (range_) add(std::to_string(range_->begin) + ":" + std::to_string(range_->end));
  return sha256_hex(text).substr(0, 16);
}

std::vector<std::string> PassManager::names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) {
    if (entry.is_on) out.push_back(entry.pass.name);
  }
  return out;
}

std::optional<std::string> leading_symbol(const spec::Program& program) {
  for (const std::size_t i : program.inputs_of(spec::InputKind::kUserInput)) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.constant) continue;
    const spec::Value& value = program.graph.value(input.value);
    if (!value.type) continue;
    for (const spec::SymExpr& size : value.type->sizes) {
      if (size.op() == spec::SymOp::kSymbol) return size.name();
    }
  }
  return std::nullopt;
}

Result<spec::Graph> run_passes(const spec::Program& program, const spec::OpTable& ops,
                               const spec::DeviationSet& deviations, const PassOptions& options,
                               PassCounts* counts) {
  GRAPHGATE_TRY(const PassManager manager, PassManager::make(options));
  SymbolRanges symbols = program.symbols;
  if (const auto symbol = leading_symbol(program); options.range && symbol) {
    spec::SymbolInfo& info = symbols[*symbol];
    info.min = std::max(info.min, options.range->begin);
    info.max = std::min(info.max.value_or(options.range->end - 1), options.range->end - 1);
  }
  PassContext context(ops, deviations, std::move(symbols), options.range);
  spec::Graph graph = program.graph;
  GRAPHGATE_TRY_VOID(manager.run(graph, context));
  if (counts) *counts = std::move(context.counts);
  return graph;
}

}  // namespace graphgate::optimized
