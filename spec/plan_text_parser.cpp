#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "spec/node_text.h"
#include "spec/plan_text.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

// The kinds of lines, in the order in which they stand.
enum class Stage { kEvents, kSymbol, kPool, kBuffer, kInput, kBlock, kOutput };

struct Keyword {
  std::string_view word;
  Stage stage;
  std::string_view plural;
};
constexpr std::array<Keyword, 9> kKeywords = {{
    {"events", Stage::kEvents, "event counts"},
    {"symbol", Stage::kSymbol, "symbols"},
    {"pool", Stage::kPool, "pools"},
    {"buffer", Stage::kBuffer, "buffers"},
    {"input", Stage::kInput, "inputs"},
    {"block", Stage::kBlock, "blocks"},
    {"output", Stage::kOutput, "outputs"},
    {"view", Stage::kOutput, "views"},
    {"final", Stage::kOutput, "final values"},
}};

// The blocks of a text, which steps may name before they stand there.
NameScope::Map<SubgraphId> find_blocks(TextReader reader) {
  NameScope::Map<SubgraphId> blocks;
  bool line_start = true;
  while (!reader.at(TokenKind::kEnd)) {
    const Token token = reader.take();
    if (line_start && token.text == "block" && reader.at("@")) {
      const auto name = read_sigil_name(reader, "@", "a block");
      if (name.ok()) {
        blocks.try_emplace(name.value(), SubgraphId{static_cast<std::uint32_t>(blocks.size())});
      }
    }
    line_start = token.kind == TokenKind::kLineEnd;
  }
  return blocks;
}

class PlanReader {
 public:
  PlanReader(TextReader& reader, const OpTable& ops) : reader_(reader), ops_(ops) {
    builder_.names.subgraphs = find_blocks(reader);
  }

  Result<Plan> read() {
    GRAPHGATE_TRY_VOID(reader_.expect("plan"));
    GRAPHGATE_TRY(plan_.name, reader_.take_string("a name in quotes"));
    if (!reader_.at("strict") && !reader_.at("fast")) return reader_.expected("strict or fast");
    plan_.arithmetic = std::string(reader_.take().text);
    GRAPHGATE_TRY_VOID(open());
    while (!reader_.accept("}")) {
      GRAPHGATE_TRY_VOID(read_line());
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    for (std::size_t i = 0; i < builder_.graph.values.size(); ++i) {
      plan_.values.push_back(PlanValue{std::move(builder_.graph.values[i]), buffers_of_[i]});
    }
    return std::move(plan_);
  }

 private:
  Result<void> open() {
    GRAPHGATE_TRY_VOID(reader_.expect("{"));
    return reader_.expect_line_end();
  }

  Result<void> read_line() {
    for (const Keyword& keyword : kKeywords) {
      if (!reader_.at(keyword.word)) continue;
      if (keyword.stage < stage_) {
        const Keyword& now = kKeywords[static_cast<std::size_t>(stage_)];
        return reader_.expected("no more " + std::string(keyword.plural) + " after the " +
                                std::string(now.plural));
      }
      stage_ = keyword.stage;
      if (reader_.at("output") || reader_.at("view")) return read_output(plan_.outputs);
      (void)reader_.take();
      return read_keyword_line();
    }
    return reader_.expected(
        "events, symbol, pool, buffer, input, block, view, final, output or '}'");
  }

  Result<void> read_keyword_line() {
    switch (stage_) {
      case Stage::kEvents: {
        GRAPHGATE_TRY(plan_.event_count, take_count("a number of events"));
        return {};
      }
      case Stage::kSymbol:
        return read_symbol();
      case Stage::kPool:
        return read_pool();
      case Stage::kBuffer:
        return read_buffer();
      case Stage::kInput:
        return read_input();
      case Stage::kBlock:
        return read_block();
      case Stage::kOutput:
        return read_final_value();
    }
    return {};
  }

  Result<std::uint32_t> take_count(std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::int64_t number, reader_.take_integer(what));
    if (number >= 0 && number <= std::numeric_limits<std::uint32_t>::max()) {
      return static_cast<std::uint32_t>(number);
    }
    return reader_.error_at(
        start, "expected " + std::string(what) + " in [0, 2^32), found " + std::to_string(number));
  }

  Result<std::string> take_symbol() {
    const Token name = reader_.peek();
    if (name.kind != TokenKind::kWord || !is_symbol_name(name.text)) {
      return reader_.expected("the name of a symbol");
    }
    (void)reader_.take();
    return std::string(name.text);
  }

