// The protocol between graphgate and an executor in a process of its own (docs/executors.md).
//
// A message is a line of JSON. Bytes of tensors lie beside it: "folder" names a folder of the
// exchange with tensors.safetensors, "storages" lists the storages, as in stored runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include "tools/store/stored_result.h"

namespace graphgate::tools {

inline constexpr int kExecutorProtocol = 1;

// Writes the bytes into a folder of this name below `root`, where there are any, and adds to the
// message where they are. The line has no end.
[[nodiscard]] Result<std::string> write_message(nlohmann::ordered_json message,
                                                const StoredBytes& bytes,
                                                const std::filesystem::path& root,
                                                const std::string& name);

// A message that has come, with its bytes; its folder is gone once it is read. kBadInput, with what
// was said, for a line that is no object or beyond limits.h, and for bytes that are not as it says
// or more than `most_bytes`.
class Message {
 public:
  // Where `is_root_there` is given, it is asked before anything below `root` is read or removed.
  [[nodiscard]] static Result<Message> read(
      const std::string& line, const std::filesystem::path& root,
      std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max(),
      const std::function<bool()>& is_root_there = {});
  [[nodiscard]] interop::JsonCursor cursor() const { return {json_, "message"}; }
  [[nodiscard]] const StoredTensors& tensors() const { return tensors_; }

 private:
  interop::Json json_;
  StoredTensors tensors_;
};

// What an answer refuses with.
struct Refusal {
  Error error;
  bool is_last = false;  // the process ends behind it, since what it works with is lost
};

// {"refusal": "bad input" | "unsupported" | "infrastructure" | "internal", "message"} and back.
[[nodiscard]] nlohmann::ordered_json refusal_json(const Error& error);
// Returns the refusal that the message is, or nothing where it is none. "last" may stand beside it.
[[nodiscard]] Result<std::optional<Refusal>> refusal_in(const interop::JsonCursor& message);

}  // namespace graphgate::tools
