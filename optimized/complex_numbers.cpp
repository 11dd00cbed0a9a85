#include "optimized/complex_numbers.h"

#include <algorithm>
#include <string>

namespace graphgate::optimized {
namespace {

using spec::DType;

// The first complex dtype of an argument.
std::optional<DType> complex_dtype(const Item& item) {
  std::optional<DType> dtype;
  if (const auto* tensor = item.as<Tensor>()) dtype = tensor->dtype;
  if (const auto* named = item.as<DType>()) dtype = *named;
  if (item.as<spec::ComplexNumber>()) dtype = DType::kComplex64;
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) {
      if (const auto inner = complex_dtype(element)) return inner;
    }
  }
  return dtype && spec::is_complex(*dtype) ? dtype : std::nullopt;
}

std::optional<DType> complex_dtype(const KernelCall& call) {
  for (const Item& item : call.arguments()) {
    if (const auto dtype = complex_dtype(item)) return dtype;
  }
  return std::nullopt;
}

// Whether a conversion is one to bool, which asks what the number is.
bool asks_for_bool(const KernelCall& call, std::string_view name) {
  const auto is_bool = [&](std::string_view argument) {
    return call.is_tensor(argument) && call.tensor(argument).dtype == DType::kBool;
  };
  const Tensor* const written = call.written_result(0);
  if (written != nullptr && written->dtype == DType::kBool) return true;
  if (name == "aten.copy" || name == "aten.fill") return is_bool("self");
  if (name == "aten.type_as" || name == "aten.to") {
    if (is_bool("other")) return true;
  }
  const bool converts = name == "aten.to" || name == "aten._to_copy";
  return converts && call.has("dtype") && call.optional_dtype("dtype") == DType::kBool;
}

// Whether it adds numbers up where they meet, or writes one that is no tensor's.
bool needs_numbers(const KernelCall& call, std::string_view name) {
  const bool is_number = name == "aten.scatter" && !call.is_tensor("src");
  return is_number || call.has("reduce") || call.boolean_or("accumulate", false);
}

}  // namespace

Tensor component_of(const Tensor& tensor, int which) {
  Tensor out = tensor;
  out.dtype = spec::component_dtype(tensor.dtype);
  out.offset = 2 * tensor.offset + which;
  for (std::int64_t& stride : out.strides) stride *= 2;
  return out;
}

Tensor components_of(const Tensor& tensor) {
  Tensor out = component_of(tensor, 0);
  out.sizes.push_back(2);
  out.strides.push_back(1);
  return out;
}

bool has_complex(const KernelCall& call) { return complex_dtype(call).has_value(); }

bool moves_complex(const KernelCall& call) {
  const Kernel* const kernel = find_kernel(call.row());
  return kernel != nullptr && kernel->takes_any_dtype && !asks_for_bool(call, kernel->base_name) &&
         !needs_numbers(call, kernel->base_name);
}

void refuse_complex(const KernelCall& call) {
  if (!has_complex(call) || moves_complex(call)) return;
  throw Unsupported(no_complex_text(call));
}

std::string no_complex_text(const KernelCall& call) {
  const auto dtype = complex_dtype(call);
  return call.row().schema.qualified_name() + " of " +
         std::string(spec::torch_name(dtype.value_or(DType::kComplex64))) + " is not supported";
}

}  // namespace graphgate::optimized
