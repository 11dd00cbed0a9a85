// graphgate fuzz: a campaign; fuzz merge: campaigns of several shards, as one.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "base/atomic_file.h"
#include "base/child_processes.h"
#include "base/file_io.h"
#include "base/formatted.h"
#include "base/stop_signals.h"
#include "base/temporary_folder.h"
#include "fuzz/campaign/campaign_cases.h"
#include "fuzz/campaign/claim.h"
#include "fuzz/campaign/run_campaign.h"
#include "fuzz/generate/family.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/judge_case.h"
#include "optimized/runtime/cuda/cubins.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/known_findings.h"
#include "tools/executors/optimized_options.h"
#include "tools/executors/torch_script.h"
#include "tools/report/campaign_history.h"
#include "tools/report/fuzz_report.h"
#include "tools/report/fuzz_view.h"
#include "tools/report/replay_line.h"
#include "tools/report/timings.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

struct FuzzVerb {
  std::uint64_t seed = 1;
  std::uint64_t cases = 0;     // 0: by time; neither: kDefaultFuzzCases
  std::string time;            // "8h", "90s"
  int jobs = 0;                // 0: as many as the machine has processors
  std::uint32_t lineages = 0;  // 0: as many as there are shards
  std::string shard;           // "i/N"; empty: as the environment says
  std::string corpus = "fuzz-corpus";
  std::string ledger;  // empty: CORPUS/ledger.txt, if it is there
  std::string known;   // a ledger of known findings; empty: what ships with the adapter
  bool resume = false;
  bool overwrite = false;
  bool replay_only = false;
  bool no_replay = false;
  bool without_data = false;  // in reports
  bool feedback = false;
  bool with_timings = false;
  bool lists_ops = false;
  std::string judges;  // empty: the quick ones
  std::string ops;
  std::string exclude;
  std::uint64_t data_sets = 1;
  double timeout_seconds = 0;  // 0: usual_timeout (flags.h)
  std::string memory_limit;    // empty: 4GiB, none with a command
  double reduce_seconds = 10;
  std::string case_log;
  std::string target;  // a score; empty: none
  SubjectFlags subject;
  spec::Configuration planner;
  ReportPaths reports;
  std::string trace;               // a file
  std::vector<std::string> merge;  // corpora of the verb `fuzz merge`
  std::string merge_into;
  const CLI::App* merge_app = nullptr;  // the subcommand
  const CLI::App* app = nullptr;
};

constexpr const char* kCasesLeftOut = "cases and scripts of findings are left out (--no-data)";
constexpr std::uint64_t kDefaultFuzzCases = 1000;
constexpr const char* kMemoryLimit = "4GiB";
constexpr std::uint64_t kAllJudgesEvery = 16;  // cases; of the others, kQuickJudges

