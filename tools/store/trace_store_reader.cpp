// Reading stored runs; the writer is trace_store.cpp.
#include <algorithm>
#include <filesystem>

#include "base/file_io.h"
#include "interop/json_stream.h"
#include "interop/plan_json.h"
#include "spec/option.h"
#include "spec/plan_text.h"
#include "tools/store/programs.h"
#include "tools/store/promises.h"
#include "tools/store/stored_result.h"
#include "tools/store/trace_store.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using namespace conformance;
using interop::JsonCursor;

class RunReader {
 public:
  explicit RunReader(const fs::path& folder) : folder_(folder) {}

  Result<StoredRun> read() {
    const std::string path = (folder_ / "run.json").string();
    GRAPHGATE_TRY(const std::string text, read_text(path));
    GRAPHGATE_TRY(const interop::Json json, interop::parse_json(text, path));
    const JsonCursor root(json, path);
    GRAPHGATE_TRY(const JsonCursor version, root.member("graphgate_run"));
    GRAPHGATE_TRY(const std::int64_t number, version.as_int());
    if (number != kStoredRunVersion) {
      return version.error("expected version " + std::to_string(kStoredRunVersion) +
                           " of stored runs, found version " + std::to_string(number));
    }
    GRAPHGATE_TRY(tensors_, StoredTensors::open(folder_, root));
    StoredRun run;
    GRAPHGATE_TRY(run.executor, read_string(root, "executor"));
    GRAPHGATE_TRY_VOID(read_optional(root, "is_case", run.is_case));
    GRAPHGATE_TRY_VOID(read_optional(root, "recorded", run.recorded));
    GRAPHGATE_TRY(run.promises, read_promises(root));
    GRAPHGATE_TRY(const JsonCursor script, root.member("script"));
    GRAPHGATE_TRY(script_, read_stored_script(folder_, script, tensors_));
    GRAPHGATE_TRY_VOID(
        read_list(root, "traces", [&](const JsonCursor& each) { return read_trace(each, run); }));
    run.script = std::move(script_);
    return run;
  }

 private:
  Result<void> read_trace(const JsonCursor& object, StoredRun& run) {
    auto trace = std::make_unique<Trace>();
    GRAPHGATE_TRY(trace->executor, read_string(object, "executor"));
    GRAPHGATE_TRY(trace->configuration, read_configuration(object, "configuration"));
    GRAPHGATE_TRY_VOID(read_optional(object, "is_loaded", trace->is_loaded));
    GRAPHGATE_TRY(const auto error, object.find_member("error"));
    if (error) {
      GRAPHGATE_TRY_VOID(read_end(*error, trace->error, *trace));
      GRAPHGATE_TRY(trace->error_step, read_index(*error, "step"));
      GRAPHGATE_TRY_VOID(read_optional(*error, "is_due", trace->is_refusal_due));
    }
    GRAPHGATE_TRY(const auto closing, object.find_member("closing_error"));
    if (closing) GRAPHGATE_TRY_VOID(read_end(*closing, trace->closing_error, *trace));
    GRAPHGATE_TRY_VOID(
        read_list(object, "calls", trace->calls, std::bind_front(&RunReader::read_record, this)));
    GRAPHGATE_TRY_VOID(
        read_list(object, "held", trace->held, std::bind_front(&RunReader::read_held, this)));
    GRAPHGATE_TRY(const auto once, object.find_member("once_findings"));
    if (once) {
      GRAPHGATE_TRY_VOID(read_list(object, "once_findings", [&](const JsonCursor& each) {
        return read_stored_finding(each, trace->once_findings.emplace_back());
      }));
    } else {
      leave_refusal_open(*trace);
    }
    GRAPHGATE_TRY(const Configuration changes, read_configuration(object, "changes"));
    run.traces.insert_or_assign(changes, std::move(trace));
    return {};
  }

  // Older files do not say whether a refusal was due: nobody is blamed
  // for one that may have been.
  void leave_refusal_open(Trace& trace) const {
    if (!trace.error || trace.error->kind != ErrorKind::kBadInput) return;
    const std::string_view wrapper =
        spec::value_of(trace.configuration, spec::option::kWrapper, "none");
    const bool may_sleep = std::ranges::any_of(script_.steps, [](const ScriptStep& step) {
      return std::holds_alternative<ScriptSleep>(step);
    });
    if (wrapper == "none" && !may_sleep) return;
    trace.error = unsupported(
        "the stored run does not say whether this refusal was due, record it "
        "again: " +
        trace.error->message);
  }

