#include "optimized/passes/quant_pattern.h"

#include <algorithm>
#include <cmath>

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using spec::Node;
using spec::ValueId;

class QuantFinder {
 public:
  explicit QuantFinder(const Matcher& graph) : graph_(graph) {}

  std::optional<QuantMatch> find(std::uint32_t last_cast) {
    match_.result = result_of(graph_.node(last_cast));
    match_.dtype = *graph_.dtype(match_.result);
    match_.matched = {last_cast};
    const auto clamp = graph_.maker(value_of(graph_.node(last_cast), "self"), "aten.clamp");
    if (!clamp || !take(*clamp, last_cast)) return std::nullopt;
    const auto min = number_of(argument_of(graph_.node(*clamp), "min"));
    const auto max = number_of(argument_of(graph_.node(*clamp), "max"));
    if (!min || !max || std::isnan(*min) || std::isnan(*max)) return std::nullopt;
    match_.min = *min;
    match_.max = *max;
    return find_scaled(*clamp) ? std::optional(match_) : std::nullopt;
  }

 private:
  // A float32 node that `reader` alone reads joins the match.
  bool take(std::uint32_t n, std::uint32_t reader) {
    const ValueId value = result_of(graph_.node(n));
    if (graph_.is_in_place(n) || graph_.dtype(value) != DType::kFloat32) return false;
    if (!graph_.is_only_read_by(value, {reader})) return false;
    match_.matched.push_back(n);
    return true;
  }

  bool find_scaled(std::uint32_t clamp) {
    const auto values = value_of(graph_.node(clamp), "self");
    auto scaled = graph_.maker(values, "aten.div");
    match_.divides = scaled.has_value();
    if (!scaled) scaled = graph_.maker(values, "aten.mul");
    if (!scaled || !take(*scaled, clamp)) return false;
    if (!is_default(argument_of(graph_.node(*scaled), "rounding_mode"), {})) return false;
    const auto operands = graph_.operands(*scaled);
    if (!operands) return false;
    auto [wide, scale] = *operands;
    if (!match_.divides && !is_scale_of(scale, wide)) std::swap(wide, scale);
    if (!is_scale_of(scale, wide)) return false;
    match_.scale = scale;
    match_.scale_read = *scaled;
    if (!is_one(scale) && !(match_.divides && find_row_scale(wide, *scaled))) return false;
    return find_source(wide);
  }

  // float32, and one number or one a row.
  [[nodiscard]] bool is_scale_of(ValueId scale, ValueId wide) const {
    const auto& type = graph_.graph().value(scale).type;
    const auto& values = graph_.graph().value(wide).type;
    if (!type || !values || type->dtype != DType::kFloat32 || values->dtype != DType::kFloat32) {
      return false;
    }
    return type->device == values->device && type->sizes.size() <= values->sizes.size() &&
           (type->sizes.empty() || type->sizes.back() == spec::SymExpr(1));
  }

  [[nodiscard]] bool is_one(ValueId scale) const {
    const auto& sizes = graph_.graph().value(scale).type->sizes;
    return std::ranges::all_of(sizes,
                               [](const spec::SymExpr& size) { return size == spec::SymExpr(1); });
  }

  // clamp_min(x, number), or clamp(x, number).
  std::optional<std::uint32_t> floor_at(ValueId value) const {
    if (const auto found = graph_.maker(value, "aten.clamp_min")) return found;
    const auto found = graph_.maker(value, "aten.clamp");
    const bool is_floor = found && is_default(argument_of(graph_.node(*found), "max"), {});
    return is_floor ? found : std::nullopt;
  }

  // Takes a floor that makes the value; leaves the value below it in `value`.
  bool take_floor(ValueId& value, std::optional<double>& floor, bool is_scale,
                  std::uint32_t reader) {
    const auto node = floor_at(value);
    if (!node) return true;
    floor = number_of(argument_of(graph_.node(*node), "min"));
    const auto below = value_of(graph_.node(*node), "self");
    if (!floor || std::isnan(*floor) || !below || graph_.is_in_place(*node)) return false;
    if (is_scale) {
      match_.matched.push_back(*node);  // its readers read the fused node's result
    } else if (!take(*node, reader)) {
      return false;
    }
    value = *below;
    return true;
  }

