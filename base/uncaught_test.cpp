#include "base/uncaught.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/folder_test.h"
#include "base/scratch_paths.h"

namespace graphgate {
namespace {

struct ThrowsAtItsEnd {
  ~ThrowsAtItsEnd() noexcept(true) { throw_it(); }  // NOLINT(bugprone-exception-escape)
  static void throw_it() { throw std::bad_alloc(); }
};

TEST(UncaughtDeathTest, IsOneLineAndACodeWhereADestructorFindsNoMemory) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        const ThrowsAtItsEnd thrower;
      },
      testing::ExitedWithCode(3), "^graphgate: out of memory\n$");
}

TEST(UncaughtDeathTest, IsOneLineAndACodeWhereAThreadThrows) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        std::thread([] { throw std::runtime_error("one\nPASS two\x1b[2J"); }).join();
      },
      testing::ExitedWithCode(5), "^graphgate: internal error: one PASS two\\?\\[2J\n$");
}

TEST(UncaughtDeathTest, TakesScratchAlong) {
  const TestFolder folder;
  const std::string scratch = folder.file("scratch");
  std::filesystem::create_directories(scratch + "/within");
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        const ScratchPath owned(scratch);
        std::thread([] { throw std::bad_alloc(); }).join();
      },
      testing::ExitedWithCode(3), "out of memory");
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

TEST(UncaughtDeathTest, SaysWhatTheMachineRefused) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        int code = 0;
        try {
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        } catch (...) {
          code = tell_of_uncaught();
        }
        ::_exit(code);
      },
      testing::ExitedWithCode(3), "^graphgate: the machine refused: ");
}

}  // namespace
}  // namespace graphgate
