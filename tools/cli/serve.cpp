// graphgate serve: a built-in executor at the other end of the protocol for external ones.
//
// So a build of graphgate judges another build, or one on another machine; and the protocol has an
// end that tests can hold it to.
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

#include "interop/plan_json.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "spec/plan.h"
#include "spec/sleep_text.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/executors/kept_inputs.h"
#include "tools/executors/messages.h"
#include "tools/executors/optimized_options.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

struct ServeVerb {
  std::string executor = "optimized";
  spec::Configuration planner;  // over what a request asks for
};

using interop::JsonCursor;

struct OpenExecutor {
  std::shared_ptr<const spec::OpTable> ops;
  std::unique_ptr<spec::Executor> executor;
};

// `loaded` refers to `program`.
struct OpenProgram {
  std::size_t executor = 0;
  std::unique_ptr<spec::Program> program;
  std::unique_ptr<spec::LoadedProgram> loaded;
  KeptInputs kept;
};

class Server {
 public:
  Server(std::unique_ptr<Subject> subject, conformance::Configuration flags)
      : subject_(std::move(subject)), flags_(std::move(flags)) {}

  // The answer to a line, without an end.
  std::string answer(const std::string& line) {
    StoredBytes bytes;
    auto made = follow(line, bytes);
    auto text = write_message(made.ok() ? std::move(made).value() : refusal_json(made.error()),
                              bytes, exchange_, "answer" + std::to_string(++answers_));
    if (text.ok()) return text.value();
    return refusal_json(text.error()).dump(-1, ' ', true, Json::error_handler_t::replace);
  }

 private:
  Result<Json> follow(const std::string& line, StoredBytes& bytes) {
    GRAPHGATE_TRY(const Message message, Message::read(line, exchange_));
    // "folder" and "storages" are of every message.
    const JsonCursor request = message.cursor();
    GRAPHGATE_TRY(const auto members, request.members());
    for (const auto& [what, body] : members) {
      if (what == "hello") return hello(body);
      if (what == "open") return open(body);
      if (what == "load") return load(body, message.tensors());
      if (what == "call") return call(body, message.tensors(), bytes);
      if (what == "set_state") return set_state(body, message.tensors());
      if (what == "sleep") return sleep(body);
      if (what == "wake") return wake(body);
      if (what == "close") return close(body);
    }
    return bad_input("expected hello, open, load, call, set_state, sleep, wake or close");
  }

  Result<Json> hello(const JsonCursor& body) {
    GRAPHGATE_TRY(const JsonCursor member, body.member("protocol"));
    GRAPHGATE_TRY(const std::int64_t protocol, member.as_int());
    if (protocol != kExecutorProtocol) {
      return member.error("protocol " + std::to_string(protocol) + " is not known, only " +
                          std::to_string(kExecutorProtocol));
    }
    GRAPHGATE_TRY(const std::string exchange, read_string(body, "exchange"));
    exchange_ = exchange;
    return Json{{"name", subject_->name()},
                {"version", GRAPHGATE_VERSION},
                {"options", option_names()},
                {"torch", spec::print_torch_release(subject_->promises(flags_).torch)},
                {"sleeps", subject_->name() != "reference"}};
  }

