// Arguments that no op can take must end in an OpError, in every mode: never in a crash, an
// overflow or a request for all memory.
#include <array>

#include "reference/ops/op_test.h"

namespace graphgate::reference::test {
namespace {

constexpr std::int64_t kHuge = INT64_MAX;
constexpr std::array kModes = {Mode::kEager, Mode::kWorstCase, Mode::kSampled};

void expect_refused(std::string_view op, const Arguments& arguments) {
  for (const Mode mode : kModes) {
    EXPECT_THROW((void)run(op, arguments, mode), OpError) << op;
  }
}

Datum number(std::int64_t x) { return {x}; }

TEST(Refusals, ViewsWithSizesThatMultiplyBeyond64Bits) {
  const TensorRef x = counting({2, 3});
  const TensorRef none = counting({0, 3});
  expect_refused("aten.view.default", {{"self", {x}}, {"size", ints({-1, -1})}});
  expect_refused("aten.view.default", {{"self", {x}}, {"size", ints({-2, -3})}});
  expect_refused("aten.view.default", {{"self", {none}}, {"size", ints({0, kHuge, kHuge})}});
  expect_refused("aten.reshape.default", {{"self", {none}}, {"shape", ints({0, kHuge, kHuge})}});
  expect_refused("aten.expand.default",
                 {{"self", {counting({1})}}, {"size", ints({kHuge, kHuge})}});
  expect_refused("aten.expand.default", {{"self", {x}}, {"size", ints({3})}});
  expect_refused("aten.resize_.default", {{"self", {x}}, {"size", ints({-4, 2})}});
}

TEST(Refusals, StridesAndStepsThatLeave64Bits) {
  const TensorRef x = counting({4, 4});
  expect_refused("aten.as_strided.default",
                 {{"self", {x}}, {"size", ints({1, 2})}, {"stride", ints({kHuge, 1})}});
  expect_refused("aten.as_strided.default",
                 {{"self", {x}}, {"size", ints({0, 2})}, {"stride", ints({1, -1})}});
  expect_refused(
      "aten.unfold.default",
      {{"self", {x}}, {"dimension", number(0)}, {"size", number(2)}, {"step", number(kHuge)}});
  expect_refused("aten.slice.Tensor", {{"self", {x}}, {"dim", number(0)}, {"step", number(kHuge)}});
  expect_refused("aten.slice.Tensor", {{"self", {x}}, {"step", number(0)}});
  expect_refused("aten.diagonal.default", {{"self", {x}}, {"offset", number(INT64_MIN)}});
  expect_refused("aten.diag_embed.default", {{"self", {x}}, {"offset", number(INT64_MIN)}});
}

TEST(Refusals, SplitsThatDoNotSumToTheSize) {
  const TensorRef x = counting({4});
  expect_refused("aten.split_with_sizes.default",
                 {{"self", {x}}, {"split_sizes", ints({kHuge, kHuge})}});
  expect_refused("aten.split_with_sizes.default", {{"self", {x}}, {"split_sizes", ints({1, 2})}});
  expect_refused("aten.split_with_sizes.default", {{"self", {x}}, {"split_sizes", ints({5, -1})}});
  expect_refused("aten.chunk.default", {{"self", {counting({0})}}, {"chunks", number(kHuge)}});
  expect_refused("aten.split.Tensor", {{"self", {x}}, {"split_size", number(0)}});
}

TEST(Refusals, SizesThatNoMemoryHolds) {
  const TensorRef x = counting({2});
  expect_refused("aten.repeat.default", {{"self", {x}}, {"repeats", ints({-1})}});
  expect_refused("aten.repeat.default", {{"self", {x}}, {"repeats", ints({kHuge})}});
  expect_refused("aten.repeat_interleave.self_int", {{"self", {x}}, {"repeats", number(kHuge)}});
  expect_refused("aten.constant_pad_nd.default", {{"self", {x}}, {"pad", ints({-3, 0})}});
  expect_refused("aten.constant_pad_nd.default",
                 {{"self", {x}}, {"pad", ints({INT64_MIN, kHuge})}});
  expect_refused("aten.zeros.default", {{"size", ints({kHuge, kHuge})}});
  expect_refused("aten.arange.start_step",
                 {{"start", number(0)}, {"end", number(kHuge)}, {"step", number(1)}});
  expect_refused("aten.arange.start_step",
                 {{"start", number(0)}, {"end", number(5)}, {"step", number(0)}});
}

TEST(Refusals, PoolingOptionsOutOfRange) {
  const TensorRef x = counting({1, 4, 4});
  const auto pool = [&](std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                        std::int64_t dilation) {
    expect_refused("aten.max_pool2d.default", {{"self", {x}},
                                               {"kernel_size", ints({kernel})},
                                               {"stride", ints({stride})},
                                               {"padding", ints({padding})},
                                               {"dilation", ints({dilation})}});
  };
  pool(0, 1, 0, 1);
  pool(2, 0, 0, 1);
  pool(2, 1, -1, 1);
  pool(2, 1, 2, 1);
  pool(kHuge, 1, 0, kHuge);
  pool(2, kHuge, 0, kHuge);
  expect_refused("aten.adaptive_avg_pool2d.default",
                 {{"self", {x}}, {"output_size", ints({-1, -1})}});
  expect_refused("aten.adaptive_max_pool2d.default",
                 {{"self", {x}}, {"output_size", ints({-1, 2})}});
}

TEST(Refusals, ConvolutionOptionsOutOfRange) {
  const TensorRef x = counting({1, 2, 5});
  const TensorRef weight = counting({2, 2, 3});
  const auto conv = [&](std::int64_t stride, std::int64_t padding, std::int64_t dilation,
                        std::int64_t groups) {
    expect_refused("aten.conv1d.default", {{"input", {x}},
                                           {"weight", {weight}},
                                           {"stride", ints({stride})},
                                           {"padding", ints({padding})},
                                           {"dilation", ints({dilation})},
                                           {"groups", number(groups)}});
  };
  conv(0, 0, 1, 1);
  conv(1, -1, 1, 1);
  conv(1, 0, kHuge, 1);
  conv(1, kHuge, 1, 1);
  conv(1, 0, 1, 0);
  conv(1, 0, 1, 2);
}

TEST(Refusals, ReductionsAndOrderStatisticsWithoutElements) {
  const TensorRef none = counting({2, 0});
  expect_refused("aten.amax.default", {{"self", {none}}, {"dim", ints({1})}});
  expect_refused("aten.argmax.default", {{"self", {none}}});
  expect_refused("aten.topk.default", {{"self", {counting({3})}}, {"k", number(4)}});
  expect_refused("aten.sum.dim_IntList", {{"self", {none}}, {"dim", ints({2})}});
  expect_refused("aten.sum.dim_IntList", {{"self", {none}}, {"dim", ints({1, -1})}});
  expect_refused("aten.cat.default", {{"tensors", list_of({})}});
  expect_refused("aten.stack.default", {{"tensors", list_of({})}});
}

TEST(Refusals, IndicesOutOfRange) {
  const TensorRef x = counting({3});
  const TensorRef past = tensor(DType::kInt64, {1}, {3});
  const TensorRef below = tensor(DType::kInt64, {1}, {-4});
  for (const TensorRef& index : {past, below}) {
    expect_refused("aten.index.Tensor", {{"self", {x}}, {"indices", list_of({index})}});
    expect_refused("aten.gather.default", {{"self", {x}}, {"dim", number(0)}, {"index", {index}}});
    expect_refused("aten.embedding.default",
                   {{"weight", {counting({3, 1})}}, {"indices", {index}}});
    expect_refused("aten.select.int", {{"self", {x}}, {"dim", number(0)}, {"index", number(3)}});
  }
}

TEST(Refusals, RunningStatisticsOfAnotherChannelCount) {
  expect_refused("aten.batch_norm.default", {{"input", {counting({2, 3})}},
                                             {"running_mean", {counting({4})}},
                                             {"running_var", {counting({4})}},
                                             {"training", {true}},
                                             {"momentum", {0.5}},
                                             {"eps", {0.1}},
                                             {"cudnn_enabled", {false}}});
}

TEST(Refusals, OperandsThatDoNotStretch) {
  expect_refused(
      "aten.linear.default",
      {{"input", {counting({3, 4})}}, {"weight", {counting({6, 4})}}, {"bias", {counting({5})}}});
  expect_refused("aten.linear.default", {{"input", {counting({2, 3, 4})}},
                                         {"weight", {counting({6, 4})}},
                                         {"bias", {counting({1, 7})}}});
  expect_refused("aten.copy_.default", {{"self", {counting({3, 4})}}, {"src", {counting({12})}}});
  expect_refused(
      "aten.masked_fill.Scalar",
      {{"self", {counting({3})}}, {"mask", {counting({4}, DType::kBool)}}, {"value", number(1)}});
}

}  // namespace
}  // namespace graphgate::reference::test
