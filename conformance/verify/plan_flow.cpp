#include "conformance/verify/plan_flow.h"

#include <algorithm>
#include <map>

#include "conformance/verify/node_match.h"
#include "spec/loops.h"

namespace graphgate::verify {
namespace {

using spec::BufferId;
using spec::Node;
using spec::Plan;
using spec::ValueId;

const ByteSet& everything() {
  static const ByteSet kAll{{{0, kNoEnd}}, true};
  return kAll;
}

class FlowWalk {
 public:
  FlowWalk(const Accesses& accesses, const spec::OpTable& ops, const GraphFacts* facts)
      : accesses_(accesses), plan_(*accesses.plan), ops_(ops), facts_(facts) {
    frames_.resize(plan_.blocks.size());
    maps_.resize(plan_.buffers.size());
    root_of_buffer_.resize(plan_.buffers.size());
    for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b) root_of_buffer_[b] = b;
    flow_.writers_of_buffer.resize(plan_.buffers.size());
    flow_.numbers.resize(plan_.values.size());
    flow_.nodes.reserve(accesses.uses.size());
    flow_.tokens.reserve(plan_.inputs.size() + accesses.uses.size());
    flow_.reads.reserve(accesses.all.size());
    flow_.ends.reserve(plan_.inputs.size() + 2 * plan_.outputs.size());
  }

  PlanFlow walk() {
    for (std::uint32_t i = 0; i < plan_.inputs.size(); ++i) bind_input(i);
    if (facts_ != nullptr) frames_[0] = 0;
    walk_block(0);
    for (std::uint32_t i = 0; i < plan_.outputs.size(); ++i) {
      add_end(FlowEnd::What::kOutput, 0, i, plan_.outputs[i]);
    }
    for (std::uint32_t i = 0; i < plan_.inputs.size(); ++i) {
      const spec::PlanInput& input = plan_.inputs[i];
      if (input.constant) continue;
      const ValueId value = input.final_value.value_or(input.value);
      add_end(FlowEnd::What::kFinal, 0, i, spec::Argument{value});
    }
    return std::move(flow_);
  }

 private:
  void bind_input(std::uint32_t index) {
    const spec::PlanInput& input = plan_.inputs[index];
    if (input.constant) return;
    const Writer token = add_token({TokenKind::kInput, index, 0, {}});
    const spec::PlanValue& value = plan_.values[input.value.index];
    if (!value.buffer) {
      flow_.numbers[input.value.index] = token;
      return;
    }
    maps_[value.buffer->index].begin_with(bytes_of_value(input.value), token);
    flow_.writers_of_buffer[value.buffer->index].push_back(token);
  }

  void walk_block(std::uint32_t block) {
    for (const spec::PlanPartition& partition : plan_.blocks[block].partitions) {
      for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) walk_step(i, block);
    }
    for (std::uint32_t i = 0; i < plan_.blocks[block].outputs.size(); ++i) {
      add_end(FlowEnd::What::kBlockOutput, block, i, plan_.blocks[block].outputs[i]);
    }
  }

  void walk_step(std::uint32_t index, std::uint32_t block) {
    const spec::PlanStep& step = plan_.steps[index];
    const auto& all = accesses_.all;
    if (at_ < all.size() && all[at_].kind == AccessKind::kWorkspace) ++at_;
    if (step.body.empty()) walk_node(step.node, index, std::nullopt, block);
    for (std::uint32_t i = 0; i < step.body.size(); ++i) walk_node(step.body[i], index, i, block);
    walk_arms(step.node, block);
    inner_maps_.clear();
    inner_roots_.clear();
  }

