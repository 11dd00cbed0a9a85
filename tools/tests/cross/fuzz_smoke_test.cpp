// Drawn cases through the executors and the cheap judges: neither a finding nor a refusal.

#include <algorithm>
#include <set>

#include "base/result_test.h"
#include "conformance/judges/same_bits.h"
#include "conformance/run/runs.h"
#include "fuzz/generate/features.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::tools {
namespace {

using conformance::Judge;
using conformance::JudgeSet;

class Drawn : public testing::Test {
 protected:
  // Every finding of the case, one a line; "" where there is none. Errors are findings about the
  // generator.
  std::string findings_of(const spec::CaseFile& the_case, JudgeSet judges,
                          fuzz::CaseShown* shown = nullptr) const {
    fuzz::JudgeChoice choice;
    choice.judges = judges;
    choice.settings.localize = false;
    const fuzz::CaseExecutors executors{*subject_, *oracle_, *wide_oracle_, fuzz::no_files()};
    const auto report = fuzz::judge_case(the_case, executors, choice, shown);
    if (!report.ok()) return report.error().message;
    const auto taken = fuzz::check_reference_takes(the_case, executors);
    if (!taken.ok()) return "the reference refuses it: " + taken.error().message;
    if (report.value().outcome != spec::Outcome::kFail &&
        report.value().outcome != spec::Outcome::kUnsupported) {
      return "";
    }
    std::string text = report.value().reason;
    for (const auto& judge : report.value().judges) {
      for (const auto& finding : judge.findings)
        text += "\n" + finding.rule + " " + finding.message;
    }
    return text;
  }

  // Where the reference's tensors are not those that the program states.
  std::string geometry_differences(const spec::CaseFile& the_case) const;

  std::unique_ptr<conformance::ExecutorSource> subject_ = optimized_source();
  std::unique_ptr<conformance::ExecutorSource> oracle_ = reference_source(false);
  std::unique_ptr<conformance::ExecutorSource> wide_oracle_ = reference_source(true);
};

// The sizes that a call gave the symbols: what stands alone as a size of an input.
spec::SymbolValues symbols_of_call(const spec::Program& program,
                                   const conformance::CallRecord& call) {
  spec::SymbolValues symbols;
  std::size_t at = 0;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput) continue;
    const auto* tensor = std::get_if<spec::HostTensor>(&call.inputs[at++]);
    const auto& type = program.graph.value(input.value).type;
    if (!tensor || !type) continue;
    for (std::size_t d = 0; d < type->sizes.size(); ++d) {
      if (type->sizes[d].op() != spec::SymOp::kSymbol) continue;
      symbols.emplace(type->sizes[d].name(), tensor->sizes[d]);
    }
  }
  return symbols;
}

// A stated size, stride or offset against what came out; sizes that only data decide are not told.
bool is_stated(const spec::SymExpr& stated, std::int64_t actual,
               const spec::SymbolValues& symbols) {
  const auto value = spec::evaluate(stated, symbols);
  return !value.ok() || value.value() == actual;
}

// Whether an input of the call begins behind its storage's beginning. Offsets are stated for inputs
// that begin there, and a functionalized op copies the whole storage of what it writes.
bool moves_inputs(const conformance::CallRecord& call) {
  return std::ranges::any_of(call.inputs, [](const spec::InputValue& input) {
    const auto* tensor = std::get_if<spec::HostTensor>(&input);
    return tensor && tensor->storage_offset != 0;
  });
}

bool is_as_stated(const spec::TensorType& type, const spec::HostTensor& tensor,
                  const spec::SymbolValues& symbols, bool is_moved) {
  if (type.dtype != tensor.dtype || type.sizes.size() != tensor.sizes.size()) return false;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (!is_stated(type.sizes[d], tensor.sizes[d], symbols)) return false;
    // The stride of a size of 1 says nothing.
    if (tensor.sizes[d] == 1) continue;
    if (!is_stated(type.strides[d], tensor.strides[d], symbols)) return false;
  }
  return is_moved || is_stated(type.storage_offset, tensor.storage_offset, symbols);
}

std::string Drawn::geometry_differences(const spec::CaseFile& the_case) const {
  const fuzz::CaseExecutors executors{*subject_, *oracle_, *wide_oracle_, fuzz::no_files()};
  const auto trace = fuzz::run_reference(the_case, executors, "eager");
  if (!trace.ok()) return trace.error().message;
  if (trace.value().error) return trace.value().error->message;
  for (const conformance::CallRecord& call : trace.value().calls) {
    const spec::Program& program = the_case.programs[call.program];
    const spec::SymbolValues symbols = symbols_of_call(program, call);
    for (std::size_t o = 0; o < program.graph.outputs.size(); ++o) {
      const auto* id = program.graph.outputs[o].as<spec::ValueId>();
      const auto* tensor = std::get_if<spec::HostTensor>(&call.result.outputs[o]);
      if (!id || !tensor) continue;
      const spec::Value& value = program.graph.value(*id);
      if (value.type && !is_as_stated(*value.type, *tensor, symbols, moves_inputs(call))) {
        return "output " + std::to_string(o) + " of " + program.name + " is not of the type of %" +
               value.name + ": its strides are " + testing::PrintToString(tensor->strides);
      }
    }
  }
  return "";
}

