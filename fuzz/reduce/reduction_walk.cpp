#include "fuzz/reduce/reduction_walk.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/reducer.h"

namespace graphgate::fuzz {
// Passes of one group take their turns at each number of changes: what is cut out in one way leaves
// less for the next.
std::vector<std::vector<ReductionPass>> pass_groups(const KeptOptions& kept) {
  // State that nothing reads any more costs every check time: it goes with the nodes.
  std::vector<ReductionPass> nodes = node_passes();
  std::vector<ReductionPass> ports = port_passes();
  for (ReductionPass& pass : ports) nodes.push_back(std::move(pass));
  return {step_passes(),       std::move(nodes), subgraph_passes(), argument_passes(),
          option_passes(kept), symbol_passes(),  size_passes(),     data_passes()};
}

ReductionWalk::ReductionWalk(const spec::CaseFile& the_case, std::vector<Passes> groups)
    : groups_(std::make_shared<const std::vector<Passes>>(std::move(groups))),
      case_(the_case),
      weight_(case_weight(the_case)) {}

Candidate ReductionWalk::propose() {
  if (stage_ == Stage::kEnd) return std::nullopt;
  if (stage_ != Stage::kPasses) return propose_form();
  const ReductionPass& pass = (*groups_)[group_][pass_];
  if (!begin_) {
    end_ = pass.count(case_);
  } else {
    end_ = is_accepted_ ? std::min(*begin_, pass.count(case_)) : *begin_;
  }
  is_accepted_ = false;
  if (end_ == 0) {
    next_pass();
    return std::nullopt;
  }
  // From the end, since what comes late is used least.
  begin_ = end_ > chunk_ ? end_ - chunk_ : 0;
  Candidate candidate = pass.apply(case_, *begin_, end_);
  return candidate ? checked(std::move(*candidate)) : std::nullopt;
}

// Passes change cases without comments and with ports by name. What a case expects is no part of
// what it shows, but for a call that is to be refused. The form may weigh as much as the case.
Candidate ReductionWalk::propose_form() {
  const bool is_bare = stage_ == Stage::kBare;
  stage_ = is_bare ? Stage::kNamed : Stage::kPasses;
  if (!is_bare) begin_group(0);
  spec::CaseFile form = case_;
  name_ports(form);
  tidy_case(form);
  form.header.clear();
  if (is_bare) form.expectation = {};
  weight_.push_back(1);
  return checked(std::move(form));
}

Candidate ReductionWalk::checked(spec::CaseFile candidate) {
  proposed_weight_ = case_weight(candidate);
  if (proposed_weight_ >= weight_) return std::nullopt;
  const auto text = spec::print_case(candidate);
  if (!text.ok() || !seen_.insert(std::hash<std::string>()(text.value())).second) {
    return std::nullopt;
  }
  if (!spec::check_case(candidate).ok()) return std::nullopt;
  return candidate;
}

void ReductionWalk::accept(spec::CaseFile candidate) {
  case_ = std::move(candidate);
  weight_ = proposed_weight_;
  if (begin_) {
    is_accepted_ = is_any_accepted_ = true;
    return;
  }
  stage_ = Stage::kPasses;
  begin_group(0);
}

void ReductionWalk::restate(spec::CaseFile stated) {
  case_ = std::move(stated);
  weight_ = case_weight(case_);
}

// As ddmin: halves, quarters, ...
void ReductionWalk::begin_group(std::size_t group) {
  group_ = group;
  pass_ = 0;
  begin_.reset();
  chunk_ = most_changes();
  if (chunk_ == 0 || !is_turn_of_pass()) next_pass();
}

void ReductionWalk::next_pass() {
  begin_.reset();
  const Passes& passes = (*groups_)[group_];
  while (chunk_ > 0) {
    while (++pass_ < passes.size()) {
      if (is_turn_of_pass()) return;
    }
    chunk_ = std::min(chunk_ / 2, most_changes());
    pass_ = 0;
    if (chunk_ > 0 && is_turn_of_pass()) return;
  }
  if (group_ + 1 < groups_->size()) {
    begin_group(group_ + 1);
  } else if (is_any_accepted_) {
    is_any_accepted_ = false;
    begin_group(0);
  } else {
    stage_ = Stage::kEnd;
  }
}

bool ReductionWalk::is_turn_of_pass() const {
  return (*groups_)[group_][pass_].is_joint || chunk_ == 1;
}

std::size_t ReductionWalk::most_changes() const {
  std::size_t most = 0;
  for (const ReductionPass& pass : (*groups_)[group_]) {
    const std::size_t count = pass.count(case_);
    most = std::max(most, pass.is_joint ? count : std::min<std::size_t>(count, 1));
  }
  return most;
}

bool has_open_type(const spec::CaseFile& the_case) {
  return std::any_of(
      the_case.programs.begin(), the_case.programs.end(), [](const spec::Program& program) {
        return std::any_of(program.graph.values.begin(), program.graph.values.end(),
                           [](const spec::Value& value) {
                             return value.kind == spec::ValueKind::kTensor && !value.type;
                           });
      });
}

}  // namespace graphgate::fuzz
