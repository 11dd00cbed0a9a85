#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = GRAPHGATE_SOURCE_DIR;

// README.md and every page below docs/.
std::vector<fs::path> pages_of_docs() {
  std::vector<fs::path> pages = {kRoot / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  return pages;
}

// Returns the page without its fenced code and what stands between backticks.
std::string without_code(const std::string& text) {
  static const std::regex kCode("`[^`\n]+`");
  std::istringstream lines(text);
  std::string rest;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (!is_code) rest += std::regex_replace(line, kCode, "") + "\n";
  }
  return rest;
}

// Returns the anchor that a heading gets: lower case, words joined by hyphens, no punctuation.
std::string anchor_of(const std::string& heading) {
  static const std::regex kLink("\\[([^\\]]*)\\]\\([^)]*\\)");
  std::string anchor;
  for (const char c : std::regex_replace(heading, kLink, "$1")) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-') {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

// Returns the anchors of the page's headings, and those that it sets by <a name>.
std::set<std::string> anchors_of(const std::string& page) {
  static const std::regex kNamed("<a (?:name|id)=\"([^\"]+)\">");
  std::set<std::string> anchors;
  std::istringstream lines(page);
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    const std::size_t level = line.find_first_not_of('#');
    if (is_code || level == 0 || level == std::string::npos || line[level] != ' ') continue;
    const std::string anchor = anchor_of(line.substr(level + 1));
    for (std::size_t n = 0;; ++n) {  // GitHub numbers headings that come again
      if (anchors.insert(n == 0 ? anchor : anchor + "-" + std::to_string(n)).second) break;
    }
  }
  for (std::sregex_iterator i(page.begin(), page.end(), kNamed), end; i != end; ++i) {
    anchors.insert((*i)[1].str());
  }
  return anchors;
}

TEST(Docs, LinkToPagesPicturesAndHeadingsThatExist) {
  const std::regex link("\\]\\(([^)# ]*)(?:#([^) ]+))?\\)");
  std::size_t links = 0;
  std::size_t with_anchor = 0;
  for (const fs::path& page : pages_of_docs()) {
    const std::string text = must(read_whole(page));
    const std::string words = without_code(text);
    const std::string name = fs::relative(page, kRoot).string();
    for (std::sregex_iterator i(words.begin(), words.end(), link), end; i != end; ++i) {
      const std::string target = (*i)[1];
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      ++links;
      const fs::path file = target.empty() ? page : page.parent_path() / target;
      EXPECT_TRUE(fs::exists(file)) << name << " links to " << target;
      if (!(*i)[2].matched || file.extension() != ".md" || !fs::exists(file)) continue;
      ++with_anchor;
      EXPECT_TRUE(anchors_of(must(read_whole(file))).contains((*i)[2].str()))
          << name << ": no heading of " << target << " is #" << (*i)[2];
    }
  }
  EXPECT_GT(links, 300U);
  EXPECT_GT(with_anchor, 50U);
}

// docs/README.md, so that nobody has to know of a page to find it.
TEST(Docs, ListEveryPage) {
  const std::string list = must(read_whole(kRoot / "docs/README.md"));
  for (const fs::path& page : pages_of_docs()) {
    const std::string name = fs::relative(page, kRoot / "docs").string();
    if (name.starts_with("log/") || name == "README.md" || name == "../README.md") continue;
    EXPECT_TRUE(list.find("(" + name + ")") != std::string::npos)
        << "docs/README.md has no link to docs/" << name;
  }
}

TEST(Docs, ExplainTheWordsOfTheHouse) {
  const std::string glossary = must(read_whole(kRoot / "docs/glossary.md"));
  for (const char* word :
       {"graph",   "node",     "value",     "storage",   "version",   "effect",  "hidden state",
        "program", "scenario", "partition", "signature", "buffer",    "pool",    "step",
        "plan",    "case",     "finding",   "outcome",   "deviation", "profile", "override"}) {
    EXPECT_TRUE(glossary.find("| **" + std::string(word) + "** | ") != std::string::npos)
        << "docs/glossary.md does not explain '" << word << "'";
  }
}

