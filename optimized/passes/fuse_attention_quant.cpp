// Attention whose output is only cast to an 8-bit float, by one static scale, joins that cast
// (quant_pattern.h): aten.scaled_dot_product_attention, and vllm.unified_attention_with_output,
// whose output buffer then disappears.
//
// Between the two may stand ops that only move elements (transposes, reshapes), each read by the
// next alone: the cast works element by element, so they now move its results instead.
//
// Preconditions: the scale is there before the attention, and nothing writes it in between; vLLM's
// output is a buffer of this graph that nobody else reads or writes. An attention op whose row
// names hidden state or an order is left alone: the fused op has none.
#include <algorithm>

#include "optimized/passes/quant_pattern.h"

namespace graphgate::optimized {
namespace {

using spec::Node;
using spec::ValueId;

constexpr std::string_view kSdpa = "aten.scaled_dot_product_attention.default";
constexpr std::string_view kAttention = "vllm.unified_attention_with_output.default";

class AttentionQuant {
 public:
  AttentionQuant(Matcher& matcher, std::uint32_t last_cast) : matcher_(matcher), last_(last_cast) {}

  void run() {
    const auto quant = find_quant(matcher_, last_);
    if (!quant || quant->is_dynamic || matcher_.index().is_output(quant->source)) return;
    const auto readers = matcher_.index().users(quant->source);
    for (const std::uint32_t reader : readers) {
      if (contains(quant->matched, reader) || is_writer(reader, quant->source)) continue;
      return;
    }
    walk_back(quant->source);
    if (const auto attention = find_attention(*quant)) fuse(*attention, *quant);
  }

 private:
  [[nodiscard]] bool is_writer(std::uint32_t n, ValueId output) const {
    return matcher_.node(n).op == kAttention && value_of(matcher_.node(n), "output") == output;
  }

  // Whether an argument that the fused op has no place for is given: a row of vLLM's own has
  // scales, and what is to come before.
  [[nodiscard]] static bool says_more(const Node& node) {
    return std::ranges::any_of(node.arguments, [](const spec::NamedArgument& named) {
      const bool is_known = named.name == "query" || named.name == "key" || named.name == "value" ||
                            named.name == "output" || named.name == "layer_name";
      return !is_known && named.argument.as<spec::None>() == nullptr;
    });
  }

  // Whether the node only moves the elements of `self`, all of them.
  [[nodiscard]] bool moves(std::uint32_t n) const {
    for (const std::string_view family :
         {"aten.view", "aten.reshape", "aten._unsafe_view", "aten.transpose", "aten.permute",
          "aten.unsqueeze", "aten.contiguous", "aten.clone"}) {
      if (!matcher_.is(n, family) || matcher_.is_in_place(n)) continue;
      return !argument_of(matcher_.node(n), "dtype");
    }
    return false;
  }

