// graphgate mutants: which judge finds which planted fault.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "base/stop_signals.h"
#include "conformance/judges/judge_report.h"
#include "spec/option.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"
#include "tools/mutants/mutants.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/replay_line.h"
#include "tools/store/bundled_data.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct MutantsVerb {
  std::vector<std::string> folders;  // empty: the usual one
  std::vector<std::string> filters;
  std::size_t every = 1;
  std::string known;  // a file
  int jobs = 1;
  std::uint32_t timeout_seconds = 600;
  bool list = false;
  ReportPaths reports;
  const CLI::App* app = nullptr;
};

namespace option = spec::option;

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& list) {
  std::string spaced = list;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream words(spaced);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

// What a case's header says: "# Deviation: frees_twice".
std::vector<std::string> named_deviations(const std::string& text) {
  constexpr std::string_view kKey = "# Deviation:";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kKey)) return words_of(line.substr(kKey.size()));
  }
  return {};
}

// Every case below the folders that a right executor passes as it is.
Result<std::vector<MutantCase>> read_cases(std::vector<std::string> folders) {
  if (folders.empty()) {
    GRAPHGATE_TRY(folders.emplace_back(), usual_corpus("golden/cases", "name a folder"));
  }
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    GRAPHGATE_TRY(const auto found, list_files(folder, ".case", Depth::kBelow));
    paths.insert(paths.end(), found.begin(), found.end());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<MutantCase> cases;
  for (const std::string& path : paths) {
    GRAPHGATE_TRY(const std::string text, read_text(path));
    GRAPHGATE_TRY(conformance::Script script, read_case(text, path));
    const bool passes = script.expectation.outcome == spec::Outcome::kPass;
    if (!passes || script.options.contains(option::kDeviation)) continue;
    const std::string baseline = (fs::path(path).parent_path() / "quality.txt").string();
    std::string quality;
    GRAPHGATE_TRY(const bool has_baseline, graphgate::is_there(baseline));
    if (has_baseline) {
      GRAPHGATE_TRY(quality, read_text(baseline));
    }
    cases.push_back({path, std::move(script), named_deviations(text), std::move(quality)});
  }
  if (cases.empty()) {
    return bad_input(conformance::join_names(folders, folders.size()) +
                     ": no case that a right executor passes is there");
  }
  return cases;
}

// "NAME equivalent: why nobody can tell it from a right executor", or "NAME tested: the test that
// finds what no case can hold". Lines that begin with `#` say nothing.
struct KnownMutant {
  bool is_equivalent = false;
  std::string why;
};
Result<std::map<std::string, KnownMutant>> read_known(const std::string& path,
                                                      const std::vector<Mutant>& mutants) {
  std::map<std::string, KnownMutant> known;
  if (path.empty()) return known;
  GRAPHGATE_TRY(const std::string text, read_text(path));
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    const std::string head = line.substr(0, colon);
    const std::size_t space = head.find(' ');
    const std::string name = head.substr(0, space);
    const std::string word = space == std::string::npos ? "" : head.substr(space + 1);
    const bool is_mutant = std::any_of(mutants.begin(), mutants.end(),
                                       [&](const Mutant& mutant) { return mutant.name == name; });
    if (colon == std::string::npos || !is_mutant || (word != "equivalent" && word != "tested")) {
      return bad_input(path + ":" + std::to_string(number) +
                       ": expected 'NAME equivalent: WHY' or 'NAME tested: WHERE' of a mutant");
    }
    known[name] = {word == "equivalent", line.substr(colon + 2)};
  }
  return known;
}

std::vector<Mutant> chosen(const MutantsVerb& verb, const std::vector<Mutant>& all) {
  std::vector<Mutant> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool matches =
        verb.filters.empty() ||
        std::any_of(verb.filters.begin(), verb.filters.end(), [&](const std::string& filter) {
          return all[i].name.find(filter) != std::string::npos || all[i].where == filter;
        });
    if (matches && i % verb.every == 0) out.push_back(all[i]);
  }
  return out;
}

