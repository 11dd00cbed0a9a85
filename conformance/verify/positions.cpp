#include "conformance/verify/positions.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "conformance/verify/verify.h"
#include "spec/text_lexer.h"

namespace graphgate::verify {
namespace {

using spec::Node;

constexpr std::string_view kPositions = "positions";
// So that a product of sizes fits.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

constexpr std::array<std::pair<TouchKind, std::string_view>, 4> kTouchKinds = {{
    {TouchKind::kReads, "reads"},
    {TouchKind::kWrites, "writes"},
    {TouchKind::kAdds, "adds"},
    {TouchKind::kResults, "results"},
}};

bool is_list_of_texts(const spec::SchemaType& type) {
  return type.base == spec::BaseType::kString && type.list_sizes.size() == 1;
}

// The text up to `end`, which is dropped with it; all of it where there is none.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
  return taken;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > kMaxSize) return std::nullopt;
  return number;
}

Error error_in(const std::string& text, const std::string& expected) {
  return bad_input("positions: '" + text + "': expected " + expected);
}

// A word, and the number behind it.
std::optional<std::int64_t> take_number(std::string_view& text, std::string_view word) {
  if (take_until(text, " ") != word) return std::nullopt;
  return whole_number(take_until(text, " "));
}

Result<Positions> parse_head(const std::string& whole) {
  const Error error = error_in(whole, "'nest N phase N over [SIZES] shared N'");
  std::string_view text = whole;
  Positions positions;
  const auto nest = take_number(text, "nest");
  const auto phase = take_number(text, "phase");
  if (!nest || !phase || take_until(text, "[") != "over ") return error;
  std::string_view sizes = take_until(text, "] ");
  while (!sizes.empty()) {
    const auto size = whole_number(take_until(sizes, ", "));
    if (!size || *size == 0) return error;
    positions.sizes.push_back(*size);
    if (positions.iterations() > kMaxSize) return error_in(whole, "fewer iterations");
  }
  const auto shared = take_number(text, "shared");
  if (!shared || *shared == 0 || !text.empty()) return error;
  if (positions.iterations() % *shared != 0) {
    return error_in(whole, "a number of parts that divides the iterations");
  }
  positions.nest = *nest;
  positions.phase = *phase;
  positions.shared = *shared;
  return positions;
}

Result<spec::SymExpr> parse_index(const std::string& whole, std::string_view text,
                                  const Positions& positions) {
  const auto parsed = spec::parse_sym_expr(text);
  if (!parsed.ok()) return error_in(whole, "an expression (" + parsed.error().message + ")");
  for (const std::string& name : spec::free_symbols(parsed.value())) {
    const auto number = name.starts_with('d') ? whole_number(name.substr(1)) : std::nullopt;
    if (!number || static_cast<std::size_t>(*number) >= positions.sizes.size()) {
      return error_in(whole, "variables of the loops, not " + name);
    }
  }
  return parsed.value();
}

Result<Touch> parse_touch(const std::string& whole, const Node& node, const Positions& positions) {
  std::string_view text = whole;
  Touch touch;
  touch.operand = take_until(text, " ");
  const std::string_view word = take_until(text, " ");
  const auto kind =
      std::ranges::find(kTouchKinds, word, [](const auto& each) { return each.second; });
  if (kind == kTouchKinds.end()) {
    return error_in(whole, "'reads', 'writes', 'adds' or 'results' behind the operand");
  }
  touch.kind = kind->first;
  if (!touched_value(node, touch)) return error_in(whole, "an argument or a result of the node");
  GRAPHGATE_TRY(touch.index, parse_index(whole, take_until(text, " if "), positions));
  if (!text.empty()) {
    GRAPHGATE_TRY(touch.condition, parse_index(whole, text, positions));
  }
  return touch;
}

Result<void> check_node(const Node& node, const spec::OpTable& ops) {
  const auto positions = positions_of(node, ops);
  if (positions.ok()) return {};
  return positions.error().at("node '" + node.name + "'");
}

}  // namespace

std::int64_t Positions::iterations() const {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count = count > kMaxSize ? count : count * size;
  return count;
}

std::optional<spec::ValueId> touched_value(const Node& node, const Touch& touch) {
  for (const spec::NamedArgument& named : node.arguments) {
    if (named.name != touch.operand) continue;
    const auto* id = named.argument.as<spec::ValueId>();
    return id != nullptr ? std::optional(*id) : std::nullopt;
  }
  const auto number = whole_number(touch.operand);
  if (!number || static_cast<std::size_t>(*number) >= node.results.size()) return std::nullopt;
  const auto& values = node.results[static_cast<std::size_t>(*number)].values;
  return values.empty() ? std::nullopt : std::optional(values.front());
}

Result<std::optional<Positions>> positions_of(const Node& node, const spec::OpTable& ops) {
  const auto named = std::ranges::find(node.arguments, kPositions, &spec::NamedArgument::name);
  const spec::OpRow* row = ops.find(node.op);
  if (named == node.arguments.end() || row == nullptr) return std::optional<Positions>();
  const auto declared = row->schema.find_argument(kPositions);
  if (!declared || !is_list_of_texts(row->schema.arguments[*declared].type)) {
    return std::optional<Positions>();
  }
  const auto* list = named->argument.as<spec::Argument::List>();
  if (list == nullptr || list->empty()) return std::optional<Positions>();
  std::optional<Positions> positions;
  for (const spec::Argument& element : *list) {
    const auto* text = element.as<std::string>();
    if (text == nullptr) return bad_input("positions: expected a list of texts");
    if (!positions) {
      GRAPHGATE_TRY(positions, parse_head(*text));
      continue;
    }
    GRAPHGATE_TRY(Touch touch, parse_touch(*text, node, *positions));
    positions->touches.push_back(std::move(touch));
  }
  return positions;
}

Result<void> check_positions(const spec::Plan& plan, const spec::OpTable& ops) {
  for (const spec::PlanStep& step : plan.steps) {
    GRAPHGATE_TRY_VOID(check_node(step.node, ops));
    for (const Node& node : step.body) GRAPHGATE_TRY_VOID(check_node(node, ops));
  }
  return {};
}

}  // namespace graphgate::verify
