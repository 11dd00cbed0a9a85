// Reading the script of a stored run; declared in stored_tensors.h.
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "spec/sleep_text.h"
#include "tools/store/programs.h"
#include "tools/store/stored_tensors.h"

namespace graphgate::tools {
namespace {

using namespace conformance;
using interop::JsonCursor;
using spec::HostTensor;

class ScriptReader {
 public:
  ScriptReader(const std::filesystem::path& folder, const StoredTensors& tensors)
      : folder_(folder), tensors_(tensors) {}

  Result<Script> read(const JsonCursor& object) {
    GRAPHGATE_TRY_VOID(read_all(object));
    return std::move(script_);
  }

 private:
  Result<void> read_all(const JsonCursor& object) {
    GRAPHGATE_TRY(script_.name, read_string(object, "name"));
    GRAPHGATE_TRY(script_.options, read_configuration(object, "options"));
    GRAPHGATE_TRY(script_.ops, read_ops(object, "ops"));
    GRAPHGATE_TRY(const JsonCursor expect, object.member("expect"));
    GRAPHGATE_TRY(script_.expectation.outcome, read_outcome(expect));
    GRAPHGATE_TRY(script_.expectation.detail, read_string(expect, "detail"));
    GRAPHGATE_TRY(const auto refused, expect.find_member("refused_call"));
    if (refused) {
      spec::ExpectedRefusal refusal;
      GRAPHGATE_TRY(refusal.call, interop::as_count(*refused));
      GRAPHGATE_TRY(refusal.text, read_string(expect, "refusal"));
      script_.expectation.refusal = refusal;
    }
    GRAPHGATE_TRY_VOID(
        read_list(object, "programs", [&](const JsonCursor& each) { return read_program(each); }));
    return read_list(object, "steps", [&](const JsonCursor& each) { return read_step(each); });
  }

  Result<void> read_program(const JsonCursor& object) {
    GRAPHGATE_TRY(const std::string file, read_string(object, "file"));
    const std::string path = (folder_ / file).string();
    GRAPHGATE_TRY(const std::string text, read_text(path));
    GRAPHGATE_TRY(spec::Program program, spec::parse_program(text, *script_.ops, path));
    GRAPHGATE_TRY_VOID(
        tensors_.read_tensors(object, "tensors", [&](const std::string& name, HostTensor t) {
          program.tensors.insert_or_assign(name, std::move(t));
        }));
    const auto valid = spec::check_program(program, *script_.ops);
    if (!valid.ok()) return valid.error().at(path);
    script_.programs.push_back(std::make_shared<const spec::Program>(std::move(program)));
    return {};
  }

  Result<ScriptPort> read_port(const JsonCursor& object) const {
    ScriptPort port;
    GRAPHGATE_TRY(port.program, read_program_index(object, script_.programs.size()));
    GRAPHGATE_TRY(port.index, read_index(object, "index"));
    return port;
  }
  Result<ScriptPort> read_port(const JsonCursor& object, std::string_view key) const {
    return read_member(object, key, [this](const JsonCursor& port) { return read_port(port); });
  }

  Result<void> read_step(const JsonCursor& cursor) {
    GRAPHGATE_TRY(const auto only, cursor.only_member());
    const auto& [kind, value] = only;
    if (kind == "call") return read_call(value);
    if (kind == "swap") return read_swap(value);
    if (kind == "restart") return read_restart(value);
    if (kind == "hold" || kind == "release") {
      GRAPHGATE_TRY(const ScriptPort port, read_port(value));
      if (kind == "hold") {
        script_.steps.emplace_back(ScriptHold{port});
      } else {
        script_.steps.emplace_back(ScriptRelease{port});
      }
      return {};
    }
    if (kind == "feed_back") {
      ScriptFeedBack feed_back;
      GRAPHGATE_TRY(feed_back.output, read_port(value, "output"));
      GRAPHGATE_TRY(feed_back.input, read_port(value, "input"));
      script_.steps.emplace_back(feed_back);
      return {};
    }
    if (kind == "static") {
      GRAPHGATE_TRY(const ScriptPort port, read_port(value));
      script_.steps.emplace_back(ScriptStatic{port});
      return {};
    }
    if (kind == "sleep") return read_sleep(value);
    if (kind == "wake") return read_wake(value);
    if (kind != "check") return cursor.error("expected a step, found '" + std::string(kind) + "'");
    GRAPHGATE_TRY(const std::string what, value.as_string());
    const bool is_held = what == "held";
    if (!is_held && what != "state") return value.error("expected held or state");
    script_.steps.emplace_back(
        ScriptCheck{is_held ? spec::CheckStep::What::kHeld : spec::CheckStep::What::kState});
    return {};
  }

