#include "tools/executors/python_subject.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

std::string command_of(const std::string& path, const std::string& adapter) {
  const auto command = python_command(path, adapter);
  return command.ok() ? command.value() : command.error().message;
}

// An environment whose interpreter has a graphgate_torch of its own, or has none.
class PythonSubject : public testing::Test {
 protected:
  std::string environment(bool has_package) {
    fs::create_directories(folder_ / "bin");
    const fs::path python = folder_ / "bin/python";
    std::ofstream(python) << "#!/bin/sh\n[ \"$1\" = -c ] && exit " << (has_package ? 0 : 1) << "\n";
    EXPECT_EQ(::chmod(python.c_str(), 0755), 0);
    return folder_.string();
  }
  const TestFolder test_folder_;
  const fs::path folder_ = test_folder_.path();
};

TEST_F(PythonSubject, StartsTheAdapterOfTheEnvironment) {
  const std::string folder = environment(true);
  EXPECT_EQ(command_of(folder, "/adapters/torch"), folder + "/bin/python -m graphgate_torch serve");
  EXPECT_EQ(command_of(folder + ":compile", ""),
            folder + "/bin/python -m graphgate_torch serve --backend compile");
  // Of a subject that is not started, the command is the name.
  EXPECT_EQ(make_subject("python:" + folder).value()->name(),
            folder + "/bin/python -m graphgate_torch serve");
}

TEST_F(PythonSubject, BringsTheAdapterWhereTheEnvironmentHasNone) {
  const std::string folder = environment(false);
  const std::string start = "/bin/python -m graphgate_torch serve";
  EXPECT_EQ(command_of(folder, "/adapters/torch"),
            "PYTHONPATH=/adapters/torch${PYTHONPATH:+:$PYTHONPATH} " + folder + start);
  EXPECT_EQ(command_of(folder, "/my adapter's"),
            "PYTHONPATH='/my adapter'\\''s'${PYTHONPATH:+:$PYTHONPATH} " + folder + start);
  // An interpreter instead of a folder, by its name.
  EXPECT_EQ(command_of("no-such-python", "/a"),
            "PYTHONPATH=/a${PYTHONPATH:+:$PYTHONPATH} no-such-python -m graphgate_torch serve");
}

TEST_F(PythonSubject, IsRefusedWithoutAPathOrWithABackendThatIsNoWord) {
  EXPECT_EQ(make_subject("python:").error().message, "nothing stands behind python:");
  EXPECT_EQ(command_of(":compile", ""), "python: needs an interpreter or an environment's folder");
  EXPECT_EQ(command_of("/venv:", ""), "expected python:PATH:BACKEND, found the backend ''");
  EXPECT_EQ(command_of("/venv:a b", ""), "expected python:PATH:BACKEND, found the backend 'a b'");
}

TEST_F(PythonSubject, StartsTheAdapterOfVllmWithACompiler) {
  const std::string folder = environment(false);
  const auto command = [&](const std::string& path) {
    const auto made = python_command(path, "/adapters/vllm", kVllmAdapter);
    return made.ok() ? made.value() : made.error().message;
  };
  EXPECT_EQ(command(folder + ":eager"), "PYTHONPATH=/adapters/vllm${PYTHONPATH:+:$PYTHONPATH} " +
                                            folder +
                                            "/bin/python -m graphgate_vllm serve --compiler eager");
  EXPECT_EQ(command(folder + ":"), "expected vllm:PATH:COMPILER, found the compiler ''");
  EXPECT_EQ(make_subject("vllm:").error().message, "nothing stands behind vllm:");
  EXPECT_TRUE(make_subject("vllm:" + folder).value()->name().ends_with("-m graphgate_vllm serve"));
}

}  // namespace
}  // namespace graphgate::tools
