// Writes over what is read. What eager PyTorch 2.11 does is said at each: it refuses, or goes on.
#include "reference/overlap.h"

#include <array>
#include <optional>
#include <string>

#include "reference/program_test.h"

namespace graphgate::reference {
namespace {

using test::elements;
using test::floats;

// The kind of error that a call of one program with one float32 vector ends in; nothing if none.
std::optional<ErrorKind> ends_in(const std::string& nodes, Mode mode) {
  const spec::Program program =
      test::program("program \"p\" {\n  input %x : f32[6]\n" + nodes + "  output %x\n}\n");
  Options options;
  options.mode = mode;
  const auto executor = make_executor(options);
  auto loaded = must(executor->load(program));
  const std::vector<spec::InputValue> inputs = {floats({6}, {0, 1, 2, 3, 4, 5})};
  const auto result = loaded->call(inputs);
  return result.ok() ? std::nullopt : std::optional(result.error().kind);
}

constexpr std::array kModes = {Mode::kEager, Mode::kWorstCase, Mode::kSampled, Mode::kProvenance};

void expect_left_open(const std::string& nodes) {
  for (const Mode mode : kModes) EXPECT_EQ(ends_in(nodes, mode), ErrorKind::kUnsupported) << nodes;
}
void expect_taken(const std::string& nodes) {
  for (const Mode mode : kModes) EXPECT_EQ(ends_in(nodes, mode), std::nullopt) << nodes;
}

TEST(Overlap, OfAnOperandInPartIsLeftOpen) {
  // Refused: both are dense.
  expect_left_open(R"(  %a = aten.slice.Tensor(%x, 0, 0, 5)
  %b = aten.slice.Tensor(%x, 0, 1, 6)
  %r = aten.add_.Tensor(%a, %b)
)");
  expect_left_open(R"(  %a = aten.slice.Tensor(%x, 0, 0, 1)
  %r = aten.mul_.Tensor(%x, %a)
)");
  expect_left_open(R"(  %a = aten.slice.Tensor(%x, 0, 0, 5)
  %b = aten.slice.Tensor(%x, 0, 1, 6)
  %r = aten.sin.out(%a, out=%b)
)");
  // Taken, and the order of the loop decides: one has gaps.
  expect_left_open(R"(  %a = aten.slice.Tensor(%x, 0, 0, 6, 2)
  %b = aten.slice.Tensor(%x, 0, 0, 3)
  %r = aten.copy_.default(%a, %b)
)");
}

TEST(Overlap, OfTheSameElementsOrOfNoneIsTaken) {
  expect_taken("  %r = aten.add_.Tensor(%x, %x)\n");
  expect_taken("  %r = aten.cos.out(%x, out=%x)\n");
  expect_taken(R"(  %a = aten.slice.Tensor(%x, 0, 0, 3)
  %b = aten.slice.Tensor(%x, 0, 3, 6)
  %r = aten.add_.Tensor(%a, %b)
)");
  expect_taken(R"(  %a = aten.slice.Tensor(%x, 0, 0, 6, 2)
  %b = aten.slice.Tensor(%x, 0, 1, 6, 2)
  %r = aten.copy_.default(%a, %b)
)");
  expect_taken(R"(  %a = aten.slice.Tensor(%x, 0, 0, 1)
  %e = aten.expand.default(%a, [1])
  %r = aten.add_.Tensor(%a, %e)
)");
}

TEST(Overlap, OfTheWrittenTensorWithItselfIsLeftOpen) {
  expect_left_open(R"(  %e = aten.expand.default(%x, [3, 6])
  %r = aten.add_.Scalar(%e, 1)
)");
  expect_left_open(R"(  %e = aten.unfold.default(%x, 0, 2, 1)
  %r = aten.neg_.default(%e)
)");
  // The same number everywhere.
  expect_taken(R"(  %e = aten.expand.default(%x, [3, 6])
  %r = aten.fill_.Scalar(%e, 1)
  %z = aten.zero_.default(%e)
)");
  // No two elements.
  expect_taken(R"(  %e = aten.expand.default(%x, [1, 6])
  %r = aten.add_.Scalar(%e, 1)
)");
  // Writes no element.
  expect_taken(R"(  %e = aten.expand.default(%x, [3, 6])
  %r = aten.t_.default(%e)
)");
}

TEST(Overlap, OfAnythingIsLeftOpenByOpsThatWriteAtIndices) {
  // Refused, whether it is the same elements or not.
  const std::string index = "  %i = aten.arange.default(6, dtype=i64)\n";
  expect_left_open(index + "  %r = aten.index_put_.default(%x, [%i], %x)\n");
  expect_left_open(index + "  %r = aten.index_put_.default(%x, [%i], %x, True)\n");
  expect_left_open(index + "  %r = aten.index_add_.default(%x, 0, %i, %x)\n");
  expect_left_open(index + "  %r = aten.index_copy_.default(%x, 0, %i, %x)\n");
  expect_left_open(index + "  %r = aten.scatter_.src(%x, 0, %i, %x)\n");
  expect_left_open(index + "  %m = aten.gt.Scalar(%x, 2)\n" +
                   "  %r = aten.masked_scatter_.default(%x, %m, %x)\n");
  // The functional form writes a copy.
  expect_taken(index + "  %r = aten.index_put.default(%x, [%i], %x)\n");
}

// Eager PyTorch goes on, and compiled code writes running statistics at the end: a weight that is
// one of them is the old or the new.
TEST(Overlap, OfRunningStatisticsIsLeftOpenInTraining) {
  const std::string views =
      "  %i = aten.view.default(%x, [3, 2])\n  %a = aten.slice.Tensor(%x, 0, 0, 2)\n"
      "  %b = aten.slice.Tensor(%x, 0, 2, 4)\n  %o = aten.ones.default([2])\n"
      "  %p = aten.ones.default([3, 2])\n";
  const auto norm = [&](const std::string& arguments, const char* training) {
    return views + "  %r, %s, %t = aten.native_batch_norm.default(" + arguments + ", " + training +
           ", 0.5, 0.1)\n";
  };
  expect_left_open(norm("%p, %a, %o, %a, %b", "True"));  // the weight
  expect_left_open(norm("%p, %o, %b, %a, %b", "True"));  // the bias
  expect_left_open(norm("%i, None, None, %a, %o", "True"));
  expect_left_open(norm("%p, None, None, %a, %a", "True"));
  expect_taken(norm("%p, None, None, %a, %b", "True"));
  expect_taken(norm("%p, %a, %a, %a, %b", "False"));
}

TEST(Overlap, LeavesInputsAsTheyWere) {
  const spec::Program program = test::program(R"(program "p" {
  input %x : f32[4]
  input %y : f32[4]
  %r = aten.add_.Tensor(%x, %y)
  output %r
}
)");
  const auto executor = make_executor(Options{});
  auto loaded = must(executor->load(program));
  // As callers pass them: two views of one storage.
  spec::HostTensor base = floats({5}, {0, 1, 2, 3, 4});
  spec::HostTensor x = base;
  x.sizes = {4};
  spec::HostTensor y = x;
  y.storage_offset = 1;
  const std::vector<spec::InputValue> inputs = {x, y};
  const auto result = loaded->call(inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(result.error().message.find("shares bytes with an operand in part"), std::string::npos);
  EXPECT_EQ(elements(base), (std::vector<float>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace graphgate::reference
