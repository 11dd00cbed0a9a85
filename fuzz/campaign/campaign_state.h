// What is known of a campaign: what it was asked, which cases it has run, what they came to.
//
// It is written to a file while the campaign runs, read to resume it, and read by `fuzz merge`:
//
//   graphgate-campaign 1
//   generator 1
//   seed 42
//   setting "judges" "all"
//   cases 5000
//   done 0 of 4 [0, 1250)
//   outcome PASS 1249
//   ...
//   lineage 0 generation 4 shown {
//     ... lines as those of the whole
//   } open {
//   }
//   triage "..." confirmed nodes 3 calls 2 from 17 file "regression/verifier-..." remark "..."
//   triage "..." confirmed nodes 3 calls 2 from 17 file "" remark "" known "add-alpha"
//   run "timeout" "20"
//   seconds 1.5
//
// Invariant: parse(print(s)) == s; merging does not depend on the order of the states.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/campaign/tally.h"

namespace graphgate::fuzz {

inline constexpr int kCampaignVersion = 1;

// A set of numbers as ranges [begin, end), ascending, none touching the next.
class RangeSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool has(std::uint64_t number) const;
  [[nodiscard]] bool overlaps(const RangeSet& other) const;
  [[nodiscard]] std::uint64_t size() const;
  // The first range at or above `from` that is not in the set, cut off at `limit`; empty (begin ==
  // end) where there is none.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> gap(std::uint64_t from,
                                                            std::uint64_t limit) const;
  [[nodiscard]] const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges() const {
    return ranges_;
  }
  friend bool operator==(const RangeSet&, const RangeSet&) = default;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

// What decides what a case is and how it is judged. Campaigns with different keys do not add up.
struct CampaignKey {
  std::uint32_t generator = 0;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> settings;  // alphabet, judges, options of the executor...
  friend bool operator==(const CampaignKey&, const CampaignKey&) = default;
};

// The first thing that differs, in words: "seeds 1 and 2". Empty where nothing does.
[[nodiscard]] std::string key_difference(const CampaignKey& a, const CampaignKey& b);

// What came of a finding when it was looked at again.
enum class TriageStatus : std::uint8_t {
  kPending,         // not looked at yet
  kConfirmed,       // it comes again in a process of its own
  kOrderDependent,  // it comes again only behind the cases that ran before it
  kFlaky,           // it does not come again
};
[[nodiscard]] std::string_view triage_name(TriageStatus status);

struct Triage {
  TriageStatus status = TriageStatus::kPending;
  std::uint64_t from = 0;   // the index of the case that was looked at
  std::uint32_t nodes = 0;  // of the reduced case; 0: not reduced
  std::uint32_t calls = 0;
  std::string file;    // below the corpus; empty: none was written
  std::string remark;  // why not, or what it takes
  // The known finding that all its cases are that were looked at (known_findings.h); empty: it is
  // new.
  std::string known;
  friend bool operator==(const Triage&, const Triage&) = default;
};

struct CampaignState {
  CampaignKey key;
  std::uint64_t cases = 0;         // of all shards together; 0: as many as there is time for
  std::map<Shard, RangeSet> done;  // ordinals, Shard::case_index
  Tally tally;
  Lineages lineages;                     // of a guided campaign
  std::map<std::string, Triage> triage;  // by signature
  double seconds = 0;                    // wall-clock time that was spent
  // How it was run, beside what decides its results: what a line that replays a case has to say.
  // "environment": assignments of sh, for the process of a command; "executor-timeout", "timeout",
  // "memory-limit": as the flags of these names take them.
  std::map<std::string, std::string> run = {};
};

[[nodiscard]] std::string print_state(const CampaignState& state);
// kBadInput with the place; another version is named.
[[nodiscard]] Result<CampaignState> parse_state(std::string_view text, std::string_view source);

// The sum. kBadInput where keys differ, or where two states hold the same cases. Where the shards
// i/N of one N are all complete, the result is that of shard 0/1.
[[nodiscard]] Result<CampaignState> merge_states(const std::vector<CampaignState>& states);

// Whether both ran the same cases with the same results, case for case. When and how often
// anything was looked at again does not matter.
[[nodiscard]] bool same_results(const CampaignState& a, const CampaignState& b);

}  // namespace graphgate::fuzz
