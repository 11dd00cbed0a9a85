#include "reference/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace graphgate::reference {
namespace {

using spec::DType;
using spec::MemoryFormat;

struct Geometry {
  Sizes sizes;
  Sizes strides;
};

TensorRef tensor_at(const Geometry& geometry) {
  return new_tensor(DType::kFloat32, geometry.sizes, geometry.strides, spec::Device{});
}

// Operands, and the strides that PyTorch 2.11 gives to abs(a), a + b or addcmul(a, b, c), and to
// a.clone(), for random permutations, slices, expansions, sizes of 0 and odd strides of size 1.
struct Recorded {
  std::vector<Geometry> inputs;
  Sizes result;
  Sizes clone;
};
const Recorded kRecorded[] = {
    {{{{3, 2, 4, 3, 1}, {0, 24, 1, 96, 1}}}, {24, 4, 1, 8, 1}, {24, 4, 1, 8, 1}},
    {{{{3, 1, 2, 2}, {4, 2, 0, 12}}}, {2, 1, 1, 6}, {2, 1, 1, 6}},
    {{{{3, 2}, {1, 3}}}, {1, 3}, {1, 3}},
    {{{{2, 2, 3, 3, 4}, {4, 8, 96, 32, 1}}}, {4, 8, 48, 16, 1}, {4, 8, 48, 16, 1}},
    {{{{3, 3, 1, 1, 3}, {18, 1, 54, 54, 3}}}, {9, 1, 27, 27, 3}, {9, 1, 27, 27, 3}},
    {{{{2, 2, 1}, {1, 4, 4}}}, {1, 2, 2}, {1, 2, 2}},
    {{{{3, 1, 4, 3, 3}, {3, 36, 9, 1, 36}}}, {3, 36, 9, 1, 36}, {3, 36, 9, 1, 36}},
    {{{{2, 1, 2, 2}, {8, 3, 1, 2}}}, {4, 4, 1, 2}, {4, 4, 1, 2}},
    {{{{3, 1, 4, 1}, {1, 3, 3, 3}}, {{3, 1, 4, 1}, {4, 4, 1, 4}}}, {1, 3, 3, 3}, {1, 3, 3, 3}},
    {{{{2, 2, 3}, {0, 12, 2}}, {{2, 2, 3}, {3, 6, 1}}}, {3, 6, 1}, {6, 3, 1}},
    {{{{1, 1, 1, 2, 2}, {1, 2, 1, 2, 1}}, {{1, 1, 1, 2, 2}, {7, 7, 7, 2, 4}}},
     {1, 2, 1, 2, 1},
     {1, 2, 1, 2, 1}},
    {{{{}, {}}, {{3, 4, 1}, {4, 12, 1}}}, {1, 3, 1}, {}},
    {{{{3, 1, 1, 2, 3}, {3, 1, 3, 9, 1}}, {{3, 1, 1, 2, 3}, {12, 0, 1, 6, 2}}},
     {3, 1, 3, 9, 1},
     {3, 1, 3, 9, 1}},
    {{{{3, 1, 1, 3}, {1, 6, 6, 6}}, {{3, 1, 1, 3}, {0, 6, 6, 6}}}, {1, 3, 3, 3}, {1, 3, 3, 3}},
    {{{{1, 3, 3, 2}, {18, 1, 6, 3}}, {{1, 3, 3, 2}, {3, 2, 12, 1}}}, {18, 1, 6, 3}, {18, 1, 6, 3}},
    {{{{1, 1, 4, 1, 2}, {16, 1, 4, 1, 1}}, {{1, 1, 4, 1, 2}, {1, 2, 4, 16, 2}}},
     {8, 1, 2, 1, 1},
     {8, 1, 2, 1, 1}},
    {{{{2, 4, 4, 3}, {12, 1, 48, 4}}, {{2, 4, 4, 1}, {1, 48, 12, 2}}},
     {12, 1, 24, 4},
     {12, 1, 24, 4}},
    {{{{1, 3, 3, 1}, {1, 2, 6, 36}}, {{1, 3, 3, 1}, {1, 3, 1, 18}}}, {1, 1, 3, 9}, {1, 1, 3, 9}},
    {{{{1, 4, 1, 3, 3}, {3, 9, 3, 3, 1}}, {{1, 4, 1, 3, 3}, {3, 12, 3, 48, 2}}},
     {3, 9, 3, 3, 1},
     {3, 9, 3, 3, 1}},
    {{{{2, 1, 2, 2}, {2, 16, 1, 4}}, {{2, 1, 2, 2}, {4, 1, 16, 1}}}, {2, 8, 1, 4}, {2, 16, 1, 4}},
    {{{{}, {}}, {{1, 3, 2, 4, 2}, {192, 64, 4, 1, 16}}}, {48, 16, 4, 1, 8}, {}},
    {{{{3, 3, 3, 1, 1}, {6, 1, 18, 18, 6}}, {{3, 1, 3, 1, 1}, {1, 3, 9, 9, 3}}},
     {3, 1, 9, 9, 9},
     {3, 1, 9, 9, 3}},
    {{{{1, 1}, {3, 1}}, {{1, 1}, {1, 1}}}, {1, 1}, {3, 1}},
    {{{{1, 3}, {1, 1}}, {{1, 3}, {1, 0}}}, {1, 1}, {1, 1}},
    {{{{2, 0, 2}, {1, 1, 2}}, {{2, 0, 2}, {2, 1, 1}}}, {2, 2, 1}, {1, 1, 2}},
    {{{{0, 2, 0, 1}, {1, 1, 4, 1}}, {{0, 2, 0, 1}, {4, 1, 1, 1}}}, {2, 1, 1, 1}, {1, 1, 4, 1}},
    {{{{1, 3}, {6, 1}}, {{}, {}}, {{1, 1}, {1, 1}}}, {3, 1}, {6, 1}},
    {{{{1}, {1}}, {{3}, {0}}, {{1}, {1}}}, {1}, {1}},
    {{{{2, 1}, {1, 1}}, {{1, 1}, {1, 2}}, {{1, 1}, {2, 1}}}, {1, 1}, {1, 1}},
    {{{{3, 0, 4}, {4, 12, 0}}, {{3, 0, 4}, {4, 1, 1}}, {{3, 0, 4}, {4, 4, 1}}},
     {4, 4, 1},
     {4, 12, 0}},
    {{{{3}, {1}}, {{3}, {1}}, {{1}, {1}}}, {1}, {1}},
    {{{{1, 1, 1, 2}, {2, 2, 2, 0}}, {{1, 1, 1, 2}, {1, 1, 2, 1}}, {{1, 1, 1, 2}, {0, 1, 7, 2}}},
     {1, 1, 2, 1},
     {2, 2, 2, 1}},
};

TEST(Layout, ResultsAreLaidOutAsRecorded) {
  for (const Recorded& row : kRecorded) {
    std::vector<TensorRef> inputs;
    std::vector<Sizes> shapes;
    for (const Geometry& geometry : row.inputs) {
      inputs.push_back(tensor_at(geometry));
      shapes.push_back(geometry.sizes);
    }
    const auto at = ::testing::PrintToString(row.inputs.front().strides);
    EXPECT_EQ(pointwise_strides(inputs, broadcast_sizes(shapes)), row.result) << at;
    EXPECT_EQ(strides_like(*inputs.front(), MemoryFormat::kPreserve), row.clone) << at;
  }
}

TEST(Layout, ANumberBesideATensorTakesTheSlowPathOfTensorIterator) {
  const TensorRef empty = tensor_at({{3, 0}, {1, 3}});
  const TensorRef number = tensor_at({{}, {}});
  EXPECT_EQ(pointwise_strides(std::vector{empty}, {3, 0}), (Sizes{1, 1}));
  EXPECT_EQ(pointwise_strides(std::vector{empty, number}, {3, 0}), (Sizes{1, 3}));
}

TEST(Layout, ChannelsLastIsKnownByItsStrides) {
  const TensorRef image = tensor_at({{2, 3, 4, 5}, {60, 1, 15, 3}});
  EXPECT_TRUE(suggests_channels_last(*image));
  EXPECT_TRUE(is_contiguous_in(*image, MemoryFormat::kChannelsLast));
  EXPECT_FALSE(is_contiguous_in(*image, MemoryFormat::kContiguous));
  const TensorRef plain = tensor_at({{2, 3, 4, 5}, {60, 20, 5, 1}});
  EXPECT_FALSE(suggests_channels_last(*plain));
  EXPECT_FALSE(is_contiguous_in(*plain, MemoryFormat::kChannelsLast));
  // One channel: dense in both orders.
  const TensorRef grey = tensor_at({{2, 1, 4, 5}, {20, 20, 5, 1}});
  EXPECT_TRUE(is_contiguous_in(*grey, MemoryFormat::kChannelsLast));
  EXPECT_TRUE(is_contiguous_in(*grey, MemoryFormat::kContiguous));
}

TEST(Layout, FormatsWantTheirRank) {
  EXPECT_EQ(strides_in_format({2, 3, 4, 5}, MemoryFormat::kChannelsLast), (Sizes{60, 1, 15, 3}));
  EXPECT_EQ(strides_in_format({2, 3, 4, 5, 6}, MemoryFormat::kChannelsLast3d),
            (Sizes{360, 1, 90, 18, 3}));
  EXPECT_EQ(strides_in_format({2, 3}, MemoryFormat::kContiguous), (Sizes{3, 1}));
  EXPECT_THROW((void)strides_in_format({2, 3}, MemoryFormat::kChannelsLast), OpError);
  EXPECT_THROW((void)strides_in_format({2, 3, 4, 5}, MemoryFormat::kChannelsLast3d), OpError);
}

}  // namespace
}  // namespace graphgate::reference
