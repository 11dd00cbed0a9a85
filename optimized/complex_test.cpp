// Complex numbers: what is moved by kernels, and what is taken apart.
#include <cmath>
#include <string>

#include "optimized/complex_numbers.h"
#include "optimized/program_test.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace {

using spec::HostTensor;
using Floats = std::vector<float>;

// Runs `%z = OP` lines over complex inputs %a and %b of sizes [2], given and read as pairs.
Floats run_pairs(const std::string& lines, const Floats& a = {1, 2, 3, -4},
                 const Floats& b = {0.5, -1, 2, 2}) {
  const spec::Program program = program_of(R"(program "pairs" {
  input %x : f32[2, 2]
  input %w : f32[2, 2]
  %a = aten.view_as_complex.default(%x)
  %b = aten.view_as_complex.default(%w)
)" + lines + R"(
  output %y
})");
  const auto results = run_calls(program, {{f32({2, 2}, a), f32({2, 2}, b)}});
  EXPECT_EQ(results.size(), 1U);
  if (results.size() != 1) return {};
  return floats(results[0].outputs[0]);
}

Floats run_complex(const std::string& op, const Floats& a = {1, 2, 3, -4},
                   const Floats& b = {0.5, -1, 2, 2}) {
  return run_pairs("  %z = " + op + "\n  %y = aten.view_as_real.default(%z)", a, b);
}
Floats run_real(const std::string& op, const Floats& a = {1, 2, 3, -4}) {
  return run_pairs("  %y = " + op, a);
}

void expect_near(const Floats& got, const Floats& expected, float tolerance = 2e-6F) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
  }
}

Item tensor_of(spec::DType dtype, const Sizes& sizes) {
  return {Tensor{.dtype = dtype, .sizes = sizes, .strides = row_major_strides(sizes)}};
}

TEST(ComplexNumbers, PromoteByCategoryAndWidth) {
  using spec::DType;
  EXPECT_EQ(promote(DType::kComplex64, DType::kFloat64), DType::kComplex128);
  EXPECT_EQ(promote(DType::kBFloat16, DType::kComplex64), DType::kComplex64);
  EXPECT_EQ(promote(DType::kInt64, DType::kComplex64), DType::kComplex64);
  const Item number = {spec::ComplexNumber{1, 2}};
  const Item doubles = tensor_of(DType::kFloat64, {3});
  const Item floats = tensor_of(DType::kFloat32, {3});
  const Item wide_scalar = tensor_of(DType::kComplex128, {});
  EXPECT_EQ(result_type({&doubles, &number}), DType::kComplex128);
  EXPECT_EQ(result_type({&floats, &wide_scalar}), DType::kComplex64);
  const Item halves = tensor_of(DType::kFloat16, {3});
  EXPECT_THROW((void)result_type({&halves, &number}), Unsupported);
}

TEST(ComplexNumbers, HaveComponentsSideBySide) {
  const Tensor z{
      .dtype = spec::DType::kComplex128, .sizes = {2, 3}, .strides = {1, 2}, .offset = 5};
  const Tensor im = component_of(z, 1);
  EXPECT_EQ(im.dtype, spec::DType::kFloat64);
  EXPECT_EQ(im.strides, (Sizes{2, 4}));
  EXPECT_EQ(im.offset, 11);
  EXPECT_EQ(byte_range(components_of(z)).begin, byte_range(z).begin);
  EXPECT_EQ(byte_range(components_of(z)).end, byte_range(z).end);
}

TEST(ComplexNumbers, AddSubtractAndMultiplyByComponent) {
  EXPECT_EQ(run_complex("aten.add.Tensor(%a, %b)"), (Floats{1.5, 1, 5, -2}));
  EXPECT_EQ(run_complex("aten.add.Tensor(%a, %b, alpha=2)"), (Floats{2, 0, 7, 0}));
  EXPECT_EQ(run_complex("aten.sub.Tensor(%a, %b)"), (Floats{0.5, 3, 1, -6}));
  // (1 + 2i)(0.5 - i) = 2.5, (3 - 4i)(2 + 2i) = 14 - 2i
  EXPECT_EQ(run_complex("aten.mul.Tensor(%a, %b)"), (Floats{2.5, 0, 14, -2}));
  EXPECT_EQ(run_complex("aten.mul.Tensor(%a, complex(0.0, 1.0))"), (Floats{-2, 1, 4, 3}));
  EXPECT_EQ(run_complex("aten.mul.Tensor(%a, 2)"), (Floats{2, 4, 6, -8}));
  EXPECT_EQ(run_complex("aten.rsub.Scalar(%a, 1.0)"), (Floats{0, -2, -2, 4}));
  EXPECT_EQ(run_complex("aten.neg.default(%a)"), (Floats{-1, -2, -3, 4}));
}

