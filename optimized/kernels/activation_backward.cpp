// Gradients of activation functions, of dropout and of softmax.
#include <array>

#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/reduction_frame.h"
#include "optimized/scratch.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// The first two arguments: the gradient, and the input or the output.
constexpr PointwiseSignature kGradient{.operands = 2, .numbers = Numbers::kFloating};
constexpr PointwiseSignature kAnyGradient{.operands = 2, .numbers = Numbers::kNotBool};
constexpr PointwiseSignature kDropped{.operands = 2, .numbers = Numbers::kReal};

bool is_by_tanh(const KernelCall& call) {
  const std::string_view approximate = call.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    throw OpError("approximate is 'none' or 'tanh', not '" + std::string(approximate) + "'");
  }
  return approximate == "tanh";
}

void infer_gelu_gradient(Inference& call) {
  (void)is_by_tanh(call);
  infer_pointwise<kGradient>(call);
}

Launch bind_gelu_gradient(const Binding& call) {
  if (is_by_tanh(call)) {
    return launch_pointwise<kGradient>(call, []<class C>() { return element::GeluTanhGradient(); });
  }
  return launch_pointwise<kGradient>(call, []<class C>() { return element::GeluExactGradient(); });
}

// ATen's iterator has self before the gradient, which shows in the strides.
void infer_threshold_gradient(Inference& call) {
  const std::array<const Tensor*, 2> inputs = {&call.tensor("self"), &call.tensor("grad_output")};
  make_over(call, common_dtype(call, kAnyGradient), inputs);
}

Launch bind_threshold_gradient(const Binding& call) {
  const DType common = common_dtype(call, kAnyGradient);
  return with_compute(common, [&]<class C>() {
    return launch_sources<C>(
        call.listener(), call.result(), common,
        std::array<Source<C>, 2>{Source<C>(call.tensor("self"), common),
                                 Source<C>(call.tensor("grad_output"), common)},
        element::ThresholdGradient<C>{number_as<C>(call.item("threshold"))});
  });
}

Launch bind_masked_scale(const Binding& call) {
  return launch_pointwise<kDropped>(
      call, [&]<class C>() { return element::MaskedScale<C>{number_as<C>(call.item("scale"))}; });
}

// ---- softmax: a sum along `dim` into the workspace, and what is made of it

// The result's dtype: a 16-bit one that the input had, though its softmax is float32, or the
// gradient's.
DType softmax_gradient_dtype(const KernelCall& call) {
  const Tensor& gradient = call.tensor("grad_output");
  const Tensor& output = call.tensor("output");
  if (!spec::is_floating_point(gradient.dtype) || gradient.dtype != output.dtype) {
    throw OpError("the gradient and the output of a softmax are of one floating dtype");
  }
  if (gradient.sizes != output.sizes) {
    throw OpError("a gradient of sizes " + print_sizes(gradient.sizes) +
                  " is none of an output of " + print_sizes(output.sizes));
  }
  const DType asked = call.optional_dtype("input_dtype").value_or(gradient.dtype);
  const bool narrows =
      gradient.dtype == DType::kFloat32 && (asked == DType::kFloat16 || asked == DType::kBFloat16);
  return narrows ? asked : gradient.dtype;
}

DType wide_dtype(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// What lies along `dim` as one element each.
Sizes sizes_of_sums(const Tensor& tensor, std::int64_t dim) {
  Sizes out = tensor.sizes;
  if (!out.empty()) out[at(dim)] = 1;
  return out;
}

void infer_softmax_gradient(Inference& call) {
  const Tensor& gradient = call.tensor("grad_output");
  const std::int64_t dim = wrap_dim(call.integer("dim"), gradient.rank());
  const DType wide = wide_dtype(gradient.dtype);
  call.want_workspace(scratch_bytes(wide, gradient.sizes) +
                      scratch_bytes(wide, sizes_of_sums(gradient, dim)));
  call.make(softmax_gradient_dtype(call), gradient.sizes);
}

template <bool is_log>
Launch bind_softmax_gradient(const Binding& call) {
  const Tensor& gradient = call.tensor("grad_output");
  const Tensor& output = call.tensor("output");
  if (gradient.count() == 0) return {};
  const std::int64_t dim = wrap_dim(call.integer("dim"), gradient.rank());
  const Dims dims = gradient.rank() == 0 ? Dims{} : Dims{dim};
  const DType wide = wide_dtype(gradient.dtype);
  std::byte* workspace = call.workspace();
  const Tensor products = scratch_tensor(wide, gradient.sizes, workspace);
  const Tensor sums = scratch_tensor(wide, sizes_of_sums(gradient, dim), workspace);
  return with_real(wide, [&]<class C>() -> Launch {
    const auto* listener = call.listener();
    Launch weigh;
    if (!is_log) {
      weigh = launch_tensors<C>(listener, products, wide, element::Multiply(), gradient, output);
    }
    Launch sum = reduce_launch<C, C>(listener, sums, is_log ? gradient : products, dims,
                                     is_log ? gradient.dtype : wide, wide, element::RowSum<C>());
    const DType dtype = softmax_gradient_dtype(call);
    if (is_log) {
      return in_turn({std::move(sum),
                      launch_tensors<C>(listener, call.result(), dtype,
                                        element::LogSoftmaxGradient(), gradient, output, sums)});
    }
    return in_turn({std::move(weigh), std::move(sum),
                    launch_tensors<C>(listener, call.result(), dtype, element::SoftmaxGradient(),
                                      gradient, output, sums)});
  });
}

}  // namespace

std::span<const Kernel> activation_backward_kernels() {
  constexpr Overlap kOverlap = Overlap::kSameGeometry;
  static const Kernel kKernels[] = {
      {"aten._log_softmax_backward_data", infer_softmax_gradient, bind_softmax_gradient<true>},
      {"aten._softmax_backward_data", infer_softmax_gradient, bind_softmax_gradient<false>},
      {"aten.gelu_backward", infer_gelu_gradient, bind_gelu_gradient, kOverlap},
      {"aten.native_dropout_backward", infer_pointwise<kDropped>, bind_masked_scale, kOverlap},
      pointwise_kernel<kGradient>("aten.sigmoid_backward", element::SigmoidGradient()),
      pointwise_kernel<kGradient>("aten.silu_backward", element::SiluGradient()),
      pointwise_kernel<kGradient>("aten.tanh_backward", element::TanhGradient()),
      {"aten.threshold_backward", infer_threshold_gradient, bind_threshold_gradient, kOverlap},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
