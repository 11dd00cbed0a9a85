// V4: every operand, output and final state holds the version that the graph's own order gives it.
//
// For each operand of each step, the writers that the graph names for its bytes are compared with
// the steps that wrote them in the plan's order. A read that comes too early or too late, a write
// that got lost, and an operand that was mixed up all show as a writer that nobody expects.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "conformance/verify/order_words.h"
#include "conformance/verify/rule_families.h"
#include "spec/loops.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

constexpr std::size_t kMaxElements = std::size_t{1} << 18;

// Contents of a tensor, element by element in row-major order: index into `contents`.
std::vector<std::uint32_t> content_of_elements(const spec::HostTensor& geometry,
                                               const Contents& contents) {
  std::vector<std::uint32_t> out;
  for (const std::int64_t offset : element_offsets_bytes(geometry)) {
    const auto after = std::upper_bound(
        contents.begin(), contents.end(), offset,
        [](std::int64_t at, const Content& content) { return at < content.range.begin_bytes; });
    out.push_back(
        after == contents.begin() ? 0 : static_cast<std::uint32_t>(after - contents.begin() - 1));
  }
  return out;
}

class OrderCheck {
 public:
  OrderCheck(const RuleCase& rule_case, Findings& out)
      : case_(rule_case),
        facts_(*rule_case.facts),
        plan_(rule_case.plan()),
        flow_(*rule_case.flow),
        lineage_(*rule_case.lineage),
        out_(out) {
    for (const FlowNode& node : flow_.nodes) {
      if (node.match == NodeMatch::kRewritten) rewritten_.emplace(*node.graph_node, &node);
    }
  }

  void check() {
    for (const FlowRead& read : flow_.reads) {
      const FlowNode& node = flow_.nodes[read.node];
      if (node.match == NodeMatch::kExtra || !node.graph_node || is_view(node)) continue;
      // Its places are filled by copies before it, and read in its blocks.
      if (spec::is_loop(node.node->op)) continue;
      check_read(read, node);
    }
    for (const FlowEnd& end : flow_.ends) {
      buffer_ = plan_.values[end.value.index].buffer;
      if (end.what == FlowEnd::What::kOutput) check_output(end);
      if (end.what == FlowEnd::What::kFinal) check_final(end);
    }
    buffer_.reset();
  }

 private:
  // It reads nothing when it runs: who reads the view sees what is there by then.
  bool is_view(const FlowNode& node) const {
    if (!node.may_alias) return false;
    for (const spec::NodeResult& result : node.node->results) {
      for (const spec::ValueId id : result.values) {
        const auto buffer = plan_.values[id.index].buffer;
        if (!buffer) continue;
        const spec::PlanPool& pool = plan_.pools[plan_.buffers[buffer->index].pool.index];
        if (pool.kind != spec::PoolKind::kHeap) return false;
      }
    }
    return true;
  }

  void check_read(const FlowRead& read, const FlowNode& node) {
    const NodeFact& fact = facts_.nodes[*node.graph_node];
    const OperandFact* operand =
        node.match == NodeMatch::kSame ? paired_operand(read, node, fact) : nullptr;
    std::optional<Mismatch> mismatch;
    Writers expected;
    buffer_ = case_.accesses.all[read.access].buffer;
    reader_ = node.match == NodeMatch::kRewritten ? &node : nullptr;
    if (operand != nullptr && operand->tensor) {
      expected = operand->tensor->writers();
      mismatch = compare(*operand->tensor, *case_.accesses.all[read.access].value, read.contents,
                         read.exact);
    } else {
      expected = lineage_.writers_read_by(*node.graph_node);
      // Of operands without elements nobody is known, and nothing can be wrong.
      const bool is_unknown = expected.empty() && !fact.operands.empty();
      if (!is_unknown) mismatch = first_unexpected(expected, read.contents, read.exact);
    }
    buffer_.reset();
    reader_ = nullptr;
    if (!mismatch || (node.row != nullptr && takes_no_byte(*node.row))) return;
    report_read(read, node, expected, *mismatch);
  }

