#include "tools/dev/callers.h"

#include <filesystem>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHeader = R"text(namespace graphgate {
[[nodiscard]] std::string used(int a);
[[nodiscard]] std::string unused(int a);  // as used() is
class Reader {
 public:
  int read_one();
  [[nodiscard]] bool is_done() const { return used(1) == "unused()";
}
};
}  // namespace graphgate
)text";
constexpr const char* kSource = R"(std::string used(int a) {
  return std::to_string(a);
}
std::string unused(int a) { return used(a); }
int Reader::read_one() { return is_done() ? 1 : 0; }
)";

TEST(Callers, FindsFunctionsThatOnlyTheirTestCalls) {
  Callers callers;
  callers.add("spec/a.h", kHeader);
  callers.add("spec/a.cpp", kSource);
  callers.add("spec/a_test.cpp", "  EXPECT_EQ(unused(1), \"1\");\n  Reader().read_one();\n");
  EXPECT_EQ(callers.findings(), (std::vector<std::string>{"spec/a.h: nobody calls read_one",
                                                          "spec/a.h: nobody calls unused"}));
  callers.add("spec/b.cpp", "  unused(Reader().read_one());\n");
  EXPECT_TRUE(callers.findings().empty());
}

// Whether a file is left out: texts that devices compile, and what the command line is to reach
// later: models compiled as vLLM's wrapper does it, and bundles of plans.
bool is_left_out(const std::string& path) {
  return path.find("/text/") != std::string::npos || path.starts_with("tools/dev/") ||
         path.starts_with("optimized/wrapper/") || path == "optimized/cache/bundle.h";
}

TEST(Callers, AreThereForEveryFunctionOfAHeader) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  Callers callers;
  std::size_t files = 0;
  for (const char* folder :
       {"base", "spec", "interop", "reference", "optimized", "conformance", "fuzz", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      callers.add(fs::relative(path, root).string(), must(read_whole(path)));
      ++files;
    }
  }
  EXPECT_GT(files, 1000U);
  for (const std::string& finding : callers.findings()) {
    if (!is_left_out(finding.substr(0, finding.find(':')))) ADD_FAILURE() << finding;
  }
}

}  // namespace
}  // namespace graphgate::dev
