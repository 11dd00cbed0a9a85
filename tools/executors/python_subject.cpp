#include "tools/executors/python_subject.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/shell_words.h"
#include "tools/executors/command.h"
#include "tools/executors/process_subject.h"
#include "tools/store/bundled_data.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFindSeconds = 60;

// Whether the interpreter finds the package by itself. One that does not start does not.
Result<bool> has_package(const std::string& interpreter, const char* package) {
  const std::string look = "import importlib.util, sys; sys.exit(importlib.util.find_spec(\"" +
                           std::string(package) + "\") is None)";
  GRAPHGATE_TRY(const int status,
                run_command(interpreter + " -c " + shell_word(look), "", kFindSeconds));
  return status == 0;
}

bool is_part(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

MadeSubject subject_of(const std::string& path, const PythonAdapter& adapter,
                       const SubjectSettings& settings) {
  GRAPHGATE_TRY(const std::string command, python_command(path, adapter_folder(adapter), adapter));
  return process_subject(command, settings);
}

}  // namespace

std::string adapter_folder(const PythonAdapter& adapter) {
  const std::string adapters = bundled_adapters();
  if (adapters.empty()) return "";
  const fs::path own = fs::path(adapters) / adapter.folder;
  std::error_code failed;
  return fs::is_directory(own / adapter.package, failed) ? own.string() : "";
}

Result<std::string> python_command(std::string path, const std::string& folder,
                                   const PythonAdapter& adapter) {
  const std::string word = adapter.word;
  std::string part;
  const std::size_t colon = path.rfind(':');
  if (colon != std::string::npos) {
    part = path.substr(colon + 1);
    path.resize(colon);
    if (!is_part(part)) {
      return bad_input("expected " + word + ":PATH:" + adapter.part_form + ", found the " +
                       adapter.part + " '" + part + "'");
    }
  }
  if (path.empty()) return bad_input(word + ": needs an interpreter or an environment's folder");
  std::error_code failed;
  const bool is_folder = fs::is_directory(path, failed);
  const std::string interpreter = shell_word(is_folder ? path + "/bin/python" : path);
  GRAPHGATE_TRY(const bool is_installed, has_package(interpreter, adapter.package));
  std::string command = interpreter + " -m " + adapter.package + " serve";
  if (!part.empty()) command += std::string(" ") + adapter.flag + " " + part;
  if (is_installed || folder.empty()) return command;
  return "PYTHONPATH=" + shell_word(folder) + "${PYTHONPATH:+:$PYTHONPATH} " + command;
}

MadeSubject python_subject(const std::string& path, const SubjectSettings& settings) {
  return subject_of(path, kTorchAdapter, settings);
}

MadeSubject vllm_subject(const std::string& path, const SubjectSettings& settings) {
  return subject_of(path, kVllmAdapter, settings);
}

}  // namespace graphgate::tools
