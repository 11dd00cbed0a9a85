#include "tools/executors/subject.h"

#include <algorithm>

#include "base/child_processes.h"
#include "base/file_io.h"
#include "base/result_test.h"
#include "base/temporary_folder.h"

namespace graphgate::tools {
namespace {

std::unique_ptr<Subject> made(const std::string& text) { return make_subject(text).value(); }

TEST(Subject, IsMadeOfOneText) {
  EXPECT_EQ(built_in_names(), (std::vector<std::string>{"reference", "optimized"}));
  for (const std::string& name : built_in_names()) {
    EXPECT_EQ(made(name)->name(), name);
    EXPECT_FALSE(made(name)->is_process());
  }
  // Of one that is not started, the command is the name.
  for (const char* text : {"serve optimized", "cmd:serve optimized"}) {
    EXPECT_EQ(made(text)->name(), "serve optimized");
    EXPECT_TRUE(made(text)->is_process());
  }
  EXPECT_EQ(make_subject("cmd: ").error().message, "nothing stands behind cmd:");
}

TEST(Subject, TakesOfACaseWhatItKnows) {
  const conformance::Configuration asked = {{"memory", "lines"}, {"poison", "0xff"}};
  EXPECT_EQ(taken_of(*made("optimized"), asked), asked);
  EXPECT_TRUE(taken_of(*made("reference"), asked).empty());
}

// A process that counts how often it is started.
TEST(Subject, IsStartedOnceForEachProcessAndRests) {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/starts";
  const auto subject =
      made("echo >>" + log + "; read line; " +
           R"(echo '{"name": "sh", "version": "2", "options": ["memory"]}'; exec cat)");
  const auto starts = [&] {
    const std::string lines = read_whole(log).value();
    return std::count(lines.begin(), lines.end(), '\n');
  };
  EXPECT_FALSE(subject->takes("memory"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(subject->start().ok());
    EXPECT_EQ(starts(), 1);
  }
  EXPECT_EQ(subject->identity(), "sh 2");
  subject->rest();
  EXPECT_EQ(subject->name(), "sh");
  EXPECT_EQ(taken_of(*subject, {{"memory", "lines"}, {"poison", ""}}),
            (conformance::Configuration{{"memory", "lines"}}));
  const auto children = must(run_children(2, {2, 60}, [&](std::size_t) {
    return subject->start().ok() ? std::string(subject->name()) : "";
  }));
  for (const ChildResult& child : children) EXPECT_EQ(child.output, "sh");
  EXPECT_EQ(starts(), 3);
}

}  // namespace
}  // namespace graphgate::tools