  // Sets `output_` to the value that the chain of moves begins with.
  void walk_back(ValueId source) {
    output_ = source;
    while (true) {
      const auto maker = matcher_.index().producer(output_);
      if (!maker || !moves(*maker)) return;
      const auto self = value_of(matcher_.node(*maker), "self");
      if (!self || matcher_.index().is_output(*self)) return;
      const auto readers = matcher_.index().users(*self);
      for (const std::uint32_t reader : readers) {
        if (reader != *maker && !is_writer(reader, *self)) return;
      }
      moves_.push_back(*maker);
      output_ = *self;
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> find_attention(const QuantMatch& quant) const {
    auto attention = matcher_.index().producer(output_);
    if (!attention) return std::nullopt;
    if (matcher_.node(*attention).op != kSdpa) {
      attention = find_vllm(*attention, quant);
      if (!attention) return std::nullopt;
    }
    const spec::OpRow* row = matcher_.context().row(matcher_.node(*attention).op);
    if (!row->hidden_state_reads.empty() || !row->hidden_state_writes.empty() ||
        !row->orders.empty() || !row->undeclared_writes.empty()) {
      return std::nullopt;
    }
    if (!matcher_.is_made_before(quant.scale, *attention)) return std::nullopt;
    std::vector<std::uint32_t> matched = quant.matched;
    matched.push_back(*attention);
    return matcher_.may_read_at(quant.scale, quant.scale_read, *attention, matched) ? attention
                                                                                    : std::nullopt;
  }

  // The op that writes a buffer which `maker` made, and nothing but it touches the buffer.
  [[nodiscard]] std::optional<std::uint32_t> find_vllm(std::uint32_t maker,
                                                       const QuantMatch& quant) const {
    if (!matcher_.is(maker, "aten.empty") || !matcher_.row_major()(output_)) return std::nullopt;
    const AliasSets& aliases = matcher_.aliases();
    if (aliases.holds_input(output_) || aliases.holds_output(output_)) return std::nullopt;
    std::optional<std::uint32_t> writer;
    for (const AliasAccess& access : aliases.accesses(output_)) {
      if (access.writes) {
        if (writer || !is_writer(access.node, output_) || access.value != output_) {
          return std::nullopt;
        }
        writer = access.node;
      } else if (!contains(quant.matched, access.node) && !contains(moves_, access.node) &&
                 !is_writer(access.node, output_)) {
        return std::nullopt;
      }
    }
    if (!writer || says_more(matcher_.node(*writer))) return std::nullopt;
    const auto first_move = moves_.empty() ? quant.scale_read : moves_.back();
    const auto query = value_of(matcher_.node(*writer), "query");
    const bool has_type = query && matcher_.dtype(*query) &&
                          matcher_.dtype(*query) == matcher_.dtype(output_) &&
                          matcher_.has_sizes_of(*query, output_);
    return has_type && *writer < first_move ? writer : std::nullopt;
  }

  // The type of a moved value, as 8-bit floats.
  ValueId add_narrow(ValueId like, spec::DType dtype) {
    spec::Value value = matcher_.graph().value(like);
    if (value.type) value.type->dtype = dtype;
    return add_value(matcher_.mutable_graph(), std::move(value));
  }

  void fuse(std::uint32_t attention, const QuantMatch& quant) {
    const Node& node = matcher_.node(attention);
    const bool is_sdpa = node.op == kSdpa;
    std::vector<spec::NamedArgument> arguments = is_sdpa ? sdpa_arguments(node) : node.arguments;
    std::erase_if(arguments, [](const auto& named) { return named.name == "output"; });
    arguments.push_back({"quant_scale", {quant.scale}});
    for (auto& named : quant_arguments(quant)) arguments.push_back(std::move(named));
    std::vector<std::uint32_t> matched = quant.matched;
    matched.push_back(attention);
    ValueId last = moves_.empty() ? quant.result : add_narrow(output_, quant.dtype);
    Node fused = fused_node(node.name, is_sdpa ? "sdpa_static_quant" : "attention_static_quant",
                            std::move(arguments), {last});
    matcher_.take(matched, attention, std::move(fused));
    for (std::size_t i = moves_.size(); i-- > 0;) {
      Node& move = matcher_.mutable_graph().nodes[moves_[i]];
      for (spec::NamedArgument& named : move.arguments) {
        if (named.name == "self") named.argument = {last};
      }
      last = i == 0 ? quant.result : add_narrow(result_of(move), quant.dtype);
      matcher_.mutable_graph().nodes[moves_[i]].results.front().values.front() = last;
    }
  }

  // All of them: the fused schema has no defaults.
  [[nodiscard]] static std::vector<spec::NamedArgument> sdpa_arguments(const Node& node) {
    std::vector<spec::NamedArgument> out;
    const std::pair<const char*, spec::Argument> defaults[] = {
        {"query", {}},        {"key", {}},
        {"value", {}},        {"attn_mask", {}},
        {"dropout_p", {0.0}}, {"is_causal", {false}},
        {"scale", {}},        {"enable_gqa", {false}}};
    for (const auto& [name, otherwise] : defaults) {
      const spec::Argument* given = argument_of(node, name);
      out.push_back({name, given ? *given : otherwise});
    }
    return out;
  }

  Matcher& matcher_;
  std::uint32_t last_;
  ValueId output_;
  std::vector<std::uint32_t> moves_;  // the last first
};

}  // namespace

void fuse_attention_quant(spec::Graph& graph, PassContext& context) {
  rewrite_quantizing_casts(
      graph, context, [](Matcher& matcher, std::uint32_t n) { AttentionQuant(matcher, n).run(); });
}

}  // namespace graphgate::optimized
