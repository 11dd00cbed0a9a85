#include "tools/cli/completions.h"

#include <map>
#include <vector>

#include "base/join_words.h"
#include "base/shell_words.h"

namespace graphgate::tools {
namespace {

std::string path_of(const VerbText& verb) { return join_words(verb.path, " "); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// What stands before every script.
std::string head_of(const std::string& shell) {
  return "# Completes the command line of graphgate " GRAPHGATE_VERSION " in " + shell +
         ". Made by `graphgate completion " + shell + "`.\n";
}

// ---- bash ----

std::string bash_action(const OptionText& option) {
  switch (option.kind) {
    case WordKind::kChoice:
      return "_graphgate_words " + shell_word(join_words(option.choices, " "));
    case WordKind::kList:
      return "_graphgate_list " + shell_word(join_words(option.choices, " "));
    case WordKind::kFile:
      return "compopt -o default";
    case WordKind::kFolder:
      return "compopt -o dirnames";
    case WordKind::kCommand:
      return "COMPREPLY=($(compgen -c -- \"$current\"))";
    default:
      return ":";
  }
}

// "check --json"|"plan --json", by what is done there.
using BashCases = std::map<std::string, std::vector<std::string>>;

std::string bash_cases(const BashCases& cases) {
  std::string text;
  for (const auto& [action, patterns] : cases) {
    text += "    " + join_words(patterns, "|") + ")\n      " + action + "\n      return ;;\n";
  }
  return text;
}

// Words behind an option that takes one; the options of a verb; what stands there without a name.
BashCases bash_values(const VerbText& program) {
  BashCases cases;
  for (const VerbText* verb : with_all_below(program)) {
    for (const OptionText& option : verb->options) {
      if (option.kind == WordKind::kNone) continue;
      for (const std::string& name : option.names) {
        cases[bash_action(option)].push_back("'" + path_of(*verb) + " " + name + "'");
      }
    }
  }
  return cases;
}

BashCases bash_options(const VerbText& program) {
  BashCases cases;
  for (const VerbText* verb : with_all_below(program)) {
    std::vector<std::string> names;
    for (const OptionText& option : verb->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    cases["_graphgate_words " + shell_word(join_words(names, " "))].push_back("'" + path_of(*verb) +
                                                                              "'");
  }
  return cases;
}

BashCases bash_words(const VerbText& program) {
  BashCases cases;
  for (const VerbText* verb : with_all_below(program)) {
    std::string action;
    if (!verb->words.empty()) action = bash_action(verb->words.front());
    if (!verb->below.empty())
      action = "_graphgate_words " + shell_word(join_words(names_below(*verb), " "));
    if (!action.empty()) cases[action].push_back("'" + path_of(*verb) + "'");
  }
  return cases;
}

constexpr const char* kBashHelpers = R"script(
_graphgate_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

# The last of several words with commas.
_graphgate_list() {
  local before=
  [[ $current != *,* ]] || before=${current%,*},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${current##*,}"))
  compopt -o nospace 2>/dev/null
}

_graphgate() {
  local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} verb= i
  COMPREPLY=()
  # `--option=word` comes as three words.
  if [[ $current == '=' ]]; then
    current=
  elif [[ $option == '=' ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${verb:+$verb }${COMP_WORDS[i]}" in
)script";

// ---- zsh ----

// Of a text in square brackets.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string("\\[]:").find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionText& option) {
  switch (option.kind) {
    case WordKind::kChoice:
      return "(" + join_words(option.choices, " ") + ")";
    case WordKind::kList:
      return "_values -s , name " + join_words(option.choices, " ");
    case WordKind::kFile:
      return "_files";
    case WordKind::kFolder:
      return "_files -/";
    case WordKind::kCommand:
      return "_command_names -e";
    default:
      return " ";
  }
}

// The name of a word, for its message: "OUTPUT".
std::string zsh_value(const OptionText& option) {
  return zsh_text(option.value.substr(0, option.value.find(':')));
}

// One line of _arguments for each name.
std::string zsh_option(const OptionText& option) {
  std::string text;
  const std::string others = option.is_repeated ? "*" : "(" + join_words(option.names, " ") + ")";
  for (const std::string& name : option.names) {
    std::string spec = others + name;
    const bool takes_word = option.kind != WordKind::kNone;
    if (takes_word) spec += name.starts_with("--") ? "=" : "+";
    spec += "[" + zsh_text(in_brief(option.help)) + "]";
    if (takes_word) spec += ":" + zsh_value(option) + ":" + zsh_action(option);
    text += " \\\n    " + shell_word(spec);
  }
  return text;
}

std::string zsh_function(const VerbText& verb) {
  std::string name = "_graphgate";
  for (const std::string& word : verb.path) name += "_" + word;
  std::string text = "\n" + name + "() {\n";
  if (!verb.below.empty()) text += "  local curcontext=\"$curcontext\" state line ret=1\n";
  text += "  _arguments -s -S";
  if (!verb.below.empty()) text += " -C";
  for (const OptionText& option : verb.options) text += zsh_option(option);
  if (verb.below.empty()) {
    for (const OptionText& word : verb.words) {
      text += " \\\n    " + shell_word((word.is_repeated ? "*:" : ":") + zsh_value(word) + ":" +
                                       zsh_action(word));
    }
    return text + "\n}\n";
  }
  text +=
      " \\\n    ': :->verb' '*:: :->rest' && ret=0\n  case $state in\n    verb)\n      local -a "
      "verbs=(";
  for (const VerbText& below : verb.below) {
    text += "\n        " + shell_word(below.path.back() + ":" + zsh_text(in_brief(below.help)));
  }
  text += ")\n      _describe -t verbs verb verbs && ret=0 ;;\n    rest)\n      case $line[1] in";
  for (const VerbText& below : verb.below) {
    text +=
        "\n        " + below.path.back() + ") " + name + "_" + below.path.back() + " && ret=0 ;;";
  }
  return text + "\n      esac ;;\n  esac\n  return ret\n}\n";
}

// ---- fish ----

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_action(const OptionText& option) {
  switch (option.kind) {
    case WordKind::kChoice:
      return " -x -a " + fish_quoted(join_words(option.choices, " "));
    case WordKind::kList:
      return " -x -a " + fish_quoted("(__fish_append , " + join_words(option.choices, " ") + ")");
    case WordKind::kFile:
      return " -r -F";
    case WordKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case WordKind::kCommand:
      return " -x -a '(__fish_complete_command)'";
    case WordKind::kFree:
      return " -x";
    case WordKind::kNone:
      break;
  }
  return "";
}

std::string fish_lines(const VerbText& verb) {
  const std::string at =
      "complete -c graphgate -n " + fish_quoted("__graphgate_at " + fish_quoted(path_of(verb)));
  std::string text;
  for (const VerbText& below : verb.below) {
    text += at + " -a " + below.path.back() + " -d " + fish_quoted(in_brief(below.help)) + "\n";
  }
  for (const OptionText& option : verb.options) {
    std::string names;
    for (const std::string& name : option.names) {
      names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    text += at + names + fish_action(option) + " -d " + fish_quoted(in_brief(option.help)) + "\n";
  }
  if (!verb.words.empty()) {
    const OptionText& word = verb.words.front();
    const std::string action = fish_action(word);
    text += word.kind == WordKind::kFile ? at + " -F\n" : at + action + "\n";
  }
  return text;
}

constexpr const char* kFishHead = R"script(
# Whether the verbs that were typed are these.
function __graphgate_at
  set -l verb
  for word in (commandline -opc)[2..-1]
    switch (string join -- ' ' $verb $word)
)script";

}  // namespace

std::string bash_completion(const VerbText& program) {
  std::vector<std::string> paths;
  for (const VerbText* verb : with_all_below(program)) {
    if (!verb->path.empty()) paths.push_back("'" + path_of(*verb) + "'");
  }
  return head_of("bash") + kBashHelpers + "      " + join_words(paths, "|") +
         ")\n        verb=${verb:+$verb }${COMP_WORDS[i]} ;;\n    esac\n  done\n"
         "  case \"$verb $option\" in\n" +
         bash_cases(bash_values(program)) +
         "  esac\n  if [[ $current == -* ]]; then\n    case \"$verb\" in\n" +
         bash_cases(bash_options(program)) + "    esac\n  fi\n  case \"$verb\" in\n" +
         bash_cases(bash_words(program)) + "  esac\n}\n\ncomplete -F _graphgate graphgate\n";
}

std::string zsh_completion(const VerbText& program) {
  // zsh reads the first line of the file.
  std::string text = "#compdef graphgate\n" + head_of("zsh");
  for (const VerbText* verb : with_all_below(program)) text += zsh_function(*verb);
  // As a file of fpath it is the function's body at first; it may be read with `source`, too.
  return text +
         "\nif [[ $funcstack[1] == _graphgate ]]; then\n  _graphgate \"$@\"\nelse\n"
         "  compdef _graphgate graphgate\nfi\n";
}

std::string fish_completion(const VerbText& program) {
  std::vector<std::string> paths;
  for (const VerbText* verb : with_all_below(program)) {
    if (!verb->path.empty()) paths.push_back(fish_quoted(path_of(*verb)));
  }
  std::string text = head_of("fish") + kFishHead + "      case " + join_words(paths, " ") +
                     "\n        set verb $verb $word\n    end\n  end\n"
                     "  test \"$verb\" = \"$argv[1]\"\nend\n\ncomplete -c graphgate -f\n";
  for (const VerbText* verb : with_all_below(program)) text += fish_lines(*verb);
  return text;
}

std::span<const CompletionShell> completion_shells() {
  static constexpr CompletionShell kShells[] = {{"bash", "graphgate", bash_completion},
                                                {"zsh", "_graphgate", zsh_completion},
                                                {"fish", "graphgate.fish", fish_completion}};
  return kShells;
}

}  // namespace graphgate::tools