void add_campaign_options(CLI::App& fuzz, FuzzVerb& verb) {
  fuzz.add_option("--seed", verb.seed, "what all cases follow from");
  fuzz.add_option("--cases", verb.cases,
                  "how many, over all shards (default: 1000, without --time)")
      ->check(CLI::Range(std::uint64_t{1}, ~std::uint64_t{0}));
  fuzz.add_option("--time", verb.time, "how long, as 8h, 30m or 90s")->type_name(takes::kDuration);
  fuzz.add_option("--jobs,-j", verb.jobs, "worker processes (default: one for each processor)")
      ->check(CLI::Range(1, 1024));
  fuzz.add_option("--shard", verb.shard,
                  "i/N: only the cases whose index leaves i when divided by N (default: as a Slurm "
                  "array, a Kubernetes indexed job or GTEST_TOTAL_SHARDS says)")
      ->type_name("I/N");
  fuzz.add_option("--corpus", verb.corpus, "a folder for findings and the campaign's state")
      ->type_name(takes::kOutputFolder)
      ->capture_default_str();
  fuzz.add_option("--ledger", verb.ledger, "known findings (default: ledger.txt of the corpus)")
      ->type_name(takes::kFile);
  fuzz.add_option("--known", verb.known,
                  "findings that are known of the executor under test; none: of none (default: "
                  "those that ship with its adapter)")
      ->type_name(takes::kFile);
  fuzz.add_flag("--resume", verb.resume,
                "go on where the corpus says; begin where it says nothing");
  fuzz.add_flag("--overwrite", verb.overwrite,
                "begin where the corpus holds another campaign (another seed, other settings), "
                "whose state is removed; its cases stay");
  fuzz.add_flag("--replay-only", verb.replay_only, "only run what the corpus keeps");
  fuzz.add_flag("--no-replay", verb.no_replay, "do not run what the corpus keeps");
  fuzz.add_option("--judges", verb.judges,
                  "all, or names with commas (default: " + std::string(fuzz::kQuickJudges) +
                      ", and all of them for every 16th case)")
      ->type_name(takes::kNames);
  fuzz.add_option("--ops", verb.ops, "draw these only: names with commas, weights as NAME=5")
      ->type_name(takes::kNames);
  fuzz.add_option("--exclude", verb.exclude, "do not draw these: names with commas")
      ->type_name(takes::kNames);
  fuzz.add_flag("--list-ops", verb.lists_ops, "list the names that --ops takes, and run nothing");
  fuzz.add_option(
          "--data-sets", verb.data_sets,
          "judge so many cases of each program, scenario and configuration, which differ in "
          "their data: what is compiled for one serves them all")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
      ->capture_default_str();
  fuzz.add_flag("--feedback", verb.feedback,
                "breed cases from those that showed what few others did, generation by generation");
  fuzz.add_option(
          "--target", verb.target,
          "breed cases toward a high score, and keep the best: peak (bytes of the largest "
          "arena), reuse-depth (tenants of one byte), error (as a share of what is allowed)")
      ->type_name(takes::kName);
  fuzz.add_option("--lineages", verb.lineages,
                  "of --feedback and --target: parts of the campaign that learn nothing of each "
                  "other; a multiple of the shards (default: one for each shard)")
      ->check(CLI::Range(1U, 1U << 20U));
  fuzz.add_option("--timeout", verb.timeout_seconds,
                  "seconds for one case (default: 20; where kernels are compiled for a device, "
                  "120; of a command, 600)")
      ->check(CLI::Range(0.1, 1e6));
  fuzz.add_option("--memory-limit", verb.memory_limit,
                  "address space of a worker and what it starts; 0: no limit (default: 4GiB; of a "
                  "command, and with a device, none)")
      ->type_name(takes::kBytes);
  fuzz.add_option("--reduce-time", verb.reduce_seconds, "seconds to reduce one finding")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  fuzz.add_option("--case-log", verb.case_log, "write a line for each case to this file")
      ->type_name(takes::kOutput);
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return std::nullopt;
  return std::string(value);
}

Result<conformance::JudgeSet> judges_of(const FuzzVerb& verb) {
  return judges_named(verb.judges.empty() ? fuzz::kQuickJudges : verb.judges);
}

// What --feedback, --target and --lineages ask for, and what differs between campaigns by it.
Result<void> add_breeding(const FuzzVerb& verb, fuzz::CampaignOptions& options) {
  if (!verb.target.empty()) {
    options.target = fuzz::parse_score(verb.target);
    if (!options.target) {
      return bad_input("--target: expected peak, reuse-depth or error, found '" + verb.target +
                       "'");
    }
    GRAPHGATE_TRY(const conformance::JudgeSet judges, judges_of(verb));
    if (options.target == fuzz::Score::kError && !judges.has(conformance::Judge::kBounds)) {
      return bad_input("--target error needs the judge bounds");
    }
  }
  if (!verb.feedback && !options.target) {
    return verb.lineages == 0 ? Result<void>()
                              : bad_input("--lineages: only of --feedback or --target");
  }
  if (verb.feedback && options.target) {
    return bad_input("--feedback and --target contradict each other");
  }
  if (verb.data_sets > 1) {
    return bad_input(
        "--data-sets: bred cases have data of their own; not with --feedback or --target");
  }
  const std::uint32_t lineages = verb.lineages > 0 ? verb.lineages : options.shard.count;
  if (lineages % options.shard.count != 0) {
    return bad_input("--lineages: " + std::to_string(lineages) + " lineages do not make " +
                     std::to_string(options.shard.count) + " equal shards");
  }
  const auto from = options.target ? fuzz::BreedFrom::kScores : fuzz::BreedFrom::kFeatures;
  options.breeding = fuzz::Breeding{verb.seed, from, lineages};
  options.pool.lineages = lineages;
  options.key.settings["lineages"] = std::to_string(lineages);
  if (options.target) {
    options.key.settings["target"] = verb.target;
  } else {
    options.key.settings["feedback"] = "features";
  }
  return {};
}

