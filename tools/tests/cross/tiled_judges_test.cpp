// Judging large calls by tiles: the oracle knows of rows what it knows of them in whole tensors,
// and judges say the same.
#include <algorithm>
#include <cmath>
#include <random>

#include "base/result_test.h"
#include "conformance/bounds/tiles.h"
#include "conformance/judges/judge.h"
#include "spec/graph_text.h"
#include "spec/spread_limit.h"
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

// The numbers of a spread of a tensor with `sizes`, at all rows, that are of some rows.
std::vector<std::size_t> numbers_of_rows(const std::vector<std::int64_t>& sizes,
                                         const conformance::RowPlace& place, std::int64_t first,
                                         std::int64_t count) {
  std::size_t inner = 1;
  const auto dim = static_cast<std::size_t>(place.dim);
  for (std::size_t d = dim + 1; d < sizes.size(); ++d) inner *= static_cast<std::size_t>(sizes[d]);
  const auto elements = static_cast<std::size_t>(spec::element_count(sizes));
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::int64_t>(i / inner) % sizes[dim];
    if (at >= place.size(first) && at < place.size(first + count)) out.push_back(i);
  }
  return out;
}

// Whatever the mode, of every element. Parts are given by their counts of granules.
void expect_known_by_rows(const Script& script, const RowCut& cut,
                          const std::vector<std::int64_t>& granules) {
  const auto& inputs = std::get<conformance::ScriptCall>(script.steps.front()).inputs;
  const spec::Program& program = *script.programs.front();
  const auto source = tools::reference_source(false);
  for (const char* mode : {"sampled", "worst-case", "eager"}) {
    const auto executor = must(source->make({{"mode", mode}}, *script.ops));
    const CallResult whole = must(must(executor->load(program))->call(inputs));
    std::int64_t first = 0;
    for (const std::int64_t granule : granules) {
      const std::int64_t count = granule * cut.granule;
      const spec::Program part = conformance::program_of_rows(program, cut, count);
      std::vector<spec::InputValue> rows = inputs;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (cut.inputs[i]) {
          rows[i] =
              conformance::rows_of(std::get<HostTensor>(inputs[i]), *cut.inputs[i], first, count);
        }
      }
      const CallResult known = must(must(executor->load(part))->call(rows));
      for (std::size_t o = 0; o < known.outputs.size(); ++o) {
        const auto& of_all = std::get<HostTensor>(whole.outputs[o]);
        EXPECT_EQ(spec::packed_bytes(std::get<HostTensor>(known.outputs[o])),
                  spec::packed_bytes(conformance::rows_of(of_all, cut.outputs[o], first, count)))
            << spec::print_program(program, *script.ops);
        const spec::Spread& spread = known.output_spreads[o];
        const spec::Spread& of_whole = whole.output_spreads[o];
        if (spread.values.empty()) continue;
        const auto numbers = numbers_of_rows(of_all.sizes, cut.outputs[o], first, count);
        ASSERT_EQ(spread.values.size(), numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          ASSERT_TRUE(same_number(spread.values[i], of_whole.values[numbers[i]]))
              << mode << " " << o << "\n"
              << spec::print_program(program, *script.ops);
          ASSERT_TRUE(same_number(spread.radii[i], of_whole.radii[numbers[i]]))
              << mode << " " << o << "\n"
              << spec::print_program(program, *script.ops);
        }
      }
      first += count;
    }
    ASSERT_EQ(first, cut.rows);
  }
}

TEST_P(DrawnChain, IsKnownByRowsAsItIsKnownAsAWhole) {
  const Script script = script_of(drawn_chain(GetParam()), GetParam());
  const auto& inputs = std::get<conformance::ScriptCall>(script.steps.front()).inputs;
  const RowCut cut = must(conformance::find_row_cut(*script.programs.front(), *script.ops, inputs));
  ASSERT_EQ(cut.rows, 29);
  expect_known_by_rows(script, cut, {2, 17, 10});
}

// An element of the last output that is off by so much of it; nothing where it is 0.
void plant(conformance::Trace& trace, float factor) {
  auto& output = std::get<HostTensor>(trace.calls.front().result.outputs.front());
  output.storage = std::make_shared<spec::HostStorage>(*output.storage);
  const std::size_t elements = output.storage->bytes.size() / sizeof(float);
  if (output.dtype != spec::DType::kFloat32 || elements == 0) return;
  float value = 0;
  std::byte* at =
      output.storage->bytes.data() + sizeof(float) * std::min<std::size_t>(20 * 6, elements / 2);
  std::memcpy(&value, at, 4);
  value *= factor;
  std::memcpy(at, &value, 4);
}

