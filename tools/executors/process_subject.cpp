#include "tools/executors/process_subject.h"

#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/stage_clock.h"
#include "interop/plan_json.h"
#include "interop/pt2_writer.h"
#include "spec/graph_text.h"
#include "spec/option.h"
#include "spec/sleep_text.h"
#include "tools/executors/exchange_folder.h"
#include "tools/executors/kept_inputs.h"
#include "tools/executors/limits.h"
#include "tools/executors/messages.h"
#include "tools/executors/own_plans.h"
#include "tools/executors/process.h"
#include "tools/report/escape.h"
#include "tools/report/json.h"
#include "tools/store/promises.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;

// What a process says of itself.
struct Greeting {
  std::string name;
  std::string version;  // may be empty
  conformance::Promises promises;
  fuzz::SubjectLimits limits;
  std::set<std::string, std::less<>> options;
  bool is_fork_server = false;
  bool sleeps = false;  // takes the requests sleep and wake
};

constexpr const char* kWaiting = "waiting for the subject";  // a stage (base/stage_clock.h)

// Where a fork server listens, below the folder of its exchange. Empty: the name is too long for a
// socket.
std::string socket_below(const std::string& folder) {
  std::string path = folder + "/fork";
  return path.size() < sizeof(sockaddr_un::sun_path) ? path : "";
}

// One process, and the folder through which tensors go. Shared by what it has made: executors and
// programs outlive the subject's next start.
class Session {
 public:
  // Of a process that has been sent a greeting, and becomes a fork server where it can. It works
  // while nobody waits for it. `times` takes what its requests take.
  static Result<std::shared_ptr<Session>> launched(const std::string& command,
                                                   const SubjectSettings& settings,
                                                   std::shared_ptr<SubjectTimes> times) {
    GRAPHGATE_TRY(auto process, ExternalProcess::start(command));
    const auto session =
        std::make_shared<Session>(command, settings, std::move(process), std::move(times));
    session->send_greeting(socket_below(session->folder()));
    return session;
  }

  // Has its answer.
  static Result<std::shared_ptr<Session>> started(std::shared_ptr<Session> launched) {
    const auto greeted = launched->take_greeting();
    if (!greeted.ok()) return infrastructure(greeted.error().message);
    return launched;
  }

  // Of a process that is forked by the server of another session.
  static Result<std::shared_ptr<Session>> fork_of(const Session& server) {
    GRAPHGATE_TRY(auto process,
                  ExternalProcess::fork_of(socket_below(server.folder()), server.command_));
    auto session = std::make_shared<Session>(server.command_, server.settings_, std::move(process),
                                             server.times_);
    session->send_greeting("");
    return started(std::move(session));
  }

  Session(const std::string& command, const SubjectSettings& settings,
          std::unique_ptr<ExternalProcess> process, std::shared_ptr<SubjectTimes> times)
      : command_(command),
        settings_(settings),
        folder_(settings.exchange),
        process_(std::move(process)),
        times_(std::move(times)) {}

  // Sends a request and takes the answer. Refusals are errors of their kind; what breaks the
  // protocol is kInternal, and ends the session.
  Result<Message> ask(const char* what, Json body, const StoredBytes& bytes = {}) {
    using std::chrono::milliseconds;
    const auto begin = std::chrono::steady_clock::now();
    GRAPHGATE_TRY_VOID(send(what, std::move(body), bytes));
    // One time for both ways.
    const auto taken =
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    return take_answer(std::max(settings_.answer_time - taken, milliseconds(1)));
  }

  // The same, where the answer says no more than that it is done.
  Result<void> ask_for_done(const char* what, Json body, const StoredBytes& bytes = {}) {
    GRAPHGATE_TRY(const Message answer, ask(what, std::move(body), bytes));
    const JsonCursor cursor = answer.cursor();
    const auto done = cursor.member("done");
    if (!done.ok()) return garbage(done.error());
    return {};
  }

  // An answer that is not what the protocol wants. What the machine does not let us read is no
  // fault of whoever wrote it.
  Error garbage(const Error& why) {
    if (why.kind == ErrorKind::kInfrastructure) {
      return broken(why.at("the answer of the executor '" + command_ + "'"));
    }
    return broken(said("answers with what is no answer: " + plain_text(why.message)));
  }

