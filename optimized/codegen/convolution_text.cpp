#include "optimized/codegen/convolution_text.h"

#include "optimized/codegen/spelling.h"
#include "optimized/gemm.h"

namespace graphgate::optimized {
namespace {

// [N, C, ...] with sizes of 1 put in before the spatial ones.
Tensor with_three_axes(Tensor tensor) {
  while (tensor.rank() < 5) tensor = with_unit_dim(std::move(tensor), 2);
  return tensor;
}

// "const std::int64_t I = ...;": the element that tap T of position O reads, or one that is not
// there.
std::string source_text(const Axis& axis, const std::string& i, const std::string& o,
                        const std::string& t) {
  const std::string padding = text_of(axis.padding);
  const std::string dilation = text_of(axis.dilation);
  const std::string stride = text_of(axis.stride);
  if (!axis.is_transposed) {
    return joined({"  const std::int64_t ", i, " = ", o, " * ", stride, " + ", t, " * ", dilation,
                   " - ", padding, ";\n"});
  }
  const std::string scaled = "(" + o + " + " + padding + " - " + t + " * " + dilation + ")";
  return joined({"  const std::int64_t ", i, " = ", scaled, " % ", stride, " == 0 ? ", scaled,
                 " / ", stride, " : -1;\n"});
}

}  // namespace

TextWork convolution_text(const ConvolutionShape& shape, const Tensor& result, const Tensor* bias) {
  const Tensor input = with_three_axes(shape.input);
  const Tensor weight = with_three_axes(shape.weight);
  const Tensor to = with_three_axes(result);
  const Sizes in = strides_in_bytes(input);
  const Sizes w = strides_in_bytes(weight);
  const spec::DType dtype = shape.input.dtype;
  const std::int64_t channels = shape.channels_in / shape.groups;
  const std::int64_t outs = shape.channels_out / shape.groups;
  TextWork out{.pointers = {to.data(), input.data(), weight.data()},
               .threads = to.count(),
               .accesses = {{to, true}, {input, false}, {weight, false}}};
  const std::string depth = text_of(kGemmDepth);
  std::string& text = out.statements;
  text = "  if (thread >= " + text_of(out.threads) + ") return;\n";
  text += "  using C = " + compute_name(dtype) + ";\n  using W = internal::Accumulator<C>;\n";
  text += coordinates_text(to.sizes, "thread", "x");
  text += "  const char* const image = p1 + x0 * " + text_of(in[0]) + " + x1 / " + text_of(outs) +
          " * " + text_of(channels * in[1]) + ";\n";
  // The weight is [out, in of a group, ...]; transposed, [in, out of a group, ...].
  const std::int64_t of_out = shape.is_transposed ? w[1] : w[0];
  const std::int64_t of_in = shape.is_transposed ? w[0] : w[1];
  text += "  const char* const weights = p2 + ";
  text += shape.is_transposed ? "x1 / " + text_of(outs) + " * " + text_of(channels * of_in) +
                                    " + x1 % " + text_of(outs) + " * " + text_of(of_out)
                              : "x1 * " + text_of(of_out);
  text += ";\n";
  text += "  W total = 0;\n  W sum = 0;\n  std::int64_t k = 0;\n";
  text += "  for (std::int64_t c = 0; c < " + text_of(channels) + "; ++c) {\n";
  std::string inside;
  std::string from = "image + c * " + text_of(in[1]);
  std::string weight_at = "weights + c * " + text_of(of_in);
  for (std::size_t a = 0; a < 3; ++a) {
    const Axis& axis = shape.axes[a];
    const std::string t = "t" + text_of(static_cast<std::int64_t>(a));
    const std::string i = "i" + text_of(static_cast<std::int64_t>(a));
    text +=
        joined({"  for (std::int64_t ", t, " = 0; ", t, " < ", text_of(axis.kernel), "; ++", t,
                ") {\n", source_text(axis, i, "x" + text_of(static_cast<std::int64_t>(a + 2)), t)});
    inside += joined({a == 0 ? "" : " && ", i, " >= 0 && ", i, " < ", text_of(axis.in)});
    from += joined({" + ", i, " * ", text_of(in[a + 2])});
    weight_at += joined({" + ", t, " * ", text_of(w[a + 2])});
  }
  text +=
      "    const C value = " + inside + " ? " + load_text(dtype, dtype, dtype, from) + " : C(0);\n";
  text += "    sum += static_cast<W>(" + load_text(weight.dtype, weight.dtype, dtype, weight_at) +
          ") * static_cast<W>(value);\n";
  text += "    if (++k % " + depth + " == 0) {\n      total = k == " + depth +
          " ? sum : total + sum;\n      sum = 0;\n    }\n  }}}}\n";
  text += "  if (k % " + depth + " != 0) total = k < " + depth + " ? sum : total + sum;\n";
  if (bias != nullptr) {
    out.pointers.push_back(bias->data());
    out.accesses.push_back({*bias, false});
    text += "  total += static_cast<W>(" +
            load_text(bias->dtype, bias->dtype, dtype,
                      "p3 + x1 * " + text_of(bias->strides[0] * bias->item_bytes())) +
            ");\n";
  }
  text += "  device::store<" + format_name(to.dtype) + ">(p0 + " +
          offset_text(strides_in_bytes(to), "x") + ", " +
          rounded_text(dtype, to.dtype, "static_cast<C>(total)") + ");\n";
  return out;
}

}  // namespace graphgate::optimized
