#include "tools/reduce_case.h"

#include <algorithm>

#include "conformance/harness/input_layout.h"
#include "conformance/harness/seeded_inputs.h"
#include "fuzz/graph_edit.h"
#include "fuzz/stated_types.h"
#include "interop/pt2_writer.h"
#include "tools/check_input.h"

namespace graphgate::tools {
namespace {

using fuzz::CheckResult;
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

// The check of a reduction: by the user's command, or by the judge whose finding it is.
Result<ReducedCase> reduce_by_signature(const ReduceRequest& request,
                                        const fuzz::CaseExecutors& executors) {
  GRAPHGATE_TRY(const Signature signature, chosen_signature(request, executors));
  Isolation isolation = request.isolation;
  isolation.is_on |= ends_process(signature);
  const fuzz::ClassifyCase classify = [&](const CaseFile& candidate) {
    return check_case_for(candidate, executors, signature, request.choice.settings, isolation);
  };
  // Types help to cut programs up; where they get in the way of the finding they are left out.
  const CaseFile typed = fuzz::with_stated_types(request.the_case, executors);
  const fuzz::ReduceLimits limits = with_types(request.limits, executors);
  ReducedCase out{fuzz::reduce(typed, classify, limits), signature};
  if (!out.reduced.shows) out.reduced = fuzz::reduce(request.the_case, classify, limits);
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
  const BuiltinExecutors builtin(*files);
  const fuzz::CaseExecutors executors = builtin.get();
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
  const BuiltinExecutors builtin(*files);
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
