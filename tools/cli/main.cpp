// The command line: declares the verbs, runs the one that was asked for, turns an Error into one
// line and an exit code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/scratch_paths.h"
#include "base/shell_words.h"
#include "base/stop_signals.h"
#include "base/text_limit.h"
#include "base/uncaught.h"
#include "spec/configuration.h"
#include "tools/cli/flags.h"
#include "tools/cli/manners.h"
#include "tools/cli/quantities.h"
#include "tools/cli/verb.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/machine_facts.h"

extern const char* const kGraphgateCommit;  // cmake/commit.cmake

namespace {

using graphgate::tools::ExitCode;

struct NamedVerb {
  std::string_view name;
  graphgate::tools::Verb (*add)(CLI::App& app);
};
// In the order of --help.
constexpr NamedVerb kVerbs[] = {
    {"check", graphgate::tools::add_check},     {"plan", graphgate::tools::add_plan},
    {"run", graphgate::tools::add_run},         {"ops", graphgate::tools::add_ops},
    {"convert", graphgate::tools::add_convert}, {"bench", graphgate::tools::add_bench},
    {"mutants", graphgate::tools::add_mutants}, {"fuzz", graphgate::tools::add_fuzz},
    {"reduce", graphgate::tools::add_reduce},   {"replay", graphgate::tools::add_replay},
    {"gate", graphgate::tools::add_gate},       {"golden", graphgate::tools::add_golden},
    {"serve", graphgate::tools::add_serve},     {"doctor", graphgate::tools::add_doctor},
    {"help", graphgate::tools::add_help},       {"completion", graphgate::tools::add_completion}};

// Adds the verb that the command line names, or all verbs where it names none, or one that tells of
// all: making the options of all takes a third of what a small run takes.
std::vector<graphgate::tools::Verb> add_verbs(CLI::App& app,
                                              const std::vector<std::string>& words) {
  const std::string_view word = words.size() > 1 ? std::string_view(words[1]) : "";
  const auto* const named =
      std::ranges::find_if(kVerbs, [&](const NamedVerb& verb) { return verb.name == word; });
  const bool is_about_one = named != std::end(kVerbs) && word != "help" && word != "completion";
  std::vector<graphgate::tools::Verb> verbs;
  for (const NamedVerb& verb : kVerbs) {
    if (is_about_one && verb.name != word) continue;
    verbs.push_back(verb.add(app));
    GRAPHGATE_CHECK(verbs.back().app->get_name() == verb.name);
  }
  return verbs;
}

int finish(graphgate::Result<ExitCode> result) {
  const auto logged = graphgate::tools::ProtocolLog::close_all();
  if (result.ok() && !logged.ok()) result = logged.error();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (result.ok() && written) return static_cast<int>(result.value());
  if (result.ok()) {
    std::fprintf(stderr, "graphgate: standard output cannot be written\n");
    return static_cast<int>(ExitCode::kInfrastructure);
  }
  graphgate::tools::print_line(stderr, "graphgate: " + result.error().message);
  return static_cast<int>(graphgate::tools::exit_code_of(result.error().kind));
}

// Adds to a verb, or to each below it, the flag that all have.
void add_text_limit(CLI::App& app, std::string& bytes) {
  const auto below = app.get_subcommands({});
  for (CLI::App* verb : below) add_text_limit(*verb, bytes);
  if (!below.empty() && app.get_require_subcommand_min() > 0) return;
  app.add_option("--text-limit", bytes,
                 "bytes of each text that is read: 64M, 4GiB (default: 1GiB, and at most half of "
                 "the memory)")
      ->type_name("BYTES");
}

graphgate::Result<void> take_text_limit(const std::string& text) {
  if (text.empty()) return {};
  const auto bytes = graphgate::tools::parse_bytes(text);
  if (!bytes.ok()) return bytes.error().at("--text-limit");
  if (bytes.value() == 0) return graphgate::bad_input("--text-limit: expected at least 1 byte");
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - 1);
  graphgate::limit_texts(static_cast<std::int64_t>(std::min(bytes.value(), kMost)));
  return {};
}

// The flags of a verb, as they are typed.
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

// Of words that nobody expected, the first flag that is nearly one of the verb's.
std::string meant_flag(const CLI::App& verb, const std::string& message) {
  for (std::size_t begin = message.find("--"); begin != std::string::npos;
       begin = message.find("--", begin + 2)) {
    const std::string flag = message.substr(begin, message.find_first_of(" =", begin) - begin);
    const std::string meant = graphgate::tools::did_you_mean(flag, flags_of(verb));
    if (!meant.empty()) return meant;
  }
  return "";
}

// Of a message "WORD not in {A,B}", the one that is nearly the word.
std::string meant_choice(const std::string& message) {
  const std::size_t middle = message.find(" not in {");
  const std::size_t end = message.rfind('}');
  if (middle == std::string::npos || end == std::string::npos || end < middle) return "";
  const std::size_t before = message.rfind(' ', middle - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t list = middle + std::string(" not in {").size();
  return graphgate::tools::did_you_mean(
      message.substr(begin, middle - begin),
      graphgate::spec::split_list(message.substr(list, end - list)));
}

// The last verb that was typed, and what it is called: "graphgate golden check".
std::pair<const CLI::App*, std::string> last_verb(const CLI::App& app) {
  std::pair<const CLI::App*, std::string> last = {&app, "graphgate"};
  while (!last.first->get_subcommands().empty()) {
    last.first = last.first->get_subcommands().front();
    last.second += " " + last.first->get_name();
  }
  return last;
}

// "--streams: does not take 'few'" of CLI11's "Could not convert: --streams = few".
std::string said_as_others(const std::string& message) {
  const std::string begin = "Could not convert: ";
  const std::size_t middle = message.find(" = ");
  if (!message.starts_with(begin) || middle == std::string::npos) return message;
  return message.substr(begin.size(), middle - begin.size()) + ": does not take '" +
         message.substr(middle + 3) + "'";
}

// One line, as for all wrong input.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const auto [last, verb] = last_verb(*app);
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const std::string message = said_as_others(error.what());
  return graphgate::tools::plain_text(
             "graphgate: " + message +
             (is_extra ? meant_flag(*last, message) : meant_choice(message)) + " ('" + verb +
             " --help' shows the options)") +
         "\n";
}

