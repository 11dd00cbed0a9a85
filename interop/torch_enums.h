// The numbers that torch.export's schema (major 8) gives to dtypes, layouts and memory formats.
//
// They are the numbers of the serialized form, not of c10::ScalarType: LONG is 5 here and 4 there.
// Source: torch/_export/serde/schema.py of PyTorch 2.11.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "spec/dtype.h"

namespace graphgate::interop {

// kUnsupported for a dtype that PyTorch knows and this project has not (complex32); kBadInput for a
// number that means nothing. The same for layouts (sparse ones) and memory formats.
[[nodiscard]] Result<spec::DType> dtype_of_number(std::int64_t number);
[[nodiscard]] Result<spec::Layout> layout_of_number(std::int64_t number);
[[nodiscard]] Result<spec::MemoryFormat> memory_format_of_number(std::int64_t number);

[[nodiscard]] std::int64_t number_of(spec::DType dtype);
// Layout::kNone has no number: 0, which PyTorch calls unknown.
[[nodiscard]] std::int64_t number_of(spec::Layout layout);
[[nodiscard]] std::int64_t number_of(spec::MemoryFormat format);

}  // namespace graphgate::interop
