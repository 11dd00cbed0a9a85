#include "spec/option.h"

#include <regex>
#include <set>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::spec {
namespace {

std::string error_of(const char* name, const std::string& value) {
  return message_of(check_option(*find_option(name), value), "good");
}

// What option.h has a name for is a row of the table, and the other way round.
TEST(Options, HaveANameEach) {
  const std::string header = must(read_whole(GRAPHGATE_SOURCE_DIR "/spec/option.h"));
  const std::regex constant("const char\\* k\\w+ = \"([a-z0-9-]+)\";");
  std::set<std::string> named;
  for (std::sregex_iterator at(header.begin(), header.end(), constant), end; at != end; ++at) {
    EXPECT_TRUE(named.insert((*at)[1]).second) << (*at)[1] << " has two names";
  }
  std::set<std::string> rows;
  std::set<std::pair<std::string, bool>> seen;
  for (const OptionRow& row : option_rows()) {
    const std::string name(row.name);
    rows.insert(name);
    EXPECT_TRUE(seen.emplace(name, row.group == OptionGroup::kReference).second) << name;
    EXPECT_FALSE(row.help.empty()) << name;
    EXPECT_EQ(row.kind == OptionKind::kWord,
              row.most == 0 && !row.values.empty() && row.kind != OptionKind::kInt64)
        << name;
    const bool has_usual = !row.usual.empty();
    EXPECT_TRUE(!has_usual || check_option(row, std::string(row.usual)).ok()) << name;
  }
  EXPECT_EQ(named, rows);
}

TEST(Options, TakeTheValuesOfTheirKinds) {
  EXPECT_EQ(error_of(option::kMemory, "lines"), "good");
  EXPECT_EQ(error_of(option::kNoReuse, ""), "good");
  EXPECT_EQ(error_of(option::kCaptureSizes, "2,4"), "good");
  EXPECT_EQ(error_of(option::kInterleaving, "18446744073709551615"), "good");
  EXPECT_EQ(error_of(option::kPlaceAlignment, "0x40"), "good");
  EXPECT_EQ(error_of(option::kProfile, "torch-2.9.1,vllm-0.11.1"), "good");
}

TEST(Options, RefuseOtherValuesByTheirNames) {
  EXPECT_EQ(error_of(option::kMemory, ""), "option 'memory': expected a value");
  EXPECT_EQ(error_of(option::kNoReuse, "yes"), "option 'no-reuse': expected no value");
  EXPECT_EQ(error_of(option::kMemory, "stacks"),
            "options: --memory: stacks not in {pack,lines,pools}");
  EXPECT_EQ(error_of(option::kStreams, "few"), "options: Could not convert: --streams = few");
  EXPECT_EQ(error_of(option::kStreams, "5000000000"),
            "options: Could not convert: --streams = 5000000000");
  EXPECT_EQ(error_of(option::kCaptureSizes, "2,x"),
            "options: Could not convert: --capture-sizes = 2,x");
  EXPECT_EQ(error_of(option::kPlansKept, "0"),
            "options: --plans-kept: Value 0 not in range 1 to 1000000");
  EXPECT_EQ(error_of(option::kPlaceAlignment, "17"),
            "options: --place-alignment: 17 not in {16,32,64,128,256,512,1024}");
  EXPECT_EQ(find_option("speed"), nullptr);
  EXPECT_EQ(find_option(option::kTrial), nullptr) << "of the reference alone";
}

TEST(Configurations, AreOneTextInTheOrderOfTheirNames) {
  EXPECT_EQ(print_configuration({{"no-reuse", ""}, {"memory", "lines"}}), "memory=lines no-reuse");
  EXPECT_EQ(print_configuration({}), "default");
  EXPECT_EQ(split_list("a,,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(place_in_list("pack,lines,pools", "lines"), 1U);
  EXPECT_EQ(place_in_list("pack,lines,pools", "line"), std::nullopt);
}

}  // namespace
}  // namespace graphgate::spec