// As a flag takes it: 20, 0.5.
std::string number_word(double number) { return formatted("%.10g", number); }

Result<fuzz::CampaignOptions> campaign_options(const FuzzVerb& verb) {
  fuzz::CampaignOptions options;
  GRAPHGATE_TRY(const fuzz::ShardChoice choice, fuzz::choose_shard(verb.shard, environment));
  options.shard = choice.shard;
  options.cases = verb.cases;
  options.data_sets = verb.data_sets;
  if (!verb.time.empty()) {
    const auto seconds = parse_duration(verb.time);
    if (!seconds.ok()) return seconds.error().at("--time");
    options.seconds = seconds.value();
  }
  if (options.cases == 0 && options.seconds == 0) options.cases = kDefaultFuzzCases;
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  options.pool.jobs = verb.jobs > 0 ? verb.jobs : std::max(processors, 1);
  options.pool.shard = options.shard;
  const bool is_command = !verb.subject.executor.empty();
  const bool is_limited = !is_command && is_on_host(verb.planner);
  options.pool.timeout_seconds =
      verb.timeout_seconds > 0 ? verb.timeout_seconds : usual_timeout(verb.subject, verb.planner);
  const std::string limit = is_limited ? kMemoryLimit : "0";
  const auto bytes = parse_bytes(verb.memory_limit.empty() ? limit : verb.memory_limit);
  if (!bytes.ok()) return bytes.error().at("--memory-limit");
  options.pool.memory_bytes = bytes.value();
  options.pool.wants_lines = !verb.case_log.empty();
  options.pool.wants_times = !verb.trace.empty();
  options.case_log = verb.case_log;
  options.resume = verb.resume;
  const double patience = 3 * verb.reduce_seconds + 10 * options.pool.timeout_seconds + 30;
  options.findings.timeout_seconds = static_cast<std::uint32_t>(std::min(patience, 1e8));
  options.key.generator = static_cast<std::uint32_t>(fuzz::kGeneratorVersion);
  options.key.seed = verb.seed;
  options.key.settings = {{"judges", verb.judges.empty() ? "quick" : verb.judges}};
  if (!verb.ops.empty()) options.key.settings["ops"] = verb.ops;
  if (verb.data_sets > 1) options.key.settings["data-sets"] = std::to_string(verb.data_sets);
  if (is_command) options.key.settings["executor"] = verb.subject.executor;
  if (!verb.planner.empty()) {
    options.key.settings["options"] = print_option_setting(verb.planner);
  }
  options.run["timeout"] = number_word(std::ceil(options.pool.timeout_seconds));
  if (options.pool.memory_bytes > 0) {
    options.run["memory-limit"] = std::to_string(options.pool.memory_bytes);
  }
  if (is_command) {
    const std::string environment = replay_environment();
    if (!environment.empty()) options.run["environment"] = environment;
    const AnswerFlags& answers = verb.subject.answers;
    if (answers.seconds != AnswerFlags().seconds) {
      options.run["executor-timeout"] = number_word(answers.seconds);
    }
    if (answers.bytes != AnswerFlags().bytes) options.run["answer-limit"] = answers.bytes;
  }
  GRAPHGATE_TRY_VOID(add_breeding(verb, options));
  return options;
}

// Bazel's and GoogleTest's protocol: this file says that the test knows of shards.
void touch_shard_status() {
  if (const auto path = environment("GTEST_SHARD_STATUS_FILE")) {
    const Descriptor file(open_to_write(*path, O_CREAT | O_APPEND));
  }
}

// Caches that cases ask for lie below a folder of this run, in memory where the machine has a
// place for that: a worker that is killed cannot clean up.
Result<TemporaryFolder> make_scratch() {
  constexpr const char* kInMemory = "/dev/shm";
  if (::access(kInMemory, W_OK) == 0) (void)::setenv("TMPDIR", kInMemory, 0);
  GRAPHGATE_TRY(TemporaryFolder folder, TemporaryFolder::make("campaign"));
  (void)::setenv("TMPDIR", folder.path().c_str(), 1);
  return folder;
}

