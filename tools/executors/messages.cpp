#include "tools/executors/messages.h"

#include <array>
#include <utility>

#include "tools/executors/limits.h"
#include "tools/report/json.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;
using interop::JsonCursor;

constexpr std::array<std::pair<ErrorKind, std::string_view>, 4> kKinds = {{
    {ErrorKind::kBadInput, "bad input"},
    {ErrorKind::kUnsupported, "unsupported"},
    {ErrorKind::kInfrastructure, "infrastructure"},
    {ErrorKind::kInternal, "internal"},
}};

constexpr std::size_t kShown = 60;

// The beginning of a line, for a message.
std::string beginning(const std::string& line) {
  std::string shown = line.substr(0, kShown);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return line.size() > kShown ? shown + "..." : shown;
}

// A folder of the exchange: a name, not a path.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && !name.starts_with('.') &&
         name.find('\0') == std::string::npos;
}

}  // namespace

Result<std::string> write_message(Json message, const StoredBytes& bytes, const fs::path& root,
                                  const std::string& name) {
  if (!bytes.storages().empty() || !bytes.contents().empty()) {
    std::error_code failed;
    fs::create_directories(root / name, failed);
    if (failed) {
      return infrastructure((root / name).string() + ": cannot be made: " + failed.message());
    }
    GRAPHGATE_TRY_VOID(interop::write_safetensors((root / name / "tensors.safetensors").string(),
                                                  bytes.contents()));
    message["folder"] = name;
    message["storages"] = bytes.storages();
  }
  return message.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

Result<Message> Message::read(const std::string& line, const fs::path& root,
                              std::int64_t most_bytes, const std::function<bool()>& is_root_there) {
  const auto within = interop::check_json_limits(line, kLineLimits);
  if (!within.ok()) return within.error().at("message");
  Message message;
  message.json_ = interop::Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!message.json_.is_object()) {
    return bad_input("expected a JSON object on one line, found '" + beginning(line) + "'");
  }
  const JsonCursor cursor = message.cursor();
  std::string folder;
  GRAPHGATE_TRY_VOID(read_optional(cursor, "folder", folder));
  if (folder.empty()) return message;
  if (!is_plain_name(folder)) return cursor.error("expected the name of a folder of the exchange");
  if (is_root_there && !is_root_there()) return bad_input("the folder of the exchange is gone");
  GRAPHGATE_TRY(message.tensors_,
                StoredTensors::open(root / folder, cursor, {most_bytes, kMostDimensions}));
  std::error_code failed;
  fs::remove_all(root / folder, failed);
  return message;
}

Json refusal_json(const Error& error) {
  for (const auto& [kind, word] : kKinds) {
    if (kind == error.kind) return {{"refusal", word}, {"message", error.message}};
  }
  return {{"refusal", "internal"}, {"message", error.message}};
}

Result<std::optional<Refusal>> refusal_in(const JsonCursor& message) {
  GRAPHGATE_TRY(const auto refusal, message.find_member("refusal"));
  if (!refusal) return std::optional<Refusal>();
  const auto parse = [](std::string_view text) -> std::optional<ErrorKind> {
    for (const auto& [kind, word] : kKinds) {
      if (word == text) return kind;
    }
    return std::nullopt;
  };
  GRAPHGATE_TRY(const ErrorKind kind, read_word(*refusal, "a kind of refusal", parse));
  GRAPHGATE_TRY(std::string words, read_string(message, "message"));
  Refusal out{{kind, std::move(words)}};
  GRAPHGATE_TRY_VOID(read_optional(message, "last", out.is_last));
  return std::optional(std::move(out));
}

}  // namespace graphgate::tools
