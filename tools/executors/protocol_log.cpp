#include "tools/executors/protocol_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <new>
#include <system_error>

#include "base/formatted.h"
#include "base/one_line.h"
#include "tools/executors/limits.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kMostOfNoJson = 1000;

// 2026-11-27T18:20:11.123456Z
std::string now() {
  using Clock = std::chrono::system_clock;
  const auto since = Clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since - seconds);
  const auto time = static_cast<std::time_t>(seconds.count());
  std::tm parts{};
  (void)::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return formatted("%s.%06lldZ", text.data(), static_cast<long long>(micros.count()));
}

// Never destroyed: a fork that ends takes nothing of its parent's along.
struct Logs {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<ProtocolLog>> by_path;
  pid_t owner = 0;
};
Logs& logs() {
  static Logs& kept = *new Logs;
  return kept;
}

// The file with the tensors of a message, where it has one.
Json tensors_of(const Json& message, const std::string& exchange) {
  const auto folder = message.find("folder");
  if (folder == message.end() || !folder->is_string()) return nullptr;
  const std::string path =
      (std::filesystem::path(exchange) / folder->get<std::string>() / "tensors.safetensors")
          .string();
  Json told = {{"file", path}};
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (!unknown) told["bytes"] = bytes;
  return told;
}

}  // namespace

void ProtocolLog::Unmap::operator()(Shared* shared) const {
  shared->~Shared();
  (void)::munmap(shared, sizeof(Shared));
}

Result<ProtocolLog*> ProtocolLog::open(const std::string& path) {
  Logs& all = logs();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_path.find(path);
  if (found != all.by_path.end()) return found->second.get();
  GRAPHGATE_TRY(AtomicFile file, AtomicFile::create(path));
  void* const shared =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    return infrastructure(path + ": cannot be written: " + std::strerror(errno));
  }
  all.owner = ::getpid();
  auto log = std::unique_ptr<ProtocolLog>(
      new ProtocolLog(std::move(file), SharedPointer(new (shared) Shared)));
  return all.by_path.emplace(path, std::move(log)).first->second.get();
}

Result<void> ProtocolLog::close_all() {
  Logs& all = logs();
  const std::lock_guard lock(all.mutex);
  if (all.owner != ::getpid()) return {};
  Result<void> closed;
  for (const auto& [path, log] : all.by_path) {
    const Shared& shared = *log->shared_;
    if (!shared.has_line) log->note_end(new_session(), "nothing was said");
    const std::lock_guard writing(log->writing_);
    const std::string words = shared.is_said ? shared.words.data() : path + ": cannot be written";
    auto one = shared.has_failed ? Result<void>(infrastructure(words)) : log->file_.commit();
    if (closed.ok()) closed = std::move(one);
  }
  all.by_path.clear();  // what has no name yet goes
  return closed;
}

std::string ProtocolLog::new_session() {
  static std::atomic<int> count = 0;
  return formatted("%d-%d", static_cast<int>(::getpid()), ++count);
}

void ProtocolLog::note(const std::string& session, std::string_view direction,
                       const std::string& line, const std::string& exchange) {
  const bool is_within = interop::check_json_limits(line, kLineLimits).ok();
  const Json message = is_within ? Json::parse(line, nullptr, /*allow_exceptions=*/false)
                                 : Json(Json::value_t::discarded);
  if (message.is_discarded()) {
    write(session, direction, "text", json_line(one_line(line, kMostOfNoJson)));
    return;
  }
  const Json tensors = message.is_object() ? tensors_of(message, exchange) : Json();
  write(session, direction, "message",
        json_line(message) + (tensors.is_null() ? "" : ", \"tensors\": " + json_line(tensors)));
}

void ProtocolLog::note_end(const std::string& session, const std::string& words) {
  write(session, "ended", "text", json_line(words));
}

// One write: those of other processes come before or behind it.
void ProtocolLog::write(const std::string& session, std::string_view direction,
                        std::string_view member, const std::string& json) {
  const std::lock_guard lock(writing_);
  const std::string line = "{\"time\": " + json_line(now()) +
                           ", \"session\": " + json_line(session) +
                           ", \"direction\": " + json_line(std::string(direction)) + ", \"" +
                           std::string(member) + "\": " + json + "}\n";
  const auto written = file_.write(std::as_bytes(std::span(line)));
  if (written.ok()) shared_->has_line = true;
  if (written.ok() || shared_->has_failed.exchange(true)) return;
  const std::string& words = written.error().message;
  words.copy(shared_->words.data(), shared_->words.size() - 1);
  shared_->is_said = true;
}

}  // namespace graphgate::tools
