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
// Each thread has a stack of its own, made once and used for every block; those of a Block that
// goes are there for the next one.
#pragma once

#include <csetjmp>
#include <cstddef>
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
  class Spare;
  enum class State {
    kReady,
    kWaitsForWarp,
    kWaitsForBlock,
    kWaitsForCluster,
    kWaitsForLaunches,
    kEnded
  };
  struct Thread;

  static void enter();
  static Block& current();
  [[nodiscard]] Copies& copies();  // of the thread that runs
  void resume(unsigned thread);
  void stop(State state);
  void run_threads();
  void run_warp(unsigned warp);
  void go_on_from(State state);
  [[nodiscard]] bool release_warp(unsigned warp);
  [[nodiscard]] bool release_block();

  unsigned index_ = 0;
  unsigned rank_ = 0;
  bool may_pass_launches_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<unsigned char> slots_;
  const std::function<void()>* body_ = nullptr;
  unsigned running_ = 0;
  std::jmp_buf scheduler_{};
};

}  // namespace graphgate::optimized::emulated
