// Changes of a configuration, one at a time, that may make a failure go away.
//
// first_divergence runs a failing script under each. What a change is called is what its report
// says: "no-reuse", "without deviation=frees_twice".
#pragma once

#include <string>
#include <vector>

#include "conformance/run/script.h"

namespace graphgate::conformance {

// One way to change a configuration, and how it is said.
struct Change {
  std::string words;
  Configuration options;  // all of them, after the change
};

// Every option left out (of lists each element, too), every row of the table with one option set,
// ops cut out.
[[nodiscard]] std::vector<Change> single_changes(const Script& script);
// Two rows of the table at once: of the first few.
[[nodiscard]] std::vector<Change> pairs_of_changes(const Script& script);
// A profile with one of its deviations less; of those that it lacks the executor knows nothing.
// Empty where the script asks for no profile.
[[nodiscard]] std::vector<Change> deviations_less(const Script& script);

}  // namespace graphgate::conformance
