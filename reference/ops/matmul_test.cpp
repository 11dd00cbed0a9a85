#include <cmath>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(MatrixProduct, OfInt8Wraps) {
  const TensorRef a = tensor(DType::kInt8, {1, 2}, {100, 100});
  const TensorRef out = run_tensor(
      "aten.mm.default", {{"self", {a}}, {"mat2", {tensor(DType::kInt8, {2, 1}, {2, 1})}}});
  EXPECT_EQ(values(*out), Numbers{44});  // 300 - 256
}

TEST(MatrixProduct, OfNothingToSumIsZero) {
  const TensorRef out =
      run_tensor("aten.mm.default", {{"self", {tensor(DType::kFloat32, {2, 0}, {})}},
                                     {"mat2", {tensor(DType::kFloat32, {0, 1}, {})}}});
  EXPECT_EQ(values(*out), (Numbers{0, 0}));
}

TEST(MatrixProduct, RefusesInnerSizesThatDiffer) {
  const TensorRef a = counting({2, 3});
  EXPECT_THROW(run_tensor("aten.mm.default", {{"self", {a}}, {"mat2", {a}}}), OpError);
}

TEST(MatrixProduct, OfSmallIntegersIsExactInTheOracle) {
  const TensorRef a = counting({3, 3}, DType::kBFloat16);
  const TensorRef out =
      run_tensor("aten.mm.default", {{"self", {a}}, {"mat2", {a}}}, Mode::kWorstCase);
  EXPECT_EQ(values(*out), (Numbers{15, 18, 21, 42, 54, 66, 69, 90, 111}));
  EXPECT_EQ(radii(*out), Numbers(9, 0));
}

TEST(MatrixProduct, BoundsACancellationByWhatCancels) {
  // 2^12 * 2^12 - 2^24 + 2^-12 * 1: float32 may lose the last term, and no more.
  const TensorRef a = tensor(DType::kFloat32, {1, 3}, {4096, -4096, 0x1p-12});
  const TensorRef b = tensor(DType::kFloat32, {3, 1}, {4096, 4096, 1});
  const TensorRef out =
      run_tensor("aten.mm.default", {{"self", {a}}, {"mat2", {b}}}, Mode::kWorstCase);
  EXPECT_EQ(values(*out), Numbers{0x1p-12});
  const double radius = radii(*out)[0];
  EXPECT_GE(radius, 0x1p-12);
  EXPECT_LE(radius, 3 * 0x1p-24 * 0x1p25 * 1.01);  // gamma_3 times the magnitudes
}

TEST(AddingProduct, WithBetaZeroDoesNotReadSelf) {
  const TensorRef one = tensor(DType::kFloat32, {1, 1}, {3});
  const TensorRef self = tensor(DType::kFloat32, {1, 1}, {kNan});
  const TensorRef out =
      run_tensor("aten.addmm.default",
                 {{"self", {self}}, {"mat1", {one}}, {"mat2", {one}}, {"beta", {std::int64_t{0}}}});
  EXPECT_EQ(values(*out), Numbers{9});
}

TEST(AddingProduct, StretchesSelfAndScalesBothParts) {
  const TensorRef self = tensor(DType::kFloat32, {2}, {1, 2});
  const TensorRef a = tensor(DType::kFloat32, {2, 1}, {1, 2});
  const TensorRef b = tensor(DType::kFloat32, {1, 2}, {3, 4});
  const TensorRef out = run_tensor(
      "aten.addmm.default",
      {{"self", {self}}, {"mat1", {a}}, {"mat2", {b}}, {"beta", {10.0}}, {"alpha", {0.5}}});
  EXPECT_EQ(values(*out), (Numbers{11.5, 22, 13, 24}));
}

TEST(AddingProduct, OfBatchesRoundsAfterEachBatch) {
  // bfloat16 holds 256 and 258, not 257: adding 1 twice leaves 256.
  const TensorRef self = tensor(DType::kBFloat16, {1, 1}, {256});
  const TensorRef ones = tensor(DType::kBFloat16, {2, 1, 1}, {1, 1});
  const TensorRef out =
      run_tensor("aten.addbmm.default", {{"self", {self}}, {"batch1", {ones}}, {"batch2", {ones}}});
  EXPECT_EQ(values(*out), Numbers{256});
}

