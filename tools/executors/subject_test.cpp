#include "tools/executors/subject.h"

#include <algorithm>
#include <fstream>

#include "base/child_processes.h"
#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"

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
  const TemporaryFolder folder = made_folder();
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

// A process that notes that it is started, and is forked for each session.
TEST(Subject, IsForkedWhereItsProcessIsAForkServer) {
  const TemporaryFolder folder = made_folder();
  const std::string log = folder.path() + "/starts";
  const std::string script = folder.path() + "/server.py";
  std::ofstream(script) << "import json, os, sys\n"
                           "sys.path.insert(0, '" GRAPHGATE_SOURCE_DIR
                           "/tools/adapters/common')\n"
                           "from graphgate_adapter import fork_server\n"
                           "with open('" +
                               log +
                               "', 'a') as starts: starts.write('\\n')\n"
                               "hello = json.loads(sys.stdin.readline())['hello']\n"
                               "listener = fork_server.listen(hello['fork_server'])\n"
                               "print('{\"name\": \"server\", \"options\": [], "
                               "\"fork_server\": true}', flush=True)\n"
                               "while not fork_server.accept(listener, []): pass\n"
                               "for line in os.fdopen(os.dup(0)):\n"
                               "  hello = json.loads(line)['hello']\n"
                               "  name = 'server' if 'fork_server' in hello else 'forked'\n"
                               "  print(json.dumps({'name': name, 'options': []}), flush=True)\n";
  const auto starts = [&] {
    const std::string lines = read_whole(log).value();
    return std::count(lines.begin(), lines.end(), '\n');
  };
  const auto subject = made("exec python3 -I -S " + script);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(subject->start().ok());
    EXPECT_EQ(subject->name(), "forked");
    subject->rest();
  }
  // Whoever is forked off this process asks the same server.
  const auto children = must(run_children(2, {2, 60}, [&](std::size_t) {
    return subject->start().ok() ? std::string(subject->name()) : "";
  }));
  for (const ChildResult& child : children) EXPECT_EQ(child.output, "forked");
  ASSERT_TRUE(subject->start().ok());
  EXPECT_EQ(starts(), 1);
}

// A process that answers every request, and says to have compiled so long in each call.
TEST(Subject, TellsWhereItsTimeGoes) {
  const auto times_of = [](const std::string& compile, bool is_answer) {
    const auto subject = made(
        "while read line; do case \"$line\" in "
        "*hello*) echo '{\"name\": \"sh\", \"options\": []}' ;; "
        "*open*) echo '{\"executor\": 1}' ;; "
        "*load*) echo '{\"program\": 1}' ;; "
        "*call*) sleep 0.1; echo '{\"result\": {\"outputs\": [], \"final_inputs\": [], "
        "\"final_states\": [], \"findings\": [], \"provenance\": []}, \"milliseconds\": "
        "{\"compile\": " +
        compile + "}}' ;; *) echo '{\"done\": true}' ;; esac; done");
    const spec::OpTable ops;
    const auto executor = must(subject->make({}, ops));
    const auto program = must(executor->load({}));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(program->call({}).ok(), is_answer);
    return subject->times();
  };
  const SubjectTimes times = times_of("1500", true);
  EXPECT_EQ(times.compile, 3.0);
  EXPECT_GE(times.asked, 0.2);
  EXPECT_EQ(times_of("-1", false).compile, 0);
  EXPECT_EQ(made("reference")->times().asked, 0);
}

}  // namespace
}  // namespace graphgate::tools
