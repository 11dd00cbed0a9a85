#include "fuzz/campaign/reduce_case.h"

#include <algorithm>
#include <chrono>

#include "base/child_processes.h"
#include "conformance/run/input_layout.h"
#include "conformance/run/seeded_inputs.h"
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/stated_types.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;

constexpr std::string_view kSignatureKey = "Signature: ";
constexpr std::string_view kExecutorKey = "Executor: ";
constexpr std::string_view kEnvironmentKey = "Environment: ";

Result<Signature> chosen_signature(const ReduceRequest& request, const CaseExecutors& executors) {
  // A case that ends the process does so here first.
  Isolation isolation = request.isolation;
  isolation.is_on = true;
  GRAPHGATE_TRY(const CaseLook look,
                look_at_case(request.the_case, executors, request.choice, isolation));
  if (look.signatures.empty()) {
    return bad_input("there is nothing to reduce: the case comes to " +
                     std::string(spec::outcome_name(look.outcome)) +
                     (look.reason.empty() ? "" : ": " + look.reason));
  }
  if (!request.signature) return look.signatures.front();
  for (const Signature& found : look.signatures) {
    if (found.same_fault(*request.signature)) return found;
  }
  return bad_input("the case does not show '" + print_signature(*request.signature) + "' but '" +
                   print_signature(look.signatures.front()) + "'");
}

bool is_stopped(const ReduceLimits& limits) { return limits.should_stop && limits.should_stop(); }

Error stopped() { return infrastructure("was stopped before there was a smaller case"); }

ReduceLimits with_types(ReduceLimits limits, const CaseExecutors& executors) {
  limits.state_types = [&executors](const CaseFile& one) {
    return with_stated_types(one, executors);
  };
  return limits;
}

// What the process that reduces hands back.
std::string dumped(const Reduced& reduced) {
  const auto text = spec::print_case(reduced.the_case);
  const auto passing =
      reduced.passing ? spec::print_case(*reduced.passing) : Result<std::string>("");
  return join_texts({text.ok() ? text.value() : "", passing.ok() ? passing.value() : "",
                     std::to_string(reduced.shows), std::to_string(reduced.is_finished),
                     std::to_string(reduced.checks), spec::print_float(reduced.seconds)});
}

// What it has handed back.
std::optional<Reduced> parsed(const std::string& text, const CaseFile& before) {
  const std::vector<std::string> texts = take_texts(text);
  if (texts.size() != 6) return std::nullopt;
  auto the_case = spec::parse_case(texts[0], "the reduced case");
  if (!the_case.ok()) return std::nullopt;
  Reduced out;
  out.the_case = std::move(the_case).value();
  auto passing = spec::parse_case(texts[1], "the passing case");
  if (passing.ok()) out.passing = std::move(passing).value();
  out.before = size_of(before);
  out.after = size_of(out.the_case);
  out.shows = texts[2] == "1";
  out.is_finished = texts[3] == "1";
  out.checks = std::stoull(texts[4]);
  out.seconds = std::stod(texts[5]);
  return out;
}

// Hands back what there is so far, so often that an interruption costs little of the work, and so
// seldom that the parent can keep all of it.
class StepReports {
 public:
  explicit StepReports(const ChildPool::HandBack& hand_back) : hand_back_(hand_back) {}

  void tell(const Reduced& so_far) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (seconds < next_) return;
    constexpr double kShortest = 0.2;
    constexpr double kShare = 0.05;
    next_ = seconds + std::max(kShortest, kShare * seconds);
    Reduced told = so_far;
    told.shows = true;
    told.seconds = seconds;
    hand_back_(dumped(told));
  }

 private:
  using Clock = std::chrono::steady_clock;
  const ChildPool::HandBack& hand_back_;
  const Clock::time_point begin_ = Clock::now();
  double next_ = 0;
};