// The line that shows to a judge what killed the mutant; empty where nothing did.
std::string replay_of(const MutantVerdict& verdict) {
  if (!verdict.killed || verdict.path.empty()) return "";
  std::vector<std::string> words = {
      "graphgate", "check", verdict.path,
      std::string("--") +
          (verdict.mutant.is_deviation ? option::kDeviation : option::kPlanMutation),
      verdict.mutant.name};
  const auto has = [&](const char* judge) {
    return std::find(verdict.judges.begin(), verdict.judges.end(), judge) != verdict.judges.end();
  };
  const fs::path baseline = fs::path(verdict.path).parent_path() / "quality.txt";
  std::error_code ignored;
  if (has("quality") && fs::exists(baseline, ignored)) {
    words.insert(words.end(), {"--quality-baseline", baseline.string()});
  }
  return replay_line("", words);
}

void print_verdict(const MutantVerdict& verdict) {
  const Mutant& mutant = verdict.mutant;
  std::printf("%-10s %s (%s): ", verdict_word(verdict), mutant.name.c_str(), mutant.where.c_str());
  if (verdict.is_open) {
    std::printf("interrupted\n");
    return;
  }
  if (!verdict.killed) {
    std::printf("%zu cases, %.2f s\n", verdict.cases, verdict.seconds);
    if (!verdict.message.empty()) print_line(stdout, "           " + verdict.message);
    return;
  }
  print_line(
      stdout,
      formatted("%s; %zu %s, %.2f s; %s",
                conformance::join_names(verdict.judges, verdict.judges.size()).c_str(),
                verdict.cases, verdict.cases == 1 ? "case" : "cases", verdict.seconds,
                verdict.by_outputs ? "outputs of one call show it" : "outputs of one call do not"));
  print_line(stdout, "           " + verdict.message);
  print_line(stdout, "           replay: " + replay_of(verdict));
}

struct JudgeScore {
  std::size_t kills = 0;
  std::size_t alone = 0;
};

std::map<std::string, JudgeScore> scores_of(const std::vector<MutantVerdict>& verdicts) {
  std::map<std::string, JudgeScore> scores;
  for (const MutantVerdict& verdict : verdicts) {
    for (const std::string& judge : verdict.judges) {
      ++scores[judge].kills;
      scores[judge].alone += verdict.judges.size() == 1 ? 1 : 0;
    }
  }
  return scores;
}

std::size_t count(const std::vector<MutantVerdict>& verdicts, std::string_view word) {
  return static_cast<std::size_t>(
      std::count_if(verdicts.begin(), verdicts.end(),
                    [&](const MutantVerdict& verdict) { return verdict_word(verdict) == word; }));
}

std::string describe_summary(const std::vector<MutantVerdict>& verdicts) {
  const auto by_outputs = std::count_if(verdicts.begin(), verdicts.end(),
                                        [](const auto& verdict) { return verdict.by_outputs; });
  std::string text = "What a judge alone finds, in the case that ended the search:\n";
  for (const auto& [judge, score] : scores_of(verdicts)) {
    text += formatted("  %-16s %4zu mutants, %3zu of them nobody else\n", judge.c_str(),
                      score.kills, score.alone);
  }
  text +=
      formatted("  %-16s %4td mutants: outputs of one call, torch's tolerances, over all cases\n",
                "(a usual test)", by_outputs);
  text += formatted(
      "\n%zu mutants: %zu killed, %zu killed (suspect), %zu found by tests of their own, "
      "%zu equivalent, %zu survived",
      verdicts.size(), count(verdicts, "KILLED"), count(verdicts, "KILLED (suspect)"),
      count(verdicts, "TESTED"), count(verdicts, "EQUIVALENT"), count(verdicts, "SURVIVED"));
  const std::size_t open = count(verdicts, "NOT RUN");
  if (open > 0) text += formatted("; interrupted, %zu not run", open);
  return text + "\n";
}