TEST(ComplexNumbers, DivideWithoutLeavingTheRange) {
  // (1 + 2i) / (0.5 - i) = (-1.5 + 2i) / 1.25, (3 - 4i) / (2 + 2i) = (-2 - 14i) / 8
  expect_near(run_complex("aten.div.Tensor(%a, %b)"), {-1.2, 1.6, -0.25, -1.75});
  expect_near(run_complex("aten.div.Tensor(%a, %b)", {1e30F, 1e30F, 1e-30F, 0},
                          {1e30F, 1e30F, 2e-30F, 2e-30F}),
              {1, 0, 0.25, -0.25});
  expect_near(run_complex("aten.reciprocal.default(%a)"), {0.2, -0.4, 0.12, 0.16});
  EXPECT_EQ(run_complex("aten.div.Tensor(%a, 2.0)"), (Floats{0.5, 1, 1.5, -2}));
}

TEST(ComplexNumbers, HaveSizesAnglesAndDirections) {
  EXPECT_EQ(run_real("aten.abs.default(%a)", {3, 4, 0, -2}), (Floats{5, 2}));
  expect_near(run_real("aten.angle.default(%a)", {0, 1, -1, 0}), {1.5707964F, 3.1415927F});
  expect_near(run_complex("aten.sgn.default(%a)", {3, 4, 0, 0}), {0.6F, 0.8F, 0, 0});
}

TEST(ComplexNumbers, AreSeenAsTheirComponents) {
  EXPECT_EQ(run_real("aten.real.default(%a)"), (Floats{1, 3}));
  EXPECT_EQ(run_real("aten.imag.default(%a)"), (Floats{2, -4}));
  EXPECT_EQ(run_pairs("  %r = aten.real.default(%a)\n  %i = aten.imag.default(%b)\n"
                      "  %z = aten.complex.default(%r, %i)\n"
                      "  %y = aten.view_as_real.default(%z)"),
            (Floats{1, -1, 3, 2}));
  expect_near(run_pairs("  %r = aten.real.default(%b)\n  %i = aten.imag.default(%a)\n"
                        "  %z = aten.polar.default(%r, %i)\n"
                        "  %y = aten.view_as_real.default(%z)"),
              {-0.20807342F, 0.4546487F, -1.3072872F, 1.513605F});
}

TEST(ComplexNumbers, AreConjugatedWhereTheyAreRead) {
  EXPECT_EQ(run_complex("aten.conj_physical.default(%a)"), (Floats{1, -2, 3, 4}));
  const std::string lines = R"(
  %c = aten._conj.default(%a)
  %t = aten.slice.Tensor(%c, 0, 1, 2)
  %p = aten.mul.Tensor(%t, %t)
  %z = aten.resolve_conj.default(%c)
  %y = aten.view_as_real.default(%)";
  EXPECT_EQ(run_pairs(lines + "z)"), (Floats{1, -2, 3, 4}));
  EXPECT_EQ(run_pairs(lines + "p)"), (Floats{-7, 24}));
}

TEST(ComplexNumbers, AreWrittenInPlaceWhenBothComponentsAreKnown) {
  EXPECT_EQ(run_pairs("  %z = aten.mul_.Tensor(%a, %a)\n  %y = aten.view_as_real.default(%a)"),
            (Floats{-3, 4, -7, -24}));
  // i * z: the imaginary component is the real one that has been written
  EXPECT_EQ(run_pairs("  %r = aten.imag.default(%a)\n  %i = aten.real.default(%a)\n"
                      "  %z = aten.complex.out(%r, %i, out=%a)\n"
                      "  %y = aten.view_as_real.default(%a)"),
            (Floats{2, 1, -4, 3}));
}

