// The program as its users meet it: what tests of the command line run it with.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/folder_test.h"
#include "interop/safetensors.h"

namespace graphgate::tools {

namespace fs = std::filesystem;

struct CliRun {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    // Names without blanks, wherever the build and the sources are.
    fs::create_symlink(GRAPHGATE_BINARY, folder_ / "graphgate");
    fs::create_directory_symlink(GRAPHGATE_GOLDEN_DIR, folder_ / "golden");
  }

  // Runs `graphgate ARGUMENTS`, a shell fragment.
  CliRun run(const std::string& arguments) {
    const fs::path out = folder_ / "out.txt";
    const fs::path err = folder_ / "err.txt";
    const std::string command = (folder_ / "graphgate").string() + " " + arguments + " >" +
                                out.string() + " 2>" + err.string();
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own words
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }

  // The same, told to end once the file `sign` is there: as timeout(1) does it, the process and
  // then its group.
  CliRun run_until(const fs::path& sign, const std::string& arguments, int signal = SIGTERM) {
    return run_while(
        sign, arguments, [] {}, signal);
  }

  // The same, once `act` has returned, which may run other commands.
  CliRun run_while(const fs::path& sign, const std::string& arguments,
                   const std::function<void()>& act, int signal = SIGTERM) {
    const fs::path out = folder_ / "long.out.txt";
    const fs::path err = folder_ / "long.err.txt";
    const std::string command = "exec " + (folder_ / "graphgate").string() + " " + arguments +
                                " >" + out.string() + " 2>" + err.string();
    const pid_t process = ::fork();
    if (process == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 600 && !fs::exists(sign); ++i) ::usleep(100'000);
    EXPECT_TRUE(fs::exists(sign));
    act();
    EXPECT_EQ(::kill(process, signal), 0);
    ::usleep(2'000);
    (void)::kill(process, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(process, &status, 0), process);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }

  [[nodiscard]] std::string model(const std::string& name) const {
    return (folder_ / "golden/models" / name).string();
  }

  // A copy of a model's recording in the scratch folder, changed by `edit`.
  template <class Edit>
  std::string edited_recording(const std::string& name, Edit edit) {
    interop::NamedTensors tensors =
        interop::read_safetensors(model(name + ".safetensors")).value().tensors;
    edit(tensors);
    const fs::path path = folder_ / (name + ".safetensors");
    EXPECT_TRUE(interop::write_safetensors(path.string(), tensors).ok());
    fs::copy_file(model(name + ".geometry.json"), folder_ / (name + ".geometry.json"));
    return path.string();
  }

  const TestFolder test_folder_;
  const fs::path folder_ = test_folder_.path();
};

// The interpreter itself, and not a script that looks for one each time it is started; empty where
// there is none.
inline const std::string& python() {
  static const std::string kPath = [] {
    std::string path;
    if (FILE* pipe =
            ::popen("python3 -I -S -c 'import sys; print(sys.executable, end=str())'", "re")) {
      for (int c = 0; (c = std::fgetc(pipe)) != EOF;) path += static_cast<char>(c);
      if (::pclose(pipe) != 0) path.clear();
    }
    return path;
  }();
  return kPath;
}

inline std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start + 1, end - start);
}

inline std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace graphgate::tools
