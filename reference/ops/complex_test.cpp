// Complex numbers in the reference: storage and marks, views of parts, conjugates, arithmetic.
#include <cmath>
#include <numbers>

#include "reference/complex_array.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

using Number = std::pair<double, double>;

TensorRef complex_tensor(const Sizes& sizes, const std::vector<Number>& numbers,
                         DType dtype = DType::kComplex64) {
  TensorRef out = new_tensor(dtype, sizes, spec::Device{});
  Array<Complex<double>> array(sizes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    array.data[i] = {numbers[i].first, numbers[i].second};
  }
  store(*out, array);
  return out;
}

std::vector<Number> numbers(const Tensor& tensor) {
  std::vector<Number> out;
  const TensorRef plain = resolved(std::make_shared<Tensor>(tensor));
  for (const auto& z : load_complex<double>(*plain, DType::kComplex128).data) {
    out.emplace_back(z.re, z.im);
  }
  return out;
}
std::vector<Number> numbers(const TensorRef& tensor) { return numbers(*tensor); }

using List = std::vector<Number>;

// ---- storage, views, conjugates

TEST(Complex, PartsAreViewsOfTheSameBytes) {
  const TensorRef z = complex_tensor({2}, {{1, 2}, {3, 4}});
  const TensorRef parts = run_tensor("aten.view_as_real.default", {{"self", {z}}});
  EXPECT_EQ(parts->storage, z->storage);
  EXPECT_EQ(parts->sizes, (Sizes{2, 2}));
  EXPECT_EQ(parts->strides, (Sizes{2, 1}));
  EXPECT_EQ(values(*parts), (Numbers{1, 2, 3, 4}));
  const TensorRef imaginary = run_tensor("aten.imag.default", {{"self", {z}}});
  EXPECT_EQ(imaginary->storage, z->storage);
  EXPECT_EQ(imaginary->strides, (Sizes{2}));
  EXPECT_EQ(values(*imaginary), (Numbers{2, 4}));
  static_cast<void>(run("aten.mul_.Scalar", {{"self", {imaginary}}, {"other", {10.0}}}));
  EXPECT_EQ(numbers(z), (List{{1, 20}, {3, 40}}));
  const TensorRef back = run_tensor("aten.view_as_complex.default", {{"self", {parts}}});
  EXPECT_EQ(back->storage, z->storage);
  EXPECT_EQ(back->dtype, DType::kComplex64);
  EXPECT_EQ(numbers(back), (List{{1, 20}, {3, 40}}));
}

TEST(Complex, ViewOfPairsWantsThemSideBySide) {
  EXPECT_THROW(run("aten.view_as_complex.default", {{"self", {counting({2, 3})}}}), OpError);
  const TensorRef turned = view_of(*counting({2, 2}), {2, 2}, {1, 2}, 0);
  EXPECT_THROW(run("aten.view_as_complex.default", {{"self", {turned}}}), OpError);
}

TEST(Complex, MarksOfPartsGoThroughViews) {
  // 0.1 is no float32: the product of two such numbers has a radius, in each part.
  const TensorRef x = tensor(DType::kFloat32, {1, 2}, {0.1, 0.3});
  const TensorRef rounded =
      run_tensor("aten.mul.Tensor", {{"self", {x}}, {"other", {x}}}, Mode::kWorstCase);
  const TensorRef z =
      run_tensor("aten.view_as_complex.default", {{"self", {rounded}}}, Mode::kWorstCase);
  const std::vector<Mark> marks = marks_of(*z);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_GT(marks[0].radius, 0);
  const TensorRef copy = run_tensor("aten.clone.default", {{"self", {z}}}, Mode::kWorstCase);
  EXPECT_NE(copy->storage, z->storage);
  const std::vector<Mark> copied = marks_of(*copy);
  ASSERT_EQ(copied.size(), 2U);
  EXPECT_EQ(copied[1].radius, marks[1].radius);
  EXPECT_EQ(copied[1].value, marks[1].value);
}

