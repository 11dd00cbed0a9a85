#include "conformance/judges/configuration_table.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

using Settings = std::initializer_list<std::pair<const char*, std::string>>;

ConfigurationRow row_of(Settings settings, bool is_common) {
  ConfigurationRow row{{}, {}, is_common};
  for (const auto& [name, value] : settings) {
    row.text += (row.text.empty() ? "" : " ") + print_configuration({{name, value}});
    row.options[name] = value;
  }
  return row;
}

std::vector<ConfigurationRow> make_rows() {
  std::vector<ConfigurationRow> rows;
  const auto common = [&](Settings settings) { rows.push_back(row_of(settings, true)); };
  const auto rare = [&](Settings settings) { rows.push_back(row_of(settings, false)); };
  common({{option::kNoReuse, ""}});
  common({{option::kNoInPlace, ""}});
  common({{option::kNoCapture, ""}});
  common({{option::kCompiler, "eager"}});
  common({{option::kMemory, "lines"}});
  common({{option::kMemory, "pools"}});
  common({{option::kMaxPartition, "1"}});
  common({{option::kMaxPartition, "3"}, {option::kReorder, "minimize"}});
  common({{option::kPartition, "split-graph"}});
  common({{option::kStreams, "2"}, {option::kInterleaving, "1"}});
  common({{option::kMode, "full"}});

  rare({{option::kCompiler, "standalone"}});
  rare({{option::kRealize, "reads"}});
  rare({{option::kRealize, "bytes"}});
  rare({{option::kReorder, "simple"}});
  rare({{option::kReorder, "minimize"}});
  rare({{option::kMaxPartition, "2"}});
  rare({{option::kMaxPartition, "5"}, {option::kCompiler, "standalone"}});
  rare({{option::kMinPartition, "3"}});
  rare({{option::kPartition, "split-graph-older"}});
  rare({{option::kPartition, "split-graph"}, {option::kMaxPartition, "2"}});
  rare({{option::kOutputsApart, ""}});
  rare({{option::kOutputsApart, ""}, {option::kMemory, "lines"}});
  rare({{option::kMemory, "pools"}, {option::kMemoryPool, "none"}});
  rare({{option::kMemory, "pools"}, {option::kMemoryPool, "outputs"}});
  rare({{option::kMemory, "pools"}, {option::kMemoryPool, "combined"}});
  rare({{option::kMemory, "lines"}, {option::kNoInPlace, ""}});
  rare({{option::kMemory, "pools"}, {option::kNoInPlace, ""}});
  rare({{option::kMemory, "lines"}, {option::kCompiler, "eager"}});
  rare({{option::kMemory, "pools"}, {option::kCompiler, "eager"}, {option::kMaxPartition, "1"}});
  rare({{option::kMode, "none"}});
  rare({{option::kMode, "full_and_piecewise"}});
  rare({{option::kMode, "full_decode_only"}});
  rare({{option::kStreams, "4"}, {option::kInterleaving, "2"}});
  rare({{option::kStreams, "4"}, {option::kInterleaving, "7"}});
  rare({{option::kStreams, "2"}, {option::kMemory, "lines"}, {option::kInterleaving, "3"}});
  rare({{option::kStreams, "3"}, {option::kMemory, "pools"}, {option::kInterleaving, "5"}});
  rare({{option::kStreams, "4"}, {option::kCompiler, "eager"}, {option::kInterleaving, "4"}});
  rare({{option::kWeakOutputs, ""}});
  rare({{option::kSharePools, ""}});
  rare({{option::kWeakOutputs, ""}, {option::kSharePools, ""}});
  rare({{option::kSharePools, ""}, {option::kMemory, "lines"}});
  rare({{option::kNoReuse, ""},
        {option::kNoInPlace, ""},
        {option::kNoCapture, ""},
        {option::kCompiler, "eager"}});
  rare({{option::kNoPass, "drop_proven_assertions"}});
  rare({{option::kNoPass, "noop_elimination"}});
  rare({{option::kNoPass, "reinplace"}});
  rare({{option::kNoPass, "fuse_rms_norm"}});
  rare({{option::kNoPass, "fuse_add_rms_norm"}});
  rare({{option::kNoPass, "fuse_silu_mul"}});
  rare({{option::kNoPass, "fuse_norm_quant"}});
  rare({{option::kNoPass, "fuse_attention_quant"}});
  rare({{option::kNoPass, "dead_code"}});
  rare({{option::kPoison, "0x00"}});
  rare({{option::kPoison, "0xff"}});
  rare({{option::kPoison, "0x7f"}, {option::kMemory, "lines"}});
  rare({{option::kPoison, "0xff"}, {option::kStreams, "2"}, {option::kInterleaving, "6"}});
  return rows;
}

