// One element of a tensor as text, for every dtype. type_text.h puts them into lists.
//
// Invariant: read_element(print_element(bits)) gives the same bits. Hand-written decimals are
// rounded to the nearest value of the dtype, ties to even; a finite number outside the dtype's
// range is an error, never an infinity.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "spec/dtype.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

// `element` has item_size_bytes(dtype) bytes. nullopt for a NaN other than the one that reading
// `nan` gives (sign and payload would be lost), and for a bool that is neither 0 nor 1.
[[nodiscard]] std::optional<std::string> print_element(DType dtype,
                                                       std::span<const std::byte> element);

// Reads one element into the item_size_bytes(dtype) bytes of `element`.
[[nodiscard]] Result<void> read_element(TextReader& reader, DType dtype,
                                        std::span<std::byte> element);

}  // namespace graphgate::spec
