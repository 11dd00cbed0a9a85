#include "tools/gate/compare_sides.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/formatted.h"
#include "fuzz/campaign/corpus.h"

namespace graphgate::tools {
namespace {

using spec::Outcome;

// Where a signature shows on one side.
struct Shown {
  std::set<std::string> steady;  // cases that show the same each time
  std::set<std::string> flaky;
  std::string message;

  [[nodiscard]] std::vector<std::string> all() const {
    std::set<std::string> both = steady;
    both.insert(flaky.begin(), flaky.end());
    return {both.begin(), both.end()};
  }
};

// UNDECIDED and MISTRUSTED say something of a side: it ran, and nothing is held against it.
bool is_infra(const GateCase& one) { return one.outcome == Outcome::kInfra; }
// By the side itself; where the reference cannot run the case, not_compared says so.
bool is_unsupported(const GateCase& one) {
  return one.outcome == Outcome::kUnsupported && one.not_compared.empty();
}
// Whether it ran, and nothing was compared or found.
bool is_uncompared(const GateCase& one) {
  return !one.not_compared.empty() && one.findings.empty();
}

// What says that a side was late.
std::string late_message(const GateCase& one) {
  for (const GateFinding& finding : one.findings) {
    GateCase alone;
    alone.findings = {finding};
    if (did_not_answer(alone)) return finding.message;
  }
  return one.reason;
}

// Numbers of a plan of which less is better.
bool is_cost(std::string_view quantity) {
  return quantity == "peak" || quantity == "partitions" || quantity == "steps" ||
         quantity == "copied-in";
}

// A quantity, summed over the calls that both sides have plans of.
struct PlanChange {
  std::string name;  // of the case
  std::int64_t before = 0;
  std::int64_t after = 0;

  // Relative to what it was; a change from nothing is one of 100%.
  [[nodiscard]] double share() const {
    const auto from = static_cast<double>(before);
    return before == 0 ? (after > 0 ? 1 : 0) : (static_cast<double>(after) - from) / from;
  }
};

// "5%", "+12.5%" with a sign.
std::string percent(double share, bool with_sign) {
  return formatted(with_sign ? "%+.3g%%" : "%.3g%%", share * 100);
}

class Comparison {
 public:
  Comparison(const GateSide& baseline, const GateSide& candidate, const CompareOptions& options)
      : baseline_(baseline), candidate_(candidate), options_(options) {}

  GateComparison run() {
    out_.baseline = baseline_.title();
    out_.candidate = candidate_.title();
    pair_cases();
    add_unsupported();
    add_changed();
    for (const auto& [signature, unused] : signatures_) add_finding(signature);
    for (const char* quantity : {"peak", "partitions", "steps", "copied-in", "captured-steps"}) {
      add_plans(quantity);
    }
    add_times();
    if (!options_.is_partial) add_waivers();
    std::stable_sort(out_.rows.begin(), out_.rows.end(), [](const GateRow& a, const GateRow& b) {
      return std::tie(a.bucket, a.name) < std::tie(b.bucket, b.name);
    });
    add_cases();
    return std::move(out_);
  }

 private:
  struct Sides {
    Shown before;
    Shown after;
  };
  struct Pair {
    const GateCase* before;
    const GateCase* after;
  };

  static void add_shown(const std::string& name, const GateCase& one, bool is_after,
                        std::map<std::string, Sides>& signatures) {
    for (const GateFinding& finding : one.findings) {
      Sides& sides = signatures[finding.signature];
      Shown& shown = is_after ? sides.after : sides.before;
      (one.is_flaky ? shown.flaky : shown.steady).insert(name);
      if (shown.message.empty()) shown.message = finding.message;
    }
  }