  // A new name behind a sigil; adds it to `names` with the next id.
  template <class T>
  Result<std::string> define_name(NameScope::Map<T>& names, std::string_view sigil,
                                  std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(std::string name, read_sigil_name(reader_, sigil, what));
    const T id{static_cast<std::uint32_t>(names.size())};
    if (names.try_emplace(name, id).second) return name;
    return reader_.error_at(
        start, "expected a new name, found " + print_sigil_name(sigil.front(), name) + " again");
  }

  template <class T>
  Result<T> use_name(const NameScope::Map<T>& names, std::string_view sigil,
                     std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string name, read_sigil_name(reader_, sigil, what));
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    return reader_.error_at(start, "expected " + std::string(what) +
                                       " that is defined above, found " +
                                       print_sigil_name(sigil.front(), name));
  }

  Result<BufferId> use_buffer() { return use_name(buffers_, "$", "a buffer"); }

  Result<void> read_symbol() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(std::string name, take_symbol());
    GRAPHGATE_TRY_VOID(reader_.expect("="));
    GRAPHGATE_TRY(const std::int64_t size, reader_.take_integer("a size"));
    if (plan_.symbols.try_emplace(name, size).second) return {};
    return reader_.error_at(start, "expected each symbol once, found '" + name + "' again");
  }

  // @name KIND on DEVICE SIZE align ALIGNMENT
  Result<void> read_pool() {
    PlanPool pool;
    GRAPHGATE_TRY(pool.name, define_name(pools_, "@", "a pool"));
    const auto kind = parse_pool_kind(reader_.peek().text);
    if (!kind) return reader_.expected("state, input, arena or heap");
    (void)reader_.take();
    pool.kind = *kind;
    GRAPHGATE_TRY_VOID(reader_.expect("on"));
    GRAPHGATE_TRY(pool.device, read_device(reader_));
    GRAPHGATE_TRY(pool.size_bytes, reader_.take_integer("a size in bytes"));
    GRAPHGATE_TRY_VOID(reader_.expect("align"));
    GRAPHGATE_TRY(pool.alignment_bytes, reader_.take_integer("an alignment in bytes"));
    plan_.pools.push_back(std::move(pool));
    return {};
  }

  // $name @pool [BEGIN, END), without the range in a heap.
  Result<void> read_buffer() {
    PlanBuffer buffer;
    GRAPHGATE_TRY(buffer.name, define_name(buffers_, "$", "a buffer"));
    GRAPHGATE_TRY(buffer.pool, use_name(pools_, "@", "a pool"));
    if (plan_.pools[buffer.pool.index].kind != PoolKind::kHeap) {
      GRAPHGATE_TRY_VOID(reader_.expect("["));
      GRAPHGATE_TRY(buffer.offset_bytes, reader_.take_integer("an offset in bytes"));
      GRAPHGATE_TRY_VOID(reader_.expect(","));
      const Token start = reader_.peek();
      GRAPHGATE_TRY(const std::int64_t end, reader_.take_integer("an end in bytes"));
      const bool fits = buffer.offset_bytes >= 0 && end >= buffer.offset_bytes;
      if (!fits) {
        return reader_.error_at(start, "expected offsets 0 <= BEGIN <= END, found " +
                                           std::to_string(buffer.offset_bytes) + " and " +
                                           std::to_string(end));
      }
      buffer.size_bytes = end - buffer.offset_bytes;
      GRAPHGATE_TRY_VOID(reader_.expect(")"));
    }
    plan_.buffers.push_back(std::move(buffer));
    return {};
  }

  // KIND "target" and a value, or = ARGUMENT.
  Result<void> read_input() {
    PlanInput input;
    const auto kind = parse_input_kind(reader_.peek().text);
    if (!kind) return reader_.expected("parameter, buffer, constant or user");
    (void)reader_.take();
    input.kind = *kind;
    GRAPHGATE_TRY(input.target, reader_.take_string("a target in quotes"));
    if (reader_.accept("=")) {
      GRAPHGATE_TRY(input.constant, read_argument(reader_, NameScope{}));
    } else {
      if (!reader_.at("%")) return reader_.expected("a value (%name) or '='");
      GRAPHGATE_TRY(Value value, read_value_name(reader_, builder_));
      GRAPHGATE_TRY(input.value, finish_value(std::move(value)));
    }
    plan_.inputs.push_back(std::move(input));
    return {};
  }

  // [: TYPE] [$buffer], behind the name.
  Result<ValueId> finish_value(Value value) {
    if (reader_.accept(":")) {
      GRAPHGATE_TRY_VOID(read_value_type(reader_, value));
    }
    std::optional<BufferId> buffer;
    if (reader_.at("$")) {
      GRAPHGATE_TRY(buffer, use_buffer());
    }
    buffers_of_.push_back(buffer);
    return add_value(builder_, std::move(value));
  }

  // A new value, or the name of one that is there: then nothing follows it.
  Result<ValueId> read_result() {
    const Token start = reader_.peek();
    Value value;
    GRAPHGATE_TRY(value.name, read_sigil_name(reader_, "%", "a value"));
    const auto found = builder_.names.values.find(value.name);
    if (found == builder_.names.values.end()) return finish_value(std::move(value));
    if (!reader_.at(":") && !reader_.at("$")) return found->second;
    return reader_.error_at(start, "expected a new value name before a type or a buffer, found " +
                                       print_sigil_name('%', value.name) + " again");
  }

  // %name [: TYPE] [$buffer], behind the word `view`.
  Result<void> read_view() {
    GRAPHGATE_TRY(Value value, read_value_name(reader_, builder_));
    GRAPHGATE_TRY(const ValueId id, finish_value(std::move(value)));
    views_.insert(id.index);
    return {};
  }

  // %input = %value, behind the word `final`.
  Result<void> read_final_value() {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const ValueId id, use_name(builder_.names.values, "%", "a value"));
    const auto input =
        std::find_if(plan_.inputs.begin(), plan_.inputs.end(),
                     [&](const PlanInput& i) { return !i.constant && i.value == id; });
    if (input == plan_.inputs.end() || input->final_value) {
      return reader_.error_at(start, "expected an input without a final value, found " +
                                         print_sigil_name('%', builder_.graph.value(id).name));
    }
    GRAPHGATE_TRY_VOID(reader_.expect("="));
    GRAPHGATE_TRY(input->final_value, use_name(builder_.names.values, "%", "a value"));
    return {};
  }

  // One line: `output ARGUMENT`, or a view that outputs mention.
  Result<void> read_output(std::vector<Argument>& outputs) {
    if (reader_.accept("view")) return read_view();
    (void)reader_.take();
    GRAPHGATE_TRY(Argument argument, read_argument(reader_, builder_.names));
    outputs.push_back(std::move(argument));
    return {};
  }

  Result<void> read_block() {
    GRAPHGATE_TRY(std::string name, define_name(blocks_, "@", "a block"));
    GRAPHGATE_TRY_VOID(open());
    PlanBlock block;
    block.name = std::move(name);
    bool at_outputs = false;
    while (!reader_.accept("}")) {
      if (reader_.at("output") || reader_.at("view")) {
        at_outputs = true;
        GRAPHGATE_TRY_VOID(read_output(block.outputs));
      } else if (reader_.at("partition") && !at_outputs) {
        GRAPHGATE_TRY_VOID(read_partition(block));
      } else {
        return reader_.expected(at_outputs ? "view, output or '}'"
                                           : "partition, view, output or '}'");
      }
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    plan_.blocks.push_back(std::move(block));
    return {};
  }

  // partition INDEX captured|eager "reason" { ... }
  Result<void> read_partition(PlanBlock& block) {
    (void)reader_.take();
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::uint32_t index, take_count("the index of the partition"));
    if (index != block.partitions.size()) {
      return reader_.error_at(start, "expected partition " +
                                         std::to_string(block.partitions.size()) + ", found " +
                                         std::to_string(index));
    }
    PlanPartition partition;
    partition.captured = reader_.accept("captured");
    if (!partition.captured) {
      if (!reader_.accept("eager")) return reader_.expected("captured or eager");
      GRAPHGATE_TRY(partition.reason, reader_.take_string("a reason in quotes"));
    }
    GRAPHGATE_TRY_VOID(open());
    GRAPHGATE_TRY_VOID(read_signature(partition.signature));
    partition.begin_step = static_cast<std::uint32_t>(plan_.steps.size());
    while (!reader_.accept("}")) {
      const bool node =
          reader_.at("%") || reader_.at("(") || reader_.at(TokenKind::kString) ||
          (reader_.at(TokenKind::kWord) && reader_.peek().text.find('.') != std::string_view::npos);
      if (reader_.accept("view")) {
        GRAPHGATE_TRY_VOID(read_view());
      } else if (node) {
        GRAPHGATE_TRY_VOID(read_step());
      } else {
        return reader_.expected("a step, view or '}'");
      }
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    partition.end_step = static_cast<std::uint32_t>(plan_.steps.size());
    block.partitions.push_back(std::move(partition));
    return {};
  }

  // Lines `in`, `out`, `constants`, `symbols`: each may be missing, and they stand in this order.
  Result<void> read_signature(PlanSignature& signature) {
    if (reader_.accept("in")) {
      GRAPHGATE_TRY_VOID(read_items([&]() -> Result<void> {
        SignatureInput input;
        input.deallocate = reader_.accept("free");
        GRAPHGATE_TRY(input.buffer, use_buffer());
        signature.inputs.push_back(input);
        return {};
      }));
      GRAPHGATE_TRY_VOID(reader_.expect_line_end());
    }
    GRAPHGATE_TRY_VOID(read_buffers("out", signature.outputs));
    GRAPHGATE_TRY_VOID(read_buffers("constants", signature.constants));
    if (!reader_.accept("symbols")) return {};
    GRAPHGATE_TRY_VOID(read_items([&]() -> Result<void> {
      GRAPHGATE_TRY(std::string name, take_symbol());
      signature.symbols.push_back(std::move(name));
      return {};
    }));
    return reader_.expect_line_end();
  }

  Result<void> read_buffers(std::string_view keyword, std::vector<BufferId>& buffers) {
    if (!reader_.accept(keyword)) return {};
    GRAPHGATE_TRY_VOID(read_items([&]() -> Result<void> {
      GRAPHGATE_TRY(const BufferId id, use_buffer());
      buffers.push_back(id);
      return {};
    }));
    return reader_.expect_line_end();
  }

  // One item or more, with commas between them.
  template <class ReadItem>
  Result<void> read_items(ReadItem read_item) {
    do {
      GRAPHGATE_TRY_VOID(read_item());
    } while (reader_.accept(","));
    return {};
  }

  Result<void> read_events(std::string_view keyword, std::vector<EventId>& events) {
    if (!reader_.accept(keyword)) return {};
    return read_items([&]() -> Result<void> {
      GRAPHGATE_TRY(const std::uint32_t index, take_count("the index of an event"));
      events.push_back(EventId{index});
      return {};
    });
  }

  // NODE [workspace $b] [stream N] [wait N, ...] [record N, ...]
  Result<void> read_step() {
    PlanStep step;
    const Token start = reader_.peek();
    const ReadResult read = [this](TextReader&, GraphBuilder&) { return read_result(); };
    GRAPHGATE_TRY(step.node, read_bare_node(reader_, ops_, builder_, read, plan_.steps.size()));
    GRAPHGATE_TRY_VOID(check_view_results(start, step.node));
    if (reader_.accept("workspace")) {
      GRAPHGATE_TRY(step.workspace, use_buffer());
    }
    if (reader_.accept("stream")) {
      GRAPHGATE_TRY(step.stream, take_count("the index of a stream"));
    }
    GRAPHGATE_TRY_VOID(read_events("wait", step.waits));
    GRAPHGATE_TRY_VOID(read_events("record", step.records));
    plan_.steps.push_back(std::move(step));
    return {};
  }

  // A view may be updated in place, but its line says that no step makes it.
  Result<void> check_view_results(const Token& start, const Node& node) {
    std::unordered_set<std::uint32_t> operands;
    for_each_operand(node, [&](ValueId id) { operands.insert(id.index); });
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) {
        if (!views_.contains(id.index) || operands.contains(id.index)) continue;
        return reader_.error_at(start, "expected the view " +
                                           print_sigil_name('%', builder_.graph.value(id).name) +
                                           " among the operands of the step that updates it");
      }
    }
    return {};
  }

  TextReader& reader_;
  const OpTable& ops_;
  Plan plan_;
  GraphBuilder builder_;                             // values, and all blocks by name
  std::vector<std::optional<BufferId>> buffers_of_;  // of values, by id
  std::unordered_set<std::uint32_t> views_;          // values, by id
  NameScope::Map<PoolId> pools_;
  NameScope::Map<BufferId> buffers_;
  NameScope::Map<SubgraphId> blocks_;  // those read so far
  Stage stage_ = Stage::kEvents;
};

}  // namespace

Result<Plan> parse_plan(std::string_view text, const OpTable& ops, std::string_view source_name) {
  TextReader reader(text, source_name);
  reader.skip_line_ends();
  GRAPHGATE_TRY(Plan plan, PlanReader(reader, ops).read());
  reader.skip_line_ends();
  if (!reader.at(TokenKind::kEnd)) return reader.expected("the end of the text");
  return plan;
}

}  // namespace graphgate::spec
