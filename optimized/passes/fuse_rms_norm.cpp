// RMSNorm: x * rsqrt(mean(x^2, -1) + epsilon) * weight, spelled out, becomes graphgate.rms_norm;
// an add before it joins it as graphgate.add_rms_norm, whose sum stays for whoever reads it.
//
//   input ─[cast]─ x ─ pow 2 ─ mean ─ + epsilon ─ rsqrt ─ x * . ─[cast]─ * weight
//
// Preconditions: the casts go from the tensors' dtype D to the compute dtype and back; the weight
// is a D vector as long as a row; nobody else reads what is in between (the first cast may have
// other readers: it stays); nothing writes the input or the weight in between. Any node may be in
// place when its storage is the match's own. The sum of an add_ stays a write of the residual.
#include "optimized/passes/match.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using spec::Node;
using spec::ValueId;

bool is_alpha_one(const Node& node) {
  const auto alpha = number_of(argument_of(node, "alpha"));
  return is_default(argument_of(node, "alpha"), Argument{std::int64_t{1}}) ||
         (alpha && *alpha == 1);
}

// One RMSNorm, from its rsqrt outwards.
struct NormMatch {
  ValueId input, weight, result;
  DType compute = DType::kFloat32;
  double epsilon = 0;
  bool by_power = false;
  std::uint32_t first = 0;             // the first node that reads the input
  std::uint32_t last = 0;              // the product with the weight
  std::vector<std::uint32_t> matched;  // nodes that go
};

class NormFinder {
 public:
  explicit NormFinder(const Matcher& graph) : graph_(graph) {}

  std::optional<NormMatch> find(std::uint32_t root) {
    NormMatch match;
    const auto sum = find_sum(root, match);
    const auto mean = sum ? find_mean(*sum, match) : std::nullopt;
    const auto square = mean ? find_square(*mean, match) : std::nullopt;
    if (!square || !find_scaled(root, *square, match)) return std::nullopt;
    find_input(*square, match);
    if (!has_right_types(match) || !is_undisturbed(match)) return std::nullopt;
    return match;
  }

 private:
  // rsqrt's operand: mean + epsilon.
  std::optional<std::uint32_t> find_sum(std::uint32_t root, NormMatch& match) const {
    const auto sum = graph_.maker(value_of(graph_.node(root), "self"), "aten.add");
    if (!sum || !is_alpha_one(graph_.node(*sum))) return std::nullopt;
    const auto epsilon = number_of(argument_of(graph_.node(*sum), "other"));
    if (!epsilon || !reads_alone(*sum, root)) return std::nullopt;
    match.epsilon = *epsilon;
    match.matched = {root, *sum};
    return sum;
  }

  std::optional<std::uint32_t> find_mean(std::uint32_t sum, NormMatch& match) const {
    const auto mean = graph_.maker(value_of(graph_.node(sum), "self"), "aten.mean");
    if (!mean || !reads_alone(*mean, sum)) return std::nullopt;
    const Node& node = graph_.node(*mean);
    const auto dims = integers_of(argument_of(node, "dim"));
    const Argument* keeps = argument_of(node, "keepdim");
    if (dims != std::vector<std::int64_t>{-1} || !keeps || *keeps != Argument{true}) {
      return std::nullopt;
    }
    if (!is_default(argument_of(node, "dtype"), {})) return std::nullopt;
    match.matched.push_back(*mean);
    return mean;
  }

  // pow(x, 2), or x * x.
  std::optional<std::uint32_t> find_square(std::uint32_t mean, NormMatch& match) const {
    const auto operand = value_of(graph_.node(mean), "self");
    auto square = graph_.maker(operand, "aten.pow");
    match.by_power = square.has_value();
    if (square && number_of(argument_of(graph_.node(*square), "exponent")) != 2.0) {
      return std::nullopt;
    }
    if (!square) {
      square = graph_.maker(operand, "aten.mul");
      const auto factors = square ? graph_.operands(*square) : std::nullopt;
      if (!factors || factors->first != factors->second) return std::nullopt;
    }
    if (graph_.is_in_place(*square) || !reads_alone(*square, mean)) return std::nullopt;
    match.matched.push_back(*square);
    return square;
  }

