#include "base/stop_signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/folder_test.h"
#include "base/scratch_paths.h"

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

TEST(StopSignalsDeathTest, NotesWhatATerminalSendsWhereItCloses) {
  EXPECT_EXIT(
      {
        const StopSignals stop;
        (void)std::raise(SIGHUP);
        ::_exit(stop.came() == SIGHUP ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

TEST(StopSignalsDeathTest, LeavesSighupIgnoredWhereItWas) {
  EXPECT_EXIT(
      {
        (void)std::signal(SIGHUP, SIG_IGN);
        end_cleanly_on_signals();
        const StopSignals stop;
        (void)std::raise(SIGHUP);
        ::_exit(stop.came() == 0 ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

// A folder with a file and a folder in it, beside one that nobody registered.
class ScratchDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch_ + "/within");
    std::filesystem::create_directories(kept_);
    std::ofstream(scratch_ + "/within/file") << "x";
    std::ofstream(kept_ + "/file") << "x";
    std::filesystem::create_directory_symlink(kept_, scratch_ + "/link");
  }
  void TearDown() override {
    EXPECT_FALSE(std::filesystem::exists(scratch_));
    EXPECT_TRUE(std::filesystem::exists(kept_ + "/file"));
  }
  const TestFolder folder_;
  const std::string scratch_ = folder_.file("scratch");
  const std::string kept_ = folder_.file("kept");
};

TEST_F(ScratchDeathTest, GoesWithASignalThatEndsTheProcess) {
  EXPECT_EXIT(
      {
        end_cleanly_on_signals();
        const ScratchPath owned(scratch_);
        (void)std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST_F(ScratchDeathTest, GoesWhereTheProcessEndsAtOnce) {
  EXPECT_EXIT(
      {
        const ScratchPath owned(scratch_);
        const pid_t child = ::fork();
        if (child == 0) end_process(0);  // its parent's scratch stays
        (void)::waitpid(child, nullptr, 0);
        end_process(std::filesystem::exists(scratch_) ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(ScratchDeathTest, GoesWhileTheWorkGoesOn) {
  EXPECT_EXIT(
      {
        const ScratchPath owned(scratch_);
        const OnStop stop([](int signal) { end_process(signal == SIGHUP ? 7 : 1); });
        (void)std::raise(SIGHUP);
        for (;;) ::pause();
      },
      testing::ExitedWithCode(7), "");
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
