#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

TEST(Shuffle, SpreadsFourChannelsOverTwoByTwoPixels) {
  const auto out = run_tensor("aten.pixel_shuffle.default",
                              {{"self", {counting({4, 1, 2})}}, {"upscale_factor", {2L}}});
  EXPECT_EQ(out->sizes, (Sizes{1, 2, 4}));
  EXPECT_EQ(values(*out), (Numbers{0, 2, 1, 3, 4, 6, 5, 7}));
  const auto back =
      run_tensor("aten.pixel_unshuffle.default", {{"self", {out}}, {"downscale_factor", {2L}}});
  EXPECT_EQ(values(*back), values(*counting({4, 1, 2})));
}

TEST(Shuffle, KeepsChannelsLastOfImages) {
  const auto x = tensor(DType::kFloat32, {1, 4, 1, 1}, {0, 1, 2, 3}, {4, 1, 4, 4});
  const auto out = run_tensor("aten.channel_shuffle.default", {{"self", {x}}, {"groups", {2L}}});
  EXPECT_EQ(values(*out), (Numbers{0, 2, 1, 3}));
  EXPECT_EQ(out->strides, (Sizes{4, 1, 4, 4}));
  EXPECT_THROW(run("aten.channel_shuffle.default", {{"self", {x}}, {"groups", {3L}}}), OpError);
}

TEST(Shuffle, OfCudaKernelsIsContiguous) {
  Arithmetic arithmetic;
  arithmetic.has_cuda_kernels = true;
  const DeclaredArithmetic declared(arithmetic);
  const auto x = view_of(*counting({16}), {1, 4, 2, 2}, {16, 1, 8, 4}, 0);
  const auto strides = [&](const char* op, const char* number) {
    return run_tensor(op, {{"self", {x}}, {number, {2L}}})->strides;
  };
  EXPECT_EQ(strides("aten.pixel_shuffle.default", "upscale_factor"), (Sizes{16, 16, 4, 1}));
  EXPECT_EQ(strides("aten.pixel_unshuffle.default", "downscale_factor"), (Sizes{16, 1, 1, 1}));
  EXPECT_EQ(strides("aten.channel_shuffle.default", "groups"), (Sizes{16, 4, 2, 1}));
}

const Arguments kBlocks = {{"kernel_size", ints({2, 2})},
                           {"dilation", ints({1, 1})},
                           {"padding", ints({0, 0})},
                           {"stride", ints({1, 1})}};

TEST(Folding, LaysBlocksOutAsColumns) {
  Arguments arguments = kBlocks;
  arguments.emplace_back("self", Datum{counting({1, 2, 3})});
  const auto columns = run_tensor("aten.im2col.default", arguments);
  EXPECT_EQ(columns->sizes, (Sizes{4, 2}));
  EXPECT_EQ(values(*columns), (Numbers{0, 1, 1, 2, 3, 4, 4, 5}));
}

TEST(Folding, ReadsZerosInThePadding) {
  const auto columns = run_tensor("aten.im2col.default", {{"self", {counting({1, 1, 2})}},
                                                          {"kernel_size", ints({1, 2})},
                                                          {"dilation", ints({1, 1})},
                                                          {"padding", ints({0, 1})},
                                                          {"stride", ints({1, 2})}});
  EXPECT_EQ(values(*columns), (Numbers{0, 1, 0, 0}));
}

TEST(Folding, AddsWhatBlocksHaveOfOnePlace) {
  Arguments arguments = kBlocks;
  arguments.emplace_back("output_size", ints({2, 3}));
  arguments.emplace_back("self", Datum{tensor(DType::kFloat32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
  const auto image = run_tensor("aten.col2im.default", arguments);
  EXPECT_EQ(image->sizes, (Sizes{1, 2, 3}));
  EXPECT_EQ(values(*image), (Numbers{1, 5, 4, 5, 13, 8}));
}

TEST(ChunkCat, PadsTheLastPartWithZeros) {
  const auto out = run_tensor(
      "aten._chunk_cat.default",
      {{"tensors", list_of({counting({5}), counting({3})})}, {"dim", {0L}}, {"num_chunks", {2L}}});
  EXPECT_EQ(out->sizes, (Sizes{2, 5}));
  EXPECT_EQ(values(*out), (Numbers{0, 1, 2, 0, 1, 3, 4, 0, 2, 0}));
}

}  // namespace
}  // namespace graphgate::reference::test
