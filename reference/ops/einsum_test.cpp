#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TensorRef einsum(const std::string& equation, std::initializer_list<TensorRef> operands) {
  return run_tensor("aten.einsum.default",
                    {{"equation", {equation}}, {"tensors", list_of(operands)}});
}

TEST(Einsum, OfOneOperandWithoutSumsIsAView) {
  const TensorRef a = counting({3, 3});
  const TensorRef diagonal = einsum("ii->i", {a});
  EXPECT_EQ(diagonal->storage, a->storage);
  EXPECT_EQ(values(*diagonal), (Numbers{0, 4, 8}));
  EXPECT_EQ(diagonal->strides, Sizes{4});
}

TEST(Einsum, ImpliesTheLabelsThatOccurOnceInAlphabeticalOrder) {
  EXPECT_EQ(values(*einsum("ba", {counting({2, 2})})), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(values(*einsum("ii", {counting({3, 3})})), Numbers{12});
}

TEST(Einsum, AlignsWhatAnEllipsisCoversAtTheBack) {
  const TensorRef a = counting({2, 1, 2});
  const TensorRef b = tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorRef out = einsum("...i,ij->...j", {a, b});
  EXPECT_EQ(out->sizes, (Sizes{2, 1, 3}));
  EXPECT_EQ(values(*out), (Numbers{4, 5, 6, 14, 19, 24}));
}

TEST(Einsum, RoundsBetweenPairs) {
  // 16 * 16 + 1 = 257 is no bfloat16: the first pair gives 256.
  const TensorRef a = tensor(DType::kBFloat16, {2}, {16, 1});
  const TensorRef one = tensor(DType::kBFloat16, {}, {1});
  EXPECT_EQ(values(*einsum("i,i,->", {a, a, one})), Numbers{256});
}

TEST(Einsum, IsDenseWhereAllThatTheRightOperandHasAloneComesFirst) {
  // As PyTorch 2.11 to 2.15 lay them.
  const auto strides = [](const char* equation, const Sizes& left, const Sizes& right) {
    return einsum(equation, {counting(left), counting(right)})->strides;
  };
  EXPECT_EQ(strides("as,sb->ba", {2, 7}, {7, 3}), (Sizes{2, 1}));
  EXPECT_EQ(strides("as,sb->ab", {2, 7}, {7, 3}), (Sizes{3, 1}));
  EXPECT_EQ(strides("dij,bjd->bid", {4, 9, 9}, {2, 9, 4}), (Sizes{9, 1, 18}));
  EXPECT_EQ(strides("abs,sc->bca", {2, 3, 7}, {7, 4}), (Sizes{8, 1, 4}));
  EXPECT_EQ(strides("as,sbc->cba", {2, 7}, {7, 3, 4}), (Sizes{6, 2, 1}));
  EXPECT_EQ(strides("as,sbc->bac", {2, 7}, {7, 3, 4}), (Sizes{4, 12, 1}));
}

TEST(Einsum, OfAnEmptyOperandIsZeros) {
  const TensorRef empty = tensor(DType::kFloat32, {2, 0}, {});
  EXPECT_EQ(values(*einsum("ij,kj->ik", {empty, empty})), Numbers(4, 0));
}

TEST(Einsum, RefusesAnEquationThatDoesNotFit) {
  const TensorRef a = counting({2, 3});
  EXPECT_THROW(einsum("ijk->i", {a}), OpError);
  EXPECT_THROW(einsum("ij->k", {a}), OpError);
  EXPECT_THROW(einsum("ij,ij->i", {a}), OpError);
  EXPECT_THROW(einsum("ij,kj->ik", {a, counting({2, 2})}), OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
