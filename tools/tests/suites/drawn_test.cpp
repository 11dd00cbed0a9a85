// Every overload that the reference has a body for, and every option that its row says, is drawn,
// or docs/fuzzing.md says why not.

#include <regex>
#include <set>

#include "base/result_test.h"
#include "fuzz/generate/generator.h"
#include "reference/reference.h"
#include "tools/executors/optimized_options.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

void add_ops(const spec::Graph& graph, std::set<std::string>& ops) {
  for (const spec::Node& node : graph.nodes) {
    ops.insert(node.op);
    for (const spec::NamedArgument& named : node.arguments) {
      if (const auto* op = named.argument.as<spec::OpName>()) ops.insert(op->name);
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) add_ops(subgraph, ops);
}

// What lines of docs/fuzzing.md name that say why: "- `aten.foo` `aten.bar`: why".
std::set<std::string> explained(const std::string& name_pattern) {
  const std::string text = read_text(GRAPHGATE_SOURCE_DIR "/docs/fuzzing.md").value();
  const std::regex line_pattern("\n- ((`" + name_pattern + "` ?)+): ");
  static const std::regex kName("`([^`]+)`");
  std::set<std::string> names;
  for (std::sregex_iterator line(text.begin(), text.end(), line_pattern), end; line != end;
       ++line) {
    const std::string found = (*line)[1];
    for (std::sregex_iterator name(found.begin(), found.end(), kName); name != end; ++name) {
      names.insert((*name)[1]);
    }
  }
  return names;
}

// `*` stands for any letters.
bool matches(const std::string& name, const std::string& pattern) {
  std::string text;
  for (const char c : pattern) {
    if (c == '*') text += '.';
    if (c == '.') text += '\\';
    text += c;
  }
  return std::regex_match(name, std::regex(text));
}

constexpr std::uint64_t kCases = 20'000;

TEST(DrawnOps, AreAllThatHaveABody) {
  std::set<std::string> drawn;
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(1000, index), alphabet);
    for (const spec::Program& program : the_case.programs) add_ops(program.graph, drawn);
  }
  const std::set<std::string> patterns = explained("[A-Za-z_0-9.*]+");
  std::set<std::string> unused = patterns;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    if (!reference::supports(*row) || drawn.contains(name)) continue;
    bool is_explained = false;
    for (const std::string& pattern : patterns) {
      if (!matches(name, pattern)) continue;
      is_explained = true;
      unused.erase(pattern);
    }
    EXPECT_TRUE(is_explained) << name << " is never drawn";
  }
  for (const std::string& pattern : unused) {
    ADD_FAILURE() << "docs/fuzzing.md says that this is not drawn, and it is: " << pattern;
  }
}

TEST(DrawnOptions, AreThoseThatTheTableSays) {
  std::set<std::string> drawn;
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(1000, index), alphabet);
    for (const auto& [name, value] : the_case.options) drawn.insert("--" + name);
  }
  std::set<std::string> unused = explained("--[a-z-]+");
  EXPECT_FALSE(unused.empty());
  for (const spec::OptionRow& row : spec::option_rows()) {
    if (row.group == spec::OptionGroup::kReference) continue;
    const std::string name = "--" + std::string(row.name);
    EXPECT_EQ(row.is_drawn, drawn.contains(name)) << name;
    EXPECT_EQ(unused.erase(name), row.is_drawn ? 0U : 1U)
        << name << ": docs/fuzzing.md says what is not drawn";
  }
  for (const std::string& name : unused) {
    ADD_FAILURE() << "docs/fuzzing.md says that this is not drawn, and it is, or is no option: "
                  << name;
  }
}

// A case may ask for what contradicts itself nowhere.
TEST(DrawnOptions, GoTogether) {
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(1001, index), alphabet);
    must(check_options(the_case.options), std::to_string(index));
  }
}

}  // namespace
}  // namespace graphgate::tools
