#include "optimized/runtime/emulated/block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define GRAPHGATE_HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRAPHGATE_HAS_ASAN
#endif
#endif
#if defined(GRAPHGATE_HAS_ASAN) && __has_include(<sanitizer/common_interface_defs.h>)
#define GRAPHGATE_SWITCHES_ARE_TOLD
#include <sanitizer/common_interface_defs.h>
#endif

namespace graphgate::optimized::emulated {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10U;
// The tops of neighbours' stacks have different places in a cache: all at the same distance from
// the next page they would take each other's.
constexpr std::size_t kTops = 64;
constexpr std::size_t kTopBytes = 704;
constexpr unsigned kSlotBytes = 64;
constexpr std::size_t kCopyBytes = 16;

thread_local Block* current_block = nullptr;

// Pages of a thread's stack; the kernel gives them when they are touched.
class Stack {
 public:
  Stack()
      : bytes_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (bytes_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Stack() { munmap(bytes_, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  [[nodiscard]] void* bytes() const { return bytes_; }

 private:
  void* bytes_;
};

// A stack, as the address sanitizer wants to hear of it whenever it is left or entered; nothing in
// other builds.
class ToldStack {
 public:
#ifdef GRAPHGATE_SWITCHES_ARE_TOLD
  ToldStack() = default;
  ToldStack(const void* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  // Called on this stack.
  void leave_for(const ToldStack& other) {
    __sanitizer_start_switch_fiber(&fake_, other.bytes_, other.size_);
  }
  // Called on this stack; `other` was left.
  void enter_from(ToldStack& other) {
    __sanitizer_finish_switch_fiber(fake_, &other.bytes_, &other.size_);
  }

 private:
  void* fake_ = nullptr;
  const void* bytes_ = nullptr;
  std::size_t size_ = 0;
#else
  ToldStack() = default;
  ToldStack(const void* /*bytes*/, std::size_t /*size*/) {}
  void leave_for(const ToldStack& /*other*/) {}
  void enter_from(ToldStack& /*other*/) {}
#endif
};

}  // namespace

// The copies of a thread that have not happened yet.
class Copies {
 public:
  void begin(void* to, const void* from) { pending_.push_back({to, from, group_}); }
  void forget() {
    pending_.clear();
    done_ = 0;
    group_ = 0;
  }
  void end_group() { ++group_; }
  void wait(unsigned behind) {
    for (; done_ < pending_.size() && pending_[done_].group + behind < group_; ++done_) {
      const Copy& copy = pending_[done_];
      if (copy.from == nullptr) {
        std::memset(copy.to, 0, kCopyBytes);
      } else {
        std::memcpy(copy.to, copy.from, kCopyBytes);
      }
    }
    if (done_ == pending_.size()) {
      pending_.clear();
      done_ = 0;
    }
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t group;
  };
  std::vector<Copy> pending_;
  std::size_t done_ = 0;  // of them
  std::size_t group_ = 0;
};

// A stack, and where what runs on it goes on.
struct Block::Fiber {
  explicit Fiber(std::size_t index) : stack_bytes(kStackBytes - index % kTops * kTopBytes) {}
  bool has_entered = false;
  Place where{};
  ucontext_t context{};
  Stack stack;
  std::size_t stack_bytes;  // that are used
  ToldStack told{stack.bytes(), kStackBytes};
  ToldStack resumer;
};

// Fibers that nobody runs on: devices come and go by the thousand in a campaign, and the pages of
// 256 stacks take longer than what most of them run. A free fiber is anybody's: it asks for the
// current block when it is resumed.
class Block::Spare {
 public:
  static std::unique_ptr<Fiber> take() {
    Spare& spare = instance();
    const std::lock_guard lock(spare.mutex_);
    if (spare.fibers_.empty()) return std::make_unique<Fiber>(spare.made_++);
    std::unique_ptr<Fiber> fiber = std::move(spare.fibers_.back());
    spare.fibers_.pop_back();
    return fiber;
  }

  static void give_back(std::vector<std::unique_ptr<Fiber>> fibers) {
    Spare& spare = instance();
    const std::lock_guard lock(spare.mutex_);
    for (auto& fiber : fibers) {
      if (spare.fibers_.size() < kMost) spare.fibers_.push_back(std::move(fiber));
    }
  }

 private:
  // Those of 32 blocks: what a device has at most (emulated_device.cpp).
  static constexpr std::size_t kMost = std::size_t{32} * kThreads;
  static Spare& instance() {
    static Spare spare;
    return spare;
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t made_ = 0;
};

Block::Block()
    : copies_(kThreads), slots_(std::size_t{kThreads} / kLanes * 2 * kLanes * kSlotBytes) {
  states_.fill(State::kEnded);
}
// Nobody goes on where a thread hangs: its fiber goes.
Block::~Block() { Spare::give_back(std::move(free_)); }

// Asked anew behind each switch: the thread of the machine may be another one.
[[gnu::noinline]] Block& Block::current() { return *current_block; }

Hooks& Block::hooks() {
  thread_local Hooks hooks = [] {
    Hooks made;
    made.wait_for_warp = [] { current().stop(State::kWaitsForWarp); };
    made.wait_for_block = [] { current().stop(State::kWaitsForBlock); };
    made.wait_for_launches = [] {
      if (!current().may_pass_launches_) current().stop(State::kWaitsForLaunches);
    };
    made.wait_for_cluster = [] { current().stop(State::kWaitsForCluster); };
    // Two sets of slots in turns: who writes the next one has left the one before, and all others
    // have come that far.
    made.exchange = [] {
      Block& block = current();
      const unsigned turn = block.exchanges_[block.running_]++ % 2;
      const std::size_t warp = block.running_ / kLanes;
      return block.slots_.data() + (warp * 2 + turn) * kLanes * kSlotBytes;
    };
    made.begin_copy = [](void* to, const void* from) {
      current().copies_[current().running_].begin(to, from);
    };
    made.end_copies = [] { current().copies_[current().running_].end_group(); };
    made.wait_for_copies = [](unsigned behind) {
      current().copies_[current().running_].wait(behind);
    };
    return made;
  }();
  return hooks;
}

// Goes on there, on its stack. A function of its own, as the compiler asks.
[[gnu::noinline]] void jump_to(void** place) { __builtin_longjmp(place, 1); }

// On a fiber's stack, for as long as there is the fiber.
void Block::enter() {
  Fiber& fiber = *current().on_;
  fiber.told.enter_from(fiber.resumer);
  while (true) {
    do {
      (*current().body_)();
    } while (current().goes_on_as_next());
    current().leave(fiber);
  }
}

// Where a thread has ended: whether the fiber has become that of the next lane in turn. Otherwise
// the fiber is free.
bool Block::goes_on_as_next() {
  states_[running_] = State::kEnded;
  std::unique_ptr<Fiber> fiber = std::move(fibers_[running_]);
  const unsigned warp = running_ / kLanes;
  for (unsigned place = lane_at(running_ % kLanes, index_) + 1; place < kLanes; ++place) {
    const unsigned next = warp * kLanes + lane_at(place, index_);
    if (states_[next] != State::kReady) continue;
    if (fibers_[next] != nullptr) break;  // it has begun
    fibers_[next] = std::move(fiber);
    run_as(next);
    return true;
  }
  free_.push_back(std::move(fiber));
  return false;
}

// From a thread back to whoever resumed it.
void Block::stop(State state) {
  states_[running_] = state;
  leave(*on_);
}

// From a fiber back to the scheduler, until it is resumed.
void Block::leave(Fiber& fiber) {
  if (__builtin_setjmp(fiber.where.data()) == 0) {
    fiber.told.leave_for(fiber.resumer);
    jump_to(scheduler_.data());
  }
  fiber.told.enter_from(fiber.resumer);
}

void Block::run_as(unsigned thread) {
  running_ = thread;
  hooks_->thread.x = thread;
}

void Block::resume(unsigned thread) {
  std::unique_ptr<Fiber>& fiber = fibers_[thread];
  if (fiber == nullptr) {
    if (free_.empty()) free_.push_back(Spare::take());
    fiber = std::move(free_.back());
    free_.pop_back();
  }
  on_ = fiber.get();
  run_as(thread);
  if (__builtin_setjmp(scheduler_.data()) != 0) {
    on_->resumer.enter_from(on_->told);
    return;
  }
  on_->resumer.leave_for(on_->told);
  if (on_->has_entered) jump_to(on_->where.data());
  on_->has_entered = true;
  getcontext(&on_->context);
  on_->context.uc_stack.ss_sp = on_->stack.bytes();
  on_->context.uc_stack.ss_size = on_->stack_bytes;
  on_->context.uc_link = nullptr;
  makecontext(&on_->context, enter, 0);
  setcontext(&on_->context);
}

// Which lane is the `place`-th in turn, and back again: blocks of odd index go backwards.
unsigned Block::lane_at(unsigned place, unsigned index) {
  return index % 2 == 0 ? place : kLanes - 1 - place;
}

bool Block::release_warp(unsigned warp) {
  auto* const first = states_.data() + std::size_t{warp} * kLanes;
  const auto count = [&](State state) {
    return static_cast<unsigned>(std::count(first, first + kLanes, state));
  };
  const unsigned waiting = count(State::kWaitsForWarp);
  if (waiting == 0 || count(State::kWaitsForLaunches) > 0) return false;
  if (waiting != kLanes) {
    throw HangError("warp " + std::to_string(warp) + " of block " + std::to_string(index_) + ": " +
                    std::to_string(waiting) + " lanes exchange values, " +
                    std::to_string(count(State::kEnded)) + " have ended, " +
                    std::to_string(count(State::kWaitsForBlock)) + " wait for the block, " +
                    std::to_string(count(State::kWaitsForCluster)) + " for the cluster");
  }
  std::fill(first, first + kLanes, State::kReady);
  return true;
}

// Until all of its lanes have ended or wait for others than each other.
void Block::run_warp(unsigned warp) {
  do {
    for (unsigned i = 0; i < kLanes; ++i) {
      const unsigned thread = warp * kLanes + lane_at(i, index_);
      if (states_[thread] == State::kReady) resume(thread);
    }
  } while (release_warp(warp));
}

bool Block::release_block() {
  const auto has = [&](State state) { return std::ranges::count(states_, state) > 0; };
  if (has(State::kWaitsForLaunches)) return false;
  const bool any = has(State::kWaitsForBlock);
  if (any && waits_for_cluster()) {
    throw HangError("block " + std::to_string(index_) +
                    ": some threads wait for the block, others for the cluster");
  }
  go_on_from(State::kWaitsForBlock);
  return any;
}

void Block::go_on_from(State state) { std::ranges::replace(states_, state, State::kReady); }

bool Block::waits_for_cluster() const {
  return std::ranges::count(states_, State::kWaitsForCluster) > 0;
}

void Block::pass_cluster() {
  go_on_from(State::kWaitsForCluster);
  run_threads();
}

// Until all have ended, or wait for the launches before or the cluster.
void Block::run_threads() {
  constexpr unsigned kWarps = kThreads / kLanes;
  current_block = this;
  hooks_ = &hooks();
  hooks_->block = {index_, 0, 0};
  hooks_->rank = rank_;
  do {
    for (unsigned i = 0; i < kWarps; ++i) run_warp(index_ % 2 == 0 ? i : kWarps - 1 - i);
  } while (release_block());
}

void Block::begin(unsigned index, const std::function<void()>& body, unsigned rank) {
  index_ = index;
  rank_ = rank;
  body_ = &body;
  may_pass_launches_ = false;
  states_.fill(State::kReady);
  for (auto& fiber : fibers_) fiber = nullptr;  // of what hung
  exchanges_.fill(0);
  for (Copies& copies : copies_) copies.forget();
  run_threads();
}

void Block::finish() {
  may_pass_launches_ = true;
  go_on_from(State::kWaitsForLaunches);
  run_threads();
}

}  // namespace graphgate::optimized::emulated
