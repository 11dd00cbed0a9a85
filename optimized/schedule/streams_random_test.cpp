// Streams on random programs: nothing races, no wait is idle, no order changes a bit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/schedule/streams_test.h"

namespace graphgate::optimized {
namespace {

// --- Any program --------------------------------------------------------------------------------

// Pointwise ops, updates in place, views of halves, and copies between views that overlap (these
// have a workspace), on few values, so that bytes are contended. `neg` ends partitions.
std::string any_program() {
  std::vector<std::string> values = {"x"};
  std::vector<std::string> halves;
  std::string text = "program \"any\" {\n  input %x : f32[8]\n";
  const auto one_of = [](const std::vector<std::string>& names) {
    const auto back = *rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(names.size(), 6));
    return "%" + names[names.size() - 1 - back];
  };
  const auto count = *rc::gen::inRange(4, 28);
  for (int i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    text += "  %" + name + " = aten.";
    const int kind = *rc::gen::inRange(0, 12);
    const std::string a = one_of(values);
    const std::string b = one_of(values);
    if (kind < 4) {
      text += "add.Tensor(" + a + ", " + b + ")\n";
    } else if (kind < 6) {
      text += "mul.Tensor(" + a + ", 0.5)\n";
    } else if (kind == 6) {
      text += "neg.default(" + a + ")\n";
    } else if (kind == 7) {
      text += "add_.Tensor(" + a + ", 1.0)\n";
    } else if (kind < 10 || halves.size() < 2) {
      const int begin = *rc::gen::element(0, 2, 4);
      text += "slice.Tensor(" + a + ", 0, " + std::to_string(begin) + ", " +
              std::to_string(begin + 4) + ")\n";
      halves.push_back(name);
      continue;
    } else {
      const std::string from = one_of(halves);
      const std::string to = one_of(halves);
      text += (kind == 10 ? "copy_.default(" : "mul_.Tensor(") + to + ", " + from + ")\n";
      continue;
    }
    values.push_back(name);
  }
  return text + "  output %" + values.back() + "\n  output " + one_of(values) + "\n}\n";
}

CompileOptions any_options() {
  CompileOptions options = on_streams(*rc::gen::inRange<std::uint32_t>(2, 5));
  options.memory.strategy =
      *rc::gen::element(MemoryStrategy::kPack, MemoryStrategy::kLines, MemoryStrategy::kPools);
  options.memory.in_place = *rc::gen::arbitrary<bool>();
  options.compiler.name = *rc::gen::element<std::string>("eager", "fused");
  return options;
}

RC_GTEST_PROP(Streams, OrderAllThatTouchOneByte, ()) {
  const std::string text = any_program();
  const Plan plan = good_plan_of(program_of(text), eight(), any_options());
  RC_LOG() << text << streams_of(plan);
  RC_ASSERT(races_of(plan) == std::vector<std::string>{});
}

RC_GTEST_PROP(Streams, HaveNoWaitThatOthersImply, ()) {
  const std::string text = any_program();
  const Plan plan = good_plan_of(program_of(text), eight(), on_streams(3));
  const Order before = happens_before(plan);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (std::size_t w = 0; w < plan.steps[s].waits.size(); ++w) {
      Plan without = plan;
      without.steps[s].waits.erase(without.steps[s].waits.begin() + static_cast<std::ptrdiff_t>(w));
      RC_ASSERT(happens_before(without) != before);
    }
  }
}

RC_GTEST_PROP(Streams, ChangeNoBitUnderAnyOrder, ()) {
  const spec::Program program = program_of(any_program());
  const CompileOptions options = any_options();
  RC_ASSERT(seeds_that_differ(program, options, eight()) == 0);
}

}  // namespace
}  // namespace graphgate::optimized
