#include "tools/gate/side_choice.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include "tools/campaign/external_check.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "graphgate_torch";
constexpr std::uint32_t kFindSeconds = 60;

constexpr std::string_view kCommandWord = "cmd:";
constexpr std::string_view kPythonWord = "python:";

// Where "cmd:" or "python:" stands: at the beginning, or behind "NAME=".
struct Form {
  std::string_view word;
  std::size_t begin = 0;
};
std::optional<Form> find_form(const std::string& text) {
  std::optional<Form> first;
  for (const std::string_view word : {kCommandWord, kPythonWord}) {
    if (text.starts_with(word)) return Form{word, 0};
    const std::size_t named = text.find("=" + std::string(word));
    if (named == std::string::npos || named == 0) continue;
    if (!first || named + 1 < first->begin) first = Form{word, named + 1};
  }
  return first;
}

// One word of a shell's.
std::string shell_word(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-+").find(static_cast<char>(c)) != std::string::npos;
  });
  if (is_plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Whether the interpreter finds the package by itself. One that does not start does not.
Result<bool> has_package(const std::string& interpreter) {
  const std::string look = "import importlib.util, sys; sys.exit(importlib.util.find_spec(\"" +
                           std::string(kPackage) + "\") is None)";
  GRAPHGATE_TRY(const int status,
                run_external_check(interpreter + " -c " + shell_word(look), "", kFindSeconds));
  return status == 0;
}

bool is_backend(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

// "PATH" or "PATH:BACKEND".
Result<std::string> python_command(std::string path, const std::string& adapter) {
  std::string backend;
  const std::size_t colon = path.rfind(':');
  if (colon != std::string::npos) {
    backend = path.substr(colon + 1);
    path.resize(colon);
    if (!is_backend(backend)) {
      return bad_input("expected python:PATH:BACKEND, found the backend '" + backend + "'");
    }
  }
  if (path.empty()) return bad_input("python: needs an interpreter or an environment's folder");
  std::error_code failed;
  const bool is_folder = fs::is_directory(path, failed);
  const std::string interpreter = shell_word(is_folder ? path + "/bin/python" : path);
  GRAPHGATE_TRY(const bool is_installed, has_package(interpreter));
  std::string command = interpreter + " -m " + kPackage + " serve";
  if (!backend.empty()) command += " --backend " + backend;
  if (is_installed || adapter.empty()) return command;
  return "PYTHONPATH=" + shell_word(adapter) + "${PYTHONPATH:+:$PYTHONPATH} " + command;
}

}  // namespace

Result<SideChoice> parse_side(const std::string& text, const std::string& adapter) {
  SideChoice side;
  side.name = text;
  const auto form = find_form(text);
  if (!form) {
    const bool is_stored = text.ends_with(".json");
    side.kind = is_stored ? SideChoice::Kind::kStored : SideChoice::Kind::kProfile;
    (is_stored ? side.file : side.profile) = text;
    return side;
  }
  if (form->begin > 0) side.name = text.substr(0, form->begin - 1);
  side.kind = SideChoice::Kind::kCommand;
  side.command = text.substr(form->begin + form->word.size());
  if (side.command.find_first_not_of(' ') == std::string::npos) {
    return bad_input("'" + text + "': nothing stands behind " + std::string(form->word));
  }
  if (form->word == kCommandWord) return side;
  auto command = python_command(side.command, adapter);
  if (!command.ok()) return command.error().at("'" + text + "'");
  side.command = std::move(command).value();
  return side;
}

std::string torch_adapter_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return "";
  const fs::path folder = program.parent_path();
  for (const fs::path& adapter :
       {folder / "../share/graphgate/adapters/torch", folder / "../../tools/adapters/torch"}) {
    if (fs::is_directory(adapter / kPackage, failed)) return adapter.lexically_normal().string();
  }
  return "";
}

}  // namespace graphgate::tools