TEST(Docs, SayWhatTheReadmeIsInOneScreen) {
  const std::string text = must(read_whole(kRoot / "README.md"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 85);
}

// Paths of the repository between backticks: `spec/op_table.h`, `conformance/run/`, not
// `optimized/kernels/FAMILY.cpp` or `golden/*.case`. docs/log/ tells what was, and is not read.
TEST(Docs, NameFilesAndFoldersThatExist) {
  const fs::path root = kRoot;
  const std::regex path(
      "`((?:base|cmake|conformance|docs|fuzz|golden|interop|optimized|reference|spec|tools)/"
      "[a-z0-9_./]*)`");
  std::size_t named = 0;
  for (const fs::path& page : pages_of_docs()) {
    if (page.string().find("/docs/log/") != std::string::npos) continue;
    const std::string text = must(read_whole(page));
    for (std::sregex_iterator i(text.begin(), text.end(), path), end; i != end; ++i, ++named) {
      const std::string name = root / (*i)[1].str();
      EXPECT_TRUE(fs::exists(name) || fs::exists(name + ".cpp"))  // a program, by its source
          << fs::relative(page, root).string() << " names " << (*i)[1];
    }
  }
  EXPECT_GT(named, 50U);
}

// Returns every end of every path of the repository: "base/file_io.h", "file_io.h".
std::set<std::string> ends_of_paths() {
  std::set<std::string> ends;
  for (const char* folder : {"base", "cmake", "conformance", "docs", "fuzz", "golden", "interop",
                             "optimized", "reference", "spec", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      std::string path = fs::relative(entry.path(), kRoot).string();
      while (true) {
        ends.insert(path);
        const std::size_t slash = path.find('/');
        if (slash == std::string::npos) break;
        path.erase(0, slash + 1);
      }
    }
  }
  return ends;
}

// What pages call by a short name, `file_io.h` or `runtime/host/copy_in.cpp`. Names in capitals
// stand for any; some are other people's files.
TEST(Docs, NameFilesByShortNamesThatExist) {
  const std::set<std::string> others = {
      // of CUDA, Python, PyTorch and vLLM
      "cublasLt.h", "cuda.h", "Python.h", "aten/src/ATen/autocast_mode.cpp",
      "utility/fix_functionalization.py", "ir/clone_elimination.py", "utility/noop_elimination.py",
      "utility/split_coalescing.py", "utility/scatter_split_replace.py", "codegen.py",
      "piecewise_backend.py", "reinplace.py", "joint_graph.py", "post_grad.py", "split_cat.py",
      "fuse_attention.py", "fx_passes/fuse_attention.py", "fx_passes/quantization.py", "utils.py",
      "fx_passes/binary_folding.py", "fx_passes/joint_graph.py", "fx_passes/post_grad.py",
      "fx_passes/efficient_conv_bn_eval.py", "codegen/cpp.py", "cudagraph_trees.py",
      "_inductor/graph.py", "_higher_order_ops/auto_functionalize.py", "_inductor/decomposition.py",
      "torch/_inductor/decomposition.py", "_decomp/decompositions.py",
      "torch/_decomp/decompositions.py", "ao/quantization/fx/_decomposed.py", "env_override.py",
      "compiler_interface.py", "config/compilation.py", "compilation/compiler_interface.py",
      "decorators.py", "torch/__init__.py", "export/unflatten.py", "_export/serde/serialize.py",
      "_inductor/index_propagation.py", "torch/utils/_sympy/functions.py",
      "torch/utils/_sympy/printers.py", "torch/utils/_sympy/value_ranges.py",
      "fx_passes/replace_random.py", "_higher_order_ops/triton_kernel_wrap.py", "codegen/triton.py",
      "codegen/simd.py", "select_algorithm.py", "ir.py", "_inductor/codegen/cpp.py",
      "_inductor/fx_passes/apply_gumbel_max_trick.py", "aoti_runtime/model_container.h",
      "codegen/cpp_flex_attention_template.py", "codegen/cpp_gemm_template.py",
      "codegen/cpp_template_kernel.py", "codegen/cpp_wrapper_cpu.py",
      "export/pt2_archive/_package.py", "kernel/flex/flex_cpu.py",
      // what commands of the tutorial and of docs/ci.md write
      "gate.md", "summary.md",
      // what an installation has
      "include/graphgate_extension.h"};
  const std::set<std::string> ends = ends_of_paths();
  const std::regex name("`((?:[A-Za-z0-9_]+/)*[A-Za-z0-9_]+\\.(?:cpp|h|py|cuh|cmake|svg|md))`");
  const std::regex any("[A-Z]{4,}");
  std::size_t named = 0;
  for (const fs::path& page : pages_of_docs()) {
    if (page.string().find("/docs/log/") != std::string::npos) continue;
    const std::string text = must(read_whole(page));
    for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i, ++named) {
      const std::string file = (*i)[1];
      if (std::regex_search(file, any) || others.contains(file) || file == "README.md") continue;
      EXPECT_TRUE(ends.contains(file)) << fs::relative(page, kRoot).string() << " names " << file;
    }
  }
  EXPECT_GT(named, 300U);
}

// Names by the file of fuzz/motifs/ that has them, in order. `name` finds one in a line; `file` a
// path, behind which the names of that file stand.
using Motifs = std::map<std::string, std::set<std::string>>;

void note_names(const std::string& text, const std::regex& name, std::set<std::string>& names) {
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
    const std::string found = (*i)[1].str();
    EXPECT_TRUE(names.insert(found).second) << found << " is there twice";
  }
}

Motifs motifs_of_generator(const fs::path& root) {
  Motifs motifs;
  for (const auto& entry : fs::directory_iterator(root / "fuzz/motifs")) {
    note_names(must(read_whole(entry.path())), std::regex("(?:^|\n)program \"([^\"]+)\""),
               motifs[entry.path().filename().string()]);
  }
  return motifs;
}

// The first columns of the tables, each `name` or several with commas.
Motifs motifs_of_page(const fs::path& root) {
  Motifs motifs;
  std::istringstream page(must(read_whole(root / "docs/motifs.md")));
  std::string file;
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    static const std::regex kFile("^`fuzz/motifs/([a-z_0-9]+\\.txt)`");
    if (std::regex_search(line, found, kFile)) file = found[1];
    if (!line.starts_with("| `") || file.empty()) continue;
    note_names(line.substr(0, line.find('|', 1)), std::regex("`([a-z-]+)`"), motifs[file]);
  }
  return motifs;
}

TEST(Docs, ListTheMotifsThatAreDrawn) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  const Motifs drawn = motifs_of_generator(root);
  EXPECT_EQ(motifs_of_page(root), drawn);
  EXPECT_GE(drawn.size(), 3U);
}

}  // namespace
}  // namespace graphgate::dev