TEST(Complex, ConjugateIsAViewThatIsWrittenThrough) {
  const TensorRef z = complex_tensor({2}, {{1, 2}, {3, -4}});
  const TensorRef conjugate = run_tensor("aten._conj.default", {{"self", {z}}});
  EXPECT_EQ(conjugate->storage, z->storage);
  EXPECT_EQ(numbers(conjugate), (List{{1, -2}, {3, 4}}));
  const std::vector<Datum> result =
      run("aten.add_.Tensor",
          {{"self", {conjugate}}, {"other", {complex_tensor({2}, {{1, 1}, {0, 1}})}}});
  EXPECT_EQ(*result[0].as<TensorRef>(), conjugate);
  EXPECT_EQ(numbers(z), (List{{2, 1}, {3, -5}}));
  const TensorRef twice = run_tensor("aten._conj.default", {{"self", {conjugate}}});
  EXPECT_FALSE(twice->is_conj);
  const TensorRef parts = run_tensor("aten.view_as_real.default", {{"self", {twice}}});
  EXPECT_EQ(parts->storage, z->storage);
  EXPECT_THROW(run("aten.view_as_real.default", {{"self", {conjugate}}}), OpError);
}

TEST(Complex, ImaginaryPartOfAConjugateIsNegated) {
  const TensorRef z = complex_tensor({2}, {{1, 2}, {3, -4}});
  const TensorRef conjugate = run_tensor("aten._conj.default", {{"self", {z}}});
  const TensorRef imaginary = run_tensor("aten.imag.default", {{"self", {conjugate}}});
  EXPECT_EQ(imaginary->storage, z->storage);
  const TensorRef doubled =
      run_tensor("aten.mul.Scalar", {{"self", {imaginary}}, {"other", {2.0}}});
  EXPECT_EQ(values(*doubled), (Numbers{-4, 8}));
  const TensorRef resolved_part = run_tensor("aten.resolve_neg.default", {{"self", {imaginary}}});
  EXPECT_NE(resolved_part->storage, z->storage);
  EXPECT_EQ(values(*resolved_part), (Numbers{-2, 4}));
  const TensorRef real = run_tensor("aten.real.default", {{"self", {conjugate}}});
  EXPECT_EQ(values(*real), (Numbers{1, 3}));
}

TEST(Complex, AdjointSwapsAndConjugates) {
  const TensorRef z = complex_tensor({1, 2}, {{1, 2}, {3, 4}});
  const TensorRef turned = run_tensor("aten.mH.default", {{"self", {z}}});
  EXPECT_EQ(turned->sizes, (Sizes{2, 1}));
  EXPECT_EQ(turned->storage, z->storage);
  EXPECT_EQ(numbers(turned), (List{{1, -2}, {3, -4}}));
}

// ---- dtypes

TEST(Complex, DtypesArePromoted) {
  const auto of = [](DType dtype, const Sizes& sizes) {
    return Datum{new_tensor(dtype, sizes, spec::Device{})};
  };
  const auto common = [](std::vector<Datum> operands) { return result_type(operands); };
  EXPECT_EQ(promote(DType::kFloat64, DType::kComplex64), DType::kComplex128);
  EXPECT_EQ(promote(DType::kInt64, DType::kComplex64), DType::kComplex64);
  EXPECT_EQ(promote(DType::kBFloat16, DType::kComplex64), DType::kComplex64);
  const Datum number{spec::ComplexNumber{0, 1}};
  EXPECT_EQ(common({of(DType::kFloat32, {2}), number}), DType::kComplex64);
  EXPECT_EQ(common({of(DType::kFloat64, {2}), number}), DType::kComplex128);
  EXPECT_EQ(common({of(DType::kInt64, {2}), number}), DType::kComplex64);
  EXPECT_EQ(common({of(DType::kFloat32, {2}), of(DType::kComplex128, {})}), DType::kComplex64);
  EXPECT_EQ(common({of(DType::kInt32, {2}), of(DType::kComplex128, {})}), DType::kComplex128);
  EXPECT_EQ(common({of(DType::kComplex64, {2}), of(DType::kFloat64, {})}), DType::kComplex64);
  EXPECT_THROW(common({of(DType::kFloat16, {2}), number}), Undecidable);
}

