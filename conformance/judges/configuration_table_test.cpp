#include "conformance/judges/configuration_table.h"

#include <set>

#include "base/result_test.h"
#include "conformance/run/scripted_source_test.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

TEST(ConfigurationTable, HasRowsThatReadBackAndDiffer) {
  std::set<Configuration> seen;
  for (const ConfigurationRow& row : configuration_rows()) {
    EXPECT_TRUE(seen.insert(row.options).second) << row.text << " stands there twice";
    EXPECT_EQ(parse_configuration(row.text), row.options);
    for (const auto& [name, value] : row.options) {
      must(spec::check_option(*spec::find_option(name), value));
    }
  }
  EXPECT_GT(seen.size(), 40U);
}

TEST(ConfigurationTable, PadsOnlyWhereThereIsASizeToPad) {
  const Script script = script_over_floats({{{1, 2, 3}, {1, 2, 3}}});
  Trace trace;
  const auto is_padding = [](const ConfigurationRow& row) {
    return row.text.starts_with("capture-sizes=");
  };
  auto rows = derived_rows(script, trace);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), is_padding), 0);
  auto plan = std::make_shared<spec::Plan>();
  plan->symbols = {{"s0", 6}};
  trace.calls.resize(1);
  trace.calls[0].plan = plan;
  rows = derived_rows(script, trace);
  EXPECT_GE(std::count_if(rows.begin(), rows.end(), is_padding), 2);
  EXPECT_EQ(rows[0].text, "capture-sizes=9") << "larger than any size called";
}

TEST(ConfigurationTable, CutsAtTheOpsOfTheProgram) {
  const Script script = script_over_floats({{{1, 2, 3}, {1, 2, 3}}});
  const auto rows = derived_rows(script, {});
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].text, "split-op=aten.mul.Tensor");
}

}  // namespace
}  // namespace graphgate::conformance