TEST(OuterProduct, RoundsAtEveryStep) {
  // 1.0078125^2 = 1.01568603515625 rounds to 1.015625 before 1/64 is added.
  const TensorRef x = tensor(DType::kBFloat16, {1}, {1.0078125});
  const TensorRef out = run_tensor(
      "aten.addr.default",
      {{"self", {tensor(DType::kBFloat16, {1, 1}, {0.015625})}}, {"vec1", {x}}, {"vec2", {x}}});
  EXPECT_EQ(values(*out), Numbers{1.03125});
}

// 256 * -260 is no float16; with 2048 added it is one, to who keeps the product wide.
TEST(OuterProduct, LeavesOpenWhetherAStepThatPassesTheDtypeOverflows) {
  const auto radius = [](double self, double x) {
    return radii(*run_tensor("aten.addr.default",
                             {{"self", {tensor(DType::kFloat16, {1, 1}, {self})}},
                              {"vec1", {tensor(DType::kFloat16, {1}, {256})}},
                              {"vec2", {tensor(DType::kFloat16, {1}, {x})}}},
                             Mode::kWorstCase))[0];
  };
  EXPECT_TRUE(std::isinf(radius(2048, -260)));
  EXPECT_FALSE(std::isinf(radius(2048, -240)));
}

// The product makes NaN of an infinite element where the difference is infinite.
TEST(Distance, LeavesInfiniteElementsOpenWhereAProductIsTaken) {
  const auto radius = [](std::int64_t mode, double x) {
    const TensorRef a = tensor(DType::kFloat32, {1, 1}, {x});
    const TensorRef b = tensor(DType::kFloat32, {1, 1}, {3});
    const Arguments arguments = {{"x1", {a}}, {"x2", {b}}, {"p", {2.0}}, {"compute_mode", {mode}}};
    return radii(*run_tensor("aten._cdist_forward.default", arguments, Mode::kWorstCase))[0];
  };
  EXPECT_TRUE(std::isinf(radius(1, detail::kInfinity)));
  EXPECT_EQ(radius(2, detail::kInfinity), 0);
  EXPECT_FALSE(std::isinf(radius(1, 4)));
}

TEST(Matmul, StretchesBatchesAndDropsTheDimensionOfAVector) {
  const TensorRef a = counting({2, 1, 2, 2});
  const TensorRef out = run_tensor(
      "aten.matmul.default", {{"self", {a}}, {"other", {tensor(DType::kFloat32, {2}, {1, 10})}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 1, 2}));
  EXPECT_EQ(values(*out), (Numbers{10, 32, 54, 76}));
}

TEST(Linear, RoundsOnceOnlyWhereTheBiasIsPartOfTheProduct) {
  // 257 + 1: in one rounding 258; a product rounded first gives 256, and 256 + 1 rounds to 256.
  const TensorRef weight = tensor(DType::kBFloat16, {1, 2}, {256, 1});
  const TensorRef bias = tensor(DType::kBFloat16, {1}, {1});
  const TensorRef rows = tensor(DType::kBFloat16, {1, 1, 2}, {1, 1});
  const TensorRef spread = tensor(DType::kBFloat16, {1, 1, 2}, {1, 1}, {4, 4, 2});
  const auto linear = [&](const TensorRef& input) {
    return values(*run_tensor("aten.linear.default",
                              {{"input", {input}}, {"weight", {weight}}, {"bias", {bias}}}));
  };
  EXPECT_EQ(linear(rows), Numbers{258});
  EXPECT_EQ(linear(spread), Numbers{256});
}

