#include "tools/executors/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/file_io.h"
#include "base/processor_time.h"
#include "tools/executors/keeper.h"

namespace graphgate::tools {
namespace {

constexpr int kTimedOut = 124;  // as timeout(1) has it
constexpr int kTick = 50;       // milliseconds between questions whether to stop

}  // namespace

Result<int> run_command(const std::string& command, const std::string& argument,
                        std::uint32_t timeout_seconds, const std::function<bool()>& should_stop) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int file = nothing.number();
  GRAPHGATE_TRY(Keeper keeper, Keeper::start(command, {file, file, file}, argument));
  auto status = keeper.status();
  while (!status) {
    const int left = milliseconds_until(end);
    if (left <= 1 || (should_stop && should_stop())) return kTimedOut;
    pollfd news{keeper.file(), POLLIN, 0};
    (void)::poll(&news, 1, should_stop ? std::min(left, kTick) : left);
    status = keeper.status();
  }
  if (*status == Keeper::kLost) return 128 + SIGKILL;  // it has ended who kept it
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

}  // namespace graphgate::tools
