// Runs every program of the small scope with every set of cuts: the two executors must agree on
// every bit, and the verifier must have nothing to say. For the tests of two and of three nodes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/judges/same_bits.h"
#include "conformance/verify/verify.h"
#include "fuzz/generate/small_scope.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/graph_text.h"

namespace graphgate::tools {

struct SmallScopeCount {
  std::uint64_t programs = 0;
  std::uint64_t left_open = 0;  // by the reference: a write over an operand in part
  std::uint64_t runs = 0;       // of the optimized executor: a program under one set of cuts
  std::uint64_t plans_with_cuts = 0;
  std::uint64_t findings = 0;
};

class SmallScopeRun {
 public:
  // Every program of exactly `nodes` nodes; stops after the first few failures.
  SmallScopeCount run(std::uint32_t nodes) {
    fuzz::for_each_small_program(nodes, [&](const fuzz::SmallProgram& small) {
      ++count_.programs;
      check(small);
      return count_.findings < kMostFindings;
    });
    return count_;
  }

 private:
  static constexpr std::uint64_t kMostFindings = 5;
  static constexpr int kCalls = 2;  // what a replay leaves behind shows in the next one

  static std::vector<spec::InputValue> inputs(int call) {
    const float values[2][4] = {{1, -2, 3, -5}, {7, 11, -13, 17}};
    spec::HostTensor x = spec::make_host_tensor(spec::DType::kFloat32, {4});
    std::memcpy(x.storage->bytes.data(), values[call], sizeof(values[call]));
    return {x};
  }

  void fail(const fuzz::SmallProgram& small, const std::string& cuts, const std::string& what) {
    ++count_.findings;
    ADD_FAILURE() << what << "\ncut after: " << (cuts.empty() ? "nothing" : cuts) << "\n"
                  << small.text;
  }

  static std::vector<spec::CallResult> calls_of(spec::Executor& executor,
                                                const spec::Program& program,
                                                std::unique_ptr<spec::LoadedProgram>& loaded,
                                                std::optional<Error>& error) {
    std::vector<spec::CallResult> results;
    auto made = executor.load(program);
    if (!made.ok()) error = made.error();
    if (made.ok()) loaded = std::move(made).value();
    for (int c = 0; c < kCalls && !error; ++c) {
      auto result = loaded->call(inputs(c));
      if (!result.ok()) error = result.error();
      if (result.ok()) results.push_back(std::move(result).value());
    }
    return results;
  }

  void check(const fuzz::SmallProgram& small) {
    const auto parsed = spec::parse_program(small.text, spec::builtin_op_table());
    if (!parsed.ok()) return fail(small, "", parsed.error().message);
    const spec::Program& program = parsed.value();
    std::unique_ptr<spec::LoadedProgram> reference;
    std::optional<Error> error;
    const auto expected = calls_of(*reference_, program, reference, error);
    if (error && error->kind == ErrorKind::kUnsupported) {
      ++count_.left_open;
      return;
    }
    if (error) return fail(small, "", "the reference: " + error->message);
    for (std::uint32_t cuts = 0; cuts < 1U << (small.nodes - 1); ++cuts) {
      check_cuts(small, program, cuts, expected);
    }
  }

  void check_cuts(const fuzz::SmallProgram& small, const spec::Program& program, std::uint32_t cuts,
                  const std::vector<spec::CallResult>& expected) {
    ++count_.runs;
    optimized::Options options;
    std::string names;
    for (std::uint32_t n = 0; n + 1 < small.nodes; ++n) {
      if ((cuts >> n & 1U) == 0) continue;
      options.compile.partition.cut_after.push_back("n" + std::to_string(n));
      names += " n" + std::to_string(n);
    }
    const auto executor = optimized::make_executor(options);
    std::unique_ptr<spec::LoadedProgram> loaded;
    std::optional<Error> error;
    const auto actual = calls_of(*executor, program, loaded, error);
    if (error) return fail(small, names, error->message);
    for (std::size_t c = 0; c < actual.size(); ++c) {
      const auto report = conformance::compare_bits(actual[c], expected[c], "the reference", {});
      if (report.differences.empty()) continue;
      const auto& first = report.differences.front();
      return fail(small, names,
                  "call " + std::to_string(c) + ", " + first.where + ": " + first.message);
    }
    const spec::Plan& plan = *loaded->plan();
    count_.plans_with_cuts += plan.blocks[0].partitions.size() > 1 ? 1 : 0;
    const auto findings =
        verify::verify_plan({&plan, &program, &spec::builtin_op_table(), nullptr});
    if (!findings.empty()) {
      fail(small, names, findings.front().rule + ": " + findings.front().message);
    }
  }

  std::unique_ptr<spec::Executor> reference_ = reference::make_executor({});
  SmallScopeCount count_;
};

}  // namespace graphgate::tools