  void pair_cases() {
    for (const auto& [name, before] : baseline_.cases) {
      const auto found = candidate_.cases.find(name);
      if (found == candidate_.cases.end()) {
        not_compared(name, "the candidate does not have the case");
        continue;
      }
      const GateCase& after = found->second;
      if (before.is_bad_input || after.is_bad_input) {
        not_compared(name, after.is_bad_input ? after.reason : before.reason);
        out_.rows.back().is_bad_input = true;
        continue;
      }
      if (is_infra(before) || is_infra(after)) {
        not_compared(name,
                     is_infra(after) ? "candidate: " + after.reason : "baseline: " + before.reason);
        continue;
      }
      if (did_not_answer(before) || did_not_answer(after)) {
        not_compared(name, did_not_answer(after) ? "candidate: " + late_message(after)
                                                 : "baseline: " + late_message(before));
        continue;
      }
      const bool has_changed = add_changes(name, before, after);
      // What one release refuses, and the other takes, is told as a change. What the other side
      // shows in the case counts all the same.
      const auto is_lost = [&](const GateCase& one) {
        return is_unsupported(one) && (!has_changed || one.version_facts.empty());
      };
      if (is_lost(before) || is_lost(after)) {
        const bool by_both = is_unsupported(before) && is_unsupported(after);
        count_missing_ops(is_unsupported(after) ? after.reason : before.reason, out_.missing_ops);
        if (by_both) out_.uncompared.push_back({name, after.reason, true});
        if (!by_both && is_unsupported(before)) lost_before_.emplace(name, before.reason);
        if (!by_both && is_unsupported(after)) lost_after_.emplace(name, after.reason);
        continue;
      }
      if (is_uncompared(before) && is_uncompared(after)) {
        out_.uncompared.push_back({name, after.not_compared, false});
        count_missing_ops(after.not_compared, out_.missing_ops);
        continue;
      }
      pairs_.emplace(name, Pair{&before, &after});
      ++out_.compared;
      if (before.findings.empty() && after.findings.empty() && !has_changed) ++out_.clean;
      add_shown(name, before, false, signatures_);
      add_shown(name, after, true, signatures_);
    }
    for (const auto& [name, after] : candidate_.cases) {
      if (!baseline_.cases.contains(name)) {
        not_compared(name, "the baseline does not have the case");
      }
    }
  }

  // Notes what the releases that the sides go by do otherwise in this case, and returns whether
  // there is anything. Where a side does not say its release, nothing is known.
  bool add_changes(const std::string& name, const GateCase& before, const GateCase& after) {
    if (before.torch.is_open() || after.torch.is_open()) return false;
    const auto [older, newer] = std::minmax(before.torch, after.torch);
    std::map<std::string, spec::TorchRelease> facts = before.version_facts;
    facts.insert(after.version_facts.begin(), after.version_facts.end());
    std::erase_if(facts, [&, older = older, newer = newer](const auto& fact) {
      return fact.second <= older || fact.second > newer;
    });
    for (const auto& [what, since] : facts) changes_[{what, since}].push_back(name);
    if (!facts.empty()) changed_.insert(name);
    return !facts.empty();
  }

  // One row for each fact that releases do otherwise.
  void add_changed() {
    for (const auto& [fact, names] : changes_) {
      const auto& [what, since] = fact;
      GateRow row;
      row.bucket = GateBucket::kChanged;
      row.signature = std::string(kVersionsDetector) + " since-" +
                      spec::print_torch_release(since) + " [" + what.substr(0, what.find(':')) +
                      "] {}";
      row.message = what + ", since PyTorch " + spec::print_torch_release(since);
      row.candidate_cases = names;
      add_row(std::move(row));
    }
  }

  // One row for each side that cannot run what the other can.
  void add_unsupported() {
    for (const bool is_after : {false, true}) {
      const auto& lost = is_after ? lost_after_ : lost_before_;
      if (lost.empty()) continue;
      GateRow row;
      row.bucket = GateBucket::kUnsupported;
      row.signature = std::string(is_after ? "candidate" : "baseline") + " R4.unsupported [] {}";
      std::set<std::string> reasons;
      for (const auto& [name, reason] : lost) {
        (is_after ? row.candidate_cases : row.baseline_cases).push_back(name);
        reasons.insert(reason);
      }
      row.message = "'" + lost.begin()->first + "': " + lost.begin()->second;
      if (reasons.size() > 1) {
        row.message += "; other cases: " + std::to_string(reasons.size() - 1) + " more reasons";
      }
      add_row(std::move(row));
    }
  }

