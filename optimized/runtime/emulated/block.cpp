#include "optimized/runtime/emulated/block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>

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
    group_ = 0;
  }
  void end_group() { ++group_; }
  void wait(unsigned behind) {
    for (; !pending_.empty() && pending_.front().group + behind < group_; pending_.pop_front()) {
      const Copy& copy = pending_.front();
      if (copy.from == nullptr) {
        std::memset(copy.to, 0, kCopyBytes);
      } else {
        std::memcpy(copy.to, copy.from, kCopyBytes);
      }
    }
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t group;
  };
  std::deque<Copy> pending_;
  std::size_t group_ = 0;
};

struct Block::Thread {
  explicit Thread(unsigned index) : stack_bytes(kStackBytes - index % kTops * kTopBytes) {}
  State state = State::kEnded;
  bool has_entered = false;
  unsigned exchanges = 0;  // so far in this block
  Copies copies;
  std::jmp_buf where{};
  ucontext_t context{};
  Stack stack;
  std::size_t stack_bytes;  // that are used
  ToldStack told{stack.bytes(), kStackBytes};
  ToldStack resumer;
};

// Threads of Blocks that are gone: devices come and go by the thousand in a campaign, and the pages
// of 256 stacks take longer than what most of them run. A thread that has ended is anybody's: it
// asks for the current block when it is resumed.
class Block::Spare {
 public:
  using Threads = std::vector<std::unique_ptr<Thread>>;

  static Threads take() {
    {
      const std::lock_guard lock(instance().mutex_);
      auto& spare = instance().spare_;
      if (!spare.empty()) {
        Threads threads = std::move(spare.back());
        spare.pop_back();
        return threads;
      }
    }
    Threads threads;
    for (unsigned t = 0; t < kThreads; ++t) threads.push_back(std::make_unique<Thread>(t));
    return threads;
  }

  static void give_back(Threads threads) {
    const bool have_ended = std::ranges::all_of(
        threads, [](const auto& thread) { return thread->state == State::kEnded; });
    if (!have_ended) return;
    const std::lock_guard lock(instance().mutex_);
    if (instance().spare_.size() < kMost) instance().spare_.push_back(std::move(threads));
  }

 private:
  static constexpr std::size_t kMost =
      32;  // blocks: what a device has at most (emulated_device.cpp)
  static Spare& instance() {
    static Spare spare;
    return spare;
  }
  std::mutex mutex_;
  std::vector<Threads> spare_;
};

Block::Block()
    : threads_(Spare::take()), slots_(std::size_t{kThreads} / kLanes * 2 * kLanes * kSlotBytes) {}
Block::~Block() { Spare::give_back(std::move(threads_)); }

Block& Block::current() { return *current_block; }

Copies& Block::copies() { return threads_[running_]->copies; }

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
      const unsigned turn = block.threads_[block.running_]->exchanges++ % 2;
      const std::size_t warp = block.running_ / kLanes;
      return block.slots_.data() + (warp * 2 + turn) * kLanes * kSlotBytes;
    };
    made.begin_copy = [](void* to, const void* from) { current().copies().begin(to, from); };
    made.end_copies = [] { current().copies().end_group(); };
    made.wait_for_copies = [](unsigned behind) { current().copies().wait(behind); };
    return made;
  }();
  return hooks;
}

// On a thread's own stack, for as long as the block lives.
void Block::enter() {
  Thread& thread = *current().threads_[current().running_];
  thread.told.enter_from(thread.resumer);
  while (true) {
    Block& block = current();
    (*block.body_)();
    block.stop(State::kEnded);
  }
}

// From a thread back to whoever resumed it.
void Block::stop(State state) {
  Thread& thread = *threads_[running_];
  thread.state = state;
  if (_setjmp(thread.where) == 0) {
    thread.told.leave_for(thread.resumer);
    _longjmp(scheduler_, 1);
  }
  thread.told.enter_from(thread.resumer);
}

void Block::resume(unsigned index) {
  Thread& thread = *threads_[index];
  running_ = index;
  hooks().thread = {index, 0, 0};
  if (_setjmp(scheduler_) != 0) {
    thread.resumer.enter_from(thread.told);
    return;
  }
  thread.resumer.leave_for(thread.told);
  if (thread.has_entered) _longjmp(thread.where, 1);
  thread.has_entered = true;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.bytes();
  thread.context.uc_stack.ss_size = thread.stack_bytes;
  thread.context.uc_link = nullptr;
  makecontext(&thread.context, enter, 0);
  setcontext(&thread.context);
}

bool Block::release_warp(unsigned warp) {
  const auto first = threads_.begin() + static_cast<std::ptrdiff_t>(std::size_t{warp} * kLanes);
  const auto count = [&](State state) {
    return static_cast<unsigned>(std::count_if(
        first, first + kLanes, [state](const auto& thread) { return thread->state == state; }));
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
  std::for_each(first, first + kLanes, [](auto& thread) { thread->state = State::kReady; });
  return true;
}

// Until all of its lanes have ended or wait for others than each other.
void Block::run_warp(unsigned warp) {
  do {
    for (unsigned i = 0; i < kLanes; ++i) {
      const unsigned index = warp * kLanes + (index_ % 2 == 0 ? i : kLanes - 1 - i);
      if (threads_[index]->state == State::kReady) resume(index);
    }
  } while (release_warp(warp));
}

bool Block::release_block() {
  bool any = false;
  for (const auto& thread : threads_) {
    if (thread->state == State::kWaitsForLaunches) return false;
    any |= thread->state == State::kWaitsForBlock;
  }
  if (any && waits_for_cluster()) {
    throw HangError("block " + std::to_string(index_) +
                    ": some threads wait for the block, others for the cluster");
  }
  go_on_from(State::kWaitsForBlock);
  return any;
}

void Block::go_on_from(State state) {
  for (auto& thread : threads_) {
    if (thread->state == state) thread->state = State::kReady;
  }
}

bool Block::waits_for_cluster() const {
  return std::ranges::any_of(
      threads_, [](const auto& thread) { return thread->state == State::kWaitsForCluster; });
}

void Block::pass_cluster() {
  go_on_from(State::kWaitsForCluster);
  run_threads();
}

// Until all have ended, or wait for the launches before or the cluster.
void Block::run_threads() {
  constexpr unsigned kWarps = kThreads / kLanes;
  current_block = this;
  hooks().block = {index_, 0, 0};
  hooks().rank = rank_;
  do {
    for (unsigned i = 0; i < kWarps; ++i) run_warp(index_ % 2 == 0 ? i : kWarps - 1 - i);
  } while (release_block());
}

void Block::begin(unsigned index, const std::function<void()>& body, unsigned rank) {
  index_ = index;
  rank_ = rank;
  body_ = &body;
  may_pass_launches_ = false;
  for (auto& thread : threads_) {
    thread->state = State::kReady;
    thread->exchanges = 0;
    thread->copies.forget();
  }
  run_threads();
}

void Block::finish() {
  may_pass_launches_ = true;
  go_on_from(State::kWaitsForLaunches);
  run_threads();
}

}  // namespace graphgate::optimized::emulated
