// Inputs at one address, across the protocol (docs/executors.md, `kept`).
//
// Tensors travel by value. A caller that keeps memory for an input says so in each call, and the
// other end keeps memory for it, too: an executor that relies on an address finds it there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "interop/json_cursor.h"
#include "spec/executor.h"

namespace graphgate::tools {

// At the caller's end, of one program.
class KeptPlaces {
 public:
  // [{"input", "bytes", "stays"}] of the inputs whose memory is that of the last call, or has room
  // for more than they have; none of 4 GiB and more.
  [[nodiscard]] nlohmann::ordered_json note(std::span<const spec::InputValue> inputs);

 private:
  std::vector<std::weak_ptr<spec::HostStorage>> last_;  // by input
};

// At the executor's end, of one program.
class KeptInputs {
 public:
  // Puts inputs where the call's member `kept` wants them, and with each what shares its storage.
  // kBadInput for places that make no sense.
  [[nodiscard]] Result<void> place(const interop::JsonCursor& call,
                                   std::vector<spec::InputValue>& inputs);

 private:
  std::vector<std::shared_ptr<spec::HostStorage>> last_;  // by input
};

}  // namespace graphgate::tools
