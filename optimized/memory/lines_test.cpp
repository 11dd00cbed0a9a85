// Line reuse, rule by rule: right, and with the deviation that breaks the rule.
#include "optimized/memory/lines.h"

#include "optimized/memory/memory_test.h"

namespace graphgate::optimized {
namespace {

using D = spec::Deviation;

CompileOptions lines(std::initializer_list<D> deviations = {}) {
  return with_strategy(MemoryStrategy::kLines, deviations);
}

spec::Plan plan_with(const std::string& text, const CompileOptions& options,
                     Inputs inputs = {counting({8, 8})}) {
  return must(plan_of(program_of(text), inputs, options));
}

// Whether the two are handed on from one to the other: they lie in one place.
bool in_one_place(const spec::Plan& plan, const std::string& a, const std::string& b) {
  const spec::PlanBuffer& x = buffer(plan, a);
  const spec::PlanBuffer& y = buffer(plan, b);
  return x.pool == y.pool && x.offset_bytes == y.offset_bytes;
}

TEST(Lines, HandAFreedBufferToTheNextAllocationOfItsKey) {
  const spec::Plan plan = plan_with(programs::kFourProducts, lines());
  EXPECT_TRUE(in_one_place(plan, "a", "c"));
  EXPECT_FALSE(in_one_place(plan, "a", "b"));
  EXPECT_EQ(shared_in(plan), "");
  EXPECT_TRUE(in_one_place(plan, "b", "d"));
  EXPECT_EQ(arena_bytes(plan), 2 * 256);
}

// What a log is told of where buffers come from, a line each.
class Origins final : public CompileLog {
 public:
  void stage(std::string_view /*name*/, double /*seconds*/) override {}
  void warning(std::string_view /*message*/) override {}
  void placed(std::string_view buffer, std::string_view how, std::string_view old) override {
    said += std::string(buffer) + " " + std::string(how);
    if (!old.empty()) said += " " + std::string(old);
    said += "\n";
  }
  std::string said;
};

std::string origins_in(const std::string& text, CompileOptions options) {
  Origins log;
  options.log = &log;
  (void)plan_with(text, options);
  return log.said;
}

TEST(Lines, TellWhoseBytesABufferTookOver) {
  EXPECT_EQ(origins_in(programs::kFourProducts, lines()),
            "a allocated\nc reused a\nb allocated\nd reused b\n");
  EXPECT_EQ(origins_in(R"(program "over" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.relu.default(%a)
  output %b
})",
                       lines()),
            "a allocated\nb in place a\n");
}

// The scheduler makes no launch of an empty tensor, and a writer waits for what was made of the
// bytes that it writes.
TEST(Lines, LeaveInPlaceWhatTheSchedulerWaitsFor) {
  const std::string of_empty = R"(program "empty" {
  input %x : f32[8, 8]
  %e = aten.empty_like.default(%x)
  %a = aten.neg.default(%e)
  output %a
})";
  EXPECT_EQ(origins_in(of_empty, lines()), "e allocated\na allocated\n");
  CompileOptions packed = lines();
  packed.memory.strategy = MemoryStrategy::kPack;
  EXPECT_EQ(origins_in(of_empty, packed), "e allocated\na in place e\n");
  const std::string written = R"(program "written" {
  input %x : f32[8, 8]
  %a = aten.cos.default(%x)
  %b = aten.neg.default(%a)
  %c = aten.add_.Tensor(%x, 1.0)
  output %b
})";
  EXPECT_EQ(origins_in(written, lines()), "a allocated\nb allocated\n");
  const std::string unwritten = std::string(written).replace(written.find("add_"), 4, "add");
  EXPECT_EQ(origins_in(unwritten, lines()).find("b in place a\n"), 12U);
}

// PyTorch 165514: the cut-out op is given a buffer that nobody allocated.
TEST(TailAllocationsByGraphOutputs, TellsOfABufferThatNobodyAllocated) {
  const std::string text = R"(program "tail" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.empty_like.default(%a)
  %c = aten.cos.default(%a)
  %d = aten.add.Tensor(%b, %c)
  output %d
})";
  CompileOptions options = lines({D::kTailAllocationsByGraphOutputs});
  options.partition.split_ops = {"aten.cos"};
  EXPECT_NE(origins_in(text, options).find("b none\n"), std::string::npos);
  options.deviations = {};
  EXPECT_NE(origins_in(text, options).find("b allocated\n"), std::string::npos);
}

