// Judging large calls by tiles: the oracle knows of rows what it knows of them in whole tensors,
// and judges say the same.
#include <cmath>
#include <random>

#include "base/result_test.h"
#include "conformance/bounds/tiles.h"
#include "conformance/judges/judge.h"
#include "spec/graph_text.h"
#include "tools/executors/executor_sources.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

using conformance::EstimatedCall;
using conformance::JudgeOptions;
using conformance::RowCut;
using conformance::Runs;
using conformance::Script;
using conformance::TileOptions;

spec::Program program_of(const std::string& text) {
  return must(spec::parse_program(text, spec::builtin_op_table()));
}

Script script_of(const std::string& text, std::uint64_t seed) {
  const auto ops = std::make_shared<const spec::OpTable>(spec::builtin_op_table());
  return must(conformance::script_of(std::make_shared<const spec::Program>(program_of(text)), {}, 1,
                                     seed, ops));
}

// A chain of ops that keep rows apart, drawn by a seed. Values are [rows, 6].
std::string drawn_chain(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> dtypes = {"f32", "bf16", "f64", "f16"};
  const std::string dtype = dtypes[random() % dtypes.size()];
  const std::vector<std::string> steps = {
      "aten.relu.default($)",
      "aten.exp.default($)",
      "aten.tanh.default($)",
      "aten.add.Tensor($, %y)",
      "aten.mul.Tensor($, %y)",
      "aten.div.Tensor($, %w)",
      "aten.add.Tensor($, 1.0)",
      "aten.sub.Tensor(%row, $)",
      "aten.where.self(%mask, $, %y)",
      "aten._softmax.default($, -1, False)",
      "aten.cumsum.default($, 1)",
      "aten.mm.default($, %m)",
      "aten.addmm.default(%w, $, %m)",
      "aten.linear.default($, %m, %w)",
      "aten.layer_norm.default($, [6], %w)",
      "aten.clone.default($)",
      "aten.gather.default($, 1, %index)",
      "aten.maximum.default($, %y)",
  };
  std::string text =
      "program \"drawn\" {\n  parameter %w \"w\" : " + dtype +
      "[6] = [1.0, 0.5, -2.0, 3.0, 0.25, -1.5]\n  parameter %row \"row\" : " + dtype +
      "[1, 6] = [0.5, 0.125, 1.0, -3.0, 2.0, -0.75]\n  parameter %m \"m\" : " + dtype +
      "[6, 6] = [";
  for (int i = 0; i < 36; ++i) text += (i > 0 ? ", " : "") + std::to_string(i % 7) + ".5";
  text += "]\n  input %x : " + dtype + "[29, 6]\n  input %y : " + dtype +
          "[29, 6]\n  input %mask : bool[29, 6]\n  %zeros : " + dtype +
          "[29, 6] = aten.mul.Tensor(%x, 0.0)\n  %index : i64[29, 6] = "
          "aten._to_copy.default(%mask, dtype=i64)\n";
  std::string last = "%x";
  const std::size_t count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    std::string step = steps[random() % steps.size()];
    step.replace(step.find('$'), 1, last);
    last = "%v" + std::to_string(i);
    text += "  " + last + " : " + dtype + "[29, 6] = " + step + "\n";
  }
  text += "  %s = aten.sum.dim_IntList(" + last + ", [1], True)\n";
  text += "  %a = aten.amax.default(" + last + ", [-1])\n";
  return text + "  output " + last + "\n  output %s\n  output %a\n}";
}

class DrawnChain : public testing::TestWithParam<std::uint64_t> {};

bool same_number(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Whatever the mode, of every element.
TEST_P(DrawnChain, IsKnownByRowsAsItIsKnownAsAWhole) {
  const Script script = script_of(drawn_chain(GetParam()), GetParam());
  const auto& inputs = std::get<conformance::ScriptCall>(script.steps.front()).inputs;
  const spec::Program& program = *script.programs.front();
  const RowCut cut = must(conformance::find_row_cut(program, *script.ops, inputs));
  ASSERT_EQ(cut.rows, 29);
  const auto source = tools::reference_source(false);
  for (const char* mode : {"sampled", "worst-case", "eager"}) {
    const auto executor = must(source->make({{"mode", mode}}, *script.ops));
    const CallResult whole = must(must(executor->load(program))->call(inputs));
    for (const auto& [first, count] :
         {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, 17}, {19, 10}}) {
      const spec::Program part = conformance::program_of_rows(program, cut, count);
      std::vector<spec::InputValue> rows = inputs;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (cut.inputs[i]) {
          rows[i] = conformance::rows_of(std::get<HostTensor>(inputs[i]), first, count);
        }
      }
      const CallResult known = must(must(executor->load(part))->call(rows));
      for (std::size_t o = 0; o < known.outputs.size(); ++o) {
        const auto& actual = std::get<HostTensor>(known.outputs[o]);
        const HostTensor expected =
            conformance::rows_of(std::get<HostTensor>(whole.outputs[o]), first, count);
        EXPECT_EQ(spec::packed_bytes(actual), spec::packed_bytes(expected));
        const spec::Spread& spread = known.output_spreads[o];
        const spec::Spread& of_whole = whole.output_spreads[o];
        const std::size_t row = of_whole.values.size() / 29;
        for (std::size_t i = 0; i < spread.values.size(); ++i) {
          const std::size_t k = static_cast<std::size_t>(first) * row + i;
          ASSERT_TRUE(same_number(spread.values[i], of_whole.values[k])) << mode << " " << o;
          ASSERT_TRUE(same_number(spread.radii[i], of_whole.radii[k])) << mode << " " << o;
        }
      }
    }
  }
}

