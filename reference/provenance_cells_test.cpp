#include "reference/provenance_cells.h"

#include <gtest/gtest.h>

#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using spec::kUnwrittenWord;

TensorRef tensor(std::vector<std::int64_t> sizes, DType dtype = DType::kFloat32) {
  return new_tensor(dtype, std::move(sizes), {});
}

Cells cells_of(const Tensor& all) {
  Cells cells;
  cells.resize(static_cast<std::size_t>(all.storage->size_bytes()));
  return cells;
}

Words words_in(Cells& cells, const Tensor& tensor, Origins& origins) {
  const SharedWords words = cells.read(tensor, origins);
  return {words.begin(), words.end()};
}

TEST(Cells, ShareTheArrayThatAllWasWrittenAs) {
  const TensorRef all = tensor({2, 3});
  const SharedWords words = Words{1, 2, 3, 4, 5, 6};
  Cells cells = cells_of(*all);
  Origins origins;
  EXPECT_EQ(words_in(cells, *all, origins), Words(6, kUnwrittenWord));
  cells.write(*all, words);
  EXPECT_EQ(cells.read(*all, origins).data(), words.data());
  const TensorRef column = view_of(*all, {2}, {3}, 1);
  EXPECT_EQ(words_in(cells, *column, origins), (Words{2, 5}));
  cells.write(*column, Words{7, 8});
  EXPECT_EQ(words_in(cells, *all, origins), (Words{1, 7, 3, 4, 8, 6}));
  EXPECT_EQ(words[1], 2U);  // what others hold stays
}

TEST(Cells, OrderWordsByPlaceWhereATensorIsNotRowMajor) {
  const TensorRef all = tensor({4});
  const TensorRef turned = view_of(*all, {2, 2}, {1, 2}, 0);
  Cells cells = cells_of(*all);
  Origins origins;
  cells.write(*turned, Words{1, 2, 3, 4});
  EXPECT_EQ(words_in(cells, *all, origins), (Words{1, 3, 2, 4}));
  EXPECT_EQ(words_in(cells, *turned, origins), (Words{1, 2, 3, 4}));
}

TEST(Cells, TellUnwrittenBytesFromWrittenOnes) {
  const TensorRef all = tensor({3});
  Cells cells = cells_of(*all);
  Origins origins;
  cells.write(*view_of(*all, {1}, {1}, 1), Words{5});
  EXPECT_EQ(words_in(cells, *all, origins), (Words{kUnwrittenWord, 5, kUnwrittenWord}));
  cells.resize(16);
  all->storage->host->bytes.resize(16);
  const TensorRef longer = view_of(*all, {4}, {1}, 0);
  EXPECT_EQ(words_in(cells, *longer, origins),
            (Words{kUnwrittenWord, 5, kUnwrittenWord, kUnwrittenWord}));
  cells.write(*longer, Words{1, 2, 3, 4});
  cells.resize(20);
  all->storage->host->bytes.resize(20);
  EXPECT_EQ(words_in(cells, *view_of(*all, {5}, {1}, 0), origins),
            (Words{1, 2, 3, 4, kUnwrittenWord}));
}

TEST(Cells, TakeElementsApartAndPutThemTogether) {
  const TensorRef all = tensor({2});
  const TensorRef bytes = tensor({8}, DType::kUInt8);
  bytes->storage = all->storage;
  Cells cells = cells_of(*all);
  Origins origins;
  const Words words = {spec::make_provenance(1, 2, 3), spec::make_provenance(4, 5, 6)};
  cells.write(*all, words);
  const Words parts = words_in(cells, *bytes, origins);
  EXPECT_NE(parts[0], parts[1]);
  EXPECT_EQ(words_in(cells, *all, origins), words);
  cells.write(*bytes, parts);
  EXPECT_EQ(words_in(cells, *all, origins), words);
  cells.write(*view_of(*bytes, {1}, {1}, 7), Words{parts[0]});
  EXPECT_EQ(words_in(cells, *all, origins)[0], words[0]);
  EXPECT_NE(words_in(cells, *all, origins)[1], words[1]);
}

TEST(Cells, BeginWithAnElementThatTheStorageCuts) {
  const TensorRef all = tensor({6}, DType::kUInt8);
  Cells cells = cells_of(*all);
  Origins origins;
  cells.begin(Words{spec::make_provenance(1, 0, 0), spec::make_provenance(2, 0, 0)}, 4);
  const Words bytes = words_in(cells, *all, origins);
  EXPECT_EQ(bytes[3], origins.part(spec::make_provenance(1, 0, 0), 4, 3));
  EXPECT_EQ(bytes[5], origins.part(spec::make_provenance(2, 0, 0), 4, 1));
}

}  // namespace
}  // namespace graphgate::reference