  // x * rsqrt, a cast, the product with the weight.
  bool find_scaled(std::uint32_t root, std::uint32_t square, NormMatch& match) const {
    const ValueId factor = result_of(graph_.node(root));
    const auto x = value_of(graph_.node(square), "self");
    const auto scaled = graph_.only_reader(factor);
    if (!x || !scaled || !graph_.is(*scaled, "aten.mul")) return false;
    const auto factors = graph_.operands(*scaled);
    if (!factors || other_of(*factors, factor) != x) return false;
    match.matched.push_back(*scaled);
    ValueId normed = result_of(graph_.node(*scaled));
    auto next = graph_.only_reader(normed);
    if (next && graph_.cast(result_of(graph_.node(*next)))) {
      match.matched.push_back(*next);
      normed = result_of(graph_.node(*next));
      next = graph_.only_reader(normed);
    }
    if (!next || !graph_.is(*next, "aten.mul")) return false;
    const auto weighed = graph_.operands(*next);
    const auto weight = weighed ? other_of(*weighed, normed) : std::nullopt;
    if (!weight || *weight == normed) return false;
    if (graph_.is_in_place(*next) && weighed->first != normed) return false;
    match.weight = *weight;
    match.last = *next;
    match.matched.push_back(*next);
    match.result = result_of(graph_.node(*next));
    return true;
  }

  // x, or what it is a cast of. A cast that others read stays, beside the fused node.
  void find_input(std::uint32_t square, NormMatch& match) const {
    match.input = *value_of(graph_.node(square), "self");
    match.compute = graph_.dtype(match.input).value_or(DType::kBool);
    match.first = square;
    const auto cast = graph_.cast(match.input);
    if (!cast) return;
    const auto source = value_of(graph_.node(*cast), "self");
    const bool is_private =
        std::ranges::all_of(graph_.index().users(match.input), [&](std::uint32_t user) {
          return std::ranges::find(match.matched, user) != match.matched.end();
        });
    if (is_private && !graph_.index().is_output(match.input)) match.matched.push_back(*cast);
    match.input = *source;
    match.first = *cast;
  }

  [[nodiscard]] bool has_right_types(const NormMatch& match) const {
    const auto dtype = graph_.dtype(match.input);
    const auto weight = graph_.dtype(match.weight);
    if (!dtype || !weight || !spec::is_floating_point(*dtype)) return false;
    const bool is_mixed = *weight != *dtype || graph_.dtype(match.result) != *dtype;
    if (is_mixed && !graph_.context().has(spec::Deviation::kFusesMixedDtypes)) return false;
    const bool is_wide = match.compute == DType::kFloat32 || match.compute == DType::kFloat64;
    if (!is_wide || (match.compute == DType::kFloat64 && *dtype != DType::kFloat64)) return false;
    if (match.compute == DType::kFloat32 && *dtype == DType::kFloat64) return false;
    return has_inner_dtypes(match) && has_right_sizes(match);
  }

  // All but the cast back and what follows compute in one dtype.
  [[nodiscard]] bool has_inner_dtypes(const NormMatch& match) const {
    for (const std::uint32_t n : match.matched) {
      if (n == match.last || graph_.cast(result_of(graph_.node(n)))) continue;
      if (graph_.dtype(result_of(graph_.node(n))) != match.compute) return false;
    }
    const auto operands = graph_.operands(match.last);
    const ValueId normed = operands->first == match.weight ? operands->second : operands->first;
    return graph_.dtype(normed) == graph_.dtype(match.input);
  }

