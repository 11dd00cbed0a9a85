#include "tools/executors/python_subject.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "tools/executors/command.h"
#include "tools/executors/process_subject.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackage = "graphgate_torch";
constexpr std::uint32_t kFindSeconds = 60;

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
                run_command(interpreter + " -c " + shell_word(look), "", kFindSeconds));
  return status == 0;
}

bool is_backend(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

}  // namespace

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

MadeSubject python_subject(const std::string& path, const SubjectSettings& settings) {
  GRAPHGATE_TRY(const std::string command, python_command(path, torch_adapter_folder()));
  return process_subject(command, settings);
}

}  // namespace graphgate::tools
