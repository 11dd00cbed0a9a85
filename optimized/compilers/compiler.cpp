#include "optimized/compilers/compiler.h"

#include <algorithm>
#include <charconv>

#include "optimized/compilers/builtin_compilers.h"
#include "optimized/schedule/fuse.h"

namespace graphgate::optimized {
namespace {

struct BuiltIn {
  std::string_view name;
  std::shared_ptr<PartitionCompiler> (*make)();
};
constexpr BuiltIn kBuiltIns[] = {
    {"fused", make_fused_compiler},
    {"eager", make_eager_compiler},
    {"standalone", make_standalone_compiler},
};

// Every place of the partition in some launch, ascending within each.
Result<void> check_places(const CompiledPartition& compiled, std::size_t nodes) {
  std::vector<bool> found(nodes, false);
  for (const Launched& launch : compiled.launches) {
    if (launch.empty()) return bad_input("a launch without nodes");
    for (std::size_t i = 0; i < launch.size(); ++i) {
      if (launch[i] >= nodes) {
        return bad_input("node " + std::to_string(launch[i]) + " of " + std::to_string(nodes));
      }
      if (i > 0 && launch[i] <= launch[i - 1]) return bad_input("nodes of a launch out of order");
      found[launch[i]] = true;
    }
  }
  const auto left = std::ranges::find(found, false);
  if (left == found.end()) return {};
  return bad_input("node " + std::to_string(left - found.begin()) + " is in no launch");
}

Result<void> check_answer(const CompilerSource& source, const CompilerContext& context,
                          const CompiledPartition& compiled) {
  GRAPHGATE_TRY_VOID(check_places(compiled, source.nodes().size()));
  std::vector<bool> found(source.nodes().size(), false);
  for (const Launched& launch : compiled.launches) {
    for (const std::uint32_t place : launch) {
      const SizedNode& node = source.nodes()[place];
      const bool may_repeat = node.row != nullptr && node.row->effects.mutated().empty() &&
                              node.row->orders.empty() && node.row->hidden_state_writes.empty() &&
                              node.node.results.size() == 1 && !node.is_dynamic;
      if (found[place] && !may_repeat) {
        return bad_input("node '" + node.node.name + "' cannot run in several launches");
      }
      found[place] = true;
    }
  }
  for (const Launched& launch : compiled.launches) {
    if (launch.size() == 1) continue;
    std::vector<const SizedNode*> nodes;
    for (const std::uint32_t place : launch) nodes.push_back(&source.nodes()[place]);
    if (can_fuse(source.graph, nodes, context.deviations)) continue;
    return bad_input("the nodes from '" + nodes.front()->node.name + "' to '" +
                     nodes.back()->node.name + "' cannot run in one launch");
  }
  return {};
}

}  // namespace

Result<CompiledPartition> PartitionCompiler::load(std::string_view stored,
                                                  const CompilerSource& /*source*/,
                                                  const CompilerContext& /*context*/) {
  return parse_compiled(stored);
}

Result<void> validate(const CompilerOptions& options) {
  if (options.limits.nodes < 1 || options.limits.row_bytes < 1) {
    return bad_input("fusion limits must be at least 1");
  }
  if (options.own) return {};
  std::string names;
  for (const BuiltIn& built_in : kBuiltIns) {
    if (built_in.name == options.name) return {};
    names.append(names.empty() ? "" : ", ").append(built_in.name);
  }
  return bad_input("there is no compiler '" + options.name + "': there are " + names);
}

std::shared_ptr<PartitionCompiler> make_compiler(const CompilerOptions& options) {
  if (options.own) return options.own;
  const auto* found =
      std::find_if(std::begin(kBuiltIns), std::end(kBuiltIns),
                   [&](const BuiltIn& built_in) { return built_in.name == options.name; });
  GRAPHGATE_CHECK(found != std::end(kBuiltIns));
  return found->make();
}

std::string print_compiled(const CompiledPartition& compiled) {
  std::string text;
  for (const Launched& launch : compiled.launches) {
    text += "launch";
    for (const std::uint32_t place : launch) text += " " + std::to_string(place);
    text += '\n';
  }
  return text;
}

Result<CompiledPartition> parse_compiled(std::string_view text) {
  CompiledPartition compiled;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto fail = [&](std::string_view what) {
      return bad_input("line " + std::to_string(line) + ": expected " + std::string(what));
    };
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return fail("a line end");
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!rest.starts_with("launch ")) return fail("'launch' and places of nodes");
    rest.remove_prefix(6);
    Launched& launch = compiled.launches.emplace_back();
    while (!rest.empty()) {
      if (rest.front() != ' ') return fail("a blank between places");
      rest.remove_prefix(1);
      std::uint32_t place = 0;
      const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), place);
      if (error != std::errc()) return fail("the place of a node");
      rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
      launch.push_back(place);
    }
  }
  return compiled;
}

Result<void> compile_partitions(SizedGraph& graph, Partitions& partitions,
                                const CompilerOptions& options, const spec::OpTable& ops,
                                const spec::DeviationSet& deviations) {
  GRAPHGATE_TRY_VOID(validate(options));
  const auto compiler = make_compiler(options);
  const NodeAccesses accesses = accesses_of(graph);
  const StorageMentions mentions = count_mentions(graph, accesses);
  CompilerContext context{
      0, graph.symbols, accesses, mentions, options.limits, options.realize, deviations};
  std::vector<PartitionLaunches> all;
  for (std::uint32_t b = 0; b < partitions.blocks.size(); ++b) {
    for (std::uint32_t p = 0; p < partitions.blocks[b].size(); ++p) {
      const CompilerSource source{graph, b, partitions.blocks[b][p]};
      auto compiled = compiler->compile(source, context);
      // What is ours keeps the rules by the way it is made.
      auto checked = compiled.ok() ? Result<void>() : Result<void>(compiled.error());
      if (compiled.ok() && options.own) checked = check_answer(source, context, compiled.value());
      if (!checked.ok()) {
        return checked.error()
            .at("partition " + std::to_string(context.partition_index))
            .at("compiler '" + compiler->name() + "'");
      }
      all.push_back({b, p, std::move(compiled).value().launches});
      ++context.partition_index;
    }
  }
  fuse_launches(graph, partitions, all, ops, deviations);
  return {};
}

}  // namespace graphgate::optimized
