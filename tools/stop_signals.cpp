#include "tools/stop_signals.h"

#include <cstddef>

namespace graphgate::tools {
namespace {

constexpr int kStopSignals[2] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t g_came = 0;

void note_signal(int signal) { g_came = signal; }

}  // namespace

StopSignals::StopSignals() {
  g_came = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < 2; ++i) (void)::sigaction(kStopSignals[i], &action, &before_[i]);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < 2; ++i) (void)::sigaction(kStopSignals[i], &before_[i], nullptr);
}

int StopSignals::came() const { return g_came; }

}  // namespace graphgate::tools
