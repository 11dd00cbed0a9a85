// The cast of float32 values to an 8-bit float by a scale, spelled out:
//
//   source ─[cast to f32]─ div or mul by scale ─ clamp(min, max) ─ cast to f8
//
// Used by: fuse_norm_quant, fuse_attention_quant. `scale` is one float32 number (static), or
// one a row, made of the same values (dynamic):
//
//   values ─ abs ─ amax(-1, keepdim) ─[clamp min]─ div or mul by a number ─[clamp min]─ scale
#pragma once

#include "optimized/passes/match.h"

namespace graphgate::optimized {

struct QuantMatch {
  spec::ValueId source;  // before the cast to float32
  spec::ValueId scale;   // an input of the fused node (static), or a result of it (dynamic)
  spec::ValueId result;
  spec::DType dtype = spec::DType::kFloat8E4M3FN;
  bool divides = false;
  double min = 0;
  double max = 0;
  std::uint32_t scale_read = 0;             // the node that reads the scale
  std::vector<std::uint32_t> matched;       // nodes that go
  std::vector<std::uint32_t> source_reads;  // of those, the ones that read `source`

  bool is_dynamic = false;
  std::optional<double> floor_before, floor_after;
  double factor = 0;
  bool factor_divides = false;
};

// The pattern that ends in this cast to an 8-bit float. Inner values are read by nobody else, and
// no node of it is in place. What reads `source` beside it is for the caller to judge.
[[nodiscard]] std::optional<QuantMatch> find_quant(const Matcher& graph, std::uint32_t last_cast);

// Calls `visit(matcher, node)` for each cast to an 8-bit float, and makes the changes.
template <class Visit>
void rewrite_quantizing_casts(spec::Graph& graph, PassContext& context, const Visit& visit) {
  Matcher matcher(graph, context);
  for (std::uint32_t n = 0; n < matcher.node_count(); ++n) {
    if (!matcher.is(n, "aten._to_copy") && !matcher.is(n, "aten.to")) continue;
    const auto dtype = matcher.dtype(result_of(matcher.node(n)));
    const bool is_narrow = dtype == spec::DType::kFloat8E4M3FN || dtype == spec::DType::kFloat8E5M2;
    if (is_narrow) visit(matcher, n);
  }
  matcher.apply();
}

// divides, min, max and dtype, and what is dynamic: the fused node's keyword arguments.
[[nodiscard]] std::vector<spec::NamedArgument> quant_arguments(const QuantMatch& match);

}  // namespace graphgate::optimized
