// A command of the user's that works as an executor: lines go in, lines come back.
//
// It is run by `sh -c` in a process group of its own, and is killed with all that has come of it
// when its owner ends, however that ends (keeper.h). It is over when the process that was started
// ends, whoever else holds its files. What it writes to standard error is kept, the last of it, for
// messages.
//
// What it is given of time is by the clock, and longer where the machine was too busy to let it
// work (base/processor_time.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/processor_time.h"
#include "base/result.h"
#include "tools/executors/keeper.h"

namespace graphgate::tools {

class ExternalProcess {
 public:
  // kInfrastructure where no process can be made. A command that does not exist shows in
  // exchange().
  [[nodiscard]] static Result<std::unique_ptr<ExternalProcess>> start(const std::string& command);
  // A process of the fork server that listens at `socket`, which `command` has started.
  [[nodiscard]] static Result<std::unique_ptr<ExternalProcess>> fork_of(const std::string& socket,
                                                                        const std::string& command);
  ExternalProcess(const ExternalProcess&) = delete;
  ExternalProcess& operator=(const ExternalProcess&) = delete;
  ~ExternalProcess();

  // Sends a line, without its end. kInternal says how it went wrong: ended by a signal or with a
  // status, not read in time, more said than was asked for. Then it is killed, and whatever is
  // asked later says the same.
  [[nodiscard]] Result<void> send(const std::string& line, std::chrono::milliseconds time);
  // Waits for the line that answers what was sent. The same errors; and no answer in time, or one
  // of more than kLongestLine bytes.
  [[nodiscard]] Result<std::string> receive(std::chrono::milliseconds time);
  // Does both.
  [[nodiscard]] Result<std::string> exchange(const std::string& line,
                                             std::chrono::milliseconds time);

  // Whether it was killed because an answer did not come in time.
  [[nodiscard]] bool is_late() const { return is_late_; }

  // Returns the process whose descendants it and all that has come of it are; 0 once it has ended.
  [[nodiscard]] pid_t keeper() const { return keeper_.process(); }

 private:
  struct Files {
    int in = -1;   // a socket: what is written
    int out = -1;  // a pipe: what is read; the same for err
    int err = -1;
  };

  // The keeper of a process with these files.
  using MakeKeeper = std::function<Result<Keeper>(const CommandFiles& files)>;

  ExternalProcess(std::string command, Keeper keeper, const Files& files);
  static Result<std::unique_ptr<ExternalProcess>> make(const std::string& command,
                                                       const MakeKeeper& make_keeper);
  Result<void> check_nothing_is_said();
  void wait(short for_in, const TimeLimit& limit);
  bool read_some();
  void read_errors();
  Result<std::string> take_line();
  Error ended(const std::string& how);
  Error late(const std::string& how);
  Error over(int status);
  Error closed(const char* what);

  const std::string command_;
  Keeper keeper_;
  Files files_;
  bool is_out_closed_ = false;
  bool is_err_closed_ = false;
  std::string buffer_;
  std::size_t searched_ = 0;  // bytes of the buffer that have no end of a line
  std::string errors_;
  std::string failure_;  // how it ended, once it did
  bool is_late_ = false;
};

}  // namespace graphgate::tools