// An element of the last output that is off by so much of it; nothing where it is 0.
void plant(conformance::Trace& trace, float factor) {
  auto& output = std::get<HostTensor>(trace.calls.front().result.outputs.front());
  output.storage = std::make_shared<spec::HostStorage>(*output.storage);
  if (output.dtype != spec::DType::kFloat32) return;
  float value = 0;
  std::byte* at = output.storage->bytes.data() + std::size_t{4} * 20 * 6;
  std::memcpy(&value, at, 4);
  value *= factor;
  std::memcpy(at, &value, 4);
}

TEST_P(DrawnChain, IsJudgedByTilesAsAWhole) {
  const Script script = script_of(drawn_chain(GetParam()), GetParam());
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  for (const float factor : {1.0F, 1.0625F}) {
    Runs made(script, *subject, *oracle);
    conformance::Trace trace = *must(made.subject());
    ASSERT_FALSE(trace.error) << trace.error->message;
    if (factor != 1.0F) plant(trace, factor);
    Runs runs(script, *subject, *oracle);
    runs.provide(trace);
    conformance::ExpectedCall expected;
    expected.inputs = trace.calls.front().inputs;
    for (const bool outputs : {true, false}) {
      JudgeOptions options;
      options.outputs = outputs;
      const auto whole = must(judge_by_estimate(runs, trace, 0, expected, options));
      const auto tiled = conformance::judge_by_tiles(runs, trace, 0, expected, options,
                                                     TileOptions{.elements = 64, .jobs = 2});
      if (whole.call.has_blind_tensor && !tiled.ok()) continue;
      if (!tiled.ok() &&
          tiled.error().message.find("knows nothing of a part") != std::string::npos) {
        continue;  // some rows are open, not all
      }
      ASSERT_TRUE(tiled.ok()) << tiled.error().message;
      const EstimatedCall& parts = tiled.value().judged;
      EXPECT_EQ(parts.call.elements, whole.call.elements);
      EXPECT_EQ(parts.call.undecided, whole.call.undecided);
      EXPECT_EQ(parts.call.worst_ratio, whole.call.worst_ratio);
      EXPECT_EQ(parts.call.worst_error, whole.call.worst_error);
      EXPECT_EQ(parts.call.worst_allowed, whole.call.worst_allowed);
      ASSERT_EQ(parts.call.differences.size(), whole.call.differences.size());
      for (std::size_t i = 0; i < whole.call.differences.size(); ++i) {
        EXPECT_EQ(parts.call.differences[i].where, whole.call.differences[i].where);
        EXPECT_EQ(parts.call.differences[i].kind, whole.call.differences[i].kind);
        EXPECT_EQ(parts.is_proved[i], whole.is_proved[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnChain, testing::Range<std::uint64_t>(1, 41));

std::string why_whole(const std::string& body) {
  const spec::Program program =
      program_of("program \"p\" {\n  input %x : f32[8, 4]\n  input %w : f32[4, 4]\n" + body + "}");
  std::vector<spec::InputValue> inputs;
  inputs.emplace_back(spec::make_host_tensor(spec::DType::kFloat32, {8, 4}));
  inputs.emplace_back(spec::make_host_tensor(spec::DType::kFloat32, {4, 4}));
  const auto cut = conformance::find_row_cut(program, spec::builtin_op_table(), inputs);
  return cut.ok() ? "" : cut.error().message;
}

TEST(RowCut, TellsWhatTakesRowsTogether) {
  EXPECT_EQ(why_whole("  %y = aten.mm.default(%x, %w)\n  output %y\n"), "");
  EXPECT_EQ(why_whole("  %y = aten.sum.dim_IntList(%x, [0])\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.sum.dim_IntList)");
  EXPECT_EQ(why_whole("  %y = aten._softmax.default(%x, 0, False)\n  output %y\n"),
            "rows depend on each other: node 'y' (aten._softmax.default)");
  EXPECT_EQ(why_whole("  %y = aten.relu_.default(%x)\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.relu_.default)");
  EXPECT_EQ(why_whole("  %y = aten.transpose.int(%x, 0, 1)\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.transpose.int)");
  EXPECT_EQ(why_whole("  %y = aten.relu.default(%w)\n  output %y\n"),
            "rows depend on each other: an output is no tensor that has the rows");
}

}  // namespace
}  // namespace graphgate