// Judges a call as a whole and by tiles of so many elements. False where it cannot be by tiles.
bool expect_judged_alike(const Script& script, std::int64_t tile_elements) {
  bool is_tiled = true;
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  for (const float factor : {1.0F, 1.0625F}) {
    Runs made(script, *subject, *oracle);
    conformance::Trace trace = *must(made.subject());
    EXPECT_FALSE(trace.error) << trace.error->message;
    if (trace.error) return false;
    if (factor != 1.0F) plant(trace, factor);
    Runs runs(script, *subject, *oracle);
    runs.provide(trace);
    conformance::ExpectedCall expected;
    expected.inputs = trace.calls.front().inputs;
    for (const bool outputs : {true, false}) {
      JudgeOptions options;
      options.outputs = outputs;
      const auto whole = must(judge_by_estimate(runs, trace, 0, expected, options));
      const auto tiled = conformance::judge_by_tiles(
          runs, trace, 0, expected, options, TileOptions{.elements = tile_elements, .jobs = 2});
      if (whole.call.has_blind_tensor && !tiled.ok()) continue;
      if (!tiled.ok() &&
          tiled.error().message.find("knows nothing of a part") != std::string::npos) {
        continue;  // some rows are open, not all
      }
      if (!tiled.ok()) {
        EXPECT_EQ(tiled.error().kind, ErrorKind::kUnsupported) << tiled.error().message;
        is_tiled = false;
        continue;
      }
      const EstimatedCall& parts = tiled.value().judged;
      EXPECT_EQ(parts.call.elements, whole.call.elements);
      EXPECT_EQ(parts.call.undecided, whole.call.undecided);
      EXPECT_EQ(parts.call.worst_ratio, whole.call.worst_ratio);
      EXPECT_EQ(parts.call.worst_error, whole.call.worst_error);
      EXPECT_EQ(parts.call.worst_allowed, whole.call.worst_allowed);
      EXPECT_EQ(parts.call.differences.size(), whole.call.differences.size());
      if (parts.call.differences.size() != whole.call.differences.size()) continue;
      for (std::size_t i = 0; i < whole.call.differences.size(); ++i) {
        EXPECT_EQ(parts.call.differences[i].where, whole.call.differences[i].where);
        EXPECT_EQ(parts.call.differences[i].kind, whole.call.differences[i].kind);
        EXPECT_EQ(parts.is_proved[i], whole.is_proved[i]);
      }
    }
  }
  return is_tiled;
}

TEST_P(DrawnChain, IsJudgedByTilesAsAWhole) {
  EXPECT_TRUE(expect_judged_alike(script_of(drawn_chain(GetParam()), GetParam()), 64));
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawnChain, testing::Range<std::uint64_t>(1, 41));

// A chain over [8, 6, 10] in which rows move to other dimensions, drawn by a seed.
class DrawnMoves {
 public:
  explicit DrawnMoves(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string body;
    const std::size_t count = 1 + random_() % 5;
    for (std::size_t i = 0; i < count; ++i) {
      const auto [op, sizes] = step();
      const std::string made = "%v" + std::to_string(i);
      body += "  " + made + " : f32" + listed(sizes) + " = " + op + "\n";
      last_ = made;
      sizes_ = sizes;
    }
    return "program \"moves\" {\n  input %x : f32[8, 6, 10]\n  input %y : f32[8, 6, 10]\n" + body +
           "  %out : f32" + listed(sizes_) + " = aten.clone.default(" + last_ +
           ", memory_format=contiguous_format)\n  output %out\n}";
  }

 private:
  using Sizes = std::vector<std::int64_t>;

  static std::string listed(const Sizes& sizes) {
    std::string text;
    for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
  }