TEST(ComplexNumbers, HaveElementaryFunctions) {
  expect_near(run_complex("aten.exp.default(%a)"),
              {-1.1312044F, 2.4717267F, -13.128783F, 15.200784F});
  expect_near(run_complex("aten.log.default(%a)"), {0.804719F, 1.1071488F, 1.609438F, -0.9272952F});
  expect_near(run_complex("aten.sqrt.default(%a)", {3, 4, -4, -0.0F}), {2, 1, 0, -2});
  expect_near(run_complex("aten.sin.default(%a)"),
              {3.1657785F, 1.9596010F, 3.8537380F, 27.016813F});
  expect_near(run_complex("aten.tanh.default(%a)"),
              {1.1667363F, -0.2434582F, 1.0007095F, -0.0049082585F});
  expect_near(run_complex("aten.tanh.default(%a)", {50, 1, -50, 1}), {1, 0, -1, 0});
  expect_near(run_complex("aten.pow.Tensor_Scalar(%a, 2)"), {-3, 4, -7, -24});
  // (1 + 2i)^(0.5 - i)
  expect_near(run_complex("aten.pow.Tensor_Tensor(%a, %b)", {1, 2, 0, 0}, {0.5, -1, 2, 0}),
              {4.3825651F, -1.1243975F, 0, 0});
}

TEST(ComplexNumbers, AreSummedAndMultipliedByComponent) {
  EXPECT_EQ(run_complex("aten.sum.default(%a)"), (Floats{4, -2}));
  EXPECT_EQ(run_complex("aten.mean.default(%a)"), (Floats{2, -1}));
  EXPECT_EQ(run_complex("aten.cumsum.default(%a, 0)"), (Floats{1, 2, 4, -2}));
  EXPECT_EQ(run_complex("aten.prod.default(%a)"), (Floats{11, 2}));
  EXPECT_EQ(run_complex("aten.dot.default(%a, %b)"), (Floats{16.5, -2}));
  EXPECT_EQ(run_complex("aten.vdot.default(%a, %b)"), (Floats{-3.5, 12}));
  EXPECT_EQ(run_real("aten.linalg_vector_norm.default(%a)", {3, 4, 0, 12}), (Floats{13}));
}

TEST(ComplexNumbers, MoveAsTheyAre) {
  EXPECT_EQ(run_complex("aten.flip.default(%a, [0])"), (Floats{3, -4, 1, 2}));
  EXPECT_EQ(run_complex("aten.cat.default([%a, %b])"), (Floats{1, 2, 3, -4, 0.5, -1, 2, 2}));
  EXPECT_EQ(run_complex("aten.constant_pad_nd.default(%a, [1, 0], complex(7.0, 8.0))"),
            (Floats{7, 8, 1, 2, 3, -4}));
  EXPECT_EQ(run_complex("aten.full.default([2], complex(1.5, -1.0))"), (Floats{1.5, -1, 1.5, -1}));
}

TEST(ComplexNumbers, ConvertComponentByComponent) {
  EXPECT_EQ(run_pairs("  %d = aten.to.dtype(%a, c128)\n  %e = aten.mul.Tensor(%d, %a)\n"
                      "  %z = aten.to.dtype(%e, c64)\n  %y = aten.view_as_real.default(%z)"),
            (Floats{-3, 4, -7, -24}));
  EXPECT_EQ(run_pairs("  %z = aten.to.dtype(%w, c64)\n  %r = aten.select.int(%z, 0, 1)\n"
                      "  %y = aten.view_as_real.default(%r)"),
            (Floats{2, 0, 2, 0}));
  EXPECT_EQ(run_real("aten.to.dtype(%a, f32)"), (Floats{1, 3}));
}

TEST(ComplexNumbers, AreComparedAndChosen) {
  EXPECT_EQ(run_pairs("  %m = aten.eq.Tensor(%a, complex(3.0, -4.0))\n"
                      "  %z = aten.where.self(%m, %a, %b)\n"
                      "  %y = aten.view_as_real.default(%z)"),
            (Floats{0.5, -1, 3, -4}));
  EXPECT_EQ(run_pairs("  %m = aten.ne.Tensor(%a, complex(3.0, -4.0))\n"
                      "  %z = aten.masked_fill.Scalar(%a, %m, complex(9.0, 8.0))\n"
                      "  %y = aten.view_as_real.default(%z)"),
            (Floats{9, 8, 3, -4}));
}

TEST(ComplexNumbers, AreRefusedByOpsThatTakeNone) {
  const spec::Program program = program_of(R"(program "none" {
  input %x : f32[2, 2]
  %a = aten.view_as_complex.default(%x)
  %y = aten.gelu.default(%a)
  output %y
})");
  auto loaded = make_executor({})->load(program);
  ASSERT_TRUE(loaded.ok());
  const Inputs inputs = {f32({2, 2}, {1, 2, 3, 4})};
  const auto called = loaded.value()->call(inputs);
  ASSERT_FALSE(called.ok());
  EXPECT_EQ(called.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(called.error().message.find("aten.gelu.default of complex64 is not supported"),
            std::string::npos)
      << called.error().message;
}

}  // namespace
}  // namespace graphgate::optimized