Result<fuzz::CaseSetting> case_setting(const FuzzVerb& verb, const fuzz::CampaignOptions& options,
                                       const Subject& subject) {
  fuzz::CaseSetting setting;
  setting.generator = options.key.generator;
  setting.seed = verb.seed;
  for (const auto& [name, value] : verb.planner) setting.kept_options.insert(name);
  if (subject.is_process()) setting.longest_look_seconds = 1e6;
  GRAPHGATE_TRY(setting.judges, judges_of(verb));
  setting.all_judges_every = verb.judges.empty() ? kAllJudgesEvery : 0;
  setting.settings.localize = false;
  setting.settings.share_runs = true;
  setting.found_in = found_in(verb.subject);
  setting.target = options.target;
  setting.pool = options.pool;
  setting.pool.wants_lines = false;
  setting.pool.wants_times = false;
  setting.reduce_seconds = verb.reduce_seconds;
  return setting;
}

// Whether workers find the device, held to as much memory as they are. CUDA does not go through a
// fork: so it is another process that looks.
Result<void> look_for_device(const spec::Configuration& options, const fuzz::PoolOptions& pool) {
  if (is_on_host(options)) return {};
  const ChildOptions limits{1, static_cast<std::uint32_t>(std::min(pool.timeout_seconds, 1e6)) + 1,
                            pool.memory_bytes};
  GRAPHGATE_TRY(const std::vector<ChildResult> looks,
                run_children(1, limits, [&](std::size_t) -> std::string {
                  const auto device = open_device(options);
                  return device.ok() ? "" : device.error().message;
                }));
  const ChildResult& look = looks.front();
  const std::string ending = look.describe();
  const std::string& why = ending.empty() ? look.output : ending;
  if (why.empty()) return {};
  return Error{ErrorKind::kInfrastructure, "--device " + device_of(options) + ": " + why};
}

// What is known of who is under test. The optimized executor has a corpus of its own instead.
Result<fuzz::KnownFindings> known_findings(const FuzzVerb& verb, const Subject& subject) {
  const bool is_asked = !verb.known.empty() && verb.known != "none";
  if (!is_asked && (verb.known == "none" || verb.subject.executor.empty())) {
    return fuzz::KnownFindings();
  }
  const KnownSubject said = known_subject(subject.identity());
  const std::string path = verb.known.empty() ? shipped_ledger(said) : verb.known;
  if (path.empty()) return fuzz::KnownFindings();
  return read_known_findings(path, said);
}

// What is not drawn: what the command line says, and what the subject says that it does not take.
// An id means a case together with this list, which stands in the line that replays it.
std::string excluded(const std::string& asked, const Subject& subject) {
  const std::string not_drawn = fuzz::not_drawn_for(subject.limits());
  const bool is_both = !asked.empty() && !not_drawn.empty();
  return asked + (is_both ? "," : "") + not_drawn;
}

// Of an executor that is not ours: what is found in it is for those who make it.
std::function<std::string(const spec::CaseFile&, const std::string&)> script_writer(
    const FuzzVerb& verb) {
  if (found_in(verb.subject).executor.empty()) return {};
  return [](const spec::CaseFile& the_case, const std::string& signature) {
    const auto script = print_torch_script(the_case, ".", {signature, ""});
    return script.ok() ? script.value() : std::string();
  };
}

// What --ops and --exclude take: families of ops, traits, then ops, each once.
Result<std::vector<std::string>> drawn_names() {
  GRAPHGATE_TRY(const fuzz::Alphabet alphabet, fuzz::parse_alphabet("", ""));
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](std::string_view name) {
    if (seen.emplace(name).second) names.emplace_back(name);
  };
  for (const auto& row : alphabet.rows()) add(fuzz::families()[row.family].name);
  for (std::size_t t = 0; t < fuzz::kTraitCount; ++t) {
    add(fuzz::trait_name(static_cast<fuzz::Trait>(t)));
  }
  for (const auto& row : alphabet.rows()) add(row.op->name);
  return names;
}

