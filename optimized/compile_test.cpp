// The stages on small programs: what is cut and why, what crosses, what shares bytes.
#include "optimized/compile.h"

#include "optimized/program_test.h"
#include "optimized/runtime/host/host_program.h"

namespace graphgate::optimized {
namespace {

const spec::PlanBuffer& buffer(const spec::Plan& plan, const std::string& name) {
  for (const spec::PlanBuffer& candidate : plan.buffers) {
    if (candidate.name == name) return candidate;
  }
  ADD_FAILURE() << "no buffer '" << name << "'";
  return plan.buffers.front();
}

bool share_bytes(const spec::PlanBuffer& a, const spec::PlanBuffer& b) {
  return a.pool == b.pool && a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

Inputs ones(std::vector<std::int64_t> sizes) {
  const auto count = static_cast<std::size_t>(spec::element_count(sizes));
  return {f32(std::move(sizes), std::vector<float>(count, 1.0F))};
}

// A node is a step.
CompileOptions by_node() {
  CompileOptions options;
  options.compiler.name = "eager";
  return options;
}

constexpr const char* kSplit = R"(program "split" {
  input %q : f32[2, 2, 4]
  %k = aten.relu.default(%q)
  %o = aten.empty_like.default(%q)
  vllm.unified_attention_with_output.default(%q, %k, %k, %o, "layer") as attn
  %y = aten.mul.Tensor(%o, 2.0)
  %z = aten.add.Tensor(%y, %k)
  output %z
})";

TEST(Partition, CutsASplitOpOutWithItsReason) {
  const spec::Plan plan = good_plan_of(program_of(kSplit), ones({2, 2, 4}), by_node());
  EXPECT_EQ(partitions_of(plan), "k o | (attn) | y z");
  EXPECT_EQ(plan.blocks[0].partitions[1].reason, "split op vllm.unified_attention_with_output");
}

TEST(Partition, CutsAfterEveryNodeOnRequest) {
  CompileOptions options;
  options.partition.max_nodes = 1;
  const spec::Plan plan = good_plan_of(program_of(kSplit), ones({2, 2, 4}), options);
  EXPECT_EQ(partitions_of(plan), "k | (o) | (attn) | y | z");
}

TEST(Partition, NamesEveryReasonOfARunOnce) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "devices" {
  input %x : f32[4] on cuda
  input %s : f32[]
  %a = aten.mul.Tensor(%x, %s)
  %b = aten.add.Tensor(%a, %s)
  %c = aten._to_copy.default(%b, device=device("cpu"))
  %d = aten.add.Tensor(%x, %x)
  %e = aten.add.Tensor(%d, %a)
  output %c
  output %e
})"),
                                       {f32({4}, {1, 2, 3, 4}), f32({}, {2})}, by_node());
  EXPECT_EQ(partitions_of(plan), "(a b c) | d e");
  EXPECT_EQ(plan.blocks[0].partitions[0].reason, "reads a scalar on cpu; runs on cpu, not on cuda");
}

// PyTorch 165514: a partition whose last memory event is an allocation that only a later partition
// uses still returns it.
TEST(Signature, ReturnsAnAllocationThatOnlyALaterPartitionUses) {
  const spec::Plan plan = good_plan_of(program_of(kSplit), ones({2, 2, 4}));
  EXPECT_EQ(signature_of(plan, 0), "in q free out q k o const");
  EXPECT_EQ(signature_of(plan, 1), "in q k o free out q k o const");
  EXPECT_EQ(signature_of(plan, 2), "in free k o out z const");
}

// PyTorch 165815: what an alias chain keeps alive crosses by the name of its storage.
TEST(Signature, NamesTheStorageBehindAnAliasChain) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "alias" {
  input %x : f32[2, 2, 2]
  %y = aten.add.Tensor(%x, 1.0)
  %v = aten.view.default(%y, [2, 2, 2])
  %t = aten.transpose.int(%v, 0, 1)
  %o = aten.empty_like.default(%x)
  vllm.unified_attention_with_output.default(%x, %x, %x, %o, "layer") as attn
  %z = aten.add.Tensor(%t, %o)
  output %z
})"),
                                       ones({2, 2, 2}));
  EXPECT_EQ(signature_of(plan, 2), "in free y o out z const");
}

TEST(Signature, TellsConstantsFromStateThatIsWritten) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "state" {
  parameter %w "w" : f32[2] = [1.0, 2.0]
  buffer %b "b" : f32[2] = [0.0, 0.0]
  input %x : f32[2]
  %y = aten.mul.Tensor(%x, %w)
  %z = aten.add_.Tensor(%b, %y)
  output %z
})"),
                                       ones({2}));
  EXPECT_EQ(signature_of(plan, 0), "in b x free out b x const w");
}

