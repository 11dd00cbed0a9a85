#include "tools/tests/suites/reduced_mutant.h"

#include <algorithm>

#include "base/child_processes.h"
#include "fuzz/campaign/reduce_case.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/stated_types.h"
#include "tools/executors/case_sources.h"
#include "tools/report/json.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {
namespace {

using fuzz::Signature;
using spec::CaseFile;

const char* option_of(const Mutant& mutant) {
  return mutant.is_deviation ? "deviation" : "plan-mutation";
}

// Judges that find most for their time; the others are asked where these find nothing.
conformance::JudgeSet quick_judges() {
  auto judges = conformance::parse_judges("provenance,exact,verifier,shadow,state,happens-before");
  GRAPHGATE_CHECK(judges.ok());
  return judges.value();
}

struct Shown {
  CaseFile the_case;  // with the mutant
  std::string path;   // of its files
  std::string name;
  Signature signature;
};

// One mutant, in a process of its own.
class MutantReducer {
 public:
  MutantReducer(const Mutant& mutant, const std::vector<GoldenCase>& cases,
                const ReductionSettings& settings)
      : mutant_(mutant), cases_(cases), settings_(settings) {
    isolation_.is_on = true;
  }

  Result<MutantReduction> run() {
    MutantReduction out;
    out.mutant = mutant_.name;
    GRAPHGATE_TRY(const std::optional<Shown> shown,
                  settings_.drawn > 0 ? find_drawn() : find_golden());
    if (!shown) return out;
    out.path = shown->name;
    const auto files = files_beside(shown->path);
    const CaseSources builtin(*files);
    const fuzz::CaseExecutors executors = builtin.get();
    // What is tried here may end the process though the case does not.
    const fuzz::CheckCase shows = [&](const CaseFile& candidate) {
      return check_case_for(candidate, executors, shown->signature, {}, isolation_) ==
             fuzz::CheckResult::kSame;
    };
    fuzz::ReduceRequest request;
    request.the_case =
        settings_.drawn > 0 ? shown->the_case : buried(shown->the_case, settings_.bury, shows);
    request.choice.settings.localize = false;
    if (const auto judge = fuzz::judge_of(shown->signature)) {
      request.choice.judges = {};
      request.choice.judges.add(*judge);
    }
    request.signature = shown->signature;
    request.limits.seconds = settings_.seconds;
    request.limits.kept_options.insert(option_of(mutant_));
    GRAPHGATE_TRY(const fuzz::ReducedCase made, fuzz::reduce_case(request, executors));
    out.signature = fuzz::print_signature(*made.signature);
    out.before = made.reduced.before;
    out.after = made.reduced.after;
    out.checks = made.reduced.checks;
    out.seconds = made.reduced.seconds;
    out.is_finished = made.reduced.is_finished;
    GRAPHGATE_TRY(out.text, spec::print_case(made.reduced.the_case));
    return out;
  }

 private:
  [[nodiscard]] std::vector<const GoldenCase*> in_order() const {
    std::vector<const GoldenCase*> own;
    std::vector<const GoldenCase*> others;
    for (const GoldenCase& one : cases_) {
      const auto& names = one.header.deviations;
      const bool is_own = std::find(names.begin(), names.end(), mutant_.name) != names.end();
      (is_own ? own : others).push_back(&one);
    }
    own.insert(own.end(), others.begin(), others.end());
    return own;
  }

  // What the mutant adds to what the case shows without it.
  Result<std::optional<Signature>> shown_by(const CaseFile& plain, const std::string& path,
                                            conformance::JudgeSet judges) const {
    const auto files = files_beside(path);
    const CaseSources builtin(*files);
    fuzz::JudgeChoice choice;
    choice.judges = judges;
    choice.settings.localize = false;
    const auto look = look_at_case(planted(plain), builtin.get(), choice, isolation_);
    // What the mutant makes of the options, or of the case, may be no case at all.
    if (!look.ok() || look.value().signatures.empty()) return std::optional<Signature>();
    GRAPHGATE_TRY(const fuzz::CaseLook right,
                  look_at_case(plain, builtin.get(), choice, isolation_));
    for (const Signature& found : look.value().signatures) {
      const auto& others = right.signatures;
      const bool is_new = std::none_of(others.begin(), others.end(), [&](const Signature& other) {
        return other.same_fault(found);
      });
      if (is_new) return std::optional<Signature>(found);
    }
    return std::optional<Signature>();
  }

  [[nodiscard]] CaseFile planted(CaseFile the_case) const {
    the_case.options[option_of(mutant_)] = mutant_.name;
    return the_case;
  }

