#include "conformance/run/compile_once.h"

#include "base/result_test.h"
#include "spec/host_tensor_test.h"
#include "spec/option.h"
#include "spec/program_test.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using Due = CompileOnce::Due;
using spec::HostTensor;
using Inputs = std::vector<spec::InputValue>;

const char* const kText = R"(program "p" {
  symbol s0 in [0, 64]
  input %x : f32[s0, 2]
  input %y : f32[s0, 2]
  input %n : symint(s0)
  input %k : symfloat
  %z = aten.add.Tensor(%x, %y)
  output %z
})";

HostTensor rows(std::int64_t count) {
  HostTensor tensor = spec::float_tensor(std::vector<float>(static_cast<std::size_t>(2 * count)));
  tensor.sizes = {count, 2};
  tensor.strides = {2, 1};
  return tensor;
}
HostTensor turned(std::int64_t count) {
  HostTensor tensor = rows(count);
  tensor.strides = {1, count};
  return tensor;
}
Inputs call_of(const HostTensor& x, const HostTensor& y, double k = 0.5) {
  return {x, y, x.sizes[0], k};
}

// What is owed to a call behind a first one.
Due due_behind(const Inputs& first, const Inputs& call, const char* wrapper = "partition",
               const char* guards = "all") {
  const spec::Program program = spec::parse(kText);
  CompileOnce once(Configuration{{option::kWrapper, wrapper}, {option::kGuards, guards}});
  EXPECT_EQ(once.claim_on(program, first).due, Due::kService) << "the first call";
  EXPECT_EQ(once.served(program, first, {}), "");
  return once.claim_on(program, call).due;
}

TEST(CompileOnce, OwesServiceToOtherSizes) {
  const Inputs first = call_of(rows(3), rows(3));
  EXPECT_EQ(due_behind(first, call_of(rows(3), rows(3))), Due::kService);
  EXPECT_EQ(due_behind(first, call_of(rows(5), rows(5))), Due::kService);
}

TEST(CompileOnce, OwesARefusalToOtherFacts) {
  const Inputs first = call_of(rows(3), rows(3));
  const HostTensor both = rows(3);
  for (const char* guards : {"all", "shapes", "none"}) {
    EXPECT_EQ(due_behind(first, call_of(both, both), "split", guards), Due::kRefusal);
    EXPECT_EQ(due_behind(call_of(both, both), first, "split", guards), Due::kRefusal);
    EXPECT_EQ(due_behind(first, call_of(rows(3), rows(3), 2.0), "split", guards), Due::kRefusal);
  }
  HostTensor elsewhere = rows(3);
  elsewhere.device = *spec::parse_device("cuda");
  EXPECT_EQ(due_behind(first, call_of(elsewhere, rows(3))), Due::kRefusal);
}

TEST(CompileOnce, OwesARefusalToOtherLayoutsThatAreGuarded) {
  const Inputs first = call_of(rows(3), rows(3));
  EXPECT_EQ(due_behind(first, call_of(turned(3), rows(3))), Due::kRefusal);
  HostTensor larger = rows(3);
  larger.storage->bytes.resize(64);
  EXPECT_EQ(due_behind(first, call_of(larger, rows(3))), Due::kRefusal);
  EXPECT_EQ(due_behind(first, call_of(turned(3), rows(3)), "partition", "shapes"), Due::kService)
      << "it is copied";
}

TEST(CompileOnce, LeavesOpenWhatCanBeDefended) {
  const Inputs odd = call_of(turned(3), rows(3));
  EXPECT_EQ(due_behind(odd, odd), Due::kService) << "the very layout";
  EXPECT_EQ(due_behind(odd, call_of(rows(3), rows(3))), Due::kEither);
  const HostTensor shared = rows(2);
  HostTensor other = shared;
  other.strides = {1, 2};
  EXPECT_EQ(due_behind(call_of(shared, shared), call_of(shared, other), "partition", "shapes"),
            Due::kEither)
      << "a copy parts what shares a storage";
}

// What an earlier call returned of an input's storage, a copy of the input would not.
TEST(CompileOnce, LeavesOpenWhatAnOutputLiesOver) {
  const spec::Program program = spec::parse(kText);
  const Inputs first = call_of(rows(3), rows(3));
  spec::CallResult result;
  result.outputs.emplace_back(std::get<HostTensor>(first[0]));
  result.final_inputs = first;
  CompileOnce once(Configuration{{option::kWrapper, "partition"}, {option::kGuards, "shapes"}});
  EXPECT_EQ(once.served(program, first, {}, result), "");
  EXPECT_EQ(once.claim_on(program, call_of(turned(3), rows(3))).due, Due::kEither);
  EXPECT_EQ(once.claim_on(program, call_of(rows(3), turned(3))).due, Due::kService);
}

TEST(CompileOnce, OwesNothingWithoutAWrapper) {
  const HostTensor both = rows(3);
  for (const char* wrapper : {"none", "stock"}) {
    EXPECT_EQ(due_behind(call_of(rows(3), rows(3)), call_of(both, both), wrapper), Due::kService);
  }
  const spec::Program program = spec::parse(kText);
  CompileOnce off(Configuration{});
  EXPECT_EQ(off.served(program, call_of(both, both), {{"recompiles", 7}}), "");
}

TEST(CompileOnce, CountsWhatStockCompilesAgain) {
  const spec::Program program = spec::parse(kText);
  CompileOnce once(Configuration{{option::kWrapper, "stock"}});
  const Inputs plain = call_of(rows(3), rows(3));
  const Inputs odd = call_of(turned(3), rows(3));
  const auto counts = [](std::int64_t recompiles, std::int64_t completions) {
    return std::map<std::string, std::int64_t>{{"recompiles", recompiles},
                                               {"completions", completions}};
  };
  EXPECT_EQ(once.served(program, plain, counts(0, 1)), "");
  EXPECT_EQ(once.served(program, odd, counts(1, 2)), "");
  EXPECT_EQ(once.served(program, odd, counts(2, 3)), "counts 2 recompiles, expected 1");
  EXPECT_EQ(once.served(program, plain, counts(1, 3)), "counts 3 completions, expected 2");
  EXPECT_EQ(once.served(program, plain, {}), "") << "an executor that counts nothing";
}

}  // namespace
}  // namespace graphgate::conformance
