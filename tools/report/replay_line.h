// Lines of sh that show a finding again: whole, so that they can be pasted as they stand.
//
//   PYTHONPATH=adapters graphgate replay g9:1:7 --exclude scatter --executor 'python3 -m x serve'
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/configuration.h"

namespace graphgate::tools {

// Returns assignments of sh for the variables of this process's environment that decide what a
// command under test does (PYTHONPATH, those of PyTorch and vLLM...); empty where none is set.
[[nodiscard]] std::string replay_environment();

// Returns the flags that give an executor these options: "--memory", "lines". An option that may be
// repeated is.
[[nodiscard]] std::vector<std::string> option_words(const spec::Configuration& options);

// Returns the flag and its value, as one word where the value would be taken for a flag.
[[nodiscard]] std::vector<std::string> flag_words(const std::string& name,
                                                  const std::string& value);

// Returns the line: the assignments, which are sh already, then the words, quoted where sh needs
// it.
[[nodiscard]] std::string replay_line(const std::string& environment,
                                      const std::vector<std::string>& words);

// Returns an executor's options as words of sh, as a campaign's settings keep them, and reads them
// back. A text that is none gives what could be read of it.
[[nodiscard]] std::string print_option_setting(const spec::Configuration& options);
[[nodiscard]] spec::Configuration parse_option_setting(const std::string& text);

}  // namespace graphgate::tools
