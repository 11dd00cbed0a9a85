// Nobody spells an option by hand: code that must mention one takes its name from spec/option.h.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/file_io.h"
#include "base/result_test.h"
#include "spec/option.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

// Where a word is no option, though one is called so; empty: whatever word. A part of a path.
struct OtherMeaning {
  std::string path;
  std::string word;
  bool is_used = false;
};
std::vector<OtherMeaning> other_meanings() {
  return {
      {"fuzz/families/", ""},                      // arguments of ops
      {"fuzz/generate/draft.cpp", "device"},       // the same
      {"fuzz/generate/alphabet.cpp", ""},          // traits of drawn cases
      {"fuzz/generate/features.cpp", "streams"},   // a trait
      {"judges/plan_quality.cpp", "no-reuse"},     // a figure of plans
      {"plan_intent_dispatch.cpp", "mode"},        // of the key of a plan
      {"run/compile_once.cpp", "partition"},       // a mode of the wrapper
      {"draw_options.cpp", "partition"},           // the same
      {"optimized_executor.cpp", "partition"},     // the same
      {"optimized_options.cpp", "partition"},      // the same
      {"golden/golden_diff.cpp", "no-reuse"},      // the same
      {"golden/golden_diff.cpp", "kernels"},       // a block of records
      {"golden/golden_text.cpp", ""},              // the same
      {"campaign/endings.cpp", "memory"},          // a detector of signatures
      {"campaign/case_runs.cpp", "memory"},        // the same
      {"tools/bench/", ""},                        // members of JSON
      {"cli/mutants.cpp", "deviation"},            // a kind of mutant
      {"cli/run.cpp", "mode"},                     // of run: who rounds
      {"cli/serve.cpp", "mode"},                   // members of messages
      {"executors/process_subject.cpp", "mode"},   //
      {"store/promises.cpp", ""},                  //
      {"executors/python_subject.h", "compiler"},  // what stands behind a path to vLLM, and a flag
      {"gate/gate_overrides.cpp", "overrides"},    // members of JSON
      {"gate/gate_report.cpp", "overrides"},       //
      {"cli/gate.cpp", "device"},                  // what a journal is of
      {"cli/gate.cpp", "overrides"},               // the same
      {"gate/kind.cpp", "memory"},                 // a detector of signatures
      {"gate/kind.cpp", "cache"},                  // a kind of regression
      {"gate/kind.cpp", "semantics"},              // the same
      {"machine_facts.cpp", ""},                   //
      {"tools/store/", ""},                        //
  };
}

bool is_looked_at(const fs::path& path) {
  const std::string name = path.filename().string();
  return (path.extension() == ".h" || path.extension() == ".cpp") &&
         name.find("_test.") == std::string::npos && name.find("test_") == std::string::npos &&
         path.string().find("/tests/") == std::string::npos;
}

bool is_option(const std::string& word) {
  const auto rows = spec::option_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const spec::OptionRow& row) { return row.name == word; });
}

// Whether the word stands for something else there, which uses up that meaning.
bool means_another(const std::string& path, const std::string& word,
                   std::vector<OtherMeaning>& meanings) {
  bool is_other = false;
  for (OtherMeaning& meaning : meanings) {
    if (path.find(meaning.path) == std::string::npos) continue;
    if (!meaning.word.empty() && meaning.word != word) continue;
    meaning.is_used = is_other = true;
  }
  return is_other;
}

TEST(OptionNames, StandInNoOtherPlace) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  const std::regex literal("\"(?:--)?([a-z][a-z-]*)(?:=[^\"]*)?\"");
  std::vector<OtherMeaning> meanings = other_meanings();
  std::size_t files = 0;
  for (const char* folder : {"conformance", "fuzz", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!is_looked_at(entry.path())) continue;
      ++files;
      const std::string path = fs::relative(entry.path(), root).string();
      std::ifstream file(entry.path());
      std::size_t number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        const std::string code = line.substr(0, line.find("//"));
        for (std::sregex_iterator at(code.begin(), code.end(), literal), end; at != end; ++at) {
          const std::string word = (*at)[1];
          if (!is_option(word) || means_another(path, word, meanings)) continue;
          ADD_FAILURE() << path << ":" << number << ": \"" << word
                        << "\" is spelled by hand: take spec::option's name for it";
        }
      }
    }
  }
  EXPECT_GT(files, 200U);
  for (const OtherMeaning& meaning : meanings) {
    EXPECT_TRUE(meaning.is_used) << meaning.path << " " << meaning.word << " is not there any more";
  }
}

// What the value is, as the docs have it, in the order of OptionKind.
std::string value_text(const spec::OptionRow& row) {
  constexpr const char* kKinds[] = {
      "",       "",         "a name",     "names",    "a name",         "names",
      "a name", "a number", "a number",   "a number", "a number",       "numbers",
      "a byte", "ranges",   "NAME=VALUE", "a folder", "vllm, or a file"};
  if (row.most > 0) return "1 to " + std::to_string(row.most);
  if (row.values.empty()) return kKinds[static_cast<std::size_t>(row.kind)];
  return std::regex_replace(std::string(row.values), std::regex(","), ", ");
}

TEST(OptionDocs, HaveTheTable) {
  constexpr const char* kGroups[] = {"profile", "planner", "runtime",          "programs",
                                     "cache",   "device",  "a test of judges", "the reference"};
  std::string table = "| option | of | value | what |\n| --- | --- | --- | --- |\n";
  for (const spec::OptionRow& row : spec::option_rows()) {
    table += "| `" + std::string(row.name) + "` | " + kGroups[static_cast<std::size_t>(row.group)] +
             " | " + value_text(row) + " | " + std::string(row.help) + " |\n";
  }
  const std::string page = must(read_whole(GRAPHGATE_SOURCE_DIR "/docs/options.md"));
  EXPECT_TRUE(contains(page, "\n" + table)) << "docs/options.md has not this table:\n" << table;
}

}  // namespace
}  // namespace graphgate::dev
