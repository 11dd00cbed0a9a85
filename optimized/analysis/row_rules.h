// The rules of padding_rules.h, one function per way of treating rows.
//
// Those that move elements, and those that compute along dimensions, are in row_rules.cpp;
// products, look-ups and normalizations in row_rules_compute.cpp. A rule is asked only where rows
// are involved, and answers nothing when they stay apart.
#pragma once

#include "optimized/analysis/padding_rules.h"

namespace graphgate::optimized::row_rules {

using Verdict = std::optional<Refusal>;

[[nodiscard]] inline Verdict mixes(std::string why) {
  return Refusal{Refusal::Kind::kMixesRows, std::move(why)};
}
[[nodiscard]] inline Verdict other(std::string why) {
  return Refusal{Refusal::Kind::kOther, std::move(why)};
}
[[nodiscard]] inline bool has_rows(const RowFact* fact) { return fact && fact->rows; }
[[nodiscard]] bool any_rows(const std::vector<const RowFact*>& facts);
// Whether the dimensions that argument `name` gives (all of them when it gives none) hold `rows`.
[[nodiscard]] bool covers(const RowCall& call, std::string_view name, const RowDim& rows);
// Results have rows, of as many indices each as every operand that has any.
[[nodiscard]] Verdict keep_rows(const RowCall& call);

[[nodiscard]] Verdict pointwise(const RowCall& call);
[[nodiscard]] Verdict fresh(const RowCall& call);
[[nodiscard]] Verdict along_dim(const RowCall& call);
[[nodiscard]] Verdict along_dims(const RowCall& call);
[[nodiscard]] Verdict along_dimension(const RowCall& call);
[[nodiscard]] Verdict scatter_along_dim(const RowCall& call);
[[nodiscard]] Verdict scatter_anywhere(const RowCall& call);
[[nodiscard]] Verdict view(const RowCall& call);
[[nodiscard]] Verdict expand(const RowCall& call);
[[nodiscard]] Verdict move_dims(const RowCall& call);
[[nodiscard]] Verdict slice(const RowCall& call);
[[nodiscard]] Verdict repeat(const RowCall& call);
[[nodiscard]] Verdict pad(const RowCall& call);
[[nodiscard]] Verdict product(const RowCall& call);
[[nodiscard]] Verdict attention(const RowCall& call);
[[nodiscard]] Verdict attention_over_rows(const RowCall& call);
[[nodiscard]] Verdict embedding(const RowCall& call);
[[nodiscard]] Verdict index(const RowCall& call);
[[nodiscard]] Verdict index_select(const RowCall& call);
[[nodiscard]] Verdict gather(const RowCall& call);
[[nodiscard]] Verdict layer_norm(const RowCall& call);
[[nodiscard]] Verdict per_image(const RowCall& call);
[[nodiscard]] Verdict dropout(const RowCall& call);
[[nodiscard]] Verdict arange(const RowCall& call);
[[nodiscard]] Verdict within_rows(const RowCall& call);
[[nodiscard]] Verdict states_sizes(const RowCall& call);

}  // namespace graphgate::optimized::row_rules
