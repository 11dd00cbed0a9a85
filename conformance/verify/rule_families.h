// The families of rules, one file each: what verify_plan calls.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/verify/accesses.h"
#include "conformance/verify/facts.h"
#include "conformance/verify/lineage.h"
#include "conformance/verify/partition_use.h"
#include "conformance/verify/plan_flow.h"
#include "conformance/verify/verify.h"

namespace graphgate::verify {

// All that a rule over one plan may look at. `facts` and `lineage`, which remembers what it was
// asked, are null without a program; `flow` never is. `rows` are those of the run that facts were
// taken from.
struct RuleCase {
  const PlanCase& plan_case;
  const Accesses& accesses;
  const PartitionUses& uses;
  const RunRows& rows;
  const GraphFacts* facts = nullptr;
  const PlanFlow* flow = nullptr;
  Lineage* lineage = nullptr;

  [[nodiscard]] const spec::Plan& plan() const { return *plan_case.plan; }
};

using Findings = std::vector<spec::Finding>;

// Each appends what it finds. By the invariant that the ids of its rules begin with:
void check_written(const RuleCase& rule_case, Findings& out);          // V1, rule_written.cpp
void check_signatures(const RuleCase& rule_case, Findings& out);       // V2, rule_signature.cpp
void check_symbols(const RuleCase& rule_case, Findings& out);          // V2, rule_symbols.cpp
void check_overlap(const RuleCase& rule_case, Findings& out);          // V3, rule_overlap.cpp
void check_in_place(const RuleCase& rule_case, Findings& out);         // V3, rule_in_place.cpp
void check_positions_apart(const RuleCase& rule_case, Findings& out);  // V3, rule_positions.cpp
void check_order(const RuleCase& rule_case, Findings& out);            // V4, rule_order.cpp
void check_nodes(const RuleCase& rule_case, Findings& out);            // V4, rule_nodes.cpp
void check_effects(const RuleCase& rule_case, Findings& out);          // V4, rule_effects.cpp
void check_operations(const RuleCase& rule_case, Findings& out);       // V4, rule_operation.cpp
void check_frees(const RuleCase& rule_case, Findings& out);            // V5, rule_frees.cpp
void check_places(const RuleCase& rule_case, Findings& out);           // V6, rule_places.cpp
void check_capture(const RuleCase& rule_case, Findings& out);          // V7, rule_capture.cpp
void check_static(const RuleCase& rule_case, Findings& out);           // V8, rule_static.cpp
void check_lifetimes(const RuleCase& rule_case, Findings& out);        // V9, rule_lifetimes.cpp
void check_key(const RuleCase& rule_case, Findings& out);              // V10, rule_key.cpp
void check_padding(const RuleCase& rule_case, Findings& out);          // V10, rule_padding.cpp
void check_streams(const RuleCase& rule_case, Findings& out);          // HB, rule_streams.cpp

// The same for the plans that calls of a scenario followed.
void check_weak_reads(std::span<const PlanUse> uses, Findings& out);  // V9, rule_lifetimes.cpp
void check_keys(std::span<const PlanUse> uses, Findings& out);        // V10, rule_key.cpp

}  // namespace graphgate::verify
