// SIGINT and SIGTERM as a question that a long run asks itself.
#pragma once

#include <csignal>

namespace graphgate {

// While it lives, the first SIGINT or SIGTERM is only noted; one that comes more than a second
// later does what it always does. What comes sooner is the same wish: timeout(1) and batch systems
// signal a process, and then its group. Where one came this holds until the process ends, so that
// reports are whole and the exit code is its own. One at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // The signal that came, or 0.
  [[nodiscard]] int came() const;

 private:
  struct sigaction before_[2]{};
};

}  // namespace graphgate
