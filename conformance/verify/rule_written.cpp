// V1: what is read or returned was made before, in the same run.
#include "conformance/verify/rule_families.h"

namespace graphgate::verify {
namespace {

// Bytes that only a run fills: arenas and heaps. State, input slots and the caller's own bytes hold
// something before it.
bool begins_empty(const spec::Plan& plan, spec::BufferId buffer) {
  const spec::PoolKind kind = plan.pools[plan.buffers[buffer.index].pool.index].kind;
  return kind == spec::PoolKind::kArena || kind == spec::PoolKind::kHeap;
}

// The first bytes without a writer.
std::optional<ByteRange> unwritten(const Contents& contents) {
  for (const Content& content : contents) {
    if (content.writers.empty()) return content.range;
  }
  return std::nullopt;
}

// Bytes of which nobody but the conditional that they are a result of says that they are there: no
// arm has written them.
std::optional<ByteRange> unwritten_result(const PlanFlow& flow, std::uint32_t block,
                                          const Contents& contents) {
  for (const Content& content : contents) {
    for (const Writer writer : content.writers) {
      const Token& token = flow.tokens[writer];
      if (token.kind != TokenKind::kNode) continue;
      const FlowNode& node = flow.nodes[token.index];
      for (const spec::NamedArgument& named : node.node->arguments) {
        const auto* arm = named.argument.as<spec::SubgraphId>();
        if (arm != nullptr && arm->index == block) return content.range;
      }
    }
  }
  return std::nullopt;
}

spec::Finding finding_of(const spec::Plan& plan, std::string rule, std::string message,
                         spec::BufferId buffer, ByteRange range) {
  spec::Finding finding{.rule = std::move(rule), .message = std::move(message)};
  const std::string& name = plan.buffers[buffer.index].name;
  finding.buffers.push_back(name);
  finding.ranges.push_back({name, range.begin_bytes, range.end_bytes});
  return finding;
}

void check_end(const RuleCase& rule_case, const FlowEnd& end, Findings& out) {
  const spec::Plan& plan = rule_case.plan();
  const spec::BufferId buffer = *plan.values[end.value.index].buffer;
  if (end.what == FlowEnd::What::kFinal) return;
  auto range = unwritten(end.contents);
  const bool is_arm = end.what == FlowEnd::What::kBlockOutput && end.block != 0;
  if (!range && is_arm) {
    range = unwritten_result(*rule_case.flow, end.block, end.contents);
  }
  if (!range || !begins_empty(plan, buffer)) return;
  const std::string what =
      (is_arm ? "block '" + plan.blocks[end.block].name + "' results in " : "") +
      value_name(plan, end.value);
  const std::string message =
      (is_arm ? what : "output " + std::to_string(end.index) + ", " + what + ", is returned") +
      ", but no step writes bytes " + range_text(*range) + " of " + buffer_name(plan, buffer) +
      " before";
  out.push_back(finding_of(plan, "V1.unwritten-output", message, buffer, *range));
}

}  // namespace

void check_written(const RuleCase& rule_case, Findings& out) {
  const spec::Plan& plan = rule_case.plan();
  for (const FlowRead& read : rule_case.flow->reads) {
    const Access& access = rule_case.accesses.all[read.access];
    if (!access.buffer || !begins_empty(plan, *access.buffer)) continue;
    const auto range = unwritten(read.contents);
    if (!range) continue;
    const std::string message = rule_case.accesses.place_of(access) + " reads " +
                                value_name(plan, *access.value) +
                                ", but no step before it writes bytes " + range_text(*range) +
                                " of " + buffer_name(plan, *access.buffer);
    out.push_back(finding_of(plan, "V1.unwritten-read", message, *access.buffer, *range));
    out.back().nodes.push_back(rule_case.accesses.node_of(access).name);
  }
  for (const FlowEnd& end : rule_case.flow->ends) check_end(rule_case, end, out);
}

}  // namespace graphgate::verify
