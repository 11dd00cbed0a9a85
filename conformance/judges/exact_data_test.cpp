#include "conformance/judges/exact_data.h"

#include <gtest/gtest.h>

#include <cmath>

#include "conformance/compare/element.h"
#include "conformance/run/scripted_source_test.h"

namespace graphgate::conformance {
namespace {

using spec::DType;

TEST(WriteInteger, WritesEveryIntegerOfEveryFloatingDtypeExactly) {
  for (const DType dtype : {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                            DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    // float8_e5m2 has two fraction bits: of odd integers above 4 the next smaller even one is left.
    for (int value = -4; value <= 4; ++value) {
      spec::HostTensor tensor = spec::make_host_tensor(dtype, {1});
      write_integer(tensor.storage->bytes.data(), dtype, value);
      EXPECT_EQ(decode_elements(tensor)[0], value) << spec::torch_name(dtype);
    }
  }
}

TEST(ExactData, KeepsIntegersGeometryAndSharing) {
  Script script = script_over_floats({{{0.5F, 1.5F, 2.5F}, {9, 9, 9}}});
  auto& inputs = std::get<ScriptCall>(script.steps[0]).inputs;
  spec::HostTensor view = std::get<spec::HostTensor>(inputs[0]);
  view.sizes = {2};
  view.storage_offset = 1;
  inputs.emplace_back(view);
  spec::HostTensor index = spec::make_host_tensor(DType::kInt64, {2});
  inputs.emplace_back(index);
  const Script drawn = with_exact_data(script, {4, 1}, 3);
  const auto& now = std::get<ScriptCall>(drawn.steps[0]).inputs;
  EXPECT_EQ(std::get<spec::HostTensor>(now[0]).storage, std::get<spec::HostTensor>(now[2]).storage);
  EXPECT_EQ(std::get<spec::HostTensor>(now[2]).storage_offset, 1);
  EXPECT_EQ(std::get<spec::HostTensor>(now[3]).storage, index.storage);
  for (const float x : spec::elements_of(now[1])) {
    EXPECT_EQ(x, static_cast<float>(static_cast<int>(x)));
    EXPECT_LE(std::abs(x), 4);
  }
  EXPECT_NE(spec::elements_of(now[1]), spec::elements_of(inputs[1]));
}

TEST(ExactData, LeavesStoragesOfTwoDtypesAlone) {
  Script script = script_over_floats({{{0.5F, 1.5F, 2.5F}, {9, 9, 9}}});
  auto& inputs = std::get<ScriptCall>(script.steps[0]).inputs;
  spec::HostTensor bits = std::get<spec::HostTensor>(inputs[0]);
  bits.dtype = DType::kInt32;
  inputs.emplace_back(bits);
  const Script drawn = with_exact_data(script, {4, 1}, 3);
  EXPECT_EQ(spec::elements_of(std::get<ScriptCall>(drawn.steps[0]).inputs[0]),
            spec::elements_of(inputs[0]));
}

TEST(ExactData, GetsSparserLevelByLevel) {
  std::vector<float> ones(4096, 1);
  const Script script = script_over_floats({{ones, ones}});
  std::size_t before = ones.size() + 1;
  for (const ExactLevel& level : exact_levels()) {
    if (level.sparsity < 2) continue;
    const Script drawn = with_exact_data(script, level, 5);
    std::size_t nonzero = 0;
    for (const float x : spec::elements_of(std::get<ScriptCall>(drawn.steps[0]).inputs[0])) {
      nonzero += x != 0 ? 1 : 0;
    }
    EXPECT_GT(nonzero, 0U);
    EXPECT_LE(nonzero, before);
    before = nonzero;
  }
}

// A complex tensor and a view of its parts are two dtypes of one storage of float32.
TEST(ExactData, DrawsThePartsOfComplexNumbers) {
  Script script = script_over_floats({{{0.5F, 1.5F}, {9, 9}}});
  auto& inputs = std::get<ScriptCall>(script.steps[0]).inputs;
  spec::HostTensor pairs = std::get<spec::HostTensor>(inputs[0]);
  pairs.dtype = DType::kComplex64;
  pairs.sizes = {1};
  inputs.emplace_back(pairs);
  const Script drawn = with_exact_data(script, {4, 1}, 3);
  const auto& now = std::get<ScriptCall>(drawn.steps[0]).inputs;
  EXPECT_EQ(std::get<spec::HostTensor>(now[0]).storage, std::get<spec::HostTensor>(now[2]).storage);
  for (const float x : spec::elements_of(now[2])) EXPECT_EQ(x, std::trunc(x));
}

}  // namespace
}  // namespace graphgate::conformance
