#include "fuzz/campaign/campaign_state.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace graphgate::fuzz {
namespace {

using Range = std::pair<std::uint64_t, std::uint64_t>;

// Whether index sets {o * n + i} of ranges of ordinals meet: where all shards have one count, only
// those of one shard do; else each range is walked.
bool overlap(const Shard& a, const RangeSet& in_a, const Shard& b, const RangeSet& in_b) {
  if (a == b) return in_a.overlaps(in_b);
  if (a.count == b.count) return false;
  const Shard& coarse = a.count > b.count ? a : b;  // has fewer indices in a range
  const Shard& fine = a.count > b.count ? b : a;
  const RangeSet& in_coarse = a.count > b.count ? in_a : in_b;
  const RangeSet& in_fine = a.count > b.count ? in_b : in_a;
  for (const auto& [begin, end] : in_coarse.ranges()) {
    for (std::uint64_t ordinal = begin; ordinal < end; ++ordinal) {
      const std::uint64_t index = coarse.case_index(ordinal);
      if (fine.has(index) && in_fine.has(index / fine.count)) return true;
    }
  }
  return false;
}

// Replaces all shards of one complete division by the whole.
void unite_shards(CampaignState& state) {
  if (state.cases == 0 || state.done.empty()) return;
  const std::uint32_t count = state.done.begin()->first.count;
  if (count == 1 || state.done.size() != count) return;
  for (const auto& [shard, ordinals] : state.done) {
    if (shard.count != count || ordinals.size() != shard.size(state.cases)) return;
  }
  state.done.clear();
  state.done[Shard{}].add(0, state.cases);
}

// What is told of a finding that several states have looked at.
bool is_better(const Triage& a, const Triage& b) {
  if (a.status != b.status) {
    const auto rank = [](TriageStatus status) {
      constexpr int kRanks[] = {3, 0, 1, 2};  // confirmed first, pending last
      return kRanks[static_cast<std::size_t>(status)];
    };
    return rank(a.status) < rank(b.status);
  }
  const auto size = [](const Triage& t) {
    return t.nodes == 0 ? ~std::uint64_t{0} : std::uint64_t{t.nodes} << 32U | t.calls;
  };
  if (size(a) != size(b)) return size(a) < size(b);
  return std::tie(a.from, a.file) < std::tie(b.from, b.file);
}

}  // namespace

std::string key_difference(const CampaignKey& a, const CampaignKey& b) {
  if (a.generator != b.generator) {
    return "generators " + std::to_string(a.generator) + " and " + std::to_string(b.generator);
  }
  if (a.seed != b.seed) {
    return "seeds " + std::to_string(a.seed) + " and " + std::to_string(b.seed);
  }
  const auto value = [](const CampaignKey& key, const std::string& name) {
    const auto found = key.settings.find(name);
    return found == key.settings.end() ? "nothing" : "'" + found->second + "'";
  };
  for (const CampaignKey* key : {&a, &b}) {
    for (const auto& [name, unused] : key->settings) {
      if (value(a, name) != value(b, name)) {
        return name + ": " + value(a, name) + " and " + value(b, name);
      }
    }
  }
  return "";
}

void RangeSet::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto first =
      std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                       [](const Range& range, std::uint64_t at) { return range.second < at; });
  auto last = first;
  for (; last != ranges_.end() && last->first <= end; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->second);
  }
  first = ranges_.erase(first, last);
  ranges_.insert(first, {begin, end});
}

bool RangeSet::has(std::uint64_t number) const {
  const auto [begin, end] = gap(number, number + 1);
  return begin == end;
}

bool RangeSet::overlaps(const RangeSet& other) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    for (const auto& [begin, end] : other.ranges_) {
      if (begin < range.second && range.first < end) return true;
    }
    return false;
  });
}

std::uint64_t RangeSet::size() const {
  return std::accumulate(
      ranges_.begin(), ranges_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Range& range) { return sum + range.second - range.first; });
}

Range RangeSet::gap(std::uint64_t from, std::uint64_t limit) const {
  for (const auto& [begin, end] : ranges_) {
    if (from < begin) return {from, std::min(begin, std::max(from, limit))};
    from = std::max(from, end);
    if (from >= limit) break;
  }
  return {from, std::max(from, limit)};
}

std::string_view triage_name(TriageStatus status) {
  constexpr std::string_view kNames[] = {"pending", "confirmed", "order-dependent", "flaky"};
  return kNames[static_cast<std::size_t>(status)];
}

Result<CampaignState> merge_states(const std::vector<CampaignState>& states) {
  if (states.empty()) return bad_input("there is no campaign to merge");
  CampaignState sum;
  sum.key = states.front().key;
  sum.cases = states.front().cases;
  for (const CampaignState& state : states) {
    if (!(state.key == sum.key)) {
      return bad_input("campaigns that differ do not add up: " +
                       key_difference(sum.key, state.key));
    }
    if (state.cases != sum.cases) {
      return bad_input("campaigns that differ do not add up: of " + std::to_string(sum.cases) +
                       " and of " + std::to_string(state.cases) + " cases");
    }
    for (const auto& [shard, ordinals] : state.done) {
      for (const auto& [other, others] : sum.done) {
        if (!overlap(shard, ordinals, other, others)) continue;
        return bad_input("shard " + print_shard(shard) + " and shard " + print_shard(other) +
                         " ran the same cases");
      }
    }
    for (const auto& [shard, ordinals] : state.done) {
      for (const auto& [begin, end] : ordinals.ranges()) sum.done[shard].add(begin, end);
    }
    sum.tally.add(state.tally);
    for (const auto& [number, lineage] : state.lineages) {
      if (sum.lineages.try_emplace(number, lineage).second) continue;
      return bad_input("lineage " + std::to_string(number) + " is in two campaigns");
    }
    sum.seconds += state.seconds;
    // Shards of other machines may have been run otherwise: whatever their order, one of them.
    for (const auto& [name, value] : state.run) {
      const auto [at, is_new] = sum.run.try_emplace(name, value);
      if (!is_new) at->second = std::min(at->second, value);
    }
    for (const auto& [signature, triage] : state.triage) {
      const auto [at, is_new] = sum.triage.try_emplace(signature, triage);
      if (!is_new && is_better(triage, at->second)) at->second = triage;
    }
  }
  unite_shards(sum);
  return sum;
}

bool same_results(const CampaignState& a, const CampaignState& b) {
  return a.key == b.key && a.cases == b.cases && a.done == b.done && a.tally == b.tally &&
         a.lineages == b.lineages;
}

}  // namespace graphgate::fuzz
