// Products of complex vectors and matrices: four products of components.
#include "optimized/analysis/complex.h"
#include "optimized/complex_numbers.h"

namespace graphgate::optimized {
namespace {

using spec::Argument;
using spec::DType;
using Values = std::vector<Argument>;

DType common(const Parts& parts, std::string_view a, std::string_view b) {
  const DType dtype = parts.tensor(a).dtype;
  if (!spec::is_complex(dtype) || parts.tensor(b).dtype != dtype) {
    throw OpError("expected operands of one dtype, not " + std::string(spec::torch_name(dtype)) +
                  " and " + std::string(spec::torch_name(parts.tensor(b).dtype)));
  }
  return dtype;
}

template <class Product>
Components of_components(ComplexParts& c, const Components& a, const Components& b,
                         Product product) {
  const Argument re_re = product(a.re, b.re);
  const Argument im_im = product(a.im, b.im);
  const Argument re = c.sub(re_re, im_im);
  const Argument re_im = product(a.re, b.im);
  const Argument im_re = product(a.im, b.re);
  return {re, c.add(re_im, im_re)};
}

// `a` and `b` are contracted by the op; the result has its sizes and strides.
struct Contraction {
  std::string_view a;
  std::string_view b;
  std::string_view op;
  bool conjugates = false;
};

Components contracted(ComplexParts& c, const Contraction& how) {
  const Components a = c.pair(how.a);
  const Components b = c.pair(how.b);
  return of_components(c, how.conjugates ? c.conjugate(a) : a, b,
                       [&](const Argument& x, const Argument& y) { return c.call(how.op, x, y); });
}

Argument made(ComplexParts& c, const Components& value) {
  const Tensor re = c.parts().of(value.re);
  return make_complex(c.parts(), value, complex_with(c.component()), re.sizes, re.strides);
}

Values plain(Parts& parts, const Contraction& how) {
  if (parts.has("out_dtype")) throw Unsupported(no_complex_text(parts));
  ComplexParts c(parts, spec::component_dtype(common(parts, how.a, how.b)));
  return {made(c, contracted(c, how))};
}

Values matrices(Parts& parts) { return plain(parts, {"self", "mat2", "aten.mm.default"}); }
Values batches(Parts& parts) { return plain(parts, {"self", "mat2", "aten.bmm.default"}); }
Values matrix_vector(Parts& parts) { return plain(parts, {"self", "vec", "aten.mv.default"}); }
Values vectors(Parts& parts) { return plain(parts, {"self", "tensor", "aten.dot.default"}); }
Values conjugated_vectors(Parts& parts) {
  return plain(parts, {"self", "other", "aten.dot.default", true});
}
Values any_matrices(Parts& parts) { return plain(parts, {"self", "other", "aten.matmul.default"}); }

Values linear_map(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(common(parts, "input", "weight")));
  Components value = contracted(c, {"input", "weight", "aten.linear.default"});
  if (parts.has("bias")) {
    common(parts, "input", "bias");
    value = c.add(value, c.pair("bias"));
  }
  return {made(c, value)};
}

// beta self + alpha product; self is not read where beta is 0.
Values with_addend(ComplexParts& c, const Components& product) {
  Parts& parts = c.parts();
  const auto scaled = [&](const Components& value, std::string_view factor) {
    const Components by = c.pair(factor);
    return by.re == Argument{1.0} && by.im == Argument{0.0} ? value : c.mul(by, value);
  };
  Components value = scaled(product, "alpha");
  const Sizes sizes = parts.of(value.re).sizes;
  const Components beta = c.pair("beta");
  const bool reads_self = !(beta.re == Argument{0.0} && beta.im == Argument{0.0});
  if (reads_self) value = c.add(scaled(c.pair("self"), "beta"), value);
  return {make_complex(parts, value, complex_with(c.component()), sizes, row_major_strides(sizes))};
}

Values with_addend(Parts& parts, const Contraction& how) {
  if (parts.has("out_dtype")) throw Unsupported(no_complex_text(parts));
  const DType dtype = common(parts, how.a, how.b);
  common(parts, "self", how.a);
  ComplexParts c(parts, spec::component_dtype(dtype));
  return with_addend(c, contracted(c, how));
}

Values add_matrices(Parts& parts) {
  return with_addend(parts, {"mat1", "mat2", "aten.mm.default"});
}
Values add_batches(Parts& parts) {
  return with_addend(parts, {"batch1", "batch2", "aten.bmm.default"});
}
Values add_matrix_vector(Parts& parts) {
  return with_addend(parts, {"mat", "vec", "aten.mv.default"});
}
Values add_vectors(Parts& parts) {
  return with_addend(parts, {"vec1", "vec2", "aten.outer.default"});
}

// The products of a batch are added up.
Values add_sum_of_batches(Parts& parts) {
  const DType dtype = common(parts, "batch1", "batch2");
  common(parts, "self", "batch1");
  ComplexParts c(parts, spec::component_dtype(dtype));
  const Components products = contracted(c, {"batch1", "batch2", "aten.bmm.default"});
  const auto sum = [&](const Argument& value) {
    return parts.run("aten.sum.dim_IntList", {value, integers_argument({0})});
  };
  const Argument re = sum(products.re);
  return with_addend(c, {re, sum(products.im)});
}

// What is linear in two operands, as a vector product is.
Values vector_product(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(common(parts, "self", "other")));
  const Components value =
      of_components(c, c.pair("self"), c.pair("other"), [&](const Argument& x, const Argument& y) {
        return parts.run("aten.linalg_cross.default", {x, y, parts["dim"]});
      });
  return {made(c, value)};
}

