#include "tools/cli/command_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "spec/configuration.h"
#include "tools/cli/flags.h"

namespace graphgate::tools {
namespace {

// The words in the braces of "TEXT:{host,cuda}".
std::vector<std::string> words_in_braces(const std::string& value) {
  const std::size_t begin = value.find('{');
  const std::size_t end = value.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return spec::split_list(value.substr(begin + 1, end - begin - 1));
}

WordKind kind_of(const CLI::Option& option, const OptionText& text) {
  const bool takes_word = option.get_items_expected_max() > 0;
  if (!takes_word) return WordKind::kNone;
  if (!text.choices.empty()) {
    return text.value == takes::kNames ? WordKind::kList : WordKind::kChoice;
  }
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), text.value) != names.end();
  };
  if (is_one_of({takes::kFile, takes::kOutput, takes::kCase, takes::kSide, takes::kOverridesFile}))
    return WordKind::kFile;
  if (is_one_of({takes::kFolder, takes::kOutputFolder})) return WordKind::kFolder;
  return text.value == takes::kCommand ? WordKind::kCommand : WordKind::kFree;
}

std::string join_names(const char* word, const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  std::string text;
  for (const std::string& name : names) text += " " + name;
  return text.empty() ? "" : word + text;
}

// "TEXT:{host,cuda}" as "host, cuda", "INT:INT in [1 - 8]" as "1 to 8".
std::string value_in_words(const OptionText& text) {
  std::string value = text.value;
  const std::size_t colon = value.find(':');
  const std::string type = value.substr(0, colon);
  const bool is_typed = type == "INT" || type == "UINT" || type == "FLOAT" || type == "TEXT";
  if (colon != std::string::npos && is_typed) value.erase(0, colon + 1);
  const std::size_t range = value.find(" in [");
  if (value.starts_with('{')) {
    value.clear();
    for (const std::string& word : text.choices) value += (value.empty() ? "" : ", ") + word;
  } else if (range != std::string::npos) {
    value = value.substr(range + 5, value.size() - range - 6);
    value.replace(value.find(" - "), 3, " to ");
  } else if (value == "POSITIVE") {
    value = "a number over 0";
  }
  return text.usual.empty() ? value : value + ", default " + text.usual;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  const bool takes_word = option.get_items_expected_max() > 0;
  if (option.get_positional()) text.title = option.get_name(true);
  if (takes_word) {
    text.value = option.get_type_name();
    text.usual = option.get_default_str();
    text.choices = words_in_braces(text.value);
    if (text.choices.empty() && !option.get_lnames().empty()) {
      text.choices = known_words(option.get_lnames().front());
    }
  }
  text.kind = kind_of(option, text);
  text.is_repeated =
      takes_word && option.get_expected_max() == CLI::detail::expected_max_vector_size;
  text.words = value_in_words(text) + (text.is_repeated ? " ..." : "");
  for (const std::string& with :
       {join_names("with", option.get_needs()), join_names("not with", option.get_excludes())}) {
    if (!with.empty()) text.words += (text.words.empty() ? "" : " ") + with;
  }
  text.help = option.get_description();
  text.group = option.get_group();
  text.is_required = option.get_required();
  return text;
}

VerbText verb_text(const CLI::App& app, std::vector<std::string> path) {
  VerbText verb;
  verb.path = std::move(path);
  verb.help = app.get_description();
  verb.footer = app.get_footer();
  const std::size_t begin = verb.footer.find("Example");
  const std::string shown = begin == std::string::npos ? "" : verb.footer.substr(begin);
  std::istringstream lines(shown.substr(0, shown.find("\n\n")));
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    verb.examples.push_back(line.substr(line.find_first_not_of(' ')));
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    OptionText text = option_text(*option);
    // One with a name besides, as `convert IN OUT` and `-o`, stands in both lists.
    if (option->get_positional()) {
      OptionText word = text;
      word.names.clear();
      verb.words.push_back(std::move(word));
    }
    if (!text.names.empty()) verb.options.push_back(std::move(text));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<std::string> longer = verb.path;
    longer.push_back(below->get_name());
    verb.below.push_back(verb_text(*below, std::move(longer)));
  }
  return verb;
}

void add_with_all_below(const VerbText& verb, std::vector<const VerbText*>& all) {
  all.push_back(&verb);
  for (const VerbText& below : verb.below) add_with_all_below(below, all);
}

}  // namespace

VerbText command_table(const CLI::App& program) {
  VerbText table = verb_text(program, {});
  // The words of `help` are verbs, which are known once all are declared.
  for (VerbText& verb : table.below) {
    if (verb.path.back() != "help") continue;
    for (OptionText& word : verb.words) {
      word.choices = names_below(table);
      word.kind = WordKind::kChoice;
    }
  }
  return table;
}

std::vector<const VerbText*> with_all_below(const VerbText& verb) {
  std::vector<const VerbText*> all;
  add_with_all_below(verb, all);
  return all;
}

std::vector<std::string> names_below(const VerbText& verb) {
  std::vector<std::string> names;
  std::transform(verb.below.begin(), verb.below.end(), std::back_inserter(names),
                 [](const VerbText& below) { return below.path.back(); });
  return names;
}

std::string in_brief(const std::string& help) {
  std::size_t end = help.size();
  for (const char* detail : {" (", ": ", "; "}) end = std::min(end, help.find(detail));
  return help.substr(0, end);
}

}  // namespace graphgate::tools
