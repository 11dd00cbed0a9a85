#include "conformance/judges/cut_changes.h"
#include "spec/option.h"

#include <algorithm>
#include <map>
#include <set>

namespace graphgate::conformance {
namespace {

namespace option = spec::option;
using Names = std::vector<std::string>;

// Where nodes stand in the program, arms behind everything around them.
void number_nodes(const spec::Graph& graph, std::map<std::string, std::size_t>& places) {
  for (const spec::Node& node : graph.nodes) places.try_emplace(node.name, places.size());
  for (const spec::Graph& arm : graph.subgraphs) number_nodes(arm, places);
}

// The nodes that a partition launches, in the program's order. What passes have made stands behind.
Names launched_nodes(const spec::Plan& plan, const spec::PlanPartition& partition,
                     const std::map<std::string, std::size_t>& places) {
  Names out;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::ranges::find(out, name) == out.end()) out.push_back(name);
  };
  for (std::size_t s = partition.begin_step; s < partition.end_step; ++s) {
    const spec::PlanStep& step = plan.steps[s];
    for (const spec::Node& node : step.body) add(node.name);
    if (step.body.empty()) add(step.node.name);
  }
  const auto place = [&](const std::string& name) {
    const auto found = places.find(name);
    return found == places.end() ? places.size() : found->second;
  };
  std::ranges::stable_sort(
      out, [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return out;
}

struct Run {
  std::size_t partition = 0;
  bool captured = false;
  Names nodes;  // never empty
};

void add_cuts(const std::vector<Run>& runs, const std::string& where, PlanCuts& out) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Names& nodes = runs[r].nodes;
    out.others.insert(out.others.end(), nodes.begin(), nodes.end() - 1);
    if (r + 1 == runs.size()) break;
    const Run& next = runs[r + 1];
    PlanCut cut{
        .name = std::to_string(runs[r].partition) + "|" + std::to_string(next.partition) + where,
        .behind = nodes.back()};
    if (nodes.size() > 1) cut.earlier = nodes[nodes.size() - 2];
    if (next.nodes.size() > 1) cut.later = next.nodes.front();
    cut.is_free = runs[r].captured == next.captured;
    out.cuts.push_back(std::move(cut));
  }
}

void add_cuts(const spec::Program& program, const spec::Plan& plan, PlanCuts& out) {
  std::map<std::string, std::size_t> places;
  number_nodes(program.graph, places);
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    std::vector<Run> runs;
    const auto& partitions = plan.blocks[b].partitions;
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      Run run{p, partitions[p].captured, launched_nodes(plan, partitions[p], places)};
      if (!run.nodes.empty()) runs.push_back(std::move(run));
    }
    add_cuts(runs, b == 0 ? "" : " of @" + plan.blocks[b].name, out);
  }
}

// Some of `all` such that `passes(some)`, as it does for all: with any part left out it fails. By
// halves, quarters, ... (delta debugging).
template <class Things, class Passes>
Result<Things> fewest(Things all, const Passes& passes) {
  std::size_t parts = 2;
  while (all.size() > 1) {
    bool is_smaller = false;
    for (const bool only : {true, false}) {
      for (std::size_t i = 0; i < parts && !is_smaller; ++i) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(all.size() * i / parts);
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(all.size() * (i + 1) / parts);
        Things some;
        if (only) {
          some.assign(begin, end);
        } else {
          some.assign(all.begin(), begin);
          some.insert(some.end(), end, all.end());
        }
        if (some.empty() || some.size() == all.size()) continue;
        GRAPHGATE_TRY(is_smaller, passes(some));
        if (!is_smaller) continue;
        all = std::move(some);
        parts = only ? 2 : std::max<std::size_t>(2, parts - 1);
      }
    }
    if (is_smaller) continue;
    if (parts >= all.size()) break;
    parts = std::min(all.size(), 2 * parts);
  }
  return all;
}

class CutSearch {
 public:
  CutSearch(const Script& script, PlanCuts cuts, const TryOptions& try_options)
      : options_(script.options), others_(std::move(cuts.others)), try_options_(try_options) {
    for (PlanCut& cut : cuts.cuts) {
      if (cut.is_free) free_.push_back(std::move(cut));
    }
  }

  Result<std::vector<Change>> run() {
    if (!free_.empty()) {
      // Written out by name they must fail, too.
      GRAPHGATE_TRY(const bool passes, try_options_(with_cuts(free_)));
      if (!passes) GRAPHGATE_TRY_VOID(change_free_cuts());
    }
    if (found_.empty() && !others_.empty()) GRAPHGATE_TRY_VOID(add_fewest());
    return std::move(found_);
  }

 private:
  // The script's options with these cuts alone, and those that stand where capture begins or ends.
  [[nodiscard]] Configuration with_cuts(const std::vector<PlanCut>& cuts) const {
    Configuration options = options_;
    options.erase(option::kMaxPartition);
    Names names;
    for (const PlanCut& cut : cuts) names.push_back(cut.behind);
    options[option::kCutAfter] = join_list(names);
    if (names.empty()) options.erase(option::kCutAfter);
    return options;
  }

