// graphgate reduce: a case that fails, made as small as it gets.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/atomic_file.h"
#include "base/formatted.h"
#include "base/shell_words.h"
#include "base/stop_signals.h"
#include "base/temporary_folder.h"
#include "conformance/run/static_inputs.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/reduce_case.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_archive.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/command.h"
#include "tools/executors/exchange_folder.h"
#include "tools/executors/optimized_options.h"
#include "tools/executors/torch_script.h"
#include "tools/report/forms.h"
#include "tools/report/replay_line.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct ReduceVerb {
  std::string file;       // a case, graph text or a .pt2 archive
  std::string output;     // empty: beside the file
  std::string check;      // a command; empty: the signature
  std::string judges;     // empty: all
  std::string signature;  // empty: the one that stands for the case
  double seconds = 60;
  std::size_t checks = 100'000;
  bool isolate = false;
  std::uint32_t timeout_seconds = 0;  // 0: not given
  std::uint64_t seed = 1;
  int calls = 2;
  std::string neighbour;  // a file for the nearest passing case
  std::vector<std::string> custom_ops;
  SubjectFlags subject;
  spec::Configuration planner;
  std::string json;  // a path, or "-"
  const CLI::App* app = nullptr;
};

namespace fs = std::filesystem;

using spec::CaseFile;

bool is_archive(const std::string& path) { return fs::path(path).extension() == ".pt2"; }

// FILE.case -> FILE.reduced.case, and the same beside it for programs.
std::string output_of(const ReduceVerb& verb) {
  if (!verb.output.empty()) return verb.output;
  fs::path path(verb.file);
  path.replace_extension(".reduced.case");
  return path.string();
}

// The case beside an archive.
std::string case_path(const std::string& output) {
  return is_archive(output) ? fs::path(output).replace_extension(".case").string() : output;
}

// What may be meant by the file: of a program first with drawn data, which needs no lines, then
// with its own.
Result<std::vector<CaseFile>> read_candidates(const ReduceVerb& verb) {
  std::vector<CaseFile> out;
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table(verb.custom_ops));
  std::string text;
  if (!is_archive(verb.file)) {
    GRAPHGATE_TRY(text, read_text(verb.file));
    if (is_case_text(text)) {
      for (const char* name : {"--seed", "--calls", "--custom-ops"}) {
        if (verb.app->get_option(name)->count() == 0) continue;
        return bad_input(std::string(name) + " has no effect on a case, which says it itself");
      }
      GRAPHGATE_TRY(out.emplace_back(), parse_checked_case(text, verb.file));
      if (verb.check.empty()) {
        GRAPHGATE_TRY_VOID(check_found_in(out.front(), verb.file, {"graphgate", "reduce"},
                                          !verb.subject.executor.empty()));
      }
      return out;
    }
  }
  auto read =
      is_archive(verb.file) ? read_program(verb.file, ops) : program_of_text(text, verb.file, ops);
  GRAPHGATE_TRY(const spec::Program program, in_file(std::move(read), verb.file));
  GRAPHGATE_TRY(out.emplace_back(), fuzz::case_of_program(program, verb.calls, verb.seed));
  GRAPHGATE_TRY(const auto recorded, read_expected_calls(verb.file, ""));
  if (!recorded.empty()) out.push_back(fuzz::case_of_recording(program, recorded));
  GRAPHGATE_TRY(const auto kept, conformance::inputs_promised_static(program, verb.planner));
  for (const std::size_t i : kept) {
    for (CaseFile& one : out) {
      auto& steps = one.scenario.steps;
      steps.insert(steps.begin(), spec::StaticStep{{program.name, static_cast<std::uint32_t>(i)}});
    }
  }
  for (const auto& [name, row] : ops.rows()) {
    if (spec::builtin_op_table().find(name) == row.get()) continue;
    for (CaseFile& one : out) one.ops.push_back(spec::print_row(*row));
  }
  return out;
}

// A process under test starts anew for each look in isolation, and compiles.
std::uint32_t timeout_of(const ReduceVerb& verb) {
  if (verb.timeout_seconds > 0) return verb.timeout_seconds;
  return verb.subject.executor.empty() ? 10 : 600;
}