  // Whether the token may be there for one of these writers.
  bool accepts(const Writers& expected, Writer token, ByteRange range) {
    if (lineage_.any_accepts(expected, token)) return true;
    return std::ranges::any_of(
               expected, [&](Writer writer) { return is_left_alone(writer, token, range); }) ||
           is_copy_of(expected, token) || is_passed_by(expected, token, range);
  }

  // What an expected update in place left alone, and may be what it was given.
  bool is_passed_by(const Writers& expected, Writer token, ByteRange range) {
    const Token& what = flow_.tokens[token];
    if (what.kind != TokenKind::kPassed) return false;
    const auto& graph_node = flow_.nodes[what.index].graph_node;
    if (!graph_node) return false;
    const Writer writer = facts_.writer_of(*graph_node);
    return std::ranges::find(expected, writer) != expected.end() &&
           accepts(lineage_.writers_read_by(*graph_node), what.under, range);
  }

  // Whether it is one of the steps that the reader's node of the graph was taken apart into: it has
  // the node's name, or that name, "_part" and a number.
  bool is_part_of_reader(const FlowNode& node) const {
    if (reader_ == nullptr || node.graph_node == reader_->graph_node) return reader_ != nullptr;
    const std::string& whole = facts_.node(*reader_->graph_node).name;
    return node.match == NodeMatch::kExtra && node.node->name.starts_with(whole + "_part");
  }

  // A copy that the executor added, of nothing but bytes that may be there: the counter of a loop
  // only says which. A part of what the reader belongs to may make its bytes of nothing.
  bool is_copy_of(const Writers& expected, Writer token) {
    const Token& what = flow_.tokens[token];
    if (what.kind != TokenKind::kNode) return false;
    const FlowNode& node = flow_.nodes[what.index];
    const bool is_part = is_part_of_reader(node);
    if (node.match != NodeMatch::kExtra && !is_part) return false;
    bool copies = is_part;
    for (const FlowRead& read : flow_.reads) {
      if (read.node != what.index) continue;
      const auto outer = std::exchange(buffer_, case_.accesses.all[read.access].buffer);
      const bool is_right = std::ranges::all_of(read.contents, [&](const Content& content) {
        return !content.writers.empty() && std::ranges::all_of(content.writers, [&](Writer under) {
          return accepts(expected, under, content.range);
        });
      });
      buffer_ = outer;
      if (!is_right && !is_of_nothing(read)) return false;
      copies = copies || is_right;
    }
    return copies;
  }

  // Whether what is read holds nothing of the program: steps that the executor added made it, of
  // nothing but what such steps made.
  bool is_of_nothing(const FlowRead& read) const {
    std::set<Writer> seen;
    std::vector<Writer> left;
    const auto look_at = [&](const Writers& writers) {
      for (const Writer writer : writers) {
        if (seen.insert(writer).second) left.push_back(writer);
      }
    };
    for (const Content& content : read.contents) look_at(content.writers);
    while (!left.empty()) {
      const Token& what = flow_.tokens[left.back()];
      left.pop_back();
      if (what.kind != TokenKind::kNode) return false;
      if (flow_.nodes[what.index].match != NodeMatch::kExtra) return false;
      look_at(what.reads);
    }
    return !seen.empty();
  }

