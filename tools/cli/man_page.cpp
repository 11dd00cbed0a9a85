#include "tools/cli/man_page.h"

#include <algorithm>
#include <vector>

#include "tools/cli/flags.h"

namespace graphgate::tools {
namespace {

// A text in which nothing is a request or an escape of troff. Each `-` is one that can be pasted.
std::string troff(const std::string& text) {
  std::string out;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    is_line_start = c == '\n';
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + troff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + troff(text) + "\\fR"; }

std::string command_of(const VerbText& verb) {
  std::string text = "graphgate";
  for (const std::string& word : verb.path) text += " " + word;
  return text;
}

std::string usage_of(const OptionText& word) {
  std::string text = italic(word.title) + (word.is_repeated ? " ..." : "");
  return word.is_required ? text : "[" + text + "]";
}

std::string synopsis(const VerbText& verb) {
  std::string text = bold(command_of(verb)) + " [" + italic("options") + "]";
  for (const OptionText& word : verb.words) text += " " + usage_of(word);
  if (!verb.below.empty()) text += " " + italic("verb") + " ...";
  return text + "\n";
}

std::string entry(const OptionText& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (head.empty()) head = italic(option.title);
  if (!option.words.empty()) head += " " + italic(option.words);
  std::string help = troff(option.help);
  if (option.is_required) help += " (required)";
  return ".TP\n" + head + "\n" + help + "\n";
}

// Options under the headings of --help, in its order.
std::string sections_of_options(const std::vector<OptionText>& options) {
  std::vector<std::string> groups;
  for (const OptionText& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    std::string heading = group;
    std::transform(heading.begin(), heading.end(), heading.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text += ".SH " + troff(heading) + "\n";
    for (const OptionText& option : options) {
      if (option.group == group) text += entry(option);
    }
  }
  return text;
}

std::vector<std::string> paragraphs_of(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    if (end > begin) all.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return all;
}

// What stands behind the options in --help, beside examples.
struct Footer {
  std::string notes;
  std::string exit_codes;
};

Footer footer_of(const VerbText& verb) {
  Footer footer;
  constexpr const char* kExit = "Exit code: ";
  for (const std::string& paragraph : paragraphs_of(verb.footer)) {
    if (paragraph.starts_with("Example")) continue;
    if (paragraph.starts_with(kExit)) {
      footer.exit_codes += troff(paragraph.substr(std::string(kExit).size())) + "\n";
    } else {
      footer.notes += ".PP\n" + troff(paragraph) + "\n";
    }
  }
  return footer;
}

std::string reference_to(const VerbText& verb) { return bold(man_page_name(verb)) + "(1)"; }

std::string markdown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*') out += '\\';
    out += c == '<' ? "&lt;" : std::string(1, c);
  }
  return out;
}

std::string markdown_row(const OptionText& option) {
  std::string names = option.title;
  if (!option.names.empty()) names.clear();
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
  const std::string value = option.words + (option.is_required ? " (required)" : "");
  return "| `" + names + "` | " + markdown(value) + " | " + markdown(option.help) + " |\n";
}

std::string markdown_section(const VerbText& verb) {
  std::string text = "\n## " + command_of(verb).substr(std::string("graphgate ").size()) + "\n\n";
  std::string help = verb.help;
  help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  text += help + ".\n";
  std::string rows;
  bool takes_planner = false;
  for (const OptionText& word : verb.words) rows += markdown_row(word);
  for (const OptionText& option : verb.options) {
    const bool is_of_all = option.names.back() == "--help" || option.names.back() == "--text-limit";
    takes_planner |= option.group == kPlannerGroup;
    if (!is_of_all && option.group != kPlannerGroup) rows += markdown_row(option);
  }
  if (!rows.empty()) text += "\n| flag | value | what |\n| --- | --- | --- |\n" + rows;
  if (takes_planner) text += "\nIt takes all [options of the executor](options.md), too.\n";
  if (verb.examples.empty()) return text;
  text += "\n```\n";
  for (const std::string& example : verb.examples) text += example + "\n";
  return text + "```\n";
}

}  // namespace

std::string markdown_page(const VerbText& program) {
  std::string text =
      "# Every flag\n\n"
      "Written by `graphgate help --markdown`, from the texts in `tools/cli/`. What the verbs are "
      "for "
      "is in\n[verbs](verbs.md), and so are [exit codes](verbs.md#exit-codes) and [what FILE, "
      "FOLDER "
      "and OUTPUT mean](verbs.md#files).\n\n"
      "Each verb also takes `--help`, and those that read texts take `--text-limit BYTES`, the "
      "most "
      "that is read of each.\n";
  for (const VerbText* verb : with_all_below(program)) {
    if (!verb->path.empty()) text += markdown_section(*verb);
  }
  return text;
}

std::string man_page_name(const VerbText& verb) {
  std::string name = "graphgate";
  for (const std::string& word : verb.path) name += "-" + word;
  return name;
}

std::string man_page(const VerbText& verb, const VerbText* parent) {
  const std::string name = man_page_name(verb);
  const Footer footer = footer_of(verb);
  std::string text = ".\\\" Made by `graphgate help --man`.\n.TH " + troff(name) +
                     " 1 \"\" \"graphgate " GRAPHGATE_VERSION
                     "\" \"User Commands\"\n"
                     ".SH NAME\n" +
                     troff(name) + " \\- " + troff(verb.help) +
                     "\n"
                     ".SH SYNOPSIS\n" +
                     synopsis(verb);
  if (!footer.notes.empty()) {
    text += ".SH DESCRIPTION\n" + footer.notes.substr(std::string(".PP\n").size());
  }
  if (!verb.words.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionText& word : verb.words) text += entry(word);
  text += sections_of_options(verb.options);
  if (!verb.below.empty()) text += ".SH VERBS\n";
  for (const VerbText& below : verb.below) {
    text += ".TP\n" + reference_to(below) + "\n" + troff(below.help) + "\n";
  }
  if (!footer.exit_codes.empty()) text += ".SH EXIT STATUS\n" + footer.exit_codes;
  if (!verb.examples.empty()) text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : verb.examples) text += troff(example) + "\n";
  if (!verb.examples.empty()) text += ".fi\n";
  if (parent != nullptr) text += ".SH SEE ALSO\n" + reference_to(*parent) + "\n";
  return text;
}

}  // namespace graphgate::tools
