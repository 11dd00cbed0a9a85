// Softmax along one dimension. Layer and group normalization: normalization_layer.cpp.
#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/functions.h"
#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/row_text.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/normalization_layer.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// The dtype of the result: `dtype` converts the input first, half_to_float the result.
DType softmax_dtype(const KernelCall& call) {
  const DType own = call.tensor("self").dtype;
  const DType dtype = call.optional_dtype("dtype").value_or(
      call.boolean_or("half_to_float", false) ? DType::kFloat32 : own);
  if (!spec::is_floating_point(dtype) && call.tensor("self").count() != 0) {
    throw OpError("softmax wants a floating-point dtype, not " +
                  std::string(spec::torch_name(dtype)));
  }
  return dtype;
}

void infer_softmax(Inference& call) {
  const Tensor& self = call.tensor("self");
  (void)wrap_dim(call.integer("dim"), self.rank());
  call.make(softmax_dtype(call), self.sizes);
}

enum class Kind { kSoftmax, kSafe, kLog };

// In place. A safe softmax of nothing but -inf is 0; else that is NaN.
template <class C, Kind kind>
void softmax_row(std::vector<C>& row) {
  const auto n = static_cast<std::int64_t>(row.size());
  const C top = greatest_of<C>(n, [&](std::int64_t i) { return row[static_cast<std::size_t>(i)]; });
  if (kind == Kind::kSafe && top == -static_cast<C>(kInfinity)) {
    return std::fill(row.begin(), row.end(), C(0));
  }
  if (kind == Kind::kLog) {
    const C sum = ordered_sum_of<C>(
        n, [&](std::int64_t i) { return exp(row[static_cast<std::size_t>(i)] - top); });
    const C log_sum = log(sum);
    for (C& x : row) x = x - top - log_sum;
    return;
  }
  for (C& x : row) x = exp(x - top);
  const C sum = ordered_sum(row.data(), n);
  for (C& x : row) x /= sum;
}

template <Kind kind>
Launch bind_softmax(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const DType dtype = softmax_dtype(call);
  if (self.count() == 0) return {};
  const std::vector<std::int64_t> dims = {wrap_dim(call.integer("dim"), self.rank())};
  Launch launch = with_real(dtype, [&]<class C>() -> Launch {
    return [from = ConvertedRows(self, dims, dtype), to = Rows(call.result(), dims),
            result = call.result(), dtype] {
      std::vector<C> row(static_cast<std::size_t>(from.length()));
      for (std::int64_t r = 0; r < from.count(); ++r) {
        from.template load<C>(r, row.data());
        softmax_row<C, kind>(row);
        store_row<C>(result, to, r, dtype, row.data());
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  constexpr const char* kFunction = kind == Kind::kSafe  ? "safe_softmax"
                                    : kind == Kind::kLog ? "log_softmax"
                                                         : "softmax";
  auto work = softmax_text(call.result(), self, dims[0], dtype, kFunction);
  if (!work) return launch;
  return described(std::move(launch), {std::move(*work)});
}

}  // namespace

std::span<const Kernel> normalization_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.softmax", infer_softmax, bind_softmax<Kind::kSoftmax>}
          .fuses(Fusion::kAlongDim)
          .rows(row_rules::along_dim),
      Kernel{"aten._softmax", infer_softmax, bind_softmax<Kind::kSoftmax>}
          .fuses(Fusion::kAlongDim)
          .rows(row_rules::along_dim),
      Kernel{"aten._safe_softmax", infer_softmax, bind_softmax<Kind::kSafe>}
          .fuses(Fusion::kAlongDim)
          .rows(row_rules::along_dim),
      Kernel{"aten.log_softmax", infer_softmax, bind_softmax<Kind::kLog>}.fuses(Fusion::kAlongDim),
      Kernel{"aten._log_softmax", infer_softmax, bind_softmax<Kind::kLog>}
          .fuses(Fusion::kAlongDim)
          .rows(row_rules::along_dim),
      Kernel{"aten.layer_norm", infer_layer_norm, bind_layer_norm}
          .fuses(Fusion::kNormalizedShape)
          .rows(row_rules::layer_norm),
      Kernel{"aten.native_layer_norm", infer_native_layer_norm, bind_layer_norm}
          .fuses(Fusion::kNormalizedShape)
          .rows(row_rules::layer_norm),
      Kernel{"aten.group_norm", infer_group_norm, bind_group_norm}.rows(row_rules::per_image),
      Kernel{"aten.native_group_norm", infer_native_group_norm, bind_group_norm}.rows(
          row_rules::per_image),
      Kernel{"aten.rms_norm", infer_rms_norm, bind_rms_norm}.rows(row_rules::layer_norm),
      Kernel{"aten._fused_rms_norm", infer_fused_rms_norm, bind_rms_norm}.rows(
          row_rules::layer_norm),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