  bool find_row_scale(ValueId wide, std::uint32_t reader) {
    ValueId value = match_.scale;
    if (!take_floor(value, match_.floor_after, true, reader)) return false;
    const bool scale_is_quotient = value == match_.scale;
    auto quotient = graph_.maker(value, "aten.div");
    match_.factor_divides = quotient.has_value();
    if (!quotient) quotient = graph_.maker(value, "aten.mul");
    const auto factor =
        quotient ? number_of(argument_of(graph_.node(*quotient), "other")) : std::nullopt;
    if (!factor || graph_.is_in_place(*quotient)) return false;
    if (!is_default(argument_of(graph_.node(*quotient), "rounding_mode"), {})) return false;
    match_.factor = *factor;
    if (scale_is_quotient) {
      match_.matched.push_back(*quotient);
    } else if (!take(*quotient, match_.matched.back())) {
      return false;
    }
    value = *value_of(graph_.node(*quotient), "self");
    if (!take_floor(value, match_.floor_before, false, *quotient)) return false;
    match_.is_dynamic = true;
    const std::uint32_t amax_reader = match_.floor_before ? match_.matched.back() : *quotient;
    return find_greatest(value, amax_reader, wide);
  }

  // amax(abs(values), -1, keepdim=True).
  bool find_greatest(ValueId value, std::uint32_t reader, ValueId wide) {
    const auto amax = graph_.maker(value, "aten.amax");
    if (!amax || !take(*amax, reader)) return false;
    const Node& node = graph_.node(*amax);
    const Argument* keeps = argument_of(node, "keepdim");
    if (integers_of(argument_of(node, "dim")) != std::vector<std::int64_t>{-1}) return false;
    if (!keeps || *keeps != Argument{true}) return false;
    const auto magnitude = graph_.maker(value_of(node, "self"), "aten.abs");
    if (!magnitude || !take(*magnitude, *amax)) return false;
    const auto values = value_of(graph_.node(*magnitude), "self");
    if (!values || graph_.dtype(*values) != DType::kFloat32) return false;
    return *values == wide ? true : take_second_cast(*values, wide, *magnitude);
  }

  // The magnitudes may come from a cast of their own of the same source.
  bool take_second_cast(ValueId values, ValueId wide, std::uint32_t reader) {
    const auto first = graph_.cast(wide);
    const auto second = graph_.cast(values);
    if (!first || !second) return false;
    if (value_of(graph_.node(*first), "self") != value_of(graph_.node(*second), "self")) {
      return false;
    }
    if (!take(*second, reader)) return false;
    match_.source_reads.push_back(*second);
    return true;
  }

  // What the values are a cast of, or the values themselves.
  bool find_source(ValueId wide) {
    match_.source = wide;
    const auto cast = graph_.cast(wide);
    const auto readers = graph_.index().users(wide);
    const bool is_private =
        !graph_.index().is_output(wide) && std::ranges::all_of(readers, [&](std::uint32_t reader) {
          return std::ranges::find(match_.matched, reader) != match_.matched.end();
        });
    if (!cast) {
      std::copy_if(readers.begin(), readers.end(), std::back_inserter(match_.source_reads),
                   [&](std::uint32_t reader) {
                     return std::ranges::find(match_.matched, reader) != match_.matched.end();
                   });
      return true;
    }
    if (!is_private) return false;
    match_.matched.push_back(*cast);
    match_.source_reads.push_back(*cast);
    match_.source = *value_of(graph_.node(*cast), "self");
    const auto dtype = graph_.dtype(match_.source);
    return dtype && spec::is_floating_point(*dtype) && dtype != DType::kFloat64;
  }

  const Matcher& graph_;
  QuantMatch match_;
};

}  // namespace

std::optional<QuantMatch> find_quant(const Matcher& graph, std::uint32_t last_cast) {
  if (!graph.cast(result_of(graph.node(last_cast)))) return std::nullopt;
  return QuantFinder(graph).find(last_cast);
}

std::vector<spec::NamedArgument> quant_arguments(const QuantMatch& match) {
  if (!match.is_dynamic) {
    return {{"divides", {match.divides}},
            {"min", {match.min}},
            {"max", {match.max}},
            {"dtype", {match.dtype}}};
  }
  const auto or_none = [](const std::optional<double>& number) {
    return number ? Argument{*number} : Argument{spec::None{}};
  };
  return {{"floor_before", or_none(match.floor_before)},
          {"factor", {match.factor}},
          {"factor_divides", {match.factor_divides}},
          {"floor_after", or_none(match.floor_after)},
          {"min", {match.min}},
          {"max", {match.max}},
          {"dtype", {match.dtype}}};
}

}  // namespace graphgate::optimized