  Result<void> read_call(const JsonCursor& object) {
    ScriptCall call;
    GRAPHGATE_TRY(call.program, read_program_index(object, script_.programs.size()));
    std::string mode;
    GRAPHGATE_TRY_VOID(read_optional(object, "mode", mode));
    if (mode == "eager") call.options.mode = spec::CallMode::kEager;
    if (mode == "captured") call.options.mode = spec::CallMode::kCaptured;
    GRAPHGATE_TRY(call.options.flags, read_texts(object, "flags"));
    GRAPHGATE_TRY(call.inputs, tensors_.read_values<spec::InputValue>(object, "inputs"));
    GRAPHGATE_TRY_VOID(read_optional(object, "expected", call.expected,
                                     std::bind_front(&ScriptReader::read_expected, this)));
    script_.steps.emplace_back(std::move(call));
    return {};
  }

  Result<ExpectedCall> read_expected(const JsonCursor& object) const {
    ExpectedCall expected;
    GRAPHGATE_TRY_VOID(read_optional(object, "is_partial", expected.is_partial));
    GRAPHGATE_TRY(expected.outputs, tensors_.read_values<spec::OutputValue>(object, "outputs"));
    GRAPHGATE_TRY_VOID(read_list(object, "geometries", expected.geometries, read_geometry));
    GRAPHGATE_TRY(expected.shared_with, read_strings(object, "shared_with"));
    GRAPHGATE_TRY_VOID(
        read_list(object, "final_inputs", [&](const JsonCursor& each) -> Result<void> {
          GRAPHGATE_TRY(const std::size_t index, read_index(each, "index"));
          GRAPHGATE_TRY(HostTensor tensor, tensors_.tensor_of(each));
          expected.final_inputs.emplace(index, std::move(tensor));
          return {};
        }));
    GRAPHGATE_TRY_VOID(tensors_.read_tensors(
        object, "final_states", [&](const std::string& name, HostTensor tensor) {
          expected.final_states.insert_or_assign(name, std::move(tensor));
        }));
    return expected;
  }

  static Result<std::optional<Geometry>> read_geometry(const JsonCursor& object) {
    if (object.is_null()) return std::optional<Geometry>();
    Geometry read;
    GRAPHGATE_TRY_VOID(read_layout(object, read));
    GRAPHGATE_TRY(const auto device, object.find_member("device"));
    if (device) {
      GRAPHGATE_TRY(read.device, read_word(*device, "a device", spec::parse_device));
    }
    return std::optional(std::move(read));
  }

  Result<void> read_swap(const JsonCursor& object) {
    ScriptSwap swap;
    GRAPHGATE_TRY(swap.program, read_program_index(object, script_.programs.size()));
    GRAPHGATE_TRY_VOID(read_optional(object, "rebind", swap.rebind));
    GRAPHGATE_TRY_VOID(
        tensors_.read_tensors(object, "values", [&](const std::string& name, HostTensor tensor) {
          swap.values.insert_or_assign(name, std::move(tensor));
        }));
    script_.steps.emplace_back(std::move(swap));
    return {};
  }

  Result<void> read_sleep(const JsonCursor& object) {
    ScriptSleep sleep;
    GRAPHGATE_TRY(const std::size_t level, read_index(object, "level"));
    if (level != 1 && level != 2) return object.error("expected the level 1 or 2");
    sleep.asked.level = static_cast<int>(level);
    GRAPHGATE_TRY(sleep.asked.caches, read_strings(object, "caches"));
    script_.steps.emplace_back(std::move(sleep));
    return {};
  }

  Result<void> read_wake(const JsonCursor& value) {
    GRAPHGATE_TRY(const std::string part, value.as_string());
    const ScriptWake wake{spec::parse_sleep_part(part)};
    if (!wake.part && part != "all") return value.error("expected weights, caches or all");
    script_.steps.emplace_back(wake);
    return {};
  }

  Result<void> read_restart(const JsonCursor& object) {
    ScriptRestart restart;
    GRAPHGATE_TRY(restart.changes, read_configuration(object, "changes"));
    GRAPHGATE_TRY(const auto ops, object.find_member("ops"));
    if (ops) {
      GRAPHGATE_TRY(restart.ops, read_ops(object, "ops"));
    }
    script_.steps.emplace_back(std::move(restart));
    return {};
  }

  const std::filesystem::path& folder_;
  const StoredTensors& tensors_;
  Script script_;
};

}  // namespace

Result<Script> read_stored_script(const std::filesystem::path& folder, const JsonCursor& object,
                                  const StoredTensors& tensors) {
  return ScriptReader(folder, tensors).read(object);
}

}  // namespace graphgate::tools
