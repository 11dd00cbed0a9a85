#include "base/uncaught.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "base/one_line.h"
#include "base/stop_signals.h"

namespace graphgate {
namespace {

UncaughtCodes g_codes;

void print(const char* what, const char* why) {
  constexpr std::size_t kMost = 16'384;
  std::fprintf(stderr, "graphgate: %s: %s\n", what, one_line(why, kMost).c_str());
}

[[noreturn]] void end_uncaught() {
  if (!std::current_exception()) std::abort();
  end_process(tell_of_uncaught());
}

}  // namespace

void end_cleanly_on_throws(const UncaughtCodes& codes) {
  g_codes = codes;
  (void)std::set_terminate(end_uncaught);
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
    std::fprintf(stderr, "graphgate: out of memory\n");
    return g_codes.machine;
  }
}

}  // namespace graphgate
