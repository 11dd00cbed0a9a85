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

// What the owner has written there.
std::string owner_of(const Descriptor& file) {
  std::string words(64, '\0');
  const ssize_t count = ::pread(file.number(), words.data(), words.size(), 0);
  words.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  words = words.substr(0, words.find('\n'));
  return words.empty() ? "another process" : words;
}

Error is_taken(const Corpus& corpus, const std::string& what, const Descriptor& file) {
  return infrastructure(corpus.root() + ": " + what + " is being run by " + owner_of(file));
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
      const std::string words = "process " + std::to_string(::getpid()) + "\n";
      (void)::ftruncate(locked.file.number(), 0);
      (void)write_all(locked.file.number(), std::as_bytes(std::span(words)));
      return ShardClaim(path, std::move(locked.file), "");
    }
    if (Clock::now() >= end) {
      return is_taken(corpus, "shard " + print_shard(shard), locked.file);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

ShardClaim::~ShardClaim() {
  if (file_.number() >= 0) (void)::unlink(path_.c_str());
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
      return bad_input(path +
                       ": holds another campaign, which --overwrite would remove: " + difference);
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
