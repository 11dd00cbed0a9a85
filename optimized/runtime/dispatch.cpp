#include "optimized/runtime/dispatch.h"

#include <algorithm>
#include <charconv>

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

// A full graph of decode batches is there for sizes that hold a request, and no more of them than
// there can be; others take what mixed batches take.
GraphMode mode_for_size(const RuntimeOptions& options, GraphMode mode, std::int64_t size) {
  const bool is_apart =
      options.mode == GraphMode::kFullDecodeOnly || options.mode == GraphMode::kFullAndPiecewise;
  if (mode != GraphMode::kFull || !is_apart || options.max_requests == 0) return mode;
  const bool is_there =
      size >= options.query_length && size <= options.query_length * options.max_requests;
  if (is_there) return mode;
  return options.mode == GraphMode::kFullDecodeOnly ? GraphMode::kNone : GraphMode::kPiecewise;
}

// Adapters of the graph that serves a call with so many: the next larger number that is captured.
std::string captured_loras(const RuntimeOptions& options, const std::string& asked) {
  std::int64_t count = 0;
  const auto [stop, code] = std::from_chars(asked.data(), asked.data() + asked.size(), count);
  const bool is_number = code == std::errc() && stop == asked.data() + asked.size();
  if (options.max_loras == 0 || !is_number || count > options.max_loras + 1) return asked;
  std::int64_t captured = 1;
  while (captured < count) captured *= 2;
  return std::to_string(std::min(captured, options.max_loras + 1));
}

// Requests of a full graph. Without a cap a call's own number tells graphs apart.
std::string requests_of(const RuntimeOptions& options, const Dispatch& out, bool is_uniform,
                        const std::string& asked, const spec::DeviationSet& deviations) {
  if (options.max_requests == 0 || !out.size) return asked;
  const std::int64_t requests = is_uniform ? *out.size / options.query_length : *out.size;
  const bool is_capped = !deviations.has(spec::Deviation::kRequestsAboveTheCap);
  return std::to_string(is_capped ? std::min(requests, options.max_requests) : requests);
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
  if (out.size) out.mode = mode_for_size(options, out.mode, *out.size);
  out.range = range_of(options, out.size);
  if (out.range && deviations.has(spec::Deviation::kRangeSpecializedToEnd)) {
    out.size = out.range->end - 1;
    out.is_range_end = true;
  }
  if (!deviations.has(spec::Deviation::kGraphKeyDropsMode)) {
    out.key["mode"] = graph_mode_name(out.mode);
    const std::string lora = flag_of(batch.call, "lora");
    const bool is_rounded = !deviations.has(spec::Deviation::kLorasUnrounded);
    if (!lora.empty()) out.key["lora"] = is_rounded ? captured_loras(options, lora) : lora;
    const std::string uniform = flag_of(batch.call, "uniform_decode");
    if (!uniform.empty()) out.key["uniform_decode"] = uniform;
    const std::string requests =
        requests_of(options, out, !uniform.empty(), flag_of(batch.call, "num_reqs"), deviations);
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