TEST(Complex, ConversionTakesTheRealPartAndBoolTheTruth) {
  const TensorRef z = complex_tensor({3}, {{1.5, 2}, {0, 1}, {0, 0}});
  const auto to = [&](DType dtype) {
    return run_tensor("aten._to_copy.default", {{"self", {z}}, {"dtype", {dtype}}});
  };
  EXPECT_EQ(values(*to(DType::kFloat32)), (Numbers{1.5, 0, 0}));
  EXPECT_EQ(values(*to(DType::kInt64)), (Numbers{1, 0, 0}));
  EXPECT_EQ(values(*to(DType::kBool)), (Numbers{1, 1, 0}));
  EXPECT_EQ(numbers(to(DType::kComplex128)), numbers(z));
  const TensorRef up =
      run_tensor("aten._to_copy.default",
                 {{"self", {counting({2}, DType::kInt32)}}, {"dtype", {DType::kComplex64}}});
  EXPECT_EQ(numbers(up), (List{{0, 0}, {1, 0}}));
}

TEST(Complex, OpsOfRealNumbersRefuseThem) {
  const TensorRef z = complex_tensor({1}, {{1, 2}});
  try {
    static_cast<void>(run("aten.floor.default", {{"self", {z}}}));
    FAIL();
  } catch (const Undecidable& error) {
    EXPECT_EQ(std::string(error.what()),
              "the reference has no body for aten.floor.default of complex64");
  }
  EXPECT_THROW(run("aten.add_.Tensor", {{"self", {counting({1})}}, {"other", {z}}}), OpError);
  EXPECT_THROW(run("aten.full.default", {{"size", ints({2})},
                                         {"fill_value", {spec::ComplexNumber{1, 2}}},
                                         {"dtype", {DType::kFloat32}}}),
               OpError);
}

TEST(Complex, CreationAndMovementTakeThem) {
  const TensorRef full = run_tensor(
      "aten.full.default", {{"size", ints({2})}, {"fill_value", {spec::ComplexNumber{1, -2}}}});
  EXPECT_EQ(full->dtype, DType::kComplex64);
  EXPECT_EQ(numbers(full), (List{{1, -2}, {1, -2}}));
  const TensorRef ones =
      run_tensor("aten.ones.default", {{"size", ints({1})}, {"dtype", {DType::kComplex128}}});
  EXPECT_EQ(numbers(ones), (List{{1, 0}}));
  const TensorRef z = complex_tensor({2}, {{1, 2}, {3, 4}}, DType::kComplex128);
  const TensorRef joined = run_tensor(
      "aten.cat.default", {{"tensors", list_of({z, counting({1})})}, {"dim", {std::int64_t{0}}}});
  EXPECT_EQ(joined->dtype, DType::kComplex128);
  EXPECT_EQ(numbers(joined), (List{{1, 2}, {3, 4}, {0, 0}}));
  const TensorRef flipped = run_tensor("aten.flip.default", {{"self", {z}}, {"dims", ints({0})}});
  EXPECT_EQ(numbers(flipped), (List{{3, 4}, {1, 2}}));
}

TEST(Complex, IndicesAddBothParts) {
  const TensorRef zeros = complex_tensor({2}, {{0, 0}, {0, 0}});
  const TensorRef terms = complex_tensor({3}, {{1, 1}, {2, 3}, {4, 5}});
  const TensorRef index = tensor(DType::kInt64, {3}, {1, 1, 0});
  const TensorRef out = run_tensor("aten.index_put.default", {{"self", {zeros}},
                                                              {"indices", list_of({index})},
                                                              {"values", {terms}},
                                                              {"accumulate", {true}}});
  EXPECT_EQ(numbers(out), (List{{4, 5}, {3, 4}}));
}

// ---- arithmetic

TEST(Complex, ArithmeticByHand) {
  const TensorRef x = complex_tensor({1}, {{1, 2}});
  const TensorRef y = complex_tensor({1}, {{3, -1}});
  const auto of = [&](std::string_view op) {
    return numbers(run_tensor(op, {{"self", {x}}, {"other", {y}}}));
  };
  EXPECT_EQ(of("aten.mul.Tensor"), (List{{5, 5}}));  // 3 + 2, 6 - 1
  EXPECT_EQ(of("aten.sub.Tensor"), (List{{-2, 3}}));
  const List quotient = of("aten.div.Tensor");  // (1 + 2i)(3 + i) / 10
  EXPECT_FLOAT_EQ(static_cast<float>(quotient[0].first), 0.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(quotient[0].second), 0.7F);
  const TensorRef scaled = run_tensor(
      "aten.add.Tensor", {{"self", {x}}, {"other", {y}}, {"alpha", {spec::ComplexNumber{0, 1}}}});
  EXPECT_EQ(numbers(scaled), (List{{2, 5}}));
  const TensorRef by_real = run_tensor(
      "aten.mul.Tensor", {{"self", {x}}, {"other", {tensor(DType::kFloat32, {1}, {3})}}});
  EXPECT_EQ(numbers(by_real), (List{{3, 6}}));
}