nlohmann::ordered_json json_of(const std::vector<MutantVerdict>& verdicts) {
  nlohmann::ordered_json json;
  json["mutants"] = nlohmann::ordered_json::array();
  for (const MutantVerdict& verdict : verdicts) {
    nlohmann::ordered_json one;
    one["name"] = verdict.mutant.name;
    one["kind"] = verdict.mutant.is_deviation ? "deviation" : "plan mutation";
    one["where"] = verdict.mutant.where;
    one["what"] = verdict.mutant.what;
    one["outcome"] = verdict_word(verdict);
    one["judges"] = verdict.judges;
    one["case"] = verdict.path;
    one["finding"] = verdict.message;
    if (const std::string replay = replay_of(verdict); !replay.empty()) one["replay"] = replay;
    one["cases"] = verdict.cases;
    one["seconds"] = verdict.seconds;
    one["outputs_of_one_call"] = verdict.by_outputs;
    json["mutants"].push_back(std::move(one));
  }
  json["killed"] = count(verdicts, "KILLED");
  json["suspect"] = count(verdicts, "KILLED (suspect)");
  json["tested"] = count(verdicts, "TESTED");
  json["equivalent"] = count(verdicts, "EQUIVALENT");
  json["survived"] = count(verdicts, "SURVIVED");
  json["not_run"] = count(verdicts, "NOT RUN");
  json["interrupted"] = count(verdicts, "NOT RUN") > 0;
  return json;
}

// What a mutant that nobody finds says of the judges.
spec::Outcome outcome_of(const MutantVerdict& verdict) {
  if (verdict.is_open) return spec::Outcome::kUndecided;
  const bool is_settled = verdict.killed || verdict.is_equivalent || verdict.is_tested;
  return is_settled ? spec::Outcome::kPass : spec::Outcome::kFail;
}

// Which judge finds which, as a page draws it.
nlohmann::ordered_json panel_of(const std::vector<MutantVerdict>& verdicts) {
  std::vector<std::string> judges;
  for (const auto& [judge, score] : scores_of(verdicts)) judges.push_back(judge);
  nlohmann::ordered_json panel{{"panel", "matrix"},
                               {"title", "Which judge finds which fault"},
                               {"corner", "mutant"},
                               {"columns", judges},
                               {"rows", nlohmann::ordered_json::array()}};
  for (const MutantVerdict& verdict : verdicts) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const std::string& judge : judges) {
      const bool finds =
          std::find(verdict.judges.begin(), verdict.judges.end(), judge) != verdict.judges.end();
      cells.push_back(finds ? nlohmann::ordered_json{{"word", "finds"}, {"class", "ok"}}
                            : nlohmann::ordered_json{{"word", ""}, {"class", "none"}});
    }
    panel["rows"].push_back({{"name", verdict.mutant.name},
                             {"word", verdict_word(verdict)},
                             {"class", verdict.killed                                ? "ok"
                                       : outcome_of(verdict) == spec::Outcome::kFail ? "bad"
                                                                                     : "open"},
                             {"text", verdict.mutant.where + ": " + verdict.mutant.what},
                             {"message", plain_text(verdict.message)},
                             {"replay", replay_of(verdict)},
                             {"cells", std::move(cells)}});
  }
  return panel;
}

ReportItem item_of(const MutantVerdict& verdict) {
  ReportItem item;
  item.place = verdict.mutant.name;
  item.outcome = outcome_of(verdict);
  item.kind = verdict_word(verdict);
  item.reason =
      item.kind + ": " + (verdict.message.empty() ? verdict.mutant.what : verdict.message);
  item.seconds = verdict.seconds;
  item.replay = replay_of(verdict);
  item.remarks = {plain_text(verdict.mutant.where + ": " + verdict.mutant.what)};
  if (!verdict.path.empty()) item.files = {verdict.path};
  for (const std::string& judge : verdict.judges) {
    item.judges.push_back({judge, "", spec::Outcome::kFail, 0, 0, ""});
  }
  return item;
}

Report report_of(const std::vector<MutantVerdict>& verdicts) {
  Report report = one_section("graphgate mutants");
  const std::size_t open = count(verdicts, "NOT RUN");
  report.code = count(verdicts, "SURVIVED") > 0 ? ExitCode::kFindings
                : open > 0                      ? ExitCode::kInconclusive
                                                : ExitCode::kGood;
  if (open > 0) report.interruption = "interrupted, " + std::to_string(open) + " not run";
  report.facts = json_of(verdicts);
  report.totals = describe_summary(verdicts);
  for (const MutantVerdict& verdict : verdicts) {
    report.sections.front().items.push_back(item_of(verdict));
  }
  return report;
}

