// The command line as plain data, read from the declared verbs: what man pages and completions are
// made of. So they have each verb, each option and each text that --help has, and no others.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graphgate::tools {

// What may be typed where a word is expected.
enum class WordKind {
  kNone,     // a switch: no word follows
  kFree,     // a number, a name, a text
  kChoice,   // one of `choices`
  kList,     // several of `choices`, with commas
  kFile,     // the path of a file
  kFolder,   // the path of a folder
  kCommand,  // a command of a shell
};

// An option, or a word without a name. Names are as they are typed: "--json", "-q".
struct OptionText {
  std::vector<std::string> names;  // the short ones first; empty: a word without a name
  std::string title;               // of such a word: "files"
  std::string value;               // as --help has it: "OUTPUT", "TEXT:{host,cuda}"; "": a switch
  std::string usual;               // the default, where --help says it
  std::string words;               // of value, default and what goes with it: "1 to 8, default 4"
  std::string help;
  std::string group;  // the heading in --help: "Options"
  WordKind kind = WordKind::kNone;
  std::vector<std::string> choices;
  bool is_repeated = false;
  bool is_required = false;
};

// A verb, or the program itself with an empty path.
struct VerbText {
  std::vector<std::string> path;  // {"fuzz", "merge"}
  std::string help;               // one line
  std::string footer;  // paragraphs behind the options in --help, with blank lines between
  std::vector<OptionText> options;
  std::vector<OptionText> words;      // those without a name
  std::vector<std::string> examples;  // lines of the footer
  std::vector<VerbText> below;
};

// Returns the program with all its verbs.
[[nodiscard]] VerbText command_table(const CLI::App& program);

// Returns the verb and all below it, those above first.
[[nodiscard]] std::vector<const VerbText*> with_all_below(const VerbText& verb);

// Returns the names of the verbs right below.
[[nodiscard]] std::vector<std::string> names_below(const VerbText& verb);

// Returns the text up to where it goes into detail (a bracket, a colon, a semicolon), for lists.
[[nodiscard]] std::string in_brief(const std::string& help);

}  // namespace graphgate::tools
