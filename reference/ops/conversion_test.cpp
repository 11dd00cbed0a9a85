#include <cmath>
#include <limits>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef row_tensor(DType dtype, const Numbers& x) {
  return tensor(dtype, {static_cast<std::int64_t>(x.size())}, x);
}

TEST(Conversion, ToReturnsItsArgumentUnlessSomethingChanges) {
  const TensorRef x = row_tensor(DType::kFloat32, {1.75});
  EXPECT_EQ(run_tensor("aten.to.dtype", {{"self", {x}}, {"dtype", {DType::kFloat32}}}), x);
  const TensorRef copied =
      run_tensor("aten.to.dtype", {{"self", {x}}, {"dtype", {DType::kFloat32}}, {"copy", {true}}});
  EXPECT_NE(copied->storage, x->storage);
  const TensorRef cut = run_tensor("aten.to.dtype", {{"self", {x}}, {"dtype", {DType::kInt8}}});
  EXPECT_EQ(values(*cut), (Numbers{1}));
}

// NaN, infinities and numbers out of range, as x86 cuts them: int64 by a conversion to 64 bits,
// uint8 by the low byte of that, int32 by one to 32 bits, int16 and int8 by the low bits of that.
TEST(Conversion, WhatAnIntegerDtypeCannotHoldIsCutAsTheHardwareDoes) {
  const double inf = std::numeric_limits<double>::infinity();
  const TensorRef x =
      row_tensor(DType::kFloat64, {std::nan(""), inf, -inf, 3e9, 4294967303.0, 70000});
  const auto expect = [&](DType dtype, const Numbers& numbers) {
    const TensorRef made = run_tensor("aten._to_copy.default", {{"self", {x}}, {"dtype", {dtype}}});
    EXPECT_EQ(values(*made), numbers);
    const TensorRef out = row_tensor(dtype, {0, 0, 0, 0, 0, 0});
    EXPECT_EQ(values(*run_tensor("aten._to_copy.out", {{"self", {x}}, {"out", {out}}})), numbers);
    const TensorRef target = row_tensor(dtype, {0, 0, 0, 0, 0, 0});
    EXPECT_EQ(values(*run_tensor("aten.copy_.default", {{"self", {target}}, {"src", {x}}})),
              numbers);
  };
  expect(DType::kInt64, {-0x1p63, -0x1p63, -0x1p63, 3e9, 4294967303.0, 70000});
  expect(DType::kInt32, {-0x1p31, -0x1p31, -0x1p31, -0x1p31, -0x1p31, 70000});
  expect(DType::kInt16, {0, 0, 0, 0, 0, 4464});
  expect(DType::kInt8, {0, 0, 0, 0, 0, 112});
  expect(DType::kUInt8, {0, 0, 0, 0, 7, 112});
}

TEST(CudaKernels, CutWhatAnIntegerDtypeCannotHoldToAnotherNumber) {
  const TensorRef x = row_tensor(DType::kFloat64, {std::nan(""), 3e9, 70000, -1});
  const auto open = [&](DType dtype) {
    return radii(*run_tensor("aten._to_copy.default", {{"self", {x}}, {"dtype", {dtype}}},
                             Mode::kWorstCase));
  };
  EXPECT_EQ(open(DType::kInt32), (Numbers{0, 0, 0, 0}));
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  EXPECT_EQ(open(DType::kInt32), (Numbers{kOpen, kOpen, 0, 0}));
  EXPECT_EQ(open(DType::kInt64), (Numbers{kOpen, 0, 0, 0}));
  EXPECT_EQ(open(DType::kUInt8), (Numbers{kOpen, kOpen, kOpen, kOpen}));
}

TEST(Conversion, ACastIsExactInTheOracleBecauseItRoundsAsTheExecutorDoes) {
  const TensorRef x = row_tensor(DType::kFloat32, {1.0 + 0x1p-9});
  const TensorRef out = run_tensor(
      "aten._to_copy.default", {{"self", {x}}, {"dtype", {DType::kBFloat16}}}, Mode::kWorstCase);
  EXPECT_EQ(values(*out), (Numbers{1}));
  EXPECT_EQ(radii(*out), (Numbers{0}));
}

TEST(Conversion, ContiguousCopiesOnlyWhatIsNot) {
  const TensorRef x = tensor(DType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5}, {1, 2});
  const TensorRef out = run_tensor("aten.contiguous.default", {{"self", {x}}});
  EXPECT_EQ(out->strides, (Sizes{3, 1}));
  EXPECT_EQ(values(*out), values(*x));
  EXPECT_EQ(run_tensor("aten.contiguous.default", {{"self", {out}}}), out);
  EXPECT_EQ(run_tensor("aten.clone.default", {{"self", {x}}})->strides, (Sizes{1, 2}));
}

TEST(Conversion, CopyBroadcastsAndKeepsTheGeometryOfItsTarget) {
  const TensorRef whole = tensor(DType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5});
  const TensorRef part = view_of(*whole, {2, 2}, {3, 1}, 1);
  const TensorRef out = run_tensor(
      "aten.copy.default", {{"self", {part}}, {"src", {row_tensor(DType::kInt64, {8, 9})}}});
  EXPECT_EQ(out->strides, (Sizes{3, 1}));
  EXPECT_EQ(out->offset, 1);
  EXPECT_EQ(values(*out), (Numbers{8, 9, 8, 9}));
  EXPECT_EQ(values(*whole), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(run("aten.copy_.default", {{"self", {row_tensor(DType::kFloat32, {1, 2})}},
                                          {"src", {row_tensor(DType::kFloat32, {1, 2, 3})}}}),
               OpError);
}

