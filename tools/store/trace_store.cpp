// Writing stored runs; trace_store_reader.cpp reads them.
#include "tools/store/trace_store.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/temporary_folder.h"
#include "conformance/run/runs.h"
#include "interop/plan_json.h"
#include "spec/graph_text.h"
#include "spec/plan_text.h"
#include "spec/sleep_text.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/store/promises.h"
#include "tools/store/stored_result.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using namespace conformance;
using spec::HostTensor;

Json port_json(const ScriptPort& port) {
  return {{"program", port.program}, {"index", port.index}};
}

Json error_json(const Error& error) {
  return {{"kind", static_cast<int>(error.kind)}, {"message", error.message}};
}

class RunWriter {
 public:
  RunWriter(fs::path folder, const Script& script) : folder_(std::move(folder)), script_(script) {}

  Result<void> write(const RunHead& head, const conformance::SubjectTraces& traces) {
    Json json;
    json["graphgate_run"] = kStoredRunVersion;
    json["executor"] = head.executor;
    json["is_case"] = head.is_case;
    json["recorded"] = head.recorded;
    json["arithmetic"] = head.promises.arithmetic;
    json["kernels"] = head.promises.kernels;
    json["split_sums"] = head.promises.split_sums;
    if (head.promises.has_tf32_convolutions) json["tf32"] = {"convolution"};
    json["layouts"] = layouts_word(head.promises);
    json["torch"] = spec::print_torch_release(head.promises.torch);
    GRAPHGATE_TRY(json["script"], script_json());
    json["traces"] = Json::array();
    for (const auto& [changes, trace] : traces) {
      GRAPHGATE_TRY(Json one, trace_json(*trace));
      one["changes"] = changes;
      json["traces"].push_back(std::move(one));
    }
    json["storages"] = pool_.storages();
    GRAPHGATE_TRY_VOID(
        interop::write_safetensors((folder_ / "tensors.safetensors").string(), pool_.contents()));
    return write_text(print_json(json), (folder_ / "run.json").string());
  }

 private:
  Result<Json> script_json() {
    Json json;
    json["name"] = script_.name;
    json["options"] = script_.options;
    json["ops"] = ops_json(*script_.ops);
    json["expect"] = {{"outcome", spec::outcome_name(script_.expectation.outcome)},
                      {"detail", script_.expectation.detail}};
    if (const auto& refusal = script_.expectation.refusal) {
      json["expect"]["refused_call"] = refusal->call;
      json["expect"]["refusal"] = refusal->text;
    }
    json["programs"] = Json::array();
    for (std::size_t p = 0; p < script_.programs.size(); ++p) {
      const spec::Program& program = *script_.programs[p];
      const std::string file = "program" + std::to_string(p) + ".txt";
      GRAPHGATE_TRY_VOID(
          write_text(spec::print_program(program, *script_.ops), (folder_ / file).string()));
      json["programs"].push_back({{"file", file}, {"tensors", pool_.named(program.tensors)}});
    }
    json["steps"] = Json::array();
    for (const ScriptStep& step : script_.steps) {
      json["steps"].push_back(
          std::visit([this](const auto& what) { return step_json(what); }, step));
    }
    return json;
  }

  Json step_json(const ScriptCall& call) {
    Json json;
    json["program"] = call.program;
    if (call.options.mode) {
      json["mode"] = call.options.mode == spec::CallMode::kEager ? "eager" : "captured";
    }
    json["flags"] = call.options.flags;
    json["inputs"] = pool_.values(call.inputs);
    if (call.expected) json["expected"] = expected_json(*call.expected);
    return {{"call", json}};
  }

  Json expected_json(const ExpectedCall& expected) {
    Json json;
    json["is_partial"] = expected.is_partial;
    json["outputs"] = pool_.values(expected.outputs);
    json["geometries"] = Json::array();
    for (const auto& geometry : expected.geometries) {
      json["geometries"].push_back(geometry ? geometry_json(*geometry) : Json(nullptr));
    }
    json["shared_with"] = expected.shared_with;
    json["final_inputs"] = Json::array();
    for (const auto& [index, tensor] : expected.final_inputs) {
      json["final_inputs"].push_back({{"index", index}, {"tensor", pool_.tensor(tensor)}});
    }
    json["final_states"] = pool_.named(expected.final_states);
    return json;
  }

  static Json geometry_json(const Geometry& geometry) {
    Json json = {{"dtype", spec::torch_name(geometry.dtype)},
                 {"sizes", geometry.sizes},
                 {"strides", geometry.strides},
                 {"storage_offset", geometry.storage_offset}};
    if (geometry.device) json["device"] = spec::print_device(*geometry.device);
    return json;
  }

  Json step_json(const ScriptHold& hold) { return {{"hold", port_json(hold.output)}}; }
  Json step_json(const ScriptRelease& release) { return {{"release", port_json(release.output)}}; }
  Json step_json(const ScriptSwap& swap) {
    return {{"swap",
             {{"program", swap.program},
              {"values", pool_.named(swap.values)},
              {"rebind", swap.rebind}}}};
  }
  Json step_json(const ScriptFeedBack& feed_back) {
    return {{"feed_back",
             {{"output", port_json(feed_back.output)}, {"input", port_json(feed_back.input)}}}};
  }
  Json step_json(const ScriptStatic& kept) { return {{"static", port_json(kept.input)}}; }
  Json step_json(const ScriptCheck& check) {
    return {{"check", check.what == spec::CheckStep::What::kHeld ? "held" : "state"}};
  }
  Json step_json(const ScriptSleep& sleep) {
    return {{"sleep", {{"level", sleep.asked.level}, {"caches", sleep.asked.caches}}}};
  }
  Json step_json(const ScriptWake& wake) {
    return {{"wake", wake.part ? spec::sleep_part_name(*wake.part) : "all"}};
  }
  Json step_json(const ScriptRestart& restart) {
    Json json = {{"changes", restart.changes}};
    if (restart.ops) json["ops"] = ops_json(*restart.ops);
    return {{"restart", json}};
  }

