#include "optimized/codegen/cells_text.h"

#include <gtest/gtest.h>

#include <array>

namespace graphgate::optimized {
namespace {

Tensor tensor_of(spec::DType dtype, Sizes sizes) {
  Tensor out{.dtype = dtype, .sizes = std::move(sizes)};
  out.strides = row_major_strides(out.sizes);
  return out;
}

// What scatter_add does along dimension `dim` of a matrix of 8 x 10, with an index of 5 x 6.
IndexedCells scatter_along(std::int64_t dim, const Tensor& matrix) {
  const Tensor index = tensor_of(spec::DType::kInt64, {5, 6});
  Tensor indexed = pinned(matrix, dim, 0);
  indexed.sizes = index.sizes;
  return {index.sizes,
          indexed,
          {tensor_of(spec::DType::kFloat32, {5, 6})},
          {indexed_dim(matrix, dim, index, false)}};
}

const CellCombination kAdd{"element::Add{}", spec::DType::kFloat32, 0x3f800000};

TEST(CombinedCells, ShareOutTheDimensionsAlongWhichTheyNeverMeet) {
  const Tensor matrix = tensor_of(spec::DType::kFloat32, {8, 10});
  // Down the rows, whose places the index tells: a thread for each column.
  EXPECT_EQ(combine_cells_text(scatter_along(0, matrix), kAdd).threads, 6);
  EXPECT_EQ(combine_cells_text(scatter_along(1, matrix), kAdd).threads, 5);
}

TEST(CombinedCells, AreOneThreadsWhereTheTensorMeetsItself) {
  Tensor windows = tensor_of(spec::DType::kFloat32, {8, 10});
  windows.strides = {1, 1};
  EXPECT_EQ(combine_cells_text(scatter_along(0, windows), kAdd).threads, 1);
}

TEST(CombinedCells, SayThatTheyWriteWhereverTheIndexMayLead) {
  const Tensor matrix = tensor_of(spec::DType::kFloat32, {8, 10});
  const TextWork work = combine_cells_text(scatter_along(0, matrix), kAdd);
  ASSERT_EQ(work.accesses.size(), 3U);
  EXPECT_FALSE(work.accesses[0].is_written);
  EXPECT_TRUE(work.accesses[1].is_written);
  const ByteRange written = byte_range(work.accesses[1].tensor);
  EXPECT_EQ(written.begin, 0);
  EXPECT_GE(written.end, (7 * 10 + 5 + 1) * 4);  // row 7 of column 5
  EXPECT_TRUE(work.reports_faults);
}

// A row goes to the first columns of that one of `places` which an index names.
std::shared_ptr<const CellsWrite> row_written(const Tensor& source, Tensor places) {
  Tensor index = tensor_of(spec::DType::kInt64, {1, 1});
  index.strides = {0, 0};
  const IndexedDim dim = indexed_dim(places, 0, index, false);
  places.sizes = source.sizes;
  places.strides[0] = 0;
  return CellsWrite::of({source.sizes, places, {source}, {dim}});
}

TEST(CellsWrite, TakesAsManyNeighboursAsLieTogetherOnBothSides) {
  const auto neighbours = [](const Tensor& source, const Tensor& places) {
    return row_written(source, places)->neighbours(4);
  };
  const auto of_half = [](Sizes sizes) {
    return tensor_of(spec::DType::kBFloat16, std::move(sizes));
  };
  EXPECT_EQ(neighbours(of_half({1, 16}), of_half({3, 16})), 4);
  EXPECT_EQ(neighbours(of_half({1, 6}), of_half({3, 8})), 2);  // of 6 elements
  EXPECT_EQ(neighbours(of_half({1, 4}), of_half({3, 6})), 2);  // in rows of 6
  EXPECT_EQ(neighbours(of_half({1, 4}), of_half({3, 5})), 1);
  Tensor apart = of_half({3, 16});
  apart.strides = {32, 2};
  EXPECT_EQ(neighbours(of_half({1, 16}), apart), 1);
  // Beginning at another element of memory.
  alignas(8) static std::array<std::byte, 256> bytes;
  const auto from = [&](Sizes sizes, std::int64_t element) {
    Tensor out = of_half(std::move(sizes));
    out.bytes = bytes.data() + 2 * element;
    return out;
  };
  EXPECT_EQ(neighbours(from({1, 16}, 2), of_half({3, 16})), 2);
  EXPECT_EQ(neighbours(of_half({1, 16}), from({3, 16}, 1)), 1);
}

TEST(CellsWrite, IsNotWhereElementsMeetOrGoTwice) {
  const Tensor matrix = tensor_of(spec::DType::kFloat32, {8, 10});
  EXPECT_EQ(CellsWrite::of(scatter_along(0, matrix)), nullptr);  // places depend on the index
  Tensor one_for_all = tensor_of(spec::DType::kFloat32, {1, 4});
  one_for_all.strides = {0, 0};
  EXPECT_EQ(row_written(one_for_all, tensor_of(spec::DType::kFloat32, {3, 4})), nullptr);
}

}  // namespace
}  // namespace graphgate::optimized
