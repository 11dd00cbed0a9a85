#include "conformance/judges/flips.h"

#include <gtest/gtest.h>

#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

TEST(Flips, RotateChangeAllAndChangeOne) {
  const spec::HostTensor x = spec::float_tensor({1, 0, -3});
  EXPECT_EQ(spec::elements_of(*flipped(x, Flip::kRotate, 1)), (std::vector<float>{0, -3, 1}));
  EXPECT_EQ(spec::elements_of(*flipped(x, Flip::kAll, 1)), (std::vector<float>{-1, 1, 3}));
  const auto one = spec::elements_of(*flipped(x, Flip::kOneElement, 1));
  int changed = 0;
  for (std::size_t i = 0; i < 3; ++i) changed += one[i] != spec::elements_of(x)[i] ? 1 : 0;
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(spec::elements_of(x), (std::vector<float>{1, 0, -3})) << "the original stays";
}

TEST(Flips, KeepIntegersNearIndicesAndTurnBooleansOver) {
  spec::HostTensor index = spec::make_host_tensor(spec::DType::kInt8, {2});
  index.storage->bytes[1] = std::byte{1};
  EXPECT_EQ(flipped(index, Flip::kAll, 1)->storage->bytes,
            (std::vector<std::byte>{std::byte{1}, std::byte{0}}));
  EXPECT_EQ(std::get<bool>(*flipped(spec::InputValue(true), Flip::kAll, 1)), false);
}

TEST(Flips, ChangeOnlyElementsOfTheView) {
  spec::HostTensor view = spec::float_tensor({1, 2, 3, 4});
  view.sizes = {2};
  view.strides = {2};
  const auto changed = flipped(view, Flip::kAll, 1);
  spec::HostTensor whole = *changed;
  whole.sizes = {4};
  whole.strides = {1};
  EXPECT_EQ(spec::elements_of(whole), (std::vector<float>{-1, 2, -3, 4}));
}

TEST(Flips, SayWhenTheyChangeNothing) {
  EXPECT_FALSE(flipped(spec::float_tensor({2, 2}), Flip::kRotate, 1).has_value());
  EXPECT_FALSE(flipped(spec::float_tensor({}), Flip::kAll, 1).has_value());
  EXPECT_FALSE(flipped(spec::InputValue(std::int64_t{4}), Flip::kAll, 1).has_value());
}

TEST(Flips, ChangeBothPartsOfAComplexElement) {
  const spec::HostTensor z =
      spec::host_tensor(spec::DType::kComplex64, {2}, std::vector<float>{1, 0, -3, 4});
  EXPECT_EQ(spec::elements_of(*flipped(z, Flip::kAll, 1)), (std::vector<float>{-1, 1, 3, -4}));
  EXPECT_EQ(spec::elements_of(*flipped(z, Flip::kRotate, 1)), (std::vector<float>{-3, 4, 1, 0}));
}

}  // namespace
}  // namespace graphgate::conformance
