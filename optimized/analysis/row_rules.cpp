#include "optimized/analysis/row_rules.h"

#include <algorithm>
#include <limits>

namespace graphgate::optimized::row_rules {

namespace {

Verdict scatters(std::string why) { return Refusal{Refusal::Kind::kScatters, std::move(why)}; }

}  // namespace

bool any_rows(const std::vector<const RowFact*>& facts) {
  return std::ranges::any_of(facts, [](const RowFact* fact) { return fact && fact->rows; });
}

Verdict keep_rows(const RowCall& call) {
  if (!any_rows(call.operands())) return other("makes rows of what has none");
  for (const RowFact* result : call.results()) {
    if (!result->rows) return mixes("makes one result of all rows");
    for (const RowFact* operand : call.operands()) {
      if (operand->rows && !(operand->rows->per_row == result->rows->per_row)) {
        return mixes("takes rows apart");
      }
    }
  }
  return {};
}

// Broadcasting aligns dimensions from the right; rows must meet rows.
Verdict pointwise(const RowCall& call) {
  std::optional<std::size_t> place;
  for (const auto* facts : {&call.results(), &call.operands()}) {
    for (const RowFact* fact : *facts) {
      if (!fact->rows) continue;
      if (place && *place != fact->rows->from_the_right()) {
        return mixes("pairs every row with every row");
      }
      place = fact->rows->from_the_right();
    }
  }
  return keep_rows(call);
}

// Sizes that the types tell; contents that are the same at every place.
Verdict fresh(const RowCall&) { return {}; }

namespace {

// `dims` of an operand, wrapped; nothing where one is not constant.
std::optional<std::vector<std::size_t>> wrapped(
    const std::vector<std::optional<std::int64_t>>& dims, std::size_t rank) {
  std::vector<std::size_t> out;
  for (const auto& dim : dims) {
    if (!dim) return {};
    out.push_back(
        static_cast<std::size_t>(*dim < 0 ? *dim + static_cast<std::int64_t>(rank) : *dim));
  }
  return out;
}

}  // namespace

bool covers(const RowCall& call, std::string_view name, const RowDim& rows) {
  const auto dims = call.integers(name);
  if (!dims || dims->empty()) return true;
  const auto all = wrapped(*dims, rows.rank);
  return !all || std::ranges::find(*all, rows.dim) != all->end();
}

namespace {

// Mixes what lies along `name`, and leaves the other dimensions of all operands side by side.
Verdict along(const RowCall& call, std::string_view name) {
  std::optional<RowDim> first;
  for (const RowFact* operand : call.operands()) {
    if (!operand->rows) continue;
    if (covers(call, name, *operand->rows)) return mixes("works along the rows");
    if (first && (first->dim != operand->rows->dim || first->rank != operand->rows->rank)) {
      return mixes("pairs every row with every row");
    }
    first = operand->rows;
  }
  return keep_rows(call);
}

}  // namespace

Verdict along_dim(const RowCall& call) { return along(call, "dim"); }
Verdict along_dims(const RowCall& call) { return along(call, "dims"); }
Verdict along_dimension(const RowCall& call) { return along(call, "dimension"); }

// Rows of `self` stay where they are, and every other operand that has rows has them there too.
Verdict scatter_along_dim(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  if (!has_rows(self)) return scatters("writes to as many places as there are rows");
  for (const RowFact* operand : call.operands()) {
    if (operand->rows && operand->rows->rank != self->rows->rank) {
      return scatters("writes to as many places as there are rows");
    }
  }
  Verdict verdict = along_dim(call);
  if (verdict) verdict->kind = Refusal::Kind::kScatters;
  return verdict;
}

Verdict scatter_anywhere(const RowCall&) {
  return scatters("writes to as many places as there are rows");
}

// Elements in row-major order: what stands before a row, and in a row, is as much as before.
Verdict view(const RowCall& call) {
  if (call.row().schema.find_argument("dtype") && !call.argument("size")) return pointwise(call);
  const RowFact* self = call.operands().front();
  for (const RowFact* result : call.results()) {
    if (!has_rows(self) || !result->rows) return mixes("loses the rows");
    const auto parts = [](const RowFact& fact) {
      std::pair<SizeProduct, SizeProduct> out{{}, fact.rows->per_row};
      for (std::size_t d = 0; d < fact.type->sizes.size(); ++d) {
        if (d < fact.rows->dim) out.first.multiply(fact.type->sizes[d]);
        if (d > fact.rows->dim) out.second.multiply(fact.type->sizes[d]);
      }
      return out;
    };
    if (parts(*self) != parts(*result)) return mixes("takes rows apart");
  }
  return {};
}

// Dimensions move; one that is stretched may become the rows.
Verdict expand(const RowCall& call) {
  return any_rows(call.operands()) ? pointwise(call) : Verdict();
}
Verdict move_dims(const RowCall& call) { return keep_rows(call); }

// A full slice of the rows, any slice of others, or the first so many of a table.
Verdict slice(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  const auto start = call.argument("start") ? call.integer("start") : 0;
  const bool starts_at_0 = start == 0 && call.integer("step") == 1;
  if (!has_rows(self)) return starts_at_0 ? Verdict() : mixes("counts its places from the last");
  if (!covers(call, "dim", *self->rows)) return keep_rows(call);
  if (!starts_at_0) return mixes("moves the rows");
  const auto end = call.argument("end") ? call.integer("end") : std::nullopt;
  const bool is_full = !call.argument("end") || call.argument("end")->as<spec::None>() ||
                       end == std::numeric_limits<std::int64_t>::max();
  return is_full ? keep_rows(call) : mixes("cuts rows off");
}

Verdict repeat(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  if (!has_rows(self)) return {};
  const auto repeats = call.integers("repeats");
  if (!repeats) return mixes("repeats the rows");
  const auto times = (*repeats)[repeats->size() - 1 - self->rows->from_the_right()];
  return times == 1 ? keep_rows(call) : mixes("repeats the rows");
}

Verdict pad(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  const auto pads = call.integers("pad");
  if (!has_rows(self) || !pads) return mixes("pads the rows");
  for (std::size_t side = 0; side < 2; ++side) {
    const std::size_t at = 2 * self->rows->from_the_right() + side;
    if (at < pads->size() && (*pads)[at] != 0) return mixes("pads the rows");
  }
  return keep_rows(call);
}

}  // namespace graphgate::optimized::row_rules