// The largest value that each symbol had in any plan.
std::map<std::string, std::int64_t> largest_symbols(const Trace& base) {
  std::map<std::string, std::int64_t> largest;
  for (const CallRecord& call : base.calls) {
    if (!call.plan) continue;
    for (const auto& [symbol, value] : call.plan->symbols) {
      std::int64_t& most = largest[symbol];
      most = std::max(most, value);
    }
  }
  return largest;
}

void add_padding(const Trace& base, std::vector<ConfigurationRow>& rows) {
  std::int64_t most = 0;
  for (const auto& [symbol, value] : largest_symbols(base)) most = std::max(most, value);
  if (most == 0) return;
  // One size that every call pads to, and a ladder with a size between most calls and the next.
  const std::string one = std::to_string(most + 3);
  std::string ladder;
  for (std::int64_t size = 2; size <= most + 2; size += std::max<std::int64_t>(2, size / 2)) {
    ladder += (ladder.empty() ? "" : ",") + std::to_string(size);
  }
  rows.push_back(row_of({{option::kCaptureSizes, one}}, true));
  rows.push_back(row_of({{option::kCaptureSizes, ladder}}, false));
  for (const char* fill : {"nan", "huge"}) {
    rows.push_back(row_of({{option::kCaptureSizes, one}, {option::kPadFill, fill}}, false));
  }
  rows.push_back(row_of({{option::kCaptureSizes, one}, {option::kPoison, "0xff"}}, false));
  rows.push_back(
      row_of({{option::kCaptureSizes, one}, {option::kSharePools, ""}, {option::kWeakOutputs, ""}},
             false));
}

// Ops of the programs, the most frequent first: cutting at these cuts everywhere.
std::vector<std::string> frequent_ops(const Script& script) {
  std::map<std::string, std::size_t> counts;
  for (const auto& program : script.programs) {
    for (const spec::Node& node : program->graph.nodes) {
      if (script.ops && script.ops->find(node.op)) ++counts[node.op];
    }
  }
  std::vector<std::string> ops;
  for (const auto& [op, count] : counts) {
    if (!op.starts_with("_operator.")) ops.push_back(op);
  }
  std::ranges::stable_sort(
      ops, [&](const std::string& a, const std::string& b) { return counts[a] > counts[b]; });
  return ops;
}

}  // namespace

const std::vector<ConfigurationRow>& configuration_rows() {
  static const std::vector<ConfigurationRow> kRows = make_rows();
  return kRows;
}

Configuration parse_configuration(const std::string& text) {
  Configuration out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t equal = word.find('=');
    if (equal == std::string::npos) {
      out[word] = "";
    } else {
      out[word.substr(0, equal)] = word.substr(equal + 1);
    }
    at = end + 1;
  }
  return out;
}

std::vector<ConfigurationRow> derived_rows(const Script& script, const Trace& base) {
  std::vector<ConfigurationRow> rows;
  if (spec::value_of(script.options, option::kDevice, "host") != "host") {
    const bool has_memory = script.options.contains(option::kDeviceMemory);
    rows.push_back(has_memory
                       ? row_of({{option::kDevice, "host"}, {option::kDeviceMemory, "plain"}}, true)
                       : row_of({{option::kDevice, "host"}}, true));
  }
  add_padding(base, rows);
  constexpr std::size_t kMostOps = 4;
  const std::vector<std::string> ops = frequent_ops(script);
  for (std::size_t i = 0; i < std::min(kMostOps, ops.size()); ++i) {
    rows.push_back(row_of({{option::kSplitOp, ops[i]}}, i == 0));
    rows.push_back(row_of({{option::kSplitOp, ops[i]},
                           {option::kPartition, "split-graph"},
                           {option::kMemory, "lines"}},
                          false));
  }
  return rows;
}

}  // namespace graphgate::conformance