// What is drawn. Of a name that nobody has it says which one was probably meant.
Result<fuzz::Alphabet> alphabet_of(const FuzzVerb& verb, const std::string& exclude) {
  auto alphabet = fuzz::parse_alphabet(verb.ops, exclude);
  if (alphabet.ok()) return alphabet;
  GRAPHGATE_TRY(const std::vector<std::string> names, drawn_names());
  for (const std::string& list : {verb.ops, verb.exclude}) {
    for (const std::string& word : spec::split_list(list)) {
      const std::string name = word.substr(0, word.find('='));
      if (std::ranges::find(names, name) != names.end()) continue;
      return bad_input(alphabet.error().message + did_you_mean(name, names));
    }
  }
  return alphabet;
}

Result<ExitCode> list_drawn_ops() {
  GRAPHGATE_TRY(const std::vector<std::string> names, drawn_names());
  for (const std::string& name : names) print_line(stdout, name);
  return ExitCode::kGood;
}

// The corpus for this campaign alone, but for processes of its other shards.
Result<fuzz::ShardClaim> claim_corpus(const fuzz::Corpus& corpus, const fuzz::CampaignKey& key,
                                      const fuzz::Shard& shard, bool overwrites) {
  GRAPHGATE_TRY(fuzz::ShardClaim claim, fuzz::ShardClaim::take(corpus, shard));
  GRAPHGATE_TRY_VOID(fuzz::make_room(corpus, key, shard, overwrites));
  return claim;
}

Result<FuzzOutcome> run(const FuzzVerb& verb, const fuzz::Corpus& corpus,
                        const fuzz::Ledger& ledger, fuzz::CampaignView& view) {
  GRAPHGATE_TRY(fuzz::CampaignOptions options, campaign_options(verb));
  GRAPHGATE_TRY(const TemporaryFolder scratch, make_scratch());
  GRAPHGATE_TRY(const auto subject, choose_subject(verb.subject, verb.planner, scratch.path()));
  options.pool.subject_time = [&subject] {
    const SubjectTimes times = subject->times();
    return fuzz::TimeSpent{0, times.asked, times.compile};
  };
  GRAPHGATE_TRY(const fuzz::KnownFindings known, known_findings(verb, *subject));
  GRAPHGATE_TRY(fuzz::CaseSetting setting, case_setting(verb, options, *subject));
  if (!known.all().empty()) setting.known = &known;
  const std::string exclude = excluded(verb.exclude, *subject);
  if (!exclude.empty()) options.key.settings["exclude"] = exclude;
  // Before anything of an earlier campaign is removed.
  GRAPHGATE_TRY(const fuzz::Alphabet alphabet, alphabet_of(verb, exclude));
  std::optional<fuzz::ShardClaim> claim;
  if (!verb.replay_only) {
    GRAPHGATE_TRY(fuzz::ShardClaim taken,
                  claim_corpus(corpus, options.key, options.shard, verb.overwrite));
    if (!taken.trouble().empty()) view.remark(taken.trouble());
    claim.emplace(std::move(taken));
  }
  GRAPHGATE_TRY(const spec::OpTable ops, load_op_table({}));
  if (verb.subject.executor.empty()) {
    GRAPHGATE_TRY_VOID(look_for_device(verb.planner, options.pool));
  }
  // What one worker compiles is there for all, and for the next campaign.
  const std::string device = device_of(verb.planner);
  if (device == "cuda" || device == "compiled") {
    optimized::cuda::keep_cubins_in(std::filesystem::path(corpus.root()) / "cubins");
  }
  std::vector<std::string> remarks;
  GRAPHGATE_TRY(optimized::Options unused, options_of(verb.planner, ops, &remarks));
  GRAPHGATE_TRY_VOID(open_cache(verb.planner, unused, &remarks));
  for (const std::string& remark : remarks) view.remark(remark);
  const auto genes = [&verb](const fuzz::Descent& descent) {
    return fuzz::genes_of(verb.seed, descent, verb.data_sets);
  };
  const CaseSources sources(fuzz::no_files(), subject);
  const fuzz::CampaignCases cases(
      {[&](const fuzz::Descent& descent) { return fuzz::draw_case(genes(descent), alphabet); },
       [&](const fuzz::Descent& descent) {
         const fuzz::GeneVector vector = genes(descent);
         return fuzz::hash_of({reinterpret_cast<const char*>(vector.data()),
                               vector.size() * sizeof(vector.front())});
       },
       [&](spec::CaseFile the_case) {
         return with_flags(std::move(the_case), verb.planner, *subject);
       },
       script_writer(verb)},
      setting, sources.get());
  FuzzOutcome outcome;
  outcome.corpus = corpus.root();
  for (const fuzz::KnownFinding& one : known.all()) outcome.known_issues[one.name] = one.issue;
  const StopSignals stop;
  if (!verb.no_replay) {
    const auto is_over = [&] { return stop.came() != 0; };
    GRAPHGATE_TRY(outcome.replayed,
                  fuzz::replay_corpus(corpus, ledger, cases, options.pool, is_over, view));
    GRAPHGATE_TRY(const std::vector<ReplayedCase> again,
                  fuzz::replay_known(known, cases, options.pool, is_over, view));
    outcome.replayed.insert(outcome.replayed.end(), again.begin(), again.end());
  }
  outcome.is_interrupted = stop.came() != 0;
  outcome.state.key = options.key;
  outcome.state.run = options.run;
  if (verb.replay_only || outcome.is_interrupted) return outcome;
  const fuzz::CampaignParts parts{
      [&](const fuzz::Descent& descent, const std::function<void()>& begin) {
        return cases.judge(descent, begin);
      },
      [&](const fuzz::TriageTask& task) { return cases.look_again(task); },
      [&](const fuzz::Descent& descent) { return cases.content_of(descent); },
      [&](const fuzz::Descent& descent, std::vector<std::string> header) {
        return cases.print(descent, std::move(header));
      },
      corpus,
      ledger,
      view,
      stop,
      [&](const fuzz::TriageTask& task) { return cases.may_be_known(task); },
      claim ? &*claim : nullptr};
  GRAPHGATE_TRY(fuzz::CampaignEnd end, fuzz::run_campaign(options, parts));
  outcome.state = std::move(end.state);
  outcome.is_interrupted = end.is_interrupted;
  outcome.times = std::move(end.times);
  return outcome;
}

