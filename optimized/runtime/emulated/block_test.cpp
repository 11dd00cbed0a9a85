#include "optimized/runtime/emulated/block.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>

namespace graphgate::optimized::emulated {
namespace {

void run(Block& block, unsigned index, const std::function<void()>& body) {
  block.begin(index, body);
  block.finish();
}

template <class Body>
std::string hang_of(Block& block, Body&& body) {
  try {
    run(block, 0, body);
  } catch (const HangError& error) {
    return error.what();
  }
  return "";
}

TEST(Block, RunsEveryThreadOnce) {
  Block block;
  std::array<int, kThreads> runs{};
  for (unsigned b = 0; b < 3; ++b) {
    run(block, b, [&] {
      EXPECT_EQ(Block::hooks().block.x, b);
      ++runs[Block::hooks().thread.x];
    });
  }
  for (const int count : runs) EXPECT_EQ(count, 3);
}

// Where the threads of a block have their stacks: the first `waiting` ones wait for each other.
std::set<const void*> stacks_of(Block& block, unsigned waiting = kThreads) {
  std::set<const void*> stacks;
  // The frame and no variable: sanitizers give variables places of their own.
  run(block, 0, [&] {
    stacks.insert(__builtin_frame_address(0));
    if (Block::hooks().thread.x < waiting) Block::hooks().wait_for_block();
  });
  return stacks;
}

TEST(Block, HasOneStackForThreadsThatWaitForNobody) {
  Block block;
  EXPECT_EQ(stacks_of(block, 0).size(), 1U);
  EXPECT_EQ(stacks_of(block, 1).size(), 2U);
  EXPECT_EQ(stacks_of(block, 40).size(), 41U);
}

// Some lanes wait once, some twice, and the others end on the stacks of those that ended before.
TEST(Block, RunsWhatWaitsAndWhatHasEndedSideBySide) {
  Block block;
  for (unsigned b = 0; b < 2; ++b) {
    std::array<int, kThreads> begun{};
    std::array<int, kThreads> ended{};
    run(block, b, [&] {
      Hooks& hooks = Block::hooks();
      const unsigned own = hooks.thread.x;
      ++begun[own];
      if (own % 3 == 0) hooks.wait_for_block();
      if (own % 6 == 0) hooks.wait_for_block();
      EXPECT_EQ(hooks.thread.x, own);
      ++ended[own];
    });
    for (unsigned t = 0; t < kThreads; ++t) EXPECT_EQ(begun[t] + ended[t], 2) << t;
  }
}

TEST(Block, HasTheStacksOfOneThatIsGone) {
  auto first = std::make_unique<Block>();
  auto second = std::make_unique<Block>();
  const auto of_first = stacks_of(*first);
  const auto of_second = stacks_of(*second);
  EXPECT_EQ(of_first.size(), kThreads);
  EXPECT_NE(of_first, of_second);
  first = nullptr;
  Block third;
  EXPECT_EQ(stacks_of(third), of_first);
  EXPECT_EQ(stacks_of(*second), of_second);
}

// It would go on where it hung.
TEST(Block, HasNoThreadThatHangs) {
  auto hanging = std::make_unique<Block>();
  EXPECT_NE(hang_of(*hanging,
                    [] {
                      if (Block::hooks().thread.x == 0) Block::hooks().wait_for_warp();
                    }),
            "");
  hanging = nullptr;
  Block next;
  EXPECT_EQ(stacks_of(next).size(), kThreads);
}

TEST(Block, RunsAnewAfterOneThatHung) {
  Block block;
  EXPECT_NE(hang_of(block,
                    [] {
                      if (Block::hooks().thread.x == 0) Block::hooks().wait_for_warp();
                    }),
            "");
  EXPECT_EQ(stacks_of(block).size(), kThreads);
}

TEST(Block, NobodyPassesABarrierBeforeAllHaveCome) {
  Block block;
  std::array<int, kThreads> first{};
  run(block, 0, [&] {
    Hooks& hooks = Block::hooks();
    const unsigned own = hooks.thread.x;
    first[own] = 1;
    hooks.wait_for_block();
    int sum = 0;
    for (const int one : first) sum += one;
    EXPECT_EQ(sum, static_cast<int>(kThreads));
    EXPECT_EQ(hooks.thread.x, own) << "a thread goes on as itself";
    hooks.wait_for_block();
    first[own] = 0;
  });
}

TEST(Block, LanesExchangeThroughSlotsThatTakeTurns) {
  Block block;
  run(block, 0, [&] {
    Hooks& hooks = Block::hooks();
    const unsigned own = hooks.thread.x;
    for (unsigned char round = 0; round < 5; ++round) {
      unsigned char* const slots = hooks.exchange();
      slots[std::size_t{own % kLanes} * 64] = static_cast<unsigned char>(own + round);
      hooks.wait_for_warp();
      const unsigned next = own / kLanes * kLanes + (own + 1) % kLanes;
      EXPECT_EQ(slots[std::size_t{next % kLanes} * 64], static_cast<unsigned char>(next + round));
    }
  });
}

TEST(Block, WaitsForTheLaunchesBefore) {
  Block block;
  unsigned begun = 0;
  unsigned ended = 0;
  const std::function<void()> body = [&] {
    ++begun;
    Block::hooks().wait_for_launches();
    Block::hooks().wait_for_block();
    ++ended;
    Block::hooks().wait_for_launches();
  };
  block.begin(0, body);
  EXPECT_EQ(begun, kThreads);
  EXPECT_EQ(ended, 0U);
  block.finish();
  EXPECT_EQ(begun, kThreads);
  EXPECT_EQ(ended, kThreads);
}

TEST(Block, CopiesHappenWhenTheirThreadWaitsForThem) {
  Block block;
  run(block, 0, [] {
    Hooks& hooks = Block::hooks();
    const std::array<unsigned, 4> from = {1, 2, 3, hooks.thread.x};
    std::array<std::array<unsigned, 4>, 3> to = {};
    to[1].fill(9);
    hooks.begin_copy(to[0].data(), from.data());
    hooks.end_copies();
    hooks.begin_copy(to[1].data(), nullptr);
    hooks.end_copies();
    hooks.end_copies();
    hooks.begin_copy(to[2].data(), from.data());
    hooks.wait_for_copies(3);
    EXPECT_EQ(to[0][0], 0U);
    hooks.wait_for_copies(2);
    EXPECT_EQ(to[0], from);
    EXPECT_EQ(to[1][0], 9U);
    hooks.wait_for_copies(0);
    EXPECT_EQ(to[1][0], 0U);
    EXPECT_EQ(to[2][0], 0U) << "its group has not ended";
    hooks.end_copies();
    hooks.wait_for_copies(0);
    EXPECT_EQ(to[2], from);
  });
}

TEST(Block, GoesBackwardsEverySecondTime) {
  Block block;
  for (unsigned b = 0; b < 2; ++b) {
    unsigned last = kThreads;
    run(block, b, [&] { last = Block::hooks().thread.x; });
    EXPECT_EQ(last, b == 0 ? kThreads - 1 : 0);
  }
}

TEST(Block, ThreadsThatHaveEndedCountAtABarrierOfTheBlock) {
  Block block;
  unsigned passed = 0;
  run(block, 0, [&] {
    if (Block::hooks().thread.x >= 40) return;
    Block::hooks().wait_for_block();
    ++passed;
  });
  EXPECT_EQ(passed, 40U);
}

TEST(Block, AWarpThatWaitsForALaneThatHasEndedIsAnError) {
  Block block;
  const std::string error = hang_of(block, [&] {
    if (Block::hooks().thread.x != 33) Block::hooks().wait_for_warp();
  });
  EXPECT_EQ(error,
            "warp 1 of block 0: 31 lanes exchange values, 1 have ended, 0 wait for the block, "
            "0 for the cluster");
}

TEST(Block, AWarpWhoseLanesWaitForDifferentThingsIsAnError) {
  Block block;
  const std::string error = hang_of(block, [&] {
    Hooks& hooks = Block::hooks();
    if (hooks.thread.x % 2 == 0) {
      hooks.wait_for_warp();
    } else {
      hooks.wait_for_block();
    }
  });
  EXPECT_EQ(error,
            "warp 0 of block 0: 16 lanes exchange values, 0 have ended, 16 wait for the block, "
            "0 for the cluster");
}

TEST(Block, WaitsForItsClusterWithAllThreadsThatHaveNotEnded) {
  Block block;
  std::array<int, kThreads> passed{};
  const std::function<void()> body = [&] {
    Hooks& hooks = Block::hooks();
    const unsigned own = hooks.thread.x;
    EXPECT_EQ(hooks.rank, 3U);
    hooks.wait_for_block();
    if (own < 40) return;
    hooks.wait_for_cluster();
    ++passed[own];
    hooks.wait_for_cluster();
  };
  block.begin(7, body, 3);
  block.finish();
  EXPECT_TRUE(block.waits_for_cluster());
  EXPECT_EQ(passed[50], 0);
  block.pass_cluster();
  EXPECT_TRUE(block.waits_for_cluster());
  EXPECT_EQ(passed[50], 1);
  EXPECT_EQ(passed[39], 0);
  block.pass_cluster();
  EXPECT_FALSE(block.waits_for_cluster());
}

TEST(Block, SomeWhoWaitForTheBlockAndSomeForTheClusterAreAnError) {
  Block block;
  const std::string error = hang_of(block, [] {
    Hooks& hooks = Block::hooks();
    if (hooks.thread.x / kLanes % 2 == 0) {
      hooks.wait_for_cluster();
    } else {
      hooks.wait_for_block();
    }
  });
  EXPECT_EQ(error, "block 0: some threads wait for the block, others for the cluster");
}

}  // namespace
}  // namespace graphgate::optimized::emulated
