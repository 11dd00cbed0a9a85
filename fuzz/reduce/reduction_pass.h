// One kind of change that makes a case smaller. The reducer (reducer.h) tries its changes, many at
// a time and then one by one.
//
// A pass knows nothing of findings: it proposes. Whether a proposal is a valid case that still
// shows what it should, the reducer asks. One file, one family of passes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/case_file.h"

namespace graphgate::fuzz {

// What a change makes of a case; nothing where it makes no sense.
using Candidate = std::optional<spec::CaseFile>;

struct ReductionPass {
  std::string name;
  // How many changes there are to be made. Deterministic.
  std::function<std::size_t(const spec::CaseFile&)> count;
  // The case with changes [begin, end) made.
  std::function<Candidate(const spec::CaseFile&, std::size_t begin, std::size_t end)> apply;
  bool is_joint = true;  // whether several changes can be made at once
};

// A pass whose changes are made one at a time, each by its index.
[[nodiscard]] inline ReductionPass single_pass(
    std::string name, std::function<std::size_t(const spec::CaseFile&)> count,
    std::function<Candidate(const spec::CaseFile&, std::size_t index)> change) {
  return {std::move(name), std::move(count),
          [change = std::move(change)](const spec::CaseFile& the_case, std::size_t begin,
                                       std::size_t /*end*/) { return change(the_case, begin); },
          /*is_joint=*/false};
}

// A change for each of the places that a function lists.
template <auto kPlaces>
[[nodiscard]] std::size_t count_of(const spec::CaseFile& the_case) {
  return kPlaces(the_case).size();
}

// Options of the case that no pass touches: the fault that is looked for.
using KeptOptions = std::set<std::string, std::less<>>;

// A change for each program.
[[nodiscard]] inline std::size_t count_programs(const spec::CaseFile& the_case) {
  return the_case.programs.size();
}

// In the order of trying: by DESIGN, calls, then nodes, then configuration bits, then sizes; data
// last.
[[nodiscard]] std::vector<ReductionPass> step_passes();
[[nodiscard]] std::vector<ReductionPass> node_passes();
[[nodiscard]] std::vector<ReductionPass> port_passes();      // outputs and inputs
[[nodiscard]] std::vector<ReductionPass> subgraph_passes();  // conditionals, functionalized ops
[[nodiscard]] std::vector<ReductionPass> argument_passes();
[[nodiscard]] std::vector<ReductionPass> option_passes(const KeptOptions& kept);
[[nodiscard]] std::vector<ReductionPass> symbol_passes();  // sizes for symbols
[[nodiscard]] std::vector<ReductionPass> size_passes();
[[nodiscard]] std::vector<ReductionPass> data_passes();

}  // namespace graphgate::fuzz
