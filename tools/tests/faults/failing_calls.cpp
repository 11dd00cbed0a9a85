// A library to be preloaded (LD_PRELOAD) that makes one call to the system fail: the n-th `open`,
// `write`, `rename`... of a process and its forks. tools/tests/faults/faults.py says which.
//
//   GRAPHGATE_FAULT=write:7     the 7th write fails
//   GRAPHGATE_FAULT=write:7+    and all behind it, as on a full disk
//   GRAPHGATE_FAULT_COUNTS=FILE where calls are counted, in a file of zeros: a number for each kind
//
// A fork counts on with its parent. Allocations count where the program has glibc's allocator. What
// becomes another program is left alone. Reads and writes count where they are of regular files:
// nothing else has a disk that fails.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The allocator of glibc, below the names that are taken here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

// The order of kKinds.
enum Kind : std::uint8_t { kOpen, kWrite, kRename, kSync, kFork, kMap, kRead, kMake, kAllocate };
struct KindRow {
  const char* name;
  int code;
};
constexpr KindRow kKinds[] = {{"open", EMFILE}, {"write", ENOSPC}, {"rename", EIO},
                              {"fsync", EIO},   {"fork", EAGAIN},  {"mmap", ENOMEM},
                              {"read", EIO},    {"make", ENOSPC},  {"allocate", ENOMEM}};
constexpr std::size_t kKindCount = sizeof(kKinds) / sizeof(kKinds[0]);

std::atomic<std::uint64_t>* g_counts = nullptr;  // null: nothing is counted yet
std::size_t g_kind = kKindCount;
std::uint64_t g_number = 0;
bool g_goes_on = false;

// Whether this call is to fail; then errno says why.
bool fails(Kind kind) {
  if (g_counts == nullptr) return false;
  const std::uint64_t number = ++g_counts[kind];
  if (kind != g_kind || number < g_number || (number > g_number && !g_goes_on)) return false;
  errno = kKinds[kind].code;
  return true;
}