  // What an answer to `call` says of its time, where it does.
  Result<void> note_times(const JsonCursor& answer) {
    GRAPHGATE_TRY(const auto times, answer.find_member("milliseconds"));
    if (!times) return {};
    std::int64_t compile = 0;
    GRAPHGATE_TRY_VOID(read_optional(*times, "compile", compile));
    if (compile < 0) return bad_input("'milliseconds' has a negative number");
    times_->compile += static_cast<double>(compile) / 1e3;
    return {};
  }

  // Whether nothing stands where graphgate is about to write for the process. A link would lead
  // elsewhere.
  Result<void> check_free(const std::string& path) {
    std::error_code unknown;
    const auto kind = std::filesystem::symlink_status(path, unknown).type();
    if (kind == std::filesystem::file_type::not_found) return {};
    return broken(said("has put something in the exchange where it is written to: " + path));
  }

  [[nodiscard]] bool is_broken() const { return broken_.has_value(); }
  // Whether nothing more can be asked, since it broke down or said that it ends.
  [[nodiscard]] bool is_over() const { return is_broken() || last_refusal_.has_value(); }
  [[nodiscard]] bool is_late() const { return process_->is_late(); }
  [[nodiscard]] const Greeting& greeting() const { return greeting_; }
  [[nodiscard]] std::string folder() const { return folder_.path(); }
  // A path that no other program of the session has, whatever numbers the process gives.
  [[nodiscard]] std::string next_archive() {
    return folder() + "/program" + std::to_string(archives_++) + ".pt2";
  }

 private:
  // The session's end, with the request that it came at.
  Error broken(const Error& error) {
    if (!broken_) {
      broken_ = error;
      broken_->message += " (asked to " + std::string(asked_) +
                          (is_late() ? "; --executor-timeout gives it longer)" : ")");
      if (settings_.log) settings_.log->note_end(number_, broken_->message);
    }
    return *broken_;
  }

  [[nodiscard]] Error said(const std::string& what) const {
    return {ErrorKind::kInternal, "the executor '" + command_ + "' " + what};
  }

  static std::int64_t bytes_in(const StoredBytes& bytes) {
    std::int64_t count = 0;
    for (const auto& [name, content] : bytes.contents()) {
      count += static_cast<std::int64_t>(content.storage->bytes.size());
    }
    return count;
  }

  Result<void> send(const char* what, Json body, const StoredBytes& bytes) {
    if (broken_) return *broken_;
    if (last_refusal_) {
      return infrastructure(said("has ended, as it said when it refused: ").message +
                            *last_refusal_);
    }
    asked_ = what;
    if (!folder_.is_there()) return broken(said("has removed the folder of the exchange"));
    sent_bytes_ += bytes_in(bytes);
    const std::string name = "request" + std::to_string(++requests_);
    GRAPHGATE_TRY_VOID(check_free(folder_.path() + "/" + name));
    GRAPHGATE_TRY(const std::string line,
                  write_message({{what, std::move(body)}}, bytes, folder_.path(), name));
    if (settings_.log) settings_.log->note(number_, "sent", line, folder_.path());
    const auto begin = std::chrono::steady_clock::now();
    const auto sent = [&] {
      const Stage stage(kWaiting);
      return process_->send(line, settings_.answer_time);
    }();
    note_asked(begin);
    if (!sent.ok()) return broken(sent.error());
    return {};
  }

  Result<Message> take_answer(std::chrono::milliseconds time) {
    if (broken_) return *broken_;
    const auto begin = std::chrono::steady_clock::now();
    auto answer = [&] {
      const Stage stage(kWaiting);
      return process_->receive(time);
    }();
    note_asked(begin);
    if (!answer.ok()) return broken(answer.error());
    if (settings_.log) settings_.log->note(number_, "answered", answer.value(), folder_.path());
    auto message = Message::read(answer.value(), folder_.path(),
                                 most_answer_bytes(sent_bytes_, settings_.answer_bytes),
                                 [this] { return folder_.is_there(); });
    if (!message.ok()) return garbage(message.error());
    const auto refusal = refusal_in(message.value().cursor());
    if (!refusal.ok()) return garbage(refusal.error());
    if (!refusal.value()) return message;
    const Refusal& refused = *refusal.value();
    const Error error{refused.error.kind, plain_text(refused.error.message)};
    if (refused.is_last) last_refusal_ = error.message;
    return error;
  }

  void note_asked(std::chrono::steady_clock::time_point since) {
    times_->asked +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  }

