#include "base/result_test.h"
#include "optimized/kernels/kernel_test.h"

namespace graphgate::optimized::testing {
namespace {

TEST(AssertScalar, ThrowsTheMessageForZero) {
  EXPECT_TRUE(run_op("aten._assert_scalar.default", {true, "u0 > 1"}).empty());
  EXPECT_NO_THROW(run_op("aten._assert_scalar.default", {-1, "u0 > 1"}));
  try {
    run_op("aten._assert_scalar.default", {false, "u0 > 1"});
    FAIL() << "nothing was thrown";
  } catch (const OpError& error) {
    EXPECT_TRUE(contains(std::string(error.what()), "u0 > 1"));
  }
}

TEST(SymConstrainRange, HoldsTheSizeToItsRange) {
  EXPECT_NO_THROW(run_op("aten.sym_constrain_range_for_size.default", {3}, {{"max", 3}}));
  EXPECT_THROW(run_op("aten.sym_constrain_range.default", {3}, {{"min", 4}}), OpError);
}

TEST(AssertTensorMetadata, ComparesWhatIsGiven) {
  const Tensor self = make_tensor(DType::kFloat16, {2, 3});
  EXPECT_NO_THROW(run_op("aten._assert_tensor_metadata.default", {self}));
  EXPECT_NO_THROW(run_op("aten._assert_tensor_metadata.default", {self, Sizes{2, 3}, Sizes{3, 1}},
                         {{"dtype", DType::kFloat16}, {"device", spec::Device{"cpu"}}}));
  EXPECT_THROW(run_op("aten._assert_tensor_metadata.default", {self, Sizes{3, 2}}), OpError);
  EXPECT_THROW(run_op("aten._assert_tensor_metadata.default", {self}, {{"stride", Sizes{1, 2}}}),
               OpError);
  EXPECT_THROW(run_op("aten._assert_tensor_metadata.default", {self}, {{"dtype", DType::kFloat32}}),
               OpError);
  EXPECT_THROW(
      run_op("aten._assert_tensor_metadata.default", {self}, {{"device", spec::Device{"cuda", 0}}}),
      OpError);
}

}  // namespace
}  // namespace graphgate::optimized::testing