TEST(Complex, ExactNumbersStayExact) {
  const TensorRef x = complex_tensor({1}, {{1, 2}});
  const TensorRef product =
      run_tensor("aten.mul.Tensor", {{"self", {x}}, {"other", {x}}}, Mode::kWorstCase);
  for (const Mark& mark : marks_of(*product)) EXPECT_EQ(mark.radius, 0);
  const TensorRef half =
      run_tensor("aten.div.Tensor", {{"self", {x}}, {"other", {complex_tensor({1}, {{0, 2}})}}},
                 Mode::kWorstCase);
  EXPECT_EQ(numbers(half), (List{{1, -0.5}}));
  for (const Mark& mark : marks_of(*half)) EXPECT_EQ(mark.radius, 0);
}

TEST(Complex, CancellingPartHasTheErrorOfItsTerms) {
  // (1 + e) (1 - e) - 1: the real part of (1+e + i)(1-e + i) is -e^2.
  const double e = 0x1p-13;
  const TensorRef x = complex_tensor({1}, {{1 + e, 1}});
  const TensorRef y = complex_tensor({1}, {{1 - e, 1}});
  const TensorRef product =
      run_tensor("aten.mul.Tensor", {{"self", {x}}, {"other", {y}}}, Mode::kWorstCase);
  const std::vector<Mark> marks = marks_of(*product);
  EXPECT_EQ(marks[0].value, static_cast<long double>(-e * e));
  EXPECT_GE(marks[0].radius, e * e);  // who rounds (1 + e)(1 - e) has 0
  EXPECT_LE(marks[0].radius, 0x1p-21);
}

TEST(Complex, ImplementationsDifferBesideInfinities) {
  const TensorRef x = complex_tensor({1}, {{kInfinity, 1}});
  for (const char* op : {"aten.mul.Tensor", "aten.div.Tensor", "aten.add.Tensor"}) {
    const TensorRef out = run_tensor(op, {{"self", {x}}, {"other", {x}}}, Mode::kWorstCase);
    for (const Mark& mark : marks_of(*out)) EXPECT_EQ(mark.radius, kInfinity) << op;
  }
  const TensorRef nan = complex_tensor({1}, {{kNan, kNan}});
  const TensorRef out =
      run_tensor("aten.mul.Tensor", {{"self", {nan}}, {"other", {nan}}}, Mode::kWorstCase);
  for (const Mark& mark : marks_of(*out)) EXPECT_EQ(mark.radius, 0);
}

TEST(Complex, FunctionsByHand) {
  const double pi = std::numbers::pi;
  const TensorRef z = complex_tensor({1}, {{0, pi}}, DType::kComplex128);
  const auto of = [&](std::string_view op, const TensorRef& x) {
    return numbers(run_tensor(op, {{"self", {x}}}))[0];
  };
  EXPECT_NEAR(of("aten.exp.default", z).first, -1, 1e-15);
  const TensorRef minus = complex_tensor({1}, {{-4, 0}}, DType::kComplex128);
  EXPECT_EQ(of("aten.sqrt.default", minus), (Number{0, 2}));
  EXPECT_EQ(of("aten.log.default", complex_tensor({1}, {{0, 1}}, DType::kComplex128)),
            (Number{0, pi / 2}));
  const TensorRef size =
      run_tensor("aten.abs.default", {{"self", {complex_tensor({1}, {{3, -4}})}}});
  EXPECT_EQ(size->dtype, DType::kFloat32);
  EXPECT_EQ(values(*size), (Numbers{5}));
  const TensorRef turn = run_tensor("aten.angle.default", {{"self", {minus}}});
  EXPECT_EQ(values(*turn), (Numbers{pi}));
  const Number unit = of("aten.sgn.default", complex_tensor({1}, {{3, -4}}, DType::kComplex128));
  EXPECT_DOUBLE_EQ(unit.first, 0.6);
  EXPECT_DOUBLE_EQ(unit.second, -0.8);
}

