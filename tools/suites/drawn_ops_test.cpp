// Every overload that the reference has a body for is drawn, or docs/fuzzing.md says why not.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "fuzz/generator.h"
#include "reference/reference.h"
#include "tools/programs.h"

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

// "- `aten.foo` `aten.bar.*`: why", where `*` stands for any letters.
std::set<std::string> explained_patterns() {
  const std::string text = read_text(GRAPHGATE_SOURCE_DIR "/docs/fuzzing.md").value();
  static const std::regex kLine("\n- ((`[A-Za-z_0-9.*]+` ?)+): ");
  static const std::regex kName("`([^`]+)`");
  std::set<std::string> patterns;
  for (std::sregex_iterator line(text.begin(), text.end(), kLine), end; line != end; ++line) {
    const std::string names = (*line)[1];
    for (std::sregex_iterator name(names.begin(), names.end(), kName); name != end; ++name) {
      patterns.insert((*name)[1]);
    }
  }
  return patterns;
}

bool matches(const std::string& name, const std::string& pattern) {
  std::string text;
  for (const char c : pattern) {
    if (c == '*') text += '.';
    if (c == '.') text += '\\';
    text += c;
  }
  return std::regex_match(name, std::regex(text));
}

TEST(DrawnOps, AreAllThatHaveABody) {
  constexpr std::uint64_t kCases = 20'000;
  std::set<std::string> drawn;
  const fuzz::Alphabet alphabet;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const spec::CaseFile the_case = fuzz::draw_case(fuzz::genes_of(1000, index), alphabet);
    for (const spec::Program& program : the_case.programs) add_ops(program.graph, drawn);
  }
  const std::set<std::string> patterns = explained_patterns();
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

}  // namespace
}  // namespace graphgate::tools
