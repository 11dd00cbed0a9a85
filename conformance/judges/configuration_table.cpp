#include "conformance/judges/configuration_table.h"

#include <algorithm>
#include <map>
#include <set>

namespace graphgate::conformance {
namespace {

std::vector<ConfigurationRow> make_rows() {
  std::vector<ConfigurationRow> rows;
  for (const char* text :
       {"no-reuse", "no-in-place", "no-capture", "compiler=eager", "memory=lines", "memory=pools",
        "max-partition=1", "max-partition=3 reorder=minimize", "partition=split-graph",
        "streams=2 interleaving=1", "mode=full"}) {
    rows.push_back({text, true});
  }
  for (const char* text : {"compiler=standalone",
                           "realize=reads",
                           "realize=bytes",
                           "reorder=simple",
                           "reorder=minimize",
                           "max-partition=2",
                           "max-partition=5 compiler=standalone",
                           "min-partition=3",
                           "partition=split-graph-older",
                           "partition=split-graph max-partition=2",
                           "outputs-apart",
                           "outputs-apart memory=lines",
                           "memory=pools memory-pool=none",
                           "memory=pools memory-pool=outputs",
                           "memory=pools memory-pool=combined",
                           "memory=lines no-in-place",
                           "memory=pools no-in-place",
                           "memory=lines compiler=eager",
                           "memory=pools compiler=eager max-partition=1",
                           "mode=none",
                           "mode=full_and_piecewise",
                           "mode=full_decode_only",
                           "streams=4 interleaving=2",
                           "streams=4 interleaving=7",
                           "streams=2 memory=lines interleaving=3",
                           "streams=3 memory=pools interleaving=5",
                           "streams=4 compiler=eager interleaving=4",
                           "weak-outputs",
                           "share-pools",
                           "weak-outputs share-pools",
                           "share-pools memory=lines",
                           "no-reuse no-in-place no-capture compiler=eager",
                           "no-pass=drop_proven_assertions",
                           "no-pass=noop_elimination",
                           "no-pass=reinplace",
                           "no-pass=fuse_rms_norm",
                           "no-pass=fuse_add_rms_norm",
                           "no-pass=fuse_silu_mul",
                           "no-pass=fuse_norm_quant",
                           "no-pass=fuse_attention_quant",
                           "no-pass=dead_code",
                           "poison=0x00",
                           "poison=0xff",
                           "poison=0x7f memory=lines",
                           "poison=0xff streams=2 interleaving=6"}) {
    rows.push_back({text, false});
  }
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
  rows.push_back({"capture-sizes=" + one, true});
  rows.push_back({"capture-sizes=" + ladder, false});
  for (const char* fill : {"nan", "huge"}) {
    rows.push_back({"capture-sizes=" + one + " pad-fill=" + fill, false});
  }
  rows.push_back({"capture-sizes=" + one + " poison=0xff", false});
  rows.push_back({"capture-sizes=" + one + " share-pools weak-outputs", false});
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
  std::stable_sort(ops.begin(), ops.end(), [&](const std::string& a, const std::string& b) {
    return counts[a] > counts[b];
  });
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
  const auto device = script.options.find("device");
  if (device != script.options.end() && device->second != "host") {
    const bool has_memory = script.options.contains("device-memory");
    rows.push_back({has_memory ? "device=host device-memory=plain" : "device=host", true});
  }
  add_padding(base, rows);
  constexpr std::size_t kMostOps = 4;
  const std::vector<std::string> ops = frequent_ops(script);
  for (std::size_t i = 0; i < std::min(kMostOps, ops.size()); ++i) {
    rows.push_back({"split-op=" + ops[i], i == 0});
    rows.push_back({"split-op=" + ops[i] + " partition=split-graph memory=lines", false});
  }
  return rows;
}

}  // namespace graphgate::conformance