// The file, or the ledger of the corpus; empty where there is none.
Result<fuzz::Ledger> read_ledger(const std::string& path, const std::string& corpus) {
  const std::string usual = corpus + "/ledger.txt";
  if (path.empty()) {
    GRAPHGATE_TRY(const bool is_kept, graphgate::is_there(usual));
    if (!is_kept) return fuzz::Ledger();
  }
  const std::string& chosen = path.empty() ? usual : path;
  GRAPHGATE_TRY(const std::string text, read_text(chosen));
  return fuzz::Ledger::parse(text, chosen);
}

// ---- merge ----

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

void add_fuzz_reports(CLI::App& app, FuzzVerb& verb) {
  add_report_options(app, verb.reports, "the result");
  add_no_data_flag(app, verb.without_data, "cases and scripts of findings out of the reports");
}

// With all that it was asked to draw, or not to show.
Report fuzz_report(const FuzzVerb& verb, const FuzzOutcome& outcome, const fuzz::Ledger& ledger) {
  Report report = report_of(outcome, ledger);
  if (verb.without_data) leave_out(kCasesLeftOut, report);
  return report;
}

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
  merge->add_flag("--overwrite", verb.overwrite,
                  "where that corpus holds another campaign, remove its state");
  merge->add_option("--ledger", verb.ledger, "known findings (default: of the first corpus)")
      ->type_name(takes::kFile);
  add_fuzz_reports(*merge, verb);
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
    GRAPHGATE_TRY(const fuzz::ShardClaim claim,
                  claim_corpus(into, outcome.state.key, {}, verb.overwrite));
    GRAPHGATE_TRY_VOID(copy_cases(verb.merge, into));
    GRAPHGATE_TRY_VOID(into.write(fuzz::print_state(outcome.state), into.state_path({})));
  }
  Report report = fuzz_report(verb, outcome, ledger);
  if (has_form(verb.reports, kHtmlForm)) {
    report.panels.push_back(campaign_panel(outcome, report, {}));
  }
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

