// graphgate fuzz merge: campaigns of several shards, as one.
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "tools/cli/fuzz.h"
#include "tools/cli/option_types.h"
#include "tools/cli/report_options.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

// Cases by their names; the first of a name is taken.
Result<void> copy_cases(const std::vector<std::string>& from, const fuzz::Corpus& to) {
  std::set<std::string> taken;
  for (const std::string& root : from) {
    for (const fuzz::CorpusFolder folder : fuzz::kCorpusFolders) {
      GRAPHGATE_TRY(const auto files, fuzz::case_files(root, folder));
      for (const std::string& file : files) {
        if (!taken.insert(file).second) continue;
        const std::string below = "/" + file;
        GRAPHGATE_TRY(const std::string text, read_text(root + below));
        GRAPHGATE_TRY_VOID(to.write(text, to.root() + below));
      }
    }
  }
  return {};
}

}  // namespace

CLI::App* add_fuzz_merge(CLI::App& fuzz, FuzzVerb& verb) {
  CLI::App* merge = fuzz.add_subcommand(
      "merge", "add up the campaigns of shards, case for case, and report them");
  merge->add_option("corpora", verb.merge, "the shards' corpora; a corpus may hold several shards")
      ->type_name(takes::kFolder)
      ->required();
  merge
      ->add_option("--into", verb.merge_into,
                   "a corpus for the sum, with the cases of all that are added up")
      ->type_name(takes::kOutputFolder);
  merge->add_option("--ledger", verb.ledger, "known findings (default: of the first corpus)")
      ->type_name(takes::kFile);
  add_report_options(*merge, verb.reports, "the result");
  merge->footer(
      "Example:\n  graphgate fuzz merge shard-0 shard-1 shard-2 shard-3 --into all\n\n"
      "Exit code: that of the campaign; 4 where the shards do not add up.");
  return merge;
}

Result<ExitCode> run_fuzz_merge(const FuzzVerb& verb) {
  std::vector<fuzz::CampaignState> states;
  for (const std::string& corpus : verb.merge) {
    GRAPHGATE_TRY(const std::vector<std::string> paths, fuzz::find_states(corpus));
    for (const std::string& path : paths) {
      GRAPHGATE_TRY(const std::string text, read_text(path));
      GRAPHGATE_TRY(states.emplace_back(), fuzz::parse_state(text, path));
    }
  }
  FuzzOutcome outcome;
  GRAPHGATE_TRY(outcome.state, fuzz::merge_states(states));
  outcome.corpus = verb.merge_into.empty() ? verb.merge.front() : verb.merge_into;
  GRAPHGATE_TRY(const fuzz::Ledger ledger, read_ledger(verb.ledger, verb.merge.front()));
  if (!verb.merge_into.empty()) {
    GRAPHGATE_TRY(const fuzz::Corpus into, fuzz::Corpus::open(verb.merge_into, write_text));
    GRAPHGATE_TRY_VOID(copy_cases(verb.merge, into));
    GRAPHGATE_TRY_VOID(into.write(fuzz::print_state(outcome.state), into.state_path({})));
  }
  const Report report = report_of(outcome, ledger);
  if (to_stdout(verb.reports) == 0) print_lines(report);
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  // What some shard has not run is not known to be good.
  const bool is_whole =
      outcome.state.done.size() == 1 && outcome.state.done.begin()->first.count == 1;
  if (!is_whole && outcome.state.cases > 0) {
    std::fprintf(stderr, "graphgate: the shards lack %llu of %llu cases\n",
                 static_cast<unsigned long long>(outcome.state.cases - outcome.state.tally.cases),
                 static_cast<unsigned long long>(outcome.state.cases));
    return worse(report.code, ExitCode::kInconclusive);
  }
  return report.code;
}

}  // namespace graphgate::tools