  // `socket`: where it may listen for requests to fork; empty: nowhere. What went wrong shows in
  // take_greeting().
  void send_greeting(const std::string& socket) {
    if (folder_.path().empty()) {
      const std::string where = settings_.exchange.empty() ? P_tmpdir : settings_.exchange;
      broken_ = infrastructure(where + ": no folder can be made there");
      if (settings_.log) settings_.log->note_end(number_, broken_->message);
      return;
    }
    Json body = {{"protocol", kExecutorProtocol}, {"exchange", folder_.path()}};
    if (!socket.empty()) body["fork_server"] = socket;
    (void)send("hello", std::move(body), {});
  }

  Result<void> take_greeting() {
    GRAPHGATE_TRY(const Message hello, take_answer(settings_.answer_time));
    const JsonCursor cursor = hello.cursor();
    const auto read = [&]() -> Result<void> {
      GRAPHGATE_TRY(const std::string name, read_string(cursor, "name"));
      GRAPHGATE_TRY_VOID(read_optional(cursor, "version", greeting_.version));
      greeting_.name = plain_name(name);
      greeting_.version = plain_name(greeting_.version);
      GRAPHGATE_TRY(const auto options, read_strings(cursor, "options"));
      greeting_.options.insert(options.begin(), options.end());
      GRAPHGATE_TRY(greeting_.promises, read_promises(cursor));
      GRAPHGATE_TRY(greeting_.limits, read_limits(cursor));
      GRAPHGATE_TRY_VOID(read_optional(cursor, "sleeps", greeting_.sleeps));
      return read_optional(cursor, "fork_server", greeting_.is_fork_server);
    };
    const auto done = read();
    if (!done.ok()) return garbage(done.error());
    return {};
  }

  const std::string command_;
  const SubjectSettings settings_;
  const std::string number_ = ProtocolLog::new_session();  // in a log
  const ExchangeFolder folder_;
  std::unique_ptr<ExternalProcess> process_;
  const std::shared_ptr<SubjectTimes> times_;
  std::size_t requests_ = 0;
  std::size_t archives_ = 0;
  std::int64_t sent_bytes_ = 0;
  const char* asked_ = "";  // the latest request
  std::optional<Error> broken_;
  std::optional<std::string> last_refusal_;  // after which it ends
  Greeting greeting_;
};

// The number that an answer has under `key`.
Result<std::size_t> number_in(Session& session, const Message& answer, const char* key) {
  const JsonCursor cursor = answer.cursor();
  auto number = read_index(cursor, key);
  if (!number.ok()) return session.garbage(number.error());
  return number;
}

class ExternalProgram final : public spec::LoadedProgram {
 public:
  ExternalProgram(std::shared_ptr<Session> session, std::size_t id)
      : session_(std::move(session)), id_(id) {}

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
    return call_with(inputs, {});
  }

  Result<spec::CallResult> call_with(std::span<const spec::InputValue> inputs,
                                     const spec::CallOptions& options) override {
    plan_.reset();
    StoredBytes bytes;
    Json body = {{"program", id_}};
    if (options.mode) {
      body["mode"] = *options.mode == spec::CallMode::kEager ? "eager" : "captured";
    }
    body["flags"] = options.flags;
    body["inputs"] = bytes.values(std::vector<spec::InputValue>(inputs.begin(), inputs.end()));
    Json kept = places_.note(inputs);
    if (!kept.empty()) body["kept"] = std::move(kept);
    GRAPHGATE_TRY(const Message answer, session_->ask("call", std::move(body), bytes));
    auto result = read_answer(answer);
    if (!result.ok()) return session_->garbage(result.error());
    return result;
  }

  Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                         bool rebind) override {
    StoredBytes bytes;
    Json body = {{"program", id_}, {"target", target}, {"rebind", rebind}};
    body["tensor"] = bytes.tensor(value);
    return session_->ask_for_done("set_state", std::move(body), bytes);
  }

  [[nodiscard]] std::shared_ptr<const spec::Plan> plan() const override { return plan_; }

 private:
  Result<spec::CallResult> read_answer(const Message& answer) {
    const JsonCursor cursor = answer.cursor();
    GRAPHGATE_TRY(const JsonCursor object, cursor.member("result"));
    GRAPHGATE_TRY(spec::CallResult result, read_result(object, answer.tensors()));
    GRAPHGATE_TRY_VOID(session_->note_times(cursor));
    verify_own_plans(cursor, result.findings);
    GRAPHGATE_TRY(const auto plan, cursor.find_member("plan"));
    if (plan) take_plan(*plan, result.findings);
    for (spec::Finding& finding : result.findings) finding = plain_finding(std::move(finding));
    return result;
  }

  void take_plan(const JsonCursor& plan, std::vector<spec::Finding>& findings) {
    auto made = read_plan(plan);
    if (made.ok()) {
      plan_ = std::make_shared<const spec::Plan>(std::move(made).value());
    } else {
      add_not_shown("the plan cannot be read: " + made.error().message, findings);
    }
  }

  static Result<spec::Plan> read_plan(const JsonCursor& plan) {
    const auto references = plan.json().contains("references") ? interop::PlanReferences::kByNumber
                                                               : interop::PlanReferences::kByName;
    return interop::read_plan_json(plan.json().dump(), "plan", references);
  }

  std::shared_ptr<Session> session_;
  const std::size_t id_;
  KeptPlaces places_;
  std::shared_ptr<const spec::Plan> plan_;  // of the last call
};

