// The bounds that clamp and hardtanh take as numbers. Called by activation.cpp and comparison.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "reference/pointwise.h"
#include "reference/version_facts.h"

namespace graphgate::reference {

inline constexpr VersionFact kBoundsNothing{
    "clamp, hardtanh: a bound that no integer of the dtype reaches bounds nothing", {2, 15}};

// Returns the bound `name` as numbers of `dtype`. Integers are cut off (-0.5 is 0). One that no
// integer of the dtype reaches bounds nothing (kBoundsNothing): a lower bound of -300 stands for 0
// among bytes. Throws OpError where all integers lie beyond it. In older releases the number wraps
// or is refused, as any other number of a byte tensor.
template <class N>
[[nodiscard]] N bound_number(const Call& call, std::string_view name, spec::DType dtype) {
  const Datum& datum = call.datum(name);
  if (spec::is_floating_point(dtype) || dtype == spec::DType::kBool) {
    return checked_number<N>(datum, dtype);
  }
  const bool is_byte = dtype == spec::DType::kUInt8;
  const auto width = static_cast<unsigned>(8 * spec::item_size_bytes(dtype));
  const std::int64_t most =
      is_byte ? 255 : static_cast<std::int64_t>((std::uint64_t{1} << (width - 1)) - 1);
  const std::int64_t least = is_byte ? 0 : -most - 1;
  const std::int64_t given = number<Whole>(datum, spec::DType::kInt64).value;
  const bool is_lower = name.substr(0, 3) == "min";
  if ((given < least || given > most) && !holds(kBoundsNothing)) {
    return checked_number<N>(datum, dtype);
  }
  if (is_lower ? given > most : given < least) {
    throw OpError("clamp: " + std::string(name) + " " + std::to_string(given) + " is outside of " +
                  std::string(spec::torch_name(dtype)));
  }
  return number<N>(Datum{is_lower ? std::max(given, least) : std::min(given, most)}, dtype);
}

}  // namespace graphgate::reference
