// A device's memory: for every host arena one of the same size, and which of the two is newer.
//
//   host     [ input | weights         | a   | b   ]
//               │ to the device, once     ^
//   device   [ input | weights         | a   | b   ]      a, b: newer on the device
//
// Both sides together are one memory: a byte is newer on one side, or the same on both, and whoever
// reads asks for the bytes first. So steps may run on either side, in any order, and read what they
// would have read on one. Ranges are exact to the byte, since arenas are used again.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace graphgate::optimized {

// How arenas lie in the address space of a device.
enum class DeviceMemoryMode : std::uint8_t {
  kPlain,         // as the device gives them
  kGuarded,       // each at the end of pages of its own, nothing around them: overruns fault
  kGuardedFront,  // each at the beginning of its pages: underruns fault
};

// An arena of the device.
struct DeviceArena {
  std::uint64_t address = 0;
  std::int64_t size_bytes = 0;
  bool is_read_only = false;
};

// Bytes around an arena that are there, and nobody's.
struct DeviceSurroundings {
  std::int64_t before = 0;
  std::int64_t behind = 0;
};

// The raw side: allocation and copies, whose order is that of the device's work. May throw.
class RawDeviceMemory {
 public:
  virtual ~RawDeviceMemory() = default;
  [[nodiscard]] virtual std::uint64_t allocate(std::int64_t size_bytes) = 0;
  virtual void free(std::uint64_t address) = 0;
  virtual void to_device(std::uint64_t to, std::span<const std::byte> from) = 0;
  // Starts; the bytes are there when arrive() has returned.
  virtual void to_host(std::span<std::byte> to, std::uint64_t from) = 0;
  // Waits for every copy to the host that was started.
  virtual void arrive() {}
  // Whether kernels that write to what was allocated there fault, where the mode can have that.
  // Copies to it go on as before.
  virtual void set_read_only(std::uint64_t /*address*/, bool /*is_read_only*/) {}
  // Whether arenas are guarded, and what is around one that was allocated there: to be filled by
  // copies, so that it shows what was written there.
  [[nodiscard]] virtual bool is_guarded() const { return false; }
  [[nodiscard]] virtual DeviceSurroundings surroundings(std::uint64_t /*address*/) const {
    return {};
  }
};

class DeviceMemory {
 private:
  struct Arena;

 public:
  // Ranges that are asked for over and over, of one memory: found in their arenas once, and again
  // when arenas have come or gone. Those that overlap or adjoin count as one; empty ones do not.
  class Ranges {
   public:
    Ranges() = default;
    explicit Ranges(std::vector<std::span<std::byte>> bytes) : bytes_(std::move(bytes)) {}

   private:
    friend class DeviceMemory;
    struct Found {
      Arena* arena = nullptr;
      std::byte* base = nullptr;  // where the arena begins
      std::int64_t begin = 0;
      std::int64_t end = 0;
    };
    std::vector<std::span<std::byte>> bytes_;
    std::vector<Found> found_;
    std::uint64_t generation_ = std::numeric_limits<std::uint64_t>::max();  // when it was found
  };

  // `raw` outlives it.
  explicit DeviceMemory(RawDeviceMemory& raw) : raw_(raw) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // From now on these bytes have a twin; they are newer on the host. `owner` is kept as long as the
  // twin, so that no other memory comes to the same addresses; null: the caller says so itself.
  // Known bytes stay as they are.
  void know(std::span<std::byte> host, std::shared_ptr<const void> owner);
  // The arena that begins there is none any more. Nothing if none does.
  void forget(const std::byte* host);
  // Bytes of the device alone, at addresses that no host memory has. Gone with the result.
  [[nodiscard]] std::shared_ptr<const std::span<std::byte>> reserve(std::int64_t size_bytes);

  // From now on no kernel may write to the arena that begins there, or any may again.
  void set_read_only(const std::byte* host, bool is_read_only);
  [[nodiscard]] bool is_read_only(const std::byte* host) const;
  [[nodiscard]] bool is_guarded() const { return raw_.is_guarded(); }
  // What is around the arena that begins there.
  [[nodiscard]] DeviceSurroundings surroundings(const std::byte* host) const;
  // Fills bytes of the device alone: [begin, end) from the first byte of the arena that begins
  // there, or around it. Which side is newer stays as it is.
  void fill(const std::byte* host, std::int64_t begin, std::int64_t end, std::byte value);

  // Those that are known now, in the order in which they came.
  [[nodiscard]] std::vector<DeviceArena> arenas() const;
  // The twin of a host address inside (or right behind) what is known; 0 for null.
  [[nodiscard]] std::uint64_t twin_of(const std::byte* host) const;

  // The same of bytes that may not be known, or not all of them: nullopt then.
  [[nodiscard]] std::optional<std::uint64_t> twin_of(std::span<const std::byte> host) const;

  // Empty ranges do nothing; others lie inside one known arena.
  void host_wrote(std::span<std::byte> bytes);
  void device_wrote(std::span<std::byte> bytes);
  void bring_to_device(std::span<std::byte> bytes);
  void bring_to_host(std::span<std::byte> bytes);
  // The same of many. Each is known.
  void host_wrote(Ranges& ranges);
  void device_wrote(Ranges& ranges);
  void bring_to_device(Ranges& ranges);
  void bring_to_host(Ranges& ranges);
  // The same to the host in two parts, so that many wait once: nobody reads or writes the bytes
  // before arrive() has returned.
  void start_to_host(std::span<std::byte> bytes);
  void start_to_host(Ranges& ranges);
  void arrive() { raw_.arrive(); }

  // Changes whenever an arena comes or goes.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // Bytes copied so far.
  [[nodiscard]] std::int64_t bytes_to_device() const { return bytes_to_device_; }
  [[nodiscard]] std::int64_t bytes_to_host() const { return bytes_to_host_; }

 private:
  enum class Newer : std::uint8_t { kNeither, kHost, kDevice };
  // From its first byte up to the next one's.
  struct Stretch {
    std::int64_t begin = 0;
    Newer newer = Newer::kNeither;
  };
  struct Arena {
    std::int64_t size_bytes = 0;
    std::uint64_t twin = 0;
    std::shared_ptr<const void> owner;
    std::vector<Stretch> stretches;  // in order, from 0; neighbours differ
    std::uint64_t allocated = 0;     // what is freed: at or up to 15 bytes before the twin
    bool is_read_only = false;
    std::uint64_t came = 0;  // as the how manieth
  };
  using Arenas = std::map<const std::byte*, Arena>;

  [[nodiscard]] Arenas::const_iterator arena_at(const std::byte* host) const;
  [[nodiscard]] Ranges::Found find(std::span<std::byte> bytes);
  void find(Ranges& ranges);
  static std::size_t stretch_at(const Arena& arena, std::int64_t at);
  static void mark(const Ranges::Found& range, Newer newer);
  template <class Copy>
  static void copy_newer(const Ranges::Found& range, Newer side, Copy&& copy);
  void to_device(const Ranges::Found& range);
  void to_host(const Ranges::Found& range);

  RawDeviceMemory& raw_;
  Arenas arenas_;
  std::uint64_t generation_ = 0;
  std::uint64_t arenas_so_far_ = 0;
  std::int64_t bytes_to_device_ = 0;
  std::int64_t bytes_to_host_ = 0;
};

}  // namespace graphgate::optimized