TEST(Linear, IntoAnOutTensorRoundsTheProductOfAllButMatricesFirst) {
  const TensorRef weight = tensor(DType::kBFloat16, {1, 2}, {256, 1});
  const TensorRef bias = tensor(DType::kBFloat16, {1}, {1});
  const auto linear = [&](const Sizes& sizes, const Sizes& out_sizes) {
    return values(
        *run_tensor("aten.linear.out", {{"input", {tensor(DType::kBFloat16, sizes, {1, 1})}},
                                        {"weight", {weight}},
                                        {"bias", {bias}},
                                        {"out", {tensor(DType::kBFloat16, out_sizes, {0})}}}));
  };
  EXPECT_EQ(linear({1, 2}, {1, 1}), Numbers{258});
  EXPECT_EQ(linear({1, 1, 2}, {1, 1, 1}), Numbers{256});
  EXPECT_EQ(linear({2}, {1}), Numbers{256});
}

// The bias is part of the product where it has one dimension, or one that is wider than 1.
TEST(Linear, RoundsTheProductFirstWhereTheBiasIsNoRow) {
  const TensorRef weight = tensor(DType::kBFloat16, {2, 2}, {256, 1, 256, 1});
  const TensorRef input = tensor(DType::kBFloat16, {1, 2, 2}, {1, 1, 1, 1});
  const auto linear = [&](const Sizes& sizes) {
    const Numbers ones(static_cast<std::size_t>(count_of(sizes)), 1);
    const TensorRef bias = tensor(DType::kBFloat16, sizes, ones);
    return values(*run_tensor("aten.linear.default",
                              {{"input", {input}}, {"weight", {weight}}, {"bias", {bias}}}))[0];
  };
  for (const Sizes& row : {Sizes{2}, Sizes{1}, Sizes{1, 2}, Sizes{2, 1}})
    EXPECT_EQ(linear(row), 258);
  for (const Sizes& other : {Sizes{}, Sizes{1, 1}, Sizes{2, 2}}) EXPECT_EQ(linear(other), 256);
  EXPECT_THROW(linear({1, 1, 2}), OpError);
}

TEST(Distance, ByProductStaysRealWhereItCancels) {
  const TensorRef rows = tensor(DType::kFloat32, {1, 2}, {1000.5, -3.25});
  const Arguments arguments = {
      {"x1", {rows}}, {"x2", {rows}}, {"p", {2.0}}, {"compute_mode", {std::int64_t{1}}}};
  const TensorRef out = run_tensor("aten._cdist_forward.default", arguments, Mode::kWorstCase);
  EXPECT_EQ(values(*out), Numbers{0});
  EXPECT_LE(radii(*out)[0], 1.0);  // sqrt of a few units in the last place of 10^6
}

TEST(Distance, OfOrderZeroCountsElementsThatDiffer) {
  const TensorRef rows = tensor(DType::kFloat64, {2, 3}, {1, 2, 3, 1, 5, 4});
  const TensorRef out = run_tensor("aten._pdist_forward.default", {{"self", {rows}}, {"p", {0.0}}});
  EXPECT_EQ(values(*out), Numbers{2});
}

// 3 * 5 * x where the product of two factors is exact and that of two others is not: a factor, the
// other one or their product times alpha.
// 2051 as float16 is 2052: with -2048 added before that rounding 3, behind it 4.
TEST(AddingProduct, MayRoundTheProductFirstWhereThatIsDeclared) {
  const TensorRef row = tensor(DType::kFloat16, {1, 2}, {2048, 3});
  const TensorRef ones = tensor(DType::kFloat16, {2, 1}, {1, 1});
  const TensorRef self = tensor(DType::kFloat16, {1, 1}, {-2048});
  const auto add = [&] {
    return run_tensor("aten.addmm.default", {{"self", {self}}, {"mat1", {row}}, {"mat2", {ones}}},
                      Mode::kWorstCase);
  };
  EXPECT_EQ(radii(*add()), (Numbers{0}));
  const DeclaredArithmetic declared(*parse_arithmetic("approximate"));
  EXPECT_EQ(values(*add()), (Numbers{3}));
  EXPECT_GE(radii(*add())[0], 1);
}

