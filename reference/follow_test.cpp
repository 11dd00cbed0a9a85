// Oracle runs along another executor's choices.
#include "reference/follow.h"

#include "reference/program_test.h"
#include "spec/follow.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using test::floats;
using test::Loaded;
using test::output;

// A program whose node `name` is followed along its input %choice (or, without one, along its own
// choice), for its result `result`. Its outputs, and the count of that result behind them.
spec::Program followed(std::string_view text, std::string_view name, std::size_t result = 0) {
  spec::Program program = test::program(text);
  spec::Graph& graph = program.graph;
  const auto at = std::ranges::find(graph.nodes, name, &spec::Node::name);
  const auto choice = std::ranges::find(program.inputs, "choice", &spec::ProgramInput::target);
  spec::Node follow{"follow", std::string(spec::kFollow), at->arguments, at->results};
  spec::Argument::List results;
  spec::Argument::List choices(at->results.size(), {spec::None{}});
  for (const spec::NodeResult& each : at->results) results.push_back({each.values[0]});
  if (choice != program.inputs.end()) choices[result] = {choice->value};
  follow.arguments.push_back({std::string(spec::kFollowedOp), {spec::OpName{at->op}}});
  follow.arguments.push_back({std::string(spec::kFollowedResults), {std::move(results)}});
  follow.arguments.push_back({std::string(spec::kFollowedChoices), {std::move(choices)}});
  for (std::size_t i = 0; i < at->results.size(); ++i) {
    spec::Value count;
    count.name = "count" + std::to_string(i);
    count.kind = spec::ValueKind::kSymInt;
    graph.values.push_back(count);
    const spec::ValueId id{static_cast<std::uint32_t>(graph.values.size() - 1)};
    follow.results.push_back({false, {id}});
    if (i != result) continue;
    graph.outputs.push_back({id});
    program.outputs.push_back({spec::OutputKind::kUserOutput, ""});
  }
  graph.nodes.insert(at + 1, std::move(follow));
  return program;
}

spec::HostTensor integers(const std::vector<std::int64_t>& values) {
  return spec::host_tensor(DType::kInt64, {std::ssize(values)}, values);
}
spec::HostTensor booleans(const std::vector<std::uint8_t>& values) {
  return spec::host_tensor(DType::kBool, {std::ssize(values)}, values);
}

Options worst_case() {
  Options options;
  options.mode = Mode::kWorstCase;
  return options;
}

struct Told {
  std::vector<long double> values;
  std::vector<double> radii;
  std::int64_t count = 0;
};

// What an oracle says of output 0, and how many elements were open.
Told told(const spec::Program& program, const test::Inputs& inputs, Mode mode = Mode::kWorstCase,
          std::optional<Trial> trial = {}) {
  Options options;
  options.mode = mode;
  options.trial = trial;
  Loaded loaded(program, options);
  const spec::CallResult result = loaded.call(inputs);
  return {result.output_spreads[0].values, result.output_spreads[0].radii,
          std::get<std::int64_t>(result.outputs.back())};
}

using Values = std::vector<long double>;
using Radii = std::vector<double>;

// 0.1 * 3 * 10 is as near to 3 as not; 1 * 3 * 10 is 30.
constexpr const char* kCompares = R"(program "p" {
  input %x : f32[3]
  input %choice : bool[3]
  %n = aten.mul.Tensor(%x, 3.0)
  %m = aten.mul.Tensor(%n, 10.0)
  %c = aten.ge.Scalar(%m, 3.0) as chooses
  output %c
})";

TEST(Follow, TakesABooleanWhereRoundingDecides) {
  const spec::Program program = followed(kCompares, "chooses");
  for (const std::uint8_t choice : std::vector<std::uint8_t>{0, 1}) {
    const Told what = told(program, {floats({3}, {0.1F, 1, -1}), booleans({choice, 1, 0})});
    EXPECT_EQ(what.values, (Values{static_cast<long double>(choice), 1, 0}));
    EXPECT_EQ(what.radii, (Radii{0, 0, 0}));
    EXPECT_EQ(what.count, 1);
  }
}

TEST(Follow, KeepsWhatIsDecided) {
  const spec::Program program = followed(kCompares, "chooses");
  const Told what = told(program, {floats({3}, {0.1F, 1, -1}), booleans({0, 0, 1})});
  EXPECT_EQ(what.values, (Values{0, 1, 0})) << "the other executor's differ from it";
}

TEST(Follow, TakesEveryChoiceInATrial) {
  const spec::Program program = followed(kCompares, "chooses");
  const Told what = told(program, {floats({3}, {0.1F, 1, -1}), booleans({0, 0, 1})}, Mode::kSampled,
                         Trial{.number = 3});
  EXPECT_EQ(what.values, (Values{0, 0, 1}));
}

// What nobody has written is no tie.
TEST(Follow, LeavesOpenWhatIsMadeOfWhatIsOpen) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[2]
  input %choice : bool[2]
  %n = aten.new_empty.default(%x, [2])
  %c = aten.ge.Scalar(%n, 3.0) as chooses
  output %c
})",
                                         "chooses");
  const Told what = told(program, {floats({2}, {1, 2}), booleans({1, 0})});
  EXPECT_TRUE(std::isinf(what.radii[0]));
  EXPECT_EQ(what.count, 0);
}

