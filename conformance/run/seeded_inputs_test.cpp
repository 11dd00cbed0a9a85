#include "conformance/run/seeded_inputs.h"

#include <algorithm>
#include <cmath>

#include "conformance/run/scripted_test.h"

namespace graphgate::conformance {
namespace {

using namespace scripted;

using spec::HostTensor;

TEST(SeededInputs, AreTheSameForTheSameSeedAndDifferBetweenCalls) {
  const spec::Program p = *relu_program();
  const auto bytes = [&](std::uint64_t seed, int call) {
    return std::get<HostTensor>(seeded_inputs(p, seed, call).value()[0]).storage->bytes;
  };
  EXPECT_EQ(bytes(1, 0), bytes(1, 0));
  EXPECT_NE(bytes(1, 0), bytes(1, 1));
  EXPECT_NE(bytes(1, 0), bytes(2, 0));
}

TEST(SeededInputs, StayWithinTheRangeOfASymbol) {
  spec::Program p = *relu_program();
  p.symbols["s0"] = {3, 5, 4};
  p.graph.values[0].type->sizes = {spec::SymExpr::symbol("s0")};
  std::vector<std::int64_t> seen;
  for (int call = 0; call < 4; ++call) {
    seen.push_back(std::get<HostTensor>(seeded_inputs(p, 1, call).value()[0]).sizes[0]);
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 5, 3, 4}));
}

TEST(SeededInputs, HaveTheStridesThatTheProgramDeclares) {
  spec::Program p = *relu_program();
  p.symbols["s0"] = {3, 3, 3};
  p.graph.values[0].type->sizes = {spec::SymExpr::symbol("s0"), 2};
  p.graph.values[0].type->strides = {1, spec::SymExpr::symbol("s0")};
  const auto transposed = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(transposed.strides, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(transposed.storage->bytes.size(), 6 * sizeof(float));
  p.graph.values[0].type->strides = {2, 1};
  const auto packed = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(spec::packed_bytes(packed), spec::packed_bytes(transposed));
}

// Strides that put two elements into one place cannot hold what a packed tensor holds.
TEST(SeededInputs, BeginWhereTheProgramDeclares) {
  spec::Program p = *relu_program();
  p.graph.values[0].type->sizes = {4};
  p.graph.values[0].type->strides = {2};
  p.graph.values[0].type->storage_offset = 5;
  const auto part = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(part.storage_offset, 5);
  EXPECT_EQ(part.storage->bytes.size(), 12 * sizeof(float));
  p.graph.values[0].type->strides = {1};
  p.graph.values[0].type->storage_offset = 0;
  const auto packed = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  EXPECT_EQ(spec::packed_bytes(part), spec::packed_bytes(packed));
}

TEST(SeededInputs, StayPackedWhereTheDeclaredStridesOverlap) {
  spec::Program p = *relu_program();
  p.graph.values[0].type->sizes = {3, 2};
  p.graph.values[0].type->strides = {1, 1};
  EXPECT_EQ(std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]).strides,
            (std::vector<std::int64_t>{2, 1}));
}

TEST(SeededInputs, HaveBothPartsOfComplexNumbers) {
  spec::Program p = *relu_program();
  p.graph.values[0].type->dtype = spec::DType::kComplex64;
  const auto z = std::get<HostTensor>(seeded_inputs(p, 1, 0).value()[0]);
  const std::vector<float> parts = spec::elements_of(z);
  EXPECT_EQ(parts.size(), 2 * static_cast<std::size_t>(spec::element_count(z.sizes)));
  EXPECT_TRUE(std::ranges::all_of(parts, [](float x) { return x != 0 && std::abs(x) < 6; }));
}

}  // namespace
}  // namespace graphgate::conformance
