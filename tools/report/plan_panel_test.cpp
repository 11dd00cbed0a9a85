#include "tools/report/plan_panel.h"

#include <limits>

#include "base/result_test.h"
#include "spec/plan_text.h"
#include "tools/report/json.h"
#include "tools/report/plan_dot.h"
#include "tools/report/plan_edges.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

const spec::OpTable& ops() {
  static const spec::OpTable kOps = must(load_op_table({}));
  return kOps;
}

spec::Plan plan() {
  // Steps 0 and 1 are captured, 2 is not; $a and $c take the same bytes.
  return must(spec::parse_plan(R"(plan "three" strict {
  pool @input input on cpu 256 align 64
  pool @arena arena on cpu 128 align 64
  buffer $x @input [0, 64)
  buffer $a @arena [0, 64)
  buffer $b @arena [64, 128)
  buffer $c @arena [0, 64)
  input user "x" %x : f32[4, 4] $x
  block @main {
    partition 0 captured {
      in $x
      out $b
      %one : f32[4, 4] $a = aten.relu.default(%x)
      %two : f32[4, 4] $b = aten.neg.default(%one)
    }
    partition 1 eager "op" {
      in free $b
      out $c
      %three : f32[4, 4] $c = aten.neg.default(%two)
    }
  }
  output %three
}
)",
                               ops(), "three.plan"));
}

TEST(PlanPanel, HasAColumnForEachFactAndARowForEachThing) {
  PlanPanelFacts facts{"a title", "a.pt2"};
  facts.ratios["three"] = {{"one", 0.25}, {"two", std::numeric_limits<double>::infinity()}};
  facts.findings.push_back({"V3.overlap", spec::Outcome::kFail, "two", {"two"}, {"a"}, {}, {}});
  const spec::Plan of = plan();
  const Json panel = plan_panel(of, ops(), facts);
  EXPECT_EQ(panel["panel"], "plan");
  EXPECT_EQ(panel["place"], "a.pt2");
  for (const char* column : {"name", "op", "stream", "waits", "records", "body", "ratio"}) {
    EXPECT_EQ(panel["steps"][column].size(), of.steps.size()) << column;
  }
  EXPECT_EQ(panel["steps"]["ratio"], Json::parse(R"([0.25, "inf", null])"));
  const std::size_t buffers = panel["buffers"]["name"].size();
  EXPECT_EQ(buffers, of.buffers.size());
  for (const char* column : {"pool", "offset", "size", "first", "last"}) {
    EXPECT_EQ(panel["buffers"][column].size(), buffers) << column;
  }
  ASSERT_EQ(panel["partitions"].size(), 2U);
  EXPECT_EQ(panel["partitions"][0]["end"], 2);
  EXPECT_EQ(panel["partitions"][1]["begin"], 2);
  EXPECT_EQ(panel["partitions"][1]["reason"], "op");
  EXPECT_EQ(panel["edges"].size(), 3 * plan_edges(of, ops()).size());
  EXPECT_EQ(panel["findings"][0]["buffers"][0], "a");
}

TEST(PlanPanel, DrawsAPackingWithoutSteps) {
  const std::vector<verify::PackedBuffer> buffers = {{"a", 3, 5, 8, 0}, {"b", 4, 9, 8, 8}};
  const Json panel = packing_panel(buffers, {"table.csv"});
  EXPECT_EQ(panel["pools"][0]["size"], 16);
  EXPECT_EQ(panel["buffers"]["last"], Json::parse("[4, 8]"));
  EXPECT_TRUE(panel["steps"]["name"].empty());
}

// Who wrote last hands a buffer on.
TEST(PlanEdges, GoFromTheLastWriterToEachReader) {
  const spec::Plan of = plan();
  const std::vector<PlanEdge> edges = plan_edges(of, ops());
  ASSERT_EQ(edges.size(), 4U);
  EXPECT_FALSE(edges[0].from);  // the input
  EXPECT_EQ(edges[0].to, 0U);
  EXPECT_EQ(edges[1].from, 0U);
  EXPECT_EQ(edges[1].to, 1U);
  EXPECT_EQ(edges[2].from, 1U);
  EXPECT_EQ(edges[2].to, 2U);
  EXPECT_EQ(edges[3].from, 2U);
  EXPECT_FALSE(edges[3].to);  // the output
  EXPECT_TRUE(contains(plan_to_dot(of, ops()), "s0 -> s1"));
}

}  // namespace
}  // namespace graphgate::tools