  [[nodiscard]] std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const spec::OptionRow& row : spec::option_rows()) {
      const bool is_of_reference = row.group == spec::OptionGroup::kReference;
      const bool is_taken = is_of_reference == (subject_->name() == "reference");
      if (row.name == spec::option::kSemantics) {
        // What the command line says no request takes back.
        if (!flags_.contains(row.name)) names.emplace_back(row.name);
      } else if (is_taken) {
        names.emplace_back(row.name);
      }
    }
    return names;
  }

  Result<Json> open(const JsonCursor& body) {
    OpenExecutor opened;
    GRAPHGATE_TRY(opened.ops, read_ops(body, "ops"));
    GRAPHGATE_TRY(conformance::Configuration options, read_configuration(body, "options"));
    if (!flags_.empty()) options = options_under(options, flags_);
    GRAPHGATE_TRY(opened.executor, subject_->make(options, *opened.ops));
    executors_.emplace(next_, std::move(opened));
    return Json{{"executor", next_++}};
  }

  Result<Json> load(const JsonCursor& body, const StoredTensors& tensors) {
    OpenProgram opened;
    GRAPHGATE_TRY(opened.executor, read_index(body, "executor"));
    const auto executor = executors_.find(opened.executor);
    if (executor == executors_.end()) return body.error("there is no such executor");
    const spec::OpTable& ops = *executor->second.ops;
    GRAPHGATE_TRY(const std::string text, read_string(body, "graph"));
    GRAPHGATE_TRY(spec::Program program, spec::parse_program(text, ops, "graph"));
    GRAPHGATE_TRY_VOID(
        tensors.read_tensors(body, "tensors", [&](const std::string& name, spec::HostTensor t) {
          program.tensors.insert_or_assign(name, std::move(t));
        }));
    GRAPHGATE_TRY_VOID(spec::check_program(program, ops));
    opened.program = std::make_unique<spec::Program>(std::move(program));
    GRAPHGATE_TRY(opened.loaded, executor->second.executor->load(*opened.program));
    programs_.emplace(next_, std::move(opened));
    return Json{{"program", next_++}};
  }

  Result<OpenProgram*> program_of(const JsonCursor& body) {
    GRAPHGATE_TRY(const std::size_t id, read_index(body, "program"));
    const auto found = programs_.find(id);
    if (found == programs_.end()) return body.error("there is no such program");
    return &found->second;
  }

  Result<Json> call(const JsonCursor& body, const StoredTensors& tensors, StoredBytes& bytes) {
    GRAPHGATE_TRY(OpenProgram * program, program_of(body));
    spec::CallOptions options;
    std::string mode;
    GRAPHGATE_TRY_VOID(read_optional(body, "mode", mode));
    if (mode == "eager") options.mode = spec::CallMode::kEager;
    if (mode == "captured") options.mode = spec::CallMode::kCaptured;
    GRAPHGATE_TRY(options.flags, read_texts(body, "flags"));
    GRAPHGATE_TRY(auto inputs, tensors.read_values<spec::InputValue>(body, "inputs"));
    GRAPHGATE_TRY_VOID(program->kept.place(body, inputs));
    GRAPHGATE_TRY(const spec::CallResult result, program->loaded->call_with(inputs, options));
    Json answer = {{"result", result_json(result, bytes)}};
    if (const auto plan = program->loaded->plan()) {
      const auto references = spec::check_plan(*plan).ok() ? interop::PlanReferences::kByName
                                                           : interop::PlanReferences::kByNumber;
      GRAPHGATE_TRY(const std::string text, interop::print_plan_json(*plan, references));
      answer["plan"] = Json::parse(text, nullptr, false);
    }
    return answer;
  }

  Result<Json> set_state(const JsonCursor& body, const StoredTensors& tensors) {
    GRAPHGATE_TRY(OpenProgram * program, program_of(body));
    GRAPHGATE_TRY(const std::string target, read_string(body, "target"));
    bool rebind = false;
    GRAPHGATE_TRY_VOID(read_optional(body, "rebind", rebind));
    GRAPHGATE_TRY(const spec::HostTensor value, tensors.tensor_of(body));
    GRAPHGATE_TRY_VOID(program->loaded->set_state(target, value, rebind));
    return Json{{"done", true}};
  }

  Result<spec::Executor*> executor_of(const JsonCursor& body) {
    GRAPHGATE_TRY(const std::size_t id, read_index(body, "executor"));
    const auto found = executors_.find(id);
    if (found == executors_.end()) return body.error("there is no such executor");
    return found->second.executor.get();
  }

  Result<Json> sleep(const JsonCursor& body) {
    GRAPHGATE_TRY(spec::Executor* const executor, executor_of(body));
    spec::SleepRequest asked;
    GRAPHGATE_TRY(const std::size_t level, read_index(body, "level"));
    if (level != 1 && level != 2) return body.error("expected the level 1 or 2");
    asked.level = static_cast<int>(level);
    GRAPHGATE_TRY(asked.caches, read_strings(body, "caches"));
    GRAPHGATE_TRY(const bool sleeps, executor->sleep(asked));
    if (!sleeps) return unsupported("this executor does not sleep");
    return Json{{"done", true}};
  }

  Result<Json> wake(const JsonCursor& body) {
    GRAPHGATE_TRY(spec::Executor* const executor, executor_of(body));
    std::string part;
    GRAPHGATE_TRY_VOID(read_optional(body, "part", part));
    const auto asked = spec::parse_sleep_part(part);
    if (!asked && !part.empty()) return body.error("expected the part weights or caches");
    GRAPHGATE_TRY_VOID(executor->wake(asked));
    return Json{{"done", true}};
  }

  Result<Json> close(const JsonCursor& body) {
    GRAPHGATE_TRY(const std::size_t id, read_index(body, "executor"));
    std::erase_if(programs_, [&](const auto& one) { return one.second.executor == id; });
    if (executors_.erase(id) == 0) return body.error("there is no such executor");
    return Json{{"done", true}};
  }

  const std::unique_ptr<Subject> subject_;
  const conformance::Configuration flags_;  // of the command line
  std::filesystem::path exchange_;
  std::map<std::size_t, OpenExecutor> executors_;
  std::map<std::size_t, OpenProgram> programs_;  // gone before their executors
  std::size_t next_ = 0;
  std::size_t answers_ = 0;
};

Result<ExitCode> run_serve(const ServeVerb& verb) {
  spec::Configuration flags = verb.planner;
  SubjectSettings settings;
  settings.allow_zero_and_one = flags.contains(spec::option::kAllowZeroAndOne);
  GRAPHGATE_TRY(auto subject, make_subject(verb.executor, settings));
  if (verb.executor == "reference") {
    flags.erase(spec::option::kAllowZeroAndOne);
    spec::Configuration others = flags;
    others.erase(spec::option::kSemantics);
    if (!others.empty()) {
      return bad_input("the reference has no option '" + others.begin()->first +
                       "': it makes no plans");
    }
  }
  GRAPHGATE_TRY_VOID(check_named(verb.planner));
  Server server(std::move(subject), std::move(flags));
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%s\n", server.answer(line).c_str());
    if (std::fflush(stdout) != 0) return infrastructure("standard output cannot be written");
  }
  return ExitCode::kGood;
}

}  // namespace

Verb add_serve(CLI::App& app) {
  const auto owned = std::make_shared<ServeVerb>();
  ServeVerb& verb = *owned;
  CLI::App* serve = app.add_subcommand(
      "serve", "be the executor of another graphgate, over standard input and output");
  serve->add_option("executor", verb.executor, "which one")
      ->check(CLI::IsMember(built_in_names()))
      ->capture_default_str();
  add_planner_flags(*serve, verb.planner);
  serve->footer(
      "Examples:\n  graphgate check --executor 'graphgate serve optimized' "
      "golden/cases/op/*.case\n"
      "  graphgate gate --baseline cmd:'graphgate serve --profile torch-2.9.0' "
      "--candidate cmd:'ssh host graphgate serve'\n\n"
      "The protocol is in docs/executors.md.");
  return {serve, [owned](const auto& /*words*/) { return run_serve(*owned); }};
}

}  // namespace graphgate::tools
