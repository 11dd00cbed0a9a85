#include "optimized/device/cells_text.h"

#include <gtest/gtest.h>

namespace graphgate::optimized {
namespace {

Tensor tensor_of(spec::DType dtype, Sizes sizes) {
  Tensor out;
  out.dtype = dtype;
  out.sizes = std::move(sizes);
  out.strides = row_major_strides(out.sizes);
  return out;
}

// What scatter_add does along dimension `dim` of a matrix of 8 x 10, with an index of 5 x 6.
IndexedLoop::Parts scatter_along(std::int64_t dim, const Tensor& matrix) {
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

}  // namespace
}  // namespace graphgate::optimized