// A bias goes along the channels, which stand in front of the spatial dimensions.
Values convolution(Parts& parts) {
  ComplexParts c(parts, spec::component_dtype(common(parts, "input", "weight")));
  Components value = of_components(
      c, c.pair("input"), c.pair("weight"), [&](const Argument& x, const Argument& y) {
        return same_op(parts, {{"input", x}, {"weight", y}, {"bias", {spec::None{}}}});
      });
  if (parts.has("bias")) {
    common(parts, "input", "bias");
    std::vector<std::int64_t> sizes(at(parts.tensor("weight").rank() - 1), 1);
    sizes.front() = parts.tensor("bias").count();
    const Components bias = c.pair("bias");
    const auto laid = [&](const Argument& one) {
      return parts.run("aten.view.default", {one, integers_argument(sizes)});
    };
    const Argument re = laid(bias.re);
    value = c.add(value, {re, laid(bias.im)});
  }
  return {made(c, value)};
}

// One operand is permuted and summed; two are multiplied.
Values summed_by_letters(Parts& parts) {
  const Values operands = parts.values("tensors");
  DType dtype = DType::kBool;
  for (const Argument& operand : operands) {
    const DType own = parts.of(operand).dtype;
    if (!spec::is_complex(own) || (dtype != DType::kBool && own != dtype)) {
      throw OpError("einsum: expected operands of one dtype");
    }
    dtype = own;
  }
  ComplexParts c(parts, spec::component_dtype(dtype));
  const auto sum = [&](std::vector<Argument> list) {
    return parts.run("aten.einsum.default", {parts["equation"], {Argument::List(std::move(list))}});
  };
  if (operands.size() == 1) {
    const Components z = c.pair(operands[0]);
    const Argument re = sum({z.re});
    return {made(c, {re, sum({z.im})})};
  }
  if (operands.size() != 2) throw Unsupported(no_complex_text(parts));
  const Components a = c.pair(operands[0]);
  const Components b = c.pair(operands[1]);
  return {made(c, of_components(c, a, b, [&](const Argument& x, const Argument& y) {
                 return sum({x, y});
               }))};
}

constexpr CompositeOp kComplexProducts[] = {
    {"aten._convolution", convolution},
    {"aten.addbmm", add_sum_of_batches},
    {"aten.addmm", add_matrices},
    {"aten.addmv", add_matrix_vector},
    {"aten.addr", add_vectors},
    {"aten.baddbmm", add_batches},
    {"aten.bmm", batches},
    {"aten.conv1d", convolution},
    {"aten.conv2d", convolution},
    {"aten.conv3d", convolution},
    {"aten.conv_transpose1d", convolution},
    {"aten.conv_transpose2d", convolution},
    {"aten.conv_transpose3d", convolution},
    {"aten.convolution", convolution},
    {"aten.dot", vectors},
    {"aten.einsum", summed_by_letters},
    {"aten.linalg_cross", vector_product},
    {"aten.linear", linear_map},
    {"aten.matmul", any_matrices},
    {"aten.mm", matrices},
    {"aten.mv", matrix_vector},
    {"aten.vdot", conjugated_vectors},
};

}  // namespace

std::span<const CompositeOp> complex_products() { return kComplexProducts; }

}  // namespace graphgate::optimized
