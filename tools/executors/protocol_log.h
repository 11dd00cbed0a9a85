// What graphgate and executors in processes of their own said to each other: `--log-protocol FILE`.
//
// A line of JSON for each thing that was said (docs/executors.md). Sessions stand among each other
// where several run at a time; a session's number tells them apart. Forks of the process that
// opened the log write into it, too.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/atomic_file.h"

namespace graphgate::tools {

class ProtocolLog {
 public:
  // Returns the log of this process at this path, and opens it where there is none yet. It has its
  // name once close_all() is called. kInfrastructure where it cannot be written.
  [[nodiscard]] static Result<ProtocolLog*> open(const std::string& path);
  // Gives every log that is open its name: at the end of a verb, also of one that failed or was
  // interrupted. A log in which nothing was said has a line that says so. kInfrastructure where one
  // cannot be written, or could not be before.
  [[nodiscard]] static Result<void> close_all();

  // Returns a number for a session that begins: "4711-1", where 4711 is this process.
  [[nodiscard]] static std::string new_session();

  // Writes one line. `direction` is "sent" or "answered", `line` the message. Where it names a
  // folder with tensors, that file below `exchange` and its bytes are told: whoever reads the
  // message removes it. What is no JSON stands there as a text, cut.
  void note(const std::string& session, std::string_view direction, const std::string& line,
            const std::string& exchange);
  // Writes one line about a session that has ended before its time: how.
  void note_end(const std::string& session, const std::string& words);

 private:
  // What the process and its forks know together, in memory that they share: the log is given its
  // name by the process alone. The first thing that could not be written is kept.
  struct Shared {
    std::atomic<bool> has_line{false};  // of whoever wrote one
    std::atomic<bool> has_failed{false};
    std::atomic<bool> is_said{false};  // `words` are whole
    std::array<char, 500> words{};
  };
  struct Unmap {
    void operator()(Shared* shared) const;
  };
  using SharedPointer = std::unique_ptr<Shared, Unmap>;

  ProtocolLog(AtomicFile file, SharedPointer shared)
      : file_(std::move(file)), shared_(std::move(shared)) {}
  void write(const std::string& session, std::string_view direction, std::string_view member,
             const std::string& json);

  AtomicFile file_;
  std::mutex writing_;
  SharedPointer shared_;
};

}  // namespace graphgate::tools