// PyTorch 178578: %a takes the bytes that %b will give back.
TEST(ReusesInvertedRanges, ReusesWhatIsFreedLater) {
  EXPECT_EQ(shared_in(plan_with(programs::kThreeProducts, lines())), "");
  EXPECT_EQ(shared_in(plan_with(programs::kThreeProducts, lines({D::kReusesInvertedRanges}))),
            "a b");
}

// PyTorch 124425: what the second node still reads.
TEST(AllocatedTestedLate, ReusesWhatTheSameNodeReads) {
  EXPECT_EQ(shared_in(plan_with(programs::kFourProducts, lines())), "");
  EXPECT_EQ(shared_in(plan_with(programs::kFourProducts, lines({D::kAllocatedTestedLate}))), "a b");
}

TEST(Lines, TakeTheOneThatWasFreedLast) {
  const spec::Plan plan = plan_with(R"(program "lifo" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%x, %x)
  %c = aten.mm.default(%a, %x)
  %d = aten.mm.default(%b, %x)
  %e = aten.mm.default(%c, %d)
  output %e
})",
                                    lines());
  EXPECT_TRUE(in_one_place(plan, "a", "d"));
  EXPECT_TRUE(in_one_place(plan, "b", "e"));
}

constexpr const char* kSplit = R"(program "split" {
  input %q : f32[2, 2, 4]
  %k = aten.cumsum.default(%q, 0)
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %q, %q, %o, "layer") as attn
  %y = aten.mul.Tensor(%o, 2.0)
  %z = aten.add.Tensor(%y, %k)
  output %z
})";

// PyTorch 165514: nothing is launched behind the allocation of %o in its partition, and the whole
// program does not output it.
TEST(TailAllocationsByGraphOutputs, DropsWhatALaterPartitionFills) {
  const Inputs inputs = {counting({2, 2, 4})};
  EXPECT_EQ(shared_in(plan_with(kSplit, lines(), inputs)), "");
  const CompileOptions wrong = lines({D::kTailAllocationsByGraphOutputs});
  EXPECT_EQ(shared_in(plan_with(kSplit, wrong, inputs)), "k o");
  EXPECT_NE(last_output(kSplit, {inputs}, wrong), last_output(kSplit, {inputs}, lines()));
}

// A pointwise value becomes a buffer when the op behind the cut asks for it: its kernel is then the
// last line, and the allocation is not. Nor is it at the end of what is not captured.
TEST(TailAllocationsByGraphOutputs, KeepsWhatIsNotTheLastLine) {
  const std::string text = kSplit;
  const std::size_t scan = text.find("aten.cumsum.default(%q, 0)");
  const std::string waits = std::string(text).replace(scan, 26, "aten.relu.default(%q)");
  const Inputs inputs = {counting({2, 2, 4})};
  CompileOptions wrong = lines({D::kTailAllocationsByGraphOutputs});
  EXPECT_EQ(shared_in(plan_with(waits.c_str(), wrong, inputs)), "");
  wrong.partition.capture = false;
  EXPECT_EQ(shared_in(plan_with(kSplit, wrong, inputs)), "");
}

// PyTorch 103720: %b lies over %a, and %a is handed out once more.
TEST(FreesTwice, OffersWhatWasTakenOver) {
  const spec::Plan right = plan_with(programs::kInPlaceThenReuse, lines());
  EXPECT_TRUE(in_one_place(right, "a", "b"));
  EXPECT_EQ(shared_in(right), "");
  const CompileOptions wrong = lines({D::kFreesTwice});
  EXPECT_EQ(shared_in(plan_with(programs::kInPlaceThenReuse, wrong)), "b c");
  EXPECT_NE(last_output(programs::kInPlaceThenReuse, {{counting({8, 8})}}, wrong),
            last_output(programs::kInPlaceThenReuse, {{counting({8, 8})}}, lines()));
}