// Elements 0 and 2 are alike, element 1 is above both, 3 below.
constexpr const char* kTop = R"(program "p" {
  input %x : f32[4]
  input %choice : i64[2]
  %n = aten.mul.Tensor(%x, 3.0)
  %v, %c = aten.topk.default(%n, 2) as chooses
  output %c
})";

TEST(Follow, TakesAnOrderThatErrorsExplain) {
  const spec::Program program = followed(kTop, "chooses", 1);
  const auto chosen = [&](const std::vector<std::int64_t>& choice) {
    const Told what = told(program, {floats({4}, {0.1F, 0.7F, 0.1F, -0.3F}), integers(choice)});
    EXPECT_EQ(what.radii, (Radii{0, 0}));
    return what.values;
  };
  const Values own = chosen({1, 3});
  EXPECT_EQ(chosen({1, 0}), (Values{1, 0}));
  EXPECT_EQ(chosen({1, 2}), (Values{1, 2}));
  EXPECT_EQ(chosen({0, 1}), own) << "the order of these is certain";
  EXPECT_EQ(chosen({1, 1}), own) << "twice the same";
  EXPECT_EQ(chosen({1, 7}), own) << "there is none";
  EXPECT_EQ(chosen({0, 2}), own) << "what is certainly the largest is missing";
}

TEST(Follow, HasValuesFromWhereTheIndicesSay) {
  spec::Program program = followed(kTop, "chooses", 1);
  program.graph.outputs[0] = {program.graph.nodes[1].results[0].values[0]};
  // Of twice the error: 0.7 may round otherwise than 0.1.
  const Told what = told(program, {floats({4}, {0.1F, 0.7F, 0.1F, -0.3F}), integers({1, 2})});
  EXPECT_EQ(what.values[1], 3 * static_cast<long double>(0.1F));
  EXPECT_LT(what.radii[1], 1e-7);
}

// CUDA's sort leaves open which of equal numbers comes first, of integers, too: the experts that a
// router sends tokens to.
TEST(Follow, TakesAnOrderOfEqualIntegers) {
  const spec::Program program = followed(R"(program "p" {
  input %x : i64[4]
  input %choice : i64[4]
  %v : i64[4], %i : i64[4] = aten.sort.default(%x) as chooses
  output %i
})",
                                         "chooses", 1);
  Options options;
  options.mode = Mode::kWorstCase;
  options.arithmetic.has_cuda_kernels = true;
  const auto order = [&](const std::vector<std::int64_t>& choice) {
    Loaded loaded(program, options);
    const spec::CallResult result = loaded.call({integers({2, 1, 2, 1}), integers(choice)});
    EXPECT_EQ(std::get<std::int64_t>(result.outputs.back()), 4);
    EXPECT_EQ(result.output_spreads[0].radii, (Radii{0, 0, 0, 0}));
    return result.output_spreads[0].values;
  };
  EXPECT_EQ(order({3, 1, 2, 0}), (Values{3, 1, 2, 0}));
  EXPECT_EQ(order({1, 3, 0, 2}), (Values{1, 3, 0, 2}));
  EXPECT_EQ(order({0, 1, 2, 3}), (Values{1, 3, 0, 2})) << "that is no order";
  EXPECT_EQ(order({1, 1, 0, 2}), (Values{1, 3, 0, 2})) << "a place comes twice";
}

TEST(Follow, TakesEachOrderOfItsKind) {
  struct Case {
    const char* op;
    std::size_t result;
    std::vector<std::int64_t> taken;
    std::vector<std::int64_t> refused;
  };
  // Elements 0 and 2 of 0.3, -0.9, 0.3, 1.2 are alike.
  const std::vector<Case> cases = {
      {"%v, %c = aten.sort.default(%n)", 1, {1, 2, 0, 3}, {1, 2, 3, 0}},
      {"%v, %c = aten.sort.default(%n, -1, True)", 1, {3, 2, 0, 1}, {2, 3, 0, 1}},
      {"%c = aten.argsort.default(%n)", 0, {1, 2, 0, 3}, {2, 1, 0, 3}},
      {"%v, %c = aten.topk.default(%n, 2, -1, True, False)", 1, {2, 3}, {1, 3}},
      {"%v, %c = aten.topk.default(%n, 2, -1, False)", 1, {1, 2}, {2, 1}},
      {"%v, %c = aten.kthvalue.default(%n, 3, -1, True)", 1, {2}, {3}},
      {"%v, %c = aten.median.dim(%n, 0, True)", 1, {2}, {1}},
      {"%v, %c = aten.cummin.default(%n, 0)", 1, {0, 1, 1, 1}, {0, 0, 1, 1}},
  };
  for (const Case& each : cases) {
    const std::string text = "program \"p\" {\n  input %x : f32[4]\n  input %choice : i64[" +
                             std::to_string(each.taken.size()) +
                             "]\n  %n = aten.mul.Tensor(%x, 3.0)\n  " + each.op +
                             " as chooses\n  output %c\n}";
    const spec::Program program = followed(text, "chooses", each.result);
    const auto chosen = [&](const std::vector<std::int64_t>& choice) {
      return told(program, {floats({4}, {0.1F, -0.3F, 0.1F, 0.4F}), integers(choice)}).values;
    };
    const auto as_values = [](const std::vector<std::int64_t>& list) {
      return Values(list.begin(), list.end());
    };
    EXPECT_EQ(chosen(each.taken), as_values(each.taken)) << each.op;
    EXPECT_NE(chosen(each.refused), as_values(each.refused)) << each.op;
  }
}

