#include "fuzz/campaign/run_campaign.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <set>

#include "base/file_io.h"
#include "base/formatted.h"
#include "fuzz/campaign/case_log.h"

namespace graphgate::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const CampaignParts& parts, CampaignState state,
           Journal& journal)
      : options_(options),
        parts_(parts),
        state_(std::move(state)),
        journal_(journal),
        earlier_seconds_(state_.seconds),
        taken_(state_.done[options.shard]),
        last_ordinal_(options.cases == 0 ? ~std::uint64_t{0} : options.shard.size(options.cases)),
        kept_(first_gap()),
        guide_(guide_of(options, state_)),
        pool_(pool_options(options), journal, parts.judge),
        findings_(options.findings, parts.look_again, parts.may_be_known, parts.corpus,
                  parts.ledger, parts.view, state_) {}

  Result<CampaignEnd> run() {
    StageClock clock("handing out");
    if (!options_.case_log.empty()) {
      GRAPHGATE_TRY_VOID(log_.open(options_.case_log, state_.tally.cases > 0));
    }
    parts_.view.begin(state_, options_.shard, options_.pool.jobs);
    times_.workers.resize(static_cast<std::size_t>(std::max(options_.pool.jobs, 1)));
    findings_.resume(options_.shard);
    rate_cases_ = state_.tally.cases;
    while (parts_.stop.came() == 0 && (wants_more() || pool_.busy() > 0 || looks_again())) {
      GRAPHGATE_TRY_VOID(hand_out());
      const Clock::time_point tick = Clock::now();
      const bool is_looking = findings_.running() > 0;
      GRAPHGATE_TRY(const PoolNews news, pool_.wait(kTickMilliseconds));
      if (is_looking) looking_seconds_ += seconds_since(tick);
      for (const CaseTime& time : news.times) parts_.view.ran(time);
      for (const BatchDone& done : news.done) GRAPHGATE_TRY_VOID(take(done));
      for (const CaseLost& lost : news.lost) GRAPHGATE_TRY_VOID(take(lost));
      // Workers go on while the disk is waited for.
      if (parts_.stop.came() == 0) GRAPHGATE_TRY_VOID(hand_out());
      GRAPHGATE_TRY_VOID(keep_coverage(first_gap()));
      GRAPHGATE_TRY_VOID(findings_.collect(0));
      GRAPHGATE_TRY_VOID(keep_up());
    }
    state_.seconds = earlier_seconds_ + seconds_since(begin_);
    // What is interrupted goes on: it will be known then which case is the first.
    if (parts_.stop.came() == 0) GRAPHGATE_TRY_VOID(keep_coverage(~std::uint64_t{0}));
    GRAPHGATE_TRY_VOID(keep_best());
    GRAPHGATE_TRY_VOID(write_state());
    parts_.view.progress(progress());
    times_.seconds = seconds_since(begin_);
    times_.findings = findings_.times();
    times_.campaign = clock.take();
    return CampaignEnd{std::move(state_), std::move(times_), parts_.stop.came() != 0,
                       findings_.waiting()};
  }

 private:
  static constexpr int kTickMilliseconds = 20;
  static constexpr double kBatchSeconds = 0.2;    // what is aimed at
  static constexpr double kMostBatchSeconds = 1;  // then a batch ends with the case that it is at
  static constexpr std::uint64_t kMostInBatch = 512;

  static PoolOptions pool_options(const CampaignOptions& options) {
    PoolOptions out = options.pool;
    out.batch_seconds = kMostBatchSeconds;
    out.data_sets = options.data_sets;
    return out;
  }

  static std::optional<ShardGuide> guide_of(const CampaignOptions& options, CampaignState& state) {
    if (!options.breeding) return std::nullopt;
    return ShardGuide(*options.breeding, options.shard, state.lineages);
  }

  [[nodiscard]] bool is_time_up() const {
    return options_.seconds > 0 && earlier_seconds_ + seconds_since(begin_) >= options_.seconds;
  }
  [[nodiscard]] bool wants_more() const {
    if (is_time_up()) return false;
    if (!again_.empty()) return true;
    const auto [begin, end] = taken_.gap(0, drawable_ordinals());
    return begin < end;
  }

  [[nodiscard]] std::uint64_t drawable_ordinals() const {
    return guide_ ? std::min(last_ordinal_, guide_->drawable_ordinals()) : last_ordinal_;
  }

  // Findings have as much time as the cases. What nobody has come to waits in the state.
  [[nodiscard]] bool looks_again() const { return findings_.has_work() && !is_time_up(); }

  // Cases are drawn while findings are looked at: those have half of the workers, and half of the
  // time of a single one.
  [[nodiscard]] bool may_look() const {
    if (!findings_.can_start() || is_time_up()) return false;
    if (!wants_more()) return true;
    const auto jobs = static_cast<std::size_t>(std::max(options_.pool.jobs, 1));
    if (jobs > 1) return findings_.running() < jobs / 2;
    return 2 * looking_seconds_ <= seconds_since(begin_);
  }

  Result<void> hand_out() {
    const auto jobs = static_cast<std::size_t>(std::max(options_.pool.jobs, 1));
    while (pool_.busy() + findings_.running() < jobs) {
      if (may_look()) {
        GRAPHGATE_TRY_VOID(findings_.start());
      } else if (pool_.has_idle() && wants_more()) {
        GRAPHGATE_TRY_VOID(pool_.assign(next_batch()));
      } else {
        break;
      }
    }
    return {};
  }

  // As many cases as take a moment; of the last ones, as many as leave some for the other workers.
  Batch next_batch() {
    if (!again_.empty()) {
      const Batch batch = again_.front();
      again_.pop_front();
      return batch;
    }
    const auto [begin, end] = taken_.gap(0, drawable_ordinals());
    const auto jobs = static_cast<std::uint64_t>(std::max(options_.pool.jobs, 1));
    const std::uint64_t fair = (end - begin + jobs - 1) / jobs;
    const std::uint64_t count =
        std::clamp<std::uint64_t>(std::min(fair, batch_cases_), 1, kMostInBatch);
    Batch batch{begin, std::min(end, begin + count), {}};
    while (batch.end < end && pool_.draw_of(batch.end) == pool_.draw_of(batch.end - 1)) ++batch.end;
    for (std::uint64_t ordinal = begin; guide_ && ordinal < batch.end; ++ordinal) {
      batch.ancestors.push_back(guide_->descent_of(options_.shard.case_index(ordinal)).ancestors);
    }
    taken_.add(batch.begin, batch.end);
    return batch;
  }

  Result<void> take(const BatchDone& done) {
    const auto count = done.batch.end - done.batch.begin;
    constexpr double kLeastSeconds = 1.0 / 1'000'000;
    const double each = std::max(done.spent.whole / static_cast<double>(count), kLeastSeconds);
    batch_cases_ = static_cast<std::uint64_t>(
        std::clamp(kBatchSeconds / each, 1.0, static_cast<double>(kMostInBatch)));
    const bool has_novel =
        std::any_of(done.tally.features.begin(), done.tally.features.end(),
                    [&](const auto& row) { return !state_.tally.features.contains(row.first); });
    if (has_novel) last_new_ = Clock::now();
    std::vector<TriageTask> tasks;
    std::vector<TriageTask> others;  // of signatures that are in the tally by then
    for (const auto& [signature, seen] : done.tally.signatures) {
      const bool is_new = !state_.tally.signatures.contains(signature);
      for (const std::uint64_t index : seen.first) {
        const std::uint64_t end = index / options_.shard.count + 1;
        const bool is_first = is_new && index == seen.first.front();
        (is_first ? tasks : others)
            .push_back({signature, index, done.batch.part(done.batch.begin, end)});
      }
    }
    spent_.add(done.spent);
    times_.workers[done.worker].add(done.stages);
    state_.tally.add(done.tally);
    state_.done[options_.shard].add(done.batch.begin, done.batch.end);
    if (done.rest.begin < done.rest.end) again_.push_back(done.rest);
    GRAPHGATE_TRY_VOID(log_.write(done.lines));
    for (const auto& [lineage, tally] : done.by_lineage) {
      if (guide_) guide_->add(lineage, tally);
    }
    for (const TriageTask& task : tasks) add_finding(task);
    for (const TriageTask& task : others) findings_.add_another(task);
    return {};
  }

  // All cases of the shard below it are done.
  [[nodiscard]] std::uint64_t first_gap() const {
    const auto done = state_.done.find(options_.shard);
    return done == state_.done.end() ? 0 : done->second.gap(0, ~std::uint64_t{0}).first;
  }

  // Keeps the first cases of features as far as they are below `end`. With all before them done
  // they stay the first: so the same cases are kept whatever worker ends first.
  Result<void> keep_coverage(std::uint64_t end) {
    if (end <= kept_) return {};
    const Stage stage("writing");
    std::set<std::uint64_t> firsts;
    for (const auto& [feature, seen] : state_.tally.features) {
      const std::uint64_t ordinal = seen.first / options_.shard.count;
      if (ordinal >= kept_ && ordinal < end) firsts.insert(seen.first);
    }
    for (const std::uint64_t index : firsts) {
      GRAPHGATE_TRY(const std::string text, parts_.print_case(state_.tally.descent_of(index), {}));
      const std::string name = formatted("%016llx", static_cast<unsigned long long>(hash_of(text)));
      GRAPHGATE_TRY_VOID(parts_.corpus.keep(CorpusFolder::kCoverage, name, text));
    }
    kept_ = end;
    return {};
  }

  // The best cases of a search that are not on the disk yet.
  Result<void> keep_best() {
    constexpr std::size_t kMostKept = 16;
    const auto& best = state_.tally.best;
    for (std::size_t b = 0; options_.target && b < std::min(best.size(), kMostKept); ++b) {
      if (b < kept_best_.size() && kept_best_[b] == best[b]) continue;
      const Descent descent = state_.tally.descent_of(best[b].index);
      const std::string name(score_name(*options_.target));
      const CaseId id{options_.key.generator, options_.key.seed, descent};
      GRAPHGATE_TRY(
          const std::string text,
          parts_.print_case(descent, {"Score " + name + formatted(": %.6g.", best[b].score),
                                      "Case " + print_case_id(id) + "."}));
      const std::string file = name + formatted("-%02zu-shard-%u-of-%u", b + 1,
                                                options_.shard.index, options_.shard.count);
      GRAPHGATE_TRY_VOID(parts_.corpus.keep(CorpusFolder::kTargets, file, text));
    }
    kept_best_ = best;
    return {};
  }

  void add_finding(const TriageTask& task) {
    last_new_ = Clock::now();
    findings_.add(task);
  }

  // The case that took its process down has its verdict; the others of its batch run again.
  Result<void> take(const CaseLost& lost) {
    const Batch& batch = lost.batch;
    const Descent descent = batch.descent(lost.ordinal, options_.shard);
    if (batch.begin < lost.ordinal) again_.push_back(batch.part(batch.begin, lost.ordinal));
    if (lost.ordinal + 1 < batch.end) again_.push_back(batch.part(lost.ordinal + 1, batch.end));
    // Memory may be short for a moment, whoever takes it: that counts where it comes twice.
    if (lost.is_memory && had_no_memory_.insert(lost.ordinal).second) {
      again_.push_back(batch.part(lost.ordinal, lost.ordinal + 1));
      return {};
    }
    CaseVerdict verdict;
    verdict.index = descent.index;
    verdict.ancestors = descent.ancestors;
    verdict.content = parts_.content_of(descent);
    verdict.outcome = lost.is_timeout ? spec::Outcome::kTimeout : spec::Outcome::kCrash;
    verdict.signature = ending_signature(lost);
    verdict.message = "while " + std::string(phase_name(lost.phase)) + ", the case " +
                      describe(lost, options_.pool.timeout_seconds);
    const bool is_new = !state_.tally.signatures.contains(verdict.signature);
    Tally tally;
    tally.add(verdict);
    state_.tally.add(tally);
    if (guide_) {
      guide_->add(static_cast<std::uint32_t>(descent.index % options_.breeding->lineages), tally);
    }
    state_.done[options_.shard].add(lost.ordinal, lost.ordinal + 1);
    if (options_.pool.wants_lines) GRAPHGATE_TRY_VOID(log_.write(print_case_line(verdict)));
    if (!is_new) return {};
    add_finding({verdict.signature, descent.index, batch.part(batch.begin, lost.ordinal + 1)});
    return {};
  }

  // Every second: the journal and the state to the disk, a word to whoever watches.
  Result<void> keep_up() {
    if (seconds_since(last_view_) >= parts_.view.progress_seconds()) {
      last_view_ = Clock::now();
      parts_.view.progress(progress());
    }
    if (seconds_since(last_write_) < write_interval_) return {};
    journal_.sync();
    const Clock::time_point begin = Clock::now();
    state_.seconds = earlier_seconds_ + seconds_since(begin_);
    GRAPHGATE_TRY_VOID(keep_best());
    GRAPHGATE_TRY_VOID(write_state());
    // A state that takes long to write is written less often.
    write_interval_ = std::max(1.0, 20 * seconds_since(begin));
    last_write_ = Clock::now();
    return {};
  }

  Result<void> write_state() const {
    const Stage stage("writing");
    if (parts_.claim != nullptr) GRAPHGATE_TRY_VOID(parts_.claim->hold());
    return parts_.corpus.write(print_state(state_), parts_.corpus.state_path(options_.shard));
  }

  [[nodiscard]] CampaignProgress progress() {
    CampaignProgress now;
    now.cases = state_.tally.cases;
    now.planned_cases = options_.cases == 0 ? 0 : last_ordinal_;
    now.seconds = earlier_seconds_ + seconds_since(begin_);
    now.planned_seconds = options_.seconds;
    const double seconds = seconds_since(rate_begin_);
    if (seconds >= 2) {
      rate_ = static_cast<double>(now.cases - rate_cases_) / seconds;
      rate_cases_ = now.cases;
      rate_begin_ = Clock::now();
    } else if (rate_ == 0 && seconds > 0) {
      now.cases_per_second = static_cast<double>(now.cases - rate_cases_) / seconds;
    }
    if (rate_ > 0) now.cases_per_second = rate_;
    now.features = state_.tally.features.size();
    now.findings = findings_.unknown();
    now.known = findings_.known();
    now.waiting = findings_.waiting();
    now.seconds_since_new = seconds_since(last_new_);
    now.spent = spent_;
    now.in_work = pool_.in_work();
    std::stable_sort(
        now.in_work.begin(), now.in_work.end(),
        [](const CaseInWork& a, const CaseInWork& b) { return a.seconds > b.seconds; });
    return now;
  }

  const CampaignOptions& options_;
  const CampaignParts& parts_;
  CampaignState state_;
  Journal& journal_;
  const double earlier_seconds_;
  RangeSet taken_;  // ordinals that are done, running, or in again_
  const std::uint64_t last_ordinal_;
  std::uint64_t kept_;  // below this ordinal the first cases of features are in the corpus
  std::optional<ShardGuide> guide_;
  WorkerPool pool_;
  Findings findings_;
  CaseLog log_;
  std::deque<Batch> again_;
  std::set<std::uint64_t> had_no_memory_;  // ordinals, once
  std::vector<ScoredCase> kept_best_;
  std::uint64_t batch_cases_ = 4;
  TimeSpent spent_;  // of the batches that are done
  CampaignTimes times_;
  double looking_seconds_ = 0;  // in which findings were looked at
  double write_interval_ = 1;
  double rate_ = 0;
  std::uint64_t rate_cases_ = 0;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point rate_begin_ = begin_;
  Clock::time_point last_new_ = begin_;
  Clock::time_point last_view_ = begin_;
  Clock::time_point last_write_ = begin_;
};

