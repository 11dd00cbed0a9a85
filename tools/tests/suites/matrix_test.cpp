// Every op of the table against what there is of it: reference body, optimized kernel, golden data.
//
// Bodies and kernels are found by namespace and base name, one for add, add_ and add.out; so golden
// data of one overload stands for the family. docs/coverage.md explains the holes, line by line,
// and a line that explains nothing is an error too.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/result_test.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "tools/store/programs.h"
#include "tools/tests/suites/case_header.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

std::string base_of(const spec::OpRow& row) { return row.schema.ns + "." + row.schema.base_name(); }

class GoldenOps {
 public:
  GoldenOps() {
    add_op_cases();
    for (const char* folder : {"models", "composites", "complex", "training"}) {
      for (const auto& entry : fs::directory_iterator(fs::path(GRAPHGATE_GOLDEN_DIR) / folder)) {
        if (entry.path().extension() != ".pt2") continue;
        add(must(read_program(entry.path().string(), table_)).graph, table_);
      }
    }
    const fs::path cases = fs::path(GRAPHGATE_GOLDEN_DIR) / "cases";
    for (const std::string& suite : golden_suites(cases)) {
      const auto read = golden_cases(cases, suite);
      EXPECT_TRUE(read.ok()) << read.error().message;
      if (!read.ok()) continue;
      for (const GoldenCase& golden : read.value()) add(golden.the_case);
    }
  }
  [[nodiscard]] bool has(const spec::OpRow& row) const { return bases_.contains(base_of(row)); }
  [[nodiscard]] std::size_t size() const { return bases_.size(); }

 private:
  void add_op_cases() {
    for (const char* name : {"op_cases.jsonl", "op_cases_2.15.jsonl", "composite_cases_2.15.jsonl",
                             "dtype_cases_2.15.jsonl", "gradient_cases_2.15.jsonl",
                             "op_cases_complex.jsonl", "random_open.jsonl", "vllm_cases.jsonl"}) {
      std::ifstream file(fs::path(GRAPHGATE_GOLDEN_DIR) / "ops" / name);
      for (std::string line; std::getline(file, line);) {
        add(nlohmann::json::parse(line).at("op").get<std::string>(), table_);
      }
    }
  }
  void add(const spec::CaseFile& the_case) {
    if (the_case.expectation.outcome != spec::Outcome::kPass) return;
    const auto ops = spec::case_ops(the_case).value();
    for (const spec::Program& program : the_case.programs) add(program.graph, ops);
  }
  void add(const spec::Graph& graph, const spec::OpTable& ops) {
    for (const spec::Node& node : graph.nodes) {
      add(node.op, ops);
      for (const spec::NamedArgument& named : node.arguments) {
        if (const auto* op = named.argument.as<spec::OpName>()) add(op->name, ops);
      }
    }
    for (const spec::Graph& subgraph : graph.subgraphs) add(subgraph, ops);
  }
  void add(const std::string& op, const spec::OpTable& ops) {
    if (const spec::OpRow* row = ops.find(op)) bases_.insert(base_of(*row));
  }

  const spec::OpTable& table_ = spec::builtin_op_table();
  std::set<std::string> bases_;
};

// "- `aten.foo` COLUMN: why", where the name may end in `*`; "- N rows neither: why".
struct Holes {
  std::set<std::pair<std::string, std::string>> unused;
  int rows_in_table_alone = -1;

  Holes() {
    const std::string text = read_text(GRAPHGATE_SOURCE_DIR "/docs/coverage.md").value();
    static const std::regex kLine("- `([A-Za-z_0-9.*]+)` (reference|optimized|golden): .+");
    static const std::regex kAlone("- ([0-9]+) rows neither: .+");
    for (std::sregex_iterator line(text.begin(), text.end(), kLine), end; line != end; ++line) {
      unused.emplace((*line)[1], (*line)[2]);
    }
    explained_ = unused;
    std::smatch alone;
    if (std::regex_search(text, alone, kAlone)) rows_in_table_alone = std::stoi(alone[1]);
  }

  bool explain(const std::string& op, const std::string& column) {
    for (const auto& [pattern, what] : explained_) {
      const bool is_prefix = pattern.ends_with('*');
      const std::string stem = pattern.substr(0, pattern.size() - (is_prefix ? 1 : 0));
      if (what != column || !(is_prefix ? op.starts_with(stem) : op == stem)) continue;
      unused.erase({pattern, what});
      return true;
    }
    return false;
  }

 private:
  std::set<std::pair<std::string, std::string>> explained_;
};

TEST(Matrix, HasNoUnexplainedHole) {
  const GoldenOps golden;
  EXPECT_GT(golden.size(), 200U);
  Holes holes;
  int alone = 0;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    const bool has_body = reference::supports(*row);
    const bool has_kernel = !optimized::family_of(*row).empty();
    if (!has_body && !has_kernel) {
      ++alone;
      continue;
    }
    if (!has_body) {
      EXPECT_TRUE(holes.explain(name, "reference")) << name << " has no reference body";
    }
    if (!has_kernel) {
      EXPECT_TRUE(holes.explain(name, "optimized")) << name << " has no optimized kernel";
    }
    if (!golden.has(*row)) {
      EXPECT_TRUE(holes.explain(name, "golden")) << name << " is in no golden data";
    }
  }
  EXPECT_EQ(alone, holes.rows_in_table_alone) << "rows that no executor computes";
  for (const auto& [pattern, column] : holes.unused) {
    ADD_FAILURE() << "docs/coverage.md explains a hole that is none: " << pattern << " " << column;
  }
}

TEST(Matrix, HasACaseForEveryFamilyInTheOpSuite) {
  std::set<std::string> families;
  std::set<std::string> in_suite;
  const auto& table = spec::builtin_op_table();
  for (const auto& [name, row] : table.rows())
    families.insert(std::string(optimized::family_of(*row)));
  families.erase("");
  const auto cases = must(golden_cases(fs::path(GRAPHGATE_GOLDEN_DIR) / "cases", "op"));
  for (const GoldenCase& one : cases) {
    for (const spec::Program& program : one.the_case.programs) {
      for (const spec::Node& node : program.graph.nodes) {
        const spec::OpRow* row = table.find(node.op);
        if (row) in_suite.insert(std::string(optimized::family_of(*row)));
      }
    }
  }
  for (const std::string& family : families) {
    // What passes alone put into graphs: the reference knows it node by node, no program holds it.
    if (family.starts_with("fused_") || family == "functionalization") continue;
    EXPECT_TRUE(in_suite.contains(family)) << family;
  }
}

}  // namespace
}  // namespace graphgate::tools
