// What a recording says of one call.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/compare/compare.h"
#include "spec/executor.h"

namespace graphgate::conformance {

// What a call must give, from a recording. All parts may be empty: then only the executor is
// judged, against the oracle.
struct ExpectedCall {
  std::vector<spec::InputValue> inputs;
  std::vector<spec::OutputValue> outputs;           // values of the user outputs, in order
  std::vector<std::optional<Geometry>> geometries;  // of the outputs, where known
  std::vector<std::string> shared_with;  // per output "input1", "output0", "buffer.NAME" or ""
  std::map<std::size_t, spec::HostTensor> final_inputs = {};  // by user input index
  std::map<std::string, spec::HostTensor> final_states = {};  // by target
  // Says nothing of an output that stands as None, nor of inputs that it does not list as changed.
  bool is_partial = false;
};

}  // namespace graphgate::conformance