Result<CampaignState> first_state(const CampaignOptions& options, const CampaignParts& parts) {
  CampaignState state;
  state.key = options.key;
  state.run = options.run;
  state.cases = options.cases;
  const std::string path = parts.corpus.state_path(options.shard);
  if (!options.resume) return state;
  GRAPHGATE_TRY(const bool is_stored, graphgate::is_there(path));
  if (!is_stored) return state;
  GRAPHGATE_TRY(const std::string text, read_whole(path));
  GRAPHGATE_TRY(CampaignState stored, parse_state(text, path));
  const std::string difference = key_difference(state.key, stored.key);
  if (!difference.empty()) {
    return bad_input(path + ": holds another campaign, which cannot be resumed: " + difference);
  }
  // It may go on as a campaign of more cases, not of fewer.
  if (options.cases != 0 && (stored.cases == 0 || stored.cases > options.cases)) {
    return bad_input(path + ": holds a campaign of " +
                     (stored.cases == 0 ? "any number of" : std::to_string(stored.cases)) +
                     " cases, which cannot be resumed with --cases " +
                     std::to_string(options.cases));
  }
  stored.cases = options.cases;
  stored.run = options.run;
  return stored;
}

// What a campaign that was killed was doing.
void tell_of_journal(const CampaignOptions& options, const CampaignParts& parts) {
  const auto journal = Journal::open(parts.corpus.journal_path(options.shard));
  if (!journal.ok()) return;
  for (std::size_t w = 0; w < journal.value().workers(); ++w) {
    const auto entry = journal.value().in_flight(w);
    if (!entry) continue;
    parts.view.remark("case " + std::to_string(entry->index) + " was " + phase_name(entry->phase) +
                      " when the campaign ended; it runs again");
  }
}

}  // namespace

Result<CampaignEnd> run_campaign(const CampaignOptions& options, const CampaignParts& parts) {
  GRAPHGATE_TRY(CampaignState state, first_state(options, parts));
  if (options.resume) tell_of_journal(options, parts);
  const auto jobs = static_cast<std::size_t>(std::max(options.pool.jobs, 1));
  GRAPHGATE_TRY(Journal journal, Journal::create(parts.corpus.journal_path(options.shard), jobs));
  auto end = Campaign(options, parts, std::move(state), journal).run();
  // A journal tells of a campaign that could not say its last word.
  std::error_code ignored;
  if (end.ok()) std::filesystem::remove(parts.corpus.journal_path(options.shard), ignored);
  return end;
}

}  // namespace graphgate::fuzz
