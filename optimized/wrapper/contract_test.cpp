#include "optimized/wrapper/contract.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/program_test.h"
#include "optimized/wrapper/relayout.h"

namespace graphgate::optimized {
namespace {

const char* const kText = R"(program "p" {
  symbol s0 in [0, 64]
  input %x : f32[s0, 2]
  input %t : f32[s0, 2]{1, s0}
  input %n : symint(s0)
  %y = aten.add.Tensor(%x, %t)
  output %y
})";

spec::HostTensor pair_of(std::int64_t rows) {
  return f32({rows, 2}, std::vector<float>(static_cast<std::size_t>(2 * rows)));
}
spec::HostTensor columns_of(std::int64_t rows) {
  spec::HostTensor tensor = pair_of(rows);
  tensor.strides = {1, rows};
  return tensor;
}

TEST(Contract, LetsSymbolsVaryWithWhatFollowsFromThem) {
  const spec::Program program = program_of(kText);
  const Contract contract(program, Inputs{pair_of(3), columns_of(3), 3}, {{"s0", 3}});
  const Inputs call = {pair_of(5), columns_of(5), std::int64_t{5}};
  EXPECT_EQ(contract.broken_facts(call), std::vector<std::string>{});
  for (std::size_t i = 0; i < call.size(); ++i) {
    EXPECT_EQ(contract.broken_layout(i, call[i], {{"s0", 5}}), "");
  }
  EXPECT_EQ(contract.broken_layout(0, columns_of(5), {{"s0", 5}}),
            "input 0 ('x') has other strides");
  EXPECT_EQ(contract.broken_layout(1, pair_of(5), {{"s0", 5}}), "input 1 ('t') has other strides");
}

// At the first call x lay in a larger storage: that very layout is what is compiled.
TEST(Contract, HoldsToALayoutThatNobodyDeclared) {
  const spec::Program program = program_of(kText);
  spec::HostTensor part = pair_of(8);
  part.sizes = {3, 2};
  const Contract contract(program, Inputs{part, columns_of(3), 3}, {{"s0", 3}});
  EXPECT_EQ(contract.broken_layout(0, part, {{"s0", 3}}), "");
  EXPECT_EQ(contract.broken_layout(0, pair_of(3), {{"s0", 3}}),
            "input 0 ('x') lies in a storage of 24 bytes, expected 64");
  const auto expected = must(contract.expected_layout(0, pair_of(3), {{"s0", 3}}));
  EXPECT_EQ(expected.storage->bytes.size(), 64U);
  EXPECT_FALSE(contract.expected_layout(0, pair_of(4), {{"s0", 4}}).ok());
}

TEST(Contract, SeesSharingComeAndGo) {
  const spec::Program program = program_of(kText);
  const spec::HostTensor x = pair_of(3);
  spec::HostTensor t = x;
  t.strides = {1, 3};
  const Inputs shared = {x, t, std::int64_t{3}};
  const Inputs apart = {x, columns_of(3), std::int64_t{3}};
  EXPECT_EQ(Contract(program, shared, {{"s0", 3}}).broken_facts(apart),
            std::vector<std::string>{
                "input 1 ('t') shared that of input 0 and now has storage of its own"});
  EXPECT_EQ(Contract(program, apart, {{"s0", 3}}).broken_facts(shared).size(), 1U);
  EXPECT_EQ(Contract(program, shared, {{"s0", 3}}).broken_facts(shared).size(), 0U);
}

// Any strides that give each element a place of its own: a permutation of the dimensions.
RC_GTEST_PROP(Relayout, KeepsEveryElement,
              (std::uint8_t a, std::uint8_t b, std::uint8_t c, bool swap)) {
  const std::vector<std::int64_t> sizes = {a % 4, b % 4, c % 4};
  const std::int64_t count = spec::element_count(sizes);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const spec::HostTensor from = f32(sizes, values);
  spec::HostTensor to = f32({count + 3}, std::vector<float>(static_cast<std::size_t>(count + 3)));
  to.sizes = sizes;
  to.storage_offset = 3;
  to.strides = swap ? std::vector<std::int64_t>{1, sizes[0], sizes[0] * sizes[1]}
                    : std::vector<std::int64_t>{sizes[1], 1, sizes[0] * sizes[1]};
  copy_elements(from, to);
  RC_ASSERT(floats(to) == values);
  const spec::HostTensor back = f32(sizes, std::vector<float>(values.size()));
  copy_elements(to, back);
  RC_ASSERT(floats(back) == values);
}

}  // namespace
}  // namespace graphgate::optimized
