#include "tools/gate/gate_view.h"

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

GateCase failing() {
  GateCase one;
  one.outcome = spec::Outcome::kFail;
  one.findings = {{"bounds B1.outside-bound [mm] {}", "element [0] is 3"}};
  one.seconds = 1.25;
  return one;
}

GateProgress half() {
  GateProgress progress;
  progress.cases = 30;
  progress.planned = 40;
  progress.resumed = 10;
  progress.differing = 1;
  progress.seconds = 100;
  progress.in_work = {{"'op/mm' on new", 12.0}, {"'op/add' on old", 1.0}};
  return progress;
}

// What a view writes.
std::string written(const std::function<void(std::FILE*)>& act) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = ::open_memstream(&text, &size);
  act(file);
  std::fclose(file);
  std::string out(text, size);
  std::free(text);
  return out;
}

TEST(GateView, TellsWhatIsLeftByWhatThisRunDid) {
  EXPECT_EQ(seconds_left(half()), 50.0);
  GateProgress progress = half();
  progress.cases = progress.resumed;
  EXPECT_EQ(seconds_left(progress), std::nullopt);
  progress.cases = progress.planned;
  EXPECT_EQ(seconds_left(progress), 0.0);
}

TEST(GateView, RedrawsOneLineOnATerminal) {
  const GateCase fails = failing();
  const GateCase passes;
  const std::string text = written([&](std::FILE* file) {
    const auto view = gate_text_view(file, true, 200);
    view->starting("new");
    view->begin({"old", "new"}, half(), 2);
    view->progress(half());
    view->done("op/mm", {{"old", &passes}, {"new", &fails}}, half());
    view->done("op/add", {{"old", &fails}, {"new", &fails}}, half());
    view->end(half(), false);
  });
  EXPECT_EQ(text.find("\r\x1b[Kstarting new\r\x1b[Kgate of"), 0U) << text;
  EXPECT_TRUE(contains(text, "gate of 40 cases, old -> new, 2 jobs, resumed behind 10 cases\n"));
  EXPECT_TRUE(contains(text, "\r\x1b[K30/40 cases, 1 differs, ETA 50s, 'op/mm' on new for 12s"));
  EXPECT_TRUE(contains(text, "differs 'op/mm': old PASS; new FAIL (element [0] is 3)\n"));
  EXPECT_FALSE(contains(text, "differs 'op/add'"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << "nothing of the line is left";
}

TEST(GateView, WritesAnObjectALineElsewhere) {
  const GateCase fails = failing();
  const GateCase passes;
  std::istringstream lines(written([&](std::FILE* file) {
    const auto view = gate_ndjson_view(file);
    view->begin({"old", "new"}, half(), 2);
    view->done("op/mm", {{"old", &passes}, {"new", &fails}}, half());
    view->progress(half());
    view->end(half(), true);
  }));
  std::vector<nlohmann::json> events;
  for (std::string line; std::getline(lines, line);) {
    events.push_back(nlohmann::json::parse(line, nullptr, false));
  }
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0]["event"], "begin");
  EXPECT_EQ(events[0]["sides"], (std::vector<std::string>{"old", "new"}));
  EXPECT_EQ(events[1]["case"], "op/mm");
  EXPECT_EQ(events[1]["differs"], true);
  EXPECT_EQ(events[1]["sides"][0]["outcome"], "PASS");
  EXPECT_EQ(events[1]["sides"][1]["signatures"][0], "bounds B1.outside-bound [mm] {}");
  EXPECT_EQ(events[1]["sides"][1]["seconds"], 1.25);
  EXPECT_EQ(events[2]["seconds_left"], 50);
  EXPECT_EQ(events[2]["in_work"][0]["look"], "'op/mm' on new");
  EXPECT_EQ(events[3]["interrupted"], true);
}

}  // namespace
}  // namespace graphgate::tools
