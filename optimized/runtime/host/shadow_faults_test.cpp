// Launches that write what they should not: a kernel with a defect, played by hand.
#include <cstring>

#include "optimized/program_test.h"
#include "optimized/runtime/host/memory.h"
#include "optimized/runtime/host/shadow.h"

namespace graphgate::optimized {
namespace {

constexpr const char* kText = R"(program "faulty" {
  parameter %w "w" : f32[8] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
  input %x : f32[8]
  %a = aten.add.Tensor(%x, %w)
  %b = aten.mul.Tensor(%a, %x)
  output %b
})";

// The plan's memory with guards, and its steps, whose launches a test writes.
class Bench {
 public:
  Bench() : program_(program_of(kText)) {
    CompileOptions options;
    options.memory.reuse = false;
    options.memory.in_place = false;
    plan_ = good_plan_of(program_, {f32({8}, std::vector<float>(8, 2.0F))}, options);
    memory_.plan = &plan_;
    for (const spec::PlanPool& pool : plan_.pools) {
      auto& bytes = pools_.emplace_back(pool.size_bytes, pool.alignment_bytes, true);
      const auto size = static_cast<std::size_t>(pool.size_bytes);
      memory_.pools.emplace_back(bytes.data(), size);
      memory_.guards.emplace_back(bytes.data() - kGuardBytes, kGuardBytes);
      memory_.guards.emplace_back(bytes.data() + size, kGuardBytes);
    }
    for (const spec::PlanBuffer& buffer : plan_.buffers) {
      memory_.buffers.push_back(
          memory_.pools[buffer.pool.index].subspan(static_cast<std::size_t>(buffer.offset_bytes),
                                                   static_cast<std::size_t>(buffer.size_bytes)));
    }
  }

  [[nodiscard]] std::span<std::byte> bytes(const std::string& name) const {
    return memory_.buffers[index_of(name)];
  }
  [[nodiscard]] std::span<std::byte> pool_of(const std::string& name) const {
    return memory_.pools[plan_.buffers[index_of(name)].pool.index];
  }

  // Runs both steps; `extra` belongs to the second.
  std::vector<spec::Finding> run(const std::function<void()>& extra) {
    shadow_.begin_run(memory_);
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const BoundStep step = bound(s);
      shadow_.launch(step, [&, s] {
        const std::string name = plan_.steps[s].node.name;
        std::memset(bytes(name).data(), 1, bytes(name).size());
        if (s == 1) extra();
      });
    }
    shadow_.end_run();
    return shadow_.drain_findings();
  }

 private:
  [[nodiscard]] std::size_t index_of(const std::string& name) const {
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].name == name) return b;
    }
    ADD_FAILURE() << "no buffer " << name;
    return 0;
  }

  [[nodiscard]] Tensor tensor(spec::ValueId id) const {
    Tensor out{.sizes = {8}, .strides = {1}, .storage = plan_.values[id.index].buffer->index};
    out.bytes = memory_.buffers[out.storage].data();
    return out;
  }

  [[nodiscard]] BoundStep bound(std::uint32_t index) const {
    const spec::Node& node = plan_.steps[index].node;
    const spec::OpRow* row = spec::builtin_op_table().find(node.op);
    BoundStep step;
    step.step = index;
    BoundCall call{&node, row, {}, {tensor(node.results.front().values.front())}};
    for (const spec::SchemaArgument& argument : row->schema.arguments) {
      Item item;
      for (const spec::NamedArgument& named : node.arguments) {
        const auto* id = named.argument.as<spec::ValueId>();
        if (named.name == argument.name && id) item = {tensor(*id)};
      }
      call.arguments.push_back(std::move(item));
    }
    step.calls.push_back(std::move(call));
    return step;
  }

  spec::Program program_;
  spec::Plan plan_;
  RunMemory memory_;
  std::vector<HostMemory> pools_;
  ShadowInstrument shadow_;
};

std::string only_finding(const std::vector<spec::Finding>& findings) {
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? "" : findings.front().rule + ": " + findings.front().message;
}

TEST(ShadowFaults, AreNoneWhereALaunchWritesWhatItSays) {
  Bench bench;
  EXPECT_TRUE(bench.run([] {}).empty());
  EXPECT_TRUE(bench.run([] {}).empty());
}

TEST(ShadowFaults, AreFoundInTheGuardsOfAPool) {
  Bench bench;
  const std::span<std::byte> pool = bench.pool_of("b");
  const std::string size = std::to_string(pool.size());
  EXPECT_EQ(only_finding(bench.run([&] { pool.data()[pool.size() + 3] = std::byte{7}; })),
            "S4.write-outside: step 1 'b' (aten.mul.Tensor) changes 1 bytes that belong to no "
            "buffer: [" +
                std::to_string(pool.size() + 3) + ", " + std::to_string(pool.size() + 4) +
                ") of pool @arena, which has " + size);
  EXPECT_EQ(bench.run([&] { pool.data()[-9] = std::byte{7}; }).size(), 1U);
  EXPECT_TRUE(bench.run([] {}).empty()) << "what was told once is not told again";
}

TEST(ShadowFaults, AreFoundInGapsThatAlignmentLeaves) {
  Bench bench;
  const std::span<std::byte> b = bench.bytes("b");
  const std::string found = only_finding(bench.run([&] { b.data()[b.size()] = std::byte{7}; }));
  EXPECT_EQ(found.substr(0, 16), "S4.write-outside") << found;
}

// An operand that the schema says it reads, and nothing else.
TEST(ShadowFaults, AreFoundInOperandsThatAreOnlyRead) {
  Bench bench;
  EXPECT_EQ(only_finding(bench.run([&] { bench.bytes("a")[4] = std::byte{9}; })),
            "S7.undeclared-write: step 1 'b' (aten.mul.Tensor) changes bytes [4, 5) of $a, which "
            "it does not say that it writes");
}

TEST(ShadowFaults, AreFoundInParameters) {
  Bench bench;
  EXPECT_EQ(only_finding(bench.run([&] { bench.bytes("w")[31] = std::byte{9}; })),
            "S8.read-only-written: step 1 'b' (aten.mul.Tensor) changes bytes [31, 32) of $w, "
            "which no step writes");
}

// What is behind the neighbourhood of the operands is looked at less often, and by the end.
TEST(ShadowFaults, AreFoundFarFromTheOperandsToo) {
  Bench bench;
  const std::span<std::byte> pool = bench.pool_of("w");
  const auto findings = bench.run([&] { pool.data()[-200] = std::byte{9}; });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().rule, "S4.write-outside");
  EXPECT_TRUE(contains(findings.front().message, "'b'"));
}

TEST(ShadowFaults, AreFoundAroundBytesOfTheHeap) {
  const HostMemory memory(100, 64, true);
  EXPECT_TRUE(memory.is_guarded());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U);
  EXPECT_EQ(memory.data()[-1], kGuardFill);
  EXPECT_EQ(memory.data()[0], std::byte{0});
  EXPECT_EQ(memory.data()[99], std::byte{0});
  EXPECT_EQ(memory.data()[100], kGuardFill);
  EXPECT_FALSE(HostMemory(100, 64).is_guarded());
}

}  // namespace
}  // namespace graphgate::optimized
