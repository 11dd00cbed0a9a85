// graphgate replay: a case again, as it was judged when something was found in it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "fuzz/campaign/campaign_state.h"
#include "fuzz/campaign/corpus.h"
#include "fuzz/campaign/reduce_case.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/generate/generator.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/exchange_folder.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/forms.h"
#include "tools/report/fuzz_report.h"
#include "tools/store/bundle.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct ReplayVerb {
  std::vector<std::string> words;      // a file, an id, a finding's name, or a line with one
  std::string judges;                  // empty: all
  std::string corpus = "fuzz-corpus";  // a folder
  std::string ops;                     // of an id
  std::string exclude;
  std::uint64_t data_sets = 1;
  std::uint32_t timeout_seconds = 0;  // 0: usual_timeout (flags.h), and a minute at least
  std::string memory_limit;           // empty: none
  std::string write;                  // a path, or "-": where the case goes instead of being run
  SubjectFlags subject;
  spec::Configuration planner;
  std::string json;  // a path, or "-"
  const CLI::App* app = nullptr;
};

using fuzz::Signature;
using spec::CaseFile;

struct ReplayInput {
  CaseFile the_case;
  std::string name;  // a path or an id
  std::string path;  // where the case's own files lie
};

// Files that stand one after the other, or a line as a report prints it, pasted as several words:
// what stands behind its verb. (main.cpp takes apart one that is pasted as a word.)
std::vector<std::string> words_of(const ReplayVerb& verb) {
  std::vector<std::string> words = verb.words;
  if (words.size() > 2 && words[0] == "graphgate" && words[1] == "replay") {
    words.erase(words.begin(), words.begin() + 2);
  }
  return words;
}

// An id alone says nothing of the campaign that it is of: where the corpus holds a campaign of this
// seed that was given more, the line that replays it has to say so, too.
Result<void> check_campaign(const ReplayVerb& verb, const fuzz::CaseId& id,
                            const std::string& text) {
  const bool is_told = !verb.subject.executor.empty() || !verb.planner.empty() ||
                       !verb.ops.empty() || !verb.exclude.empty() || verb.data_sets > 1;
  const auto states = fuzz::find_states(verb.corpus);
  if (is_told || !states.ok()) return {};
  for (const std::string& path : states.value()) {
    const auto stored = read_text(path);
    if (!stored.ok()) continue;
    const auto state = fuzz::parse_state(stored.value(), path);
    if (!state.ok() || state.value().key.seed != id.seed ||
        state.value().key.generator != id.generator) {
      continue;
    }
    const auto& settings = state.value().key.settings;
    const bool was_given_more =
        std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
          return setting.first == "executor" || setting.first == "options" ||
                 setting.first == "ops" || setting.first == "exclude" ||
                 setting.first == "data-sets";
        });
    if (!was_given_more) return {};
    return bad_input(text + " is of the campaign in " + verb.corpus +
                     ", which was given more than a seed: " +
                     campaign_replay_line(state.value(), text, /*is_drawn=*/true, "") +
                     " (or --executor optimized for the built-in one)");
  }
  return {};
}

Result<ReplayInput> draw_replayed(const ReplayVerb& verb, const std::string& id) {
  constexpr fuzz::KnownGenerators kKnown{fuzz::kOldestGenerator, fuzz::kGeneratorVersion};
  GRAPHGATE_TRY(const fuzz::CaseId parsed, fuzz::parse_case_id(id, kKnown));
  GRAPHGATE_TRY_VOID(check_campaign(verb, parsed, id));
  GRAPHGATE_TRY(const fuzz::Alphabet alphabet,
                fuzz::parse_alphabet(verb.ops, verb.exclude, static_cast<int>(parsed.generator)));
  if (verb.data_sets > 1 && !parsed.descent.ancestors.empty()) {
    return bad_input("--data-sets: '" + id + "' is bred, which has data of its own");
  }
  const fuzz::GeneVector genes = fuzz::genes_of(parsed.seed, parsed.descent, verb.data_sets);
  return ReplayInput{fuzz::draw_case(genes, alphabet), id, "."};
}

// A file, or the case of the corpus that has this name.
Result<std::string> path_of(const ReplayVerb& verb, const std::string& word) {
  GRAPHGATE_TRY(const bool is_file, graphgate::is_there(word));
  if (is_file) return word;
  for (const fuzz::CorpusFolder folder : fuzz::kCorpusFolders) {
    GRAPHGATE_TRY(const auto files, fuzz::case_files(verb.corpus, folder));
    for (const std::string& file : files) {
      if (std::filesystem::path(file).stem() == word) return verb.corpus + "/" + file;
    }
  }
  return bad_input("'" + word + "' is no file, no id (g" + std::to_string(fuzz::kGeneratorVersion) +
                   ":SEED:INDEX), and no case of " + verb.corpus);
}