  Result<std::optional<Shown>> find_golden() const {
    for (const auto& judges : {quick_judges(), conformance::JudgeSet::all()}) {
      for (const GoldenCase* golden : in_order()) {
        GRAPHGATE_TRY(const auto signature,
                      shown_by(golden->the_case, golden->path.string(), judges));
        if (!signature) continue;
        return std::optional<Shown>(
            Shown{planted(golden->the_case), golden->path.string(), golden->name(), *signature});
      }
    }
    return std::optional<Shown>();
  }

  Result<std::optional<Shown>> find_drawn() const {
    const fuzz::Alphabet alphabet;
    for (std::uint64_t index = 0; index < settings_.drawn; ++index) {
      const CaseFile plain = fuzz::draw_case(fuzz::genes_of(kSeed, index), alphabet);
      const auto signature = shown_by(plain, ".", quick_judges());
      if (!signature.ok() || !signature.value()) continue;
      const fuzz::CaseId id{
          static_cast<std::uint32_t>(fuzz::kGeneratorVersion), kSeed, {index, {}}};
      return std::optional<Shown>(
          Shown{planted(plain), ".", fuzz::print_case_id(id), *signature.value()});
    }
    return std::optional<Shown>();
  }

  static constexpr std::uint64_t kSeed = 1;

  const Mutant& mutant_;
  const std::vector<GoldenCase>& cases_;
  const ReductionSettings& settings_;
  fuzz::Isolation isolation_;
};

nlohmann::json json_of(const fuzz::CaseSize& size) {
  return {size.nodes, size.calls, size.options, size.programs};
}
fuzz::CaseSize size_of_json(const nlohmann::json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3)};
}

std::string to_text(const Result<MutantReduction>& run) {
  if (!run.ok()) return child_text(run.error());
  const MutantReduction& made = run.value();
  nlohmann::json json;
  json["path"] = made.path;
  json["signature"] = made.signature;
  json["before"] = json_of(made.before);
  json["after"] = json_of(made.after);
  json["checks"] = made.checks;
  json["seconds"] = made.seconds;
  json["finished"] = made.is_finished;
  json["text"] = made.text;
  return child_text(json);
}

MutantReduction from_child(const Mutant& mutant, const ChildResult& child) {
  MutantReduction out;
  out.mutant = mutant.name;
  const auto json = nlohmann::json::parse(child.output, nullptr, false);
  if (child.ending != ChildEnding::kExited || json.is_discarded()) {
    out.error = "the reducer was " + child.describe();
    return out;
  }
  if (json.contains("error")) {
    out.error = json["error"];
    return out;
  }
  out.path = json["path"];
  out.signature = json["signature"];
  out.before = size_of_json(json["before"]);
  out.after = size_of_json(json["after"]);
  out.checks = json["checks"];
  out.seconds = json["seconds"];
  out.is_finished = json["finished"];
  out.text = json["text"];
  return out;
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

}  // namespace

Result<std::vector<MutantReduction>> reduce_mutants(const std::vector<Mutant>& mutants,
                                                    const std::vector<GoldenCase>& cases,
                                                    const ReductionSettings& settings) {
  GRAPHGATE_TRY(
      const std::vector<ChildResult> children,
      run_children(mutants.size(), {settings.jobs, settings.timeout_seconds}, [&](std::size_t i) {
        return to_text(MutantReducer(mutants[i], cases, settings).run());
      }));
  std::vector<MutantReduction> out;
  out.reserve(mutants.size());
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    out.push_back(from_child(mutants[i], children[i]));
  }
  return out;
}

Result<std::vector<GoldenCase>> passing_golden_cases(const std::string& root) {
  std::vector<GoldenCase> out;
  for (const std::string& suite : golden_suites(root)) {
    GRAPHGATE_TRY(std::vector<GoldenCase> cases, golden_cases(root, suite));
    for (GoldenCase& one : cases) {
      const bool passes = one.the_case.expectation.outcome == spec::Outcome::kPass &&
                          !one.the_case.options.contains("deviation");
      if (passes) out.push_back(std::move(one));
    }
  }
  return out;
}

ReductionMedians medians_of(const std::vector<MutantReduction>& reductions) {
  ReductionMedians out;
  std::vector<double> nodes;
  std::vector<double> calls;
  std::vector<double> seconds;
  for (const MutantReduction& made : reductions) {
    if (made.path.empty()) continue;
    ++out.mutants;
    nodes.push_back(static_cast<double>(made.after.nodes));
    calls.push_back(static_cast<double>(made.after.calls));
    seconds.push_back(made.seconds);
    out.seconds_max = std::max(out.seconds_max, made.seconds);
  }
  out.nodes = median(std::move(nodes));
  out.calls = median(std::move(calls));
  out.seconds = median(std::move(seconds));
  return out;
}

}  // namespace graphgate::tools
