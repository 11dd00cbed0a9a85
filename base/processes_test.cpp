#include "base/processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace graphgate {
namespace {

TEST(SignalWords, NameTheSignal) {
  EXPECT_EQ(signal_words(SIGSEGV), "signal 11 (Segmentation fault)");
}

TEST(StartTicks, NameAProcessForGood) {
  EXPECT_GT(start_ticks(::getpid()), 0U);
  EXPECT_EQ(start_ticks(::getpid()), start_ticks(::getpid()));
  EXPECT_EQ(start_ticks(0), 0U);
}

}  // namespace
}  // namespace graphgate