Result<fuzz::ReduceRequest> request_of(const ReduceVerb& verb, CaseFile the_case,
                                       const Subject& subject, const StopSignals& stop) {
  fuzz::ReduceRequest request;
  request.the_case = with_flags(std::move(the_case), verb.planner, subject);
  for (const auto& [name, value] : verb.planner) request.limits.kept_options.insert(name);
  if (!verb.judges.empty()) {
    GRAPHGATE_TRY(request.choice.judges, judges_named(verb.judges));
  }
  request.choice.settings.localize = false;
  request.header = fuzz::found_in_lines(found_in(verb.subject));
  if (!verb.signature.empty()) {
    auto signature = fuzz::parse_signature(verb.signature);
    if (!signature.ok()) return signature.error().at("--signature");
    request.signature = std::move(signature).value();
  }
  request.limits.seconds = verb.seconds;
  request.limits.checks = verb.checks;
  request.limits.should_stop = [&stop] { return stop.came() != 0; };
  request.isolation = {verb.isolate, timeout_of(verb), 0, request.limits.should_stop};
  return request;
}

// Writes the candidate where the command finds it, in the form of the output.
Result<std::string> write_candidate(const CaseFile& candidate, const std::string& folder_of,
                                    const std::string& folder, bool as_archive) {
  const std::string path = folder + (as_archive ? "/candidate.pt2" : "/candidate.case");
  if (as_archive) {
    GRAPHGATE_TRY_VOID(write_case_archive(candidate, folder_of, path));
    return path;
  }
  GRAPHGATE_TRY(const std::string text, spec::print_case(candidate));
  GRAPHGATE_TRY_VOID(write_text(text, path));
  return path;
}

Result<fuzz::ReducedCase> reduce_first(const ReduceVerb& verb, std::vector<CaseFile> cases,
                                       const StopSignals& stop) {
  GRAPHGATE_TRY(const TemporaryFolder folder, TemporaryFolder::make("candidates"));
  const bool as_archive = is_archive(output_of(verb));
  const ExchangeFolder exchange;
  GRAPHGATE_TRY(const auto subject, choose_subject(verb.subject, verb.planner, exchange.path()));
  const auto files = files_beside(verb.file);
  const CaseSources sources(*files, subject);
  std::optional<Error> error;
  for (CaseFile& the_case : cases) {
    GRAPHGATE_TRY(fuzz::ReduceRequest request,
                  request_of(verb, std::move(the_case), *subject, stop));
    if (!verb.check.empty()) {
      request.external = [&](const CaseFile& candidate) -> Result<bool> {
        GRAPHGATE_TRY(const std::string path,
                      write_candidate(candidate, verb.file, folder.path(), as_archive));
        GRAPHGATE_TRY(const int status, run_command(verb.check + " \"$1\"", path, timeout_of(verb),
                                                    request.limits.should_stop));
        return status == 0;
      };
    }
    auto reduced = fuzz::reduce_case(request, sources.get());
    if (reduced.ok()) return reduced;
    error = reduced.error();
    if (error->kind != ErrorKind::kBadInput) break;
  }
  return error->at(verb.file);  // of the recording, where there is one: its data are the user's
}

// The line that shows it again. Options, ops and data stand in the case.
std::string replay_line_of(const ReduceVerb& verb, const fuzz::ReducedCase& made) {
  std::vector<std::string> words = {"graphgate", "replay", case_path(output_of(verb))};
  const auto add = [&words](const std::string& name, const std::string& value) {
    for (std::string& word : flag_words(name, value)) words.push_back(std::move(word));
  };
  if (!verb.judges.empty() && verb.judges != "all") add("judges", verb.judges);
  const bool ends = made.signature && fuzz::ends_process(*made.signature);
  if (ends) add("timeout", std::to_string(timeout_of(verb)));
  if (verb.subject.executor.empty()) return replay_line("", words);
  add("executor", verb.subject.executor);
  const AnswerFlags& answers = verb.subject.answers;
  if (answers.seconds != AnswerFlags().seconds) {
    add("executor-timeout", formatted("%.10g", answers.seconds));
  }
  if (answers.bytes != AnswerFlags().bytes) add("answer-limit", answers.bytes);
  return replay_line(replay_environment(), words);
}

