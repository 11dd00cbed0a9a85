#include "tools/campaign/reduce_case.h"

#include <algorithm>

#include "base/child_processes.h"
#include "conformance/run/input_layout.h"
#include "conformance/run/seeded_inputs.h"
#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/stated_types.h"
#include "interop/pt2_writer.h"
#include "tools/store/check_input.h"
#include "tools/store/json.h"

namespace graphgate::tools {
namespace {

using fuzz::Signature;
using spec::CaseFile;

constexpr std::string_view kSignatureKey = "Signature: ";

Result<Signature> chosen_signature(const ReduceRequest& request,
                                   const fuzz::CaseExecutors& executors) {
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
  return bad_input("the case does not show '" + fuzz::print_signature(*request.signature) +
                   "' but '" + fuzz::print_signature(look.signatures.front()) + "'");
}

fuzz::ReduceLimits with_types(fuzz::ReduceLimits limits, const fuzz::CaseExecutors& executors) {
  limits.state_types = [&executors](const CaseFile& one) {
    return fuzz::with_stated_types(one, executors);
  };
  return limits;
}

std::string dumped(const fuzz::Reduced& reduced) {
  nlohmann::json json;
  const auto text = spec::print_case(reduced.the_case);
  json["case"] = text.ok() ? text.value() : "";
  if (reduced.passing) {
    const auto passing = spec::print_case(*reduced.passing);
    if (passing.ok()) json["passing"] = passing.value();
  }
  json["shows"] = reduced.shows;
  json["finished"] = reduced.is_finished;
  json["checks"] = reduced.checks;
  json["seconds"] = reduced.seconds;
  return child_text(json);
}

// What a child has made of the case; nothing where it did not live to tell.
std::optional<fuzz::Reduced> parsed(const ChildResult& child, const CaseFile& before) {
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (child.ending != ChildEnding::kExited || json.is_discarded()) return std::nullopt;
  auto the_case = spec::parse_case(json["case"].get<std::string>(), "the reduced case");
  if (!the_case.ok()) return std::nullopt;
  fuzz::Reduced out;
  out.the_case = std::move(the_case).value();
  if (json.contains("passing")) {
    auto passing = spec::parse_case(json["passing"].get<std::string>(), "the passing case");
    if (passing.ok()) out.passing = std::move(passing).value();
  }
  out.before = fuzz::size_of(before);
  out.after = fuzz::size_of(out.the_case);
  out.shows = json["shows"];
  out.is_finished = json["finished"];
  out.checks = json["checks"];
  out.seconds = json["seconds"];
  return out;
}

// A candidate may end the process though the case itself does not. So all of them run in one child,
// which is quick; where that does not survive, or hangs, each candidate gets a child of its own.
Result<fuzz::Reduced> reduce_apart(const CaseFile& the_case, const fuzz::ReduceLimits& limits,
                                   const Isolation& isolation,
                                   const std::function<fuzz::ClassifyCase(Isolation)>& check) {
  if (!isolation.is_on) {
    constexpr double kPatience = 4;  // the last check may begin when the time is nearly up
    ChildOptions options;
    options.timeout_seconds =
        static_cast<std::uint32_t>(std::min(kPatience * limits.seconds + 60, 1e6));
    GRAPHGATE_TRY(const std::vector<ChildResult> children,
                  run_children(1, options, [&](std::size_t) {
                    return dumped(fuzz::reduce(the_case, check(isolation), limits));
                  }));
    auto made = parsed(children.front(), the_case);
    if (made) return std::move(*made);
  }
  Isolation each = isolation;
  each.is_on = true;
  return fuzz::reduce(the_case, check(each), limits);
}

Result<ReducedCase> reduce_by_signature(const ReduceRequest& request,
                                        const fuzz::CaseExecutors& executors) {
  GRAPHGATE_TRY(const Signature signature, chosen_signature(request, executors));
  Isolation isolation = request.isolation;
  isolation.is_on |= ends_process(signature);
  const auto check = [&](Isolation each) -> fuzz::ClassifyCase {
    const auto classify = [&, each](const CaseFile& candidate) {
      return check_case_for(candidate, executors, signature, request.choice.settings, each);
    };
    return fuzz::refusing_unwritten(classify, request.the_case, executors);
  };
  // Types help to cut programs up; where they get in the way of the finding they are left out.
  const CaseFile typed = fuzz::with_stated_types(request.the_case, executors);
  const fuzz::ReduceLimits limits = with_types(request.limits, executors);
  ReducedCase out;
  out.signature = signature;
  GRAPHGATE_TRY(out.reduced, reduce_apart(typed, limits, isolation, check));
  if (!out.reduced.shows) {
    GRAPHGATE_TRY(out.reduced, reduce_apart(request.the_case, limits, isolation, check));
  }
  if (!out.reduced.shows) {
    return bad_input("'" + fuzz::print_signature(signature) +
                     "' does not show when its judge alone looks at the case again");
  }
  out.signature->configuration = fuzz::configuration_bits(out.reduced.the_case);
  out.reduced.the_case.header = {signature_line(*out.signature)};
  return out;
}

Result<ReducedCase> reduce_by_command(const ReduceRequest& request,
                                      const fuzz::CaseExecutors& executors) {
  std::optional<Error> error;
  const fuzz::CheckCase check = [&](const CaseFile& candidate) {
    const auto is_interesting = request.external(candidate);
    if (is_interesting.ok()) return is_interesting.value();
    if (is_interesting.error().kind == ErrorKind::kInfrastructure) error = is_interesting.error();
    return false;
  };
  const CaseFile typed = fuzz::with_stated_types(request.the_case, executors);
  const fuzz::ReduceLimits limits = with_types(request.limits, executors);
  ReducedCase out{fuzz::reduce(typed, check, limits), std::nullopt};
  if (!out.reduced.shows) out.reduced = fuzz::reduce(request.the_case, check, limits);
  if (error) return *error;
  if (out.reduced.shows) return out;
  return bad_input(
      "the check does not find the case itself interesting: it ends with a status "
      "other than 0");
}

}  // namespace

Result<ReducedCase> reduce_case(const ReduceRequest& request) {
  const auto files = files_beside(request.folder_of);
  const CaseSources sources(*files, request.subject);
  const fuzz::CaseExecutors executors = sources.get();
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

Result<void> write_case_archive(const CaseFile& the_case, const std::string& folder_of,
                                const std::string& path) {
  if (the_case.programs.size() != 1) {
    return unsupported("an archive holds one program, the case has " +
                       std::to_string(the_case.programs.size()));
  }
  const auto files = files_beside(folder_of);
  const CaseSources builtin(*files);
  CaseFile bare = the_case;
  // Sizes that are numbers can be told anew, strides and all.
  for (spec::Program& program : bare.programs) {
    if (program.symbols.empty()) fuzz::forget_result_types(program.graph);
  }
  const CaseFile typed = fuzz::with_stated_types(bare, builtin.get());
  GRAPHGATE_TRY_VOID(spec::check_case(typed));
  GRAPHGATE_TRY(const conformance::Script script, conformance::script_of(typed, *files));
  interop::Pt2Options options;
  options.ops = script.ops.get();
  return interop::write_pt2(*script.programs.front(), path, options);
}

std::string signature_line(const Signature& signature) {
  return std::string(kSignatureKey) + fuzz::print_signature(signature);
}

Result<std::optional<Signature>> stored_signature(const CaseFile& the_case) {
  for (const std::string& line : the_case.header) {
    if (!line.starts_with(kSignatureKey)) continue;
    GRAPHGATE_TRY(Signature signature,
                  fuzz::parse_signature(std::string_view(line).substr(kSignatureKey.size())));
    return std::optional<Signature>(std::move(signature));
  }
  return std::optional<Signature>();
}

}  // namespace graphgate::tools
