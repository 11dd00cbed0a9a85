// An environment with PyTorch or vLLM as an executor: its interpreter runs the adapter of
// tools/adapters/torch or tools/adapters/vllm.
#pragma once

#include "tools/executors/subject.h"

namespace graphgate::tools {

// An adapter in Python, and the part of it that stands behind the path.
struct PythonAdapter {
  const char* word;       // that the subject begins with: "python"
  const char* package;    // "graphgate_torch"
  const char* folder;     // below tools/adapters, or share/graphgate/adapters: "torch"
  const char* part;       // what may stand behind the path, in words: "backend"
  const char* part_form;  // "BACKEND"
  const char* flag;       // of its verb serve: "--backend"
};
inline constexpr PythonAdapter kTorchAdapter = {"python",  "graphgate_torch", "torch",
                                                "backend", "BACKEND",         "--backend"};
inline constexpr PythonAdapter kVllmAdapter = {"vllm",     "graphgate_vllm", "vllm",
                                               "compiler", "COMPILER",       "--compiler"};

// Returns the command that serves "PATH" or "PATH:PART": a virtual environment's folder, or an
// interpreter. `folder` is that of the adapter's package; it is used where the interpreter does not
// find the package by itself, and may be empty. kBadInput for a form without a path.
[[nodiscard]] Result<std::string> python_command(std::string path, const std::string& folder,
                                                 const PythonAdapter& adapter = kTorchAdapter);

// Returns the adapter's folder beside this program: of an installation, or of a build below the
// sources; empty where there is none.
[[nodiscard]] std::string adapter_folder(const PythonAdapter& adapter);

// Makes the process of that command, with that folder.
[[nodiscard]] MadeSubject python_subject(const std::string& path, const SubjectSettings& settings);
[[nodiscard]] MadeSubject vllm_subject(const std::string& path, const SubjectSettings& settings);

}  // namespace graphgate::tools
