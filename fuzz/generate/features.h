// Features of a case: what its plans made the executor do.
//
// Coverage of a campaign is the set of features that some case showed; residual_risk.h tells how
// many more there may be, guide.h breeds from the cases of those that are rare. A feature is a
// number whose highest bits say of which kind it is, and feature_name spells it.
//
//   hazard      RAW, WAR, WAW or two tenants of a byte x family of the later op x what lies between
//               (the same launch, a stream, a partition's edge) x whether it goes through a view x
//               kind of memory
//   op          an op of the alphabet x how it ran (captured, eager, fused, in an arm)
//   cut         why a partition is not captured x family of the op behind the cut
//   edge        what crosses a partition's edge, and how much of it
//   option      an option of the case x what its plans have
//   scenario    a kind of step of the scenario behind another one
//   written     what a functionalized op writes of a base x whether plans copied it first
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/run/trace.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {

// Sorted, each once. `trace` is the executor's under the case's own options; calls without a plan
// show nothing but the scenario.
[[nodiscard]] std::vector<std::uint32_t> features_of(const spec::CaseFile& the_case,
                                                     const conformance::Trace& trace,
                                                     const spec::OpTable& ops);

// Whether plans of these features have an edge between partitions, or a cut, and bytes that several
// buffers had one after the other.
[[nodiscard]] bool has_cut(const std::vector<std::uint32_t>& features);
[[nodiscard]] bool has_reuse(const std::vector<std::uint32_t>& features);

// "WAR by scatter, captured | eager, through a view, arena".
[[nodiscard]] std::string feature_name(std::uint32_t feature);

}  // namespace graphgate::fuzz
