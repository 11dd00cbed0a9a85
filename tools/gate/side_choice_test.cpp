#include "tools/gate/side_choice.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using Kind = SideChoice::Kind;

SideChoice parsed(const std::string& text, const std::string& adapter = "") {
  const auto side = parse_side(text, adapter);
  EXPECT_TRUE(side.ok()) << side.error().message;
  return side.ok() ? side.value() : SideChoice();
}

std::string refusal_of(const std::string& text) {
  const auto side = parse_side(text, "");
  return side.ok() ? "" : side.error().message;
}

TEST(SideChoice, IsAProfileOrAStoredSide) {
  EXPECT_EQ(parsed("torch-2.9.1,vllm-0.11.1").kind, Kind::kProfile);
  EXPECT_EQ(parsed("torch-2.9.1,vllm-0.11.1").profile, "torch-2.9.1,vllm-0.11.1");
  EXPECT_EQ(parsed("a=b.json").kind, Kind::kStored);
  EXPECT_EQ(parsed("a=b.json").file, "a=b.json");
}

TEST(SideChoice, IsACommandCalledAsTheUserSays) {
  const SideChoice plain = parsed("cmd:HOST=a serve --config x.json");
  EXPECT_EQ(plain.kind, Kind::kCommand);
  EXPECT_EQ(plain.name, "cmd:HOST=a serve --config x.json");
  EXPECT_EQ(plain.command, "HOST=a serve --config x.json");
  const SideChoice named = parsed("the new one=cmd:serve A=python:b");
  EXPECT_EQ(named.name, "the new one");
  EXPECT_EQ(named.command, "serve A=python:b");
  EXPECT_EQ(refusal_of("cmd:"), "'cmd:': nothing stands behind cmd:");
  EXPECT_EQ(refusal_of("new=cmd: "), "'new=cmd: ': nothing stands behind cmd:");
}

// An environment whose interpreter has a graphgate_torch of its own, or has none.
class PythonSide : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::string environment(bool has_package) {
    fs::create_directories(folder_ / "bin");
    const fs::path python = folder_ / "bin/python";
    std::ofstream(python) << "#!/bin/sh\n[ \"$1\" = -c ] && exit " << (has_package ? 0 : 1) << "\n";
    EXPECT_EQ(::chmod(python.c_str(), 0755), 0);
    return folder_.string();
  }
  // Tests run side by side.
  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("graphgate_python_side_" + std::to_string(::getpid()));
};

TEST_F(PythonSide, StartsTheAdapterOfTheEnvironment) {
  const std::string folder = environment(true);
  const SideChoice side = parsed("python:" + folder, "/adapters/torch");
  EXPECT_EQ(side.name, "python:" + folder);
  EXPECT_EQ(side.command, folder + "/bin/python -m graphgate_torch serve");
  EXPECT_EQ(parsed("now=python:" + folder + ":compile").command,
            folder + "/bin/python -m graphgate_torch serve --backend compile");
}

TEST_F(PythonSide, BringsTheAdapterWhereTheEnvironmentHasNone) {
  const std::string folder = environment(false);
  const std::string start = "/bin/python -m graphgate_torch serve";
  EXPECT_EQ(parsed("python:" + folder, "/adapters/torch").command,
            "PYTHONPATH=/adapters/torch${PYTHONPATH:+:$PYTHONPATH} " + folder + start);
  EXPECT_EQ(parsed("python:" + folder, "/my adapter's").command,
            "PYTHONPATH='/my adapter'\\''s'${PYTHONPATH:+:$PYTHONPATH} " + folder + start);
  // An interpreter instead of a folder, by its name.
  EXPECT_EQ(parsed("python:no-such-python", "/a").command,
            "PYTHONPATH=/a${PYTHONPATH:+:$PYTHONPATH} no-such-python -m graphgate_torch serve");
}

TEST_F(PythonSide, IsRefusedWithoutAPathOrWithABackendThatIsNoWord) {
  EXPECT_EQ(refusal_of("python:"), "'python:': nothing stands behind python:");
  EXPECT_EQ(refusal_of("python::compile"),
            "'python::compile': python: needs an interpreter or an environment's folder");
  EXPECT_EQ(refusal_of("python:/venv:"),
            "'python:/venv:': expected python:PATH:BACKEND, found the backend ''");
  EXPECT_EQ(refusal_of("python:/venv:a b"),
            "'python:/venv:a b': expected python:PATH:BACKEND, found the backend 'a b'");
}

}  // namespace
}  // namespace graphgate::tools
