#include "tools/dev/layers.h"

#include <filesystem>
#include <set>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

TEST(Layers, RefuseTheReferenceInConformance) {
  const auto findings = forbidden_includes("conformance/judges/a.cpp",
                                           "#include <vector>\n#include \"reference/tensor.h\"\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0],
            "conformance/judges/a.cpp:2: conformance/judges/ may not include reference/tensor.h");
}

TEST(Layers, RefuseALibraryInSpec) {
  EXPECT_EQ(forbidden_includes("spec/a.h", "#include <nlohmann/json.hpp>\n").size(), 1U);
  EXPECT_EQ(forbidden_includes("spec/a.cpp", "#include <zip.h>\n").size(), 1U);
}

TEST(Layers, AllowTestLibrariesInTestsOnly) {
  EXPECT_TRUE(forbidden_includes("spec/a_test.cpp", "#include <gtest/gtest.h>\n").empty());
  EXPECT_FALSE(forbidden_includes("spec/a.cpp", "#include <gtest/gtest.h>\n").empty());
}

TEST(Layers, KeepKernelsOutOfTheTextOfKernels) {
  constexpr std::string_view kLoop = "#include \"optimized/kernels/indexed_loop.h\"\n";
  EXPECT_FALSE(forbidden_includes("optimized/codegen/cells_text.h", kLoop).empty());
  EXPECT_FALSE(forbidden_includes("optimized/kernels/elements/bins.h", kLoop).empty());
  EXPECT_TRUE(forbidden_includes("optimized/kernels/indexing.cpp", kLoop).empty());
  EXPECT_TRUE(forbidden_includes("optimized/codegen/cells_text_test.cpp", kLoop).empty());
}

TEST(Layers, TellFilesOfAFolderFromThoseBelowIt) {
  EXPECT_TRUE(
      forbidden_includes("optimized/geometry/a.h", "#include \"optimized/tensor.h\"\n").empty());
  EXPECT_FALSE(
      forbidden_includes("optimized/geometry/a.h", "#include \"optimized/codegen/work.h\"\n")
          .empty());
}

TEST(Layers, KeepTheCommandLineInItsFolder) {
  constexpr const char* kParser = "#include <CLI/CLI.hpp>\n";
  EXPECT_TRUE(forbidden_includes("tools/cli/check.cpp", kParser).empty());
  EXPECT_EQ(forbidden_includes("tools/gate/run_side.cpp", kParser).size(), 1U);
  constexpr const char* kFlags = "#include \"tools/cli/option_flags.h\"\n";
  EXPECT_TRUE(forbidden_includes("tools/cli/check.cpp", kFlags).empty());
  EXPECT_TRUE(forbidden_includes("tools/tests/cli/a_test.cpp", kFlags).empty());
  EXPECT_EQ(forbidden_includes("tools/store/bundle.cpp", kFlags).size(), 1U);
}

bool is_source(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp";
}

TEST(Layers, HoldInEverySourceFile) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  std::size_t files = 0;
  std::set<std::string> findings;
  for (const Layer& layer : layers()) {
    for (const auto& entry : fs::recursive_directory_iterator(root / layer.folder)) {
      if (!is_source(entry.path())) continue;
      const std::string path = fs::relative(entry.path(), root).string();
      const auto found = forbidden_includes(path, must(read_whole(entry.path())));
      findings.insert(found.begin(), found.end());
      ++files;
    }
  }
  for (const std::string& finding : findings) ADD_FAILURE() << finding;
  EXPECT_GT(files, 100U);
}

}  // namespace
}  // namespace graphgate::dev