TEST(Conversion, FillRefusesWhatTheDtypeCannotHold) {
  const auto filled = [](DType dtype, const Datum& value) {
    return values(
        *run_tensor("aten.fill.Scalar", {{"self", {row_tensor(dtype, {0})}}, {"value", value}}))[0];
  };
  EXPECT_EQ(filled(DType::kInt64, {2.7}), 2);
  EXPECT_EQ(filled(DType::kBool, {0.5}), 1);
  EXPECT_THROW(filled(DType::kUInt8, {std::int64_t{300}}), OpError);
  EXPECT_THROW(filled(DType::kInt64, {std::nan("")}), OpError);
  EXPECT_THROW(filled(DType::kFloat8E4M3FN, {500.0}), OpError);
}

// Releases of PyTorch differ in it: NaN, or the greatest number.
TEST(Conversion, WhatOverflowsAnEightBitFloatWithoutInfinityIsOpen) {
  const auto cast_to = [](DType dtype) {
    const Numbers numbers = {500, -1e30, -std::numeric_limits<double>::infinity(),
                             448, 464,   std::nan("")};
    const TensorRef x = row_tensor(DType::kFloat32, numbers);
    return radii(*run_tensor("aten._to_copy.default", {{"self", {x}}, {"dtype", {dtype}}},
                             Mode::kWorstCase));
  };
  const double open = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cast_to(DType::kFloat8E4M3FN), (Numbers{open, open, open, 0, 0, 0}));
  const Numbers wide = cast_to(DType::kFloat8E5M2);
  EXPECT_EQ(wide[1], 0);
  EXPECT_EQ(wide[2], 0);
}

TEST(Conversion, AnElementIsReadAsANumberOfItsKind) {
  const auto item = [](const TensorRef& x) {
    return run("aten._local_scalar_dense.default", {{"self", {x}}}).front();
  };
  EXPECT_EQ(*item(row_tensor(DType::kBool, {1})).as<bool>(), true);
  EXPECT_EQ(*item(row_tensor(DType::kUInt8, {7})).as<std::int64_t>(), 7);
  EXPECT_EQ(*item(row_tensor(DType::kFloat16, {0.5})).as<double>(), 0.5);
  EXPECT_THROW(item(row_tensor(DType::kFloat16, {1, 2})), OpError);
}

// In an oracle run: a float32 number within 2^-6.
Datum rounded_item(long double value) {
  const TensorRef x = row_tensor(DType::kFloat32, {static_cast<double>(value)});
  x->storage->marks = {{value, 0x1p-6}};
  return run("aten._local_scalar_dense.default", {{"self", {x}}}, Mode::kWorstCase).front();
}

// By no more than roundings to float32 add.
bool is_slightly_over(double radius, double least) {
  return radius >= least && radius <= least + 0x1p-20;
}

TEST(Conversion, AFloatKeepsTheRadiusOfTheElementThatItWas) {
  const TensorRef x = row_tensor(DType::kFloat32, {1, 3});
  const auto product =
      run_tensor("aten.mul.Tensor", {{"self", {x}}, {"other", rounded_item(2)}}, Mode::kWorstCase);
  EXPECT_TRUE(is_slightly_over(radii(*product)[0], 0x1p-6));
  EXPECT_TRUE(is_slightly_over(radii(*product)[1], 3 * 0x1p-6));
  const auto filled = [&](DType dtype, long double value) {
    const Arguments arguments = {{"self", {row_tensor(dtype, {0})}},
                                 {"value", rounded_item(value)}};
    return radii(*run_tensor("aten.fill.Scalar", arguments, Mode::kWorstCase))[0];
  };
  EXPECT_TRUE(is_slightly_over(filled(DType::kFloat64, 2), 0x1p-6));
  EXPECT_EQ(filled(DType::kInt64, 2.5), 0) << "2, whichever it is";
  EXPECT_TRUE(std::isinf(filled(DType::kInt64, 2))) << "1 or 2";
  EXPECT_EQ(filled(DType::kBool, 2), 0) << "true";
  EXPECT_TRUE(std::isinf(filled(DType::kBool, 0))) << "0 or not";
  EXPECT_THROW(filled(DType::kUInt8, 300), OpError);
  EXPECT_THROW(filled(DType::kUInt8, 256), Undecidable);
}

TEST(Conversion, AFloatWithinARadiusDecidesNothing) {
  EXPECT_THROW(run("_operator.add", {{"a", rounded_item(2)}, {"b", {1.0}}}), Undecidable);
  EXPECT_THROW(run("aten.arange.default", {{"end", rounded_item(4)}}, Mode::kWorstCase),
               Undecidable);
  const TensorRef x = tensor(DType::kFloat32, {1, 1}, {1});
  const auto with_beta = [&](long double beta) {
    const Arguments arguments = {
        {"self", {x}}, {"mat1", {x}}, {"mat2", {x}}, {"beta", rounded_item(beta)}};
    return run_tensor("aten.addmm.default", arguments, Mode::kWorstCase);
  };
  EXPECT_TRUE(is_slightly_over(radii(*with_beta(1))[0], 0x1p-6));
  EXPECT_THROW(with_beta(0x1p-7), Undecidable) << "of 0, NaNs in self would not count";
}

}  // namespace
}  // namespace graphgate::reference::test
