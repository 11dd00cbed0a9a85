#include "reference/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace graphgate::reference {
namespace {

using spec::DType;
using Numbers = std::vector<double>;

TensorRef tensor_of(DType dtype, const Numbers& numbers) {
  const Sizes sizes = {static_cast<std::int64_t>(numbers.size())};
  TensorRef tensor = new_tensor(dtype, sizes, spec::Device{});
  Array<double> array(sizes);
  array.data = numbers;
  store(*tensor, array);
  return tensor;
}
Bounded bounded(long double value, double radius) {
  return {value, radius, Bounded::Arithmetic::kFloat32};
}

TEST(WrapDim, CountsNegativeDimensionsFromTheBack) {
  EXPECT_EQ(wrap_dim(-1, 3), 2);
  EXPECT_EQ(wrap_dim(-1, 0), 0);
  EXPECT_THROW((void)wrap_dim(3, 3), OpError);
  EXPECT_THROW((void)wrap_dim(-4, 3), OpError);
}

TEST(BroadcastSizes, AlignsAtTheBackAndStretchesOnes) {
  EXPECT_EQ(broadcast_sizes({{3, 1}, {2}, {}}), (Sizes{3, 2}));
  EXPECT_EQ(broadcast_sizes({{0, 1}, {1, 4}}), (Sizes{0, 4}));
  EXPECT_THROW((void)broadcast_sizes({{2}, {3}}), OpError);
  EXPECT_THROW((void)broadcast_sizes({{2}, {0}}), OpError);
}

TEST(BroadcastTo, RepeatsElements) {
  Array<double> column({2, 1});
  column.data = {1, 2};
  EXPECT_EQ(broadcast_to(column, {2, 2, 2}).data, (Numbers{1, 1, 2, 2, 1, 1, 2, 2}));
}

TEST(ForEachIndex, VisitsNothingWhenASizeIsZeroAndOnceWithoutDimensions) {
  int visits = 0;
  for_each_index({2, 0}, [&](const Sizes&) { ++visits; });
  EXPECT_EQ(visits, 0);
  for_each_index({}, [&](const Sizes&) { ++visits; });
  EXPECT_EQ(visits, 1);
}

TEST(Load, CutsFloatsTowardZeroAndWrapsIntegers) {
  const TensorRef reals = tensor_of(DType::kFloat32, {-1.75, 2.5});
  EXPECT_EQ(load<Whole>(*reals, DType::kInt32)[0].value, -1);
  EXPECT_EQ(load<Whole>(*reals, DType::kBool)[0].value, 1);
  const TensorRef wholes = tensor_of(DType::kInt32, {300, -1});
  EXPECT_EQ(load<Whole>(*wholes, DType::kUInt8)[0].value, 44);
  EXPECT_EQ(load<Whole>(*wholes, DType::kUInt8)[1].value, 255);
}

TEST(Load, RoundsToTheDtypeThatIsAskedFor) {
  const TensorRef reals = tensor_of(DType::kFloat32, {257});
  EXPECT_EQ(load<double>(*reals, DType::kBFloat16)[0], 256);
  const TensorRef wholes = tensor_of(DType::kInt64, {16777217});
  EXPECT_EQ(load<double>(*wholes, DType::kFloat32)[0], 16777216);
  EXPECT_EQ(load<Bounded>(*wholes, DType::kFloat32)[0].radius, 0);
}

TEST(Store, RoundsToNearestEvenAndOverflowsToInfinity) {
  const TensorRef halves = tensor_of(DType::kFloat16, {2049, 2051, 1e6, -0.0});
  const Numbers stored = load<double>(*halves, DType::kFloat64).data;
  EXPECT_EQ(stored[0], 2048);
  EXPECT_EQ(stored[1], 2052);
  EXPECT_TRUE(std::isinf(stored[2]));
  EXPECT_TRUE(std::signbit(stored[3]));
}

TEST(Store, RefusesOtherSizes) {
  const TensorRef two = tensor_of(DType::kFloat32, {1, 2});
  EXPECT_THROW(store(*two, Array<double>({3})), OpError);
}

TEST(Marks, AreNotKeptForExactElements) {
  const TensorRef tensor = tensor_of(DType::kFloat32, {1, 2});
  store(*tensor, Array<Bounded>({2}, bounded(0.5L, 0)));
  EXPECT_TRUE(tensor->storage->marks.empty());
}

TEST(Marks, KeepTheWideValueAndCountTheRoundingOfTheEdge) {
  const TensorRef tensor = tensor_of(DType::kBFloat16, {1, 2});
  Array<Bounded> numbers({2}, bounded(1.0L, 0));
  numbers[1] = bounded(1.001L, 0);
  store(*tensor, numbers);
  const Array<Bounded> back = load<Bounded>(*tensor, DType::kBFloat16);
  EXPECT_EQ(back[0].radius, 0);
  EXPECT_EQ(back[1].value, 1.001L);
  EXPECT_GE(back[1].radius, 0x1p-9);  // half the spacing of bfloat16 at 1
  EXPECT_LE(back[1].radius, 0x1p-8);
  EXPECT_EQ(load<double>(*tensor, DType::kBFloat16)[1], 1);
}

TEST(Marks, GoWhenAnExactElementIsWrittenOver) {
  const TensorRef tensor = tensor_of(DType::kFloat32, {1});
  store(*tensor, Array<Bounded>({1}, bounded(1.0L, 0.25)));
  EXPECT_NEAR(load<Bounded>(*tensor, DType::kFloat32)[0].radius, 0.25, 0x1p-23);
  store(*tensor, Array<Bounded>({1}, bounded(2.0L, 0)));
  EXPECT_EQ(load<Bounded>(*tensor, DType::kFloat32)[0].radius, 0);
}

TEST(Marks, BelongToTheirElementsInEveryView) {
  const TensorRef tensor = tensor_of(DType::kFloat32, {1, 2, 3, 4});
  const TensorRef view = view_of(*tensor, {2}, {2}, 1);
  store(*view, Array<Bounded>({2}, bounded(9.0L, 0.5)));
  const Array<Bounded> all = load<Bounded>(*tensor, DType::kFloat32);
  EXPECT_EQ(all[0].radius, 0);
  EXPECT_NEAR(all[1].radius, 0.5, 0x1p-20);
  EXPECT_NEAR(all[3].radius, 0.5, 0x1p-20);
  EXPECT_EQ(all[2].radius, 0);
}

TEST(Marks, SayThatAWholeNumberIsUndecided) {
  const TensorRef tensor = tensor_of(DType::kInt64, {1, 2});
  Array<Whole> numbers({2}, Whole(3));
  numbers[1].undecided = true;
  store(*tensor, numbers);
  const Array<Whole> back = load<Whole>(*tensor, DType::kInt64);
  EXPECT_FALSE(back[0].undecided);
  EXPECT_TRUE(back[1].undecided);
  EXPECT_TRUE(std::isinf(load<Bounded>(*tensor, DType::kFloat32)[1].radius));
}

TEST(Marks, LeaveItOpenOnWhichSideOfAWholeNumberAnUncertainOneIsCut) {
  const TensorRef tensor = tensor_of(DType::kFloat32, {0, 0});
  Array<Bounded> numbers({2}, bounded(2.5L, 0.01));
  numbers[1] = bounded(3.0L, 0.01);
  store(*tensor, numbers);
  const Array<Whole> cut = load<Whole>(*tensor, DType::kInt64);
  EXPECT_FALSE(cut[0].undecided);
  EXPECT_TRUE(cut[1].undecided);
}

// As long as no storage is written between, blocks of any size give what load() does.
TEST(Reader, ReadsByBlocksWhatLoadReads) {
  const TensorRef base = tensor_of(DType::kFloat16, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::vector<TensorRef> views = {
      base,
      view_of(*base, {3, 4}, {4, 1}, 0),
      view_of(*base, {4, 3}, {1, 4}, 0),  // transposed
      view_of(*base, {2, 3, 2}, {6, 2, 1}, 0),
      view_of(*base, {2, 5, 2}, {0, 1, 0}, 3),  // stretched
      view_of(*base, {3, 2}, {4, 2}, 1),
      view_of(*base, {}, {}, 7),
      view_of(*base, {2, 0}, {1, 1}, 0),
      view_of(*base, {3}, {-2}, 9),
  };
  for (const TensorRef& view : views) {
    const Array<double> whole = load<double>(*view, DType::kFloat32);
    std::size_t i = 0;
    for_each_position(*view, [&](std::int64_t position) {
      EXPECT_EQ(whole.data[i++], static_cast<double>(position + 1));
    });
    for (const std::size_t size : {1U, 2U, 5U}) {
      Reader<double> reader(*view, DType::kFloat32);
      Numbers read;
      while (read.size() < whole.data.size()) {
        Numbers block(std::min(size, whole.data.size() - read.size()));
        reader.read(block);
        read.insert(read.end(), block.begin(), block.end());
      }
      EXPECT_EQ(read, whole.data);
    }
  }
}

TEST(Writer, WritesByBlocksWhatStoreWrites) {
  const std::vector<Bounded> numbers = {bounded(1, 0), bounded(0.1L, 0x1p-20),
                                        bounded(3, 0), bounded(-0.7L, 0),
                                        bounded(5, 0), bounded(6, 0x1p-30)};
  const auto blank = [] { return tensor_of(DType::kFloat32, {0, 0, 0, 0, 0, 0, 0}); };
  const TensorRef stored = blank();
  Array<Bounded> array({3, 2});
  array.data = numbers;
  store(*view_of(*stored, {3, 2}, {1, 3}, 1), array);
  for (const std::size_t size : {1U, 4U}) {
    const TensorRef written = blank();
    Writer<Bounded> writer(*view_of(*written, {3, 2}, {1, 3}, 1));
    for (std::size_t done = 0; done < numbers.size(); done += size) {
      writer.write(std::span(numbers).subspan(done, std::min(size, numbers.size() - done)));
    }
    EXPECT_EQ(written->storage->host->bytes, stored->storage->host->bytes);
    const std::vector<Mark> expected = marks_of(*stored);
    const std::vector<Mark> actual = marks_of(*written);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].value, expected[i].value);
      EXPECT_EQ(actual[i].radius, expected[i].radius);
    }
  }
}

}  // namespace
}  // namespace graphgate::reference