TEST(AddingProduct, LeavesOpenWhatAlphaMultiplies) {
  const float x = 9549657;
  const TensorRef out = run_tensor("aten.addmm.default",
                                   {{"self", {tensor(DType::kFloat32, {1, 1}, {0})}},
                                    {"mat1", {tensor(DType::kFloat32, {1, 1}, {5})}},
                                    {"mat2", {tensor(DType::kFloat32, {1, 1}, {x})}},
                                    {"beta", {0.0}},
                                    {"alpha", {3.0}}},
                                   Mode::kWorstCase);
  const double exactly = 15.0 * static_cast<double>(x);
  const double radius = radii(*out)[0];
  EXPECT_GE(radius, std::fabs(static_cast<double>((3.0F * x) * 5.0F) - exactly));
  EXPECT_GE(radius, std::fabs(static_cast<double>(3.0F * (x * 5.0F)) - exactly));
  EXPECT_LE(radius, 3 * 0x1p-24 * exactly);
}

TEST(AddingProduct, IsOpenWhereOnlyOneFactorTimesAlphaOverflows) {
  const auto radius = [](double a, double alpha) {
    const TensorRef out = run_tensor("aten.addmm.default",
                                     {{"self", {tensor(DType::kFloat32, {1, 1}, {1})}},
                                      {"mat1", {tensor(DType::kFloat32, {1, 1}, {a})}},
                                      {"mat2", {tensor(DType::kFloat32, {1, 1}, {1e-30})}},
                                      {"alpha", {alpha}}},
                                     Mode::kWorstCase);
    return radii(*out)[0];
  };
  EXPECT_TRUE(std::isinf(radius(1e30, 1e30)));
  EXPECT_TRUE(std::isinf(radius(INFINITY, 0)));  // BLAS reads no factor
  EXPECT_EQ(radius(1, 0), 0);
}

// What cuBLAS may do where an executor says so: 16 products in two parts, each in bfloat16.
class SplitProduct : public ::testing::Test {
 protected:
  static Arithmetic splitting() {
    Arithmetic arithmetic;
    arithmetic.splits_bfloat16 = true;
    return arithmetic;
  }
  // The radius of an op's one element. `rows` and `columns` hold 16 and -15 + 2^-7 in two parts,
  // which no float32 accumulator rounds.
  static double radius(std::string_view op, const Arguments& arguments) {
    return radii(*run_tensor(op, arguments, Mode::kWorstCase))[0];
  }
  static Numbers row() {
    Numbers out(16, 0);
    out[0] = 16;
    out[1] = 0x1p-7;
    out[8] = -15;
    return out;
  }
  const TensorRef rows_ = tensor(DType::kBFloat16, {1, 16}, row());
  const TensorRef columns_ = tensor(DType::kBFloat16, {16, 1}, Numbers(16, 1));
  const TensorRef batch_ = tensor(DType::kBFloat16, {1, 1, 16}, row());
  const TensorRef batch_columns_ = tensor(DType::kBFloat16, {1, 16, 1}, Numbers(16, 1));
  const TensorRef self_ = tensor(DType::kBFloat16, {1, 1}, {0});
  const TensorRef vector_ = tensor(DType::kBFloat16, {16}, Numbers(16, 1));
  const std::vector<std::pair<std::string, Arguments>> products_ = {
      {"aten.mm.default", {{"self", {rows_}}, {"mat2", {columns_}}}},
      {"aten.mv.default", {{"self", {rows_}}, {"vec", {vector_}}}},
      {"aten.addmm.default", {{"self", {self_}}, {"mat1", {rows_}}, {"mat2", {columns_}}}},
      {"aten.bmm.default", {{"self", {batch_}}, {"mat2", {batch_columns_}}}},
      {"aten.baddbmm.default",
       {{"self", {self_}}, {"batch1", {batch_}}, {"batch2", {batch_columns_}}}},
      {"aten.addbmm.default",
       {{"self", {self_}}, {"batch1", {batch_}}, {"batch2", {batch_columns_}}}},
      {"aten.matmul.default", {{"self", {rows_}}, {"other", {columns_}}}},
      {"aten.linear.default",
       {{"input", {rows_}}, {"weight", {tensor(DType::kBFloat16, {1, 16}, Numbers(16, 1))}}}},
      {"aten.einsum.default",
       {{"equation", {std::string("ij,jk->ik")}}, {"tensors", list_of({rows_, columns_})}}}};
};

