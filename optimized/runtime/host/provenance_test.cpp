// Where words of state begin, as callers replace state and bind it anew.
#include "optimized/runtime/host/provenance.h"

#include <gtest/gtest.h>

#include <array>

#include "optimized/runtime/session_test.h"
#include "spec/op_table.h"
#include "spec/plan_text.h"
#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using Bytes = std::array<std::byte, 8>;

// Two states of two elements, each in a buffer of its own.
spec::Plan plan_of_states() {
  constexpr std::string_view kText = R"(plan "two" strict {
  pool @state state on cpu 16 align 4
  buffer $a @state [0, 8)
  buffer $b @state [8, 16)
  input parameter "a" %a : f32[2] $a
  input parameter "b" %b : f32[2] $b
}
)";
  return spec::parse_plan(kText, spec::builtin_op_table()).value();
}

class StateOfARun : public testing::Test {
 protected:
  // A call that finds the states at these places, and collects them.
  std::vector<spec::ProvenanceRow> call(Bytes& a, Bytes& b) {
    RunMemory memory;
    memory.plan = &plan_;
    memory.buffers = {a, b};
    instrument_.begin_run(memory);
    for (const auto& [name, bytes] : {std::pair("a", &a), std::pair("b", &b)}) {
      Tensor tensor{.sizes = {2}, .strides = {1}, .device = {}};
      tensor.bytes = bytes->data();
      instrument_.collect(std::string("state ") + name, tensor);
    }
    instrument_.end_run();
    return instrument_.drain_provenance();
  }

  // Whether the words are those of that state, replaced so often.
  static bool begins(const spec::ProvenanceRow& row, std::string_view name, std::uint64_t times) {
    const spec::InitialWords initial("state", name, times);
    return row.words[0] == initial.at(0) && row.words[1] == initial.at(1);
  }

  const spec::Plan plan_ = plan_of_states();
  ProvenanceInstrument instrument_;
  Bytes first_{}, second_{}, third_{};
};

TEST_F(StateOfARun, CountsHowOftenItWasReplaced) {
  const auto before = call(first_, second_);
  EXPECT_TRUE(begins(before[0], "a", 0) && begins(before[1], "b", 0));
  instrument_.replace_state(first_, first_);
  instrument_.replace_state(first_, first_);
  instrument_.replace_state(second_, third_);
  const auto after = call(first_, third_);
  EXPECT_TRUE(begins(after[0], "a", 2));
  EXPECT_TRUE(begins(after[1], "b", 1));
}

// What was bound anew leaves its memory to whoever asks for some next.
TEST_F(StateOfARun, IsItselfWhereOtherStateLayBefore) {
  (void)call(first_, second_);
  instrument_.replace_state(first_, third_);
  instrument_.replace_state(second_, first_);
  const auto moved = call(third_, first_);
  EXPECT_TRUE(begins(moved[0], "a", 1));
  EXPECT_TRUE(begins(moved[1], "b", 1));
  instrument_.replace_state(third_, second_);
  instrument_.replace_state(second_, third_);
  EXPECT_TRUE(begins(call(third_, first_)[0], "a", 3)) << "bound anew twice between two calls";
}

// The kernel of an op that moves elements is bound to words once, and runs on those of each call.
TEST(WordsOfACall, AreMovedAnewInEveryCall) {
  Options options;
  options.runtime.instrument = InstrumentKind::kProvenance;
  const Loaded loaded(R"(program "joined" {
  input %x : f32[2]
  input %y : f32[1]
  %z = aten.cat.default([%x, %y])
  output %z
})",
                      options);
  std::vector<spec::ProvenanceWord> before;
  for (int call = 0; call < 3; ++call) {
    std::vector<spec::ProvenanceWord> read;
    std::vector<spec::ProvenanceWord> made;
    for (const spec::ProvenanceRow& row :
         loaded.call({f32({2}, {1, 2}), f32({1}, {3})}).provenance) {
      auto& words = row.port.starts_with("operand") ? read : made;
      if (!row.node.empty()) words.insert(words.end(), row.words.begin(), row.words.end());
    }
    EXPECT_EQ(made.size(), 3U);
    EXPECT_EQ(made, read) << "call " << call;
    EXPECT_NE(made, before) << "inputs are others in every call";
    before = made;
  }
}

}  // namespace
}  // namespace graphgate::optimized
