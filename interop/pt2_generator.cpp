#include "interop/pt2_generator.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "interop/pt2_operator_node.h"

namespace graphgate::interop {
namespace {

using spec::Argument;
using spec::Graph;
using spec::NamedArgument;
using spec::Node;
using spec::ValueId;

constexpr std::string_view kRunWithRngState = "higher_order.run_with_rng_state";
constexpr std::string_view kGenerator = "generator";

// Overloads that differ by the generator alone.
struct Overloads {
  std::string_view without;
  std::string_view with;
};
constexpr Overloads kOverloads[] = {
    {"aten.rand.default", "aten.rand.generator"},
    {"aten.rand_like.default", "aten.rand_like.generator"},
    {"aten.randint.default", "aten.randint.generator"},
    {"aten.randint.low", "aten.randint.low_generator"},
    {"aten.randint_like.default", "aten.randint_like.generator"},
    {"aten.randint_like.low_dtype", "aten.randint_like.low_generator_dtype"},
    {"aten.randn.default", "aten.randn.generator"},
    {"aten.randn_like.default", "aten.randn_like.generator"},
    {"aten.randperm.default", "aten.randperm.generator"},
};

const Argument* find(const std::vector<NamedArgument>& arguments, std::string_view name) {
  const auto found = std::ranges::find(arguments, name, &NamedArgument::name);
  return found == arguments.end() ? nullptr : &found->argument;
}

// A node that runs `op` from a state: its operands by the names of the op's schema.
struct SeededCall {
  std::string op;
  Argument state;
  std::vector<NamedArgument> arguments;
};

std::optional<SeededCall> seeded_call(const Node& node) {
  if (node.op != kRunWithRngState || node.arguments.size() < 2) return std::nullopt;
  const auto* state = node.arguments[0].argument.as<ValueId>();
  auto run = operator_call(node, 1);
  if (!run || !state) return std::nullopt;
  return SeededCall{std::move(run->op), {*state}, std::move(run->arguments)};
}

class Placing {
 public:
  explicit Placing(Graph& graph) : graph_(graph) {
    for (const spec::Value& value : graph.values) names_.insert(value.name);
  }

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      const auto call = seeded_call(node);
      if (!call || !place(node, *call)) graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  bool place(const Node& node, const SeededCall& call) {
    if (call.op == "aten.dropout.default" || call.op == "aten.native_dropout.default") {
      return place_dropout(node, call);
    }
    const auto* known = std::ranges::find(kOverloads, call.op, &Overloads::without);
    const std::string op(known == std::end(kOverloads) ? std::string_view(call.op) : known->with);
    const spec::OpRow* row = spec::builtin_op_table().find(op);
    if (!row || !row->schema.find_argument(kGenerator)) return false;
    std::vector<NamedArgument> arguments = call.arguments;
    std::erase_if(arguments, [](const NamedArgument& given) { return given.name == kGenerator; });
    arguments.push_back({std::string(kGenerator), call.state});
    graph_.nodes.push_back({node.name, op, std::move(arguments), node.results});
    return true;
  }

  // Source: aten/src/ATen/native/Dropout.cpp. A mask of bool times the input, and the scale; or
  // noise of the input's dtype over the scale's inverse, and the input times it.
  bool place_dropout(const Node& node, const SeededCall& call) {
    const bool is_native = call.op == "aten.native_dropout.default";
    const Argument* input = find(call.arguments, "input");
    const Argument* p = find(call.arguments, "p");
    const Argument* train = find(call.arguments, "train");
    const double* chance = p ? p->as<double>() : nullptr;
    const bool* trains = train ? train->as<bool>() : nullptr;
    const auto* from = input ? input->as<ValueId>() : nullptr;
    if (!from || !chance || !(*chance > 0 && *chance < 1) || (trains && !*trains)) return false;
    if (node.results.size() != (is_native ? 2 : 1)) return false;
    const double keeps = 1 - *chance;
    const spec::DType dtype = spec::DType::kBool;
    std::vector<NamedArgument> like = {{"self", *input}};
    if (is_native) like.push_back({"dtype", {dtype}});
    const Argument empty = step(node, "empty", "aten.empty_like.default", std::move(like), *from);
    std::vector<NamedArgument> coins = {
        {"self", empty}, {"p", {keeps}}, {std::string(kGenerator), call.state}};
    if (!is_native) {
      const Argument noise = step(node, "noise", "aten.bernoulli_.float", std::move(coins), *from);
      const Argument scaled =
          step(node, "scaled", "aten.div.Scalar", {{"self", noise}, {"other", {keeps}}}, *from);
      graph_.nodes.push_back(
          {node.name, "aten.mul.Tensor", {{"self", *input}, {"other", scaled}}, node.results});
      return true;
    }
    graph_.nodes.push_back(
        {node.name + "_mask", "aten.bernoulli_.float", std::move(coins), {node.results[1]}});
    const Argument mask{node.results[1].values.front()};
    const Argument kept =
        step(node, "kept", "aten.mul.Tensor", {{"self", *input}, {"other", mask}}, *from);
    graph_.nodes.push_back({node.name,
                            "aten.mul.Scalar",
                            {{"self", kept}, {"other", {1 / keeps}}},
                            {node.results[0]}});
    return true;
  }

  // A node of a dropout with one result, which has the kind of `like`.
  Argument step(const Node& node, const char* what, const char* op,
                std::vector<NamedArgument> arguments, ValueId like) {
    const ValueId id{static_cast<std::uint32_t>(graph_.values.size())};
    spec::Value value;
    value.name = free_name(node.name + "_" + what);
    value.type = graph_.value(like).type;
    if (const Argument* dtype = find(arguments, "dtype"); dtype && value.type) {
      value.type->dtype = *dtype->as<spec::DType>();
    }
    graph_.values.push_back(value);
    graph_.nodes.push_back({value.name, op, std::move(arguments), {{.values = {id}}}});
    return {id};
  }

  std::string free_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !names_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  Graph& graph_;
  std::unordered_set<std::string> names_;
};

}  // namespace

void place_generator_states(Graph& graph) {
  const bool has_any = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.op == kRunWithRngState; });
  if (has_any) Placing(graph).run();
}

std::optional<Node> run_with_rng_state(const Node& node, const spec::OpTable& ops) {
  const Argument* generator = find(node.arguments, kGenerator);
  if (!generator || !generator->as<ValueId>()) return std::nullopt;
  const auto* known = std::ranges::find(kOverloads, node.op, &Overloads::with);
  const std::string op(known == std::end(kOverloads) ? std::string_view(node.op) : known->without);
  const spec::OpRow* row = ops.find(op);
  if (!row) return std::nullopt;
  Node out{node.name,
           std::string(kRunWithRngState),
           {{"", *generator}, {"", {spec::OpName{op}}}},
           node.results};
  // By position as long as none is left out, the others by name.
  std::size_t position = 0;
  for (const NamedArgument& given : node.arguments) {
    if (given.name == kGenerator) continue;
    const auto index = row->schema.find_argument(given.name);
    const bool by_position =
        index && *index == position && !row->schema.arguments[*index].kwarg_only;
    out.arguments.push_back(by_position ? NamedArgument{"", given.argument} : given);
    ++position;
  }
  return out;
}

}  // namespace graphgate::interop