  // A scatter that became an update in place of other bytes of the buffer: these are as it found
  // them, before and after it. So what it was given may be there: what another such scatter left
  // alone, too, in whatever order they run.
  bool is_left_alone(Writer writer, Writer token, ByteRange range) {
    if (!buffer_ || facts_.is_input(writer)) return false;
    const auto place = Left{buffer_->index, writer, token, range.begin_bytes, range.end_bytes};
    const auto [known, is_new] = left_alone_.try_emplace(place, false);
    if (is_new) {
      const FlowNode* const reader = std::exchange(reader_, nullptr);  // it holds for any
      known->second = find_left_alone(writer, token, range);
      reader_ = reader;
    }
    return known->second;
  }
  bool find_left_alone(Writer writer, Writer token, ByteRange range) {
    const std::uint32_t graph_node = facts_.node_of(writer);
    bool updates = false;
    const auto [begin, end] = rewritten_.equal_range(graph_node);
    for (auto at = begin; at != end; ++at) {
      const FlowNode& node = *at->second;
      for (const Access& access : case_.accesses.all) {
        if (access.step != node.step || access.body != node.body || !access.writes) continue;
        if (!access.value || access.buffer != buffer_) continue;
        const ByteSet& bytes = case_.accesses.value_bytes[access.value->index];
        const ByteSet read = bytes_of(range.begin_bytes, range.end_bytes);
        if (access.makes || !bytes.exact || first_common(bytes, 0, read, 0)) return false;
        updates = true;
      }
    }
    return updates && accepts(lineage_.writers_read_by(graph_node), token, range);
  }

  // The graph's operand at the same place; null where the two have not the same operands.
  const OperandFact* paired_operand(const FlowRead& read, const FlowNode& node,
                                    const NodeFact& fact) const {
    const Access& access = case_.accesses.all[read.access];
    const std::string& name = node.node->arguments[access.argument].name;
    const auto is_tensor = [&](spec::ValueId id) {
      return plan_.values[id.index].value.kind == spec::ValueKind::kTensor;
    };
    // Which tensor of the argument it is.
    std::size_t count = 0;
    spec::for_each_value(node.node->arguments[access.argument].argument,
                         [&](spec::ValueId id) { count += is_tensor(id) ? 1 : 0; });
    std::size_t place = 0;
    for (std::size_t a = read.access; a > 0; --a) {
      const Access& before = case_.accesses.all[a - 1];
      if (before.step != access.step || before.body != access.body ||
          before.kind != AccessKind::kOperand || before.argument != access.argument) {
        break;
      }
      ++place;
    }
    const spec::Node& original = facts_.node(*node.graph_node);
    std::vector<const OperandFact*> same;
    for (const OperandFact& operand : fact.operands) {
      if (original.arguments[operand.use.argument].name == name && operand.tensor) {
        same.push_back(&operand);
      }
    }
    return same.size() == count && place < count ? same[place] : nullptr;
  }

  std::optional<Mismatch> first_unexpected(const Writers& expected, const Contents& contents,
                                           bool exact) {
    bool some = false;
    std::optional<Mismatch> first;
    for (const Content& content : contents) {
      bool some_here = content.writers.empty();
      std::optional<Mismatch> bad;
      for (const Writer token : content.writers) {
        if (accepts(expected, token, content.range)) {
          some_here = true;
        } else if (!bad) {
          bad = Mismatch{token, std::nullopt, content.range};
        }
      }
      some = some || some_here;
      if (bad && !(content.may && some_here) && !first) first = bad;
    }
    if (!exact && some) return std::nullopt;
    return first;
  }

  std::optional<Mismatch> first_missing(const Contents& expected, const Contents& contents) {
    if (contents.empty()) return std::nullopt;  // no bytes
    for (const Content& wanted : expected) {
      if (wanted.may) continue;
      for (const Writer writer : wanted.writers) {
        bool found = false;
        for (const Content& content : contents) {
          found = found || content.writers.empty() ||
                  std::ranges::any_of(content.writers, [&](Writer token) {
                    return accepts({writer}, token, content.range);
                  });
        }
        if (!found) {
          return Mismatch{std::nullopt, writer, contents.front().range};
        }
      }
    }
    return std::nullopt;
  }

  // All of it by one writer, as it should be.
  bool is_by_one(const Contents& expected, const Contents& contents) {
    return expected.size() == 1 && contents.size() == 1 && expected[0].writers.size() == 1 &&
           contents[0].writers.size() == 1 &&
           lineage_.accepts(expected[0].writers[0], contents[0].writers[0]);
  }

