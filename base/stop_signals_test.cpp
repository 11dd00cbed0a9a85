#include "base/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace graphgate {
namespace {

TEST(StopSignalsDeathTest, NotesTheSameWishOnceMoreWhileReportsAreWritten) {
  EXPECT_EXIT(
      {
        {
          const StopSignals stop;
          (void)std::raise(SIGTERM);
          if (stop.came() != SIGTERM) ::_exit(1);
        }
        (void)std::raise(SIGTERM);
        ::_exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(StopSignalsDeathTest, GivesSignalsBackWhereNoneCame) {
  EXPECT_EXIT(
      {
        { const StopSignals stop; }
        (void)std::raise(SIGTERM);
        ::_exit(7);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignalsDeathTest, EndsByOneThatComesMoreThanASecondLater) {
  EXPECT_EXIT(
      {
        const StopSignals stop;
        (void)std::raise(SIGINT);
        (void)::usleep(1'100'000);
        (void)std::raise(SIGINT);
        ::_exit(7);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace graphgate
