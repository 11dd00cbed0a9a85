#include "base/uncaught.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/one_line.h"
#include "base/scratch_paths.h"
#include "base/stop_signals.h"

namespace graphgate {
namespace {

constexpr std::string_view kNoMemoryLine = "graphgate: out of memory\n";

UncaughtCodes g_codes;
volatile std::sig_atomic_t g_no_memory_code = 1;

void print_no_memory() { (void)std::fwrite(kNoMemoryLine.data(), 1, kNoMemoryLine.size(), stderr); }

void print(const char* what, const char* why) {
  constexpr std::size_t kMost = 16'384;
  std::fprintf(stderr, "graphgate: %s: %s\n", what, one_line(why, kMost).c_str());
}

// Of the latest that this thread asked for. A function that may not throw calls std::terminate at
// times before anybody has taken the exception: then nobody knows which it is.
thread_local bool t_lacks_memory = false;

void note_lack_of_memory() {
  t_lacks_memory = true;
  throw std::bad_alloc();
}

thread_local bool t_is_within_library = false;

// What glibc keeps for debuggers when it aborts: its last words.
struct LastWords {
  unsigned int bytes;  // of this struct and of the words
  char words[1];
};
LastWords* const* g_last_words = nullptr;  // null: no such place is known

bool glibc_lacks_memory() {
  if (g_last_words == nullptr || *g_last_words == nullptr) return false;
  return std::string_view((*g_last_words)->words).find("out of memory") != std::string_view::npos;
}

bool has_no_room() {
  constexpr std::size_t kLittle = 1U << 20U;
  const void* const room =
      ::mmap(nullptr, kLittle, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room == MAP_FAILED;
}

// Is called by abort(), which goes on where this returns. An allocation that failed has left its
// mark in errno, or glibc has said so: it aborts where it cannot note the destructor of a
// thread_local.
void end_abort(int /*signal*/) {
  const bool is_told = t_is_within_library && errno == ENOMEM;
  if (!is_told && !glibc_lacks_memory() && !has_no_room()) return;
  (void)!::write(STDERR_FILENO, kNoMemoryLine.data(), kNoMemoryLine.size());
  remove_scratch();
  ::_exit(g_no_memory_code);
}

[[noreturn]] void end_uncaught() {
  if (std::current_exception()) end_process(tell_of_uncaught());
  if (!ends_without_memory()) std::abort();
  print_no_memory();
  end_process(g_codes.machine);
}

}  // namespace

void end_cleanly_on_throws(const UncaughtCodes& codes) {
  g_codes = codes;
  end_without_memory_by(codes.machine);
  (void)std::set_new_handler(note_lack_of_memory);
  (void)std::set_terminate(end_uncaught);
}

void end_without_memory_by(int code) {
  g_no_memory_code = code;
#ifdef __GLIBC__
  g_last_words =
      static_cast<LastWords* const*>(::dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
#endif
  (void)std::signal(SIGABRT, end_abort);
}

WithinForeignLibrary::WithinForeignLibrary() : was_within_(t_is_within_library) {
  t_is_within_library = true;
  errno = 0;
}

WithinForeignLibrary::~WithinForeignLibrary() { t_is_within_library = was_within_; }

void refuse_little_memory(int code) {
  constexpr rlim_t kLeast = rlim_t{128} << 20U;
  constexpr std::string_view kLine =
      "graphgate: less than 128 MiB of address space: the limit (ulimit -v) is too low\n";
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
  ::_exit(code);
}

bool ends_without_memory() {
  if (!std::current_exception()) return std::uncaught_exceptions() > 0 && t_lacks_memory;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

int tell_of_uncaught() {
  try {
    try {
      throw;
    } catch (const std::system_error& error) {
      // A last resort: whoever asks the machine for something says itself what was refused.
      print("the machine refused", error.what());
      return g_codes.machine;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      print("internal error", error.what());
    } catch (...) {
      print("internal error", "something was thrown");
    }
    return g_codes.defect;
  } catch (const std::bad_alloc&) {
    print_no_memory();
    return g_codes.machine;
  }
}

}  // namespace graphgate
