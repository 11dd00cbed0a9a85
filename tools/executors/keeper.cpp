#include "tools/executors/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/processes.h"

namespace graphgate::tools {
namespace {

// How long a keeper tries to end what it keeps, its guard what that has left, and how long the
// owner waits for both.
constexpr std::int64_t kKeeperMilliseconds = 5'000;
constexpr std::int64_t kGuardMilliseconds = 3'000;
constexpr std::chrono::seconds kOwnerTime{10};

std::int64_t now_milliseconds() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

// All below, up to be_keeper, is what a process may do that was forked off one with threads.

// Kills this thread's children, which are its process's. False where the machine does not list
// them.
bool kill_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  std::array<char, 4096> chunk{};
  pid_t number = 0;
  for (ssize_t count = 0; (count = ::read(list, chunk.data(), chunk.size())) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      const char c = chunk[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
        continue;
      }
      if (number > 0) (void)::kill(number, SIGKILL);
      number = 0;
    }
  }
  if (number > 0) (void)::kill(number, SIGKILL);
  (void)::close(list);
  return true;
}

// Tells the owner how the command ended, and takes in what else has. The group goes with its first
// process: while that is not taken in, no other group has its number.
void take_in(pid_t command, bool& is_over) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (ended.si_pid == command) (void)::kill(-command, SIGKILL);
    int status = 0;
    if (::waitpid(ended.si_pid, &status, 0) != command) continue;
    is_over = true;
    (void)!::write(STDIN_FILENO, &status, sizeof(status));
  }
}

// Has the orphans of all that comes of this process fall to it, and a signal told when its owner
// ends. Ends here where the owner has.
void take_orphans_of(pid_t owner) {
  (void)::setpgid(0, 0);  // what a terminal sends to its owner's group is not for it
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != owner) ::_exit(0);
  (void)::signal(SIGCHLD, SIG_DFL);  // an ignored child leaves no status
}

// What a keeper that was ended has left.
void end_orphans(const sigset_t& signals) {
  const std::int64_t end = now_milliseconds() + kGuardMilliseconds;
  while (now_milliseconds() < end) {
    const bool is_listed = kill_children();
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    siginfo_t any{};
    const bool has_none =
        ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    if (has_none || !is_listed) return;
    const timespec pause{0, 2'000'000};
    (void)::sigtimedwait(&signals, nullptr, &pause);
  }
}

// A process that is killed leaves its children to the keeper: so no tree is walked.
void end_all(pid_t command, bool is_over, const sigset_t& signals) {
  if (!is_over) (void)::kill(-command, SIGKILL);
  const std::int64_t end = now_milliseconds() + kKeeperMilliseconds;
  while (now_milliseconds() < end) {
    const bool is_listed = kill_children();
    take_in(command, is_over);
    siginfo_t any{};
    const bool has_none =
        ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
    if (has_none || (!is_listed && is_over)) return;
    const timespec pause{0, 2'000'000};
    (void)::sigtimedwait(&signals, nullptr, &pause);
  }
}

// Blocks the signals that a keeper waits for; returns the mask of before.
sigset_t block(const sigset_t& signals) {
  sigset_t before;
  (void)::sigprocmask(SIG_BLOCK, &signals, &before);
  return before;
}

// Never returns. The status goes into `file`.
[[noreturn]] void be_keeper(pid_t owner, const char* command, const char* argument,
                            const CommandFiles& files, int file, const sigset_t& signals,
                            const sigset_t& before) {
  take_orphans_of(owner);
  const pid_t process = ::fork();
  if (process == 0) {
    (void)::sigprocmask(SIG_SETMASK, &before, nullptr);
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    become_shell(command, argument, files.in, files.out, files.err);
  }
  if (process < 0) ::_exit(1);
  (void)::setpgid(process, process);
  (void)::dup2(file, STDIN_FILENO);
  (void)::close_range(1, ~0U, 0);
  (void)::signal(SIGTERM, SIG_DFL);  // what is ignored is not waited for
  (void)::signal(SIGPIPE, SIG_IGN);  // of an owner that does not listen any more
  bool is_over = false;
  do {
    take_in(process, is_over);
  } while (::sigwaitinfo(&signals, nullptr) != SIGTERM);
  end_all(process, is_over, signals);
  ::_exit(0);
}