  void not_compared(const std::string& name, const std::string& why) {
    GateRow row;
    row.bucket = GateBucket::kNotCompared;
    row.name = name;
    row.message = why;
    row.candidate_cases = {name};
    out_.rows.push_back(std::move(row));
  }

  [[nodiscard]] GateBucket bucket_of(const Sides& sides) const {
    const bool was = !sides.before.steady.empty();
    const bool is = !sides.after.steady.empty();
    if (!is && (!sides.after.flaky.empty() || !was)) return GateBucket::kFlaky;
    if (!is) return GateBucket::kFixed;
    if (!was && sides.before.flaky.empty()) return GateBucket::kRegressed;
    const bool is_spread = std::any_of(
        sides.after.steady.begin(), sides.after.steady.end(),
        [&](const std::string& name) { return pairs_.at(name).before->findings.empty(); });
    return is_spread ? GateBucket::kSpread : GateBucket::kBoth;
  }

  void add_finding(const std::string& signature) {
    const Sides& sides = signatures_.at(signature);
    GateRow row;
    row.bucket = bucket_of(sides);
    row.signature = signature;
    row.message = sides.after.message.empty() ? sides.before.message : sides.after.message;
    row.baseline_cases = sides.before.all();
    row.candidate_cases = sides.after.all();
    add_row(std::move(row));
  }

  [[nodiscard]] static PlanChange change_of(const std::string& name, const Pair& pair,
                                            std::string_view quantity) {
    PlanChange change{name};
    const std::size_t calls = std::min(pair.before->plans.size(), pair.after->plans.size());
    for (std::size_t call = 0; call < calls; ++call) {
      change.before += number_in(pair.before->plans[call], quantity);
      change.after += number_in(pair.after->plans[call], quantity);
    }
    return change;
  }

  // Fusion makes fewer steps, and so captures fewer: worse is what leaves more of them out.
  [[nodiscard]] static bool leaves_out_as_told(const std::string& name, const Pair& pair,
                                               double share) {
    const PlanChange steps = change_of(name, pair, "steps");
    const PlanChange captured = change_of(name, pair, "captured-steps");
    const std::int64_t more = (steps.after - captured.after) - (steps.before - captured.before);
    return share > 0 ? more > 0 : more < 0;
  }

  // One row for each quantity that some case has more or less of than the threshold allows: what is
  // worse decides, and the cases are those of the largest changes first.
  void add_plans(const std::string& quantity) {
    const double sign = is_cost(quantity) ? 1 : -1;
    std::vector<PlanChange> worse;
    std::vector<PlanChange> better;
    for (const auto& [name, pair] : pairs_) {
      // A plan that is wrong is no yardstick.
      if (!pair.before->findings.empty() || !pair.after->findings.empty()) continue;
      PlanChange change = change_of(name, pair, quantity);
      const double share = sign * change.share();
      if (quantity == "captured-steps" && !leaves_out_as_told(name, pair, share)) continue;
      if (share > options_.plan_threshold)
        worse.push_back(std::move(change));
      else if (share < -options_.plan_threshold)
        better.push_back(std::move(change));
    }
    if (worse.empty() && better.empty()) return;
    std::vector<PlanChange>& told = worse.empty() ? better : worse;
    std::stable_sort(told.begin(), told.end(), [](const PlanChange& a, const PlanChange& b) {
      return std::abs(a.share()) > std::abs(b.share());
    });
    GateRow row;
    row.bucket = worse.empty() ? GateBucket::kFixed : GateBucket::kRegressed;
    row.signature = std::string(kPlansDetector) + " " + quantity + " [] {}";
    for (const PlanChange& change : told) row.candidate_cases.push_back(change.name);
    if (worse.empty()) std::swap(row.baseline_cases, row.candidate_cases);
    const PlanChange& first = told.front();
    row.message = quantity + " is worse in " + std::to_string(worse.size()) + " and better in " +
                  std::to_string(better.size()) + " by more than " +
                  percent(options_.plan_threshold, false) + "; '" + first.name +
                  "': " + std::to_string(first.before) + " -> " + std::to_string(first.after) +
                  " (" + percent(first.share(), true) + ")";
    add_row(std::move(row));
  }