// An operand that may lie on either side of the negative axis has a root with either sign.
TEST(Complex, BranchCutsAreOpen) {
  const TensorRef parts = tensor(DType::kFloat32, {1, 2}, {0.1, 0.1});
  const TensorRef square =
      run_tensor("aten.mul.Tensor", {{"self", {parts}}, {"other", {parts}}}, Mode::kWorstCase);
  const TensorRef shifted = run_tensor(
      "aten.sub.Tensor",
      {{"self", {square}}, {"other", {tensor(DType::kFloat32, {2}, {4, 0.010000000707805157})}}},
      Mode::kWorstCase);
  const TensorRef z =
      run_tensor("aten.view_as_complex.default", {{"self", {shifted}}}, Mode::kWorstCase);
  const TensorRef root = run_tensor("aten.sqrt.default", {{"self", {z}}}, Mode::kWorstCase);
  const std::vector<Mark> marks = marks_of(*root);
  EXPECT_LT(marks[0].radius, 1e-3);
  EXPECT_GT(marks[1].radius, 3.9);
}

TEST(Complex, PolarAndPairs) {
  const TensorRef size = tensor(DType::kFloat32, {2}, {2, 3});
  const TensorRef turn = tensor(DType::kFloat32, {2}, {0, 0});
  const TensorRef z = run_tensor("aten.polar.default", {{"abs", {size}}, {"angle", {turn}}});
  EXPECT_EQ(numbers(z), (List{{2, 0}, {3, 0}}));
  const TensorRef pair = run_tensor("aten.complex.default", {{"real", {size}}, {"imag", {turn}}});
  EXPECT_EQ(pair->dtype, DType::kComplex64);
  EXPECT_EQ(numbers(pair), (List{{2, 0}, {3, 0}}));
}

// ---- sums, products, norms

TEST(Complex, ReductionsByHand) {
  const TensorRef z = complex_tensor({2, 2}, {{1, 2}, {3, 4}, {5, 6}, {0, 1}});
  EXPECT_EQ(numbers(run_tensor("aten.sum.default", {{"self", {z}}})), (List{{9, 13}}));
  const TensorRef rows =
      run_tensor("aten.sum.dim_IntList", {{"self", {z}}, {"dim", ints({-1})}, {"keepdim", {true}}});
  EXPECT_EQ(rows->sizes, (Sizes{2, 1}));
  EXPECT_EQ(numbers(rows), (List{{4, 6}, {5, 7}}));
  EXPECT_EQ(numbers(run_tensor("aten.mean.default", {{"self", {z}}})), (List{{2.25, 3.25}}));
  EXPECT_EQ(numbers(run_tensor("aten.cumsum.default", {{"self", {z}}, {"dim", {std::int64_t{0}}}})),
            (List{{1, 2}, {3, 4}, {6, 8}, {3, 5}}));
  const TensorRef product =
      run_tensor("aten.prod.dim_int", {{"self", {z}}, {"dim", {std::int64_t{1}}}});
  EXPECT_EQ(numbers(product), (List{{-5, 10}, {-6, 5}}));
  const TensorRef norm = run_tensor("aten.linalg_vector_norm.default",
                                    {{"self", {complex_tensor({2}, {{3, 4}, {0, 12}})}}});
  EXPECT_EQ(norm->dtype, DType::kFloat32);
  EXPECT_EQ(values(*norm), (Numbers{13}));
  const TensorRef any = run_tensor("aten.any.default", {{"self", {complex_tensor({1}, {{0, 1}})}}});
  EXPECT_EQ(values(*any), (Numbers{1}));
}

TEST(Complex, SumOfNoDimensionsIsACopy) {
  const TensorRef z = complex_tensor({}, {{1, 2}});
  const TensorRef sum = run_tensor("aten.sum.default", {{"self", {z}}});
  EXPECT_EQ(sum->sizes, Sizes{});
  EXPECT_EQ(numbers(sum), (List{{1, 2}}));
}

