// The listener that is told how a compile goes: stages with their seconds, as each ends, where
// buffers come from, and warnings.
//
// compile() and prepare() tell it through a StageClock; caches report what they skip. Null stands
// for silence. The command line prints to stderr under --verbose.
#pragma once

#include <chrono>
#include <string_view>

namespace graphgate::optimized {

class CompileLog {
 public:
  virtual ~CompileLog() = default;
  // `name` as in the list of stages at the top of compile.h.
  virtual void stage(std::string_view name, double seconds) = 0;
  // One line; the work goes on.
  virtual void warning(std::string_view message) = 0;
  // How a buffer of the plan came to its bytes: "allocated", "in place", "reused" or "none".
  // `old`: the buffer whose bytes they were, of the second and third; else empty.
  virtual void placed(std::string_view /*buffer*/, std::string_view /*how*/,
                      std::string_view /*old*/) {}
};

// Times stages that follow each other: each ends where the next begins, or the clock goes. `log`
// may be null.
class StageClock {
 public:
  explicit StageClock(CompileLog* log) : log_(log) {}
  ~StageClock() { end(); }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;

  // `name` outlives the clock.
  void begin(std::string_view name) {
    end();
    name_ = name;
    began_ = std::chrono::steady_clock::now();
  }

 private:
  void end() {
    if (log_ == nullptr || name_.empty()) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    log_->stage(name_, passed.count());
  }

  CompileLog* log_;
  std::string_view name_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace graphgate::optimized
