#include "optimized/passes/pass_test.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;
using spec::DType;

// One chain of ops between an input and a relu.
spec::Program between(const std::string& nodes, const std::string& last,
                      const std::string& sizes = "s0, 4") {
  return program_of("program \"p\" {\n  symbol s0 in [1, 64] hint 8\n  input %x : f32[" + sizes +
                    "]\n" + nodes + "  %y = aten.relu.default(%" + last + ")\n  output %y\n}");
}

std::vector<Inputs> sizes_of(std::initializer_list<std::int64_t> rows) {
  std::vector<Inputs> calls;
  for (const std::int64_t r : rows) calls.push_back({values_of(DType::kFloat32, {r, 4}, 3)});
  return calls;
}

TEST(NoopElimination, DropsViewsAndConversionsThatChangeNothing) {
  for (const char* node :
       {"aten.slice.Tensor(%x, 0, 0, 9223372036854775807)", "aten.slice.Tensor(%x, 1, 0, 4)",
        "aten.slice.Tensor(%x, 0, 0, 64)", "aten.slice.Tensor(%x)", "aten.to.dtype(%x, f32)",
        "aten.expand.default(%x, [-1, 4])", "aten.permute.default(%x, [0, 1])",
        "aten.transpose.int(%x, 1, 1)", "aten.alias.default(%x)", "aten.detach.default(%x)",
        "aten.dropout.default(%x, 0.5, False)"}) {
    const spec::Program program = between("  %v : f32[s0, 4] = " + std::string(node) + "\n", "v");
    EXPECT_EQ(ops_of(program), "relu") << node;
    expect_unchanged(program, sizes_of({8, 1, 64}));
  }
}

TEST(NoopElimination, KeepsWhatIsFullForSomeSizesOnly) {
  for (const char* node : {"aten.slice.Tensor(%x, 0, 0, 8)", "aten.slice.Tensor(%x, 0, 0, 63)",
                           "aten.slice.Tensor(%x, 0, 0, -1)", "aten.slice.Tensor(%x, 0, 0, 64, 2)",
                           "aten.slice.Tensor(%x, 0, 1, 64)"}) {
    const spec::Program program = between("  %v : f32[s0, 4] = " + std::string(node) + "\n", "v");
    EXPECT_EQ(ops_of(program), "slice relu") << node;
  }
}

TEST(NoopElimination, ProvesASliceFullInTheRangeOfTheCompile) {
  const spec::Program program =
      between("  %v : f32[s0, 4] = aten.slice.Tensor(%x, 0, 0, 8)\n", "v");
  CompileOptions options;
  options.passes.range = SizeRange{1, 9};
  EXPECT_EQ(ops_of(program, options), "relu");
  options.passes.range = SizeRange{1, 10};
  EXPECT_EQ(ops_of(program, options), "slice relu");
}

TEST(NoopElimination, ProvesASliceUpToASymbolFull) {
  const spec::Program program = between(
      "  %n : symint(s0) hint 8 = aten.sym_size.int(%x, 0)\n"
      "  %v : f32[s0, 4] = aten.slice.Tensor(%x, 0, 0, %n)\n",
      "v");
  EXPECT_EQ(ops_of(program), "relu");
}

// vllm 26199.
TEST(NoopElimination, TakesAHintForAFactWhereADeviationAsksForIt) {
  const spec::Program program =
      between("  %v : f32[s0, 4] = aten.slice.Tensor(%x, 0, 0, 8)\n", "v");
  const CompileOptions wrong = deviating_by(Deviation::kDropsGuards);
  EXPECT_EQ(ops_of(program, wrong), "relu");
  EXPECT_FALSE(changes(program, sizes_of({8})[0], wrong));
  EXPECT_TRUE(changes(program, sizes_of({10})[0], wrong));
  EXPECT_FALSE(changes(program, sizes_of({10})[0], {}));
}

// vllm 24880.
TEST(NoopElimination, TakesAnEndOfMinusOneForTheEndWhereADeviationAsksForIt) {
  const spec::Program program =
      between("  %v : f32[s0 + -1, 4] = aten.slice.Tensor(%x, 0, 0, -1)\n", "v");
  EXPECT_EQ(ops_of(program), "slice relu");
  EXPECT_FALSE(changes(program, sizes_of({8})[0], {}));
  EXPECT_TRUE(changes(program, sizes_of({8})[0], deviating_by(Deviation::kSliceEndMinusOneIsFull)));
}