Result<ReplayInput> read_replayed(const ReplayVerb& verb, const std::string& word) {
  if (fuzz::is_case_id(word)) return draw_replayed(verb, word);
  GRAPHGATE_TRY(const std::string path, path_of(verb, word));
  GRAPHGATE_TRY_VOID(refuse_bundle(path));
  GRAPHGATE_TRY(const std::string text, read_text(path));
  if (!is_case_text(text))
    return bad_input(path + ": is no case; 'graphgate check' judges programs");
  GRAPHGATE_TRY(CaseFile the_case, parse_checked_case(text, path));
  if (verb.write.empty()) {
    GRAPHGATE_TRY_VOID(
        check_found_in(the_case, path, {"graphgate", "replay"}, !verb.subject.executor.empty()));
  }
  return ReplayInput{std::move(the_case), path, path};
}

enum class Replayed { kSame, kOther, kGone };

const char* word_of(Replayed replayed) {
  switch (replayed) {
    case Replayed::kSame:
      return "SAME";
    case Replayed::kOther:
      return "OTHER";
    case Replayed::kGone:
      return "GONE";
  }
  return "";
}

Replayed compare(const fuzz::CaseLook& look, const std::optional<Signature>& stored) {
  if (look.signatures.empty()) return Replayed::kGone;
  if (!stored) return Replayed::kOther;
  for (const Signature& signature : look.signatures) {
    if (signature.same_fault(*stored)) return Replayed::kSame;
  }
  return Replayed::kOther;
}

void print_replay(const ReplayInput& input, const fuzz::CaseLook& look,
                  const std::optional<Signature>& stored, Replayed replayed,
                  const std::string& executor) {
  const std::string outcome(spec::outcome_name(look.outcome));
  if (!stored) {
    print_line(stdout, formatted("%s %s: keeps no signature to compare with", outcome.c_str(),
                                 input.name.c_str()));
  } else if (replayed == Replayed::kGone) {
    print_line(stdout, formatted("%s %s: does not show '%s' any more", outcome.c_str(),
                                 input.name.c_str(), fuzz::print_signature(*stored).c_str()));
  } else {
    print_line(stdout,
               formatted("%s %s: %s '%s'", outcome.c_str(), input.name.c_str(),
                         replayed == Replayed::kSame ? "shows" : "shows something else than",
                         fuzz::print_signature(*stored).c_str()));
  }
  for (const Signature& signature : look.signatures) {
    print_line(stdout, "  found: " + fuzz::print_signature(signature));
  }
  if (!look.reason.empty()) print_line(stdout, "  " + look.reason);
  print_line(stdout, "  judged: " + executor);
}

nlohmann::ordered_json json_of(const ReplayInput& input, const fuzz::CaseLook& look,
                               const std::optional<Signature>& stored, Replayed replayed,
                               const std::string& executor) {
  nlohmann::ordered_json json;
  json["case"] = input.name;
  json["executor"] = executor;
  json["replayed"] = word_of(replayed);
  json["outcome"] = spec::outcome_name(look.outcome);
  json["reason"] = look.reason;
  if (stored) json["expected"] = fuzz::print_signature(*stored);
  json["found"] = nlohmann::ordered_json::array();
  for (const Signature& signature : look.signatures) {
    json["found"].push_back(fuzz::print_signature(signature));
  }
  return json;
}

std::uint32_t timeout_of(const ReplayVerb& verb) {
  if (verb.timeout_seconds > 0) return verb.timeout_seconds;
  constexpr double kLeast = 60;
  return static_cast<std::uint32_t>(std::max(kLeast, usual_timeout(verb.subject, verb.planner)));
}

// Several cases share the process of a command, which ends apart from this one.
Result<ExitCode> replay_one(const ReplayVerb& verb, ReplayInput input, bool is_apart,
                            const std::shared_ptr<const Subject>& subject,
                            nlohmann::ordered_json& json) {
  input.the_case = with_flags(std::move(input.the_case), verb.planner, *subject);
  if (!verb.write.empty()) {
    GRAPHGATE_TRY(const std::string text, spec::print_case(input.the_case));
    GRAPHGATE_TRY_VOID(write_text(text, verb.write));
    return ExitCode::kGood;
  }
  GRAPHGATE_TRY(const std::optional<Signature> stored, fuzz::stored_signature(input.the_case));
  fuzz::JudgeChoice choice;
  choice.settings.localize = false;
  if (!verb.judges.empty()) {
    GRAPHGATE_TRY(choice.judges, judges_named(verb.judges));
  }
  std::uint64_t memory_bytes = 0;
  if (!verb.memory_limit.empty()) {
    const auto parsed = parse_bytes(verb.memory_limit);
    if (!parsed.ok()) return parsed.error().at("--memory-limit");
    memory_bytes = parsed.value();
  }
  const auto files = files_beside(input.path);
  const CaseSources sources(*files, subject);
  GRAPHGATE_TRY(const fuzz::CaseLook look,
                in_file(fuzz::look_at_case(input.the_case, sources.get(), choice,
                                           {is_apart, timeout_of(verb), memory_bytes}),
                        input.name));
  const Replayed replayed = compare(look, stored);
  const std::string executor =
      subject->identity() +
      (subject->is_process() ? ", '" + verb.subject.executor + "'" : " (built in)");
  json = json_of(input, look, stored, replayed, executor);
  if (verb.json != "-") print_replay(input, look, stored, replayed, executor);
  return look.signatures.empty() ? exit_code_of(look.outcome) : ExitCode::kFindings;
}