// How a child that reduces the case ended, and what it told of by then.
Result<ChildResult> run_reducer(const CaseFile& the_case, const ReduceLimits& limits,
                                const ClassifyCase& classify) {
  constexpr double kPatience = 4;  // the last check may begin when the time is nearly up
  constexpr int kTickMilliseconds = 50;
  ChildOptions options;
  options.timeout_seconds =
      static_cast<std::uint32_t>(std::min(kPatience * limits.seconds + 60, 1e6));
  ChildPool pool(options);
  GRAPHGATE_TRY_VOID(pool.start_series(0, [&](const ChildPool::HandBack& hand_back) {
    StepReports steps(hand_back);
    ReduceLimits own = limits;
    own.should_stop = {};  // its parent is asked
    own.on_step = [&steps](const Reduced& so_far) { steps.tell(so_far); };
    hand_back(dumped(reduce(the_case, classify, own)));
  }));
  ChildResult child;
  while (pool.running() > 0) {
    const bool is_over = limits.should_stop && limits.should_stop();
    auto ended = is_over ? pool.kill_all() : pool.wait(kTickMilliseconds);
    if (!ended.empty()) child = std::move(ended.front().second);
  }
  return child;
}

// In one child; nothing where it did not live to tell. Where it is to stop, what it had then.
// Memory may be short for a moment: then it is another child's turn.
Result<std::optional<Reduced>> reduce_in_child(const CaseFile& the_case, const ReduceLimits& limits,
                                               const ClassifyCase& classify) {
  GRAPHGATE_TRY(ChildResult child, run_reducer(the_case, limits, classify));
  if (child.ending == ChildEnding::kNoMemory) {
    GRAPHGATE_TRY(child, run_reducer(the_case, limits, classify));
  }
  const std::vector<std::string> texts = take_texts(child.output);
  const bool may_be_taken =
      child.ending == ChildEnding::kExited || child.ending == ChildEnding::kStopped;
  if (!may_be_taken || texts.empty()) return std::optional<Reduced>();
  return parsed(texts.back(), the_case);
}

// A candidate may end the process though the case itself does not. So all of them run in one child,
// which is quick; where that does not survive, or hangs, each candidate gets a child of its own.
Result<Reduced> reduce_apart(const CaseFile& the_case, const ReduceLimits& limits,
                             const Isolation& isolation,
                             const std::function<ClassifyCase(Isolation)>& check) {
  if (!isolation.is_on) {
    GRAPHGATE_TRY(auto made, reduce_in_child(the_case, limits, check(isolation)));
    if (made) return std::move(*made);
  }
  Isolation each = isolation;
  each.is_on = true;
  return reduce(the_case, check(each), limits);
}

Result<ReducedCase> reduce_by_signature(const ReduceRequest& request,
                                        const CaseExecutors& executors) {
  GRAPHGATE_TRY(const Signature signature, chosen_signature(request, executors));
  Isolation isolation = request.isolation;
  isolation.is_on |= ends_process(signature);
  const auto check = [&](const Isolation& each) -> ClassifyCase {
    const auto classify = [&, each](const CaseFile& candidate) {
      return check_case_for(candidate, executors, signature, request.choice.settings, each);
    };
    return refusing_void(classify, request.the_case, executors);
  };
  // Types help to cut programs up; where they get in the way of the finding they are left out.
  const CaseFile typed = with_stated_types(request.the_case, executors);
  const ReduceLimits limits = with_types(request.limits, executors);
  ReducedCase out;
  out.signature = fault_of(signature);
  GRAPHGATE_TRY(out.reduced, reduce_apart(typed, limits, isolation, check));
  if (!out.reduced.shows) {
    GRAPHGATE_TRY(out.reduced, reduce_apart(request.the_case, limits, isolation, check));
  }
  if (!out.reduced.shows && is_stopped(limits)) return stopped();
  if (!out.reduced.shows) {
    return bad_input("'" + print_signature(signature) +
                     "' does not show when its judge alone looks at the case again");
  }
  out.signature->configuration = configuration_bits(out.reduced.the_case);
  out.reduced.the_case.header = {signature_line(*out.signature)};
  out.reduced.the_case.header.insert(out.reduced.the_case.header.end(), request.header.begin(),
                                     request.header.end());
  return out;
}

