#include "optimized/analysis/accesses.h"

#include <algorithm>
#include <limits>

#include "optimized/binding.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();

// Visits what an access to the value touches.
template <class Visit>
void for_each_touched(const SizedGraph& graph, spec::ValueId id, Visit&& visit) {
  const SizedValue& value = graph.value(id);
  if (value.kind != spec::ValueKind::kTensor) return;
  if (!value.is_dynamic) {
    const ByteRange bytes = byte_range(value.tensor);
    if (bytes.begin < bytes.end) {
      visit(Access{value.tensor.storage, bytes, &value.tensor});
    } else if (graph.storages[value.tensor.storage].kind == StorageKind::kIntermediate) {
      // A tensor without elements has no bytes, but it is not there before its storage is made.
      visit(Access{value.tensor.storage, {0, 1}});
    }
    return;
  }
  graph.for_each_storage(id, [&](StorageIndex storage) {
    visit(Access{storage, {0, kEverything}});
  });
}

void add_tensor(const SizedGraph& graph, spec::ValueId id, std::vector<Access>& out) {
  for_each_touched(graph, id, [&](const Access& access) { out.push_back(access); });
}

void add_argument(const SizedGraph& graph, const spec::Argument& argument,
                  std::vector<Access>& out) {
  for_each_value(argument, [&](spec::ValueId id) { add_tensor(graph, id, out); });
}

// The name of a hidden state: what an argument of type str says, or the row's own word.
std::string state_name(const SizedNode& node, const std::string& state) {
  const auto argument = node.row->state_argument(state);
  if (!argument) return state;
  const std::string& name = node.row->schema.arguments[*argument].name;
  for (const spec::NamedArgument& named : node.node.arguments) {
    const auto* text = named.argument.as<std::string>();
    if (named.name == name && text) return state + "=" + *text;
  }
  return state;
}

void add_accesses(const SizedGraph& graph, const SizedNode& node, Accesses& out) {
  Accesses inner = accesses_of(graph, node);
  out.reads.insert(out.reads.end(), inner.reads.begin(), inner.reads.end());
  out.writes.insert(out.writes.end(), inner.writes.begin(), inner.writes.end());
  out.ordered_by.merge(inner.ordered_by);
}

void add_block(const SizedGraph& graph, const SizedBlock& block, Accesses& out) {
  for (const SizedNode& node : block.nodes) add_accesses(graph, node, out);
  for (const spec::Argument& output : block.outputs) add_argument(graph, output, out.reads);
}

Accesses accesses_of_conditional(const SizedGraph& graph, const SizedNode& node) {
  Accesses out;
  for (const spec::NamedArgument& named : node.node.arguments) {
    if (const auto* block = named.argument.as<spec::SubgraphId>()) {
      add_block(graph, graph.blocks[block->index], out);
    } else {
      add_argument(graph, named.argument, out.reads);
    }
  }
  return out;
}

void drop_inner(const SizedGraph& graph, std::vector<Access>& list) {
  std::erase_if(list, [&](const Access& access) {
    return graph.storages[access.storage].kind == StorageKind::kInner;
  });
}

// Marks the storages that a node of a row writes: those of accesses_of(), but for what it makes.
void mark_written(const SizedGraph& graph, const SizedNode& node, std::vector<bool>& written) {
  const bool declares_none = node.row->undeclared_writes.empty() && !node.row->effects.mutates();
  if (declares_none && !node.is_dynamic) return;
  SmallVector<StorageIndex, 8> read;
  const auto mark = [&](const Access& access) { written[access.storage] = true; };
  ArgumentFinder finder(node.node.arguments);
  for (std::size_t i = 0; i < node.row->schema.arguments.size(); ++i) {
    const spec::Argument* given = finder.find(node.row->schema.arguments[i].name);
    if (!given) continue;
    const bool reads = node.row->effects.arguments[i].reads;
    const bool writes = node.row->writes(i);
    for_each_value(*given, [&](spec::ValueId id) {
      for_each_touched(graph, id, [&](const Access& access) {
        if (reads) read.push_back(access.storage);
        if (writes) mark(access);
      });
    });
  }
  for_each_made(node.node, [&](spec::ValueId id) {
    const StorageIndex storage = graph.value(id).tensor.storage;
    if (std::ranges::find(read, storage) != read.end()) return;
    for_each_touched(graph, id, mark);
  });
}

// What the nodes of the body do to storages that are there outside of it.
Accesses accesses_of_fused(const SizedGraph& graph, const SizedNode& node) {
  Accesses out;
  for (const SizedNode& member : node.body) add_accesses(graph, member, out);
  drop_inner(graph, out.reads);
  drop_inner(graph, out.writes);
  return out;
}

}  // namespace

Accesses accesses_of(const SizedGraph& graph, const SizedNode& node) {
  Accesses out;
  if (node.is_fused()) return accesses_of_fused(graph, node);
  if (!node.row) {
    out = accesses_of_conditional(graph, node);
  } else {
    out.reads.reserve(node.node.arguments.size());
    ArgumentFinder finder(node.node.arguments);
    for (std::size_t i = 0; i < node.row->schema.arguments.size(); ++i) {
      const spec::Argument* given = finder.find(node.row->schema.arguments[i].name);
      if (!given) continue;
      if (node.row->effects.arguments[i].reads) add_argument(graph, *given, out.reads);
      if (node.row->writes(i)) add_argument(graph, *given, out.writes);
    }
    for (const std::string& state : node.row->hidden_state_reads) {
      out.ordered_by.insert(state_name(node, state));
    }
    for (const std::string& state : node.row->hidden_state_writes) {
      out.ordered_by.insert(state_name(node, state));
    }
    out.ordered_by.insert(node.row->orders.begin(), node.row->orders.end());
  }
  // What a node makes it writes, views among its results included.
  for (const spec::NodeResult& result : node.node.results) {
    for (const spec::ValueId id : result.values) {
      const bool is_operand = std::ranges::any_of(out.reads, [&](const Access& read) {
        return read.storage == graph.value(id).tensor.storage;
      });
      if (!is_operand) add_tensor(graph, id, out.writes);
    }
  }
  return out;
}

NodeAccesses accesses_of(const SizedGraph& graph) {
  NodeAccesses out;
  out.reserve(graph.blocks.size());
  for (const SizedBlock& block : graph.blocks) {
    auto& nodes = out.emplace_back();
    nodes.reserve(block.nodes.size());
    for (const SizedNode& node : block.nodes) nodes.push_back(accesses_of(graph, node));
  }
  return out;
}

std::vector<bool> written_states(const SizedGraph& graph) {
  std::vector<bool> written(graph.storages.size(), false);
  for (const SizedBlock& block : graph.blocks) {
    for (const SizedNode& node : block.nodes) {
      if (node.row) mark_written(graph, node, written);  // arms are blocks of their own
      for (const SizedNode& member : node.body) mark_written(graph, member, written);
    }
  }
  return written;
}

}  // namespace graphgate::optimized