TEST_F(SplitProduct, RoundsEachPartWhereThatIsDeclared) {
  const double half_ulp_of_result = 0x1p-8;  // 1 + 2^-7 is held; addbmm and self's sum round
  for (const auto& [op, arguments] : products_) {
    const double before = radius(op, arguments);
    EXPECT_LE(before, 2 * half_ulp_of_result) << op;
    const DeclaredArithmetic declared(splitting());
    const double allowed = radius(op, arguments);
    EXPECT_GE(allowed - before, (16 + 15) * 0x1p-8) << op;
    EXPECT_LE(allowed - before, 1.1 * (16 + 15) * 0x1p-8 + 2 * half_ulp_of_result) << op;
  }
}

// Vectors' products have a kernel of their own, and other dtypes' no parts.
TEST_F(SplitProduct, IsNoneOfVectorsOrOfOtherDtypes) {
  const TensorRef vector = tensor(DType::kBFloat16, {16}, row());
  const TensorRef rows = tensor(DType::kFloat16, {1, 16}, row());
  const TensorRef columns = tensor(DType::kFloat16, {16, 1}, Numbers(16, 1));
  const std::vector<std::pair<std::string, Arguments>> others = {
      {"aten.dot.default", {{"self", {vector}}, {"tensor", {vector_}}}},
      {"aten.matmul.default", {{"self", {vector}}, {"other", {vector_}}}},
      {"aten.mm.default", {{"self", {rows}}, {"mat2", {columns}}}}};
  const DeclaredArithmetic declared(splitting());
  for (const auto& [op, arguments] : others) EXPECT_EQ(radius(op, arguments), 0) << op;
}

// 80000 as float16 is an infinity, and stays one where -40000 is added to it; 80000 + 1 is one
// anyway.
TEST(AddingProduct, IsOpenWhereTheProductAloneOverflows) {
  const TensorRef row = tensor(DType::kFloat16, {1, 1}, {40000});
  const TensorRef two = tensor(DType::kFloat16, {1, 1}, {2});
  const auto add = [&](double self) {
    return radii(*run_tensor(
        "aten.addmm.default",
        {{"self", {tensor(DType::kFloat16, {1, 1}, {self})}}, {"mat1", {row}}, {"mat2", {two}}},
        Mode::kWorstCase))[0];
  };
  EXPECT_EQ(add(-40000), 0);
  const DeclaredArithmetic declared(*parse_arithmetic("tensor-core"));
  EXPECT_TRUE(std::isinf(add(-40000)));
  EXPECT_EQ(add(1), 0);
}

// 8 products are one part, which is rounded before self is added: 257 as bfloat16 is 256.
TEST_F(SplitProduct, MayRoundOnePartBeforeSelfIsAdded) {
  const TensorRef row = tensor(DType::kBFloat16, {1, 2}, {256, 1});
  const TensorRef ones = tensor(DType::kBFloat16, {2, 1}, {1, 1});
  const TensorRef self = tensor(DType::kBFloat16, {1, 1}, {-256});
  const auto add = [&] {
    return radius("aten.addmm.default", {{"self", {self}}, {"mat1", {row}}, {"mat2", {ones}}});
  };
  EXPECT_EQ(add(), 0);
  const DeclaredArithmetic declared(splitting());
  EXPECT_GE(add(), 1);
  EXPECT_LT(add(), 3);
}