  // As sets first; then, where both differ over their elements, one by one.
  std::optional<Mismatch> compare(const TensorFact& fact, spec::ValueId value,
                                  const Contents& contents, bool exact) {
    if (is_by_one(fact.contents, contents)) return std::nullopt;
    const Writers writers = fact.writers();
    if (writers.empty()) return std::nullopt;  // nobody is known; V1 asks whether it matters
    if (const auto bad = first_unexpected(writers, contents, exact)) return bad;
    if (!exact) return std::nullopt;
    if (fact.is_certain()) {
      if (const auto bad = first_missing(fact.contents, contents)) return bad;
    }
    if (fact.contents.size() < 2 && contents.size() < 2) return std::nullopt;
    const auto geometry = spec::concrete_geometry(*plan_.values[value.index].value.type);
    if (!fact.geometry || !geometry) return std::nullopt;
    const std::int64_t count = spec::element_count(geometry->sizes);
    if (count != spec::element_count(fact.geometry->sizes)) return std::nullopt;
    if (static_cast<std::size_t>(count) > kMaxElements) return std::nullopt;
    return compare_elements(fact, *geometry, contents);
  }

  std::optional<Mismatch> compare_elements(const TensorFact& fact, const spec::HostTensor& geometry,
                                           const Contents& contents) {
    const auto wanted = content_of_elements(*fact.geometry, fact.contents);
    const auto found = content_of_elements(geometry, contents);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!seen.emplace(wanted[i], found[i]).second) continue;
      const Content& expected = fact.contents[wanted[i]];
      const Content& content = contents[found[i]];
      if (content.writers.empty() || expected.writers.empty()) continue;
      if (auto bad = first_unexpected(expected.writers, {content}, true)) return bad;
      if (auto bad = first_missing({expected}, {content})) return bad;
    }
    return std::nullopt;
  }

  void check_output(const FlowEnd& end) {
    // User outputs of the program, in order.
    std::size_t place = 0;
    for (std::size_t o = 0; o < facts_.outputs.size(); ++o) {
      if (facts_.program->outputs[o].kind != spec::OutputKind::kUserOutput) continue;
      if (place++ != end.index || !facts_.outputs[o]) continue;
      const TensorFact& fact = *facts_.outputs[o];
      Writers expected = fact.writers();
      const Writers written = written_back(fact.storage);
      std::optional<Mismatch> mismatch;
      if (written.empty()) {
        mismatch = compare(fact, end.value, end.contents, end.exact);
      } else {
        // The input that it lies over is given new contents at the end.
        expected = united(expected, written);
        mismatch = first_unexpected(expected, end.contents, end.exact);
      }
      if (mismatch) report_end(end, "output " + std::to_string(end.index), expected, *mismatch);
    }
  }

  // What outputs of the program put into inputs over this storage.
  Writers written_back(std::uint32_t storage) const {
    Writers out;
    for (std::size_t i = 0; i < facts_.program->inputs.size(); ++i) {
      if (facts_.input_storages[i] != storage) continue;
      if (const auto* fact = mutation_of(i)) out = united(out, fact->writers());
    }
    return out;
  }

  const TensorFact* mutation_of(std::size_t input) const {
    const spec::ProgramInput& target = facts_.program->inputs[input];
    for (std::size_t o = 0; o < facts_.outputs.size(); ++o) {
      const spec::ProgramOutput& output = facts_.program->outputs[o];
      if (output.kind == spec::OutputKind::kUserOutput || output.target != target.target) continue;
      const bool is_user = output.kind == spec::OutputKind::kUserInputMutation;
      if (is_user != (target.kind == spec::InputKind::kUserInput)) continue;
      if (facts_.outputs[o]) return &*facts_.outputs[o];
    }
    return nullptr;
  }

  void check_final(const FlowEnd& end) {
    if (end.index >= facts_.finals.size() || !facts_.finals[end.index]) return;
    const TensorFact* mutation = mutation_of(end.index);
    const TensorFact& fact = mutation != nullptr ? *mutation : *facts_.finals[end.index];
    Writers expected = fact.writers();
    const std::string what = "the final value of input '" + plan_.inputs[end.index].target + "'";
    std::optional<Mismatch> mismatch;
    if (mutation != nullptr || written_back(fact.storage).empty()) {
      mismatch = compare(fact, end.value, end.contents, end.exact);
    } else {
      expected = united(expected, written_back(fact.storage));
      mismatch = first_unexpected(expected, end.contents, end.exact);
    }
    if (mismatch) report_end(end, what, expected, *mismatch);
  }

  // ---- words ----------------------------------------------------------------------------------

  // Whether an expected writer writes the same buffer: then the version is wrong, else the value.
  bool is_version(const Writers& expected, std::optional<spec::BufferId> buffer) {
    if (!buffer) return false;
    const Writers& tokens = flow_.writers_of_buffer[buffer->index];
    return std::ranges::any_of(tokens,
                               [&](Writer token) { return lineage_.any_accepts(expected, token); });
  }

  void report_read(const FlowRead& read, const FlowNode& node, const Writers& expected,
                   const Mismatch& mismatch) {
    const Access& access = case_.accesses.all[read.access];
    spec::Finding finding{
        .rule = is_version(expected, access.buffer) ? "V4.wrong-version" : "V4.wrong-operand",
        .message = case_.accesses.place_of(access) + " reads " + value_name(plan_, *access.value) +
                   order_words(case_, mismatch, expected, node.step)};
    finish(std::move(finding), node.node->name, access.buffer, mismatch);
  }

  void report_end(const FlowEnd& end, const std::string& what, const Writers& expected,
                  const Mismatch& mismatch) {
    spec::Finding finding;
    finding.rule = "V4.wrong-result";
    const std::uint32_t last = case_.accesses.order.empty() ? 0 : case_.accesses.order.back();
    finding.message = what + ", " + value_name(plan_, end.value) + ", is";
    finding.message += order_words(case_, mismatch, expected, last);
    finish(std::move(finding), "", plan_.values[end.value.index].buffer, mismatch);
  }

  void finish(spec::Finding finding, const std::string& node, std::optional<spec::BufferId> buffer,
              const Mismatch& mismatch) {
    if (!node.empty()) finding.nodes.push_back(node);
    if (mismatch.unexpected) add_node(*mismatch.unexpected, finding.nodes);
    if (mismatch.missing && !facts_.is_input(*mismatch.missing)) {
      finding.nodes.push_back(facts_.node(facts_.node_of(*mismatch.missing)).name);
    }
    if (buffer) {
      finding.buffers.push_back(plan_.buffers[buffer->index].name);
      if (mismatch.range.end_bytes != kNoEnd) {
        finding.ranges.push_back({plan_.buffers[buffer->index].name, mismatch.range.begin_bytes,
                                  mismatch.range.end_bytes});
      }
    }
    out_.push_back(std::move(finding));
  }

  void add_node(Writer token, std::vector<std::string>& nodes) const {
    const Token& what = flow_.tokens[token];
    if (what.kind == TokenKind::kPassed) return add_node(what.under, nodes);
    if (what.kind == TokenKind::kNode) nodes.push_back(flow_.nodes[what.index].node->name);
  }

  const RuleCase& case_;
  const GraphFacts& facts_;
  const spec::Plan& plan_;
  const PlanFlow& flow_;
  Lineage& lineage_;
  std::multimap<std::uint32_t, const FlowNode*> rewritten_;  // by the graph's node
  // Buffer, writer, token, range: what is_left_alone() said.
  using Left = std::tuple<std::uint32_t, Writer, Writer, std::int64_t, std::int64_t>;
  std::map<Left, bool> left_alone_;
  std::optional<spec::BufferId> buffer_;  // of what is looked at
  const FlowNode* reader_ = nullptr;      // who looks, of nodes that were rewritten
  Findings& out_;
};

}  // namespace

void check_order(const RuleCase& rule_case, Findings& out) {
  if (rule_case.facts != nullptr) OrderCheck(rule_case, out).check();
}

}  // namespace graphgate::verify