constexpr const char* kUnaligned = R"(program "unaligned" {
  input %x : f32[3, 3]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.cumsum.default(%b, 0)
  %d = aten.cumsum.default(%c, 0)
  output %d
})";

TEST(KeyWithoutAlignment, PutsWhatWantsAlignmentWhereNobodyAligned) {
  CompileOptions options = lines();
  options.memory.unaligned_ops = {"aten.mm"};
  const auto alignment_of = [](const spec::Plan& plan, const std::string& name) {
    return plan.pools[buffer(plan, name).pool.index].alignment_bytes;
  };
  const spec::Plan right = plan_with(kUnaligned, options, {counting({3, 3})});
  EXPECT_EQ(alignment_of(right, "a"), kElementAlignment);
  EXPECT_EQ(buffer(right, "b").offset_bytes, 48) << "36 bytes, and what 16 of them round up to";
  EXPECT_EQ(alignment_of(right, "c"), 256);
  options.deviations.add(D::kKeyWithoutAlignment);
  const spec::Plan wrong = plan_with(kUnaligned, options, {counting({3, 3})});
  EXPECT_EQ(alignment_of(wrong, "c"), kElementAlignment);
  EXPECT_EQ(alignment_of(wrong, "d"), kElementAlignment);
}

constexpr const char* kDevices = R"(program "devices" {
  input %x : f32[8, 8] on cuda
  input %y : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%y, %y)
  output %b
  output %c
})";

TEST(KeyWithoutDevice, PutsATensorIntoAnotherDevicesMemory) {
  CompileOptions options = lines();
  options.partition.capture = false;  // one partition for both devices
  const Inputs inputs = {counting({8, 8}), counting({8, 8})};
  const auto device_of = [](const spec::Plan& plan, const std::string& name) {
    return plan.pools[buffer(plan, name).pool.index].device.type;
  };
  EXPECT_EQ(device_of(plan_with(kDevices, options, inputs), "c"), "cpu");
  options.deviations.add(D::kKeyWithoutDevice);
  EXPECT_EQ(device_of(plan_with(kDevices, options, inputs), "c"), "cuda");
}

// Groups, as what is left is packed and may share bytes all the same.
MemoryGroups groups_of(const std::string& text, const CompileOptions& options) {
  SizedGraph graph = sized_graph_of(program_of(text), {counting({8, 8})}, options);
  const Partitions partitions = make_partitions(graph, options.partition);
  const Liveness liveness = analyze_liveness(graph);
  const Signatures signatures = derive_signatures(graph, partitions, liveness);
  const MemoryInput input{graph, partitions, signatures, liveness, {}};
  const auto uses = storage_uses(input, options.memory, options.deviations);
  return plan_lines(input, uses, std::vector<StorageIndex>(uses.size(), kNoStorage),
                    options.deviations);
}

TEST(Lines, HandNothingOnAcrossPartitions) {
  CompileOptions options = lines();
  EXPECT_EQ(groups_of(programs::kFourProducts, options).groups.size(), 2U);
  options.partition.max_nodes = 1;
  EXPECT_EQ(groups_of(programs::kFourProducts, options).groups.size(), 4U);
}

constexpr const char* kDtypes = R"(program "dtypes" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %b = aten.mm.default(%a, %x)
  %c = aten.zeros.default([8, 8], dtype=i32)
  %d = aten.add.Tensor(%b, %c)
  output %d
})";

TEST(KeyWithoutDtype, HandsFloatsBytesToIntegers) {
  const MemoryGroups wrong = groups_of(kDtypes, lines({D::kKeyWithoutDtype}));
  // a, b, c and d have storages 1 to 4.
  EXPECT_EQ(wrong.of_storage[1], wrong.of_storage[3]);
  EXPECT_NE(groups_of(kDtypes, lines()).of_storage[1], groups_of(kDtypes, lines()).of_storage[3]);
}

