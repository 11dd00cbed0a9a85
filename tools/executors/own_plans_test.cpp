#include "tools/executors/own_plans.h"

#include "base/result_test.h"
#include "conformance/judges/verified_plans.h"

namespace graphgate::tools {
namespace {

// Two steps over opaque ops; `y` is made of `a`, and so is `z`, behind it.
constexpr const char* kGraph = R"(program "g" {
  input %x : f32[4]
  %a : f32[4] = inductor.op0.default(%x) as op0
  %y : f32[4] = inductor.op1.default(%a) as op1
  %z : f32[4] = inductor.op2.default(%a, %y) as op2
  output %z
}
)";

nlohmann::json step(const std::string& name, std::vector<std::string> operands,
                    const std::string& result) {
  nlohmann::json arguments = nlohmann::json::array();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    arguments.push_back(
        {{"name", "r" + std::to_string(i)}, {"argument", {{"value", operands[i]}}}});
  }
  return {{"name", name},
          {"op", "inductor." + name + ".default"},
          {"arguments", std::move(arguments)},
          {"results", {result}}};
}

// `place_of_y`: the buffer that y gets.
nlohmann::json message_with(const std::string& place_of_y) {
  const auto buffer = [](const std::string& name, int offset) {
    return nlohmann::json{
        {"name", name}, {"pool", "arena"}, {"offset_bytes", offset}, {"size_bytes", 16}};
  };
  const auto value = [](const std::string& name, const std::string& place) {
    return nlohmann::json{
        {"name", name}, {"buffer", place}, {"type", {{"dtype", "f32"}, {"sizes", {4}}}}};
  };
  const auto pool = [](const std::string& kind, int size) {
    return nlohmann::json{{"name", kind},
                          {"kind", kind},
                          {"device", "cpu"},
                          {"size_bytes", size},
                          {"alignment_bytes", 64}};
  };
  nlohmann::json plan = {
      {"graphgate_plan", 1},
      {"name", "g"},
      {"pools", {pool("input", 64), pool("arena", 192)}},
      {"buffers",
       {{{"name", "x"}, {"pool", "input"}, {"offset_bytes", 0}, {"size_bytes", 16}},
        buffer("a", 0),
        buffer("y", 64),
        buffer("z", 128)}},
      {"values", {value("x", "x"), value("a", "a"), value("y", place_of_y), value("z", "z")}},
      {"inputs", {{{"kind", "user"}, {"target", "x"}, {"value", "x"}}}},
      {"steps", {step("op0", {"x"}, "a"), step("op1", {"a"}, "y"), step("op2", {"a", "y"}, "z")}},
      {"outputs", {{{"value", "z"}}}}};
  nlohmann::json inputs = nlohmann::json::array();
  inputs.push_back({{"buffer", "x"}, {"deallocate", false}});
  plan["blocks"] = {{{"name", "main"},
                     {"partitions",
                      {{{"captured", true},
                        {"begin_step", 0},
                        {"end_step", 3},
                        {"inputs", inputs},
                        {"outputs", {"x", "z"}}}}},
                     {"outputs", {{{"value", "z"}}}}}};
  return {{"own_plans",
           {{{"graph", kGraph},
             {"ops",
              {"inductor::op0(Tensor r0) -> Tensor ; tags=pointwise",
               "inductor::op1(Tensor r0) -> Tensor ; tags=pointwise",
               "inductor::op2(Tensor r0, Tensor r1) -> Tensor ; tags=pointwise"}},
             {"plan", plan}}}}};
}

std::vector<spec::Finding> findings_of(const nlohmann::json& message) {
  std::vector<spec::Finding> findings;
  verify_own_plans({message, "message"}, findings);
  return findings;
}

std::vector<std::string> rules_of(const nlohmann::json& message) {
  std::vector<std::string> rules;
  for (const spec::Finding& finding : findings_of(message)) rules.push_back(finding.rule);
  return rules;
}

// What the one finding says, which is that a plan is not shown.
std::string not_shown_in(const nlohmann::json& message) {
  const auto findings = findings_of(message);
  EXPECT_EQ(findings.size(), 1U);
  if (findings.empty()) return "";
  EXPECT_EQ(findings[0].rule, conformance::kNotShown);
  EXPECT_EQ(findings[0].outcome, spec::Outcome::kUnsupported);
  return findings[0].message;
}

TEST(OwnPlans, AreCountedWhereTheyAreRight) {
  EXPECT_EQ(rules_of(message_with("y")), std::vector<std::string>{conformance::kOwnPlan});
  EXPECT_TRUE(rules_of(nlohmann::json::object()).empty());
}

TEST(OwnPlans, OfABufferThatIsReusedWhileItIsNeededAreFindings) {
  EXPECT_EQ(rules_of(message_with("a")),
            (std::vector<std::string>{"V4.wrong-version", conformance::kOwnPlan}));
}

TEST(OwnPlans, ThatCannotBeReadAreNotShownAndToldWithTheirPlace) {
  nlohmann::json message = message_with("y");
  message["own_plans"][0]["plan"]["steps"][1]["results"] = {"nowhere"};
  EXPECT_TRUE(contains(not_shown_in(message), "steps[1]"));
  message = message_with("y");
  message["own_plans"][0]["graph"] = "program \"g\" {\n  input %x : f33[4]\n}\n";
  EXPECT_TRUE(contains(not_shown_in(message), "graph:2:"));
  message = message_with("y");
  message["own_plans"][0]["plan"]["inputs"] = nlohmann::json::array();
  EXPECT_TRUE(contains(not_shown_in(message), "own_plans[0].plan"));
  // A graph that reads what it has not made.
  message = message_with("y");
  message["own_plans"][0]["graph"] =
      "program \"g\" {\n  input %x : f32[4]\n  %a : f32[4] = inductor.op0.default(%late) as op0\n"
      "  output %a\n}\n";
  EXPECT_TRUE(contains(not_shown_in(message), "%late"));
  for (const char* key : {"own_plans", "not_shown"}) {
    EXPECT_TRUE(contains(not_shown_in({{key, 7}}), key));
    EXPECT_TRUE(contains(not_shown_in({{key, {7}}}), std::string(key) + "[0]"));
  }
}

TEST(OwnPlans, ThatCannotBeReadCostNoOther) {
  nlohmann::json message = message_with("a");
  message["own_plans"].insert(message["own_plans"].begin(), nlohmann::json("garbage"));
  message["not_shown"] = {"no words for it"};
  EXPECT_EQ(rules_of(message),
            (std::vector<std::string>{conformance::kNotShown, conformance::kNotShown,
                                      "V4.wrong-version", conformance::kOwnPlan}));
  EXPECT_TRUE(contains(findings_of(message)[0].message, "no words for it"));
}

}  // namespace
}  // namespace graphgate::tools