TEST(Complex, MatrixProductsByHand) {
  const TensorRef a = complex_tensor({1, 2}, {{1, 1}, {2, 0}});
  const TensorRef b = complex_tensor({2, 1}, {{0, 1}, {3, -1}});
  // (1 + i) i + 2 (3 - i) = (-1 + i) + (6 - 2i)
  EXPECT_EQ(numbers(run_tensor("aten.mm.default", {{"self", {a}}, {"mat2", {b}}})),
            (List{{5, -1}}));
  const TensorRef x = complex_tensor({2}, {{1, 1}, {2, 0}});
  const TensorRef y = complex_tensor({2}, {{0, 1}, {3, -1}});
  EXPECT_EQ(numbers(run_tensor("aten.dot.default", {{"self", {x}}, {"tensor", {y}}})),
            (List{{5, -1}}));
  // (1 - i) i + 2 (3 - i) = (1 + i) + (6 - 2i)
  EXPECT_EQ(numbers(run_tensor("aten.vdot.default", {{"self", {x}}, {"other", {y}}})),
            (List{{7, -1}}));
  const TensorRef self = complex_tensor({1}, {{1, 0}});
  const TensorRef sum = run_tensor("aten.addmm.default", {{"self", {self}},
                                                          {"mat1", {a}},
                                                          {"mat2", {b}},
                                                          {"beta", {spec::ComplexNumber{0, 1}}},
                                                          {"alpha", {std::int64_t{2}}}});
  EXPECT_EQ(numbers(sum), (List{{10, -1}}));
}

TEST(Complex, EinsumSumsOverBothParts) {
  const TensorRef a = complex_tensor({1, 2}, {{1, 1}, {2, 0}});
  const TensorRef b = complex_tensor({2, 1}, {{0, 1}, {3, -1}});
  const TensorRef out = run_tensor("aten.einsum.default", {{"equation", {std::string("ij,jk->ki")}},
                                                           {"tensors", list_of({a, b})}});
  EXPECT_EQ(numbers(out), (List{{5, -1}}));
  const TensorRef turned = run_tensor(
      "aten.einsum.default", {{"equation", {std::string("ij->ji")}}, {"tensors", list_of({a})}});
  EXPECT_EQ(turned->sizes, (Sizes{2, 1}));
  EXPECT_EQ(numbers(turned), (List{{1, 1}, {2, 0}}));
}

TEST(Complex, ClosenessIsThatOfMagnitudes) {
  const TensorRef a = complex_tensor({1}, {{3, 4}});
  const TensorRef b = complex_tensor({1}, {{3, 5}});
  const auto is_close = [&](double atol) {
    return values(*run_tensor("aten.isclose.default",
                              {{"self", {a}}, {"other", {b}}, {"rtol", {0.0}}, {"atol", {atol}}}));
  };
  EXPECT_EQ(is_close(0.5), (Numbers{0}));
  EXPECT_EQ(is_close(1.5), (Numbers{1}));
}

TEST(Complex, InPlaceAndOutFormsWrite) {
  const TensorRef z = complex_tensor({2}, {{1, 2}, {3, 4}});
  const std::vector<Datum> result =
      run("aten.mul_.Scalar", {{"self", {z}}, {"other", {spec::ComplexNumber{0, 1}}}});
  EXPECT_EQ(*result[0].as<TensorRef>(), z);
  EXPECT_EQ(numbers(z), (List{{-2, 1}, {-4, 3}}));
  const TensorRef out = complex_tensor({1}, {{0, 0}});
  const TensorRef empty = new_tensor(DType::kComplex64, Sizes{0}, spec::Device{});
  static_cast<void>(run("aten.neg.out", {{"self", {z}}, {"out", {empty}}}));
  EXPECT_EQ(numbers(empty), (List{{2, -1}, {4, -3}}));
  static_cast<void>(run("aten.zero_.default", {{"self", {z}}}));
  EXPECT_EQ(numbers(z), (List{{0, 0}, {0, 0}}));
  static_cast<void>(
      run("aten.fill_.Scalar", {{"self", {z}}, {"value", {spec::ComplexNumber{1, 2}}}}));
  EXPECT_EQ(numbers(z), (List{{1, 2}, {1, 2}}));
}

}  // namespace
}  // namespace graphgate::reference::test