TEST(NoopElimination, DropsIntegersPlusZeroAndKeepsFloats) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[4]
  %a : i64[4] = aten.arange.default(4)
  %b : i64[4] = aten.add.Tensor(%a, 0)
  %c : i64[4] = aten.mul.Tensor(%b, 1)
  %d : i64[4] = aten.sub.Tensor(%c, 1)
  %e : f32[4] = aten.add.Tensor(%x, 0)
  %f : f32[4] = aten.mul.Tensor(%x, 1)
  output %d
  output %e
  output %f
})");
  EXPECT_EQ(ops_of(program), "arange sub add mul");
  expect_unchanged(program, {{f32({4}, {-0.0F, 0.0F, 1.0F, -2.0F})}});
}

TEST(NoopElimination, ShortensChainsOfReshapes) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 8]
  input %w : f32[8, 8]
  %m : f32[2, 8] = aten.mm.default(%x, %w)
  %a : f32[4, 4] = aten.view.default(%m, [4, 4])
  %b : f32[16] = aten.reshape.default(%a, [-1])
  %c : f32[2, 8] = aten.view.default(%b, [2, 8])
  %y = aten.relu.default(%c)
  output %y
})");
  EXPECT_EQ(ops_of(program), "mm relu");
  expect_unchanged(
      program, {{values_of(DType::kFloat32, {2, 8}, 1), values_of(DType::kFloat32, {8, 8}, 2)}});
}

// Inputs may come with any strides: what they hand on is not known to be row-major.
TEST(NoopElimination, KeepsACopyWhoseLayoutIsNotKnown) {
  EXPECT_EQ(ops_of(between("  %v : f32[s0, 4] = aten.clone.default(%x)\n", "v")), "clone relu");
}

// An out= argument keeps its strides, whatever the op makes elsewhere.
TEST(NoopElimination, KeepsACopyOfAnOutArgumentThatIsNotRowMajor) {
  for (const char* node : {"aten.mm.out(%x, %x, out=%t)", "aten.sum.IntList_out(%w, [0], out=%t)",
                           "aten.full.out([2, 2], 3.0, out=%t)"}) {
    const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 2]
  input %w : f32[3, 2, 2]
  %m : f32[2, 2] = aten.mm.default(%x, %x)
  %t : f32[2, 2]{1, 2} = aten.t.default(%m)
  %o : f32[2, 2]{1, 2} = )" + std::string(node) +
                                             R"(
  %c : f32[2, 2] = aten.contiguous.default(%o)
  %a : f32[2, 2] = aten.add_.Tensor(%c, 1.0)
  %y : f32[2, 2]{1, 2} = aten.neg.default(%o)
  %z : f32[2, 2] = aten.neg.default(%c)
  output %y
  output %z
})");
    EXPECT_TRUE(contains(ops_of(program), " contiguous add_ ")) << node;
    expect_unchanged(program, {{values_of(DType::kFloat32, {2, 2}, 5),
                                values_of(DType::kFloat32, {3, 2, 2}, 6)}});
  }
}

TEST(NoopElimination, DropsACopyOfAnOutArgumentThatIsRowMajor) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 2]
  %m : f32[2, 2] = aten.mm.default(%x, %x)
  %o : f32[2, 2] = aten.mm.out(%x, %x, out=%m)
  %c : f32[2, 2] = aten.contiguous.default(%o)
  %y : f32[2, 2] = aten.neg.default(%c)
  output %y
})");
  EXPECT_EQ(ops_of(program), "mm mm neg");
  expect_unchanged(program, {{values_of(DType::kFloat32, {2, 2}, 5)}});
}

constexpr const char* kCopies = R"(program "p" {
  input %x : f32[2, 2]
  %m : f32[2, 2] = aten.mm.default(%x, %x)
  %c : f32[2, 2] = aten.clone.default(%m)
  %y : f32[2, 2] = aten.relu.default(%c)
  output %y
)";

TEST(NoopElimination, DropsACopyThatNobodyCanTellFromItsSource) {
  const spec::Program program = program_of(std::string(kCopies) + "}");
  EXPECT_EQ(ops_of(program), "mm relu");
  expect_unchanged(program, {{values_of(DType::kFloat32, {2, 2}, 5)}});
}

TEST(NoopElimination, KeepsACopyWhenSourceOrCopyIsWritten) {
  for (const char* written : {"m", "c"}) {
    const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 2]
  %m : f32[2, 2] = aten.mm.default(%x, %x)
  %c : f32[2, 2] = aten.clone.default(%m)
  %w : f32[2, 2] = aten.add_.Tensor(%)" + std::string(written) +
                                             R"(, 1.0)
  %y : f32[2, 2] = aten.sub.Tensor(%c, %m)
  output %y
})");
    EXPECT_EQ(ops_of(program), "mm clone add_ sub");
    expect_unchanged(program, {{values_of(DType::kFloat32, {2, 2}, 5)}});
  }
}

