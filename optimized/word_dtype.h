// Elements as words: the integer dtype that has as many bytes. Copies and ops on bits move these.
#pragma once

#include "spec/dtype.h"

namespace graphgate::optimized {

[[nodiscard]] inline spec::DType word_dtype(spec::DType dtype) {
  switch (spec::item_size_bytes(dtype)) {
    case 1:
      return spec::DType::kUInt8;
    case 2:
      return spec::DType::kInt16;
    case 4:
      return spec::DType::kInt32;
    default:
      return spec::DType::kInt64;
  }
}

}  // namespace graphgate::optimized
