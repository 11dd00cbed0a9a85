#include "spec/deviation.h"

#include <gtest/gtest.h>

#include <set>

namespace graphgate::spec {
namespace {

TEST(Deviations, StandInTheOrderOfTheirEnumeration) {
  for (std::size_t i = 0; i < deviations().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(deviations()[i].deviation), i);
  }
}

TEST(Deviations, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const DeviationRow& row : deviations()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_deviation(row.name), row.deviation);
    EXPECT_FALSE(row.what.empty());
    EXPECT_NE(row.link.find('#'), std::string_view::npos) << row.name;
  }
  EXPECT_EQ(find_deviation("no_such_deviation"), std::nullopt);
}

TEST(DeviationSet, HoldsWhatWasAdded) {
  DeviationSet set;
  EXPECT_TRUE(set.empty());
  set.add(Deviation::kSignatureOmitsFrees);
  EXPECT_TRUE(set.has(Deviation::kSignatureOmitsFrees));
  EXPECT_FALSE(set.has(Deviation::kFreesTwice));
  set.remove(Deviation::kSignatureOmitsFrees);
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace graphgate::spec
