// What the word behind an option is, as --help names it: `--json OUTPUT`.
//
// Every option whose word is a path says so by one of the names of paths. Empty paths are refused
// by it, and a test (cli_paths_test.cpp) tries every such option with every kind of bad path. An
// option that takes a word has a name for it, too: the test knows no word called TEXT.
#pragma once

#include <CLI/CLI.hpp>

namespace graphgate::tools {

namespace takes {

// Paths.
inline constexpr const char* kFile = "FILE";               // is read
inline constexpr const char* kOutput = "OUTPUT";           // is written
inline constexpr const char* kFolder = "FOLDER";           // is read
inline constexpr const char* kOutputFolder = "NEWFOLDER";  // is made where it is missing
// Words that may be paths.
inline constexpr const char* kOverridesFile = "vllm|FILE";
inline constexpr const char* kCase = "CASE";        // a file, a name in a corpus, or an id
inline constexpr const char* kSide = "SIDE";        // of a gate: a profile, FILE.json, a command
inline constexpr const char* kCommand = "COMMAND";  // of a shell

// Other words.
inline constexpr const char* kName = "NAME";
inline constexpr const char* kNames = "NAMES";  // with commas
inline constexpr const char* kDuration = "DURATION";
inline constexpr const char* kBytes = "BYTES";
inline constexpr const char* kWords = "WORDS";  // free text

}  // namespace takes

// Adds a check to each option of a path, of the app and of its verbs: the path is not empty.
void refuse_empty_paths(CLI::App& app);

}  // namespace graphgate::tools
