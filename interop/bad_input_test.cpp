// golden/bad: every file is refused with exactly the line that EXPECTED.txt gives.

#include <filesystem>
#include <set>
#include <sstream>

#include "base/file_io.h"
#include "base/result_test.h"
#include "interop/json_cursor.h"
#include "interop/json_stream.h"
#include "interop/pt2_reader.h"
#include "interop/safetensors.h"
#include "spec/op_table.h"

namespace graphgate::interop {
namespace {

const std::string kFolder = std::string(GRAPHGATE_GOLDEN_DIR) + "/bad/";

Error refusal(const std::string& name) {
  const Error accepted{ErrorKind::kInternal, "accepted"};
  if (name.ends_with(".pt2")) {
    Pt2Options options;
    options.ops = &spec::builtin_op_table();
    const auto program = read_pt2(kFolder + name, options);
    return program.ok() ? accepted : program.error();
  }
  const auto tensors = read_safetensors(kFolder + name);
  return tensors.ok() ? accepted : tensors.error();
}

TEST(BadInput, IsRefusedWithTheLineThatPeopleAgreedOn) {
  std::istringstream expected(must(read_whole(kFolder + "EXPECTED.txt")));
  std::set<std::string> covered;
  for (std::string line; std::getline(expected, line);) {
    const auto tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string name = line.substr(0, tab);
    covered.insert(name);
    const Error error = refusal(name);
    EXPECT_EQ(error.message, line.substr(tab + 1)) << name;
    const bool is_outcome =
        error.kind == ErrorKind::kBadInput || error.kind == ErrorKind::kUnsupported;
    EXPECT_TRUE(is_outcome) << name;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << name;
  }
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = file.path().filename().string();
    if (name != "EXPECTED.txt") {
      EXPECT_TRUE(covered.contains(name)) << name << " has no line in EXPECTED.txt";
    }
  }
  EXPECT_GE(covered.size(), 50U);
}

TEST(BadInput, OfKeysAndWordsOfOthersIsToldInOneLine) {
  const std::string key = "a\nPASS all.case\x1b[2J" + std::string(300, 'k');
  const Json json = {{key, "x\nPASS"}};
  const JsonCursor whole(json, "f.json");
  const std::string wrong = must(whole.members())[0].second.error("'x\nPASS' is unknown").message;
  EXPECT_TRUE(wrong.starts_with("f.json: a PASS all.case?[2Jkkk")) << wrong;
  EXPECT_TRUE(wrong.ends_with("kkk...: 'x PASS' is unknown")) << wrong;
  EXPECT_LT(wrong.size(), 250U);
  const std::string twice = message_of(parse_json(R"({"a\nb": 1, "a\nb": 2})", "f.json"));
  EXPECT_EQ(twice.find('\n'), std::string::npos) << twice;
  EXPECT_NE(twice.find("a b"), std::string::npos) << twice;
}

TEST(BadInput, CutAnywhereNeverCrashesTheReader) {
  const std::string whole =
      must(read_whole(std::string(GRAPHGATE_GOLDEN_DIR) + "/models/cond_nonzero.pt2"));
  for (std::size_t size = 0; size < whole.size(); size += 101) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(read_pt2_bytes(std::as_bytes(std::span(cut)), "cut.pt2").ok()) << size;
  }
}

}  // namespace
}  // namespace graphgate::interop
