// What a side of a gate is, as it is written on the command line.
//
//   torch-2.9.1,vllm-0.11.1       a profile: the optimized executor, deciding as that release does
//   old.json                      the result of an earlier run
//   cmd:COMMAND, python:PATH,     an executor, as every verb names it (executors/subject.h)
//   vllm:PATH
//   NAME=cmd:... NAME=vllm:...    the same, called NAME in reports
#pragma once

#include <memory>
#include <string>

#include "tools/executors/subject.h"

namespace graphgate::tools {

struct SideChoice {
  std::string name;                        // as reports have it
  std::string text;                        // that makes its subject: "cmd:serve", a profile, a file
  std::string profile;                     // of the optimized executor
  std::string file;                        // of an earlier run
  std::shared_ptr<const Subject> subject;  // who runs; null with a file
  [[nodiscard]] bool is_stored() const { return subject == nullptr; }
  [[nodiscard]] bool is_process() const { return subject && subject->is_process(); }
  [[nodiscard]] bool is_profile() const { return subject && !subject->is_process(); }
};

// kBadInput for a form without a command or path.
[[nodiscard]] Result<SideChoice> parse_side(const std::string& text,
                                            const SubjectSettings& settings = {});

}  // namespace graphgate::tools
