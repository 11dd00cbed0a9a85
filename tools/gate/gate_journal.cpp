#include "tools/gate/gate_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;

constexpr const char* kJournalKey = "graphgate_gate_journal";
constexpr int kJournalVersion = 1;

// The processes of a run that was killed are gone within this time.
constexpr std::chrono::seconds kLongestJournalWait{3};

Error cannot_use(const std::string& path, const char* what) {
  return infrastructure(path + ": " + what + ": " + std::strerror(errno));
}

Result<void> lock_journal(const Descriptor& file, const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kLongestJournalWait;
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    // A file system that locks nothing: then nobody is told of another.
    if (errno != EWOULDBLOCK && errno != EINTR) return {};
    if (std::chrono::steady_clock::now() >= end) {
      return infrastructure(path +
                            ": another gate writes it; wait for that one, or name another file");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

// Of two keys, what differs first: "the candidate 1 was 'a', and is 'b'".
std::string key_difference(const GateKey& was, const GateKey& is) {
  const auto value = [](const GateKey& key, const std::string& name) {
    const auto found = key.find(name);
    return found == key.end() ? std::string() : found->second;
  };
  GateKey all = was;
  all.insert(is.begin(), is.end());
  for (const auto& [name, unused] : all) {
    const std::string before = value(was, name);
    const std::string now = value(is, name);
    if (before == now) continue;
    if (name == "corpus") return "the files of its corpus were others";
    std::string text = "its " + name;
    text.append(" was '").append(before).append("', and is '").append(now).append("'");
    return text;
  }
  return "";
}

Result<GateKey> read_gate_key(const JsonCursor& head) {
  GRAPHGATE_TRY(const std::int64_t version, interop::read_int(head, kJournalKey));
  if (version != kJournalVersion) {
    return head.error("version " + std::to_string(version) + " is not known, only " +
                      std::to_string(kJournalVersion));
  }
  GRAPHGATE_TRY(const JsonCursor of, head.member("of"));
  GateKey key;
  GRAPHGATE_TRY_VOID(interop::read_members(of, key, &JsonCursor::as_string));
  return key;
}

bool is_final(const GateCase& one) {
  return one.outcome != spec::Outcome::kInfra && !did_not_answer(one);
}

}  // namespace

Result<GateJournal> GateJournal::open(const std::string& path, const GateKey& key,
                                      std::size_t sides) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
  if (file.number() < 0) return cannot_use(path, "cannot be opened to be written");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return cannot_use(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) {
    return bad_input(path + ": is no regular file; --resume keeps there what has run");
  }
  GRAPHGATE_TRY_VOID(lock_journal(file, path));
  GRAPHGATE_TRY(std::string text, read_whole(path));
  // Whole lines; of a run that was killed before its first, none.
  const std::size_t end = text.rfind('\n');
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  const bool is_ours = text.empty() || text.starts_with(std::string("{\"") + kJournalKey) ||
                       (std::string("{\"") + kJournalKey).starts_with(text);
  if (!is_ours) return bad_input(path + ": is no journal of a gate");
  text.resize(whole);
  GateJournal journal(path, std::move(file));
  if (::ftruncate(journal.file_.number(), static_cast<off_t>(whole)) != 0) {
    return cannot_use(path, "cannot be written");
  }
  if (::lseek(journal.file_.number(), 0, SEEK_END) < 0)
    return cannot_use(path, "cannot be written");
  if (text.empty()) {
    GRAPHGATE_TRY_VOID(
        journal.write_line(child_text(Json{{kJournalKey, kJournalVersion}, {"of", key}})));
    return journal;
  }
  GRAPHGATE_TRY_VOID(journal.read(text, key, sides));
  return journal;
}

Result<void> GateJournal::read(const std::string& text, const GateKey& key, std::size_t sides) {
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string place = path_ + ": line " + std::to_string(++number);
    GRAPHGATE_TRY(const interop::Json json,
                  interop::parse_json(std::string_view(text).substr(begin, end - begin), place));
    begin = end + 1;
    const JsonCursor line(json, place);
    if (number == 1) {
      GRAPHGATE_TRY(const GateKey was, read_gate_key(line));
      const std::string differs = key_difference(was, key);
      if (differs.empty()) continue;
      return bad_input(path_ + ": is of another run: " + differs +
                       "; name another file, or remove this one");
    }
    GRAPHGATE_TRY(const std::string name, interop::read_string(line, "case"));
    std::vector<GateCase> cases;
    GRAPHGATE_TRY_VOID(interop::read_list(line, "sides", cases, read_gate_case));
    if (cases.size() != sides) return line.error("expected " + std::to_string(sides) + " sides");
    cases_[name] = std::move(cases);
  }
  return {};
}

Result<void> GateJournal::add(const std::string& name, const std::vector<GateCase>& sides) {
  if (!std::all_of(sides.begin(), sides.end(), is_final)) return {};
  Json line = {{"case", name}, {"sides", Json::array()}};
  for (const GateCase& one : sides) line["sides"].push_back(json_of(one, Times::kToo));
  return write_line(child_text(line));
}

Result<void> GateJournal::write_line(const std::string& line) const {
  const std::string text = line + "\n";
  if (!write_all(file_.number(), std::as_bytes(std::span(text)))) {
    return cannot_use(path_, "cannot be written");
  }
  return {};
}

}  // namespace graphgate::tools
