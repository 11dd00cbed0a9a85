#include "optimized/runtime/resolve_mode.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

using spec::Deviation;

bool captures_decode_whole(GraphMode mode) {
  return mode == GraphMode::kFull || mode == GraphMode::kFullDecodeOnly ||
         mode == GraphMode::kFullAndPiecewise;
}

GraphMode without_split_ops(GraphMode mode) {
  if (mode == GraphMode::kPiecewise) return GraphMode::kNone;
  return mode == GraphMode::kFullAndPiecewise ? GraphMode::kFull : mode;
}

Result<GraphMode> supported(GraphMode mode, AttentionSupport support, std::int64_t query_length,
                            bool has_split_ops) {
  if (mode == GraphMode::kFull && support == AttentionSupport::kNever) {
    return bad_input("mode full captures attention, which is never captured: ask for piecewise");
  }
  if (mode == GraphMode::kFull && support != AttentionSupport::kAlways) {
    mode = has_split_ops ? GraphMode::kFullAndPiecewise : GraphMode::kFullDecodeOnly;
  }
  const bool is_short = support == AttentionSupport::kNever ||
                        (query_length > 1 && support == AttentionSupport::kSingleTokenDecode);
  if (!captures_decode_whole(mode) || !is_short) return mode;
  return has_split_ops ? GraphMode::kPiecewise : GraphMode::kNone;
}

// Rounded up to whole requests; what lies above the largest size then goes.
Result<void> round_sizes(RuntimeOptions& options) {
  const std::int64_t length = options.query_length;
  if (options.capture_sizes.empty()) return {};
  const std::int64_t most =
      options.max_capture_size > 0 ? options.max_capture_size : options.capture_sizes.back();
  std::vector<std::int64_t> rounded;
  for (const std::int64_t size : options.capture_sizes) {
    const std::int64_t whole = (size + length - 1) / length * length;
    if (whole <= most && (rounded.empty() || rounded.back() < whole)) rounded.push_back(whole);
  }
  if (rounded.empty()) {
    return bad_input("no capture size up to " + std::to_string(most) + " holds a request of " +
                     std::to_string(length) + " tokens");
  }
  options.capture_sizes = std::move(rounded);
  return {};
}

}  // namespace

Result<RuntimeOptions> resolve_mode(RuntimeOptions options, bool has_split_ops,
                                    const spec::DeviationSet& deviations) {
  if (options.attention_support && !deviations.has(Deviation::kFullWithoutSupport)) {
    const GraphMode asked = has_split_ops ? options.mode : without_split_ops(options.mode);
    GRAPHGATE_TRY(options.mode, supported(asked, *options.attention_support, options.query_length,
                                          has_split_ops));
  }
  const bool rounds = options.query_length > 1 && captures_decode_whole(options.mode);
  if (rounds && !deviations.has(Deviation::kIgnoresQueryLength)) {
    GRAPHGATE_TRY_VOID(round_sizes(options));
  }
  return options;
}

}  // namespace graphgate::optimized
