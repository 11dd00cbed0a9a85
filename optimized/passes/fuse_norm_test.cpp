// add+RMSNorm and SiLU*mul: the patterns that golden models hold, and what must not match.
#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::DType;

// An RMSNorm of %s with `epsilon`, named by `id`. Tensors are `dtype`, the inner nodes f32.
std::string rms_norm(const std::string& dtype, const std::string& id, const std::string& input,
                     const std::string& epsilon, const std::string& between = "") {
  const std::string wide = " : f32[s0, 24] = ";
  const std::string narrow = " : f32[s0, 1] = ";
  const bool casts = dtype != "f32";
  const std::string x = casts ? "x" + id : input;
  std::string out;
  if (casts) out += "  %" + x + wide + "aten.to.dtype(%" + input + ", f32)\n";
  out += "  %p" + id + wide + "aten.pow.Tensor_Scalar(%" + x + ", 2)\n";
  out += "  %m" + id + narrow + "aten.mean.dim(%p" + id + ", [-1], True)\n";
  out += "  %a" + id + narrow + "aten.add.Tensor(%m" + id + ", " + epsilon + ")\n";
  out += "  %r" + id + narrow + "aten.rsqrt.default(%a" + id + ")\n" + between;
  out += "  %y" + id + wide + "aten.mul.Tensor(%" + x + ", %r" + id + ")\n";
  if (casts) {
    out += "  %z" + id + " : " + dtype + "[s0, 24] = aten.to.dtype(%y" + id + ", " + dtype + ")\n";
  }
  return out + "  %n" + id + " : " + dtype + "[s0, 24] = aten.mul.Tensor(%w, %" +
         (casts ? "z" : "y") + id + ")\n";
}

spec::Program program_with(const std::string& dtype, const std::string& nodes,
                           const std::string& weight = "") {
  const std::string tensor = " : " + dtype + "[s0, 24]\n";
  return program_of("program \"" + dtype + "\" {\n  symbol s0 in [1, 64] hint 8\n  input %u" +
                    tensor + "  input %v" + tensor +
                    "  input %w : " + (weight.empty() ? dtype : weight) + "[24]\n" + nodes + "}");
}

std::vector<Inputs> calls_of(DType dtype, DType weight) {
  std::vector<Inputs> calls;
  for (const std::int64_t rows : {8, 1, 3}) {
    calls.push_back({values_of(dtype, {rows, 24}, 1), values_of(dtype, {rows, 24}, 2),
                     values_of(weight, {24}, 3)});
  }
  return calls;
}

struct Named {
  const char* name;
  DType dtype;
};
constexpr Named kNormDtypes[] = {
    {"f32", DType::kFloat32}, {"bf16", DType::kBFloat16}, {"f16", DType::kFloat16}};

TEST(FuseRmsNorm, KeepsEveryRounding) {
  for (const auto& [name, dtype] : kNormDtypes) {
    const spec::Program program =
        program_with(name, rms_norm(name, "", "u", "1e-06") + "  output %n\n");
    EXPECT_EQ(ops_of(program), "rms_norm") << name;
    expect_unchanged(program, calls_of(dtype, dtype));
  }
}

TEST(FuseAddRmsNorm, KeepsTheSumForWhoReadsIt) {
  for (const auto& [name, dtype] : kNormDtypes) {
    const std::string add = std::string("  %s : ") + name + "[s0, 24] = aten.add.Tensor(%u, %v)\n";
    const spec::Program program =
        program_with(name, add + rms_norm(name, "", "s", "1e-05") + "  output %n\n  output %s\n");
    EXPECT_EQ(ops_of(program), "add_rms_norm") << name;
    expect_unchanged(program, calls_of(dtype, dtype));
  }
}

TEST(FuseAddRmsNorm, WritesTheResidualWhereTheAddDid) {
  for (const auto& [name, dtype] : kNormDtypes) {
    const std::string add = std::string("  %s : ") + name + "[s0, 24] = aten.add_.Tensor(%u, %v)\n";
    const spec::Program program =
        program_with(name, add + rms_norm(name, "", "s", "1e-05") + "  output %n\n");
    EXPECT_EQ(ops_of(program), "add_rms_norm_") << name;
    expect_unchanged(program, calls_of(dtype, dtype));
  }
}