Result<ExitCode> run_replay(const ReplayVerb& verb) {
  if (verb.subject.executor.empty()) GRAPHGATE_TRY_VOID(check_named(verb.planner));
  const std::vector<std::string> words = words_of(verb);
  const bool has_id = std::any_of(words.begin(), words.end(),
                                  [](const auto& word) { return fuzz::is_case_id(word); });
  for (const char* name : {"--ops", "--exclude", "--data-sets"}) {
    if (has_id || verb.app->get_option(name)->count() == 0) continue;
    return bad_input(std::string(name) + " has no effect without an id: a stored case is drawn");
  }
  if (!verb.write.empty()) {
    for (const char* name : {"--json", "--judges", "--timeout", "--memory-limit"}) {
      if (verb.app->get_option(name)->count() == 0) continue;
      return bad_input(std::string(name) + " has no effect with --write, which runs nothing");
    }
  }
  if (words.size() != 1 && !verb.write.empty()) {
    return bad_input("--write: expected one case, found " + std::to_string(words.size()));
  }
  std::vector<ReplayInput> inputs;
  for (const std::string& word : words) {
    GRAPHGATE_TRY(inputs.emplace_back(), read_replayed(verb, word));
  }
  const ExchangeFolder exchange;
  GRAPHGATE_TRY(const auto subject, choose_subject(verb.subject, verb.planner, exchange.path()));
  const bool is_apart = inputs.size() == 1 || !subject->is_process();
  ExitCode code = ExitCode::kGood;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (ReplayInput& input : inputs) {
    nlohmann::ordered_json json;
    GRAPHGATE_TRY(const ExitCode one, replay_one(verb, std::move(input), is_apart, subject, json));
    code = worse(code, one);
    all.push_back(std::move(json));
  }
  if (!verb.write.empty()) return code;
  GRAPHGATE_TRY_VOID(write_json(all.size() == 1 ? all.front() : all, verb.json));
  return code;
}

}  // namespace

Verb add_replay(CLI::App& app) {
  const auto owned = std::make_shared<ReplayVerb>();
  ReplayVerb& verb = *owned;
  CLI::App* replay = app.add_subcommand("replay", "run a case again that something was found in");
  verb.app = replay;
  replay
      ->add_option("case", verb.words,
                   "case files, the name of a finding in the corpus, the id of a drawn case "
                   "(g3:42:4711; of a bred one, f2:42:17-4711), or a line as a report prints it")
      ->type_name(takes::kCase)
      ->required();
  replay->add_option("--judges", verb.judges, "who looks: all (the default), or names with commas")
      ->type_name(takes::kNames);
  replay->add_option("--corpus", verb.corpus, "the folder that names of findings are looked up in")
      ->type_name(takes::kFolder)
      ->capture_default_str();
  replay->add_option("--ops", verb.ops, "of an id: what the campaign was given")
      ->type_name(takes::kNames);
  replay->add_option("--exclude", verb.exclude, "of an id: what the campaign was given")
      ->type_name(takes::kNames);
  replay->add_option("--data-sets", verb.data_sets, "of an id: what the campaign was given")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U));
  replay
      ->add_option("--timeout", verb.timeout_seconds,
                   "seconds for one case (default: 60; where kernels are compiled for a device, "
                   "120; of a command, 600)")
      ->check(CLI::Range(1, 86'400));
  replay
      ->add_option("--memory-limit", verb.memory_limit,
                   "address space of the process that runs the case (default: no limit)")
      ->type_name(takes::kBytes);
  add_json_flag(*replay, verb.json, "what was found");
  replay
      ->add_option("--write", verb.write,
                   "write the case to this file, and run nothing (- for stdout)")
      ->type_name(takes::kOutput);
  add_subject_flags(*replay, verb.subject);
  add_planner_flags(*replay, verb.planner);
  replay->footer(
      "The case runs in a process of its own, under its own options; options given here are set "
      "over them. Several cases of one command (--executor) share its process. A stored case "
      "replays with any generator; an id of an older one as it was drawn, "
      "from generator 3 on.\n\n"
      "Examples:\n  graphgate replay found.reduced.case\n"
      "  graphgate replay g4:42:4711 --deviation frees_twice\n"
      "  graphgate replay g4:42:4711 --write 4711.case\n"
      "  graphgate replay --corpus fuzz-corpus verifier-V3.overlap-mm-121650cdaed3\n\n"
      "Exit code: 0 all judges are content, 1 findings, 2 inconclusive, 3 infrastructure, 4 bad "
      "input, of another version too.");
  return {replay, [owned](const auto& /*words*/) { return run_replay(*owned); }};
}

}  // namespace graphgate::tools
