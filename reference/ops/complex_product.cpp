// Products of vectors and matrices of complex numbers.
//
// Each part of a result is one sum of twice as many products of real numbers, [Ar, -Ai] [Br; Bi]
// and [Ar, Ai] [Bi; Br], and has the bound of that: in any order, whatever the accumulator is
// declared to be. alpha and beta are products of complex numbers beside it.
#include <array>

#include "reference/complex_array.h"
#include "reference/movement.h"
#include "reference/ops/composition.h"

namespace graphgate::reference {
namespace of_complex {
namespace {

void require_one_complex_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype == b.dtype) return;
  throw OpError("expected both factors to have one dtype, but got " +
                std::string(spec::torch_name(a.dtype)) + " and " +
                std::string(spec::torch_name(b.dtype)));
}

TensorRef part(const Tensor& tensor, int which) {
  return std::make_shared<Tensor>(part_of(tensor, which));
}
TensorRef negated(const TensorRef& real) {
  const TensorRef out = copy_of(*real);
  turn_signs(*out, false, true);
  return out;
}

// The complex tensor of two real ones of the same sizes, laid out as the first is where that is
// dense. Some multiply by an alpha of 1 at last: where one part is no number both are open.
TensorRef from_parts(Mode mode, const Tensor& re, const Tensor& im) {
  const Sizes strides = strides_like(re, spec::MemoryFormat::kPreserve);
  const TensorRef out = new_tensor(complex_dtype(re.dtype), re.sizes, strides, re.device);
  with_real(mode, [&]<class N>() {
    const Array<N> real = load<N>(re, re.dtype);
    const Array<N> imaginary = load<N>(im, im.dtype);
    Array<Complex<N>> both(re.sizes);
    for (std::int64_t i = 0; i < both.count(); ++i) {
      const Complex<N> z{real[i], imaginary[i]};
      both[i] = tamed(z, is_wild(z), is_all_nan(z));
    }
    store(*out, both);
  });
  return out;
}

// The product by `op`, one of real matrices or vectors, that sums over the last dimension of `a`
// and the last but one of `b` (or its only one).
TensorRef complex_product(const Composition& run, Mode mode, std::string_view op, const Tensor& a,
                          const Tensor& b, bool conjugates_a = false) {
  require_one_complex_dtype(a, b);
  if (a.rank() == 0 || b.rank() == 0) throw OpError("expected factors with dimensions");
  const auto beside = [&](const TensorRef& first, const TensorRef& second, std::int64_t dim) {
    return run("aten.cat.default", {list_of(std::vector<TensorRef>{first, second}), {dim}});
  };
  const std::int64_t rows = b.rank() == 1 ? -1 : -2;
  const TensorRef ar = part(a, 0);
  const TensorRef ai = conjugates_a ? negated(part(a, 1)) : part(a, 1);
  const TensorRef br = part(b, 0);
  const TensorRef bi = part(b, 1);
  const TensorRef re = run(op, {{beside(ar, negated(ai), -1)}, {beside(br, bi, rows)}});
  const TensorRef im = run(op, {{beside(ar, ai, -1)}, {beside(bi, br, rows)}});
  return from_parts(mode, *re, *im);
}

void check_inner(const Tensor& a, const Tensor& b) {
  const std::int64_t rows = b.sizes[b.rank() == 1 ? 0 : static_cast<std::size_t>(b.rank() - 2)];
  if (a.sizes.back() != rows) {
    throw OpError("sizes " + print_sizes(a.sizes) + " and " + print_sizes(b.sizes) +
                  " cannot be multiplied");
  }
}

void check_ranks(const Call& call, const Tensor& a, const Tensor& b, std::int64_t rank_a,
                 std::int64_t rank_b) {
  if (a.rank() != rank_a || b.rank() != rank_b) {
    throw OpError(call.row().schema.name + ": factors of other ranks than it takes");
  }
  check_inner(a, b);
}

// An op whose factors have fixed ranks: by the names of its arguments and of the op on real
// numbers.
struct Product {
  std::string_view first;
  std::string_view second;
  std::int64_t first_rank;
  std::int64_t second_rank;
  std::string_view of_reals;
  bool conjugates_first = false;
};
constexpr Product kMm{"self", "mat2", 2, 2, "aten.mm.default"};
constexpr Product kBmm{"self", "mat2", 3, 3, "aten.bmm.default"};
constexpr Product kMv{"self", "vec", 2, 1, "aten.mv.default"};
constexpr Product kDot{"self", "tensor", 1, 1, "aten.dot.default"};
constexpr Product kVdot{"self", "other", 1, 1, "aten.dot.default", true};

template <const Product& kProduct>
void product(Call& call) {
  const Tensor& a = *call.tensor(kProduct.first);
  const Tensor& b = *call.tensor(kProduct.second);
  check_ranks(call, a, b, kProduct.first_rank, kProduct.second_rank);
  emit_made(call, complex_product(Composition(call), call.mode(), kProduct.of_reals, a, b,
                                  kProduct.conjugates_first));
}

TensorRef matmul_of(const Composition& run, Mode mode, const Tensor& a, const Tensor& b) {
  if (a.rank() > 0 && b.rank() > 0) check_inner(a, b);
  return complex_product(run, mode, "aten.matmul.default", a, b);
}
void matmul(Call& call) {
  emit_made(call,
            matmul_of(Composition(call), call.mode(), *call.tensor("self"), *call.tensor("other")));
}

// input times the weight's transpose, plus a bias.
void linear(Call& call) {
  const Composition run(call);
  const TensorRef& weight = call.tensor("weight");
  const TensorRef turned = weight->rank() == 2 ? run("aten.t.default", {{weight}}) : weight;
  TensorRef out = matmul_of(run, call.mode(), *call.tensor("input"), *turned);
  if (const TensorRef bias = call.optional_tensor("bias")) {
    out = run("aten.add.Tensor", {{out}, {bias}});
  }
  emit_made(call, out);
}

bool is_whole_number(const Datum& datum, std::int64_t value) {
  if (const auto* x = datum.as<std::int64_t>()) return *x == value;
  if (const auto* x = datum.as<double>()) return *x == static_cast<double>(value);
  const auto* complex = datum.as<spec::ComplexNumber>();
  return complex != nullptr && complex->real == static_cast<double>(value) && complex->imag == 0;
}

// beta * self + alpha * product. A beta of 0 drops self, and its NaNs.
void emit_sum_with_product(Call& call, const Composition& run, const TensorRef& product) {
  const auto scaled = [&](const TensorRef& tensor, std::string_view name) {
    const Datum& factor = call.datum(name);
    return is_whole_number(factor, 1) ? tensor : run("aten.mul.Scalar", {{tensor}, factor});
  };
  const TensorRef& self = call.tensor("self");
  require_one_complex_dtype(*self, *product);
  if (broadcast_sizes({self->sizes, product->sizes}) != product->sizes) {
    throw OpError("sizes " + print_sizes(self->sizes) + " do not stretch to " +
                  print_sizes(product->sizes));
  }
  const TensorRef term = scaled(product, "alpha");
  if (is_whole_number(call.datum("beta"), 0)) return emit_made(call, term);
  const TensorRef sum = run("aten.add.Tensor", {{scaled(self, "beta")}, {term}});
  emit_made(call, copy_of(*sum));
}

void addmm(Call& call) {
  const Composition run(call);
  const Tensor& a = *call.tensor("mat1");
  const Tensor& b = *call.tensor("mat2");
  check_ranks(call, a, b, 2, 2);
  emit_sum_with_product(call, run, complex_product(run, call.mode(), "aten.mm.default", a, b));
}
void baddbmm(Call& call) {
  const Composition run(call);
  const Tensor& a = *call.tensor("batch1");
  const Tensor& b = *call.tensor("batch2");
  check_ranks(call, a, b, 3, 3);
  emit_sum_with_product(call, run, complex_product(run, call.mode(), "aten.bmm.default", a, b));
}
// Batches side by side are one product.
void addbmm(Call& call) {
  const Composition run(call);
  const TensorRef& a = call.tensor("batch1");
  const TensorRef& b = call.tensor("batch2");
  check_ranks(call, *a, *b, 3, 3);
  if (a->sizes[0] != b->sizes[0]) throw OpError("addbmm: batches of different sizes");
  const std::int64_t inner = a->sizes[0] * a->sizes[2];
  const TensorRef turned = run("aten.permute.default", {{a}, list_of(Sizes{1, 0, 2})});
  const TensorRef left =
      run("aten.reshape.default", {{turned}, list_of(Sizes{a->sizes[1], inner})});
  const TensorRef right = run("aten.reshape.default", {{b}, list_of(Sizes{inner, b->sizes[2]})});
  emit_sum_with_product(call, run,
                        complex_product(run, call.mode(), "aten.mm.default", *left, *right));
}
void addmv(Call& call) {
  const Composition run(call);
  const Tensor& a = *call.tensor("mat");
  const Tensor& b = *call.tensor("vec");
  check_ranks(call, a, b, 2, 1);
  emit_sum_with_product(call, run, complex_product(run, call.mode(), "aten.mv.default", a, b));
}
// The first factor of the sum over the last dimension is conjugated.
void vecdot(Call& call) {
  const Composition run(call);
  const TensorRef& x = call.tensor("x");
  const TensorRef& y = call.tensor("y");
  if (x->rank() == 1 && y->rank() == 1) {
    return emit_made(call, run("aten.vdot.default", {{x}, {y}}));
  }
  const TensorRef conjugate = run("aten._conj.default", {{x}});
  const TensorRef product = run("aten.mul.Tensor", {{conjugate}, {y}});
  emit_made(call, run("aten.sum.dim_IntList", {{product}, list_of(Sizes{call.integer("dim")})}));
}

// A label that an equation does not have.
char free_label(std::string_view equation) {
  for (const char label :
       std::string_view("zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA")) {
    if (equation.find(label) == std::string_view::npos) return label;
  }
  throw Undecidable("einsum of complex numbers with all letters as labels is not supported");
}

// Two operands have their parts stacked along a dimension of its own, over which the sum goes as
// well. One alone is rearranged and summed part by part.
void einsum(Call& call) {
  const Composition run(call);
  const std::vector<TensorRef> operands = call.tensors("tensors");
  std::string equation(call.text("equation"));
  const auto of = [&](const std::vector<TensorRef>& reals) {
    return run("aten.einsum.default", {{equation}, list_of(reals)});
  };
  if (operands.size() == 1) {
    const Tensor& z = *operands[0];
    return emit_made(call, from_parts(call.mode(), *of({part(z, 0)}), *of({part(z, 1)})));
  }
  const std::size_t comma = equation.find(',');
  if (operands.size() != 2 || comma == std::string::npos) {
    throw Undecidable("einsum of more than two complex operands is not supported");
  }
  const Tensor& a = *operands[0];
  const Tensor& b = *operands[1];
  require_one_complex_dtype(a, b);
  const char label = free_label(equation);
  equation.insert(comma + 1, 1, label);
  equation.insert(0, 1, label);
  const auto stacked = [&](const TensorRef& first, const TensorRef& second) {
    return run("aten.stack.default", {list_of(std::vector<TensorRef>{first, second})});
  };
  const TensorRef re =
      of({stacked(part(a, 0), negated(part(a, 1))), stacked(part(b, 0), part(b, 1))});
  const TensorRef im = of({stacked(part(a, 0), part(a, 1)), stacked(part(b, 1), part(b, 0))});
  emit_made(call, from_parts(call.mode(), *re, *im));
}

constexpr std::array kComplexProducts = {
    ComplexBody{"aten.addbmm", addbmm},       ComplexBody{"aten.addmm", addmm},
    ComplexBody{"aten.addmv", addmv},         ComplexBody{"aten.baddbmm", baddbmm},
    ComplexBody{"aten.bmm", product<kBmm>},   ComplexBody{"aten.dot", product<kDot>},
    ComplexBody{"aten.einsum", einsum},       ComplexBody{"aten.linalg_vecdot", vecdot},
    ComplexBody{"aten.linear", linear},       ComplexBody{"aten.matmul", matmul},
    ComplexBody{"aten.mm", product<kMm>},     ComplexBody{"aten.mv", product<kMv>},
    ComplexBody{"aten.vdot", product<kVdot>},
};

}  // namespace
}  // namespace of_complex

std::span<const ComplexBody> complex_product_bodies() { return of_complex::kComplexProducts; }

}  // namespace graphgate::reference