  std::pair<std::string, Sizes> step() {
    const std::size_t rank = sizes_.size();
    const std::size_t dim = random_() % rank;
    const std::string at = std::to_string(dim);
    switch (random_() % 12) {
      case 0:
        return {"aten.tanh.default(" + last_ + ")", sizes_};
      case 1:
        if (sizes_ != Sizes{8, 6, 10}) break;
        return {"aten.mul.Tensor(" + last_ + ", %y)", sizes_};
      case 2:
        return {"aten._softmax.default(" + last_ + ", " + at + ", False)", sizes_};
      case 3:
        return {"aten.cumsum.default(" + last_ + ", " + at + ")", sizes_};
      case 4: {
        if (rank == 1) break;
        Sizes sizes = sizes_;
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
        return {"aten.sum.dim_IntList(" + last_ + ", [" + at + "])", sizes};
      }
      case 5: {
        Sizes sizes = sizes_;
        std::swap(sizes[0], sizes[dim]);
        return {"aten.transpose.int(" + last_ + ", 0, " + at + ")", sizes};
      }
      case 6:
      case 7: {  // two neighbours become one
        if (dim + 1 == rank) break;
        Sizes sizes = sizes_;
        sizes[dim] *= sizes[dim + 1];
        sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
        return {"aten.reshape.default(" + last_ + ", " + listed(sizes) + ")", sizes};
      }
      case 8:
      case 9: {  // one becomes two
        if (sizes_[dim] % 2 != 0 || sizes_[dim] == 2) break;
        Sizes sizes = sizes_;
        sizes[dim] /= 2;
        const auto to = static_cast<std::ptrdiff_t>(dim + random_() % 2);
        sizes.insert(sizes.begin() + to, 2);
        return {"aten.reshape.default(" + last_ + ", " + listed(sizes) + ")", sizes};
      }
      case 10: {
        Sizes sizes = sizes_;
        sizes[dim] *= 2;
        return {"aten.cat.default([" + last_ + ", " + last_ + "], " + at + ")", sizes};
      }
      case 11: {
        Sizes sizes = sizes_;
        sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
        return {"aten.unsqueeze.default(" + last_ + ", " + at + ")", sizes};
      }
      default:
        break;
    }
    return {"aten.exp.default(" + last_ + ")", sizes_};
  }

  std::mt19937_64 random_;
  Sizes sizes_ = {8, 6, 10};
  std::string last_ = "%x";
};

TEST(DrawnMoves, AreKnownByRowsAsTheyAreKnownAsAWhole) {
  int cut_along[] = {0, 0, 0};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Script script = script_of(DrawnMoves(seed).text(), seed);
    const auto& inputs = std::get<conformance::ScriptCall>(script.steps.front()).inputs;
    for (const std::int64_t parts : {2, 3, 5}) {
      const auto cut =
          conformance::find_row_cut(*script.programs.front(), *script.ops, inputs, parts);
      if (!cut.ok() || cut.value().parts() < 2) continue;
      ++cut_along[cut.value().inputs.front()->dim];
      const std::int64_t granules = cut.value().rows / cut.value().granule;
      expect_known_by_rows(script, cut.value(), {2, granules - 2});
    }
  }
  for (const int count : cut_along) EXPECT_GE(count, 10);
}