// %c is the new content of x, %b that of the buffer: one value could not be both.
TEST(NoopElimination, KeepsAViewThatIsAnOutputOfItsOwn) {
  const spec::Program program = program_of(R"(program "contents" {
  buffer %b0 "b" : f32[1] = [2]
  input %x : f32[1]
  %b : f32[1] = aten.mul.Tensor(%x, 3)
  %c : f32[1] = aten.slice.Tensor(%b, 0, 0, 9223372036854775807)
  mutation input "x" %c
  mutation buffer "b" %b
  output %c
})");
  const auto results = run_calls(program, {{f32({1}, {1})}});
  const auto& output = std::get<spec::HostTensor>(results.at(0).outputs.at(0));
  const auto& input = std::get<spec::HostTensor>(results.at(0).final_inputs.at(0));
  EXPECT_EQ(output.storage, input.storage);
}

// pytorch 163572: both are outputs, and must not be one.
TEST(NoopElimination, KeepsACopyThatIsAnOutputBesideItsSource) {
  const spec::Program program = program_of(std::string(kCopies) + "  output %m\n  output %c\n}");
  EXPECT_EQ(ops_of(program), "mm clone relu");
  const CompileOptions wrong = deviating_by(Deviation::kPassDropsOutput);
  EXPECT_EQ(ops_of(program, wrong), "mm relu");
  const auto shared = [&](const CompileOptions& options) {
    const auto results = run_with(program, {{values_of(DType::kFloat32, {2, 2}, 5)}}, options);
    return std::get<spec::HostTensor>(results.at(0).outputs[1]).storage ==
           std::get<spec::HostTensor>(results.at(0).outputs[2]).storage;
  };
  EXPECT_FALSE(shared({}));
  EXPECT_TRUE(shared(wrong));
}

constexpr const char* kCastPair = R"(program "p" {
  input %x : f32[2, 2]
  %m : f32[2, 2] = aten.mm.default(%x, %x)
  %n : bf16[2, 2] = aten._to_copy.default(%m, dtype=bf16)
  %b : f32[2, 2] = aten._to_copy.default(%n, dtype=f32)
  %y : f32[2, 2] = aten.relu.default(%b)
  output %y
})";

// pytorch 136181.
TEST(NoopElimination, KeepsCastsThatRoundUnlessADeviationAsksForIt) {
  const spec::Program program = program_of(kCastPair);
  const Inputs inputs = {values_of(DType::kFloat32, {2, 2}, 5)};
  EXPECT_EQ(ops_of(program), "mm _to_copy _to_copy relu");
  EXPECT_FALSE(changes(program, inputs, {}));
  EXPECT_EQ(ops_of(program, deviating_by(Deviation::kElidesCastPairs)), "mm relu");
  EXPECT_TRUE(changes(program, inputs, deviating_by(Deviation::kElidesCastPairs)));
}

TEST(NoopElimination, DropsCastsToAWiderIntegerAndBack) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : i64[2]
  %a : i32[4] = aten.arange.default(4, dtype=i32)
  %n : i64[4] = aten._to_copy.default(%a, dtype=i64)
  %b : i32[4] = aten._to_copy.default(%n, dtype=i32)
  %y : i32[4] = aten.neg.default(%b)
  output %y
})");
  EXPECT_EQ(ops_of(program), "arange neg");
}

TEST(NoopElimination, KeepsAViewWhereAnOpChangesGeometriesInPlace) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2, 3]
  %r : f32[2, 3] = aten.relu.default(%x)
  %v : f32[2, 3] = aten.slice.Tensor(%r, 0, 0, 2)
  %t : f32[3, 2] = aten.t_.default(%r)
  %y : f32[2, 3] = aten.neg.default(%v)
  output %y
})");
  EXPECT_EQ(ops_of(program), "relu slice t_ neg");
  expect_unchanged(program, {{values_of(DType::kFloat32, {2, 3}, 7)}});
}

TEST(DropProvenAssertions, KeepsWhatTheDeclaredTypeDoesNotProve) {
  const spec::Program program = program_of(R"(program "p" {
  input %x : f32[2]
  %y : f32[2] = aten.relu.default(%x)
  aten._assert_tensor_metadata.default(%y, dtype=f32, device=device("cpu"), layout=layout(strided)) as a
  aten._assert_tensor_metadata.default(%y, [2], dtype=f32) as b
  output %y
})");
  EXPECT_EQ(ops_of(program), "relu _assert_tensor_metadata");
}

}  // namespace
}  // namespace graphgate::optimized
