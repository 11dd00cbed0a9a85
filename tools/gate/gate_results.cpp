#include "tools/gate/gate_results.h"

#include <algorithm>

#include "fuzz/reduce/signature.h"
#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;

constexpr const char* kVersionKey = "graphgate_gate_side";

Json plans_json(const std::vector<conformance::Quality>& plans) {
  Json json = Json::array();
  for (const conformance::Quality& plan : plans) {
    Json numbers = Json::object();
    for (const auto& [name, number] : plan) numbers[name] = number;
    json.push_back(std::move(numbers));
  }
  return json;
}

Result<GateFinding> read_finding(const JsonCursor& object) {
  GRAPHGATE_TRY_VOID(interop::expect_members(object, {"signature", "message"}));
  GateFinding finding;
  GRAPHGATE_TRY(finding.signature, read_string(object, "signature"));
  const auto parsed = fuzz::parse_signature(finding.signature);
  if (!parsed.ok()) return object.error(parsed.error().message);
  GRAPHGATE_TRY(finding.message, read_string(object, "message"));
  return finding;
}

Result<conformance::Quality> read_quality(const JsonCursor& object) {
  conformance::Quality quality;
  GRAPHGATE_TRY(const auto members, object.members());
  for (const auto& [name, value] : members) {
    GRAPHGATE_TRY(const std::int64_t number, value.as_int());
    quality.emplace_back(name, number);
  }
  return quality;
}

Result<spec::TorchRelease> read_release(const JsonCursor& value) {
  GRAPHGATE_TRY(const std::string text, value.as_string());
  if (const auto release = spec::parse_torch_release(text)) return *release;
  return value.error("expected a release of PyTorch as 2.15, found '" + text + "'");
}

}  // namespace

bool did_not_answer(const GateCase& one) {
  const auto is_late = [](const GateFinding& finding) {
    const auto signature = fuzz::parse_signature(finding.signature);
    return signature.ok() &&
           (signature.value().detector == "timeout" || signature.value().rule == "R2.no-answer");
  };
  return one.outcome == spec::Outcome::kTimeout ||
         std::any_of(one.findings.begin(), one.findings.end(), is_late);
}

bool is_slower(const GateCase& one, const GateCase& than, double threshold) {
  return one.answer_seconds.size() >= kTimeLooks && than.answer_seconds.size() >= kTimeLooks &&
         seems_slower(one, than, threshold);
}

bool seems_slower(const GateCase& one, const GateCase& than, double threshold) {
  if (one.answer_seconds.empty() || than.answer_seconds.empty()) return false;
  const double best = *std::min_element(one.answer_seconds.begin(), one.answer_seconds.end());
  const double worst = *std::max_element(than.answer_seconds.begin(), than.answer_seconds.end());
  return best > worst * (1 + threshold) && best - worst >= kLeastSlowerSeconds;
}

Json json_of(const GateCase& one, Times times) {
  Json json;
  json["outcome"] = spec::outcome_name(one.outcome);
  if (!one.reason.empty()) json["reason"] = one.reason;
  if (!one.not_compared.empty()) json["not_compared"] = one.not_compared;
  json["findings"] = Json::array();
  for (const GateFinding& finding : one.findings) {
    json["findings"].push_back({{"signature", finding.signature}, {"message", finding.message}});
  }
  if (one.is_bad_input) json["bad_input"] = true;
  if (one.is_flaky) json["flaky"] = true;
  json["plans"] = plans_json(one.plans);
  if (!one.torch.is_open()) json["torch"] = spec::print_torch_release(one.torch);
  for (const auto& [what, since] : one.version_facts) {
    json["version_facts"][what] = spec::print_torch_release(since);
  }
  if (times == Times::kNone) return json;
  json["seconds"] = one.seconds;
  if (!one.answer_seconds.empty()) json["answer_seconds"] = one.answer_seconds;
  return json;
}

Json json_of(const GateSide& side) {
  Json json;
  json[kVersionKey] = kGateSideVersion;
  json["name"] = side.name;
  if (!side.identity.empty()) json["identity"] = side.identity;
  json["cases"] = Json::object();
  for (const auto& [name, one] : side.cases) json["cases"][name] = json_of(one);
  return json;
}

Result<GateCase> read_gate_case(const JsonCursor& object) {
  GRAPHGATE_TRY_VOID(interop::expect_members(
      object, {"outcome", "reason", "not_compared", "bad_input", "findings", "flaky", "plans",
               "torch", "version_facts", "seconds", "answer_seconds"}));
  GateCase one;
  GRAPHGATE_TRY(one.outcome, read_word(object, "outcome", "an outcome", spec::parse_outcome));
  GRAPHGATE_TRY_VOID(read_optional(object, "reason", one.reason));
  GRAPHGATE_TRY_VOID(read_optional(object, "not_compared", one.not_compared));
  GRAPHGATE_TRY_VOID(read_optional(object, "bad_input", one.is_bad_input));
  GRAPHGATE_TRY_VOID(read_optional(object, "flaky", one.is_flaky));
  GRAPHGATE_TRY_VOID(read_list(object, "findings", one.findings, read_finding));
  GRAPHGATE_TRY_VOID(read_list(object, "plans", one.plans, read_quality));
  GRAPHGATE_TRY_VOID(interop::read_optional(object, "torch", one.torch, read_release));
  GRAPHGATE_TRY(const auto facts, object.find_member("version_facts"));
  if (facts) GRAPHGATE_TRY_VOID(read_members(*facts, one.version_facts, read_release));
  GRAPHGATE_TRY_VOID(
      interop::read_optional(object, "seconds", one.seconds, &JsonCursor::as_double));
  GRAPHGATE_TRY_VOID(
      read_list(object, "answer_seconds", one.answer_seconds, &JsonCursor::as_double));
  return one;
}

Result<GateSide> read_gate_side(const std::string& text, const std::string& file) {
  GRAPHGATE_TRY(const interop::Json json, interop::parse_json(text, file));
  const JsonCursor root(json, file);
  GRAPHGATE_TRY(const JsonCursor version_member, root.member(kVersionKey));
  GRAPHGATE_TRY(const std::int64_t version, version_member.as_int());
  if (version != kGateSideVersion) {
    return version_member.error("version " + std::to_string(version) + " is not known, only " +
                                std::to_string(kGateSideVersion));
  }
  GRAPHGATE_TRY_VOID(interop::expect_members(root, {kVersionKey, "name", "identity", "cases"}));
  GateSide side;
  GRAPHGATE_TRY(side.name, read_string(root, "name"));
  GRAPHGATE_TRY_VOID(read_optional(root, "identity", side.identity));
  GRAPHGATE_TRY(const JsonCursor cases, root.member("cases"));
  GRAPHGATE_TRY_VOID(read_members(cases, side.cases, read_gate_case));
  return side;
}

}  // namespace graphgate::tools