TEST(Signature, ListsTheSymbolsOfSizesAndArguments) {
  const spec::Program program = program_of(R"(program "symbols" {
  symbol s0 in [2, 64] hint 4
  symbol s1 in [2, 64] hint 3
  input %x : f32[s0, 2]
  input %y : f32[s1]
  %n : symint = aten.sym_size.int(%x, 0)
  %a : f32[s0, 2] = aten.relu.default(%x)
  %b : f32[s1] = aten.relu.default(%y)
  output %a
  output %b
})");
  const spec::Plan plan =
      good_plan_of(program, {f32({4, 2}, std::vector<float>(8)), f32({3}, {1, 2, 3})});
  EXPECT_EQ(plan.blocks[0].partitions[0].signature.symbols, (std::vector<std::string>{"s0", "s1"}));
}

constexpr const char* kChain = R"(program "chain" {
  input %x : f32[1024]
  %a = aten.relu.default(%x)
  %b = aten.relu.default(%a)
  %c = aten.relu.default(%b)
  %d = aten.relu.default(%c)
  output %d
})";

TEST(Memory, GivesTheBytesOfWhatIsDeadToWhatComesLater) {
  CompileOptions options = by_node();
  options.memory.in_place = false;
  const spec::Plan plan = good_plan_of(program_of(kChain), ones({1024}), options);
  EXPECT_TRUE(share_bytes(buffer(plan, "a"), buffer(plan, "c")));
  EXPECT_FALSE(share_bytes(buffer(plan, "a"), buffer(plan, "b")));
  EXPECT_FALSE(share_bytes(buffer(plan, "c"), buffer(plan, "d")));
  EXPECT_EQ(plan.pools[buffer(plan, "a").pool.index].size_bytes, 2 * 4096);
}

TEST(Memory, SharesNothingWithoutReuse) {
  CompileOptions options = by_node();
  options.memory.reuse = false;
  const spec::Plan plan = good_plan_of(program_of(kChain), ones({1024}), options);
  EXPECT_FALSE(share_bytes(buffer(plan, "a"), buffer(plan, "c")));
  EXPECT_EQ(plan.pools[buffer(plan, "a").pool.index].size_bytes, 4 * 4096);
}

// A view keeps its storage: the bytes of %a are free only when %v has been read.
TEST(Memory, KeepsAStorageThatAViewOfItStillReads) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "view" {
  input %x : f32[32, 32]
  %a = aten.relu.default(%x)
  %v = aten.transpose.int(%a, 0, 1)
  %b = aten.relu.default(%x)
  %c = aten.relu.default(%b)
  %d = aten.add.Tensor(%c, %v)
  output %d
})"),
                                       ones({32, 32}), by_node());
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_FALSE(share_bytes(buffer(plan, "a"), buffer(plan, name))) << name;
  }
}

// An output lives to the end, even if nothing reads it after the first node.
TEST(Memory, NeverPlacesAnythingOverAnOutput) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "early" {
  input %x : f32[1024]
  %a = aten.relu.default(%x)
  %b = aten.neg.default(%x)
  %c = aten.relu.default(%b)
  %d = aten.relu.default(%c)
  output %a
  output %d
})"),
                                       ones({1024}), by_node());
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_FALSE(share_bytes(buffer(plan, "a"), buffer(plan, name))) << name;
  }
}

TEST(Memory, LetsTheArmsOfAConditionalShareBytes) {
  CompileOptions options = by_node();
  options.memory.in_place = false;
  const spec::Plan plan = good_plan_of(program_of(R"(program "arms" {
  input %p : bool[]
  input %x : f32[1024]
  graph @yes {
    input %u : f32[1024]
    %u1 = aten.relu.default(%u)
    %u2 = aten.neg.default(%u1)
    output %u2
  }
  graph @no {
    input %v : f32[1024]
    %v1 = aten.neg.default(%v)
    %v2 = aten.relu.default(%v1)
    output %v2
  }
  %keep = aten.neg.default(%x)
  %y = higher_order.cond(%p, @yes, @no, [%x])
  %z = aten.add.Tensor(%y, %keep)
  output %z
})"),
                                       {bools({}, {1}), ones({1024}).front()}, options);
  EXPECT_FALSE(share_bytes(buffer(plan, "keep"), buffer(plan, "u1")));
  EXPECT_FALSE(share_bytes(buffer(plan, "keep"), buffer(plan, "v1")));
  // x is a slot of its own. In the arena: keep, y, and the most that one arm needs at a time.
  EXPECT_EQ(plan.pools[buffer(plan, "keep").pool.index].size_bytes, 4 * 4096);
}

TEST(Passes, RemoveWhatNobodyReadsAndKeepWhatWrites) {
  const spec::Plan plan = good_plan_of(program_of(R"(program "dead" {
  buffer %b "b" : f32[2] = [0.0, 0.0]
  input %x : f32[2]
  %a = aten.relu.default(%x)
  %c = aten.neg.default(%x)
  %d = aten.add_.Tensor(%b, %x)
  output %a
})"),
                                       ones({2}));
  EXPECT_EQ(partitions_of(plan), "a d");
}

