#include "tools/kit/verdict.h"

#include <algorithm>

#include "base/file_io.h"
#include "fuzz/campaign/reduce_case.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::kit {
namespace {

using Kind = Verdict::Kind;

// The reference, and the engine beside it.
class Judged {
 public:
  explicit Judged(const Engine& engine) : engine_(engine) {}
  [[nodiscard]] fuzz::CaseExecutors executors() const {
    return {engine_, *oracle_, *wide_oracle_, fuzz::no_files()};
  }

 private:
  const Engine& engine_;
  std::unique_ptr<conformance::ExecutorSource> oracle_ = tools::reference_source(false);
  std::unique_ptr<conformance::ExecutorSource> wide_oracle_ = tools::reference_source(true);
};

Result<fuzz::JudgeChoice> choice_of(const EngineSettings& settings) {
  fuzz::JudgeChoice choice;
  const auto judges = conformance::parse_judges(settings.judges);
  if (!judges.ok()) return judges.error().at("EngineSettings::judges");
  choice.judges = judges.value();
  choice.settings.localize = false;
  return choice;
}

Verdict not_judged(const Error& error) {
  return {Kind::kNotJudged, "not judged: " + error.message};
}

Verdict verdict_of(const fuzz::CaseLook& look) {
  Verdict verdict;
  verdict.words = std::string(spec::outcome_name(look.outcome));
  if (!look.reason.empty()) verdict.words += ": " + look.reason;
  if (!look.signatures.empty()) {
    verdict.kind = Kind::kFails;
    verdict.signature = look.signatures.front();
    for (const fuzz::Signature& one : look.signatures) {
      verdict.words += "\n  found: " + fuzz::print_signature(one);
    }
  } else if (look.outcome != spec::Outcome::kPass || !look.not_compared.empty()) {
    verdict.kind = Kind::kUndecided;
    if (!look.not_compared.empty()) verdict.words += "\n  not compared: " + look.not_compared;
  }
  return verdict;
}

}  // namespace

Verdict judge(const Engine& engine, const spec::CaseFile& the_case) {
  const auto choice = choice_of(engine.settings());
  if (!choice.ok()) return not_judged(choice.error());
  const Judged judged(engine);
  const auto look = fuzz::look_at_case(engine.with_own_options(the_case), judged.executors(),
                                       choice.value(), engine.isolation());
  return look.ok() ? verdict_of(look.value()) : not_judged(look.error());
}

Verdict judge_reduced(const Engine& engine, const spec::CaseFile& the_case,
                      const fuzz::Signature& sought) {
  const auto choice = choice_of(engine.settings());
  if (!choice.ok()) return not_judged(choice.error());
  const Judged judged(engine);
  const fuzz::CheckResult shows =
      fuzz::check_case_for(engine.with_own_options(the_case), judged.executors(), sought,
                           choice.value().settings, engine.isolation());
  if (shows == fuzz::CheckResult::kSame) return judge(engine, the_case);
  return {Kind::kConforms, "does not show '" + fuzz::print_signature(sought) + "'"};
}

Result<spec::CaseFile> case_of(const spec::Program& program, int calls, std::uint64_t seed) {
  GRAPHGATE_TRY(spec::CaseFile the_case, fuzz::case_of_program(program, calls, seed));
  if (!program.tensors.empty()) {
    the_case.programs.front().tensors = program.tensors;
    the_case.weights.clear();
  }
  return the_case;
}

Result<spec::CaseFile> read_case(const std::string& path) {
  GRAPHGATE_TRY(const std::string text, read_whole(path));
  GRAPHGATE_TRY(spec::CaseFile the_case, spec::parse_case(text, path));
  const auto valid = spec::check_case(the_case);
  if (!valid.ok()) return valid.error().at(path);
  return the_case;
}

}  // namespace graphgate::kit
