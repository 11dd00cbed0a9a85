#include "reference/complex_calls.h"

#include <algorithm>

#include "reference/complex_array.h"
#include "reference/movement.h"
#include "spec/missing_op.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// What of a call is complex: the dtype to name in a refusal.
struct Found {
  std::optional<DType> complex;
  bool bits = false;
};

void look_at(const Datum& datum, Found& found) {
  if (const auto* tensor = datum.as<TensorRef>()) {
    if (*tensor == nullptr) return;
    if (spec::is_complex((*tensor)->dtype)) found.complex = (*tensor)->dtype;
    found.bits = found.bits || has_bits(**tensor);
  } else if (const auto* list = datum.as<Datum::List>()) {
    for (const Datum& element : *list) look_at(element, found);
  } else if (const auto* dtype = datum.as<DType>()) {
    if (spec::is_complex(*dtype)) found.complex = *dtype;
  } else if (datum.as<spec::ComplexNumber>() != nullptr) {
    if (!found.complex) found.complex = DType::kComplex64;
  }
}

Found look_for_complex(std::span<const Datum> data) {
  Found found;
  for (const Datum& datum : data) look_at(datum, found);
  return found;
}

void run_without_bits(Body body, Call& call, std::optional<DType> complex) {
  if (!complex) return body(call);
  if (const Body of_complex = find_complex_body(call.row())) return of_complex(call);
  const OpBody* op = find_op(call.row());
  if (op != nullptr && op->takes_any_dtype) return body(call);
  throw Undecidable(std::string(spec::kNoBody) + " for " + call.row().schema.qualified_name() +
                    " of " + std::string(spec::torch_name(*complex)));
}

// Tensors without bits in the place of those that have them, and which stand for what is written.
struct Resolved {
  std::vector<Datum> arguments;
  std::vector<std::pair<TensorRef, TensorRef>> written;  // stand-in, tensor

  Datum resolve(const Datum& datum, bool is_written) {
    if (const auto* tensor = datum.as<TensorRef>()) {
      if (*tensor == nullptr || !has_bits(**tensor)) return datum;
      const TensorRef stand_in = resolved(*tensor);
      if (is_written) written.emplace_back(stand_in, *tensor);
      return {stand_in};
    }
    const auto* list = datum.as<Datum::List>();
    if (list == nullptr) return datum;
    Datum::List out;
    for (const Datum& element : *list) out.push_back(resolve(element, is_written));
    return {std::move(out)};
  }

  Datum given_back(const Datum& datum) const {
    if (const auto* list = datum.as<Datum::List>()) {
      Datum::List out;
      for (const Datum& element : *list) out.push_back(given_back(element));
      return {std::move(out)};
    }
    const auto* tensor = datum.as<TensorRef>();
    if (tensor == nullptr) return datum;
    for (const auto& [stand_in, original] : written) {
      if (*tensor == stand_in) return {original};
    }
    return datum;
  }
};

// What stands in for a written tensor goes where that lies, with the signs that its bits turn.
void write_back(Mode mode, const Tensor& stand_in, Tensor& original) {
  if (stand_in.sizes != original.sizes) {
    throw Undecidable("an out= tensor that is a conjugate view is resized");
  }
  const TensorRef copy = copy_of(stand_in);
  turn_signs(*copy, original.is_conj, original.is_neg);
  Tensor plain = original;
  plain.is_conj = plain.is_neg = false;
  assign(mode, plain, *copy);
}

}  // namespace

bool touches_complex(std::span<const Datum> data) {
  const Found found = look_for_complex(data);
  return found.complex.has_value() || found.bits;
}

void run_call(Body body, Call& call) {
  const Found found = look_for_complex(call.arguments());
  const bool passes_bits_on = call.row().effects.is_view || call.row().has_tag("inplace_view");
  if (found.bits && passes_bits_on && !found.complex) {
    const Body of_bits = find_complex_body(call.row());
    return (of_bits != nullptr ? of_bits : body)(call);
  }
  if (!found.bits || passes_bits_on) return run_without_bits(body, call, found.complex);
  Resolved stand_ins;
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    stand_ins.arguments.push_back(
        stand_ins.resolve(call.arguments()[i], call.row().effects.mutates(i)));
  }
  Call inner(call.mode(), call.row(), stand_ins.arguments);
  inner.seed_draws(call.draw_seed(), call.knows_draws());
  run_without_bits(body, inner, found.complex);
  for (const auto& [stand_in, original] : stand_ins.written) {
    write_back(call.mode(), *stand_in, *original);
  }
  for (const Datum& result : inner.results()) call.emit_datum(stand_ins.given_back(result));
}

}  // namespace graphgate::reference