// The second batch's product is 257, added to -256 that the first one left.
TEST(AddingProduct, OfBatchesMayRoundEachProductFirstWhereThatIsDeclared) {
  const TensorRef rows = tensor(DType::kBFloat16, {2, 1, 2}, {-256, 0, 256, 1});
  const TensorRef ones = tensor(DType::kBFloat16, {2, 2, 1}, {1, 1, 1, 1});
  const TensorRef self = tensor(DType::kBFloat16, {1, 1}, {0});
  const auto add = [&] {
    return run_tensor("aten.addbmm.default",
                      {{"self", {self}}, {"batch1", {rows}}, {"batch2", {ones}}}, Mode::kWorstCase);
  };
  EXPECT_EQ(radii(*add()), Numbers{0});
  const DeclaredArithmetic declared(*parse_arithmetic("tensor-core"));
  EXPECT_EQ(values(*add()), Numbers{1});
  EXPECT_GE(radii(*add())[0], 1);
  EXPECT_LT(radii(*add())[0], 1.1);
}

// PyTorch's gemv reads a column-major matrix column by column, and rounds the product before self
// is added: 257 as bfloat16 is 256. A row-major one has its float32 sum.
TEST(IntegerProduct, SumsBytesInInt32) {
  const TensorRef a = tensor(DType::kUInt8, {1, 2}, {255, 1});
  const TensorRef b = tensor(DType::kInt8, {2, 1}, {-128, 7});
  const TensorRef out = run_tensor("aten._int_mm.default", {{"self", {a}}, {"mat2", {b}}});
  EXPECT_EQ(out->dtype, DType::kInt32);
  EXPECT_EQ(values(*out), Numbers{-32633});
  EXPECT_THROW((void)run("aten._int_mm.default", {{"self", {a}}, {"mat2", {a}}}), OpError);
}

TEST(CudaKernels, TakeProductsOfSomeSizesAlone) {
  const auto integers = [](std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    return Arguments{
        {"self", {tensor(DType::kInt8, {rows, inner}, Numbers(rows * inner, 1))}},
        {"mat2", {tensor(DType::kInt8, {inner, columns}, Numbers(inner * columns, 1))}}};
  };
  const auto floats = [](std::int64_t inner, std::int64_t columns) {
    const DType dtype = DType::kFloat8E4M3FN;
    return Arguments{
        {"self", {tensor(dtype, {1, inner}, Numbers(inner, 1))}},
        {"mat2", {tensor(dtype, {inner, columns}, Numbers(inner * columns, 1), {1, inner})}},
        {"scale_a", {tensor(DType::kFloat32, {}, {1})}},
        {"scale_b", {tensor(DType::kFloat32, {}, {1})}}};
  };
  const auto takes = [](const char* op, const Arguments& arguments) {
    try {
      return !run(op, arguments).empty();
    } catch (const OpError&) {
      return false;
    }
  };
  EXPECT_TRUE(takes("aten._int_mm.default", integers(16, 8, 8)));
  EXPECT_TRUE(takes("aten._scaled_mm.default", floats(8, 16)));
  const auto grouped = [](std::int64_t inner) {
    return Arguments{{"self", {tensor(DType::kFloat32, {1, 1, inner}, Numbers(inner, 1))}},
                     {"mat2", {tensor(DType::kFloat32, {1, inner, 4}, Numbers(inner * 4, 1))}}};
  };
  EXPECT_TRUE(takes("aten._grouped_mm.default", grouped(1)));
  Arithmetic arithmetic;
  arithmetic.refuses_as_cuda = true;
  {
    const DeclaredArithmetic declared(arithmetic);
    EXPECT_TRUE(takes("aten._grouped_mm.default", grouped(4)));
    EXPECT_FALSE(takes("aten._grouped_mm.default", grouped(2)));
    // Rows that are multiples of 16 bytes apart, from the third number on.
    Arguments shifted = grouped(4);
    const auto wide = tensor(DType::kFloat32, {1, 1, 8}, Numbers(8, 1));
    shifted[0].second = {run_tensor("aten.slice.Tensor", {{"self", {wide}},
                                                          {"dim", {std::int64_t{2}}},
                                                          {"start", {std::int64_t{2}}},
                                                          {"end", {std::int64_t{6}}}})};
    EXPECT_FALSE(takes("aten._grouped_mm.default", shifted));
  }
  const DeclaredArithmetic declared(arithmetic);
  EXPECT_TRUE(takes("aten._int_mm.default", integers(17, 8, 8)));
  EXPECT_FALSE(takes("aten._int_mm.default", integers(16, 8, 8)));
  EXPECT_FALSE(takes("aten._int_mm.default", integers(17, 4, 8)));
  EXPECT_FALSE(takes("aten._int_mm.default", integers(17, 8, 4)));
  EXPECT_TRUE(takes("aten._scaled_mm.default", floats(16, 32)));
  EXPECT_FALSE(takes("aten._scaled_mm.default", floats(8, 16)));
  EXPECT_FALSE(takes("aten._scaled_mm.default", floats(16, 8)));
}