// The generator's own inference against the reference's, and: no case is refused.
TEST_F(Drawn, ProgramsRunAndHaveTheTypesThatTheyState) {
  for (std::uint64_t index = 0; index < 800; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(31, index), fuzz::Alphabet());
    ASSERT_EQ(geometry_differences(the_case), "") << "index " << index << "\n"
                                                  << spec::print_case(the_case).value();
  }
}

TEST_F(Drawn, EmptyTensorsHaveTheTypesThatTheyState) {
  const auto alphabet = must(fuzz::parse_alphabet("empty-sizes", ""));
  int open = 0;  // cases with a size that errors decide: no program could state it
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(32, index), alphabet);
    const std::string difference = geometry_differences(the_case);
    if (difference.ends_with("which elements are equal depends on rounding")) {
      ++open;
      continue;
    }
    ASSERT_EQ(difference, "") << "index " << index << "\n" << spec::print_case(the_case).value();
  }
  EXPECT_LE(open, 1);
}

TEST_F(Drawn, CasesPassTheCheapJudges) {
  JudgeSet judges;
  judges.add(Judge::kProvenance);
  judges.add(Judge::kVerifier);
  judges.add(Judge::kState);
  judges.add(Judge::kHappensBefore);
  constexpr int kCases = 250;
  std::set<std::uint32_t> features;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(41, index), fuzz::Alphabet());
    fuzz::CaseShown shown;
    ASSERT_EQ(findings_of(the_case, judges, &shown), "") << "index " << index << "\n"
                                                         << spec::print_case(the_case).value();
    features.insert(shown.features.begin(), shown.features.end());
  }
  EXPECT_GT(features.size(), 500U);
  for (const std::uint32_t feature : features) {
    EXPECT_EQ(fuzz::feature_name(feature).find('?'), std::string::npos)
        << fuzz::feature_name(feature);
  }
}

// Every motif beside additions alone, by every judge.
TEST_F(Drawn, MotifsPassEveryJudge) {
  const fuzz::Alphabet all;
  for (const fuzz::Alphabet::Row& row : all.rows()) {
    const std::string name(row.op->name);
    if (!name.starts_with("motif.")) continue;
    const auto alphabet = must(fuzz::parse_alphabet(name + "=4,aten.add=1", ""));
    for (std::uint64_t index = 0; index < 2; ++index) {
      const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(71, index), alphabet);
      ASSERT_EQ(geometry_differences(the_case), "") << name << ", index " << index;
      ASSERT_EQ(findings_of(the_case, JudgeSet::all()), "") << name << ", index " << index;
    }
  }
}

// What differs between two runs, in words; "" for nothing.
std::string difference_between(const conformance::Trace& watched, const conformance::Trace& plain) {
  if (watched.calls.size() != plain.calls.size() || watched.held.size() != plain.held.size()) {
    return "other calls";
  }
  for (std::size_t c = 0; c < plain.calls.size(); ++c) {
    const conformance::CallRecord& one = watched.calls[c];
    const conformance::CallRecord& other = plain.calls[c];
    if (!(*one.plan == *other.plan)) return "another plan of call " + std::to_string(c);
    const auto bits = conformance::compare_bits(one.result, other.result, "unwatched", {});
    if (bits.differences.empty()) continue;
    return bits.differences.front().where + ": " + bits.differences.front().message;
  }
  for (std::size_t h = 0; h < plain.held.size(); ++h) {
    const auto& now = watched.held[h].now;
    const auto& then = plain.held[h].now;
    const bool is_same = now.has_value() == then.has_value() &&
                         (!now || spec::packed_bytes(*now) == spec::packed_bytes(*then));
    if (!is_same) return "another held output";
  }
  return "";
}

// Runs with words stand for plain ones in campaigns.
TEST_F(Drawn, CasesRunWithWordsAsTheyRunWithout) {
  constexpr int kCases = 300;
  int same = 0;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(61, index), fuzz::Alphabet());
    const auto script = must(conformance::script_of(the_case, fuzz::no_files()));
    conformance::Runs runs(script, *subject_, *oracle_);
    const auto watched = must(runs.subject({{"instrument", "provenance"}}));
    if (!watched->is_as_unwatched) continue;
    ++same;
    const auto plain = must(runs.subject());
    ASSERT_EQ(difference_between(*watched, *plain), "") << "index " << index << "\n"
                                                        << spec::print_case(the_case).value();
  }
  EXPECT_GT(same, kCases / 2);
}

bool mutates(const spec::CaseFile& the_case, const spec::OpTable& ops) {
  for (const spec::Program& program : the_case.programs) {
    for (const spec::Node& node : program.graph.nodes) {
      const spec::OpRow* const row = ops.find(node.op);
      if (row && row->effects.mutates()) return true;
    }
  }
  return false;
}

TEST_F(Drawn, CasesMutateCutAndReuseInHalfOfAll) {
  constexpr int kCases = 500;
  int all_three = 0;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(51, index), fuzz::Alphabet());
    const auto script = must(conformance::script_of(the_case, fuzz::no_files()));
    conformance::Runs runs(script, *subject_, *oracle_);
    const auto trace = must(runs.subject());
    const spec::OpTable& ops = *script.ops;
    const auto features = fuzz::features_of(the_case, *trace, ops);
    const bool has_all =
        mutates(the_case, ops) && fuzz::has_cut(features) && fuzz::has_reuse(features);
    all_three += has_all ? 1 : 0;
  }
  EXPECT_GT(all_three, kCases / 2);
}

}  // namespace
}  // namespace graphgate::tools
