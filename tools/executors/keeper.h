// A process between graphgate and a command: the parent of the command and of all that it leaves.
//
// A process that a command starts may leave its process group, its session and its parent, and
// still hold the command's files. The keeper is who such orphans fall to, so that it can end them
// all. It does so when it is told, and when its owner is gone, however that went.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

// What becomes the command's standard input, output and error.
struct CommandFiles {
  int in = -1;
  int out = -1;
  int err = -1;
};

class Keeper {
 public:
  // Runs the command by `sh -c`, with `argument` as $1, in a process group of its own.
  // kInfrastructure where no process can be made. The files stay open here.
  [[nodiscard]] static Result<Keeper> start(const std::string& command, const CommandFiles& files,
                                            const std::string& argument = {});
  // Asks the fork server that listens at `socket` for a process (docs/executors.md), which is kept
  // there as one of start() is. kInfrastructure where none comes.
  [[nodiscard]] static Result<Keeper> fork_of(const std::string& socket, const CommandFiles& files);
  Keeper(Keeper&& other) noexcept;
  Keeper& operator=(Keeper&&) = delete;
  ~Keeper();  // ends all

  // Readable once the command has ended; then status() says how.
  [[nodiscard]] int file() const { return file_; }
  // As waitpid() tells it; nothing while the command runs. kLost where nobody knows any more.
  static constexpr int kLost = -1;
  [[nodiscard]] std::optional<int> status();

  // Kills the command and all that has come of it. Returns when they are gone, or after some
  // seconds, where they cannot be killed.
  void end();

  // The keeper's own number: all that has come of the command are its descendants. 0 once it has
  // ended.
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  Keeper(pid_t process, int file, bool is_child)
      : process_(process), file_(file), is_child_(is_child) {}
  void end_of_other();

  pid_t process_;
  int file_;
  bool is_child_;  // of this process; others end with the connection that `file_` is
  std::optional<int> status_;
};

}  // namespace graphgate::tools
