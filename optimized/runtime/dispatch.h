// Which plan serves a call: a pure function of the options and of what the call says of itself.
//
//   mode   none < piecewise < full, by the configured mode and the kind of batch
//   size   the call's own, or the next larger capture size where padding is legal
//   range  the compile range that the size lies in
//
// The key is vLLM's BatchDescriptor: tokens, requests (of full graphs), uniform decode or mixed,
// LoRA. Everything that alters a plan is in it or in the geometry of the inputs (input_shapes.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "optimized/compile.h"
#include "optimized/runtime/options.h"
#include "spec/call_options.h"

namespace graphgate::optimized {

// What dispatch knows of a call. `size` is the padded symbol's value; absent where the program has
// no such symbol. The flags are those of CallOptions: "uniform_decode", "cascade_attention"
// ("true"), "lora" (how many are active) and "num_reqs".
struct BatchFacts {
  std::optional<std::int64_t> size;
  bool can_pad = false;
  spec::CallOptions call;
};

struct Dispatch {
  GraphMode mode = GraphMode::kNone;  // kNone, kPiecewise or kFull
  std::optional<std::int64_t> size;   // of the plan
  std::optional<SizeRange> range;
  bool is_padded = false;     // `size` is a capture size that serves the call
  bool is_range_end = false;  // `size` is the range's last, taken for the call's own
  // "mode" -> "piecewise", and the flags that tell plans apart.
  std::map<std::string, std::string> key;
};

[[nodiscard]] Dispatch dispatch(const RuntimeOptions& options, const BatchFacts& batch,
                                const spec::DeviationSet& deviations = {});

// The compile options of a plan for this mode: without captures, as they are, or with split ops
// captured.
[[nodiscard]] CompileOptions options_for(const CompileOptions& options, const Dispatch& dispatch);

}  // namespace graphgate::optimized
