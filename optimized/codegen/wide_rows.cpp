#include "optimized/codegen/wide_rows.h"

namespace graphgate::optimized {

bool is_half(spec::DType dtype) {
  return dtype == spec::DType::kBFloat16 || dtype == spec::DType::kFloat16;
}

bool has_wide_rows(const Tensor& tensor) {
  constexpr std::int64_t kItems = 8;
  if (tensor.rank() == 0 || tensor.strides.back() != 1 || tensor.sizes.back() % kItems != 0) {
    return false;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data());  // NOLINT: its alignment
  if (address % 16 != 0) return false;
  for (std::size_t d = 0; d + 1 < tensor.sizes.size(); ++d) {
    const std::int64_t stride = tensor.strides[d];
    if (tensor.sizes[d] != 1 && (stride <= 0 || stride % kItems != 0)) return false;
  }
  return true;
}

std::int64_t pitch_of(const Tensor& tensor, std::int64_t dim) {
  return tensor.strides[static_cast<std::size_t>(dim)] * tensor.item_bytes();
}

}  // namespace graphgate::optimized
