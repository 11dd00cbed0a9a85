#include "tools/executors/op_coverage.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/file_io.h"
#include "interop/pt2_reader.h"
#include "optimized/optimized.h"
#include "reference/reference.h"
#include "spec/case_ops.h"
#include "spec/graph_text.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

// The programs of one file, and the table that they are to be read with.
struct OpenedPrograms {
  std::vector<spec::Program> programs;
  std::shared_ptr<const spec::OpTable> own_ops;  // of a case; null: the one that was given
};

Result<OpenedPrograms> open_programs(const std::string& path, const spec::OpTable& ops) {
  OpenedPrograms opened;
  if (fs::path(path).extension() == ".pt2") {
    GRAPHGATE_TRY(opened.programs.emplace_back(), interop::read_pt2(path));
    return opened;
  }
  GRAPHGATE_TRY(const std::string text, read_text(path));
  if (!is_case_text(text)) {
    GRAPHGATE_TRY(opened.programs.emplace_back(),
                  spec::parse_program(text, ops, path, spec::UnknownOps::kKeep));
    return opened;
  }
  GRAPHGATE_TRY(spec::CaseFile the_case, spec::parse_case(text, path, spec::UnknownOps::kKeep));
  GRAPHGATE_TRY(opened.own_ops, spec::shared_case_ops(the_case));
  opened.programs = std::move(the_case.programs);
  return opened;
}

bool is_program_text(const std::string& path) {
  const auto text = read_text(path);
  if (!text.ok()) return true;  // the reader says what is wrong
  spec::TextReader reader(text.value(), path);
  reader.skip_line_ends();
  return reader.at("program");
}

Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    GRAPHGATE_TRY(const auto below, list_files(path, "", Depth::kBelow));
    const std::size_t before = files.size();
    for (const std::string& file : below) {
      const std::string ending = fs::path(file).extension().string();
      const bool is_wanted =
          ending == ".pt2" || ending == ".case" || (ending == ".txt" && is_program_text(file));
      if (is_wanted) files.push_back(file);
    }
    if (files.size() == before) return bad_input(path + ": no program and no case is there");
  }
  return files;
}

class Coverage {
 public:
  void add(const std::string& file, const OpenedPrograms& opened, const spec::OpTable& ops) {
    file_ = file;
    ops_ = opened.own_ops ? opened.own_ops.get() : &ops;
    for (const spec::Program& program : opened.programs) count(program.graph);
    ++found.programs;
  }

  OpCoverage found;

 private:
  void count(const spec::Graph& graph) {
    for (const spec::Node& node : graph.nodes) {
      count(node.op);
      // Of auto_functionalized_v2, which runs it.
      for (const spec::NamedArgument& named : node.arguments) {
        if (const auto* held = named.argument.as<spec::OpName>()) count(held->name);
      }
    }
    for (const spec::Graph& subgraph : graph.subgraphs) count(subgraph);
  }

  void count(const std::string& op) {
    OpUse& use = found.by_op[op];
    ++use.nodes;
    if (use.files.empty() || use.files.back() != file_) {
      use.files.push_back(file_);
      look_for(op, use);
    }
  }

  void look_for(const std::string& op, OpUse& use) const {
    const auto lacks = [&](const char* part) {
      if (std::ranges::find(use.lacks, part) == use.lacks.end()) use.lacks.emplace_back(part);
    };
    if (spec::is_higher_order(op)) {
      if (reference::runs_higher_order(op)) use.family = "higher order";
      if (!reference::runs_higher_order(op)) lacks("body");
      if (!optimized::runs_higher_order(op)) lacks("kernel");
      return;
    }
    const spec::OpRow* row = ops_->find(op);
    if (!row) return lacks("schema");
    const std::string family(reference::family_of(*row));
    if (family.empty()) lacks("body");
    if (optimized::family_of(*row).empty()) lacks("kernel");
    if (!family.empty()) use.family = family;
  }

  std::string file_;
  const spec::OpTable* ops_ = nullptr;
};

}  // namespace

std::vector<std::pair<std::string, const OpUse*>> OpCoverage::gaps() const {
  std::vector<std::pair<std::string, const OpUse*>> rows;
  for (const auto& [op, use] : by_op) {
    if (!use.lacks.empty()) rows.emplace_back(op, &use);
  }
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    const auto rank = [](const OpUse& use) { return std::pair(use.files.size(), use.nodes); };
    return rank(*a.second) > rank(*b.second);
  });
  return rows;
}

Result<OpCoverage> op_coverage(const std::vector<std::string>& paths, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const std::vector<std::string> files, files_of(paths));
  Coverage coverage;
  for (const std::string& file : files) {
    const auto opened = open_programs(file, ops);
    if (opened.ok()) {
      coverage.add(file, opened.value(), ops);
    } else {
      coverage.found.unread.push_back({file, in_file(opened.error(), file)});
    }
  }
  return std::move(coverage.found);
}

}  // namespace graphgate::tools