TEST(FuseRmsNorm, KeepsTheStridesOfTransposedInputs) {
  const spec::Program program =
      program_with("f32", "  %s : f32[s0, 24] = aten.add.Tensor(%u, %v)\n" +
                              rms_norm("f32", "", "s", "1e-05") + "  output %n\n  output %s\n");
  Inputs inputs = calls_of(DType::kFloat32, DType::kFloat32)[0];
  for (std::size_t i : {0U, 1U}) std::get<spec::HostTensor>(inputs[i]).strides = {1, 8};
  expect_unchanged(program, {inputs});
}

TEST(FuseRmsNorm, LeavesInnerValuesThatOthersRead) {
  for (const char* inner : {"p", "m", "a", "r", "y", "z"}) {
    const spec::Program program = program_with(
        "bf16", rms_norm("bf16", "", "u", "1e-06") + "  output %n\n  output %" + inner + "\n");
    EXPECT_EQ(counts_of(program).at("fuse_rms_norm").matches, 0) << inner;
  }
  const spec::Program program =
      program_with("bf16", rms_norm("bf16", "", "u", "1e-06") + "  output %n\n  output %x\n");
  EXPECT_EQ(ops_of(program), "to rms_norm");
  expect_unchanged(program, calls_of(DType::kBFloat16, DType::kBFloat16));
}

// pytorch 164273: the input is written between the square and the product.
TEST(FuseRmsNorm, LeavesAMatchThatAMutationCrossesUnlessADeviationAsksForIt) {
  const spec::Program program = program_with(
      "f32", rms_norm("f32", "", "u", "1e-06", "  %t : f32[s0, 24] = aten.mul_.Tensor(%u, 2.0)\n") +
                 "  output %n\n");
  const auto inputs = calls_of(DType::kFloat32, DType::kFloat32)[0];
  const CompileOptions wrong = deviating_by(Deviation::kMatchesAcrossMutations);
  EXPECT_EQ(counts_of(program).at("fuse_rms_norm").matches, 0);
  EXPECT_FALSE(changes(program, inputs, {}));
  EXPECT_EQ(ops_of(program, wrong), "mul_ rms_norm");
  EXPECT_TRUE(changes(program, inputs, wrong));
}

// vllm 48324.
TEST(FuseRmsNorm, LeavesMixedDtypesUnlessADeviationAsksForIt) {
  std::string nodes = rms_norm("bf16", "", "u", "1e-06");
  nodes.replace(nodes.find("%n : bf16"), 9, "%n : f32");
  const spec::Program program = program_with("bf16", nodes + "  output %n\n", "f32");
  const auto inputs = calls_of(DType::kBFloat16, DType::kFloat32)[0];
  const CompileOptions wrong = deviating_by(Deviation::kFusesMixedDtypes);
  EXPECT_EQ(counts_of(program).at("fuse_rms_norm").matches, 0);
  EXPECT_FALSE(changes(program, inputs, {}));
  EXPECT_EQ(ops_of(program, wrong), "rms_norm");
  EXPECT_TRUE(changes(program, inputs, wrong));
}

// llama.cpp 14545.
TEST(FuseRmsNorm, ReadsEpsilonFromItsOwnMatchUnlessADeviationAsksForIt) {
  const spec::Program program =
      program_with("f32", rms_norm("f32", "1", "u", "1e-06") + rms_norm("f32", "2", "v", "0.5") +
                              "  output %n1\n  output %n2\n");
  const auto inputs = calls_of(DType::kFloat32, DType::kFloat32)[0];
  EXPECT_EQ(ops_of(program), "rms_norm rms_norm");
  EXPECT_FALSE(changes(program, inputs, {}));
  EXPECT_TRUE(changes(program, inputs, deviating_by(Deviation::kEpsilonOfFirstMatch)));
}

TEST(FuseSiluMul, KeepsEveryRounding) {
  for (const auto& [name, dtype] : kNormDtypes) {
    const std::string tensor = std::string(" : ") + name + "[s0, 24] = ";
    const spec::Program program =
        program_with(name, "  %a" + tensor + "aten.silu.default(%u)\n  %b" + tensor +
                               "aten.mul.Tensor(%a, %v)\n  %n" + tensor +
                               "aten.mul.Tensor(%b, %w)\n" + "  output %n\n");
    EXPECT_EQ(ops_of(program), "silu_mul mul") << name;
    expect_unchanged(program, calls_of(dtype, dtype));
  }
}