// A factor that a unit for bfloat16 takes for 0 beside an infinity: NaN there.
TEST(Product, OfASubnormalBFloat16AndAnInfinityIsOpen) {
  const auto radius = [](DType dtype) {
    const TensorRef a = tensor(dtype, {1, 1, 2}, {0x1p-130, 1});
    const TensorRef b = tensor(dtype, {1, 2, 1}, {kInfinity, 1});
    return radii(
        *run_tensor("aten.bmm.default", {{"self", {a}}, {"mat2", {b}}}, Mode::kWorstCase))[0];
  };
  EXPECT_TRUE(std::isinf(radius(DType::kBFloat16)));
  EXPECT_EQ(radius(DType::kFloat32), 0);
}

TEST(ScaledProduct, ScalesRowsAndColumnsAndDividesWhatIsAskedForInEightBits) {
  const TensorRef a = tensor(DType::kFloat8E4M3FN, {2, 2}, {1, 2, 3, 4});
  const TensorRef b = tensor(DType::kFloat8E4M3FN, {2, 1}, {1, 1});
  Arguments call = {{"self", {a}},
                    {"mat2", {b}},
                    {"scale_a", {tensor(DType::kFloat32, {2, 1}, {0.5, 2})}},
                    {"scale_b", {tensor(DType::kFloat32, {1, 1}, {4})}},
                    {"bias", {tensor(DType::kFloat32, {1}, {1})}},
                    {"scale_result", {tensor(DType::kFloat32, {}, {2})}}};
  EXPECT_EQ(values(*run_tensor("aten._scaled_mm.default", call)), (Numbers{7, 56}));  // 7, 57
  call.emplace_back("out_dtype", Datum{DType::kFloat32});
  EXPECT_EQ(values(*run_tensor("aten._scaled_mm.default", call)), (Numbers{7, 57}));
  call.back().second = {DType::kFloat8E4M3FN};
  EXPECT_EQ(values(*run_tensor("aten._scaled_mm.default", call)), (Numbers{3.5, 28}));  // 28.5
}

TEST(GroupedProduct, MultipliesRowsWithTheMatrixOfTheirGroup) {
  const TensorRef rows = tensor(DType::kFloat32, {3, 1}, {1, 2, 3});
  const TensorRef matrices = tensor(DType::kFloat32, {2, 1, 1}, {10, 100});
  const TensorRef out = run_tensor(
      "aten._grouped_mm.default",
      {{"self", {rows}}, {"mat2", {matrices}}, {"offs", {tensor(DType::kInt32, {2}, {1, 3})}}});
  EXPECT_EQ(values(*out), (Numbers{10, 200, 300}));
  EXPECT_EQ(out->strides, (Sizes{4, 1}));  // rows of 16 bytes
  // The depth of both in groups: a product each, of nothing for the empty one.
  const TensorRef deep = run_tensor("aten._grouped_mm.default",
                                    {{"self", {tensor(DType::kFloat32, {1, 3}, {1, 2, 3})}},
                                     {"mat2", {rows}},
                                     {"offs", {tensor(DType::kInt32, {3}, {1, 1, 3})}}});
  EXPECT_EQ(values(*deep), (Numbers{1, 0, 13}));
}

