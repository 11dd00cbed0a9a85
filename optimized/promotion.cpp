#include "optimized/promotion.h"

#include <algorithm>
#include <array>

namespace graphgate::optimized {
namespace {

using spec::DType;

enum class Category : std::uint8_t { kNone, kBool, kInteger, kFloating, kComplex };

Category category_of(DType dtype) {
  if (dtype == DType::kBool) return Category::kBool;
  if (spec::is_complex(dtype)) return Category::kComplex;
  return spec::is_floating_point(dtype) ? Category::kFloating : Category::kInteger;
}

bool is_8bit_float(DType dtype) {
  return spec::is_floating_point(dtype) && spec::item_size_bytes(dtype) == 1;
}

// Widths decide among signed integers, and among floats; u8 with a signed type needs 16 bits, and
// f16 with bf16 float32.
DType promote_integers(DType a, DType b) {
  const DType wider = spec::item_size_bytes(a) >= spec::item_size_bytes(b) ? a : b;
  const bool mixes_signs = (a == DType::kUInt8) != (b == DType::kUInt8);
  return mixes_signs && spec::item_size_bytes(wider) == 1 ? DType::kInt16 : wider;
}

DType promote_floats(DType a, DType b) {
  if (is_8bit_float(a) || is_8bit_float(b)) {
    throw OpError("no promotion between " + std::string(spec::torch_name(a)) + " and " +
                  std::string(spec::torch_name(b)));
  }
  if (spec::item_size_bytes(a) == spec::item_size_bytes(b)) return DType::kFloat32;  // f16, bf16
  return spec::item_size_bytes(a) > spec::item_size_bytes(b) ? a : b;
}

// A complex dtype and another: its components must hold float64 where the other has them.
DType promote_complex(DType complex, DType other) {
  const bool is_wide =
      complex == DType::kComplex128 || other == DType::kComplex128 || other == DType::kFloat64;
  return is_wide ? DType::kComplex128 : DType::kComplex64;
}

// The complex dtype whose components are floats of this dtype.
DType complex_of(DType floating) {
  if (floating == DType::kFloat16) throw Unsupported("complex32 is not supported");
  if (is_8bit_float(floating)) return promote_floats(floating, DType::kFloat32);  // refused
  return floating == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

// What is known of one rank of operands.
struct Rank {
  Category category = Category::kNone;
  DType dtype = DType::kBool;

  void add(DType other) {
    dtype = category == Category::kNone ? other : promote(dtype, other);
    category = std::max(category, category_of(other));
  }
};

class Ranks {
 public:
  void add(const Tensor& tensor) { ranks_[tensor.rank() > 0 ? 0 : 1].add(tensor.dtype); }
  void add(const Item& item) {
    if (const auto* tensor = item.as<Tensor>()) return add(*tensor);
    if (item.as<bool>()) ranks_[2].add(DType::kBool);
    if (item.as<std::int64_t>()) ranks_[2].add(DType::kInt64);
    if (item.as<double>()) ranks_[2].add(DType::kFloat32);
    if (item.as<spec::ComplexNumber>()) ranks_[2].add(DType::kComplex64);
  }
  [[nodiscard]] DType combined() const {
    Rank result = ranks_[0];
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
      if (ranks_[i].category <= result.category) continue;
      if (result.category == Category::kFloating) {
        result.dtype = complex_of(result.dtype);  // the width is the higher rank's
      } else {
        result.dtype = result.category == Category::kNone ? ranks_[i].dtype
                                                          : promote(result.dtype, ranks_[i].dtype);
      }
      result.category = ranks_[i].category;
    }
    return result.dtype;
  }

 private:
  std::array<Rank, 3> ranks_;
};

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  const Category ca = category_of(a);
  const Category cb = category_of(b);
  if (ca == Category::kComplex) return promote_complex(a, b);
  if (cb == Category::kComplex) return promote_complex(b, a);
  if (ca != cb) return ca > cb ? a : b;
  return ca == Category::kFloating ? promote_floats(a, b) : promote_integers(a, b);
}

DType result_type(std::initializer_list<const Item*> operands) {
  Ranks ranks;
  for (const Item* operand : operands) {
    if (operand) ranks.add(*operand);
  }
  return ranks.combined();
}

DType result_type(std::span<const Tensor* const> tensors) {
  Ranks ranks;
  for (const Tensor* tensor : tensors) {
    if (tensor) ranks.add(*tensor);
  }
  return ranks.combined();
}

DType to_floating(DType dtype) {
  return spec::is_floating_point(dtype) || spec::is_complex(dtype) ? dtype : DType::kFloat32;
}

}  // namespace graphgate::optimized