bool is_regular(int file) {
  struct stat info {};
  const int code = errno;
  const bool is_so = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  errno = code;
  return is_so;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

[[gnu::constructor]] void begin() {
  (void)::unsetenv("LD_PRELOAD");
  const char* const path = std::getenv("GRAPHGATE_FAULT_COUNTS");
  if (path == nullptr) return;
  const char* const fault = std::getenv("GRAPHGATE_FAULT");
  if (fault != nullptr) {
    const char* const colon = std::strchr(fault, ':');
    for (std::size_t k = 0; colon != nullptr && k < kKindCount; ++k) {
      const auto length = static_cast<std::size_t>(colon - fault);
      if (std::strlen(kKinds[k].name) == length &&
          std::strncmp(kKinds[k].name, fault, length) == 0) {
        g_kind = k;
      }
    }
    char* end = nullptr;
    g_number = colon != nullptr ? std::strtoull(colon + 1, &end, 10) : 0;
    g_goes_on = end != nullptr && *end == '+';
  }
  const int file = next<int (*)(const char*, int, ...)>("open")(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const memory = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap")(
      nullptr, sizeof(std::uint64_t) * kKindCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  (void)::close(file);
  if (memory != MAP_FAILED) g_counts = static_cast<std::atomic<std::uint64_t>*>(memory);
}

// The mode of a variadic open, where it has one.
mode_t mode_of(int flags, va_list& arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp,cppcoreguidelines-pro-type-vararg): these names have these forms.
extern "C" {

#define GRAPHGATE_OPEN(NAME)                                               \
  int NAME(const char* path, int flags, ...) {                             \
    va_list arguments;                                                     \
    va_start(arguments, flags);                                            \
    const mode_t mode = mode_of(flags, arguments);                         \
    va_end(arguments);                                                     \
    if (fails(kOpen)) return -1;                                           \
    return next<int (*)(const char*, int, ...)>(#NAME)(path, flags, mode); \
  }
GRAPHGATE_OPEN(open)
GRAPHGATE_OPEN(open64)
#undef GRAPHGATE_OPEN

#define GRAPHGATE_OPEN_AT(NAME)                                                         \
  int NAME(int folder, const char* path, int flags, ...) {                              \
    va_list arguments;                                                                  \
    va_start(arguments, flags);                                                         \
    const mode_t mode = mode_of(flags, arguments);                                      \
    va_end(arguments);                                                                  \
    if (fails(kOpen)) return -1;                                                        \
    return next<int (*)(int, const char*, int, ...)>(#NAME)(folder, path, flags, mode); \
  }
GRAPHGATE_OPEN_AT(openat)
GRAPHGATE_OPEN_AT(openat64)
#undef GRAPHGATE_OPEN_AT

// What is called with the same words as the real one.
#define GRAPHGATE_CALL(KIND, FAILURE, TYPE, NAME, PARAMETERS, ARGUMENTS) \
  TYPE NAME PARAMETERS {                                                 \
    if (fails(KIND)) return FAILURE;                                     \
    return next<TYPE(*) PARAMETERS>(#NAME) ARGUMENTS;                    \
  }
GRAPHGATE_CALL(kOpen, nullptr, FILE*, fopen, (const char* path, const char* mode), (path, mode))
GRAPHGATE_CALL(kOpen, nullptr, FILE*, fopen64, (const char* path, const char* mode), (path, mode))
GRAPHGATE_CALL(kOpen, nullptr, DIR*, opendir, (const char* path), (path))
GRAPHGATE_CALL(kOpen, -1, int, pipe2, (int* ends, int flags), (ends, flags))
GRAPHGATE_CALL(kOpen, -1, int, socketpair, (int domain, int type, int protocol, int* ends),
               (domain, type, protocol, ends))
GRAPHGATE_CALL(kOpen, -1, int, memfd_create, (const char* name, unsigned flags), (name, flags))
GRAPHGATE_CALL(kMake, -1, int, mkostemp, (char* path, int flags), (path, flags))
GRAPHGATE_CALL(kMake, -1, int, mkostemp64, (char* path, int flags), (path, flags))
GRAPHGATE_CALL(kMake, -1, int, mkstemp, (char* path), (path))
GRAPHGATE_CALL(kMake, nullptr, char*, mkdtemp, (char* path), (path))
GRAPHGATE_CALL(kMake, -1, int, mkdir, (const char* path, mode_t mode), (path, mode))
GRAPHGATE_CALL(kRename, -1, int, rename, (const char* from, const char* to), (from, to))
GRAPHGATE_CALL(kRename, -1, int, renameat, (int from, const char* old, int to, const char* name),
               (from, old, to, name))
GRAPHGATE_CALL(kSync, -1, int, fsync, (int file), (file))
GRAPHGATE_CALL(kSync, -1, int, fdatasync, (int file), (file))
GRAPHGATE_CALL(kSync, -1, int, msync, (void* memory, std::size_t size, int flags),
               (memory, size, flags))
GRAPHGATE_CALL(kMap, MAP_FAILED, void*, mmap,
               (void* at, std::size_t size, int protection, int flags, int file, off_t offset),
               (at, size, protection, flags, file, offset))
GRAPHGATE_CALL(kMap, MAP_FAILED, void*, mmap64,
               (void* at, std::size_t size, int protection, int flags, int file, off64_t offset),
               (at, size, protection, flags, file, offset))
GRAPHGATE_CALL(kFork, -1, pid_t, fork, (), ())

#define GRAPHGATE_FILE_CALL(KIND, TYPE, NAME, PARAMETERS, ARGUMENTS) \
  TYPE NAME PARAMETERS {                                             \
    if (is_regular(file) && fails(KIND)) return -1;                  \
    return next<TYPE(*) PARAMETERS>(#NAME) ARGUMENTS;                \
  }
GRAPHGATE_FILE_CALL(kRead, ssize_t, read, (int file, void* bytes, std::size_t size),
                    (file, bytes, size))
GRAPHGATE_FILE_CALL(kRead, ssize_t, pread, (int file, void* bytes, std::size_t size, off_t at),
                    (file, bytes, size, at))
GRAPHGATE_FILE_CALL(kRead, ssize_t, pread64, (int file, void* bytes, std::size_t size, off64_t at),
                    (file, bytes, size, at))
GRAPHGATE_FILE_CALL(kWrite, ssize_t, write, (int file, const void* bytes, std::size_t size),
                    (file, bytes, size))
GRAPHGATE_FILE_CALL(kWrite, ssize_t, pwrite,
                    (int file, const void* bytes, std::size_t size, off_t at),
                    (file, bytes, size, at))
GRAPHGATE_FILE_CALL(kWrite, ssize_t, writev, (int file, const iovec* parts, int count),
                    (file, parts, count))
#undef GRAPHGATE_FILE_CALL
#undef GRAPHGATE_CALL

int posix_fallocate(int file, off_t offset, off_t length) {
  if (fails(kWrite)) return kKinds[kWrite].code;
  return next<int (*)(int, off_t, off_t)>("posix_fallocate")(file, offset, length);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  if (fails(kFork)) return kKinds[kFork].code;
  using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                        const posix_spawnattr_t*, char* const*, char* const*);
  return next<Spawn>("posix_spawn")(process, path, actions, attributes, words, variables);
}

void* malloc(std::size_t size) { return fails(kAllocate) ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return fails(kAllocate) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  return fails(kAllocate) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(kAllocate) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  void* const made = fails(kAllocate) ? nullptr : __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

}  // extern "C"
// NOLINTEND(cert-dcl50-cpp,cppcoreguidelines-pro-type-vararg)