  Result<bool> take_if_passes(std::string words, Configuration options) {
    GRAPHGATE_TRY(const bool passes, try_options_(options));
    if (passes) found_.push_back({std::move(words), std::move(options)});
    return passes;
  }

  Result<void> change_free_cuts() {
    if (free_.size() <= kMostSingle) {
      for (std::size_t c = 0; c < free_.size(); ++c) GRAPHGATE_TRY_VOID(change_one(c));
    }
    if (!found_.empty()) return {};
    GRAPHGATE_TRY(const bool passes, try_options_(with_cuts({})));
    if (!passes) return {};
    GRAPHGATE_TRY(std::vector<PlanCut> removed, passing_pair());
    if (removed.empty()) {
      GRAPHGATE_TRY(removed, fewest(free_, [this](const auto& some) {
                      return try_options_(with_cuts(without(some)));
                    }));
    }
    if (removed.size() == 1) {
      for (std::size_t c = 0; c < free_.size(); ++c) {
        if (free_[c].behind == removed[0].behind) return change_one(c);
      }
    }
    std::string words;
    for (const PlanCut& cut : removed) {
      words += (words.empty() ? "cuts " : ", ") + cut.name + " (behind '" + cut.behind + "')";
    }
    found_.push_back({words + " removed", with_cuts(without(removed))});
    return {};
  }

  // Two cuts that are enough, looked for where there are few.
  Result<std::vector<PlanCut>> passing_pair() {
    for (std::size_t b = 0; b < free_.size() && free_.size() <= kMostPaired; ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        std::vector<PlanCut> pair = {free_[a], free_[b]};
        GRAPHGATE_TRY(const bool passes, try_options_(with_cuts(without(pair))));
        if (passes) return pair;
      }
    }
    return std::vector<PlanCut>();
  }

  [[nodiscard]] std::vector<PlanCut> without(const std::vector<PlanCut>& removed) const {
    std::vector<PlanCut> left;
    for (const PlanCut& cut : free_) {
      const auto same = [&](const PlanCut& other) { return other.behind == cut.behind; };
      if (std::ranges::none_of(removed, same)) left.push_back(cut);
    }
    return left;
  }

  // Moved, or else removed.
  Result<void> change_one(std::size_t c) {
    const PlanCut& cut = free_[c];
    for (const std::string& to : {cut.later, cut.earlier}) {
      if (to.empty()) continue;
      std::vector<PlanCut> cuts = free_;
      cuts[c].behind = to;
      GRAPHGATE_TRY(const bool passes, take_if_passes("cut " + cut.name + " moved from behind '" +
                                                          cut.behind + "' to behind '" + to + "'",
                                                      with_cuts(cuts)));
      if (passes) return {};
    }
    std::vector<PlanCut> cuts = free_;
    cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(c));
    GRAPHGATE_TRY_VOID(take_if_passes("cut " + cut.name + ", behind '" + cut.behind + "', removed",
                                      with_cuts(cuts)));
    return {};
  }

  [[nodiscard]] Configuration with_more_cuts(const Names& behind) const {
    Configuration options = options_;
    Names names = split_list(options[option::kCutAfter]);
    names.insert(names.end(), behind.begin(), behind.end());
    options[option::kCutAfter] = join_list(names);
    return options;
  }

  Result<void> add_fewest() {
    Names added;
    GRAPHGATE_TRY(const bool passes, try_options_(with_more_cuts(others_)));
    if (passes) {
      GRAPHGATE_TRY(added, fewest(others_, [&](const Names& some) {
                      return try_options_(with_more_cuts(some));
                    }));
    }
    for (std::size_t i = 0; !passes && added.empty() && i < std::min(kMostSingle, others_.size());
         ++i) {
      GRAPHGATE_TRY(const bool one_passes, try_options_(with_more_cuts({others_[i]})));
      if (one_passes) added = {others_[i]};
    }
    if (added.empty()) return {};
    std::string words = added.size() == 1 ? "a cut" : "cuts";
    for (std::size_t i = 0; i < added.size(); ++i) {
      words += (i == 0 ? " behind '" : ", '") + added[i] + "'";
    }
    found_.push_back({words + " added", with_more_cuts(added)});
    return {};
  }

  static constexpr std::size_t kMostSingle = 8;
  static constexpr std::size_t kMostPaired = 6;

  Configuration options_;
  std::vector<PlanCut> free_;
  Names others_;
  const TryOptions& try_options_;
  std::vector<Change> found_;
};

}  // namespace

PlanCuts cuts_of(const Script& script, const Trace& trace) {
  PlanCuts out;
  std::set<std::size_t> seen;
  for (const CallRecord& call : trace.calls) {
    if (!call.plan || !seen.insert(call.program).second) continue;
    if (spec::check_plan(*call.plan).ok()) {
      add_cuts(*script.programs[call.program], *call.plan, out);
    }
  }
  std::set<std::string> known;
  for (const PlanCut& cut : out.cuts) known.insert(cut.behind);
  std::erase_if(out.others, [&](const std::string& name) { return !known.insert(name).second; });
  return out;
}

Result<std::vector<Change>> least_cut_changes(const Script& script, const Trace& failed,
                                              const TryOptions& try_options) {
  return CutSearch(script, cuts_of(script, failed), try_options).run();
}

}  // namespace graphgate::conformance