class ExternalExecutor final : public spec::Executor {
 public:
  ExternalExecutor(std::shared_ptr<Session> session, std::size_t id, const spec::OpTable& ops)
      : session_(std::move(session)), id_(id), ops_(ops) {}
  ExternalExecutor(const ExternalExecutor&) = delete;
  ExternalExecutor& operator=(const ExternalExecutor&) = delete;
  ~ExternalExecutor() override { (void)close(); }

  [[nodiscard]] std::string_view name() const override { return session_->greeting().name; }

  Result<bool> sleep(const spec::SleepRequest& asked) override {
    if (!session_->greeting().sleeps) return false;
    GRAPHGATE_TRY_VOID(session_->ask_for_done(
        "sleep", {{"executor", id_}, {"level", asked.level}, {"caches", asked.caches}}));
    return true;
  }

  Result<void> wake(std::optional<spec::SleepPart> part) override {
    Json body = {{"executor", id_}};
    if (part) body["part"] = spec::sleep_part_name(*part);
    return session_->ask_for_done("wake", std::move(body));
  }

  Result<void> close() override {
    if (std::exchange(is_closed_, true) || session_->is_over()) return {};
    return session_->ask_for_done("close", {{"executor", id_}});
  }

  Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
    StoredBytes bytes;
    Json body = {{"executor", id_}, {"graph", spec::print_program(program, ops_)}};
    body["tensors"] = bytes.named(program.tensors);
    const std::string archive = session_->next_archive();
    GRAPHGATE_TRY_VOID(session_->check_free(archive));
    interop::Pt2Options options;
    options.ops = &ops_;
    const auto written = interop::write_pt2(program, archive, options);
    if (written.ok()) body["archive"] = archive;
    if (!written.ok()) body["no_archive"] = written.error().message;
    GRAPHGATE_TRY(const Message answer, session_->ask("load", std::move(body), bytes));
    GRAPHGATE_TRY(const std::size_t id, number_in(*session_, answer, "program"));
    return std::unique_ptr<spec::LoadedProgram>(std::make_unique<ExternalProgram>(session_, id));
  }

 private:
  std::shared_ptr<Session> session_;
  const std::size_t id_;
  const spec::OpTable& ops_;
  bool is_closed_ = false;
};

class ProcessSubject final : public Subject {
 public:
  ProcessSubject(std::string command, SubjectSettings settings)
      : command_(std::move(command)), settings_(std::move(settings)) {
    said_.name = command_;
  }

  [[nodiscard]] std::string_view name() const override { return said_.name; }
  [[nodiscard]] bool is_process() const override { return true; }
  [[nodiscard]] bool takes(std::string_view option) const override {
    return said_.options.contains(option);
  }
  [[nodiscard]] fuzz::SubjectLimits limits() const override { return said_.limits; }
  [[nodiscard]] SubjectTimes times() const override { return *times_; }
  [[nodiscard]] std::string identity() const override {
    return said_.name + (said_.version.empty() ? "" : " " + said_.version);
  }
  [[nodiscard]] bool is_late() const override { return session_ && session_->is_late(); }
  [[nodiscard]] bool has_ended() const override { return session_ && session_->is_broken(); }

