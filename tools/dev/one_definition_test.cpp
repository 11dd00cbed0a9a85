#include "tools/dev/one_definition.h"

#include <filesystem>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"(namespace graphgate::spec {
namespace {

struct Own {};

}  // namespace

struct Access {
  struct Inner {};
};
class Reader final : public Base {
enum class Kind : std::uint8_t { kOne };
struct Codec<int> {
class Declared;
template <class T>
inline int any(T value) {
inline int counting(std::vector<int> sizes,
                    int more) {

}  // namespace graphgate::spec
)";

TEST(OneDefinition, FindsTypesAtNamespaceScope) {
  TypeDefinitions types;
  add_type_definitions("a.h", kText, types);
  const TypeDefinitions expected = {
      {"graphgate::spec::Access", {"a.h"}},
      {"graphgate::spec::Reader", {"a.h"}},
      {"graphgate::spec::Kind", {"a.h"}},
      {"graphgate::spec::counting(std::vector<int> sizes,int more)", {"a.h"}}};
  EXPECT_EQ(types, expected);
}

TEST(OneDefinition, TellsTwoFilesThatDefineOneName) {
  TypeDefinitions types;
  add_type_definitions("a.h", kText, types);
  add_type_definitions("b.h", kText, types);
  EXPECT_EQ(types.at("graphgate::spec::Access").size(), 2U);
}

// Test files link into binaries of their own, several into one: their types count as well.
TEST(OneDefinition, HoldsInEverySourceFile) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  TypeDefinitions types;
  for (const char* folder :
       {"base", "spec", "interop", "reference", "optimized", "conformance", "fuzz", "tools"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cpp") continue;
      add_type_definitions(fs::relative(path, root).string(), must(read_whole(path)), types);
    }
  }
  EXPECT_GT(types.size(), 300U);
  for (const auto& [name, files] : types) {
    std::string places;
    for (const std::string& file : files) places += " " + file;
    EXPECT_EQ(files.size(), 1U) << name << " is defined in" << places;
  }
}

}  // namespace
}  // namespace graphgate::dev
