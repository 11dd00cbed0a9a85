#include "base/stop_signals.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <utility>

#include "base/scratch_paths.h"

namespace graphgate {
namespace {

constexpr int kStopSignals[3] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t g_came = 0;
timespec g_first{};  // when; only handlers touch it, one at a time

bool is_within_a_second(const timespec& then, const timespec& now) {
  const auto seconds = now.tv_sec - then.tv_sec;
  return seconds == 0 || (seconds == 1 && now.tv_nsec <= then.tv_nsec);
}

void end_by(int signal) {
  remove_scratch();
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);  // comes when this returns
}

void note_signal(int signal) {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  if (g_came == 0) {
    g_came = signal;
    g_first = now;
  } else if (!is_within_a_second(g_first, now)) {
    end_by(signal);
  }
}

struct sigaction action_of(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : kStopSignals) (void)::sigaddset(&action.sa_mask, signal);
  return action;
}

}  // namespace

void end_cleanly_on_signals() {
  const struct sigaction action = action_of(end_by);
  for (const int signal : kStopSignals) {
    struct sigaction before {};
    (void)::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) (void)::sigaction(signal, &action, nullptr);
  }
  (void)std::signal(SIGXFSZ, SIG_IGN);
  (void)std::signal(SIGPIPE, SIG_IGN);
}

StopSignals::StopSignals() {
  g_came = 0;
  const struct sigaction action = action_of(note_signal);
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i) {
    (void)::sigaction(kStopSignals[i], &action, &before_[i]);
    const bool is_ignored = kStopSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    if (is_ignored) (void)::sigaction(kStopSignals[i], &before_[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  if (g_came != 0) return;
  for (std::size_t i = 0; i < std::size(kStopSignals); ++i) {
    (void)::sigaction(kStopSignals[i], &before_[i], nullptr);
  }
}

int StopSignals::came() const { return g_came; }

OnStop::OnStop(std::function<void(int signal)> act)
    : act_(std::move(act)), thread_([this] { watch(); }) {}

OnStop::~OnStop() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void OnStop::watch() {
  constexpr std::chrono::milliseconds kTick{50};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kTick, [this] { return is_over_; })) {
    if (stop_.came() == 0) continue;
    act_(stop_.came());
    return;
  }
}

void end_process(int code) {
  (void)std::fflush(stdout);
  (void)std::fflush(stderr);
  remove_scratch();
  ::_exit(code);
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

}  // namespace graphgate
