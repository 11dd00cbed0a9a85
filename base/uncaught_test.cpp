#include "base/uncaught.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "base/folder_test.h"
#include "base/processes.h"
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

void limit_address_space(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  (void)setrlimit(RLIMIT_AS, &limit);
}

void fill_memory_where_nothing_may_be_thrown() noexcept {
  std::vector<std::unique_ptr<char[]>> all;  // what is cleaned up on the way
  limit_address_space(1U << 26U);
  for (;;) all.emplace_back(new char[1U << 20U]);
}

TEST(UncaughtDeathTest, IsOneLineAndACodeWhereNothingMayBeThrown) {
  if (!can_limit_memory()) GTEST_SKIP() << "sanitizers need terabytes of address space";
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        fill_memory_where_nothing_may_be_thrown();
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

// Allocators abort where they have no room for tables of their own.
TEST(UncaughtDeathTest, IsOneLineAndACodeWhereTheAllocatorAborts) {
  if (!can_limit_memory()) GTEST_SKIP() << "sanitizers need terabytes of address space";
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        limit_address_space(1U << 20U);
        std::abort();
      },
      testing::ExitedWithCode(3), "^graphgate: out of memory\n$");
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "^$");
}

// As LLVM does it where malloc() gives nothing.
void abort_without_an_allocation() {
  errno = ENOMEM;
  std::abort();
}

TEST(UncaughtDeathTest, IsOneLineAndACodeWhereALibraryAbortsForLackOfMemory) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        const WithinForeignLibrary within;
        abort_without_an_allocation();
      },
      testing::ExitedWithCode(3), "^graphgate: out of memory\n$");
}

TEST(UncaughtDeathTest, StaysAnAbortWhereALibraryAbortsOtherwise) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        errno = ENOMEM;  // from before
        const WithinForeignLibrary within;
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "^$");
}

// As glibc ends where it cannot note the destructor of a thread_local.
void end_by_glibc(const char* words) {
  using Fatal = void (*)(const char*);
  const auto fatal =
      reinterpret_cast<Fatal>(::dlvsym(RTLD_DEFAULT, "__libc_fatal", "GLIBC_PRIVATE"));
  if (fatal != nullptr) fatal(words);
}

TEST(UncaughtDeathTest, IsOneLineAndACodeWhereGlibcSaysThatItLacksMemory) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        end_by_glibc("Fatal glibc error: failed to register TLS destructor: out of memory\n");
      },
      testing::ExitedWithCode(3), "graphgate: out of memory\n$");
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        end_by_glibc("Fatal glibc error: something else\n");
      },
      testing::KilledBySignal(SIGABRT), "something else\n$");
}

TEST(UncaughtDeathTest, StaysAnAbortOutOfLibraries) {
  EXPECT_EXIT(
      {
        end_cleanly_on_throws({3, 5});
        { const WithinForeignLibrary within; }
        abort_without_an_allocation();
      },
      testing::KilledBySignal(SIGABRT), "^$");
}

TEST(UncaughtDeathTest, RefusesToBeginWithLittleMemory) {
  if (!can_limit_memory()) GTEST_SKIP() << "sanitizers need terabytes of address space";
  EXPECT_EXIT(
      {
        limit_address_space(1U << 20U);
        refuse_little_memory(3);
      },
      testing::ExitedWithCode(3), "^graphgate: less than 128 MiB of address space[^\n]*\n$");
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