// Where a verb is missing: what was typed in its place, an unknown verb or flag; empty if nothing.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const auto [last, called] = last_verb(app);
  std::size_t at = 1;
  for (const CLI::App* verb = &app; verb != last; ++at) verb = verb->get_subcommands().front();
  if (at >= words.size()) return "";
  const std::string& word = words[at];
  const bool is_flag = word.starts_with('-');
  const std::string meant =
      graphgate::tools::did_you_mean(word, is_flag ? flags_of(*last) : verbs_of(*last));
  return std::string("graphgate: unknown ") + (is_flag ? "flag" : "verb") + " '" + word + "'" +
         meant + " ('" + called + " --help' lists them)";
}

// A line as a report prints it, pasted as the last word behind a verb, and behind flags of it: its
// words instead. What stands before the program's name in it is set in this process's environment.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (argc < 3 || words.back().find("graphgate ") == std::string::npos) return words;
  auto line = graphgate::split_shell_line(words.back());
  if (!line.ok()) return words;
  std::vector<std::string>& parts = line.value();
  const auto program = std::find(parts.begin(), parts.end(), "graphgate");
  const bool is_line = std::all_of(parts.begin(), program, [](const std::string& part) {
    const std::size_t equals = part.find('=');
    return equals != std::string::npos && part.find_first_of("/ -") > equals;
  });
  if (parts.end() - program < 2 || !is_line) return words;
  // Behind flags it may be the value of one, as a command to start: it has another verb then.
  if (argc > 3 && *(program + 1) != words[1]) return words;
  for (auto part = parts.begin(); part != program; ++part) {
    const std::size_t equals = part->find('=');
    (void)::setenv(part->substr(0, equals).c_str(), part->c_str() + equals + 1, 1);
  }
  words.pop_back();
  words[1] = *(program + 1);  // the line names its verb
  words.insert(words.end(), program + 2, parts.end());
  return words;
}

// The name and the version, and a line for each fact besides, as a report of a bug needs them.
std::string version_text() {
  auto facts = graphgate::tools::build_facts();
  const std::string version = facts.at("version").get<std::string>();
  facts.erase("version");
  const std::string text = "graphgate " + version + "\n" + graphgate::tools::facts_text(facts);
  return text.substr(0, text.size() - 1);  // whoever prints it ends the line
}

int run(int argc, char** given) {
  std::vector<std::string> words = words_of(argc, given);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  argc = static_cast<int>(words.size());
  char** const argv = pointers.data();
  CLI::App app{"Tells whether a graph executor still computes what the graph says."};
  app.set_version_flag("--version", version_text, "say the version, and of what it was built");
  app.require_subcommand(1);
  app.failure_message(usage_error);
  app.footer(
      "`graphgate help VERB` shows the options of a verb and an example, as `graphgate VERB "
      "--help` "
      "does.\n\n"
      "Exit code: 0 all good, 1 findings, 2 inconclusive, 3 infrastructure, 4 usage or bad input, "
      "5 a defect of graphgate.");
  const std::vector<graphgate::tools::Verb> verbs = add_verbs(app, words);
  std::string text_limit;
  for (CLI::App* verb : app.get_subcommands({})) add_text_limit(*verb, text_limit);
  graphgate::tools::refuse_wrong_words(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const bool needs_verb = last_verb(app).first->get_require_subcommand_min() > 0;
    const std::string unknown = needs_verb ? unknown_word(app, words) : "";
    if (unknown.empty()) {
      app.exit(error);
    } else {
      graphgate::tools::print_line(stderr, unknown);
    }
    return static_cast<int>(ExitCode::kBadInput);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    app.exit(error);
    return is_help ? finish(ExitCode::kGood) : static_cast<int>(ExitCode::kBadInput);
  }
  const auto limited = take_text_limit(text_limit);
  if (!limited.ok()) return finish(limited.error());
  const auto writable = graphgate::tools::check_outputs(app);
  if (!writable.ok()) return finish(writable.error());
  for (const graphgate::tools::Verb& verb : verbs) {
    if (verb.app->parsed()) return finish(verb.run(words));
  }
  return static_cast<int>(ExitCode::kBadInput);
}

// Before any library is set up: the allocator's first act is to ask for memory.
void begin_process() {
  graphgate::refuse_little_memory(static_cast<int>(ExitCode::kInfrastructure));
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBegin)() = begin_process;

// Before what other files set up.
[[gnu::constructor(101)]] void begin() {
  graphgate::end_cleanly_on_throws(
      {static_cast<int>(ExitCode::kInfrastructure), static_cast<int>(ExitCode::kInternal)});
}

}  // namespace

int main(int argc, char** argv) {
  graphgate::end_cleanly_on_signals();
  try {
    graphgate::tools::note_commit(kGraphgateCommit);
    return run(argc, argv);
  } catch (...) {
    const int code = graphgate::tell_of_uncaught();
    graphgate::remove_scratch();  // of what outlives the stack: logs that have no name yet
    return code;
  }
}