TEST(KeyWithoutLayout, HandsASmallBufferToALargeTensor) {
  const Inputs inputs = {counting({8, 8}), counting({64, 8})};
  EXPECT_EQ(shared_in(plan_with(programs::kTwoSizes, lines(), inputs)), "");
  const spec::Plan wrong = plan_with(programs::kTwoSizes, lines({D::kKeyWithoutLayout}), inputs);
  EXPECT_NE(shared_in(wrong), "");
}

constexpr const char* kMutated = R"(program "mutated" {
  input %x : f32[8, 8]
  %a = aten.mm.default(%x, %x)
  %m = aten.add_.Tensor(%a, 1.0)
  %b = aten.mm.default(%a, %x)
  %c = aten.mm.default(%b, %x)
  %d = aten.mm.default(%c, %x)
  output %d
})";

// PyTorch 173485: more memory, not a wrong result.
TEST(MutationBlocksReuse, NeverReusesWhatWasWrittenInPlace) {
  const spec::Plan right = plan_with(kMutated, lines());
  EXPECT_TRUE(in_one_place(right, "a", "c"));
  const CompileOptions wrong = lines({D::kMutationBlocksReuse});
  EXPECT_FALSE(in_one_place(plan_with(kMutated, wrong), "a", "c"));
  EXPECT_GT(arena_bytes(plan_with(kMutated, wrong)), arena_bytes(right));
  EXPECT_EQ(last_output(kMutated, {{counting({8, 8})}}, wrong),
            last_output(kMutated, {{counting({8, 8})}}, lines()));
}

// %a is free before the two large ones live, %d is made after them.
constexpr const char* kPeak = R"(program "peak" {
  input %x : f32[8, 8]
  input %y : f32[64, 8]
  %a = aten.mm.default(%x, %x)
  %s = aten.sum.default(%a)
  %b = aten.mm.default(%y, %x)
  %c = aten.mm.default(%b, %x)
  %r = aten.sum.default(%c)
  %d = aten.mm.default(%x, %x)
  %t = aten.sum.default(%d)
  %u = aten.add.Tensor(%s, %r)
  %v = aten.add.Tensor(%u, %t)
  output %v
})";

// PyTorch 145883
TEST(ReuseWithoutPeakTest, HoldsABufferThroughThePeak) {
  const Inputs inputs = {counting({8, 8}), counting({64, 8})};
  const spec::Plan right = plan_with(kPeak, lines(), inputs);
  const spec::Plan wrong = plan_with(kPeak, lines({D::kReuseWithoutPeakTest}), inputs);
  EXPECT_EQ(arena_bytes(right), placement_stats(right).front().bound_bytes);
  EXPECT_EQ(arena_bytes(wrong), arena_bytes(right) + 256);
}

// The first call is right: the parameter is overwritten after it was read.
TEST(PersistentDiesAtLastUse, OverwritesWhatTheNextCallReads) {
  const Inputs inputs = {counting({2, 2})};
  const auto expected = last_output(programs::kProductsOfState, {inputs}, lines());
  EXPECT_EQ(last_output(programs::kProductsOfState, {inputs, inputs}, lines()), expected);
  const CompileOptions wrong = lines({D::kPersistentDiesAtLastUse});
  EXPECT_EQ(last_output(programs::kProductsOfState, {inputs}, wrong), expected);
  EXPECT_NE(last_output(programs::kProductsOfState, {inputs, inputs}, wrong), expected);
}

TEST(OneFreeListAcrossArms, ReusesInOneArmWhatTheOtherIsDoneWith) {
  for (const std::uint8_t predicate : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Inputs inputs = {bools({}, {predicate}), counting({8, 8})};
    EXPECT_EQ(shared_in(plan_with(programs::kArms, lines(), inputs)), "");
    const auto expected =
        last_output(programs::kArms, {inputs}, with_strategy(MemoryStrategy::kPack));
    EXPECT_EQ(last_output(programs::kArms, {inputs}, lines()), expected);
    const CompileOptions wrong = lines({D::kOneFreeListAcrossArms});
    EXPECT_EQ(shared_in(plan_with(programs::kArms, wrong, inputs)), "s v2");
    const auto found = last_output(programs::kArms, {inputs}, wrong);
    if (predicate == 1) {
      EXPECT_EQ(found, expected);
    } else {
      EXPECT_NE(found, expected);
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized
