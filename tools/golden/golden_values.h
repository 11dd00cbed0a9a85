// Values as golden records keep them: exact, short, and comparable in units in the last place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/executor.h"
#include "tools/golden/golden_record.h"

namespace graphgate::tools {

// Tensors of at most so many elements are kept whole; of others so many elements.
inline constexpr std::size_t kWholeTensor = 32;
inline constexpr std::size_t kSomeElements = 8;

// "sha256:" and the first 16 digits.
[[nodiscard]] std::string digest_of(std::string_view bytes);

// Without `shares`.
[[nodiscard]] GoldenValue golden_value(std::string place, const spec::OutputValue& value);
[[nodiscard]] GoldenValue golden_value(std::string place, const spec::InputValue& value);
[[nodiscard]] GoldenValue golden_value(std::string place, const spec::HostTensor& tensor);

// What changed between two values of the same place, in sentences without the place: "3 of 8
// values changed, by at most 1 ulp (the first from 0x1p+0 to 0x1.000002p+0)". Empty iff equal.
[[nodiscard]] std::vector<std::string> diff_values(const GoldenValue& before,
                                                   const GoldenValue& after);

// How many values of a floating dtype ("f32") lie between two of its values, the second included;
// nullopt for NaNs, for infinities beside finite values, and for other dtypes.
[[nodiscard]] std::optional<std::uint64_t> ulps_between(std::string_view dtype,
                                                        std::string_view before,
                                                        std::string_view after);

}  // namespace graphgate::tools
