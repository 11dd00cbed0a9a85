// What a caller may say about runs: which sizes are captured, in which mode, and whose memory is
// used.
//
// The default captures every size that is called, exactly, and copies everything in and out. With
// `capture_sizes`, a call runs in the plan of the next larger of them where padding is legal
// (analysis/padding.h); above the largest it runs eagerly, at its own size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimized/passes/pass.h"
#include "optimized/runtime/host/copy_in.h"
#include "optimized/runtime/host/instrument.h"

namespace graphgate::optimized {

// vLLM's CUDAGraphMode. kFull: the whole program is one graph where that is legal; split ops do not
// cut. The last two tell uniform decode batches from mixed ones (the flag "uniform_decode").
enum class GraphMode : std::uint8_t {
  kNone,              // no captures
  kPiecewise,         // split ops cut
  kFull,              // split ops are captured too
  kFullDecodeOnly,    // kFull for decode batches, kNone for others
  kFullAndPiecewise,  // kFull for decode batches, kPiecewise for others
};
// "none", "piecewise", "full", "full_decode_only", "full_and_piecewise".
[[nodiscard]] std::string_view graph_mode_name(GraphMode mode);
[[nodiscard]] std::optional<GraphMode> parse_graph_mode(std::string_view name);

// vLLM's AttentionCGSupport: which batches attention can be captured with.
enum class AttentionSupport : std::uint8_t {
  kNever,
  kSingleTokenDecode,  // uniform batches of one token a request
  kUniformBatch,       // of as many tokens each, as speculative decoding has them
  kAlways,
};

struct RuntimeOptions {
  GraphMode mode = GraphMode::kPiecewise;
  // What the mode is held to when the program is loaded (resolve_mode.h); absent: to nothing.
  std::optional<AttentionSupport> attention_support = {};
  // Of full graphs: no more requests than this, and tokens that each request of a uniform decode
  // batch has. 0: any number of requests.
  std::int64_t max_requests = 0;
  std::int64_t query_length = 1;
  // Graphs are captured for 1, 2, 4... adapters, up to this, and for one more (adapters and rows
  // without one). 0: for the number that a call has.
  std::int64_t max_loras = 0;
  // Ascending values of the padded symbol that get a plan with captures. Empty: no padding.
  std::vector<std::int64_t> capture_sizes = {};
  // No capture size may be larger. 0: the last one.
  std::int64_t max_capture_size = 0;
  // Sizes are rounded up to multiples of this before anything else (sequence parallelism).
  std::int64_t size_multiple = 1;
  // Sizes that are compiled for themselves, before any range; each must be what padding makes of
  // it.
  std::vector<std::int64_t> compile_sizes = {};
  // Ranges that are compiled apart, each with passes of its own. Ascending, without overlap. Sizes
  // in none of them are compiled as without ranges.
  std::vector<SizeRange> compile_ranges = {};
  // Which symbol is padded; empty: the first one of the first user input that has one.
  std::string padded_symbol = {};
  // User inputs, by name or by index, that lie at the same address in every call. They are read
  // where they are, and the address is checked before every replay.
  std::vector<std::string> static_inputs = {};
  // Outputs of the last captured partition are handed out where they lie (LoadedProgram::hold).
  bool weak_outputs = false;
  // All programs of one executor, and all their sizes, run in one arena per device.
  bool share_pools = false;
  // What slept lies elsewhere when it wakes (Executor::wake); else its addresses stay. A sleep
  // keeps recordings, or drops them: then they are made anew.
  bool wakes_elsewhere = false;
  bool sleep_drops_graphs = false;
  // Runs before a plan's first one, whose effects are undone.
  std::uint32_t warm_up_runs = 0;
  // For tests: what arenas hold before a run, and what rows behind the true size do.
  std::optional<std::byte> poison = {};
  PadFill pad_fill = PadFill::kKeep;
  // What watches the runs; its findings and words come with the results of a call.
  InstrumentKind instrument = InstrumentKind::kNone;
};

// vLLM's list: 1, 2, 4, then every 8th below 256, then every 16th, up to and including `max`.
[[nodiscard]] std::vector<std::int64_t> default_capture_sizes(std::int64_t max);

// What the padded symbol becomes: the next larger capture size, as rounded. Nothing above the
// largest, and without capture sizes.
[[nodiscard]] std::optional<std::int64_t> padded_size(const RuntimeOptions& options,
                                                      std::int64_t size);

// The sizes to capture, in the order that keeps pools from growing twice: the largest first.
[[nodiscard]] std::vector<std::int64_t> capture_order(const RuntimeOptions& options);

// kBadInput, naming the option and the number, for sizes that are not positive, not ascending,
// above the maximum, or no multiples, compile sizes that padding changes, and ranges that are empty
// or overlap.
[[nodiscard]] Result<void> validate(const RuntimeOptions& options);

}  // namespace graphgate::optimized
