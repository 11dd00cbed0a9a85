// What is asked for of captures, as an engine takes it back when it starts: vLLM's
// resolve_cudagraph_mode_and_sizes, and what an empty list of split ops does to the mode.
//
//   asked                no split op            attention supports less than always
//   piecewise            none                   (attention is not captured)
//   full                 full                   full_and_piecewise, or full_decode_only
//   full_and_piecewise   full                   as it is, while decode batches are supported
//
//   decode batches captured whole, which attention does not support at all, or not with several
//   tokens a request: piecewise; none without split ops
//
// Capture sizes become multiples of the query length where decode batches are captured whole.
#pragma once

#include "optimized/runtime/options.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// kBadInput where nothing is left: full graphs of attention that is never captured, and no capture
// size that holds one request. Without attention_support the mode stays.
[[nodiscard]] Result<RuntimeOptions> resolve_mode(RuntimeOptions options, bool has_split_ops,
                                                  const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
