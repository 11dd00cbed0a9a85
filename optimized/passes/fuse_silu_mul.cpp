// silu(gate) * up becomes graphgate.silu_mul, at the place of the product.
//
//   silu(gate) * up                                  aten.silu, in place or not
//   [cast](x * sigmoid(x)) * up, x = [cast] gate     as decomposed
//
// Preconditions: nobody else reads what is in between; gate and up have one dtype and the same
// sizes; nothing writes the gate in between. Where silu_ wrote the gate itself, either the product
// writes it too (graphgate.silu_mul_) and nobody looks in between, or nobody reads it afterwards.
//
// `up_first` says that the product begins with up: the result's strides follow its first factor.
#include "optimized/passes/match.h"

namespace graphgate::optimized {
namespace {

using spec::DType;
using spec::ValueId;

struct SiluMatch {
  ValueId gate, up;
  DType compute = DType::kFloat32;
  bool by_sigmoid = false;
  bool writes_gate = false;
  bool up_first = false;
  std::uint32_t first = 0;  // the first node that reads the gate
  std::vector<std::uint32_t> matched;
};

class SiluFinder {
 public:
  explicit SiluFinder(const Matcher& graph) : graph_(graph) {}

  std::optional<SiluMatch> find(std::uint32_t product) {
    const auto operands = graph_.operands(product);
    if (!operands || operands->first == operands->second) return std::nullopt;
    for (const bool is_first : {true, false}) {
      if (graph_.is_in_place(product) && !is_first) continue;
      SiluMatch match;
      match.matched = {product};
      match.up = is_first ? operands->second : operands->first;
      const ValueId silu = is_first ? operands->first : operands->second;
      if (!find_silu(silu, product, match) && !find_decomposed(silu, product, match)) continue;
      match.up_first = !is_first;
      if (is_right(match, product)) return match;
    }
    return std::nullopt;
  }

 private:
  bool find_silu(ValueId value, std::uint32_t reader, SiluMatch& match) const {
    const auto silu = graph_.maker(value, "aten.silu");
    if (!silu || !graph_.is_only_read_by(value, {reader})) return false;
    const auto gate = value_of(graph_.node(*silu), "self");
    const auto dtype = gate ? graph_.dtype(*gate) : std::nullopt;
    if (!dtype) return false;
    match.gate = *gate;
    match.compute = *dtype;
    match.first = *silu;
    match.matched.push_back(*silu);
    return true;
  }

  bool find_decomposed(ValueId value, std::uint32_t reader, SiluMatch& match) const {
    if (const auto cast = graph_.cast(value)) {
      if (!graph_.is_only_read_by(value, {reader})) return false;
      match.matched.push_back(*cast);
      value = *value_of(graph_.node(*cast), "self");
      reader = *cast;
    }
    const auto product = graph_.maker(value, "aten.mul");
    const auto factors = product ? graph_.operands(*product) : std::nullopt;
    if (!factors || graph_.is_in_place(*product)) return false;
    if (!graph_.is_only_read_by(value, {reader})) return false;
    for (const auto& [x, other] : {*factors, std::pair(factors->second, factors->first)}) {
      const auto sigmoid = graph_.maker(other, "aten.sigmoid");
      if (!sigmoid || graph_.is_in_place(*sigmoid)) continue;
      if (value_of(graph_.node(*sigmoid), "self") != x) continue;
      if (!graph_.is_only_read_by(other, {*product})) continue;
      match.matched.insert(match.matched.end(), {*product, *sigmoid});
      return find_gate(x, *sigmoid, *product, match);
    }
    return false;
  }

  bool find_gate(ValueId x, std::uint32_t sigmoid, std::uint32_t product, SiluMatch& match) const {
    const auto compute = graph_.dtype(x);
    if (!compute) return false;
    match.by_sigmoid = true;
    match.compute = *compute;
    match.gate = x;
    match.first = std::min(sigmoid, product);
    const auto cast = graph_.cast(x);
    if (cast && graph_.dtype(x) != graph_.dtype(match.up)) {
      if (graph_.is_only_read_by(x, {sigmoid, product})) match.matched.push_back(*cast);
      match.gate = *value_of(graph_.node(*cast), "self");
      match.first = *cast;
    }
    return has_dtype(sigmoid, *compute) && has_dtype(product, *compute);
  }

  [[nodiscard]] bool has_dtype(std::uint32_t n, DType dtype) const {
    return graph_.dtype(result_of(graph_.node(n))) == dtype;
  }

  bool is_right(SiluMatch& match, std::uint32_t product) const {
    const ValueId result = result_of(graph_.node(product));
    const auto dtype = graph_.dtype(match.gate);
    if (!dtype || !spec::is_floating_point(*dtype) || spec::item_size_bytes(*dtype) == 1) {
      return false;
    }
    const bool is_wide = match.compute == DType::kFloat32 && *dtype != DType::kFloat64;
    if (match.compute != *dtype && !is_wide) return false;
    if (graph_.dtype(match.up) != *dtype || graph_.dtype(result) != *dtype) return false;
    const auto operands = graph_.operands(product);
    const ValueId silu = operands->first == match.up ? operands->second : operands->first;
    if (graph_.dtype(silu) != *dtype) return false;
    if (!graph_.has_sizes_of(match.gate, match.up)) return false;
    return graph_.may_read_at(match.gate, match.first, product, match.matched) &&
           writes_are_right(match, product);
  }

  // `silu` is the node that may have written the gate, `product` the one that may write again.
  bool writes_are_right(SiluMatch& match, std::uint32_t product) const {
    const bool silu_writes = !match.by_sigmoid && graph_.is_in_place(match.first);
    const bool product_writes = graph_.is_in_place(product);
    if (!silu_writes) {
      match.writes_gate = false;
      return !product_writes || graph_.writes_stay_inside({product, match.matched.back()});
    }
    const AliasSets& aliases = graph_.aliases();
    if (aliases.may_alias(match.gate, match.up)) return false;
    match.writes_gate = product_writes;
    const auto is_matched = [&](std::uint32_t n) { return n == product || n == match.first; };
    const std::uint32_t end = product_writes ? product + 1 : graph_.node_count();
    if (aliases.is_accessed_between(match.gate, match.first, end, false, is_matched)) return false;
    return product_writes ||
           (!aliases.holds_input(match.gate) && !aliases.holds_output(match.gate));
  }

  const Matcher& graph_;
};

}  // namespace

void fuse_silu_mul(spec::Graph& graph, PassContext& context) {
  Matcher matcher(graph, context);
  for (std::uint32_t n = 0; n < matcher.node_count(); ++n) {
    if (!matcher.is(n, "aten.mul")) continue;
    const auto match = SiluFinder(matcher).find(n);
    if (!match) continue;
    std::vector<spec::NamedArgument> arguments = {{"gate", {match->gate}},
                                                  {"up", {match->up}},
                                                  {"compute", {match->compute}},
                                                  {"by_sigmoid", {match->by_sigmoid}}};
    if (match->up_first) arguments.push_back({"up_first", {true}});
    matcher.take(match->matched, n,
                 fused_node(matcher.node(n).name, match->writes_gate ? "silu_mul_" : "silu_mul",
                            std::move(arguments), {result_of(matcher.node(n))}));
  }
  matcher.apply();
}

}  // namespace graphgate::optimized