// The view has no bytes that the clone writes, and comes behind it all the same.
TEST(Compile, KeepsAViewWithoutElementsBehindWhatMakesItsStorage) {
  const spec::Program program = program_of(R"(program "empty_view" {
  input %x : f32[2, 4]
  %c = aten.clone.default(%x)
  %v = aten.slice.Tensor(%c, 0, 2, 2)
  %w = aten.fill_.Scalar(%v, 0.5)
  output %w
})");
  (void)good_plan_of(program, ones({2, 4}), {}, Launches::kAsAsked);
  (void)good_plan_of(program, ones({2, 4}));
}

TEST(Compile, RefusesWhatAnOpRefusesAndNamesTheNode) {
  const Error plan = failure_of(plan_of(program_of(R"(program "bad" {
  input %x : f32[2, 3]
  %y = aten.mm.default(%x, %x) as product
  output %y
})"),
                                        ones({2, 3})));
  EXPECT_EQ(plan.kind, ErrorKind::kBadInput);
  EXPECT_EQ(plan.message.rfind("bad: node 'product' (aten.mm.default): ", 0), 0U) << plan.message;
}

// As a decomposition of PyTorch writes it whose parts give other strides than the op that was
// traced.
TEST(Compile, AViewOfStridesThatNoOpGivesIsNoBadInput) {
  const auto kind = [](const char* strides) {
    return failure_of(plan_of(program_of(std::string(R"(program "viewed" {
  input %x : f32[2, 3, 4]
  %t : f32[2, 4, 3]{12, 1, 4} = aten.transpose.int(%x, 1, 2)
  %b : f32[2, 4, 3])") + strides + R"( = aten.relu.default(%t)
  %v : f32[2, 12] = aten.view.default(%b, [2, 12])
  output %v
})"),
                              ones({2, 3, 4})))
        .kind;
  };
  EXPECT_EQ(kind("{12, 3, 1}"), ErrorKind::kUnsupported);
  EXPECT_EQ(kind("{12, 1, 4}"), ErrorKind::kBadInput);
}

// What runs has the plan, kernels and memory: program and graph are gone, and the plan itself comes
// from its text.
TEST(HostProgram, RunsAPlanThatWasReadFromTextWithoutAnyGraph) {
  const spec::OpTable& ops = spec::builtin_op_table();
  std::string text;
  {
    const spec::Program program = program_of(R"(program "gone" {
  input %x : f32[4]
  %y = aten.add.Tensor(%x, 1.0)
  %z = aten.mul.Tensor(%y, %x)
  output %z
})");
    text = spec::print_plan(spec::number_plan(good_plan_of(program, ones({4}))), ops);
  }
  auto plan = must(spec::parse_plan(text, ops));
  StateMemory state;
  HostProgram program(std::move(plan), ops, state);
  for (int call = 0; call < 10; ++call) {
    const auto base = static_cast<float>(call);
    const spec::HostTensor x = f32({4}, {base, 1, 2, 3});
    const spec::HostTensor* inputs[] = {&x};
    program.run(inputs);
    const Tensor z = *program.read(program.plan().outputs.front()).as<Tensor>();
    float out[4];
    std::memcpy(out, z.data(), sizeof out);
    EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{(base + 1) * base, 2, 6, 12}));
  }
}

// What is said of a plan of the program whose partitions are all captured.
std::string refusal_of_capture(const char* text, const Inputs& inputs) {
  spec::Plan plan = good_plan_of(program_of(text), inputs);
  for (spec::PlanBlock& block : plan.blocks) {
    for (spec::PlanPartition& partition : block.partitions) partition.captured = true;
  }
  StateMemory state;
  try {
    const HostProgram program(std::move(plan), spec::builtin_op_table(), state);
  } catch (const OpError& error) {
    return error.what();
  }
  return "";
}

TEST(HostProgram, RefusesToCaptureWhatOnlyTheCallKnows) {
  EXPECT_EQ(refusal_of_capture(R"(program "data" {
  symbol u0 in [0, 4]
  input %x : f32[4]
  %i : i64[u0, 1] = aten.nonzero.default(%x)
  %s : i64[1] = aten.sum.dim_IntList(%i, [0])
  output %s
})",
                               ones({4})),
            "node 'i' (aten.nonzero.default): is captured, and what it makes depends on what it "
            "reads");
}

TEST(HostProgram, RefusesToCaptureAConditional) {
  EXPECT_EQ(
      refusal_of_capture(R"(program "either" {
  input %p : bool[]
  input %x : f32[2]
  graph @yes {
    input %a : f32[2]
    %b = aten.neg.default(%a)
    output %b
  }
  graph @no {
    input %c : f32[2]
    %d = aten.relu.default(%c)
    output %d
  }
  %y = higher_order.cond(%p, @yes, @no, [%x])
  output %y
})",
                         {bools({}, {1}), ones({2}).front()}),
      "node 'y' (higher_order.cond): is captured, and has no kernel: it can only run eagerly");
}

}  // namespace
}  // namespace graphgate::optimized