  void walk_arms(const Node& node, std::uint32_t block) {
    std::vector<std::uint32_t> arms;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* id = named.argument.as<spec::SubgraphId>();
      if (id == nullptr) continue;
      bind_frame(node, block, static_cast<std::uint32_t>(arms.size()), id->index);
      arms.push_back(id->index);
    }
    std::vector<std::uint32_t> apart;  // a block may be the arm of both ways
    for (const std::uint32_t arm : arms) {
      if (std::ranges::find(apart, arm) == apart.end()) apart.push_back(arm);
    }
    if (apart.empty()) return;
    if (spec::is_loop(node.op)) return walk_loop(node, apart);
    const std::vector<ContentMap> before = maps_;
    std::vector<ContentMap> joined;
    for (const std::uint32_t arm : apart) {
      maps_ = before;
      walk_block(arm);
      if (joined.empty()) {
        joined = maps_;
      } else {
        for (std::size_t b = 0; b < joined.size(); ++b) joined[b].merge(maps_[b]);
      }
    }
    maps_ = std::move(joined);
    write_heap_results(node);
  }

  // An iteration finds what was there before the loop, or what the one before left: the blocks are
  // walked until no buffer holds anything more. Only the last walk stays.
  void walk_loop(const Node& node, const std::vector<std::uint32_t>& blocks) {
    const std::size_t at = at_;
    const std::size_t nodes = flow_.nodes.size();
    const std::size_t reads = flow_.reads.size();
    const std::size_t ends = flow_.ends.size();
    std::vector<ContentMap> before = maps_;
    std::vector<ContentMap> behind_condition;
    ++loops_around_;
    for (;;) {
      for (const std::uint32_t block : blocks) {
        walk_block(block);
        if (block == blocks.front()) behind_condition = maps_;
      }
      std::vector<ContentMap> joined = before;
      for (std::size_t b = 0; b < joined.size(); ++b) joined[b].merge(maps_[b]);
      if (joined == before) break;
      at_ = at;
      flow_.nodes.resize(nodes);
      flow_.reads.resize(reads);
      flow_.ends.resize(ends);
      before = joined;
      maps_ = std::move(joined);
    }
    --loops_around_;
    if (node.op == spec::kWhileLoop) maps_ = std::move(behind_condition);
  }

  // The token of a node; in a loop the same in every walk.
  Writer token_of_node(std::uint32_t step, std::optional<std::uint32_t> body, Token token) {
    if (loops_around_ == 0) return add_token(std::move(token));
    const auto [known, is_new] = node_tokens_.try_emplace({step, body}, 0);
    if (is_new) return known->second = add_token(std::move(token));
    Token& before = flow_.tokens[known->second];
    token.reads = united(token.reads, before.reads);
    before = std::move(token);
    return known->second;
  }

  Writer token_of_passed(std::uint32_t node, Writer under) {
    if (loops_around_ == 0) return add_token({TokenKind::kPassed, node, under, {}});
    const auto [known, is_new] = passed_tokens_.try_emplace({node, under}, 0);
    if (is_new) known->second = add_token({TokenKind::kPassed, node, under, {}});
    return known->second;
  }

  // Results of a conditional in a heap are what the arm that ran results in.
  void write_heap_results(const Node& node) {
    std::uint32_t place = 0;
    std::vector<const spec::PlanBlock*> arms;
    for (const spec::NamedArgument& named : node.arguments) {
      const auto* id = named.argument.as<spec::SubgraphId>();
      if (id != nullptr) arms.push_back(&plan_.blocks[id->index]);
    }
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const std::uint32_t at = place++;
        const auto buffer = plan_.values[id.index].buffer;
        if (!buffer || !is_heap(*buffer)) continue;
        Writers writers;
        for (const spec::PlanBlock* arm : arms) {
          if (at >= arm->outputs.size()) continue;
          const auto* output = arm->outputs[at].as<ValueId>();
          if (output == nullptr) continue;
          for (const Content& content : read(*output)) writers = united(writers, content.writers);
        }
        maps_[buffer->index].write(Contents{{{0, kNoEnd}, writers, true}});
      }
    }
  }

  void bind_frame(const Node& node, std::uint32_t block, std::uint32_t arm, std::uint32_t inner) {
    if (facts_ == nullptr || !frames_[block]) return;
    const auto found = facts_->find(*frames_[block], node.name);
    if (!found) return;
    for (std::uint32_t f = 0; f < facts_->frames.size(); ++f) {
      const Frame& frame = facts_->frames[f];
      if (frame.conditional == found && frame.arm == arm) frames_[inner] = f;
    }
  }

  void walk_node(const Node& node, std::uint32_t step, std::optional<std::uint32_t> body,
                 std::uint32_t block) {
    const auto index = static_cast<std::uint32_t>(flow_.nodes.size());
    const NodeUse& use = accesses_.use_at(step, body);
    FlowNode flow{step, body, &node, use.row, NodeMatch::kExtra, std::nullopt, 0, false};
    if (facts_ != nullptr && frames_[block]) {
      match_node(plan_, ops_, *facts_, *frames_[block], block, flow);
    }
    flow.may_alias = use.row != nullptr && may_alias(*use.row) && !is_made_anew(flow);
    Token token{TokenKind::kNode, index, 0, {}};
    const std::size_t begin = at_;
    std::size_t end = at_;
    const auto& all = accesses_.all;
    while (end < all.size() && all[end].step == step && all[end].body == body &&
           all[end].kind != AccessKind::kWorkspace) {
      ++end;
    }
    at_ = end;
    for (std::size_t a = begin; a < end; ++a) {
      if (!all[a].reads || all[a].kind != AccessKind::kOperand) continue;
      FlowRead found{index, static_cast<std::uint32_t>(a), read(*all[a].value),
                     is_exact(*all[a].value)};
      for (const Content& content : found.contents) {
        token.reads = united(token.reads, content.writers);
      }
      flow_.reads.push_back(std::move(found));
    }
    for (const OperandUse& operand : use.operands) {
      const auto& number = flow_.numbers[operand.value.index];
      if (number) token.reads = united(token.reads, {*number});
    }
    flow.token = token_of_node(step, body, std::move(token));
    flow_.nodes.push_back(flow);
    if (use.row == nullptr || !use.row->has_tag("inplace_view")) {
      write_all(flow, use, begin, end);
    }
    for (const spec::NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        const auto kind = plan_.values[id.index].value.kind;
        if (kind != spec::ValueKind::kTensor) flow_.numbers[id.index] = flow.token;
      }
    }
  }

  static bool may_alias(const spec::OpRow& row) {
    if (!row.undeclared_aliases.empty()) return true;
    return row.effects.is_view;
  }

  // In the graph, as it ran, no result lies over an operand: `to` another dtype copies.
  bool is_made_anew(const FlowNode& flow) const {
    if (flow.match != NodeMatch::kSame || !flow.graph_node) return false;
    const NodeFact& fact = facts_->nodes[*flow.graph_node];
    return std::ranges::none_of(fact.results, [&](const ResultFact& result) {
      return std::ranges::any_of(fact.operands, [&](const OperandFact& use) {
        return use.tensor && use.tensor->storage == result.storage;
      });
    });
  }

  void write_all(const FlowNode& flow, const NodeUse& use, std::size_t begin, std::size_t end) {
    const auto first = accesses_.all.begin() + static_cast<std::ptrdiff_t>(begin);
    for (std::size_t a = begin; a < end; ++a) {
      const Access& access = accesses_.all[a];
      const auto is_it = [&](const Access& other) {
        return other.writes && other.value == access.value;
      };
      if (!access.writes ||
          std::any_of(first, first + static_cast<std::ptrdiff_t>(a - begin), is_it))
        continue;
      if (access.makes && (alias_heap(flow, use, access) || alias_inner(flow, use, access)))
        continue;
      bool certain = access.kind == AccessKind::kResult;
      if (!certain && use.row != nullptr) {
        const auto argument =
            use.row->schema.find_argument(flow.node->arguments[access.argument].name);
        certain = argument && use.row->effects.mutates(*argument);
      }
      if (!access.makes && flow.match == NodeMatch::kRewritten) pass_others(*access.value);
      write(*access.value, flow.token, access.makes, certain);
    }
  }

  // A view that only the call can size lies where its operand lies.
  bool alias_heap(const FlowNode& flow, const NodeUse& use, const Access& access) {
    if (!flow.may_alias || !access.buffer || !is_heap(*access.buffer)) return false;
    for (const OperandUse& operand : use.operands) {
      const auto buffer = plan_.values[operand.value.index].buffer;
      if (!buffer) continue;
      root_of_buffer_[access.buffer->index] = root_of_buffer_[buffer->index];
      return true;
    }
    return false;
  }

  // A view of an inner value, likewise: it sees what is written later.
  bool alias_inner(const FlowNode& flow, const NodeUse& use, const Access& access) {
    if (!flow.may_alias || access.buffer) return false;
    for (const OperandUse& operand : use.operands) {
      if (!inner_maps_.contains(inner_root(operand.value))) continue;
      inner_roots_[access.value->index] = inner_root(operand.value);
      return true;
    }
    return false;
  }

  std::uint32_t inner_root(ValueId id) const {
    const auto root = inner_roots_.find(id.index);
    return root != inner_roots_.end() ? root->second : id.index;
  }

  // Bytes of the buffer that an update leaves alone belong to the updated value all the same.
  void pass_others(ValueId value) {
    const auto buffer = plan_.values[value.index].buffer;
    if (!buffer || is_heap(*buffer)) return;
    std::map<Writer, Writer> passed;
    const std::uint32_t node = static_cast<std::uint32_t>(flow_.nodes.size() - 1);
    maps_[buffer->index].change({0, plan_.buffers[buffer->index].size_bytes}, [&](Writer under) {
      const auto [entry, is_new] = passed.try_emplace(under, 0);
      if (is_new) entry->second = token_of_passed(node, under);
      return entry->second;
    });
  }

  bool is_heap(BufferId id) const {
    return plan_.pools[plan_.buffers[id.index].pool.index].kind == spec::PoolKind::kHeap;
  }

  // Whether the bytes that read() tells of are those of the value, and no others.
  bool is_exact(ValueId id) const {
    const auto buffer = plan_.values[id.index].buffer;
    return buffer && !is_heap(*buffer) && accesses_.is_known[id.index] &&
           accesses_.value_bytes[id.index].exact;
  }

  const ByteSet& bytes_of_value(ValueId id) const {
    return is_exact(id) ? accesses_.value_bytes[id.index] : everything();
  }

  Contents read(ValueId id) const {
    const auto buffer = plan_.values[id.index].buffer;
    if (!buffer) {
      const auto inner = inner_maps_.find(inner_root(id));
      return inner != inner_maps_.end() ? inner->second.read_all() : Contents{};
    }
    if (is_exact(id)) return maps_[buffer->index].read(accesses_.value_bytes[id.index]);
    return maps_[root_of_buffer_[buffer->index]].read_all();
  }

  void write(ValueId id, Writer token, bool makes, bool certain) {
    const auto buffer = plan_.values[id.index].buffer;
    if (!buffer) {
      ContentMap& inner = inner_maps_[inner_root(id)];
      if (inner_root(id) == id.index) {
        inner.write(everything(), token);
      } else {
        inner.may_write(everything(), token);
      }
      return;
    }
    const std::uint32_t root = root_of_buffer_[buffer->index];
    flow_.writers_of_buffer[root].push_back(token);
    const ByteSet& bytes = bytes_of_value(id);
    if (certain && (makes || is_exact(id))) {
      maps_[root].write(bytes, token);
    } else {
      maps_[root].may_write(bytes, token);
    }
  }

  void add_end(FlowEnd::What what, std::uint32_t block, std::uint32_t index,
               const spec::Argument& argument) {
    const auto* id = argument.as<ValueId>();
    if (id == nullptr || !plan_.values[id->index].buffer) return;
    flow_.ends.push_back({what, block, index, *id, read(*id), is_exact(*id)});
  }

  Writer add_token(Token token) {
    flow_.tokens.push_back(std::move(token));
    return static_cast<Writer>(flow_.tokens.size() - 1);
  }

  const Accesses& accesses_;
  const Plan& plan_;
  const spec::OpTable& ops_;
  const GraphFacts* facts_;
  PlanFlow flow_;
  std::size_t at_ = 0;  // into Accesses::all
  std::size_t loops_around_ = 0;
  std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, Writer>
      node_tokens_;                                                   // in loops
  std::map<std::pair<std::uint32_t, Writer>, Writer> passed_tokens_;  // likewise, by node, under
  std::vector<std::optional<std::uint32_t>> frames_;                  // of the graph, by block
  std::vector<ContentMap> maps_;                                      // by buffer
  std::vector<std::uint32_t> root_of_buffer_;           // of heap buffers: where they lie
  std::map<std::uint32_t, ContentMap> inner_maps_;      // of the running step, by value
  std::map<std::uint32_t, std::uint32_t> inner_roots_;  // what views among them are views of
};

}  // namespace

PlanFlow flow_of(const Accesses& accesses, const spec::OpTable& ops, const GraphFacts* facts) {
  return FlowWalk(accesses, ops, facts).walk();
}

}  // namespace graphgate::verify