// The script for PyTorch beside the case, of an executor that is not ours.
struct ScriptWords {
  std::string path;  // empty: none was written
  std::string why;   // none was written; empty where nobody asked for one
  Result<void> error = {};
};
ScriptWords write_script(const ReduceVerb& verb, const fuzz::ReducedCase& made,
                         const std::string& path) {
  ScriptWords words;
  if (found_in(verb.subject).executor.empty() || !made.signature) return words;
  const auto text =
      print_torch_script(made.reduced.the_case, verb.file,
                         {fuzz::print_signature(*made.signature), replay_line_of(verb, made)});
  if (!text.ok()) {
    words.why = text.error().message;
    return words;
  }
  words.path = fuzz::script_path(path);
  words.error = write_text(text.value(), words.path);
  return words;
}

void print_reduced(const fuzz::ReducedCase& made, const std::string& output, bool is_stopped,
                   const std::string& replay, const ScriptWords& script) {
  const fuzz::Reduced& reduced = made.reduced;
  print_line(
      stdout,
      formatted(
          "%s: %zu of %zu nodes, %zu of %zu calls, %zu of %zu options; %zu checks in %.2f s%s",
          output.c_str(), reduced.after.nodes, reduced.before.nodes, reduced.after.calls,
          reduced.before.calls, reduced.after.options, reduced.before.options, reduced.checks,
          reduced.seconds,
          reduced.is_finished ? ""
          : is_stopped        ? "; interrupted, the least so far"
                              : "; a limit ended it"));
  if (made.signature) print_line(stdout, "shows: " + fuzz::print_signature(*made.signature));
  if (reduced.passing) {
    std::printf("the nearest case that passes:\n");
    for (const std::string& line : fuzz::differing_lines(reduced.the_case, *reduced.passing)) {
      print_line(stdout, "  " + line);
    }
  }
  if (!script.path.empty()) print_line(stdout, "script: python3 " + shell_word(script.path));
  if (!script.why.empty()) print_line(stdout, "no script for PyTorch: " + script.why);
  if (made.signature) print_line(stdout, "replay: " + replay);
}

nlohmann::ordered_json json_of(const fuzz::ReducedCase& made, const std::string& output,
                               bool is_stopped, const std::string& replay,
                               const ScriptWords& script) {
  const fuzz::Reduced& reduced = made.reduced;
  const auto size = [](const fuzz::CaseSize& one) {
    nlohmann::ordered_json json;
    json["nodes"] = one.nodes;
    json["calls"] = one.calls;
    json["options"] = one.options;
    json["programs"] = one.programs;
    return json;
  };
  nlohmann::ordered_json json;
  json["output"] = output;
  if (made.signature) json["signature"] = fuzz::print_signature(*made.signature);
  if (made.signature) json["replay"] = replay;
  if (!script.path.empty()) json["script"] = script.path;
  json["before"] = size(reduced.before);
  json["after"] = size(reduced.after);
  json["checks"] = reduced.checks;
  json["seconds"] = reduced.seconds;
  json["finished"] = reduced.is_finished;
  json["interrupted"] = is_stopped;
  if (reduced.passing) {
    json["passing"] = fuzz::differing_lines(reduced.the_case, *reduced.passing);
  }
  return json;
}