TEST(DrawnMoves, AreJudgedByTilesAsAWhole) {
  int tiled = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    tiled += expect_judged_alike(script_of(DrawnMoves(seed).text(), seed), 200) ? 1 : 0;
  }
  EXPECT_GE(tiled, 30);
}

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
  EXPECT_EQ(why_whole("  %y = aten.sum.default(%x)\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.sum.default)");
  EXPECT_EQ(why_whole("  %s = aten._softmax.default(%x, 0, False)\n  %y = "
                      "aten._softmax.default(%s, 1, False)\n  output %y\n"),
            "rows depend on each other: node 's' (aten._softmax.default)");
  EXPECT_EQ(why_whole("  %y = aten.relu_.default(%x)\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.relu_.default)");
  EXPECT_EQ(why_whole("  %y = aten.view.default(%x, [4, 8])\n  output %y\n"),
            "rows depend on each other: node 'y' (aten.view.default)");
  EXPECT_EQ(why_whole("  %y = aten.mm.default(%w, %w)\n  output %y\n"),
            "rows depend on each other: an output is no tensor that has the rows");
}

TEST(RowCut, TakesTheFirstDimensionThatGivesTheParts) {
  const auto dim_of = [](const std::string& body, std::int64_t parts) {
    const spec::Program program =
        program_of("program \"p\" {\n  input %x : f32[8, 40]\n" + body + "  output %y\n}");
    std::vector<spec::InputValue> inputs;
    inputs.emplace_back(spec::make_host_tensor(spec::DType::kFloat32, {8, 40}));
    const auto cut =
        must(conformance::find_row_cut(program, spec::builtin_op_table(), inputs, parts));
    return cut.inputs.front()->dim;
  };
  EXPECT_EQ(dim_of("  %y = aten.relu.default(%x)\n", 4), 0);
  EXPECT_EQ(dim_of("  %y = aten.relu.default(%x)\n", 5), 1);
  EXPECT_EQ(dim_of("  %y = aten.relu.default(%x)\n", 1000), 1);
  EXPECT_EQ(dim_of("  %y = aten.sum.dim_IntList(%x, [0])\n", 2), 1);
  EXPECT_EQ(dim_of("  %y = aten.sum.dim_IntList(%x, [1])\n", 1000), 0);
}

// What tiles came to is taken over where all bits are the same, and only there: one bit of an
// output, or of an input that was left, is judged.
TEST(PassedTiles, AreThoseOfTheSameBitsAlone) {
  const Script script = script_of(drawn_chain(3), 3);
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  Runs made(script, *subject, *oracle);
  const conformance::Trace right = *must(made.subject());
  ASSERT_FALSE(right.error);
  const auto judged = [&](const conformance::Trace& trace, const TileOptions& tiles) {
    Runs runs(script, *subject, *oracle);
    runs.provide(trace);
    conformance::ExpectedCall expected;
    expected.inputs = trace.calls.front().inputs;
    return must(conformance::judge_by_tiles(runs, trace, 0, expected, JudgeOptions{}, tiles))
        .judged;
  };
  const TileOptions alone{.elements = 64, .jobs = 2};
  TileOptions shared = alone;
  shared.passed = conformance::no_passed_tiles();
  const EstimatedCall first = judged(right, shared);
  const EstimatedCall again = judged(right, shared);
  EXPECT_TRUE(first.call.differences.empty());
  EXPECT_TRUE(again.call.differences.empty());
  EXPECT_EQ(again.call.elements, first.call.elements);
  EXPECT_EQ(again.call.worst_ratio, first.call.worst_ratio);
  // Bytes at the end of the first output, and of the first input as it is left.
  for (const bool is_input : {false, true}) {
    conformance::Trace wrong = right;
    auto& result = wrong.calls.front().result;
    HostTensor& tensor = is_input ? std::get<HostTensor>(result.final_inputs.front())
                                  : std::get<HostTensor>(result.outputs.front());
    tensor.storage = std::make_shared<spec::HostStorage>(*tensor.storage);
    tensor.storage->bytes.back() ^= std::byte{0x11};
    const EstimatedCall found = judged(wrong, shared);
    EXPECT_FALSE(found.call.differences.empty()) << is_input;
    EXPECT_EQ(found.call.differences.size(), judged(wrong, alone).call.differences.size());
  }
}

// A sum of all elements is judged as a whole. What the oracle leaves out of its large input is
// looked at all the same.
TEST(LargeInputs, ThatAChangeIsSeenInThoughTheOracleSaysNothingOfThem) {
  const std::string count = std::to_string(2 * spec::kMostSpreadElements);
  const Script script = script_of("program \"sum\" {\n  input %x : u8[" + count +
                                      "]\n  %a : i64[] = aten.sum.default(%x)\n  output %a\n}",
                                  1);
  const auto subject = tools::optimized_source();
  const auto oracle = tools::reference_source(false);
  Runs made(script, *subject, *oracle);
  conformance::Trace trace = *must(made.subject());
  ASSERT_FALSE(trace.error);
  for (const bool is_changed : {false, true}) {
    if (is_changed) {
      auto& input = std::get<HostTensor>(trace.calls.front().result.final_inputs.front());
      input.storage = std::make_shared<spec::HostStorage>(*input.storage);
      input.storage->bytes[spec::kMostSpreadElements] ^= std::byte{1};
    }
    Runs runs(script, *subject, *oracle);
    runs.provide(trace);
    ASSERT_TRUE(must(runs.oracle("sampled"))
                    ->calls.front()
                    .result.final_input_spreads.front()
                    .values.empty());
    conformance::ExpectedCall expected;
    expected.inputs = trace.calls.front().inputs;
    const EstimatedCall judged = must(judge_by_estimate(runs, trace, 0, expected, JudgeOptions{}));
    EXPECT_EQ(judged.call.elements, 2 * spec::kMostSpreadElements + 1);
    ASSERT_EQ(judged.call.differences.size(), is_changed ? 1U : 0U);
    if (is_changed) {
      EXPECT_EQ(judged.call.differences.front().where, "final input 0");
    }
  }
}

}  // namespace
}  // namespace graphgate