TEST(AddingProduct, OfAVectorRoundsTheProductOfAColumnMajorMatrixFirst) {
  const TensorRef self = tensor(DType::kBFloat16, {2}, {-256, -256});
  const TensorRef ones = tensor(DType::kBFloat16, {2}, {1, 1});
  const auto radius = [&](const Sizes& strides) {
    const TensorRef matrix = tensor(DType::kBFloat16, {2, 2}, {256, 1, 256, 1}, strides);
    return radii(*run_tensor("aten.addmv.default",
                             {{"self", {self}}, {"mat", {matrix}}, {"vec", {ones}}},
                             Mode::kWorstCase))[0];
  };
  EXPECT_EQ(radius({2, 1}), 0);
  EXPECT_GE(radius({1, 2}), 1);
  EXPECT_LT(radius({1, 2}), 3);
}

// It is given alpha and beta in the dtype, and rounds beta * self: 2.3 as bfloat16 is 2.296875.
TEST(AddingProduct, OfAVectorMayHoldItsFactorsInTheDtype) {
  const TensorRef self = tensor(DType::kBFloat16, {1}, {64});
  const TensorRef zero = tensor(DType::kBFloat16, {1, 1}, {0});
  const TensorRef out = run_tensor("aten.addmv.default",
                                   {{"self", {self}},
                                    {"mat", {zero}},
                                    {"vec", {tensor(DType::kBFloat16, {1}, {1})}},
                                    {"beta", {2.3}}},
                                   Mode::kWorstCase);
  EXPECT_LE(std::fabs(values(*out)[0] - 2.296875 * 64), radii(*out)[0]);
  EXPECT_LT(radii(*out)[0], 3);
}

TEST(CrossProduct, GoesAlongADimensionOfThree) {
  const auto a = tensor(DType::kFloat32, {3, 1}, {0, 1, 2});
  const auto b = tensor(DType::kFloat32, {3, 1}, {1, 5, 2});
  const auto out =
      run_tensor("aten.linalg_cross.default", {{"self", {a}}, {"other", {b}}, {"dim", {0L}}});
  EXPECT_EQ(values(*out), (Numbers{-8, 2, -1}));
}

TEST(Trilinear, SumsProductsOfThreeElements) {
  // y = sum over i, j of x1[i] w[j, i, k] x2[k] for one sample: [1 2] [[1 0] [0 3]] [5 7].
  const auto out = run_tensor("aten._trilinear.default",
                              {{"i1", {tensor(DType::kFloat32, {1, 2}, {1, 2})}},
                               {"i2", {tensor(DType::kFloat32, {1, 2, 2}, {1, 0, 0, 3})}},
                               {"i3", {tensor(DType::kFloat32, {1, 2}, {5, 7})}},
                               {"expand1", ints({1, 3})},
                               {"expand2", ints({0})},
                               {"expand3", ints({1, 2})},
                               {"sumdim", ints({2, 3})}});
  EXPECT_EQ(out->sizes, (Sizes{1, 1}));
  EXPECT_EQ(values(*out), Numbers{47});
}

// (1 + 0) * inf or 1 * inf + 0 * inf.
TEST(Trilinear, LeavesOpenWhatInfinitiesOfTheThirdOperandMake) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat32}) {
    const auto out = run_tensor("aten._trilinear.default",
                                {{"i1", {tensor(dtype, {1, 2}, {1, 0})}},
                                 {"i2", {tensor(dtype, {1, 2, 1}, {1, 1})}},
                                 {"i3", {tensor(dtype, {1, 1}, {INFINITY})}},
                                 {"expand1", ints({1, 3})},
                                 {"expand2", ints({0})},
                                 {"expand3", ints({1, 2})},
                                 {"sumdim", ints({2, 3})}},
                                Mode::kWorstCase);
    EXPECT_EQ(radii(*out)[0], INFINITY);
  }
}

}  // namespace
}  // namespace graphgate::reference::test
