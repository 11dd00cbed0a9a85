// Scripts that complete graphgate's command line in a shell, made of its table: verbs, options, and
// words, files and folders behind them.
#pragma once

#include <span>
#include <string>

#include "tools/cli/command_table.h"

namespace graphgate::tools {

// Return the text of a script. It needs nothing but its shell, and starts no graphgate.
[[nodiscard]] std::string bash_completion(const VerbText& program);
[[nodiscard]] std::string zsh_completion(const VerbText& program);
[[nodiscard]] std::string fish_completion(const VerbText& program);

struct CompletionShell {
  const char* name;       // "bash"
  const char* file_name;  // what the shell wants the file to be called
  std::string (*script)(const VerbText& program);
};
// Returns those that there is a script for.
[[nodiscard]] std::span<const CompletionShell> completion_shells();

}  // namespace graphgate::tools