// Between the owner and the keeper: whoever ends the keeper has its orphans fall to the guard.
// Never returns.
[[noreturn]] void be_guard(pid_t owner, const char* command, const char* argument,
                           const CommandFiles& files, int file) {
  sigset_t signals;
  (void)::sigemptyset(&signals);
  (void)::sigaddset(&signals, SIGTERM);
  (void)::sigaddset(&signals, SIGCHLD);
  const sigset_t before = block(signals);
  take_orphans_of(owner);
  const pid_t self = ::getpid();
  const pid_t keeper = ::fork();
  if (keeper == 0) be_keeper(self, command, argument, files, file, signals, before);
  if (keeper < 0) ::_exit(1);
  (void)::close_range(0, ~0U, 0);    // the status is the keeper's to tell
  (void)::signal(SIGTERM, SIG_DFL);  // what is ignored is not waited for
  bool is_told = false;
  bool is_over = false;
  std::int64_t end = 0;
  while (!is_over && (!is_told || now_milliseconds() < end)) {
    const timespec pause{0, 100'000'000};
    const int came =
        is_told ? ::sigtimedwait(&signals, nullptr, &pause) : ::sigwaitinfo(&signals, nullptr);
    if (came == SIGTERM && !is_told) {
      is_told = true;
      end = now_milliseconds() + kKeeperMilliseconds;
      (void)::kill(keeper, SIGTERM);
      (void)::kill(keeper, SIGCONT);  // where the command has stopped it
    }
    for (pid_t ended = 0; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;) {
      is_over |= ended == keeper;
    }
  }
  end_orphans(signals);
  ::_exit(0);
}

// A connection that closes when the process becomes another program; -1 without one.
int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return -1;
  std::copy(path.begin(), path.end(), address.sun_path);
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return -1;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    return connection;
  }
  ::close(connection);
  return -1;
}

// Sends the files, and the limit of address space (-1 without one), as a fork of this process would
// have them. Returns the keeper's number; 0 where none comes.
pid_t ask_for_process(int connection, const CommandFiles& files) {
  rlimit limit{};
  (void)::getrlimit(RLIMIT_AS, &limit);
  std::int64_t bytes =
      limit.rlim_cur == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit.rlim_cur);
  const std::array<int, 3> sent{files.in, files.out, files.err};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(sent))> room{};
  iovec part{&bytes, sizeof(bytes)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(sent));
  std::memcpy(CMSG_DATA(head), sent.data(), sizeof(sent));
  if (::sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof(bytes)) return 0;
  pollfd news{connection, POLLIN, 0};
  constexpr int kForkMilliseconds = 600'000;  // it may have to compile before its first fork
  if (::poll(&news, 1, kForkMilliseconds) <= 0) return 0;
  std::int32_t number = 0;
  if (::read(connection, &number, sizeof(number)) != sizeof(number)) return 0;
  (void)::fcntl(connection, F_SETFL, O_NONBLOCK);
  return number;
}

}  // namespace

Result<Keeper> Keeper::start(const std::string& command, const CommandFiles& files,
                             const std::string& argument) {
  GRAPHGATE_TRY(const Pipe pipe, make_pipe(O_NONBLOCK));
  const pid_t owner = ::getpid();
  const auto process = fork_process();
  if (process.ok() && process.value() == 0) {
    be_guard(owner, command.c_str(), argument.c_str(), files, pipe.in);
  }
  ::close(pipe.in);
  if (!process.ok()) {
    ::close(pipe.out);
    return process.error();
  }
  return Keeper(process.value(), pipe.out, true);
}

Result<Keeper> Keeper::fork_of(const std::string& socket, const CommandFiles& files) {
  const int connection = connect_to(socket);
  const pid_t keeper = connection < 0 ? 0 : ask_for_process(connection, files);
  if (keeper > 0) return Keeper(keeper, connection, false);
  if (connection >= 0) ::close(connection);
  return infrastructure(socket + ": no process can be forked there");
}

Keeper::Keeper(Keeper&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      file_(std::exchange(other.file_, -1)),
      is_child_(other.is_child_),
      status_(other.status_) {}

Keeper::~Keeper() {
  end();
  if (file_ >= 0) ::close(file_);
}

std::optional<int> Keeper::status() {
  if (status_) return status_;
  int status = 0;
  const ssize_t count = ::read(file_, &status, sizeof(status));
  if (count < 0) return std::nullopt;
  status_ = count == sizeof(status) ? status : kLost;
  return status_;
}

void Keeper::end() {
  if (process_ <= 0) return;
  if (!is_child_) return end_of_other();
  (void)::kill(process_, SIGTERM);
  (void)::kill(process_, SIGCONT);  // where the command has stopped it
  if (!wait_for_process(process_, std::chrono::steady_clock::now() + kOwnerTime)) {
    (void)kill_process(process_);
  }
  process_ = 0;
}

// While the connection is open its number is the keeper's, and nobody else's.
void Keeper::end_of_other() {
  (void)::shutdown(file_, SHUT_WR);
  const std::int64_t end = now_milliseconds() + std::chrono::milliseconds(kOwnerTime).count();
  bool is_open = true;
  for (std::int64_t left = 0; is_open && (left = end - now_milliseconds()) > 0;) {
    pollfd news{file_, POLLIN, 0};
    if (::poll(&news, 1, static_cast<int>(left)) <= 0) continue;
    if (!status_) (void)status();
    std::array<char, 64> rest{};
    const ssize_t count = ::read(file_, rest.data(), rest.size());
    is_open = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  }
  if (is_open) (void)::kill(process_, SIGKILL);
  process_ = 0;
}

}  // namespace graphgate::tools
