#include "reference/ops/softmax_row.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "reference/number/bound_test.h"

namespace graphgate::reference {
namespace {

// As an executor has them in float32.
std::vector<float> shares_of(const std::vector<float>& scores) {
  std::vector<float> out;
  float sum = 0;
  const float most = *std::max_element(scores.begin(), scores.end());
  for (const float score : scores) {
    out.push_back(std::exp(score - most));
    sum += out.back();
  }
  for (float& x : out) x /= sum;
  return out;
}

RC_GTEST_PROP(SoftmaxRow, HoldsTheSharesOfScoresWithWideErrors, ()) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 9));
  std::vector<Bounded> scores;
  std::vector<float> moved;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_masked = i > 0 && *rc::gen::inRange(0, 6) == 0;
    const double score = is_masked ? -3e38 : *rc::gen::inRange(-200, 201) / 10.0;
    const double radius = is_masked ? 1e36 : *rc::gen::inRange(0, 101) / 10.0;
    scores.emplace_back(static_cast<long double>(score), radius, kSingle);
    moved.push_back(static_cast<float>(score + radius * *rc::gen::inRange(-10, 11) / 10.5));
  }
  const std::vector<Bounded> shares = normalized(softmax_row(std::move(scores)));
  const std::vector<float> had = shares_of(moved);
  for (std::size_t i = 0; i < count; ++i) {
    RC_ASSERT(std::isfinite(shares[i].radius));
    RC_ASSERT(holds(shares[i], had[i]));
  }
}

TEST(SoftmaxRow, LeavesSharesOpenWhereAScoreIs) {
  const double open = std::numeric_limits<double>::infinity();
  for (const Bounded& share :
       normalized(softmax_row<Bounded>({{1, 9, kSingle}, {0, open, kSingle}}))) {
    EXPECT_EQ(share.radius, open);
  }
}

}  // namespace
}  // namespace graphgate::reference
