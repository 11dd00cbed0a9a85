// Plans of golden models under several options, for the tests that change them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "spec/plan_text.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {

// A plan with the program that it is for.
struct Sample {
  std::string name;
  std::shared_ptr<const spec::Program> program;
  spec::Plan plan;
  std::vector<spec::ProvenanceRow> facts;  // of a run of the reference; empty for padded plans
  const spec::OpTable* ops = &spec::builtin_op_table();
};

inline std::vector<spec::Finding> findings_of_sample(const Sample& sample, const spec::Plan& plan) {
  return verify::verify_plan(
      {&plan, sample.program.get(), sample.ops, sample.facts.empty() ? nullptr : &sample.facts});
}

inline reference::Options options_of_oracle() {
  reference::Options options;
  options.mode = reference::Mode::kProvenance;
  return options;
}

inline void add_sample(const std::string& name, const std::shared_ptr<const spec::Program>& program,
                       const std::vector<spec::InputValue>& inputs,
                       const optimized::Options& options, std::vector<Sample>& out) {
  const auto executor = optimized::make_executor(options);
  const auto loaded = must(executor->load(*program), name);
  const auto called = must(loaded->call(inputs), name);
  const auto oracle = reference::make_executor(options_of_oracle());
  const auto reference = must(oracle->load(*program), name);
  auto run = must(reference->call(inputs), name);
  Sample sample{name, program, *loaded->plan(), std::move(run.provenance)};
  if (sample.plan.padding) sample.facts.clear();
  out.push_back(std::move(sample));
}

inline optimized::Options on_streams(std::uint32_t count) {
  optimized::Options options;
  options.compile.streams.count = count;
  options.compile.compiler.name = "eager";
  return options;
}

inline optimized::Options weak_and_padded() {
  optimized::Options options;
  options.runtime.weak_outputs = true;
  options.runtime.capture_sizes = {8, 64};
  return options;
}

// What no model has: an input that changes its geometry, a number to specialize to, two inputs and
// outputs of one type.
inline constexpr const char* kExtraSample = R"(program "extra" {
  input %x : f32[1, 8, 8]
  input %y : f32[8, 8]
  input %z : f32[8, 8]
  input %n : symint
  %s = aten.squeeze_.dim(%x, 0)
  %a : f32[8, 8] = aten.mul.Tensor(%y, %n)
  %b : f32[8, 8] = aten.sub.Tensor(%a, %z)
  %c : f32[8, 8] = aten.mm.default(%b, %y)
  output %a
  output %c
  output %s
})";

// Rows that lie apart: a view that moves by an element meets bytes that nothing writes. The
// reference has no such op: there are no facts of a run.
inline constexpr const char* kGapsSample = R"(program "gaps" {
  input %x : f32[4, 4]
  %e : f32[4, 4]{5, 1} = aten.new_empty_strided.default(%x, [4, 4], [5, 1])
  %c : f32[4, 4]{5, 1} = aten.copy_.default(%e, %x)
  %s : f32[3, 4]{5, 1} = aten.slice.Tensor(%c, 0, 0, 3)
  %v : f32[3, 1]{5, 1} = aten.slice.Tensor(%s, 1, 3, 4)
  %y : f32[3, 1] = aten.cumsum.default(%v, 0)
  output %y
})";

inline void add_gaps(std::vector<Sample>& out) {
  auto program = must(spec::parse_program(kGapsSample, spec::builtin_op_table()));
  const auto loaded = must(optimized::make_executor({})->load(program));
  const std::vector<spec::InputValue> inputs = {
      spec::make_host_tensor(spec::DType::kFloat32, {4, 4})};
  ASSERT_TRUE(loaded->call(inputs).ok());
  out.push_back(
      {"gaps", std::make_shared<const spec::Program>(std::move(program)), *loaded->plan(), {}});
}

// What another executor shows of itself: kernels that say which element each iteration touches.
inline constexpr const char* kPositionsSample = R"(program "updates" {
  input %x : f32[6, 5]
  input %y : f32[6, 5]
  kernels.update.default(%x, %y) as update
  %z : f32[6, 5] = kernels.double.default(%x) as double
  output %z
})";
inline constexpr const char* kPositionsOps =
    "kernels::update(Tensor(a!) m0, Tensor r0, *, str[] positions=[]) -> ()\n"
    "kernels::double(Tensor r0, *, str[] positions=[]) -> Tensor\n";
inline constexpr const char* kPositionsPlan = R"(plan "updates" fast {
  pool @input input on cpu 256 align 64
  pool @arena arena on cpu 128 align 64
  buffer $x @input [0, 120)
  buffer $y @input [128, 248)
  buffer $z @arena [0, 120)
  input user "x" %x : f32[6, 5] $x
  input user "y" %y : f32[6, 5] $y
  block @main {
    partition 0 captured {
      in $x, $y
      out $x, $y, $z
      %z : f32[6, 5] $z = graphgate.fused(%x, %y) as double {
        kernels.update.default(%x, %y, positions=["nest 0 phase 0 over [6, 5] shared 30", "m0 reads d1 + 5*d0", "r0 reads d1 + 5*d0", "m0 writes d1 + 5*d0"]) as update
        %z = kernels.double.default(%x, positions=["nest 0 phase 0 over [30] shared 30", "r0 reads d0", "0 writes d0"]) as double
      }
    }
  }
  output %z
})";

inline void add_positions(std::vector<Sample>& out) {
  static const spec::OpTable kOps = [] {
    spec::OpTable ops = spec::builtin_op_table();
    EXPECT_TRUE(ops.add_text(kPositionsOps, "ops").ok());
    return ops;
  }();
  auto program = must(spec::parse_program(kPositionsSample, kOps));
  out.push_back({"positions",
                 std::make_shared<const spec::Program>(std::move(program)),
                 must(spec::parse_plan(kPositionsPlan, kOps)),
                 {},
                 &kOps});
}

inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = [] {
    std::vector<Sample> out;
    for (const char* model : {"mutations", "cond_nonzero", "mixed_device", "vllm_like",
                              "decode_static_cache", "llama_sdpa"}) {
      const Model read = read_model(std::string(GRAPHGATE_GOLDEN_DIR "/models/") + model + ".pt2");
      const auto program = std::make_shared<const spec::Program>(read.program);
      const auto& inputs = read.calls.at(0).inputs;
      add_sample(model, program, inputs, {}, out);
      add_sample(std::string(model) + ", streams", program, inputs, on_streams(4), out);
      add_sample(std::string(model) + ", padded", program, inputs, weak_and_padded(), out);
    }
    auto extra = must(spec::parse_program(kExtraSample, spec::builtin_op_table()));
    const std::vector<spec::InputValue> inputs = {
        spec::make_host_tensor(spec::DType::kFloat32, {1, 8, 8}),
        spec::make_host_tensor(spec::DType::kFloat32, {8, 8}),
        spec::make_host_tensor(spec::DType::kFloat32, {8, 8}), std::int64_t{3}};
    add_gaps(out);
    add_positions(out);
    add_sample("extra", std::make_shared<const spec::Program>(std::move(extra)), inputs, {}, out);
    return out;
  }();
  return kSamples;
}

}  // namespace graphgate
