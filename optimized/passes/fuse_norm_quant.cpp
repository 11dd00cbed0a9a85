// A normalization whose only reader casts it to an 8-bit float joins that cast, static or a scale a
// row (quant_pattern.h):
//
//   graphgate.rms_norm, graphgate.add_rms_norm, graphgate.add_rms_norm_   from the passes before
//   vllm.fused_add_rms_norm                                               which writes its input
//
// The new node stands where the normalization stood, so a static scale must be there by then, and
// nothing may write it in between. vLLM's op normalizes in place: what it leaves in `input` must be
// read by the cast alone, and is not written any more.
#include <algorithm>

#include "optimized/passes/quant_pattern.h"

namespace graphgate::optimized {
namespace {

using spec::Node;
using spec::ValueId;

constexpr std::string_view kAddRmsNorm = "vllm.fused_add_rms_norm.default";

// The normalization that made a value, with what the fused node takes over from it.
struct Norm {
  std::uint32_t node = 0;
  std::string op;  // of the fused node, without its quantization
  bool in_place = false;
  std::vector<spec::NamedArgument> arguments;
  std::vector<ValueId> results;  // before the quantized one
};

class NormQuant {
 public:
  NormQuant(Matcher& matcher, std::uint32_t last_cast) : matcher_(matcher), last_(last_cast) {}

  void run() {
    const auto quant = find_quant(matcher_, last_);
    if (!quant) return;
    auto norm = find_ours(*quant);
    if (!norm) norm = find_vllm(*quant);
    if (norm && scale_is_there(*norm, *quant)) fuse(std::move(*norm), *quant);
  }

 private:
  // Results of our own ops.
  [[nodiscard]] std::optional<Norm> find_ours(const QuantMatch& quant) const {
    const auto maker = matcher_.index().producer(quant.source);
    if (!maker) return std::nullopt;
    const Node& node = matcher_.node(*maker);
    Norm norm{*maker, "rms_norm", false, node.arguments, {}};
    if (node.op != "graphgate.rms_norm.default") {
      norm.in_place = node.op == "graphgate.add_rms_norm_.default";
      if (!norm.in_place && node.op != "graphgate.add_rms_norm.default") return std::nullopt;
      norm.op = "add_rms_norm";
      norm.results = {node.results.front().values.front()};
    }
    if (node.results.back().values.front() != quant.source) return std::nullopt;
    if (matcher_.index().is_output(quant.source)) return std::nullopt;
    const auto readers = matcher_.index().users(quant.source);
    const bool is_alone = std::ranges::all_of(
        readers, [&](std::uint32_t reader) { return contains(quant.matched, reader); });
    return is_alone ? std::optional(norm) : std::nullopt;
  }

  // The op that wrote the value last, where its input is the value.
  [[nodiscard]] std::optional<Norm> find_vllm(const QuantMatch& quant) const {
    const AliasSets& aliases = matcher_.aliases();
    const std::uint32_t first_read = *std::ranges::min_element(quant.source_reads);
    std::optional<std::uint32_t> writer;
    for (const AliasAccess& access : aliases.accesses(quant.source)) {
      if (access.writes && access.node < first_read) writer = access.node;
    }
    if (!writer || matcher_.node(*writer).op != kAddRmsNorm) return std::nullopt;
    const Node& node = matcher_.node(*writer);
    const auto input = value_of(node, "input");
    const auto residual = value_of(node, "residual");
    if (input != quant.source || !residual || aliases.may_alias(*input, *residual)) {
      return std::nullopt;
    }
    if (aliases.holds_input(*input) || aliases.holds_output(*input)) return std::nullopt;
    if (aliases.is_accessed_between(*input, *writer, matcher_.node_count(), false,
                                    [&](std::uint32_t n) { return contains(quant.matched, n); })) {
      return std::nullopt;
    }
    return vllm_norm(*writer, *input, *residual);
  }

  // vLLM's op squares by a product, and computes in the tensors' dtype.
  [[nodiscard]] std::optional<Norm> vllm_norm(std::uint32_t n, ValueId input,
                                              ValueId residual) const {
    const Node& node = matcher_.node(n);
    const auto weight = value_of(node, "weight");
    const auto epsilon = number_of(argument_of(node, "epsilon"));
    const auto dtype = matcher_.dtype(input);
    if (!weight || !epsilon || !dtype || matcher_.dtype(residual) != dtype ||
        matcher_.dtype(*weight) != dtype) {
      return std::nullopt;
    }
    if (matcher_.aliases().may_alias(residual, *weight)) return std::nullopt;
    return Norm{n,
                "add_rms_norm",
                true,
                {{"residual", {residual}},
                 {"input", {input}},
                 {"weight", {*weight}},
                 {"epsilon", {*epsilon}},
                 {"compute", {*dtype}},
                 {"by_power", {false}}},
                {}};
  }

  [[nodiscard]] bool scale_is_there(const Norm& norm, const QuantMatch& quant) const {
    if (quant.is_dynamic) return true;
    if (!matcher_.is_made_before(quant.scale, norm.node)) return false;
    for (const spec::NamedArgument& named : norm.arguments) {
      const auto* id = named.argument.as<ValueId>();
      if (norm.in_place && id && named.name == "residual" &&
          matcher_.aliases().may_alias(*id, quant.scale)) {
        return false;
      }
    }
    std::vector<std::uint32_t> matched = quant.matched;
    matched.push_back(norm.node);
    return matcher_.may_read_at(quant.scale, quant.scale_read, norm.node, matched);
  }

  void fuse(Norm norm, const QuantMatch& quant) {
    const Node& node = matcher_.node(norm.node);
    if (norm.results.empty() && norm.op == "add_rms_norm") {
      spec::Value sum;
      sum.name = node.name + "_sum";
      norm.results = {add_value(matcher_.mutable_graph(), std::move(sum))};
    }
    norm.results.push_back(quant.result);
    if (quant.is_dynamic) {
      norm.results.push_back(quant.scale);
    } else {
      norm.arguments.push_back({"scale", {quant.scale}});
    }
    for (auto& named : quant_arguments(quant)) norm.arguments.push_back(std::move(named));
    std::vector<std::uint32_t> matched = quant.matched;
    matched.push_back(norm.node);
    const std::string op = norm.op + (quant.is_dynamic ? "_dynamic_quant" : "_static_quant");
    matcher_.take(matched, norm.node,
                  fused_node(node.name, op + (norm.in_place ? "_" : ""), std::move(norm.arguments),
                             norm.results));
  }

  Matcher& matcher_;
  std::uint32_t last_;
};

}  // namespace

void fuse_norm_quant(spec::Graph& graph, PassContext& context) {
  rewrite_quantizing_casts(graph, context,
                           [](Matcher& matcher, std::uint32_t n) { NormQuant(matcher, n).run(); });
}

}  // namespace graphgate::optimized