  Result<Json> trace_json(const Trace& trace) {
    Json json;
    json["changes"] = Json::object();
    json["executor"] = trace.executor;
    json["configuration"] = trace.configuration;
    json["is_loaded"] = trace.is_loaded;
    if (trace.error) {
      json["error"] = error_json(*trace.error);
      json["error"]["step"] = trace.error_step;
      if (trace.is_refusal_due) json["error"]["is_due"] = true;
    }
    if (trace.closing_error) {
      json["closing_error"] = error_json(*trace.closing_error);
    }
    for (const char* place : {"error", "closing_error"}) {
      if (!json.contains(place)) continue;
      if (trace.has_ended) json[place]["has_ended"] = true;
      if (trace.is_late) json[place]["is_late"] = true;
      break;
    }
    json["once_findings"] = Json::array();
    for (const spec::Finding& finding : trace.once_findings) {
      json["once_findings"].push_back(stored_finding_json(finding));
    }
    json["calls"] = Json::array();
    for (const CallRecord& call : trace.calls) {
      GRAPHGATE_TRY(Json one, call_json(call));
      json["calls"].push_back(std::move(one));
    }
    json["held"] = Json::array();
    for (const HeldRecord& held : trace.held) json["held"].push_back(held_json(held));
    return json;
  }

  Result<Json> call_json(const CallRecord& call) {
    Json json;
    json["step"] = call.step;
    json["program"] = call.program;
    if (call.plan) {
      GRAPHGATE_TRY(json["plan"], plan_file(call.plan));
    }
    json["inputs"] = pool_.values(call.inputs);
    json.update(result_json(call.result, pool_));
    return json;
  }

  // A plan that is not well formed has no text: JSON keeps it as it is.
  Result<Json> plan_file(const std::shared_ptr<const spec::Plan>& plan) {
    const auto known = plans_.find(plan.get());
    if (known != plans_.end()) return Json(known->second);
    std::string file = "plan" + std::to_string(plans_.size());
    std::string text;
    if (spec::check_plan(*plan).ok()) {
      file += ".plan";
      text = spec::print_plan(*plan, *script_.ops);
    } else {
      file += kMalformedPlan;
      GRAPHGATE_TRY(text, interop::print_plan_json(*plan, interop::PlanReferences::kByNumber));
    }
    GRAPHGATE_TRY_VOID(write_text(text, (folder_ / file).string()));
    return Json(plans_.emplace(plan.get(), file).first->second);
  }

  Json held_json(const HeldRecord& held) {
    Json json = {{"step", held.step},
                 {"held_at", held.held_at},
                 {"output", port_json(held.output)},
                 {"then", pool_.tensor(held.then)}};
    if (held.now) json["now"] = pool_.tensor(*held.now);
    if (!held.refusal.empty()) json["refusal"] = held.refusal;
    return json;
  }

  const fs::path folder_;
  const Script& script_;
  StoredBytes pool_;
  std::map<const spec::Plan*, std::string> plans_;
};

Error cannot(const std::string& folder, const char* what, const std::error_code& why) {
  return infrastructure(folder + ": cannot be " + what + ": " + why.message());
}

// Puts the finished folder in its place. A stored run that was there goes.
Result<void> put_in_place(TemporaryFolder& made, const fs::path& folder) {
  std::error_code failed;
  GRAPHGATE_TRY(const bool is_there, graphgate::is_there(folder.string()));
  const std::string whole = made.path();
  if (!is_there) {
    fs::rename(whole, folder, failed);
    if (failed) return cannot(folder.string(), "made", failed);
    made.keep_as(folder.string());
    return {};
  }
  GRAPHGATE_TRY(const bool is_run, graphgate::is_there((folder / "run.json").string()));
  const bool is_ours = is_run || fs::is_empty(folder, failed);
  if (failed || !is_ours) return infrastructure(folder.string() + ": is no stored run");
  GRAPHGATE_TRY(const TemporaryFolder aside, TemporaryFolder::beside(folder.string()));
  const fs::path old = fs::path(aside.path()) / "old";
  fs::rename(folder, old, failed);
  if (failed) return cannot(folder.string(), "replaced", failed);
  fs::rename(whole, folder, failed);
  if (failed) {
    const std::error_code why = failed;
    fs::rename(old, folder, failed);
    return cannot(folder.string(), "replaced", why);
  }
  made.keep_as(folder.string());
  return {};
}

// The folder that is meant: without a slash at its end, links followed.
std::string meant(const std::string& folder) {
  std::error_code unknown;
  const fs::path followed = fs::canonical(folder, unknown);
  if (!unknown) return followed.string();
  const std::size_t end = folder.find_last_not_of('/');
  return end == std::string::npos ? folder : folder.substr(0, end + 1);
}

}  // namespace

Result<void> write_run(const std::string& folder, const Script& script, const RunHead& head,
                       const conformance::SubjectTraces& traces) {
  const std::string path = meant(folder);
  std::error_code failed;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, failed);
  if (failed) return cannot(folder, "made", failed);
  auto made = TemporaryFolder::beside(path);
  if (!made.ok()) return made.error();
  GRAPHGATE_TRY_VOID(RunWriter(made.value().path(), script).write(head, traces));
  return put_in_place(made.value(), path);
}

}  // namespace graphgate::tools
