// What a side of a gate is, as it is written on the command line.
//
//   torch-2.9.1,vllm-0.11.1       a profile: the optimized executor, deciding as that release does
//   old.json                      the result of an earlier run
//   cmd:ssh host my-executor      a command that speaks the protocol of docs/executors.md
//   python:/opt/venv              a virtual environment, or a Python interpreter, with PyTorch:
//   python:/opt/venv:compile      the adapter tools/adapters/torch, and a backend of it
//   NAME=cmd:... NAME=python:...  the same, called NAME in reports
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

struct SideChoice {
  enum class Kind { kProfile, kStored, kCommand };
  Kind kind = Kind::kProfile;
  std::string name;     // as reports have it
  std::string profile;  // of kProfile
  std::string file;     // of kStored
  std::string command;  // of kCommand, for `sh -c`
};

// `adapter` is the folder that has the package graphgate_torch; it is used where an interpreter
// does not find one of its own, and may be empty. kBadInput for a form without a command or path.
[[nodiscard]] Result<SideChoice> parse_side(const std::string& text, const std::string& adapter);

// The adapter's folder beside this program: of an installation, or of a build below the sources.
// Empty where there is none.
[[nodiscard]] std::string torch_adapter_folder();

}  // namespace graphgate::tools
