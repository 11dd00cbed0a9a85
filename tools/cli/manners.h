// Manners of the command line that several verbs share: words that were meant, flags that have no
// effect, files that cannot be written, and folders in the place of files.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace graphgate::tools {

// Returns the candidate that was probably meant: at most a third of the word's letters are typed
// otherwise. Empty where there is none.
[[nodiscard]] std::string nearest_word(const std::string& word,
                                       const std::vector<std::string>& candidates);

// Returns "; did you mean 'NAME'?", or nothing.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& candidates);

// What a verb does, by the flag that says so, and the flags that mean something then.
struct FlagMode {
  std::string name;               // as a message has it: "with --verify"
  std::set<std::string> allowed;  // long names, without dashes; --help always is
  bool takes_planner = false;     // the options of an executor, too
};

// kBadInput for the first flag that was given and has no effect in this mode: "--json has no effect
// with --csv". Flags that have a value from nobody but the program do not count.
[[nodiscard]] Result<void> refuse_without_effect(const CLI::App& app, const FlagMode& mode);

// kBadInput for the first of these flags (long names, without dashes) that was given, for a program
// with a recording: that has its own calls and inputs.
[[nodiscard]] Result<void> refuse_beside_recording(const CLI::App& app, const std::string& path,
                                                   const std::set<std::string>& flags);

// kInfrastructure where a file at this path could not be written: said before a run, not after.
// Empty paths and "-" can.
[[nodiscard]] Result<void> check_writable(const std::string& path);

// The same for the path of every output that the app's options were given, whatever the verb: those
// that say OUTPUT in --help, and NEWFOLDERs that would have to be made. kBadInput where two of them
// are one file, or one is a file that is read (FILE, CASE).
[[nodiscard]] Result<void> check_outputs(const CLI::App& app);

// Returns the files, and in the place of each folder the programs (.pt2) and cases (.case) below
// it, sorted. kBadInput for a folder without any.
[[nodiscard]] Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths);

// Returns the files whose path has this part, or is like this pattern with * and ?; all of them
// where it is empty. kBadInput where there is none.
[[nodiscard]] Result<std::vector<std::string>> files_like(const std::vector<std::string>& files,
                                                          const std::string& pattern);

}  // namespace graphgate::tools
