// Blocks of plan text: partitions, steps and bodies.
#include "spec/plan_names.h"
#include "spec/plan_text_reader.h"

namespace graphgate::spec {

// `output ARGUMENT`, or a view that outputs mention.
Result<void> PlanReader::read_block_output(PlanBlock& block) {
  if (reader_.accept("view")) return read_view();
  (void)reader_.take();
  GRAPHGATE_TRY(block.outputs.emplace_back(), read_argument(reader_, builder_.names));
  return {};
}

Result<void> PlanReader::read_block() {
  GRAPHGATE_TRY(std::string name, define_name(blocks_, "@", "a block"));
  GRAPHGATE_TRY_VOID(open());
  PlanBlock block;
  block.name = std::move(name);
  bool at_outputs = false;
  while (!reader_.accept("}")) {
    if (reader_.at("output") || reader_.at("view")) {
      at_outputs = true;
      GRAPHGATE_TRY_VOID(read_block_output(block));
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

// A new value, or the name of one that is there: then nothing follows it.
Result<ValueId> PlanReader::read_result() {
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
Result<void> PlanReader::read_view() {
  GRAPHGATE_TRY(Value value, read_value_name(reader_, builder_));
  GRAPHGATE_TRY(const ValueId id, finish_value(std::move(value)));
  views_.insert(id.index);
  return {};
}

// partition INDEX captured|eager "reason" { ... }
Result<void> PlanReader::read_partition(PlanBlock& block) {
  (void)reader_.take();
  const Token start = reader_.peek();
  GRAPHGATE_TRY(const std::uint32_t index, take_count("the index of the partition"));
  if (index != block.partitions.size()) {
    return reader_.error_at(start, "expected partition " + std::to_string(block.partitions.size()) +
                                       ", found " + std::to_string(index));
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
    if (reader_.accept("view")) {
      GRAPHGATE_TRY_VOID(read_view());
    } else if (at_node()) {
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
Result<void> PlanReader::read_signature(PlanSignature& signature) {
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
    GRAPHGATE_TRY(signature.symbols.emplace_back(), take_symbol());
    return {};
  }));
  return reader_.expect_line_end();
}

Result<void> PlanReader::read_buffers(std::string_view keyword, std::vector<BufferId>& buffers) {
  if (!reader_.accept(keyword)) return {};
  GRAPHGATE_TRY_VOID(read_items([&]() -> Result<void> {
    GRAPHGATE_TRY(buffers.emplace_back(), use_buffer());
    return {};
  }));
  return reader_.expect_line_end();
}

Result<void> PlanReader::read_events(std::string_view keyword, std::vector<EventId>& events) {
  if (!reader_.accept(keyword)) return {};
  return read_items([&]() -> Result<void> {
    GRAPHGATE_TRY(const std::uint32_t index, take_count("the index of an event"));
    events.push_back(EventId{index});
    return {};
  });
}

// NODE [workspace $b] [stream N] [wait N, ...] [record N, ...], and a body if it is fused.
Result<void> PlanReader::read_step() {
  PlanStep step;
  GRAPHGATE_TRY(step.node, read_plan_node(plan_.steps.size(), kFusedStepOp));
  if (reader_.accept("workspace")) {
    GRAPHGATE_TRY(step.workspace, use_buffer());
  }
  if (reader_.accept("stream")) {
    GRAPHGATE_TRY(step.stream, take_count("the index of a stream"));
  }
  GRAPHGATE_TRY_VOID(read_events("wait", step.waits));
  GRAPHGATE_TRY_VOID(read_events("record", step.records));
  if (step.node.op == kFusedStepOp) {
    GRAPHGATE_TRY_VOID(read_body(step.body));
  }
  plan_.steps.push_back(std::move(step));
  return {};
}

// { a node or a view a line }
Result<void> PlanReader::read_body(std::vector<Node>& body) {
  GRAPHGATE_TRY_VOID(open());
  while (!reader_.accept("}")) {
    if (reader_.accept("view")) {
      GRAPHGATE_TRY_VOID(read_view());
    } else if (at_node()) {
      GRAPHGATE_TRY(Node node, read_plan_node(body.size(), {}));
      body.push_back(std::move(node));
    } else {
      return reader_.expected("a node, view or '}'");
    }
    GRAPHGATE_TRY_VOID(reader_.expect_line_end());
  }
  return {};
}

bool PlanReader::at_node() {
  return reader_.at("%") || reader_.at("(") || reader_.at(TokenKind::kString) ||
         (reader_.at(TokenKind::kWord) && reader_.peek().text.find('.') != std::string_view::npos);
}

Result<Node> PlanReader::read_plan_node(std::size_t index, std::string_view schemaless) {
  const Token start = reader_.peek();
  const ReadResult read = [this](TextReader&, GraphBuilder&) { return read_result(); };
  GRAPHGATE_TRY(Node node, read_bare_node(reader_, ops_, builder_, read, index, schemaless));
  if (schemaless.empty() && node.op == kFusedStepOp) {
    return reader_.error_at(start, "expected a node without a body of its own, found '" +
                                       std::string(kFusedStepOp) + "'");
  }
  GRAPHGATE_TRY_VOID(check_view_results(start, node));
  return node;
}

// A view may be updated in place, but its line says that no step makes it.
Result<void> PlanReader::check_view_results(const Token& start, const Node& node) {
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

}  // namespace graphgate::spec
