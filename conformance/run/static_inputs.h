// Memory that a caller keeps for inputs of its calls: the addresses that ScriptStatic promises.
//
// run_script asks it before and behind each call. What a call gives is written into that memory. So
// an executor that relies on the address reads the bytes of this call, and one that keeps a tensor
// of an earlier call sees them change. What the trace records of a call does not change any more.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "conformance/run/script.h"

namespace graphgate::conformance {

// The places, among what calls pass, of the tensors that the option `static-input` means, by name
// or place. kBadInput where the program has no such tensor.
[[nodiscard]] Result<std::vector<std::size_t>> inputs_promised_static(const spec::Program& program,
                                                                      const Configuration& options);
// For a script of one program without a scenario: keeps that promise, from the first call on.
[[nodiscard]] Result<void> keep_promised_static(Script& script, const Configuration& options);

class StaticInputs {
 public:
  // From here on. The memory is as large as the largest that calls of the script give this input.
  void add(const ScriptPort& input, const Script& script);
  // Other memory from here on, for the same inputs.
  void move();

  // No input is static: what is given is passed.
  [[nodiscard]] bool empty() const { return memories_.empty(); }
  // What to pass in place of `inputs`: tensors over the memory of static inputs, and over it, too,
  // whatever shares a storage with one of them. kBadInput where a static input does not fit, or two
  // of them share a storage.
  [[nodiscard]] Result<std::vector<spec::InputValue>> placed(
      std::size_t program, const std::vector<spec::InputValue>& inputs);
  // Gives results that lie in such memory memory of their own; they go on to share it.
  void part(spec::CallResult& result) const;

 private:
  struct Memory {
    std::size_t most_bytes = 0;
    std::shared_ptr<spec::HostStorage> storage;  // null: no call has given anything yet
  };
  std::map<std::pair<std::size_t, std::size_t>, Memory> memories_;  // by program and input
};

}  // namespace graphgate::conformance
