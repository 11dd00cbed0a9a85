#include "base/scratch_paths.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace graphgate {
namespace {

constexpr pid_t kFree = 0;
constexpr pid_t kBeingWritten = -1;

// `owner` is stored behind the path: a handler never sees half a path.
struct ScratchSlot {
  std::atomic<pid_t> owner = kFree;
  std::array<char, PATH_MAX> path = {};
};
constexpr std::size_t kScratchSlots = 128;
// All zeros, which no process has to write before it begins: 512 KiB.
constinit std::array<ScratchSlot, kScratchSlots> g_slots = {};

// As the kernel lists a folder.
struct FolderEntry {
  std::uint64_t number;
  std::int64_t offset;
  std::uint16_t bytes;
  unsigned char kind;
  char name[1];
};

bool is_dots(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

// Folders within folders: a fixed depth, since a handler has a stack of any size.
void remove_below(int parent, const char* name, int levels) {
  if (::unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM) || levels == 0)
    return;
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  // Names that come while others go may be missed: another look, a few times.
  for (int look = 0; look < 8; ++look) {
    const int folder = ::openat(parent, name, kFolder);
    if (folder < 0) return;
    alignas(FolderEntry) std::array<char, 2048> listed;
    for (long count = 0;
         (count = ::syscall(SYS_getdents64, folder, listed.data(), listed.size())) > 0;) {
      for (long at = 0; at < count;) {
        const auto* const entry = reinterpret_cast<const FolderEntry*>(listed.data() + at);
        const char* const below = listed.data() + at + offsetof(FolderEntry, name);
        if (!is_dots(below)) remove_below(folder, below, levels - 1);
        at += entry->bytes;
      }
    }
    (void)::close(folder);
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY) return;
  }
}

}  // namespace

ScratchPath::ScratchPath(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (std::size_t s = 0; s < kScratchSlots; ++s) {
    ScratchSlot& slot = g_slots[s];
    pid_t owner = slot.owner.load();
    const bool is_usable = owner == kFree || (owner > 0 && owner != ::getpid());  // a parent's
    if (!is_usable || !slot.owner.compare_exchange_strong(owner, kBeingWritten)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.owner.store(::getpid());
    slot_ = static_cast<int>(s);
    return;
  }
}

ScratchPath::ScratchPath(ScratchPath&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

ScratchPath& ScratchPath::operator=(ScratchPath&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

ScratchPath::~ScratchPath() {
  if (slot_ < 0) return;
  pid_t owner = ::getpid();
  (void)g_slots[static_cast<std::size_t>(slot_)].owner.compare_exchange_strong(owner, kFree);
}

void remove_scratch() {
  constexpr int kDeepest = 16;
  for (const ScratchSlot& slot : g_slots) {
    if (slot.owner.load() == ::getpid()) remove_below(AT_FDCWD, slot.path.data(), kDeepest);
  }
}

}  // namespace graphgate