  // One row for what takes longer, the largest changes first.
  void add_times() {
    struct Slower {
      std::string name;
      double before;
      double after;
    };
    std::vector<Slower> slower;
    for (const auto& [name, pair] : pairs_) {
      // What is wrong runs otherwise.
      if (!pair.before->findings.empty() || !pair.after->findings.empty()) continue;
      if (!is_slower(*pair.after, *pair.before, options_.time_threshold)) continue;
      const auto& before = pair.before->answer_seconds;
      const auto& after = pair.after->answer_seconds;
      slower.push_back({name, *std::max_element(before.begin(), before.end()),
                        *std::min_element(after.begin(), after.end())});
    }
    if (slower.empty()) return;
    std::stable_sort(slower.begin(), slower.end(), [](const Slower& a, const Slower& b) {
      return a.after * b.before > b.after * a.before;
    });
    GateRow row;
    row.bucket = GateBucket::kRegressed;
    row.signature = std::string(kTimesDetector) + " answer [] {}";
    for (const Slower& one : slower) row.candidate_cases.push_back(one.name);
    const Slower& first = slower.front();
    row.message = "answers take longer in " + std::to_string(slower.size()) +
                  (slower.size() == 1 ? " case" : " cases") + " by more than " +
                  percent(options_.time_threshold, false) + ", in each look; '" + first.name +
                  "': " + formatted("at most %.2f s -> at least %.2f s", first.before, first.after);
    add_row(std::move(row));
  }

  // Every case of either side, with the rows that it fails by.
  void add_cases() {
    std::map<std::string, CaseResult> cases;
    for (const GateSide* side : {&baseline_, &candidate_}) {
      for (const auto& [name, one] : side->cases) {
        cases[name].name = name;
        cases[name].seconds += one.seconds;
      }
    }
    for (const auto& [name, pair] : pairs_) {
      cases[name].is_clean =
          pair.before->findings.empty() && pair.after->findings.empty() && !changed_.contains(name);
      if (!pair.before->is_flaky && !pair.after->is_flaky) continue;
      cases[name].outcome = Outcome::kSuspect;
      cases[name].reason = "flaky: looked at again, it showed something else";
    }
    for (const UncomparedCase& one : out_.uncompared) {
      cases[one.name].outcome = Outcome::kUnsupported;
      cases[one.name].reason = one.reason;
    }
    for (const auto* lost : {&lost_before_, &lost_after_}) {
      for (const auto& [name, reason] : *lost) {
        cases[name].outcome = Outcome::kUnsupported;
        cases[name].reason = (lost == &lost_after_ ? "candidate: " : "baseline: ") + reason;
      }
    }
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      const GateRow& row = out_.rows[i];
      if (row.bucket == GateBucket::kNotCompared) {
        cases[row.name].outcome = Outcome::kInfra;
        cases[row.name].reason = row.message;
      }
      if (!row.counts()) continue;
      for (const std::string& name : row.candidate_cases) {
        // Where it has spread from, it is as it was.
        const auto& before = row.baseline_cases;
        if (std::find(before.begin(), before.end(), name) != before.end()) continue;
        CaseResult& one = cases[name];
        if (one.rows.empty()) one.reason = row.name;
        one.outcome = Outcome::kFail;
        one.is_clean = false;
        one.rows.push_back(i);
      }
    }
    for (auto& [name, one] : cases) out_.cases.push_back(std::move(one));
  }

  static std::int64_t number_in(const conformance::Quality& quality, std::string_view quantity) {
    for (const auto& [name, number] : quality) {
      if (name == quantity) return number;
    }
    return 0;
  }