Result<ExitCode> run_mutants_verb(const MutantsVerb& verb) {
  const std::vector<Mutant> all = all_mutants();
  const std::vector<Mutant> mutants = chosen(verb, all);
  if (mutants.empty()) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Mutant& mutant : all) names.push_back(mutant.name);
    return bad_input("no mutant is called so" + did_you_mean(verb.filters.front(), names));
  }
  if (verb.list) {
    GRAPHGATE_TRY_VOID(
        refuse_without_effect(*verb.app, {"with --list", {"list", "filter", "every"}}));
  }
  if (verb.list) {
    for (const Mutant& mutant : mutants) {
      std::printf("%-34s %-28s %s\n", mutant.name.c_str(), mutant.where.c_str(),
                  mutant.what.c_str());
    }
    return ExitCode::kGood;
  }
  GRAPHGATE_TRY(const auto known, read_known(verb.known, all));
  GRAPHGATE_TRY(const auto cases, read_cases(verb.folders));
  const StopSignals stop;
  GRAPHGATE_TRY(auto verdicts,
                run_mutants(mutants, cases, {verb.jobs, verb.timeout_seconds, [&stop] {
                                               return stop.came() != 0;
                                             }}));
  for (MutantVerdict& verdict : verdicts) {
    const auto row = verdict.is_open ? known.end() : known.find(verdict.mutant.name);
    if (row != known.end() && verdict.killed) {
      return bad_input(verb.known + ": " + verdict.mutant.name + " is killed by " + verdict.path +
                       ", and needs no excuse");
    }
    if (row != known.end()) {
      verdict.is_equivalent = row->second.is_equivalent;
      verdict.is_tested = !row->second.is_equivalent;
      verdict.message = row->second.why;
    }
    if (to_stdout(verb.reports) == 0) print_verdict(verdict);
  }
  Report report = report_of(verdicts);
  if (has_form(verb.reports, kHtmlForm)) report.panels.push_back(panel_of(verdicts));
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  if (to_stdout(verb.reports) == 0) print_plain(stdout, "\n" + report.totals);
  return report.code;
}

}  // namespace

Verb add_mutants(CLI::App& app) {
  const auto owned = std::make_shared<MutantsVerb>();
  MutantsVerb& verb = *owned;
  CLI::App* mutants =
      app.add_subcommand("mutants", "plant faults one at a time, and tell which judge finds them");
  verb.app = mutants;
  mutants
      ->add_option("folders", verb.folders,
                   "folders with case files (default: golden/cases here, else the cases that come "
                   "with the program)")
      ->type_name(takes::kFolder);
  mutants
      ->add_option("--filter", verb.filters,
                   "only mutants whose name contains this, or of this row (repeatable)")
      ->type_name(takes::kName)
      ->allow_extra_args(false);
  mutants->add_option("--every", verb.every, "only the first of every so many")
      ->check(CLI::Range(1, 1'000'000));
  mutants
      ->add_option("--known", verb.known,
                   "a file of mutants that no case can kill, and why (docs/mutants.md)")
      ->type_name(takes::kFile);
  mutants->add_option("--jobs,-j", verb.jobs, "mutants run at a time")->check(CLI::Range(1, 1024));
  mutants->add_option("--timeout", verb.timeout_seconds, "seconds for one mutant")
      ->check(CLI::Range(1, 1'000'000));
  mutants->add_flag("--list", verb.list, "list the mutants, run nothing");
  add_report_options(*mutants, verb.reports, "the verdicts");
  mutants->footer(
      "Examples:\n  graphgate mutants -j 2 golden/cases\n"
      "  graphgate mutants --filter frees_twice --filter B11\n\n"
      "Exit code: 0 all killed or known, 1 survivors, 2 interrupted, 3 infrastructure, 4 bad "
      "input.");
  return {mutants, [owned](const auto& /*words*/) { return run_mutants_verb(*owned); }};
}

}  // namespace graphgate::tools
