#include "fuzz/campaign/campaign_cases.h"

#include <gtest/gtest.h>

namespace graphgate::fuzz {
namespace {

TEST(PickedForNodes, IsOneCaseOf16ByItsIdAlone) {
  constexpr std::uint64_t kCases = 100'000;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{5}, ~std::uint64_t{0}}) {
    std::uint64_t picked = 0;
    std::uint64_t next_to_another = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
      if (!is_picked_for_nodes(seed, index)) continue;
      ++picked;
      next_to_another += is_picked_for_nodes(seed, index + 1) ? 1 : 0;
      EXPECT_TRUE(is_picked_for_nodes(seed, index));
    }
    const double share = static_cast<double>(picked) / kCases;
    EXPECT_NEAR(share, 1.0 / 16, 0.004) << seed;
    EXPECT_NEAR(static_cast<double>(next_to_another) / static_cast<double>(picked), share, 0.015);
  }
}

TEST(PickedForNodes, IsAnotherCaseInAnotherCampaign) {
  int same = 0;
  int picked = 0;
  for (std::uint64_t index = 0; index < 10'000; ++index) {
    if (!is_picked_for_nodes(5, index)) continue;
    ++picked;
    same += is_picked_for_nodes(6, index) ? 1 : 0;
  }
  EXPECT_GT(picked, 500);
  EXPECT_LT(same, picked / 4);
}

}  // namespace
}  // namespace graphgate::fuzz