  // Of one that does not start, nothing is known: whoever makes an executor learns why. One that
  // has ended has promised what it has.
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& options) const override {
    if (process_ == 0) (void)start();
    conformance::Promises promises = said_.promises;
    if (takes(spec::option::kSemantics)) {
      promises.torch = semantics_asked(options).value_or(promises.torch);
    }
    return promises;
  }

  void launch() const override {
    if (process_ != 0 || launched_) return;
    launcher_ = ::getpid();
    auto launched = Session::launched(command_, settings_, times_);
    if (launched.ok()) launched_ = std::move(launched).value();
  }
  // Has a session that works, of this process.
  [[nodiscard]] Result<void> start() const override {
    if (process_ != ::getpid()) keep_of_parent(session_);
    if (session_ && !session_->is_over()) return {};
    GRAPHGATE_TRY(session_, new_session());
    process_ = ::getpid();
    said_ = session_->greeting();
    return {};
  }
  void rest() const override {
    if (process_ != ::getpid()) keep_of_parent(session_);
    session_.reset();
  }

  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY_VOID(start());
    conformance::Configuration options = configuration;
    if (!takes(spec::option::kSemantics)) {
      GRAPHGATE_TRY_VOID(check_release(options));
      options.erase(spec::option::kSemantics);
    }
    for (const auto& [option, value] : options) {
      if (!takes(option)) return unsupported("'" + said_.name + "' has no option '" + option + "'");
    }
    const auto answer = session_->ask("open", {{"options", options}, {"ops", ops_json(ops)}});
    if (!answer.ok() && answer.error().kind == ErrorKind::kBadInput) {
      return unsupported(answer.error().message);
    }
    if (!answer.ok()) return answer.error();
    GRAPHGATE_TRY(const std::size_t id, number_in(*session_, answer.value(), "executor"));
    return std::unique_ptr<spec::Executor>(std::make_unique<ExternalExecutor>(session_, id, ops));
  }

 private:
  // What is asked for is one release's. kUnsupported where that is not the process's.
  [[nodiscard]] Result<void> check_release(const conformance::Configuration& asked) const {
    const auto release = semantics_asked(asked);
    if (!release || *release == said_.promises.torch) return {};
    const std::string own =
        said_.promises.torch.is_open()
            ? "does not say by which it goes"
            : "goes by PyTorch " + spec::print_torch_release(said_.promises.torch);
    return unsupported("the case is one for PyTorch " + spec::print_torch_release(*release) +
                       ", and '" + said_.name + "' " + own);
  }

  // The other end is the parent's: it must not be told to end.
  static void keep_of_parent(std::shared_ptr<Session>& session) {
    static std::vector<std::shared_ptr<Session>> of_parents;
    if (session) of_parents.push_back(std::move(session));
    session.reset();
  }

  // Forked where there is a fork server, also that of a parent. One that does not fork any more, or
  // never has, serves no longer.
  [[nodiscard]] Result<std::shared_ptr<Session>> new_session() const {
    if (server_) {
      auto forked = Session::fork_of(*server_);
      if (forked.ok()) return forked;
      if (server_owner_ != ::getpid()) keep_of_parent(server_);
      server_.reset();
    }
    if (launcher_ != ::getpid()) keep_of_parent(launched_);
    auto launched = std::exchange(launched_, nullptr);
    if (!launched) {
      auto now = Session::launched(command_, settings_, times_);
      if (!now.ok()) {
        // A session that never began; a log that does not tell of it would have no line at all.
        if (settings_.log) {
          settings_.log->note_end(ProtocolLog::new_session(), now.error().message);
        }
        return now.error();
      }
      launched = std::move(now).value();
    }
    GRAPHGATE_TRY(auto started, Session::started(std::move(launched)));
    if (!started->greeting().is_fork_server) return started;
    auto forked = Session::fork_of(*started);
    if (!forked.ok()) return started;
    server_ = std::move(started);
    server_owner_ = ::getpid();
    return forked;
  }

  const std::string command_;
  const SubjectSettings settings_;
  const std::shared_ptr<SubjectTimes> times_ = std::make_shared<SubjectTimes>();
  // Of one thread, as every subject.
  mutable std::shared_ptr<Session> session_;
  mutable pid_t process_ = 0;                  // who started the latest session; 0: nobody yet
  mutable std::shared_ptr<Session> launched_;  // has been asked nothing
  mutable pid_t launcher_ = 0;                 // who launched it
  mutable std::shared_ptr<Session> server_;    // forks processes, and is asked nothing else
  mutable pid_t server_owner_ = 0;
  mutable Greeting said_;  // the latest
};

}  // namespace

MadeSubject process_subject(const std::string& command, const SubjectSettings& settings) {
  return std::unique_ptr<Subject>(std::make_unique<ProcessSubject>(command, settings));
}

}  // namespace graphgate::tools
