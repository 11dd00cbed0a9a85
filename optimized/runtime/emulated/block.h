// The threads of one block, on the processor, one at a time.
//
// A thread runs until it waits for its warp, its block, its cluster or the launches before, or
// ends; then the next one does. When all lanes of a warp wait for the warp, they go on; when all
// threads that have not ended wait for the block, they go on. What would hang a GPU, or is
// undefined there, is an error: a warp that waits for a lane that has ended, and threads that wait
// for different things.
//
// A copy to shared memory happens as late as it may: when its thread waits for it.
//
// Which thread goes first is nobody's promise: blocks of odd index go backwards.
//
// A thread that waits keeps a stack of its own; one that ends leaves its stack to the next of its
// warp, which goes on there. So most kernels, which wait for nobody, take one stack for all. Stacks
// are made once; those of a Block that goes are there for the next one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace graphgate::optimized::emulated {

inline constexpr unsigned kThreads = 256;  // of a block: kDeviceBlock
inline constexpr unsigned kLanes = 32;     // of a warp

struct Dim {
  unsigned x = 0, y = 0, z = 0;
};
// What device text sees of the emulator (text/cuda_words.h).
struct Hooks {
  Dim thread, block;
  unsigned rank = 0;
  void (*wait_for_warp)() = nullptr;
  void (*wait_for_block)() = nullptr;
  void (*wait_for_launches)() = nullptr;
  void (*wait_for_cluster)() = nullptr;
  unsigned char* (*exchange)() = nullptr;
  void (*begin_copy)(void* to, const void* from) = nullptr;
  void (*end_copies)() = nullptr;
  void (*wait_for_copies)(unsigned behind) = nullptr;
};

class HangError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Copies;

class Block {
 public:
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // The hooks of whichever block runs.
  [[nodiscard]] static Hooks& hooks();

  // Starts `body` on every thread of block `index`, the `rank`-th of its cluster, up to where they
  // wait for the launches before. `body` stays until finish(). Throws HangError; the block is of no
  // use then.
  void begin(unsigned index, const std::function<void()>& body, unsigned rank = 0);
  // Those have ended: runs the threads to their ends, or to where they wait for the cluster. Throws
  // HangError.
  void finish();
  // In a cluster of several blocks: all threads that have not ended wait for it, and how they go
  // on, once those of all blocks do.
  [[nodiscard]] bool waits_for_cluster() const;
  void pass_cluster();

 private:
  struct Fiber;
  class Spare;
  enum class State : std::uint8_t {
    kReady,
    kWaitsForWarp,
    kWaitsForBlock,
    kWaitsForCluster,
    kWaitsForLaunches,
    kEnded
  };
  // Where execution goes on: what __builtin_setjmp keeps.
  using Place = std::array<void*, 5>;

  static void enter();
  static Block& current();
  [[nodiscard]] static unsigned lane_at(unsigned place, unsigned index);
  void resume(unsigned thread);
  void run_as(unsigned thread);
  void stop(State state);
  void leave(Fiber& fiber);
  [[nodiscard]] bool goes_on_as_next();
  void run_threads();
  void run_warp(unsigned warp);
  void go_on_from(State state);
  [[nodiscard]] bool release_warp(unsigned warp);
  [[nodiscard]] bool release_block();

  unsigned index_ = 0;
  unsigned rank_ = 0;
  bool may_pass_launches_ = false;
  // By thread: the fiber is that of one that has begun and not ended.
  std::array<State, kThreads> states_{};
  std::array<std::unique_ptr<Fiber>, kThreads> fibers_;
  std::array<unsigned, kThreads> exchanges_{};  // so far in this block
  std::vector<Copies> copies_;
  std::vector<std::unique_ptr<Fiber>> free_;
  std::vector<unsigned char> slots_;
  const std::function<void()>* body_ = nullptr;
  Hooks* hooks_ = nullptr;  // of whoever runs the block
  Fiber* on_ = nullptr;     // which the thread that runs is on
  unsigned running_ = 0;
  Place scheduler_{};
};

}  // namespace graphgate::optimized::emulated