TEST(Follow, TakesTheFirstOfEqualsThatAreExact) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[3]
  input %y : f32[1]
  input %choice : i64[1]
  %n = aten.mul.Tensor(%y, 3.0)
  %a = aten.cat.default([%x, %n])
  %c = aten.argmax.default(%a, 0, True) as chooses
  output %c
})",
                                         "chooses");
  const auto chosen = [&](std::int64_t choice) {
    return told(program,
                {floats({3}, {3 * 0.1F, 0, 3 * 0.1F}), floats({1}, {0.1F}), integers({choice})})
        .values[0];
  };
  EXPECT_EQ(chosen(3), 3);
  EXPECT_EQ(chosen(0), 0);
  EXPECT_NE(chosen(2), 2) << "of equal elements the first counts";
}

TEST(Follow, TakesIntegersBetweenTheEndsOfAnError) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[2]
  input %choice : i64[2]
  %n = aten.mul.Tensor(%x, 3.0)
  %m = aten.mul.Tensor(%n, 10.0)
  %c = aten._to_copy.default(%m, dtype=i64) as chooses
  output %c
})",
                                         "chooses");
  const auto chosen = [&](std::int64_t choice) {
    const Told what = told(program, {floats({2}, {0.1F, 1}), integers({choice, 30})});
    EXPECT_EQ(what.count, 1);
    return what.values[0];
  };
  EXPECT_EQ(chosen(2), 2);
  EXPECT_EQ(chosen(3), 3);
  EXPECT_EQ(chosen(4), chosen(1)) << "the run's own";
}

TEST(Follow, TakesWholeNumbersThatFloatsAreCutTo) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[1]
  input %choice : f32[1]
  %n = aten.mul.Tensor(%x, 3.0)
  %m = aten.mul.Tensor(%n, 10.0)
  %c = aten.floor.default(%m) as chooses
  output %c
})",
                                         "chooses");
  const auto radius = [&](float choice) {
    return told(program, {floats({1}, {0.1F}), floats({1}, {choice})}).radii[0];
  };
  EXPECT_EQ(radius(2), 0);
  EXPECT_EQ(radius(3), 0);
  EXPECT_GT(radius(2.5), 0) << "no whole number";
  EXPECT_GT(radius(4), 0);
}

// 0.1 * 3 - 0.3 is zero within its error, of which the root of 0.01 is far.
TEST(Follow, TakesAQuotientThatNothingBounds) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[2]
  input %choice : f32[2]
  %n = aten.mul.Tensor(%x, 3.0)
  %m = aten.sub.Tensor(%n, 0.3)
  %c = aten.rsqrt.default(%m) as chooses
  output %c
})",
                                         "chooses");
  const auto told_of = [&](float choice) {
    return told(program, {floats({2}, {0.1F, 0.2F}), floats({2}, {choice, 1.8257418F})});
  };
  EXPECT_EQ(told_of(1e6F).values[0], 1e6F);
  EXPECT_EQ(told_of(1e6F).radii[0], 0);
  EXPECT_EQ(told_of(1e6F).count, 1);
  EXPECT_GT(told_of(1e6F).radii[1], 0) << "this has a bound";
  EXPECT_TRUE(std::isinf(told_of(2).radii[0])) << "errors do not bring it so near to zero";
  EXPECT_TRUE(std::isinf(told_of(-1e6F).radii[0]));
}

TEST(Follow, TakesANumberWithinItsError) {
  const spec::Program program = followed(R"(program "p" {
  input %x : f32[1]
  input %choice : symfloat
  %n = aten.mul.Tensor(%x, 3.0)
  %c : symfloat = aten._local_scalar_dense.default(%n) as chooses
  %y = aten.mul.Scalar(%x, %c)
  output %c
})",
                                         "chooses");
  const auto chosen = [&](double choice) {
    Loaded loaded(program, worst_case());
    return std::get<double>(loaded.call({floats({1}, {0.1F}), choice}).outputs[0]);
  };
  EXPECT_EQ(chosen(0.3F), 0.3F);
  EXPECT_NE(chosen(0.31), 0.31);
}

TEST(Follow, RefusesWhatIsNoneOfItsArguments) {
  spec::Program program = followed(kCompares, "chooses");
  program.graph.nodes.back().arguments.pop_back();
  Loaded loaded(program, worst_case());
  EXPECT_TRUE(contains(loaded.failure({floats({3}, {1, 2, 3}), booleans({0, 0, 0})}).message,
                       "follow expects '_choices'"));
}

}  // namespace
}  // namespace graphgate::reference
