// A command of the user's that works as an executor: lines go in, lines come back.
//
// It is run by `sh -c` in a process group of its own, which is killed with its owner, however
// that ends. What it writes to standard error is kept, the last of it, for messages.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "spec/result.h"

namespace graphgate::tools {

class ExternalProcess {
 public:
  // kInfrastructure where no process can be made. A command that does not exist shows in
  // exchange().
  [[nodiscard]] static Result<std::unique_ptr<ExternalProcess>> start(const std::string& command);
  ExternalProcess(const ExternalProcess&) = delete;
  ExternalProcess& operator=(const ExternalProcess&) = delete;
  ~ExternalProcess();

  // Sends a line, without its end, and waits for one. kInternal says how it went wrong: ended by a
  // signal or with a status, no answer in time, an answer of more than kLongestLine bytes. Then it
  // is killed, and every later exchange says the same.
  [[nodiscard]] Result<std::string> exchange(const std::string& line,
                                             std::chrono::milliseconds time);

  // Whether it was killed because an answer did not come in time.
  [[nodiscard]] bool is_late() const { return is_late_; }

  static constexpr std::size_t kLongestLine = 256U << 20U;

 private:
  ExternalProcess(std::string command, pid_t process, pid_t guard, int in, int out, int err);
  Result<void> send(const std::string& line, std::chrono::steady_clock::time_point end);
  Result<std::string> receive(std::chrono::steady_clock::time_point end);
  void read_errors();
  Error ended(const std::string& how);
  Error late(const std::string& how);
  Error lost();
  void kill();
  void end_guard();

  const std::string command_;
  pid_t process_;  // the group's first
  pid_t guard_;    // ends the group with its owner; -1 where none could be made
  int in_;         // a socket: what is written
  int out_;        // a pipe: what is read
  int err_;
  std::string buffer_;
  std::string errors_;
  std::string failure_;  // how it ended, once it did
  bool is_late_ = false;
};

}  // namespace graphgate::tools
