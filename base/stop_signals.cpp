#include "base/stop_signals.h"

#include <cstddef>
#include <ctime>

namespace graphgate {
namespace {

constexpr int kStopSignals[2] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t g_came = 0;
timespec g_first{};  // when; only handlers touch it, one at a time

bool is_within_a_second(const timespec& then, const timespec& now) {
  const auto seconds = now.tv_sec - then.tv_sec;
  return seconds == 0 || (seconds == 1 && now.tv_nsec <= then.tv_nsec);
}

void note_signal(int signal) {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  if (g_came == 0) {
    g_came = signal;
    g_first = now;
  } else if (!is_within_a_second(g_first, now)) {
    (void)std::signal(signal, SIG_DFL);
    (void)std::raise(signal);  // comes when this returns
  }
}

}  // namespace

StopSignals::StopSignals() {
  g_came = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  for (const int signal : kStopSignals) (void)::sigaddset(&action.sa_mask, signal);
  for (std::size_t i = 0; i < 2; ++i) (void)::sigaction(kStopSignals[i], &action, &before_[i]);
}

StopSignals::~StopSignals() {
  if (g_came != 0) return;
  for (std::size_t i = 0; i < 2; ++i) (void)::sigaction(kStopSignals[i], &before_[i], nullptr);
}

int StopSignals::came() const { return g_came; }

}  // namespace graphgate