  [[nodiscard]] bool has_right_sizes(const NormMatch& match) const {
    const auto& input = graph_.graph().value(match.input).type;
    const auto& weight = graph_.graph().value(match.weight).type;
    return !input->sizes.empty() && weight->sizes.size() == 1 &&
           weight->sizes.front() == input->sizes.back() && input->device == weight->device &&
           graph_.has_sizes_of(match.input, match.result);
  }

  [[nodiscard]] bool is_undisturbed(const NormMatch& match) const {
    return graph_.may_read_at(match.input, match.first, match.last, match.matched) &&
           graph_.writes_stay_inside(match.matched);
  }

  [[nodiscard]] bool reads_alone(std::uint32_t maker, std::uint32_t reader) const {
    return graph_.is_only_read_by(result_of(graph_.node(maker)), {reader});
  }

  [[nodiscard]] static std::optional<ValueId> other_of(std::pair<ValueId, ValueId> pair,
                                                       ValueId one) {
    if (pair.first == one) return pair.second;
    return pair.second == one ? std::optional(pair.first) : std::nullopt;
  }

  const Matcher& graph_;
};

// An add whose sum a graphgate.rms_norm reads.
void fuse_add(Matcher& graph, std::uint32_t norm) {
  const Node& node = graph.node(norm);
  const auto sum = value_of(node, "input");
  const auto add = graph.maker(sum, "aten.add");
  const auto operands = add ? graph.operands(*add) : std::nullopt;
  if (!operands || !is_alpha_one(graph.node(*add))) return;
  const auto [residual, input] = *operands;
  const ValueId weight = *value_of(node, "weight");
  if (graph.dtype(residual) != graph.dtype(*sum) || graph.dtype(input) != graph.dtype(*sum)) return;
  if (!graph.has_sizes_of(residual, *sum) || !graph.has_sizes_of(input, *sum)) return;
  const bool in_place = graph.is_in_place(*add);
  const AliasSets& aliases = graph.aliases();
  if (in_place && (aliases.may_alias(residual, weight) || aliases.may_alias(residual, input))) {
    return;
  }
  // The fused node stands where the add stood: the sum is there for everybody who reads it.
  const std::vector<std::uint32_t> matched = {*add, norm};
  if (!graph.is_made_before(weight, *add)) return;
  if (!graph.may_read_at(weight, norm, *add, matched)) return;
  if (!graph.may_read_at(*sum, norm, *add, matched)) return;
  std::vector<spec::NamedArgument> arguments = node.arguments;
  arguments.front() = {"input", {input}};
  arguments.insert(arguments.begin(), {"residual", {residual}});
  graph.take(matched, *add,
             fused_node(node.name, in_place ? "add_rms_norm_" : "add_rms_norm",
                        std::move(arguments), {*sum, result_of(node)}));
}

}  // namespace

void fuse_rms_norm(spec::Graph& graph, PassContext& context) {
  Matcher matcher(graph, context);
  std::optional<double> first_epsilon;
  for (std::uint32_t n = 0; n < matcher.node_count(); ++n) {
    if (!matcher.is(n, "aten.rsqrt")) continue;
    const auto match = NormFinder(matcher).find(n);
    if (!match) continue;
    if (!first_epsilon) first_epsilon = match->epsilon;
    const double epsilon =
        context.has(spec::Deviation::kEpsilonOfFirstMatch) ? *first_epsilon : match->epsilon;
    matcher.take(match->matched, match->last,
                 fused_node(graph.nodes[match->last].name, "rms_norm",
                            {{"input", {match->input}},
                             {"weight", {match->weight}},
                             {"epsilon", {epsilon}},
                             {"compute", {match->compute}},
                             {"by_power", {match->by_power}}},
                            {match->result}));
  }
  matcher.apply();
}

void fuse_add_rms_norm(spec::Graph& graph, PassContext& context) {
  Matcher matcher(graph, context);
  for (std::uint32_t n = 0; n < matcher.node_count(); ++n) {
    if (matcher.is(n, "graphgate.rms_norm")) fuse_add(matcher, n);
  }
  matcher.apply();
}

}  // namespace graphgate::optimized
