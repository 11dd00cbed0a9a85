#include "fuzz/campaign/replay_corpus.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/file_io.h"
#include "fuzz/campaign/reduce_case.h"

namespace graphgate::fuzz {
namespace {

using spec::Outcome;

struct StoredCase {
  std::string file;
  std::string name;
  spec::CaseFile the_case;
  std::string reason;  // why it cannot be judged; empty where it can
  conformance::JudgeSet judges = conformance::JudgeSet::all();
  std::set<std::string> expected;  // findings by name
};

Result<std::vector<StoredCase>> read_cases(const Corpus& corpus) {
  std::vector<StoredCase> cases;
  for (const auto folder : {CorpusFolder::kRegression, CorpusFolder::kCrashing}) {
    GRAPHGATE_TRY(const auto files, case_files(corpus.root(), folder));
    for (const std::string& file : files) {
      const std::string path = corpus.root() + "/" + file;
      GRAPHGATE_TRY(const std::string text, read_whole(path));
      auto read = spec::parse_case(text, path);
      const bool is_unsupported = !read.ok() && read.error().kind == ErrorKind::kUnsupported;
      if (!read.ok() && !is_unsupported) return read.error();
      StoredCase& one = cases.emplace_back();
      one.file = file;
      one.name = stored_name(file);
      one.expected = {one.name};
      if (is_unsupported) one.reason = read.error().message;
      if (read.ok()) {
        one.the_case = std::move(read).value();
        // It may have been stored when its finding had another name.
        const auto stored = stored_signature(one.the_case);
        if (stored.ok() && stored.value()) {
          one.expected.insert(finding_name(print_signature(fault_of(*stored.value()))));
        }
      }
    }
  }
  return cases;
}

Result<void> check_ledger(const Corpus& corpus, const Ledger& ledger) {
  for (const auto& [name, entry] : ledger.entries()) {
    const bool is_kept = entry.expected == Outcome::kPass || !corpus.find(name).empty();
    if (is_kept) continue;
    return bad_input(corpus.ledger_path() + ": the corpus has no case of '" + name +
                     "', so that nobody would see it pass");
  }
  return {};
}

ReplayedCase judged(const StoredCase& stored, const CaseVerdict& verdict, const Ledger& ledger) {
  ReplayedCase out{stored.file, stored.name, verdict.outcome, verdict.message, "", verdict.nodes};
  const bool is_other =
      !verdict.signature.empty() && !stored.expected.contains(finding_name(verdict.signature));
  if (is_other) {
    out.message = "another finding, " + verdict.signature + ": " + verdict.message;
    return out;
  }
  out.outcome = ledger.judge(stored.name, verdict.outcome);
  if (const LedgerEntry* known = ledger.find_known(stored.name)) out.issue = known->issue;
  if (out.outcome == Outcome::kXPass) {
    out.message = "passes, and the ledger expects it to fail (" + out.issue +
                  "): say PASS there, or see why it no longer shows";
  }
  return out;
}

CaseVerdict verdict_of_lost(const CaseLost& lost, double timeout_seconds) {
  CaseVerdict verdict;
  verdict.outcome = lost.is_timeout ? Outcome::kTimeout : Outcome::kCrash;
  verdict.signature = ending_signature(lost);
  verdict.message = "the case " + describe(lost, timeout_seconds);
  return verdict;
}

// A case with an op that the table lacks, which is no fault of the others.
CaseVerdict verdict_of_unsupported(const std::string& reason) {
  CaseVerdict verdict;
  verdict.outcome = Outcome::kUnsupported;
  verdict.inconclusive = spec::outcome_name(verdict.outcome);
  verdict.message = reason;
  return verdict;
}

// What a tally of one case says of it.
CaseVerdict verdict_of_tally(const Tally& tally) {
  CaseVerdict verdict;
  for (std::size_t i = 0; i < tally.outcomes.size(); ++i) {
    if (tally.outcomes[i] > 0) verdict.outcome = static_cast<Outcome>(i);
  }
  for (const auto& [name, count] : tally.inconclusive) verdict.message = count.message;
  for (const auto& [signature, count] : tally.signatures) {
    verdict.signature = signature;
    verdict.message = count.message;
    verdict.nodes = count.nodes;
  }
  return verdict;
}

// What each came to; nothing for those that `stop` came before.
Result<std::vector<std::optional<CaseVerdict>>> judge_again(const std::vector<StoredCase>& stored,
                                                            const CampaignCases& cases,
                                                            const PoolOptions& options,
                                                            const std::function<bool()>& stop) {
  std::vector<std::optional<CaseVerdict>> verdicts(stored.size());
  if (stored.empty()) return verdicts;
  PoolOptions pool_options = options;
  pool_options.shard = {};
  pool_options.wants_lines = false;
  pool_options.batch_seconds = 0;
  GRAPHGATE_TRY(Journal journal,
                Journal::in_memory(static_cast<std::size_t>(std::max(options.jobs, 1))));
  WorkerPool pool(pool_options, journal,
                  [&](const Descent& descent, const std::function<void()>& begin_judging) {
                    begin_judging();
                    const StoredCase& one = stored[static_cast<std::size_t>(descent.index)];
                    CaseVerdict verdict = one.reason.empty()
                                              ? cases.judge_case(cases.with_flags(one.the_case),
                                                                 one.judges, one.expected)
                                              : verdict_of_unsupported(one.reason);
                    verdict.index = descent.index;
                    return verdict;
                  });
  std::uint64_t next = 0;
  while ((next < stored.size() || pool.busy() > 0) && !stop()) {
    for (; next < stored.size() && pool.has_idle(); ++next) {
      GRAPHGATE_TRY_VOID(pool.assign({next, next + 1, {}}));
    }
    GRAPHGATE_TRY(const PoolNews news, pool.wait(20));
    for (const BatchDone& done : news.done) {
      verdicts[static_cast<std::size_t>(done.batch.begin)] = verdict_of_tally(done.tally);
    }
    for (const CaseLost& lost : news.lost) {
      verdicts[static_cast<std::size_t>(lost.ordinal)] =
          verdict_of_lost(lost, options.timeout_seconds);
    }
  }
  return verdicts;
}

void tell(const ReplayedCase& one, CampaignView& view) {
  view.replayed(one.file, std::string(spec::outcome_name(one.outcome)), one.message);
}

// Those of `asked` whose findings it is; nothing where nobody who is asked can see it. How a run
// ended is seen without a judge.
std::optional<conformance::JudgeSet> judges_of(const KnownFinding& finding,
                                               conformance::JudgeSet asked) {
  conformance::JudgeSet judges = {};
  bool is_seen = false;
  for (const std::string& fault : finding.faults) {
    const auto signature = parse_signature(fault);
    if (!signature.ok()) continue;
    const auto judge = judge_of(signature.value());
    is_seen = is_seen || !judge || asked.has(*judge);
    if (judge && asked.has(*judge)) judges.add(*judge);
  }
  return is_seen ? std::optional(judges) : std::nullopt;
}

ReplayedCase held_to(const KnownFinding& finding, const StoredCase& stored,
                     const CaseVerdict& verdict) {
  ReplayedCase out;
  out.file = stored.file;
  out.name = stored.name;
  out.outcome = verdict.outcome;
  out.message = verdict.message;
  out.issue = finding.issue;
  out.nodes = verdict.nodes;
  out.is_known = true;
  if (finding.faults.contains(verdict.signature)) {
    out.outcome = Outcome::kXFail;
  } else if (!verdict.signature.empty()) {
    out.message =
        "shows something else than is known of it, " + verdict.signature + ": " + verdict.message;
  } else if (verdict.outcome == Outcome::kPass) {
    out.is_mended = true;
    out.message = "mended: it is expected to show, and passes";
  }
  return out;
}

}  // namespace

Result<std::vector<ReplayedCase>> replay_corpus(const Corpus& corpus, const Ledger& ledger,
                                                const CampaignCases& cases,
                                                const PoolOptions& options,
                                                const std::function<bool()>& stop,
                                                CampaignView& view) {
  GRAPHGATE_TRY_VOID(check_ledger(corpus, ledger));
  GRAPHGATE_TRY(const std::vector<StoredCase> stored, read_cases(corpus));
  GRAPHGATE_TRY(const auto verdicts, judge_again(stored, cases, options, stop));
  std::vector<ReplayedCase> out;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (!verdicts[i]) continue;
    out.push_back(judged(stored[i], *verdicts[i], ledger));
    tell(out.back(), view);
  }
  return out;
}

Result<std::vector<ReplayedCase>> replay_known(const KnownFindings& known,
                                               const CampaignCases& cases,
                                               const PoolOptions& options,
                                               const std::function<bool()>& stop,
                                               CampaignView& view) {
  std::vector<StoredCase> stored;
  std::vector<const KnownFinding*> findings;
  for (const KnownFinding& finding : known.all()) {
    const auto judges = judges_of(finding, cases.judges());
    if (!judges) continue;
    findings.push_back(&finding);
    StoredCase& one = stored.emplace_back();
    one.file = finding.cases.front().file;
    one.name = finding.name;
    one.the_case = finding.cases.front().the_case;
    one.judges = *judges;
    for (const std::string& fault : finding.faults) one.expected.insert(finding_name(fault));
  }
  GRAPHGATE_TRY(const auto verdicts, judge_again(stored, cases, options, stop));
  std::vector<ReplayedCase> out;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (!verdicts[i]) continue;
    out.push_back(held_to(*findings[i], stored[i], *verdicts[i]));
    tell(out.back(), view);
  }
  return out;
}

}  // namespace graphgate::fuzz
