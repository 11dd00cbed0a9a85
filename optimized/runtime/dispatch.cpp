#include "optimized/runtime/dispatch.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

std::string flag_of(const spec::CallOptions& call, const std::string& name) {
  const auto found = call.flags.find(name);
  if (found == call.flags.end() || found->second == "false" || found->second == "0") return {};
  return found->second;
}

// What the configured mode comes to for one batch.
GraphMode mode_of(const RuntimeOptions& options, const BatchFacts& batch) {
  if (batch.call.mode == spec::CallMode::kEager) return GraphMode::kNone;
  const bool is_uniform = !flag_of(batch.call, "uniform_decode").empty();
  const bool skips_full = !flag_of(batch.call, "cascade_attention").empty();
  switch (options.mode) {
    case GraphMode::kNone:
    case GraphMode::kPiecewise:
      return options.mode;
    case GraphMode::kFull:
      return skips_full ? GraphMode::kNone : GraphMode::kFull;
    case GraphMode::kFullDecodeOnly:
      return is_uniform && !skips_full ? GraphMode::kFull : GraphMode::kNone;
    case GraphMode::kFullAndPiecewise:
      return is_uniform && !skips_full ? GraphMode::kFull : GraphMode::kPiecewise;
  }
  return GraphMode::kNone;
}

// An exact compile size comes before the ranges.
std::optional<SizeRange> range_of(const RuntimeOptions& options, std::optional<std::int64_t> size) {
  if (!size) return {};
  const auto& exact = options.compile_sizes;
  if (std::ranges::find(exact, *size) != exact.end()) {
    return SizeRange{*size, *size + 1};
  }
  const auto found = std::ranges::find_if(options.compile_ranges, [&](const SizeRange& range) {
    return range.begin <= *size && *size < range.end;
  });
  return found == options.compile_ranges.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

Dispatch dispatch(const RuntimeOptions& options, const BatchFacts& batch,
                  const spec::DeviationSet& deviations) {
  Dispatch out;
  out.mode = mode_of(options, batch);
  out.size = batch.size;
  if (batch.size && !options.capture_sizes.empty()) {
    const auto padded = padded_size(options, *batch.size);
    if (!padded) {
      out.mode = GraphMode::kNone;
    } else if (out.mode != GraphMode::kNone && batch.can_pad && *batch.size > 0) {
      out.size = padded;
      out.is_padded = true;
    }
  }
  out.range = range_of(options, out.size);
  if (out.range && deviations.has(spec::Deviation::kRangeSpecializedToEnd)) {
    out.size = out.range->end - 1;
    out.is_range_end = true;
  }
  if (!deviations.has(spec::Deviation::kGraphKeyDropsMode)) {
    out.key["mode"] = graph_mode_name(out.mode);
    const std::string lora = flag_of(batch.call, "lora");
    if (!lora.empty()) out.key["lora"] = lora;
    const std::string uniform = flag_of(batch.call, "uniform_decode");
    if (!uniform.empty()) out.key["uniform_decode"] = uniform;
    const std::string requests = flag_of(batch.call, "num_reqs");
    if (out.mode == GraphMode::kFull && !requests.empty()) out.key["num_reqs"] = requests;
  }
  if (out.range) {
    out.key["range"] = std::to_string(out.range->begin) + ".." + std::to_string(out.range->end - 1);
  }
  return out;
}

CompileOptions options_for(const CompileOptions& options, const Dispatch& dispatch) {
  CompileOptions out = options;
  if (dispatch.mode == GraphMode::kNone) out.partition.capture = false;
  if (dispatch.mode == GraphMode::kFull) out.partition.split_ops.clear();
  if (dispatch.range) out.passes.range = dispatch.range;
  return out;
}

}  // namespace graphgate::optimized
