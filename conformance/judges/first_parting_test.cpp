#include "conformance/judges/first_parting.h"

#include <gtest/gtest.h>

namespace graphgate::conformance {
namespace {

TEST(ElementMap, HasACellForEachElementOfASmallTensor) {
  std::vector<bool> differs(6);
  std::vector<double> distances(6);
  differs[4] = true;
  distances[4] = 0.5;
  const ElementMap map = map_elements(differs, distances, {2, 3});
  EXPECT_EQ(map.rows, 2U);
  EXPECT_EQ(map.columns, 3U);
  EXPECT_EQ(map.shares, (std::vector<double>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(map.distances[4], 0.5);
}

// What stands in one cell: the share that differs, and the largest distance.
TEST(ElementMap, GathersTheElementsOfALargeOne) {
  constexpr std::size_t kRows = 96;
  constexpr std::size_t kColumns = 192;
  std::vector<bool> differs(kRows * kColumns);
  std::vector<double> distances(kRows * kColumns);
  // The last two columns of the last row, half of the last cell.
  for (const std::size_t back : {1, 2}) {
    differs[kRows * kColumns - back] = true;
    distances[kRows * kColumns - back] = static_cast<double>(back);
  }
  const ElementMap map = map_elements(differs, distances, {kRows, kColumns});
  EXPECT_EQ(map.rows, 48U);
  EXPECT_EQ(map.columns, 96U);
  EXPECT_EQ(map.shares.back(), 0.5);
  EXPECT_EQ(map.distances.back(), 2);
  EXPECT_EQ(map.shares.front(), 0);
}

// Equal numbers that both are wrong differ from what is right, by nothing from each other.
TEST(ElementMap, ShowsWhatIsOffWithoutADistance) {
  const ElementMap map = map_elements({true, false}, {0, 0}, {2});
  EXPECT_EQ(map.shares, (std::vector<double>{1, 0}));
}

TEST(ElementMap, IsEmptyForOneElement) { EXPECT_EQ(map_elements({true}, {1}, {1}).rows, 0U); }

}  // namespace
}  // namespace graphgate::conformance
