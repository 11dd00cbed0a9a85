// Flags that several verbs have, beside those of an executor's options (option_flags.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graphgate::tools {

// What every verb that reads programs takes.
struct ProgramOptions {
  std::vector<std::string> files;       // .pt2 archives or graph text
  std::string data;                     // recorded calls; default: beside each file
  std::vector<std::string> custom_ops;  // op table text with the user's own ops
};
void add_program_options(CLI::App& app, ProgramOptions& options);

}  // namespace graphgate::tools
