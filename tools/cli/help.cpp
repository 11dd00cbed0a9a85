// graphgate help: what --help says of the program or of a verb, on the terminal or for man(1).
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include "base/atomic_file.h"
#include "tools/cli/command_table.h"
#include "tools/cli/flags.h"
#include "tools/cli/man_page.h"
#include "tools/cli/manners.h"
#include "tools/cli/verb.h"

namespace graphgate::tools {
namespace {

struct HelpVerb {
  const CLI::App* program = nullptr;
  const CLI::App* app = nullptr;
  std::vector<std::string> path;
  bool is_man = false;
  bool is_markdown = false;
  std::string folder;
};

// The verb of these words. kBadInput for a word that is none.
Result<const CLI::App*> verb_at(const CLI::App& program, const std::vector<std::string>& path) {
  const CLI::App* verb = &program;
  for (const std::string& word : path) {
    const auto below = verb->get_subcommands([](const CLI::App*) { return true; });
    const auto found = std::find_if(below.begin(), below.end(),
                                    [&](const CLI::App* each) { return each->get_name() == word; });
    if (found == below.end()) {
      std::vector<std::string> names;
      std::transform(below.begin(), below.end(), std::back_inserter(names),
                     [](const CLI::App* each) { return each->get_name(); });
      return bad_input("unknown verb '" + word + "'" + did_you_mean(word, names) +
                       " ('graphgate help' lists them)");
    }
    verb = *found;
  }
  return verb;
}

// As --help prints it: verbs that were typed behind `help` are not asked.
std::string help_of(const CLI::App& verb) {
  std::vector<std::string> words;
  for (const CLI::App* each = &verb; each != nullptr; each = each->get_parent()) {
    words.push_back(each->get_name());
  }
  std::string called;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    called += (called.empty() ? "" : " ") + *word;
  }
  return verb.get_formatter()->make_help(&verb, called, CLI::AppFormatMode::Normal);
}

struct Page {
  const VerbText* verb;
  const VerbText* parent;
};
void add_pages(const VerbText& verb, const VerbText* parent, std::vector<Page>& pages) {
  pages.push_back({&verb, parent});
  for (const VerbText& below : verb.below) add_pages(below, &verb, pages);
}

Result<void> write_pages(const std::vector<Page>& pages, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return infrastructure(folder + ": cannot be made: " + failed.message());
  for (const auto& [verb, parent] : pages) {
    const auto path = std::filesystem::path(folder) / (man_page_name(*verb) + ".1");
    GRAPHGATE_TRY_VOID(write_text(man_page(*verb, parent), path.string()));
  }
  return {};
}

Result<ExitCode> run_help(const HelpVerb& verb) {
  if (!verb.folder.empty()) {
    GRAPHGATE_TRY_VOID(refuse_without_effect(*verb.app, {"with --man-folder", {"man-folder"}}));
    if (!verb.path.empty()) return bad_input("--man-folder takes all verbs, and names none");
  }
  if (verb.is_markdown) {
    GRAPHGATE_TRY_VOID(refuse_without_effect(*verb.app, {"with --markdown", {"markdown"}}));
    if (!verb.path.empty()) return bad_input("--markdown takes all verbs, and names none");
    GRAPHGATE_TRY_VOID(write_text(markdown_page(command_table(*verb.program)), "-"));
    return ExitCode::kGood;
  }
  GRAPHGATE_TRY(const CLI::App* asked, verb_at(*verb.program, verb.path));
  if (!verb.is_man && verb.folder.empty()) {
    GRAPHGATE_TRY_VOID(write_text(help_of(*asked), "-"));
    return ExitCode::kGood;
  }
  const VerbText program = command_table(*verb.program);
  std::vector<Page> pages;
  add_pages(program, nullptr, pages);
  if (!verb.folder.empty()) {
    GRAPHGATE_TRY_VOID(write_pages(pages, verb.folder));
    return ExitCode::kGood;
  }
  const auto page = std::find_if(pages.begin(), pages.end(),
                                 [&](const Page& each) { return each.verb->path == verb.path; });
  GRAPHGATE_TRY_VOID(write_text(man_page(*page->verb, page->parent), "-"));
  return ExitCode::kGood;
}

}  // namespace

Verb add_help(CLI::App& app) {
  const auto owned = std::make_shared<HelpVerb>();
  HelpVerb& verb = *owned;
  verb.program = &app;
  CLI::App* help = app.add_subcommand("help", "show the options of a verb, or its manual page");
  verb.app = help;
  help->add_option("verb", verb.path,
                   "a verb, or two as 'fuzz merge'; without: what verbs there are")
      ->type_name(takes::kName);
  help->add_flag("--man", verb.is_man, "as a page for man(1)");
  help->add_flag("--markdown", verb.is_markdown, "all verbs, as one page of Markdown");
  help->add_option("--man-folder", verb.folder, "write the pages of all verbs into this folder")
      ->type_name(takes::kOutputFolder);
  help->footer(
      "Examples:\n  graphgate help check\n  graphgate help fuzz merge\n"
      "  graphgate help --man gate > gate.1\n  graphgate help --man-folder man1\n\n"
      "Exit code: 0 shown or written, 3 infrastructure, 4 there is no such verb.");
  return {help, [owned](const auto& /*words*/) { return run_help(*owned); }};
}

}  // namespace graphgate::tools
