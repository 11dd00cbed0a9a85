// Two runs of one call, compared bit by bit: what they return, how it lies, and what shares memory.
//
// For judges that compare runs of the same arithmetic: under two configurations, or on data on
// which no executor rounds. NaN equals NaN whatever its bits; every other pattern must be the same,
// the sign of zero included unless `signed_zeros` is off.
#pragma once

#include <string>
#include <vector>

#include "conformance/compare/compare.h"
#include "conformance/run/trace.h"
#include "spec/executor.h"

namespace graphgate::conformance {

// One tensor or number of a call that differs. `where` is "output 0", "final input 1", "state
// 'cache'", or "sharing"; the message says how.
struct BitDifference {
  std::string where;
  std::string message;
};

// What may be left out of a comparison.
struct BitOptions {
  // Elements of infinite radius are left open: nobody wrote them, or they depend on a tie. Null:
  // every element counts.
  const spec::CallResult* oracle = nullptr;
  // Of those only elements of radius 0 count, and only of tensors that are no trivial copies.
  bool exact_only = false;
  bool signed_zeros = true;
  bool layouts = true;  // strides and offsets of outputs, too
  bool sharing = true;  // whose storage it is, too
};

struct BitReport {
  std::vector<BitDifference> differences;
  std::int64_t compared = 0;  // elements and numbers that counted
  std::int64_t open = 0;      // elements that did not
};

// `names`: "default", "memory=lines": who is compared with whom, as messages have it.
[[nodiscard]] BitReport compare_bits(const spec::CallResult& actual,
                                     const spec::CallResult& expected,
                                     const std::string& expected_name, const BitOptions& options);

// Whether two runs began a call with other bits: in its inputs, or in what an earlier call left in
// a state or an input. What is open in one call (random draws) goes into the next so.
[[nodiscard]] bool began_otherwise(const Trace& actual, const Trace& expected, std::size_t call);

// Of two tensors of the same dtype and sizes: elements that differ, in words; "" for none.
[[nodiscard]] std::string compare_element_bits(const spec::HostTensor& actual,
                                               const spec::HostTensor& expected,
                                               const spec::Spread* spread,
                                               const std::string& expected_name,
                                               const BitOptions& options, BitReport& report);

}  // namespace graphgate::conformance
