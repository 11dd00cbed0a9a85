// Steps, whole programs, and what a step says.
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reduction_pass.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;

std::size_t count_calls(const CaseFile& the_case) {
  std::size_t count = 0;
  for (const spec::Step& step : the_case.scenario.steps) {
    count += std::holds_alternative<spec::CallStep>(step) ? 1 : 0;
  }
  return count;
}

// The steps from one call to the next go together: a hold means nothing without its call.
Candidate drop_calls(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  std::vector<bool> dropped;
  std::size_t calls = 0;
  for (const spec::Step& step : the_case.scenario.steps) {
    calls += std::holds_alternative<spec::CallStep>(step) ? 1 : 0;
    dropped.push_back(calls > begin && calls <= end);
  }
  CaseFile out = the_case;
  drop_steps(out, std::move(dropped));
  tidy_case(out);
  return out;
}

std::size_t count_steps(const CaseFile& the_case) { return the_case.scenario.steps.size(); }

Candidate drop_some_steps(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  std::vector<bool> dropped(the_case.scenario.steps.size(), false);
  for (std::size_t s = begin; s < end; ++s) dropped[s] = true;
  CaseFile out = the_case;
  drop_steps(out, std::move(dropped));
  tidy_case(out);
  return out;
}

bool is_about(const spec::Step& step, const std::string& program) {
  if (const auto* call = std::get_if<spec::CallStep>(&step)) return call->program == program;
  if (const auto* swap = std::get_if<spec::SwapWeightsStep>(&step)) return swap->program == program;
  if (const auto* hold = std::get_if<spec::HoldStep>(&step)) {
    return hold->output.program == program;
  }
  if (const auto* release = std::get_if<spec::ReleaseStep>(&step)) {
    return release->output.program == program;
  }
  if (const auto* kept = std::get_if<spec::StaticStep>(&step)) {
    return kept->input.program == program;
  }
  const auto* back = std::get_if<spec::FeedBackStep>(&step);
  return back && (back->output.program == program || back->input.program == program);
}

Candidate drop_programs(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  if (end - begin == the_case.programs.size()) return std::nullopt;
  CaseFile out = the_case;
  std::vector<bool> dropped(out.scenario.steps.size(), false);
  for (std::size_t p = begin; p < end; ++p) {
    for (std::size_t s = 0; s < dropped.size(); ++s) {
      if (is_about(out.scenario.steps[s], out.programs[p].name)) dropped[s] = true;
    }
  }
  drop_steps(out, std::move(dropped));
  out.programs.erase(out.programs.begin() + static_cast<std::ptrdiff_t>(begin),
                     out.programs.begin() + static_cast<std::ptrdiff_t>(end));
  tidy_case(out);
  return out;
}

// What one step says beyond the least: a mode, an input set, flags, sizes, a seed, options.
void simplify(spec::CallStep& step) {
  step.mode.reset();
  step.flags.clear();
}
void simplify(spec::SwapWeightsStep& step) {
  step.seed.reset();
  step.rebind = false;
}
void simplify(spec::RestartStep& step) {
  step.options.clear();
  step.ops.clear();
}
void simplify(spec::SleepStep& step) { step.asked = {}; }
template <class Step>
void simplify(Step& /*step*/) {}

Candidate simplify_steps(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (std::size_t s = begin; s < end; ++s) {
    std::visit([](auto& step) { simplify(step); }, out.scenario.steps[s]);
  }
  return out;
}

// Names input sets and sizes that a call does without.
Candidate drop_call_inputs(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (std::size_t s = begin; s < end; ++s) {
    if (auto* call = std::get_if<spec::CallStep>(&out.scenario.steps[s])) call->inputs.reset();
  }
  tidy_case(out);
  return out;
}
Candidate drop_call_sizes(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  for (std::size_t s = begin; s < end; ++s) {
    if (auto* call = std::get_if<spec::CallStep>(&out.scenario.steps[s])) call->sizes.clear();
  }
  return out;
}

std::size_t count_expectations(const CaseFile& the_case) {
  return the_case.expectation.outputs.size();
}
Candidate drop_expectations(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  auto& outputs = out.expectation.outputs;
  outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(begin),
                outputs.begin() + static_cast<std::ptrdiff_t>(end));
  return out;
}

}  // namespace

std::vector<ReductionPass> step_passes() {
  return {{"expectations", count_expectations, drop_expectations},
          {"programs", count_programs, drop_programs},
          {"calls", count_calls, drop_calls},
          {"steps", count_steps, drop_some_steps},
          {"step details", count_steps, simplify_steps},
          {"input sets of calls", count_steps, drop_call_inputs},
          {"sizes of calls", count_steps, drop_call_sizes}};
}

}  // namespace graphgate::fuzz
