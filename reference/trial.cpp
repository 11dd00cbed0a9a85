#include "reference/trial.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "reference/number/float_format.h"
#include "spec/provenance.h"

namespace graphgate::reference {
namespace {

// A standard normal number that depends on the words alone (Box and Muller, 1958).
double normal(std::uint64_t words) {
  constexpr double kStep = 0x1p-53;
  const auto unit = [](std::uint64_t bits) {
    return (static_cast<double>(bits >> 11U) + 1) * kStep;
  };
  const double size = std::sqrt(-2 * std::log(unit(words)));
  return size * std::cos(2 * std::numbers::pi * unit(spec::mix_provenance(words, 1)));
}

long double drawn(const Mark& mark, spec::DType dtype, const Trial& trial) {
  std::uint64_t words =
      spec::mix_provenance(trial.number, std::bit_cast<std::uint64_t>(mark.radius));
  const auto high = static_cast<double>(mark.value);
  const auto low = static_cast<double>(mark.value - static_cast<long double>(high));
  for (const double part : {high, low}) {
    words = spec::mix_provenance(words, std::bit_cast<std::uint64_t>(part));
  }
  const double error = trial.scale * mark.radius * normal(words);
  const long double value = mark.value + static_cast<long double>(error);
  const double rounded = round_to_dtype(value, dtype);
  const bool rounds = trial.number % 2 == 1 || std::isinf(rounded);
  return rounds ? static_cast<long double>(rounded) : value;
}

}  // namespace

void draw_errors(Tensor& tensor, const Trial& trial) {
  if (spec::is_complex(tensor.dtype)) {
    Tensor parts = as_components(tensor);
    return draw_errors(parts, trial);
  }
  if (!spec::is_floating_point(tensor.dtype)) return;
  for_each_position(tensor, [&](std::int64_t position) {
    if (tensor.storage->marks.empty()) return;
    StoredMark& stored = tensor.storage->marks[static_cast<std::size_t>(position)];
    Mark mark = stored;
    if (mark.radius == 0 || std::isinf(mark.radius) || std::isnan(mark.value)) return;
    mark = {drawn(mark, tensor.dtype, trial), 0};
    stored = mark;
    encode_float(round_to_dtype(mark.value, tensor.dtype), tensor.dtype,
                 tensor.storage->writable_bytes() + position * spec::item_size_bytes(tensor.dtype));
  });
}

}  // namespace graphgate::reference