  static Result<void> read_end(const JsonCursor& object, std::optional<Error>& end, Trace& trace) {
    GRAPHGATE_TRY(const std::size_t kind, read_index(object, "kind"));
    if (kind > static_cast<std::size_t>(ErrorKind::kInternal)) {
      return object.error("there is no such kind");
    }
    GRAPHGATE_TRY(std::string message, read_string(object, "message"));
    GRAPHGATE_TRY_VOID(read_optional(object, "is_late", trace.is_late));
    GRAPHGATE_TRY_VOID(read_optional(object, "has_ended", trace.has_ended));
    end = Error{static_cast<ErrorKind>(kind), std::move(message)};
    return {};
  }

  Result<CallRecord> read_record(const JsonCursor& object) {
    CallRecord call;
    GRAPHGATE_TRY(call.step, read_index(object, "step"));
    const bool is_call = call.step < script_.steps.size() &&
                         std::holds_alternative<ScriptCall>(script_.steps[call.step]);
    if (!is_call) return object.error("the step is no call");
    GRAPHGATE_TRY(call.program, read_program_index(object, script_.programs.size()));
    std::string plan;
    GRAPHGATE_TRY_VOID(read_optional(object, "plan", plan));
    if (!plan.empty()) {
      GRAPHGATE_TRY(call.plan, read_plan(plan));
    }
    GRAPHGATE_TRY(call.inputs, tensors_.read_values<spec::InputValue>(object, "inputs"));
    GRAPHGATE_TRY(call.result, read_result(object, tensors_));
    return call;
  }

  Result<std::shared_ptr<const spec::Plan>> read_plan(const std::string& file) {
    const auto known = plans_.find(file);
    if (known != plans_.end()) return known->second;
    const std::string path = (folder_ / file).string();
    GRAPHGATE_TRY(const std::string text, read_text(path));
    spec::Plan plan;
    if (file.ends_with(kMalformedPlan)) {
      GRAPHGATE_TRY(plan, interop::read_plan_json(text, path, interop::PlanReferences::kByNumber));
    } else {
      GRAPHGATE_TRY(plan, spec::parse_plan(text, *script_.ops, path));
      const auto valid = spec::check_plan(plan);
      if (!valid.ok()) return valid.error().at(path);
    }
    return plans_.emplace(file, std::make_shared<const spec::Plan>(std::move(plan))).first->second;
  }

  Result<HeldRecord> read_held(const JsonCursor& object) const {
    HeldRecord held;
    GRAPHGATE_TRY(held.step, read_index(object, "step"));
    GRAPHGATE_TRY(held.held_at, read_index(object, "held_at"));
    GRAPHGATE_TRY(const JsonCursor output, object.member("output"));
    GRAPHGATE_TRY(held.output.program, read_program_index(output, script_.programs.size()));
    GRAPHGATE_TRY(held.output.index, read_index(output, "index"));
    const auto read = std::bind_front(&StoredTensors::read_tensor, &tensors_);
    GRAPHGATE_TRY(held.then, read_member(object, "then", read));
    GRAPHGATE_TRY_VOID(read_optional(object, "now", held.now, read));
    GRAPHGATE_TRY_VOID(read_optional(object, "refusal", held.refusal));
    return held;
  }

  const fs::path folder_;
  StoredTensors tensors_;
  Script script_;
  std::map<std::string, std::shared_ptr<const spec::Plan>> plans_;
};

}  // namespace

Result<StoredRun> read_run(const std::string& folder) { return RunReader(folder).read(); }

Result<std::vector<std::string>> find_runs(const std::string& folder) {
  const auto is_run = [](const std::string& path) {
    return graphgate::is_there(path + "/run.json");
  };
  GRAPHGATE_TRY(const bool is_one, is_run(folder));
  if (is_one) return std::vector{folder};
  std::vector<std::string> found;
  GRAPHGATE_TRY(const auto folders, list_files(folder, "", Depth::kFolder));
  for (const std::string& each : folders) {
    GRAPHGATE_TRY(const bool is_kept, is_run(each));
    if (is_kept) found.push_back(each);
  }
  if (found.empty()) return bad_input(folder + ": holds no stored run");
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace graphgate::tools
