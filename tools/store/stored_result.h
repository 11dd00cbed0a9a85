// What a call meant, as JSON and bytes: in stored runs (trace_store.h), and as the answer of an
// executor in a process of its own (executors/messages.h).
#pragma once

#include "tools/store/stored_bytes.h"
#include "tools/store/stored_tensors.h"

namespace graphgate::tools {

// {"outputs", "final_inputs", "final_states", "findings", "provenance"}; spreads are not kept.
[[nodiscard]] nlohmann::ordered_json result_json(const spec::CallResult& result,
                                                 StoredBytes& bytes);

// The inverse; lists that are missing are empty. kBadInput names the place.
[[nodiscard]] Result<spec::CallResult> read_result(const interop::JsonCursor& object,
                                                   const StoredTensors& tensors);

// A finding of an instrument or of a run: {"rule", "outcome", "message", ...}.
[[nodiscard]] nlohmann::ordered_json stored_finding_json(const spec::Finding& finding);
// The inverse. kBadInput names the place.
[[nodiscard]] Result<void> read_stored_finding(const interop::JsonCursor& object,
                                               spec::Finding& finding);

}  // namespace graphgate::tools