  void add_row(GateRow row) {
    row.name = fuzz::finding_name(row.signature);
    row.kind = kind_of(row.signature);
    const auto waiver = options_.waivers.find(row.name);
    if (waiver != options_.waivers.end()) {
      if (waiver->second.holds_on(options_.day)) {
        row.waiver = waiver->second.issue;
      } else {
        row.message += "; its waiver ended on " + waiver->second.last_day;
      }
    }
    out_.rows.push_back(std::move(row));
  }

  // A waiver for what the candidate does not show.
  void add_waivers() {
    for (const auto& [name, waiver] : options_.waivers) {
      const bool shows =
          std::any_of(out_.rows.begin(), out_.rows.end(), [&name = name](const GateRow& row) {
            return row.name == name && row.bucket != GateBucket::kFixed;
          });
      if (shows) continue;
      GateRow row;
      row.bucket = GateBucket::kUnexpectedPass;
      row.name = name;
      row.message = "waived for " + waiver.issue + ", and the candidate does not show it";
      out_.rows.push_back(std::move(row));
    }
  }

  const GateSide& baseline_;
  const GateSide& candidate_;
  const CompareOptions& options_;
  std::map<std::string, Pair> pairs_;  // cases that both ran
  std::map<std::string, Sides> signatures_;
  std::map<std::pair<std::string, spec::TorchRelease>, std::vector<std::string>> changes_;
  std::set<std::string> changed_;                   // cases where releases differ
  std::map<std::string, std::string> lost_before_;  // unsupported on that side alone: why
  std::map<std::string, std::string> lost_after_;
  GateComparison out_;
};

}  // namespace

const char* bucket_name(GateBucket bucket) {
  constexpr const char* kNames[] = {"regressed",     "spread",          "fixed",
                                    "fails on both", "flaky",           "not compared",
                                    "unsupported",   "unexpected pass", "changed"};
  static_assert(std::size(kNames) == kGateBucketCount);
  return kNames[static_cast<std::size_t>(bucket)];
}

bool GateRow::counts() const {
  const bool is_bad = bucket == GateBucket::kRegressed || bucket == GateBucket::kSpread;
  return (is_bad && waiver.empty()) || bucket == GateBucket::kUnexpectedPass;
}

bool GateRow::is_open() const {
  return bucket == GateBucket::kNotCompared || bucket == GateBucket::kFlaky ||
         (bucket == GateBucket::kUnsupported && waiver.empty());
}

spec::Outcome GateRow::outcome() const {
  switch (bucket) {
    case GateBucket::kRegressed:
    case GateBucket::kSpread:
      return waiver.empty() ? Outcome::kFail : Outcome::kXFail;
    case GateBucket::kFixed:
    case GateBucket::kChanged:
      return Outcome::kPass;
    case GateBucket::kBoth:
      return Outcome::kXFail;
    case GateBucket::kFlaky:
      return Outcome::kFlaky;
    case GateBucket::kNotCompared:
      return Outcome::kInfra;
    case GateBucket::kUnsupported:
      return waiver.empty() ? Outcome::kUnsupported : Outcome::kXFail;
    case GateBucket::kUnexpectedPass:
      return Outcome::kXPass;
  }
  return Outcome::kInfra;
}

std::size_t GateComparison::unsupported() const {
  return static_cast<std::size_t>(
      std::count_if(uncompared.begin(), uncompared.end(),
                    [](const UncomparedCase& one) { return one.is_unsupported; }));
}

std::size_t GateComparison::count(GateBucket bucket) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const GateRow& row) { return row.bucket == bucket; }));
}

std::size_t GateComparison::count_failing(GateKind kind) const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const GateRow& row) {
    return row.kind == kind && row.counts();
  }));
}

bool GateComparison::has_failed() const {
  return std::any_of(rows.begin(), rows.end(), [](const GateRow& row) { return row.counts(); });
}

bool GateComparison::is_open() const {
  return compared == 0 ||
         std::any_of(rows.begin(), rows.end(), [](const GateRow& row) { return row.is_open(); });
}

GateComparison compare_sides(const GateSide& baseline, const GateSide& candidate,
                             const CompareOptions& options) {
  return Comparison(baseline, candidate, options).run();
}

}  // namespace graphgate::tools
