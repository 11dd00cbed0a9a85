#include <algorithm>
#include <array>
#include <limits>

#include "spec/plan_text_reader.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

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

struct PlanKeyword {
  std::string_view word;
  PlanStage stage;
  std::string_view plural;
};
// The first of each stage stands at its number.
constexpr std::array<PlanKeyword, 11> kPlanKeywords = {{
    {"events", PlanStage::kEvents, "event counts"},
    {"key", PlanStage::kKey, "keys"},
    {"symbol", PlanStage::kSymbol, "symbols"},
    {"padding", PlanStage::kPadding, "paddings"},
    {"pool", PlanStage::kPool, "pools"},
    {"buffer", PlanStage::kBuffer, "buffers"},
    {"input", PlanStage::kInput, "inputs"},
    {"block", PlanStage::kBlock, "blocks"},
    {"output", PlanStage::kOutput, "outputs"},
    {"view", PlanStage::kOutput, "views"},
    {"final", PlanStage::kOutput, "final values"},
}};

}  // namespace

PlanReader::PlanReader(TextReader& reader, const OpTable& ops) : reader_(reader), ops_(ops) {
  builder_.names.subgraphs = find_blocks(reader);
}

Result<Plan> PlanReader::read() {
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

Result<void> PlanReader::open() {
  GRAPHGATE_TRY_VOID(reader_.expect("{"));
  return reader_.expect_line_end();
}

Result<void> PlanReader::read_line() {
  for (const PlanKeyword& keyword : kPlanKeywords) {
    if (!reader_.at(keyword.word)) continue;
    if (keyword.stage < stage_) {
      const PlanKeyword& now = kPlanKeywords[static_cast<std::size_t>(stage_)];
      return reader_.expected("no more " + std::string(keyword.plural) + " after the " +
                              std::string(now.plural));
    }
    stage_ = keyword.stage;
    if (reader_.at("output") || reader_.at("view")) return read_output();
    (void)reader_.take();
    return read_keyword_line();
  }
  return reader_.expected(
      "events, key, symbol, padding, pool, buffer, input, block, view, final, output or '}'");
}

Result<void> PlanReader::read_keyword_line() {
  switch (stage_) {
    case PlanStage::kEvents: {
      GRAPHGATE_TRY(plan_.event_count, take_count("a number of events"));
      return {};
    }
    case PlanStage::kKey:
      return read_key();
    case PlanStage::kPadding:
      return read_padding();
    case PlanStage::kSymbol:
      return read_symbol();
    case PlanStage::kPool:
      return read_pool();
    case PlanStage::kBuffer:
      return read_buffer();
    case PlanStage::kInput:
      return read_input();
    case PlanStage::kBlock:
      return read_block();
    case PlanStage::kOutput:
      return read_final_value();
  }
  return {};
}

Result<std::uint32_t> PlanReader::take_count(std::string_view what) {
  const Token start = reader_.peek();
  GRAPHGATE_TRY(const std::int64_t number, reader_.take_integer(what));
  if (number >= 0 && number <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(number);
  }
  return reader_.error_at(
      start, "expected " + std::string(what) + " in [0, 2^32), found " + std::to_string(number));
}

Result<std::string> PlanReader::take_symbol() {
  const Token name = reader_.peek();
  if (name.kind != TokenKind::kWord || !is_symbol_name(name.text)) {
    return reader_.expected("the name of a symbol");
  }
  (void)reader_.take();
  return std::string(name.text);
}

// "NAME" = "VALUE"
Result<void> PlanReader::read_key() {
  const Token start = reader_.peek();
  GRAPHGATE_TRY(const std::string name, reader_.take_string("a name in quotes"));
  GRAPHGATE_TRY_VOID(reader_.expect("="));
  GRAPHGATE_TRY(std::string value, reader_.take_string("a value in quotes"));
  if (plan_.key.try_emplace(name, std::move(value)).second) return {};
  return reader_.error_at(start, "expected each key once, found " + quote_string(name) + " again");
}

Result<void> PlanReader::read_padding() {
  if (plan_.padding) return reader_.expected("one padding");
  PlanPadding padding;
  GRAPHGATE_TRY(padding.symbol, take_symbol());
  plan_.padding = std::move(padding);
  return {};
}

// [pad DIM], behind an input or an output.
Result<void> PlanReader::read_pad(std::vector<std::optional<std::uint32_t>> PlanPadding::*dims) {
  const Token start = reader_.peek();
  std::optional<std::uint32_t> dim;
  if (reader_.accept("pad")) {
    if (!plan_.padding) return reader_.error_at(start, "expected a padding above, found none");
    GRAPHGATE_TRY(dim, take_count("a dimension"));
  }
  if (plan_.padding) ((*plan_.padding).*dims).push_back(dim);
  return {};
}

Result<void> PlanReader::read_symbol() {
  const Token start = reader_.peek();
  GRAPHGATE_TRY(std::string name, take_symbol());
  GRAPHGATE_TRY_VOID(reader_.expect("="));
  GRAPHGATE_TRY(const std::int64_t size, reader_.take_integer("a size"));
  if (plan_.symbols.try_emplace(name, size).second) return {};
  return reader_.error_at(start, "expected each symbol once, found '" + name + "' again");
}

// @name KIND on DEVICE SIZE align ALIGNMENT
Result<void> PlanReader::read_pool() {
  PlanPool pool;
  GRAPHGATE_TRY(pool.name, define_name(pools_, "@", "a pool"));
  const auto kind = parse_pool_kind(reader_.peek().text);
  if (!kind) return reader_.expected("state, input, arena, heap or caller");
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
Result<void> PlanReader::read_buffer() {
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
Result<void> PlanReader::read_input() {
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
  return read_pad(&PlanPadding::input_dims);
}

// [: TYPE] [$buffer], behind the name.
Result<ValueId> PlanReader::finish_value(Value value) {
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

// %input = %value, behind the word `final`.
Result<void> PlanReader::read_final_value() {
  const Token start = reader_.peek();
  GRAPHGATE_TRY(const ValueId id, use_name(builder_.names.values, "%", "a value"));
  const auto input = std::find_if(plan_.inputs.begin(), plan_.inputs.end(),
                                  [&](const PlanInput& i) { return !i.constant && i.value == id; });
  if (input == plan_.inputs.end() || input->final_value) {
    return reader_.error_at(start, "expected an input without a final value, found " +
                                       print_sigil_name('%', builder_.graph.value(id).name));
  }
  GRAPHGATE_TRY_VOID(reader_.expect("="));
  GRAPHGATE_TRY(input->final_value, use_name(builder_.names.values, "%", "a value"));
  return {};
}

// One line: `output [weak] ARGUMENT [pad DIM]`, or a view that outputs mention. Lifetimes are kept
// only where one is weak.
Result<void> PlanReader::read_output() {
  if (reader_.accept("view")) return read_view();
  (void)reader_.take();
  const bool weak = reader_.accept("weak");
  if (weak) plan_.output_lifetimes.resize(plan_.outputs.size(), OutputLifetime::kStrong);
  if (weak || !plan_.output_lifetimes.empty()) {
    plan_.output_lifetimes.push_back(weak ? OutputLifetime::kWeak : OutputLifetime::kStrong);
  }
  GRAPHGATE_TRY(plan_.outputs.emplace_back(), read_argument(reader_, builder_.names));
  return read_pad(&PlanPadding::output_dims);
}

Result<Plan> parse_plan(std::string_view text, const OpTable& ops, std::string_view source_name) {
  TextReader reader(text, source_name);
  reader.skip_line_ends();
  GRAPHGATE_TRY(Plan plan, PlanReader(reader, ops).read());
  reader.skip_line_ends();
  if (!reader.at(TokenKind::kEnd)) return reader.expected("the end of the text");
  GRAPHGATE_TRY_VOID(reader.check_missing_ops());
  return plan;
}

}  // namespace graphgate::spec
