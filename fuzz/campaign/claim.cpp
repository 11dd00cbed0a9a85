#include "fuzz/campaign/claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/scratch_name.h"

namespace graphgate::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kLockEnding = ".lock";

// The processes of a campaign that was killed are gone within this time.
constexpr std::chrono::seconds kLongestClaimWait{3};

Error cannot_lock(const std::string& path) {
  return infrastructure(path + ": cannot be made: " + std::strerror(errno));
}

std::string lock_path(const std::string& state_path) {
  return std::filesystem::path(state_path).replace_extension(kLockEnding).string();
}

// Whether the open file still has its name: its last owner may have removed it meanwhile.
bool is_at(const Descriptor& file, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file.number(), &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

struct LockedFile {
  Descriptor file;
  bool is_mine = false;
  int code = 0;  // why it cannot be locked at all
};

Result<LockedFile> try_lock(const std::string& path) {
  while (true) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file.number() < 0) return cannot_lock(path);
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      if (is_at(file, path)) return LockedFile{std::move(file), true, 0};
      continue;
    }
    if (errno == EINTR) continue;
    const int code = errno == EWOULDBLOCK ? 0 : errno;
    return LockedFile{std::move(file), false, code};
  }
}

// A line for who reads it, and the mark of the owner (base/scratch_name.h).
void name_owner(const Descriptor& file) {
  const std::string words = "process " + std::to_string(::getpid()) + "\n" + owner_mark() + "\n";
  (void)::ftruncate(file.number(), 0);
  (void)write_all(file.number(), std::as_bytes(std::span(words)));
}

// What the owner has written there. Its number says nothing where processes are counted otherwise.
std::string owner_of(const Descriptor& file) {
  std::string text(128, '\0');
  const ssize_t count = ::pread(file.number(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t end = text.find('\n');
  if (text.empty() || end == std::string::npos) return "another process";
  const std::string own = owner_mark();
  const bool is_here = text.compare(end + 1, own.find('.') + 1, own, 0, own.find('.') + 1) == 0;
  return text.substr(0, end) + (is_here ? "" : " of another machine or container");
}

Error is_taken(const Corpus& corpus, const std::string& what, const Descriptor& file) {
  return infrastructure(corpus.root() + ": " + what + " is being run by " + owner_of(file));
}

Error holds_another(const std::string& path, const std::string& difference) {
  return bad_input(path +
                   ": holds another campaign, which --overwrite would remove: " + difference);
}

Result<void> remove_state(const Corpus& corpus, const std::string& path) {
  const std::string lock = lock_path(path);
  GRAPHGATE_TRY(const LockedFile locked, try_lock(lock));
  if (!locked.is_mine && locked.code == 0) {
    return is_taken(corpus, std::filesystem::path(path).stem().string(), locked.file);
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return infrastructure(path + ": cannot be removed: " + error.message());
  std::filesystem::remove(std::filesystem::path(path).replace_extension(".journal"), error);
  std::filesystem::remove(lock, error);
  return {};
}

// Why the state is not to be lost or added to; empty where it is of the same campaign.
Result<std::string> objection(const std::string& path, const CampaignKey& key, bool is_own) {
  const auto text = read_whole(path);
  if (!text.ok()) return text.error();
  const auto state = parse_state(text.value(), path);
  if (state.ok()) return key_difference(key, state.value().key);
  return is_own ? state.error().message : std::string();
}

}  // namespace

Result<ShardClaim> ShardClaim::take(const Corpus& corpus, const Shard& shard) {
  const std::string path = lock_path(corpus.state_path(shard));
  const auto end = Clock::now() + kLongestClaimWait;
  while (true) {
    GRAPHGATE_TRY(LockedFile locked, try_lock(path));
    if (locked.code != 0) {
      return ShardClaim("", Descriptor(),
                        path + ": cannot be locked here: " + std::strerror(locked.code));
    }
    if (locked.is_mine) {
      name_owner(locked.file);
      return ShardClaim(path, std::move(locked.file), "");
    }
    if (Clock::now() >= end) {
      return is_taken(corpus, "shard " + print_shard(shard), locked.file);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Result<void> ShardClaim::hold() {
  if (file_.number() < 0 || is_at(file_, path_)) return {};
  GRAPHGATE_TRY(LockedFile locked, try_lock(path_));
  if (!locked.is_mine && locked.code == 0) {
    return infrastructure(path_ + ": was removed while this process ran the shard, which " +
                          owner_of(locked.file) + " has taken since");
  }
  if (locked.is_mine) name_owner(locked.file);
  file_ = std::move(locked.file);
  return {};
}

ShardClaim::~ShardClaim() {
  if (file_.number() >= 0 && is_at(file_, path_)) (void)::unlink(path_.c_str());
}

Result<void> make_room(const Corpus& corpus, const CampaignKey& key, const Shard& shard,
                       bool overwrites) {
  const std::string own = corpus.state_path(shard);
  const auto paths = find_states(corpus.root());
  if (!paths.ok()) return {};  // there is none
  for (const std::string& path : paths.value()) {
    const bool is_own = std::filesystem::path(path) == std::filesystem::path(own);
    GRAPHGATE_TRY(const std::string difference, objection(path, key, is_own));
    if (difference.empty()) continue;
    if (!overwrites) {
      return holds_another(path, difference);
    }
    if (!is_own) {
      GRAPHGATE_TRY_VOID(remove_state(corpus, path));
      continue;
    }
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return infrastructure(path + ": cannot be removed: " + error.message());
  }
  return {};
}

}  // namespace graphgate::fuzz
