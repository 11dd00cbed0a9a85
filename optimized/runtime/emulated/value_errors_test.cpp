// Values that a call refuses: on a device it ends with the host's words.
#include "optimized/value_errors.h"

#include <gtest/gtest.h>

#include "optimized/optimized.h"
#include "optimized/program_test.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "spec/plan.h"

namespace graphgate::optimized::emulated {
namespace {

struct Refused {
  std::string name;
  std::string nodes;  // of a program with input %x, output %y
  Inputs inputs;
  std::string words;
};

void PrintTo(const Refused& call, std::ostream* out) { *out << call.name; }

std::string words_of(const spec::Program& program, const Inputs& inputs, const Options& options) {
  auto loaded = make_executor(options)->load(program);
  if (!loaded.ok()) return "not loaded: " + loaded.error().message;
  return message_of(loaded.value()->call(inputs), "no error");
}

class ValueErrors : public testing::TestWithParam<Refused> {};

TEST_P(ValueErrors, EndACallInTheHostsWords) {
  const spec::Program program = program_of("program \"p\" {\n" + GetParam().nodes + "}");
  const std::string expected = words_of(program, GetParam().inputs, {});
  EXPECT_TRUE(contains(expected, GetParam().words));
  CompileOptions captured;
  captured.partition.device_kernels = true;
  const spec::Plan plan = good_plan_of(program, GetParam().inputs, captured);
  ASSERT_EQ(plan.blocks.front().partitions.size(), 1U);
  EXPECT_TRUE(plan.blocks.front().partitions.front().captured);
  Options options;
  options.device = make_emulated_device().value();
  const std::string found = words_of(program, GetParam().inputs, options);
  EXPECT_TRUE(contains(found, GetParam().words));
}

std::vector<Refused> refused_calls() {
  const auto divide = [](const std::string& name, const std::string& op, const char* more = "") {
    return Refused{name,
                   "  input %x : i64[4]\n  input %d : i64[4]\n  %y = " + op + "(%x, %d" + more +
                       ")\n  output %y\n",
                   {i64({4}, {7, -7, 7, -7}), i64({4}, {2, 2, 0, -2})},
                   "ZeroDivisionError: integer division by zero"};
  };
  return {
      divide("floor_divide", "aten.floor_divide.default"),
      divide("div", "aten.div.Tensor_mode", ", rounding_mode=\"trunc\""),
      divide("fmod", "aten.fmod.Tensor"),
      divide("remainder", "aten.remainder.Tensor"),
      {"scatter_add",
       "  input %x : f32[3]\n  input %i : i64[2]\n  input %s : f32[2]\n"
       "  %y = aten.scatter_add.default(%x, 0, %i, %s)\n  output %y\n",
       {f32({3}, {1, 2, 3}), i64({2}, {0, 3}), f32({2}, {1, 1})},
       "index 3 is out of range for dimension 0 of size 3"},
      {"index_fill",
       "  input %x : f32[3]\n  input %i : i64[1]\n"
       "  %y = aten.index_fill.int_Scalar(%x, 0, %i, 1)\n  output %y\n",
       {f32({3}, {1, 2, 3}), i64({1}, {-4})},
       "index -4 is out of range for dimension 0 of size 3"},
      {"masked_scatter",
       "  input %x : f32[3]\n  input %m : bool[3]\n  input %s : f32[1]\n"
       "  %y = aten.masked_scatter.default(%x, %m, %s)\n  output %y\n",
       {f32({3}, {1, 2, 3}), bools({3}, {1, 0, 1}), f32({1}, {4})},
       "the source has 1 elements, fewer than the mask has true ones"},
      {"max_pool_backward",
       "  input %g : f32[1, 1, 1]\n  input %x : f32[1, 2, 2]\n  input %i : i64[1, 1, 1]\n"
       "  %y = aten.max_pool2d_with_indices_backward.default(%g, %x, [2, 2], [2, 2], [0, 0], "
       "[1, 1], False, %i)\n  output %y\n",
       {f32({1, 1, 1}, {1}), f32({1, 2, 2}, {1, 2, 3, 4}), i64({1, 1, 1}, {4})},
       "index 4 is outside a plane of 4 elements"},
      {"grouped_mm",
       "  input %x : f32[2, 1]\n  input %w : f32[2, 1, 1]\n  input %o : i64[2]\n"
       "  %y = transformers.grouped_mm_fallback.default(%x, %w, %o)\n  output %y\n",
       {f32({2, 1}, {1, 2}), f32({2, 1, 1}, {3, 4}), i64({2}, {2, 1})},
       "offs does not ascend within rows"},
  };
}

INSTANTIATE_TEST_SUITE_P(Ops, ValueErrors, testing::ValuesIn(refused_calls()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace graphgate::optimized::emulated