TEST(FuseSiluMul, MatchesTheDecomposedSpelling) {
  for (const auto& [name, dtype] : kNormDtypes) {
    const std::string tensor = std::string(" : ") + name + "[s0, 24] = ";
    const std::string wide = " : f32[s0, 24] = ";
    const std::string to = std::string("aten._to_copy.default(%m, dtype=") + name + ")\n";
    const bool casts = dtype != DType::kFloat32;
    const std::string x = casts ? "x" : "u";
    const spec::Program program = program_with(
        name, (casts ? "  %x" + wide + "aten._to_copy.default(%u, dtype=f32)\n" : "") + "  %g" +
                  wide + "aten.sigmoid.default(%" + x + ")\n  %m" + wide + "aten.mul.Tensor(%" + x +
                  ", %g)\n" + (casts ? "  %a" + tensor + to : "") + "  %b" + tensor +
                  "aten.mul.Tensor(%" + (casts ? "a" : "m") + ", %v)\n  %n" + tensor +
                  "aten.mul.Tensor(%b, %w)\n  output %n\n");
    EXPECT_EQ(ops_of(program), "silu_mul mul") << name;
    expect_unchanged(program, calls_of(dtype, dtype));
  }
}

// The result lies as the first factor does.
TEST(FuseSiluMul, KeepsTheStridesOfAProductThatBeginsWithUp) {
  for (const bool begins_with_up : {true, false}) {
    const std::string product =
        begins_with_up ? "{24, 1} = aten.mul.Tensor(%v, %a)" : "{1, 3} = aten.mul.Tensor(%a, %v)";
    const spec::Program program = program_of(std::string(R"(program "gated" {
  input %t : f32[24, 3]
  input %v : f32[3, 24]
  %u : f32[3, 24]{1, 3} = aten.t.default(%t)
  %g : f32[3, 24]{1, 3} = aten.neg.default(%u)
  %a : f32[3, 24]{1, 3} = aten.silu.default(%g)
  %n : f32[3, 24])") + product + "\n  output %n\n}");
    EXPECT_TRUE(contains(ops_of(program), "silu_mul"));
    const Inputs inputs = {values_of(DType::kFloat32, {24, 3}, 1),
                           values_of(DType::kFloat32, {3, 24}, 2)};
    const auto loaded = make_executor({})->load(program);
    const auto result = must(loaded.value()->call(inputs));
    EXPECT_EQ(std::get<spec::HostTensor>(result.outputs[0]).strides,
              begins_with_up ? Sizes({24, 1}) : Sizes({1, 3}));
    expect_unchanged(program, {inputs});
  }
}

TEST(FuseSiluMul, WritesTheGateWhereBothNodesDid) {
  const spec::Program program =
      program_with("bf16",
                   "  %a : bf16[s0, 24] = aten.silu_.default(%u)\n"
                   "  %b : bf16[s0, 24] = aten.mul_.Tensor(%a, %v)\n"
                   "  %n : bf16[s0, 24] = aten.mul.Tensor(%b, %w)\n  output %n\n");
  EXPECT_EQ(ops_of(program), "silu_mul_ mul");
  expect_unchanged(program, calls_of(DType::kBFloat16, DType::kBFloat16));
}

TEST(FuseSiluMul, LeavesAGateThatIsSeenBetweenOrAfter) {
  const spec::Program after =
      program_with("f32",
                   "  %a : f32[s0, 24] = aten.silu_.default(%u)\n"
                   "  %n : f32[s0, 24] = aten.mul.Tensor(%a, %v)\n  output %n\n");
  EXPECT_EQ(ops_of(after), "silu_ mul") << "the input shows what silu_ wrote";
  const spec::Program between =
      program_with("f32",
                   "  %a : f32[s0, 24] = aten.silu.default(%u)\n"
                   "  %t : f32[s0, 24] = aten.add_.Tensor(%u, %v)\n"
                   "  %n : f32[s0, 24] = aten.mul.Tensor(%a, %v)\n  output %n\n");
  EXPECT_EQ(ops_of(between), "silu add_ mul");
  for (const spec::Program& program : {after, between}) {
    expect_unchanged(program, calls_of(DType::kFloat32, DType::kFloat32));
  }
}

}  // namespace
}  // namespace graphgate::optimized
