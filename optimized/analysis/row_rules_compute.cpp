#include <algorithm>

#include "optimized/analysis/row_rules.h"

namespace graphgate::optimized::row_rules {

namespace {

// The arguments that a product multiplies.
struct Factors {
  std::string_view a, b;
  [[nodiscard]] bool b_is_transposed() const { return b == "weight"; }
};

std::optional<Factors> factors_of(const spec::OpSchema& schema) {
  static constexpr Factors kFactors[] = {
      {"mat1", "mat2"}, {"batch1", "batch2"}, {"mat", "vec"}, {"input", "weight"},
      {"self", "mat2"}, {"self", "other"},    {"self", "vec"}};
  for (const Factors& factors : kFactors) {
    if (schema.find_argument(factors.a) && schema.find_argument(factors.b)) return factors;
  }
  return {};
}

}  // namespace

// Rows may lie in the batch, in the rows of the left factor, or in the columns of the right one.
Verdict product(const RowCall& call) {
  const auto factors = factors_of(call.row().schema);
  if (!factors) return other("is not known to keep rows apart");
  const RowFact* a = call.tensor(factors->a);
  const RowFact* b = call.tensor(factors->b);
  if (has_rows(a) && a->rows->from_the_right() == 0) return mixes("sums over the rows");
  if (has_rows(b)) {
    const std::size_t summed = b->rows->rank == 1 || factors->b_is_transposed() ? 0 : 1;
    if (b->rows->from_the_right() == summed) return mixes("sums over the rows");
    const bool is_batch = b->rows->from_the_right() > 1;
    const bool meets_rows = has_rows(a) && a->rows->from_the_right() == b->rows->from_the_right();
    if (has_rows(a) && !(is_batch && meets_rows)) return mixes("pairs every row with every row");
  }
  const RowFact* bias = call.tensor(factors->a == "self" ? "bias" : "self");
  if (call.row().schema.find_argument("bias")) bias = call.tensor("bias");
  const auto& results = call.results();
  if (has_rows(bias) && bias != a && !results.empty() && results.front()->rows &&
      bias->rows->from_the_right() != results.front()->rows->from_the_right()) {
    return mixes("pairs every row with every row");
  }
  return keep_rows(call);
}

Verdict attention(const RowCall& call) {
  const spec::Argument* drops = call.argument("dropout_p");
  const bool is_random = drops && !(drops->as<double>() && *drops->as<double>() == 0);
  if (is_random) return other("draws random numbers");
  for (const RowFact* operand : call.operands()) {
    if (operand->rows && operand->rows->from_the_right() < 2) return mixes("attends over the rows");
  }
  return pointwise(call);
}

// Tokens of one batch, each of which looks at those before it.
Verdict attention_over_rows(const RowCall&) { return mixes("attends over the rows"); }

Verdict embedding(const RowCall& call) {
  if (has_rows(call.tensor("weight"))) return mixes("looks rows up");
  return keep_rows(call);
}

// Rows that are looked up by their own number are where they were.
Verdict index(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  const auto indices = call.tensors("indices");
  std::optional<std::size_t> place;
  for (const RowFact* at : indices) {
    if (at && at->type && at->type->dtype == spec::DType::kBool)
      return mixes("picks rows by a mask");
    if (!has_rows(at)) continue;
    if (place && *place != at->rows->from_the_right()) {
      return mixes("pairs every row with every row");
    }
    place = at->rows->from_the_right();
  }
  if (!has_rows(self)) return keep_rows(call);
  const RowFact* own = self->rows->dim < indices.size() ? indices[self->rows->dim] : nullptr;
  if (!own) return any_rows(indices) ? mixes("pairs every row with every row") : keep_rows(call);
  const bool is_own_number = own->is_row_number && self->rows->per_row == SizeProduct{};
  return is_own_number ? keep_rows(call) : mixes("looks rows up");
}

Verdict index_select(const RowCall& call) {
  const RowFact* self = call.tensor("self");
  if (has_rows(self) && (covers(call, "dim", *self->rows) || has_rows(call.tensor("index")))) {
    return mixes("looks rows up");
  }
  return keep_rows(call);
}

Verdict gather(const RowCall& call) {
  const RowFact* at = call.tensor("index");
  if (!has_rows(at) || covers(call, "dim", *at->rows)) return mixes("looks rows up");
  return along_dim(call);
}

Verdict layer_norm(const RowCall& call) {
  const RowFact* input = call.tensor("input");
  const auto shape = call.integers("normalized_shape");
  const bool has_row_weights = has_rows(call.tensor("weight")) || has_rows(call.tensor("bias"));
  if (!has_rows(input) || !shape || has_row_weights ||
      input->rows->from_the_right() < shape->size()) {
    return mixes("normalizes over the rows");
  }
  return keep_rows(call);
}

// Works within each image of a batch; dimension 0 counts the images.
Verdict per_image(const RowCall& call) {
  const RowFact* image = call.operands().front();
  if (!has_rows(image) || image->rows->dim != 0) return mixes("works along the rows");
  for (const RowFact* operand : call.operands()) {
    if (operand != image && operand->rows) return mixes("pairs every row with every row");
  }
  const std::string name = call.row().schema.base_name();
  const auto digit = name.find_first_of("123");
  const RowFact* weight = call.tensor("weight");
  const std::size_t batched_rank = digit != std::string::npos
                                       ? static_cast<std::size_t>(name[digit] - '0') + 2
                                   : weight && weight->type ? weight->type->sizes.size()
                                                            : 0;
  const bool is_norm = name.find("norm") != std::string::npos;
  if (!is_norm && image->rows->rank != batched_rank) return mixes("has rows for channels");
  return keep_rows(call);
}

Verdict dropout(const RowCall& call) {
  return call.integer("train") == 0 ? pointwise(call) : other("draws random numbers");
}

Verdict arange(const RowCall& call) {
  const bool starts_somewhere = !call.argument("start") || call.integer("start");
  const bool steps = !call.argument("step") || call.integer("step");
  return starts_somewhere && steps ? Verdict() : other("counts in steps that depend on the rows");
}

Verdict within_rows(const RowCall& call) {
  for (const RowFact* operand : call.operands()) {
    if (operand->rows && operand->rows->from_the_right() == 0) return mixes("works along the rows");
  }
  return pointwise(call);
}

// Sizes are numbers, which padding.cpp follows; assertions fail or hold when a plan is made.
Verdict states_sizes(const RowCall&) { return {}; }

}  // namespace graphgate::optimized::row_rules
