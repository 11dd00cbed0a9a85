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