Result<ReducedCase> reduce_by_command(const ReduceRequest& request,
                                      const CaseExecutors& executors) {
  std::optional<Error> error;
  const CheckCase check = [&](const CaseFile& candidate) {
    const auto is_interesting = request.external(candidate);
    if (is_interesting.ok()) return is_interesting.value();
    if (is_interesting.error().kind == ErrorKind::kInfrastructure) error = is_interesting.error();
    return false;
  };
  const CaseFile typed = with_stated_types(request.the_case, executors);
  const ReduceLimits limits = with_types(request.limits, executors);
  ReducedCase out{reduce(typed, check, limits), std::nullopt};
  if (!out.reduced.shows) out.reduced = reduce(request.the_case, check, limits);
  if (error) return *error;
  if (out.reduced.shows) return out;
  if (is_stopped(limits)) return stopped();
  return bad_input(
      "the check does not find the case itself interesting: it ends with a status "
      "other than 0");
}

}  // namespace

Result<ReducedCase> reduce_case(const ReduceRequest& request, const CaseExecutors& executors) {
  return request.external ? reduce_by_command(request, executors)
                          : reduce_by_signature(request, executors);
}

Result<CaseFile> case_of_program(const spec::Program& program, int calls, std::uint64_t seed) {
  CaseFile out;
  out.name = program.name;
  out.seed = seed;
  out.programs.push_back(program);
  out.programs.front().tensors.clear();
  // What an archive says of its own making is not true of a part of it.
  out.programs.front().annotations.clear();
  out.weights.push_back({program.name, spec::SeededData{seed}});
  for (int i = 0; i < calls; ++i) {
    GRAPHGATE_TRY(const auto inputs, conformance::seeded_inputs(program, seed, i));
    spec::CallStep call;
    call.program = program.name;
    for (const auto& [symbol, size] : conformance::symbols_of(program, inputs)) {
      call.sizes.emplace_back(symbol, size);
    }
    out.scenario.steps.emplace_back(std::move(call));
  }
  return out;
}

CaseFile case_of_recording(const spec::Program& program,
                           const std::vector<conformance::ExpectedCall>& recorded) {
  CaseFile out;
  out.name = program.name;
  out.programs.push_back(program);
  out.programs.front().annotations.clear();
  const auto passed = conformance::passed_inputs(program);
  for (std::size_t c = 0; c < recorded.size(); ++c) {
    std::vector<spec::InputValue> inputs = recorded[c].inputs;
    conformance::lay_out_inputs(program, inputs);
    spec::InputSet set{"call" + std::to_string(c), program.name, {}};
    for (std::size_t i = 0; i < std::min(passed.size(), inputs.size()); ++i) {
      set.inputs.push_back(
          {passed[i]->target,
           std::visit([](const auto& value) { return spec::CaseData(value); }, inputs[i])});
    }
    spec::CallStep call;
    call.program = program.name;
    call.inputs = set.name;
    out.inputs.push_back(std::move(set));
    out.scenario.steps.emplace_back(std::move(call));
  }
  return out;
}

std::string signature_line(const Signature& signature) {
  return std::string(kSignatureKey) + print_signature(signature);
}

std::vector<std::string> found_in_lines(const FoundIn& found) {
  std::vector<std::string> lines;
  if (found.executor.empty()) return lines;
  lines.push_back(std::string(kExecutorKey) + spec::quote_string(found.executor));
  if (!found.environment.empty()) {
    lines.push_back(std::string(kEnvironmentKey) + spec::quote_string(found.environment));
  }
  return lines;
}

Result<std::optional<FoundIn>> stored_found_in(const CaseFile& the_case) {
  std::optional<FoundIn> found;
  for (const std::string& line : the_case.header) {
    const bool is_executor = line.starts_with(kExecutorKey);
    if (!is_executor && !line.starts_with(kEnvironmentKey)) continue;
    const std::size_t begin = is_executor ? kExecutorKey.size() : kEnvironmentKey.size();
    spec::TextReader reader(std::string_view(line).substr(begin), "the header");
    GRAPHGATE_TRY(std::string text, reader.take_string("a command in quotes"));
    if (!found) found.emplace();
    (is_executor ? found->executor : found->environment) = std::move(text);
  }
  return found;
}

Result<std::optional<Signature>> stored_signature(const CaseFile& the_case) {
  for (const std::string& line : the_case.header) {
    if (!line.starts_with(kSignatureKey)) continue;
    GRAPHGATE_TRY(Signature signature,
                  parse_signature(std::string_view(line).substr(kSignatureKey.size())));
    return std::optional<Signature>(std::move(signature));
  }
  return std::optional<Signature>();
}

}  // namespace graphgate::fuzz
