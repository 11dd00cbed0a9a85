#include "tools/gate/gate_results.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

GateSide a_side() {
  GateSide side;
  side.name = "torch-2.9.0";
  side.cases["clean"] = {};
  GateCase failing;
  failing.outcome = spec::Outcome::kFail;
  failing.reason = "V3.overlap: two at once";
  failing.findings = {{"verifier V3.overlap [mm, pointwise] {}", "two at once"}};
  failing.is_flaky = true;
  failing.plans = {{{"peak", 512}, {"steps", 3}}, {}};
  side.cases["failing"] = failing;
  return side;
}

std::string message_for(const std::string& text) {
  return message_of(read_gate_side(text, "side.json"));
}

TEST(GateSide, ComesBackAsItWasWritten) {
  const GateSide side = a_side();
  const auto read = must(read_gate_side(json_of(side).dump(), "side.json"));
  EXPECT_EQ(read.name, side.name);
  ASSERT_EQ(read.cases.size(), side.cases.size());
  // Numbers of a plan come back in the order of their names, which these have.
  EXPECT_EQ(read.cases.at("failing"), side.cases.at("failing"));
  EXPECT_EQ(read.cases.at("clean"), side.cases.at("clean"));
}

TEST(GateSide, KeepsNoTimes) {
  GateSide side = a_side();
  const std::string text = json_of(side).dump();
  side.cases["clean"].seconds = 3;
  side.cases["clean"].answer_seconds = {1, 2};
  EXPECT_EQ(json_of(side).dump(), text);
  const auto timed = json_of(side.cases["clean"], Times::kToo);
  EXPECT_EQ(timed["seconds"], 3);
  EXPECT_EQ(timed["answer_seconds"], (std::vector<double>{1, 2}));
}

TEST(GateSide, KeepsWhatACommandCalledItself) {
  GateSide side = a_side();
  EXPECT_EQ(side.title(), "torch-2.9.0");
  side.name = "new";
  side.identity = "optimized 0.1.0";
  const auto read = must(read_gate_side(json_of(side).dump(), "side.json"));
  EXPECT_EQ(read.title(), "new (optimized 0.1.0)");
}

TEST(GateSide, IsRefusedWithThePlaceOfTheFault) {
  EXPECT_EQ(message_for("{").find("side.json: line 1, column 2: "), 0U) << message_for("{");
  EXPECT_EQ(message_for(std::string(1'000'000, '[')), "side.json: nested deeper than 256 levels");
  EXPECT_EQ(message_for("{}"), "side.json: has no \"graphgate_gate_side\"");
  auto json = json_of(a_side());
  json["graphgate_gate_side"] = 2;
  EXPECT_EQ(message_for(json.dump()),
            "side.json: graphgate_gate_side: version 2 is not known, only 1");
  json = json_of(a_side());
  json["cases"]["failing"]["findings"][0]["signature"] = "overlap";
  EXPECT_EQ(message_for(json.dump()).find("side.json: cases.failing.findings[0]: expected a"), 0U)
      << message_for(json.dump());
  json = json_of(a_side());
  json["cases"]["failing"]["outcome"] = "GREEN";
  EXPECT_EQ(message_for(json.dump()),
            "side.json: cases.failing.outcome: expected an outcome, found \"GREEN\"");
}

}  // namespace
}  // namespace graphgate::tools
