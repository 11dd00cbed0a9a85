#include "optimized/kernels/pointwise.h"

#include <cmath>

#include "optimized/arithmetic/format_dispatch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

bool allows(Numbers numbers, DType dtype) {
  switch (numbers) {
    case Numbers::kNotBool:
      return dtype != DType::kBool;
    case Numbers::kFloating:
      return spec::is_floating_point(dtype);
    case Numbers::kIntegral:
      return !spec::is_floating_point(dtype);
    case Numbers::kAny:
    case Numbers::kReal:
      return true;
  }
  return true;
}

int category(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return spec::is_floating_point(dtype) ? 2 : 1;
}

// What numbers stand for where strides are inferred: a tensor without dimensions.
const Tensor& scalar_tensor() {
  static const Tensor kScalar{};
  return kScalar;
}

[[noreturn]] void overflow(DType dtype) {
  throw OpError("value cannot be converted to type " + std::string(spec::torch_name(dtype)) +
                " without overflow");
}

std::int64_t greatest_integer(DType dtype) {
  const std::int64_t bits = 8 * spec::item_size_bytes(dtype) - (dtype == DType::kUInt8 ? 0 : 1);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}

// Unsigned dtypes take the negatives of what they hold, modulo their width.
std::int64_t least_integer(DType dtype) {
  return dtype == DType::kUInt8 ? -greatest_integer(dtype) : -greatest_integer(dtype) - 1;
}

void check_real(double value, DType dtype) {
  if (spec::is_floating_point(dtype)) {
    if (std::isfinite(value) && std::fabs(value) > greatest_finite(dtype)) overflow(dtype);
    return;
  }
  const auto low = static_cast<double>(least_integer(dtype));
  const auto high = static_cast<double>(greatest_integer(dtype));
  if (!(value >= low && (value <= high && value < 0x1p63))) overflow(dtype);
}

}  // namespace

double greatest_finite(DType dtype) {
  if (!spec::is_floating_point(dtype)) return std::numeric_limits<double>::max();
  return with_float_format(dtype, []<class Format>() -> double {
    if constexpr (requires { Format::kGreatest; }) return Format::decode(Format::kGreatest);
    return std::numeric_limits<typename Format::Bits>::max();
  });
}

DType common_dtype(const KernelCall& call, const PointwiseSignature& signature) {
  const auto& arguments = call.arguments();
  const auto operand = [&](std::size_t k) {
    return k < static_cast<std::size_t>(signature.operands) ? &arguments[k] : nullptr;
  };
  DType common = result_type({operand(0), operand(1), operand(2)});
  if (!allows(signature.numbers, common)) {
    throw OpError("not implemented for " + std::string(spec::torch_name(common)));
  }
  for (std::size_t k = 0; signature.all_one_dtype && operand(k); ++k) {
    const auto* tensor = operand(k)->as<Tensor>();
    const auto* first = arguments[0].as<Tensor>();
    if (!tensor || !first || tensor->dtype == first->dtype) continue;
    throw OpError("expected dtype " + std::string(spec::torch_name(first->dtype)) + " for '" +
                  call.row().schema.arguments[k].name + "', not " +
                  std::string(spec::torch_name(tensor->dtype)));
  }
  return signature.numbers == Numbers::kReal ? to_floating(common) : common;
}

void check_written(const KernelCall& call, DType dtype) {
  const Tensor* written = call.written_result(0);
  if (!written) return;
  const bool loses = category(dtype) == 2 ? category(written->dtype) < 2
                                          : category(dtype) == 1 && category(written->dtype) == 0;
  if (loses) {
    throw OpError("result type " + std::string(spec::torch_name(dtype)) +
                  " can't be cast to the desired output type " +
                  std::string(spec::torch_name(written->dtype)));
  }
  if (written->count() == 0) return;
  for (std::size_t d = 0; d < written->sizes.size(); ++d) {
    if (written->sizes[d] > 1 && written->strides[d] == 0) {
      throw OpError("more than one element of the written-to tensor is one place in memory");
    }
  }
}

void make_pointwise(Inference& call, DType dtype, int operands) {
  SmallVector<const Tensor*, 4> inputs;
  for (std::size_t k = 0; k < static_cast<std::size_t>(operands); ++k) {
    const Item& item = call.arguments()[k];
    // One that must be there is a number that only the call will know.
    if (item.as<spec::None>() && call.row().schema.arguments[k].type.optional) continue;
    const auto* tensor = item.as<Tensor>();
    inputs.push_back(tensor ? tensor : &scalar_tensor());
  }
  make_over(call, dtype, inputs);
}

namespace {

void make_of(Inference& call, DType dtype, Sizes sizes, Sizes strides) {
  check_written(call, dtype);
  const Tensor* written = call.written_result(0);
  if (written && call.row().writes(0) && written->sizes != sizes) {
    throw OpError("the written tensor has sizes " + print_sizes(written->sizes) +
                  ", the operands broadcast to " + print_sizes(sizes));
  }
  call.make(dtype, std::move(sizes), std::move(strides));
  call.follows_operands();
}

}  // namespace

void make_like_self(Inference& call, DType dtype) {
  const Tensor& self = *call.arguments()[0].as<Tensor>();
  make_of(call, dtype, self.sizes, strides_like(self, spec::MemoryFormat::kPreserve));
}

void make_over(Inference& call, DType dtype, std::span<const Tensor* const> inputs) {
  Sizes sizes = broadcast_sizes(inputs);
  Sizes strides = pointwise_strides(inputs, sizes);
  make_of(call, dtype, std::move(sizes), std::move(strides));
}

void check_number(const Item& item, DType dtype) {
  if (const auto* x = item.as<double>()) {
    if (dtype != DType::kBool) check_real(*x, dtype);
    return;
  }
  const auto* i = item.as<std::int64_t>();
  if (!i || dtype == DType::kBool) return;
  if (spec::is_floating_point(dtype)) return check_real(static_cast<double>(*i), dtype);
  if (*i < least_integer(dtype) || *i > greatest_integer(dtype)) overflow(dtype);
}

void store_number(const Item& item, DType dtype, std::byte* at) {
  if (item.as<double>()) return store_element<double>(dtype, number_as<double>(item), at);
  store_element<std::int64_t>(dtype, number_as<std::int64_t>(item), at);
}

template <class C>
void load_tile_as(DType as, DType dtype, const std::byte* first, std::int64_t stride_bytes, int n,
                  C* out) {
  if (dtype == as || as == native_dtype<C>())
    return load_tile<C>(dtype, first, stride_bytes, n, out);
  with_compute(dtype, [&]<class From>() {
    std::array<From, kTile> wide;
    std::array<std::byte, kTile * 8> cast;
    const std::int64_t item = spec::item_size_bytes(as);
    for (int begin = 0; begin < n; begin += kTile) {
      const int length = std::min(kTile, n - begin);
      load_tile<From>(dtype, first + begin * stride_bytes, stride_bytes, length, wide.data());
      store_tile<From>(as, wide.data(), length, cast.data(), item);
      load_tile<C>(as, cast.data(), item, length, out + begin);
    }
  });
}

template void load_tile_as<float>(DType, DType, const std::byte*, std::int64_t, int, float*);
template void load_tile_as<double>(DType, DType, const std::byte*, std::int64_t, int, double*);
template void load_tile_as<std::int64_t>(DType, DType, const std::byte*, std::int64_t, int,
                                         std::int64_t*);

}  // namespace graphgate::optimized
