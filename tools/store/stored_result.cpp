#include "tools/store/stored_result.h"

#include <cstring>
#include <map>

#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;
using spec::HostTensor;

Json row_json(const spec::ProvenanceRow& row, StoredBytes& bytes) {
  return {{"node", row.node},
          {"op", row.op},
          {"port", row.port},
          {"value", row.value},
          {"buffer", row.buffer},
          {"step", row.step},
          {"storage", row.storage},
          {"dtype", spec::torch_name(row.dtype)},
          {"sizes", row.sizes},
          {"strides", row.strides},
          {"storage_offset", row.storage_offset},
          {"words", bytes.words(row.words)}};
}

// Rows with the words of one content share them.
using KnownWords = std::map<const HostTensor*, spec::ProvenanceWords>;

Result<spec::ProvenanceWords> read_words(const JsonCursor& name, const StoredTensors& tensors,
                                         KnownWords& known) {
  GRAPHGATE_TRY(const HostTensor* content, tensors.content_at(name));
  const auto found = known.find(content);
  if (found != known.end()) return found->second;
  const auto& bytes = content->storage->bytes;
  if (bytes.size() % sizeof(spec::ProvenanceWord) != 0) return name.error("are no whole words");
  std::vector<spec::ProvenanceWord> read(bytes.size() / sizeof(spec::ProvenanceWord));
  std::memcpy(read.data(), bytes.data(), bytes.size());
  return known.emplace(content, std::move(read)).first->second;
}

Result<void> read_row(const JsonCursor& object, const StoredTensors& tensors, KnownWords& known,
                      spec::ProvenanceRow& row) {
  GRAPHGATE_TRY(row.node, read_string(object, "node"));
  GRAPHGATE_TRY(row.op, read_string(object, "op"));
  GRAPHGATE_TRY(row.port, read_string(object, "port"));
  GRAPHGATE_TRY(row.value, read_string(object, "value"));
  GRAPHGATE_TRY(row.buffer, read_string(object, "buffer"));
  GRAPHGATE_TRY_VOID(read_optional(object, "step", row.step));
  GRAPHGATE_TRY_VOID(read_optional(object, "storage", row.storage));
  GRAPHGATE_TRY_VOID(read_layout(object, row));
  GRAPHGATE_TRY(const JsonCursor words, object.member("words"));
  GRAPHGATE_TRY(row.words, read_words(words, tensors, known));
  const auto elements = spec::checked_element_count(row.sizes);
  if (!row.words.empty() && elements != static_cast<std::int64_t>(row.words.size())) {
    return words.error("are " + std::to_string(row.words.size()) + ", one for each element");
  }
  return {};
}

}  // namespace

Json stored_finding_json(const spec::Finding& finding) {
  Json json = {{"rule", finding.rule},       {"outcome", spec::outcome_name(finding.outcome)},
               {"message", finding.message}, {"nodes", finding.nodes},
               {"buffers", finding.buffers}, {"ranges", Json::array()},
               {"drawing", finding.drawing}};
  for (const spec::FindingRange& range : finding.ranges) {
    json["ranges"].push_back({{"where", range.where},
                              {"begin_bytes", range.begin_bytes},
                              {"end_bytes", range.end_bytes}});
  }
  return json;
}

Result<void> read_stored_finding(const JsonCursor& object, spec::Finding& finding) {
  GRAPHGATE_TRY(finding.rule, read_string(object, "rule"));
  GRAPHGATE_TRY(finding.outcome, read_outcome(object));
  GRAPHGATE_TRY(finding.message, read_string(object, "message"));
  GRAPHGATE_TRY(finding.nodes, read_strings(object, "nodes"));
  GRAPHGATE_TRY(finding.buffers, read_strings(object, "buffers"));
  GRAPHGATE_TRY(finding.drawing, read_string(object, "drawing"));
  return read_list(object, "ranges", [&](const JsonCursor& each) -> Result<void> {
    spec::FindingRange& range = finding.ranges.emplace_back();
    GRAPHGATE_TRY(range.where, read_string(each, "where"));
    GRAPHGATE_TRY_VOID(read_optional(each, "begin_bytes", range.begin_bytes));
    return read_optional(each, "end_bytes", range.end_bytes);
  });
}

Json result_json(const spec::CallResult& result, StoredBytes& bytes) {
  Json json;
  json["outputs"] = bytes.values(result.outputs);
  json["final_inputs"] = bytes.values(result.final_inputs);
  json["final_states"] = Json::array();
  for (std::size_t i = 0; i < result.final_states.size(); ++i) {
    json["final_states"].push_back(
        {{"name", result.state_targets[i]}, {"tensor", bytes.tensor(result.final_states[i])}});
  }
  json["findings"] = Json::array();
  for (const spec::Finding& finding : result.findings) {
    json["findings"].push_back(stored_finding_json(finding));
  }
  json["provenance"] = Json::array();
  for (const auto& row : result.provenance) json["provenance"].push_back(row_json(row, bytes));
  return json;
}

Result<spec::CallResult> read_result(const JsonCursor& object, const StoredTensors& tensors) {
  spec::CallResult result;
  GRAPHGATE_TRY(result.outputs, tensors.read_values<spec::OutputValue>(object, "outputs"));
  GRAPHGATE_TRY(result.final_inputs, tensors.read_values<spec::InputValue>(object, "final_inputs"));
  std::map<std::string, HostTensor> states;  // in the order of every executor of ours
  GRAPHGATE_TRY_VOID(
      tensors.read_tensors(object, "final_states", [&](const std::string& name, HostTensor tensor) {
        states.insert_or_assign(name, std::move(tensor));
      }));
  for (auto& [name, tensor] : states) {
    result.state_targets.push_back(name);
    result.final_states.push_back(std::move(tensor));
  }
  GRAPHGATE_TRY_VOID(read_list(object, "findings", [&](const JsonCursor& each) {
    return read_stored_finding(each, result.findings.emplace_back());
  }));
  KnownWords known;
  GRAPHGATE_TRY_VOID(read_list(object, "provenance", [&](const JsonCursor& each) {
    return read_row(each, tensors, known, result.provenance.emplace_back());
  }));
  return result;
}

}  // namespace graphgate::tools