Result<ExitCode> run_fuzz(const FuzzVerb& verb) {
  ReportPaths outputs = verb.reports;
  outputs["trace"] = verb.trace;
  const bool has_report = std::any_of(verb.reports.begin(), verb.reports.end(),
                                      [](const auto& report) { return !report.second.empty(); });
  if (verb.without_data && !has_report)
    return bad_input("--no-data has no effect without a report");
  if (verb.merge_app->parsed()) {
    for (const char* name : {"--trace", "--timings"}) {
      if (verb.app->get_option(name)->count() == 0) continue;
      return bad_input(std::string(name) + " has no effect on merge: states have no times");
    }
    return run_fuzz_merge(verb);
  }
  if (verb.replay_only && verb.no_replay) {
    return bad_input("--replay-only and --no-replay contradict each other");
  }
  if (verb.lists_ops) {
    GRAPHGATE_TRY_VOID(refuse_without_effect(*verb.app, {"with --list-ops", {"list-ops"}}));
    return list_drawn_ops();
  }
  if (verb.replay_only) {
    for (const char* name : {"--cases", "--time", "--ops", "--exclude", "--data-sets", "--feedback",
                             "--target", "--lineages", "--resume", "--overwrite", "--case-log",
                             "--reduce-time", "--trace", "--timings"}) {
      if (verb.app->get_option(name)->count() == 0) continue;
      return bad_input(std::string(name) +
                       " has no effect with --replay-only, which draws nothing");
    }
  }
  touch_shard_status();
  GRAPHGATE_TRY(const fuzz::Ledger ledger, read_ledger(verb.ledger, verb.corpus));
  GRAPHGATE_TRY(const fuzz::Corpus corpus, verb.replay_only
                                               ? fuzz::Corpus::open_for_reading(verb.corpus)
                                               : fuzz::Corpus::open(verb.corpus, write_text));
  // A report on standard output leaves it to itself.
  const auto shown = view_for(to_stdout(outputs) > 0 ? stderr : stdout);
  HistoryView view(*shown);
  GRAPHGATE_TRY(const FuzzOutcome outcome, run(verb, corpus, ledger, view));
  Report report = fuzz_report(verb, outcome, ledger);
  if (verb.with_timings) {
    add_timings(timings_of(outcome.times), has_form(verb.reports, kHtmlForm), report);
  }
  view.end(report.totals);
  if (has_form(verb.reports, kHtmlForm)) {
    report.panels.push_back(campaign_panel(outcome, report, view.history()));
  }
  if (!verb.trace.empty()) {
    GRAPHGATE_TRY_VOID(write_text(campaign_trace(view.history()), verb.trace));
  }
  GRAPHGATE_TRY_VOID(write_report(report, verb.reports));
  return report.code;
}

}  // namespace

Verb add_fuzz(CLI::App& app) {
  const auto owned = std::make_shared<FuzzVerb>();
  FuzzVerb& verb = *owned;
  CLI::App* fuzz = app.add_subcommand(
      "fuzz", "draw cases, judge them, and keep what they find: reduced, named, told once");
  verb.app = fuzz;
  add_campaign_options(*fuzz, verb);
  add_subject_flags(*fuzz, verb.subject);
  add_planner_flags(*fuzz, verb.planner);
  add_fuzz_reports(*fuzz, verb);
  add_trace_flag(*fuzz, verb.trace, "which worker was at which case, and when,");
  add_timings_flag(*fuzz, verb.with_timings);
  fuzz->footer(
      "Examples:\n  graphgate fuzz --time 8h --jobs 2 --corpus nightly\n"
      "  graphgate fuzz --cases 2000 --deviation frees_twice --ops aten.add,aten.mul,view=5\n"
      "  graphgate fuzz --time 1h --target reuse-depth --corpus deep\n"
      "  graphgate fuzz --cases 1000 --judges exact,bounds,state --executor 'python3 -m "
      "graphgate_torch serve'\n"
      "  graphgate fuzz merge shard-0 shard-1 --json all.json\n\n"
      "Exit code: 0 nothing new found, 1 findings, 2 inconclusive (also: nothing was run, or "
      "interrupted), 3 infrastructure, 4 bad input, 5 a defect of graphgate.");
  verb.merge_app = add_fuzz_merge(*fuzz, verb);
  return {fuzz, [owned](const auto& /*words*/) { return run_fuzz(*owned); }};
}

}  // namespace graphgate::tools
