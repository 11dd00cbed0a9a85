#include "tools/gate/gate_inputs.h"

#include <filesystem>
#include <fstream>

#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

std::vector<GateInput> inputs(std::size_t count) {
  std::vector<GateInput> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = (i % 2 == 0 ? "op/case" : "state/case") + std::to_string(i);
    all.push_back({name, name + ".case"});
  }
  return all;
}

std::vector<std::string> names(const std::vector<GateInput>& all) {
  std::vector<std::string> out;
  for (const GateInput& input : all) out.push_back(input.name);
  return out;
}

TEST(GateInputs, AreChosenByAPartOfTheirNames) {
  EXPECT_EQ(names(must(choose_inputs(inputs(4), "op/", 0))),
            (std::vector<std::string>{"op/case0", "op/case2"}));
  EXPECT_EQ(names(must(choose_inputs(inputs(4), "s*s?3", 0))),
            std::vector<std::string>{"state/case3"});
  EXPECT_EQ(must(choose_inputs(inputs(4), "", 0)).size(), 4U);
  EXPECT_EQ(message_of(choose_inputs(inputs(4), "matmul", 0)),
            "--only 'matmul': no case of the corpus is called so");
}

TEST(GateInputs, AreSpreadOverTheCorpusWhereThereIsALimit) {
  EXPECT_EQ(names(must(choose_inputs(inputs(9), "", 3))),
            (std::vector<std::string>{"op/case0", "state/case3", "op/case6"}));
  EXPECT_EQ(must(choose_inputs(inputs(3), "", 7)).size(), 3U);
  EXPECT_EQ(names(must(choose_inputs(inputs(8), "state", 2))),
            (std::vector<std::string>{"state/case1", "state/case5"}));
}

TEST(GateInputs, HaveADigestOfNamesAndBytes) {
  const TestFolder folder;
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path() / name) << text;
  };
  const auto digest = [&] { return must(digest_of({folder.path().string()})); };
  write("a.case", "one");
  const std::string first = digest();
  EXPECT_EQ(digest(), first);
  write("a.safetensors", "");
  const std::string more = digest();
  EXPECT_NE(more, first);
  write("a.safetensors", "x");
  EXPECT_NE(digest(), more);
  const std::string flat = digest();
  std::filesystem::create_directory(folder.path() / "op");
  EXPECT_EQ(digest(), flat) << "folders have no bytes";
  write("op/b.case", "two");
  EXPECT_NE(digest(), flat);
}

}  // namespace
}  // namespace graphgate::tools