Result<ExitCode> run_reduce(const ReduceVerb& verb) {
  if (verb.subject.executor.empty()) GRAPHGATE_TRY_VOID(check_named(verb.planner));
  for (const char* name : {"--judges", "--signature", "--isolate"}) {
    if (verb.check.empty() || verb.app->get_option(name)->count() == 0) continue;
    return bad_input(std::string(name) + " has no effect with --check, which says what is kept");
  }
  for (const std::string& path : {verb.json, verb.neighbour, output_of(verb)}) {
    GRAPHGATE_TRY_VOID(check_writable(path));
  }
  GRAPHGATE_TRY(std::vector<CaseFile> cases, read_candidates(verb));
  const StopSignals stop;
  const auto first = reduce_first(verb, std::move(cases), stop);
  if (!first.ok() && stop.came() != 0) {
    print_line(stderr, "graphgate: " + verb.file + ": interrupted before there was a smaller case");
    return ExitCode::kInconclusive;
  }
  if (!first.ok()) return first.error();
  const fuzz::ReducedCase& made = first.value();
  const bool is_stopped = stop.came() != 0 && !made.reduced.is_finished;
  const std::string output = output_of(verb);
  GRAPHGATE_TRY(const std::string text, spec::print_case(made.reduced.the_case));
  if (is_archive(output)) {
    GRAPHGATE_TRY_VOID(write_case_archive(made.reduced.the_case, verb.file, output));
  }
  GRAPHGATE_TRY_VOID(write_text(text, case_path(output)));
  const ScriptWords script = write_script(verb, made, case_path(output));
  if (!script.error.ok()) return script.error.error();
  if (!verb.neighbour.empty() && made.reduced.passing) {
    GRAPHGATE_TRY(const std::string passing, spec::print_case(*made.reduced.passing));
    GRAPHGATE_TRY_VOID(write_text(passing, verb.neighbour));
  }
  const std::string replay = replay_line_of(verb, made);
  GRAPHGATE_TRY_VOID(write_json(json_of(made, output, is_stopped, replay, script), verb.json));
  if (verb.json != "-") print_reduced(made, output, is_stopped, replay, script);
  return is_stopped ? ExitCode::kInconclusive : ExitCode::kGood;
}

}  // namespace

Verb add_reduce(CLI::App& app) {
  const auto owned = std::make_shared<ReduceVerb>();
  ReduceVerb& verb = *owned;
  CLI::App* reduce = app.add_subcommand("reduce", "make a case that fails as small as it gets");
  verb.app = reduce;
  reduce->add_option("file", verb.file, "a case, graph text, or a torch.export archive (.pt2)")
      ->type_name(takes::kFile)
      ->required();
  reduce
      ->add_option("--output,-o", verb.output,
                   "where to write the reduced case (default: FILE.reduced.case); a name that "
                   "ends in .pt2: an archive, and the case beside it")
      ->type_name(takes::kOutput);
  reduce
      ->add_option("--check", verb.check,
                   "a command that is run with a candidate's path behind it: exit status 0 "
                   "means that it is still interesting (default: the same signature shows)")
      ->type_name(takes::kCommand);
  reduce
      ->add_option("--judges", verb.judges,
                   "who looks for the finding: all (the default), or names with commas")
      ->type_name(takes::kNames);
  reduce
      ->add_option("--signature", verb.signature,
                   "the finding to keep, of several: 'verifier V3.overlap [mm, pointwise] {}'")
      ->type_name(takes::kWords);
  reduce->add_option("--time", verb.seconds, "seconds, looked at between checks")
      ->check(CLI::PositiveNumber);
  reduce->add_option("--checks", verb.checks, "how many candidates are checked at most")
      ->check(CLI::PositiveNumber);
  reduce->add_flag("--isolate", verb.isolate,
                   "check each candidate in a process of its own (always, where the finding is a "
                   "crash or a timeout)");
  reduce
      ->add_option("--timeout", verb.timeout_seconds,
                   "seconds for one check with --check or --isolate (default: 10; with "
                   "--executor, 600)")
      ->check(CLI::Range(1, 3600));
  reduce->add_option("--seed", verb.seed, "of the data of programs");
  reduce->add_option("--calls", verb.calls, "how many calls of programs")
      ->check(CLI::Range(1, 1'000'000));
  reduce
      ->add_option("--neighbour", verb.neighbour,
                   "write the nearest case that passes to this file, too")
      ->type_name(takes::kOutput);
  add_custom_ops_flag(*reduce, verb.custom_ops);
  add_json_flag(*reduce, verb.json, "what was done");
  add_subject_flags(*reduce, verb.subject);
  add_planner_flags(*reduce, verb.planner);
  reduce->footer(
      "Options given here are kept: the rest of the case is what is reduced.\n\n"
      "Examples:\n  graphgate reduce crash.case\n"
      "  graphgate reduce --deviation frees_twice -o small.case golden/models/llama_sdpa.pt2\n"
      "  graphgate reduce --check './still_wrong.sh' -o small.pt2 model.pt2\n\n"
      "Exit code: 0 reduced, 2 interrupted (the least so far is written), 3 infrastructure, 4 bad "
      "input, or a case that shows nothing.");
  return {reduce, [owned](const auto& /*words*/) { return run_reduce(*owned); }};
}

}  // namespace graphgate::tools
