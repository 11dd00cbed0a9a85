#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

Numbers element(const std::vector<Datum>& results, std::size_t i) {
  return values(**(*results[0].as<Datum::List>())[i].as<TensorRef>());
}

TEST(Foreach, RunsItsOpOnEachElement) {
  const Datum list = list_of({counting({2}), counting({3})});
  const auto sums =
      run("aten._foreach_add.List", {{"self", list}, {"other", list}, {"alpha", {2L}}});
  EXPECT_EQ(element(sums, 0), (Numbers{0, 3}));
  EXPECT_EQ(element(sums, 1), (Numbers{0, 3, 6}));
  const Datum scalars = {Datum::List{{0.5}, {2L}}};
  const auto scaled = run("aten._foreach_mul.ScalarList", {{"self", list}, {"scalars", scalars}});
  EXPECT_EQ(element(scaled, 0), (Numbers{0, 0.5}));
  EXPECT_EQ(element(scaled, 1), (Numbers{0, 2, 4}));
  const auto powers =
      run("aten._foreach_pow.ScalarAndTensor", {{"self", {2L}}, {"exponent", list}});
  EXPECT_EQ(element(powers, 1), (Numbers{1, 2, 4}));
}

TEST(Foreach, WritesItsElementsInPlace) {
  const TensorRef a = counting({2});
  const TensorRef b = counting({3});
  EXPECT_TRUE(
      run("aten._foreach_add_.Scalar", {{"self", list_of({a, b})}, {"scalar", {1L}}}).empty());
  EXPECT_EQ(values(*a), (Numbers{1, 2}));
  EXPECT_EQ(values(*b), (Numbers{1, 2, 3}));
  (void)run("aten._foreach_minimum_.List",
            {{"self", list_of({a, b})}, {"other", list_of({counting({2}), counting({3})})}});
  EXPECT_EQ(values(*b), (Numbers{0, 1, 2}));
}

TEST(Foreach, TakesTheNormOfAllDimensions) {
  const auto norms = run(
      "aten._foreach_norm.Scalar",
      {{"self", list_of({tensor(DType::kFloat32, {2}, {3, 4})})}, {"dtype", {DType::kFloat64}}});
  EXPECT_EQ(element(norms, 0), Numbers{5});
}

TEST(Foreach, RefusesListsOfDifferentLengths) {
  EXPECT_THROW(
      (void)run("aten._foreach_add.List", {{"self", list_of({counting({2})})},
                                           {"other", list_of({counting({2}), counting({2})})}}),
      OpError);
}

}  // namespace
}  // namespace graphgate::reference::test
