// The order in which the passes' changes of a case are tried: the reducer's loop as a value.
//
//   walk ── propose() ──> candidate ──┬─ it still shows: accept(), and the walk goes on from it
//                                     └─ it does not: propose() again
//
// The reducer (reducer.h) walks until the end. A step by step way to shrink, as
// RapidCheck's, keeps copies of a walk: a copy proposes what its original would.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fuzz/reduce/reduction_pass.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// All passes, in the order of trying.
[[nodiscard]] std::vector<std::vector<ReductionPass>> pass_groups(const KeptOptions& kept);

class ReductionWalk {
 public:
  using Passes = std::vector<ReductionPass>;
  // Begins at a case that passes check_case. Groups of passes take their turns one after the other.
  ReductionWalk(const spec::CaseFile& the_case, std::vector<Passes> groups);

  [[nodiscard]] const spec::CaseFile& the_case() const { return case_; }
  // Holds when no change is left that the case has not been tried with.
  [[nodiscard]] bool is_at_end() const { return stage_ == Stage::kEnd; }
  // Returns the next candidate: valid (check_case), smaller (case_weight), and not proposed before.
  // Nothing where the next change makes none: then it is to be asked again, until the end.
  [[nodiscard]] Candidate propose();
  // Goes on from the candidate that was proposed last.
  void accept(spec::CaseFile candidate);
  // Goes on from the same case with types stated (stated_types.h), which may be larger by them.
  void restate(spec::CaseFile stated);

 private:
  // Before the passes a case is put into the form that they keep: without what it expects, then
  // with it.
  enum class Stage : std::uint8_t { kBare, kNamed, kPasses, kEnd };

  [[nodiscard]] Candidate checked(spec::CaseFile candidate);
  [[nodiscard]] Candidate propose_form();
  void begin_group(std::size_t group);
  void next_pass();
  [[nodiscard]] bool is_turn_of_pass() const;
  [[nodiscard]] std::size_t most_changes() const;

  std::shared_ptr<const std::vector<Passes>> groups_;
  spec::CaseFile case_;
  std::vector<std::size_t> weight_;
  std::vector<std::size_t> proposed_weight_;
  std::set<std::size_t> seen_;  // hashes of texts that were proposed
  Stage stage_ = Stage::kBare;
  bool is_any_accepted_ = false;  // since the first group's turn
  std::size_t group_ = 0;
  std::size_t pass_ = 0;
  std::size_t chunk_ = 0;             // how many changes are made at once
  std::optional<std::size_t> begin_;  // of the changes made last by the pass; nothing before
  std::size_t end_ = 0;
  bool is_accepted_ = false;  // they were
};

// Whether a node of a root graph makes a tensor of an unstated type.
[[nodiscard]] bool has_open_type(const spec::CaseFile& the_case);

}  // namespace graphgate::fuzz
