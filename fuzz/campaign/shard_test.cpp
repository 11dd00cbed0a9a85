#include "fuzz/campaign/shard.h"

#include <map>
#include <set>

#include "base/result_test.h"

namespace graphgate::fuzz {
namespace {

Result<ShardChoice> chosen(const std::string& flag,
                           const std::map<std::string, std::string>& variables) {
  return choose_shard(flag, [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

std::string error_of(const std::map<std::string, std::string>& variables) {
  return message_of(chosen("", variables));
}

TEST(Shards, TakeEveryCaseExactlyOnce) {
  for (const std::uint32_t count : {1U, 3U, 4U, 7U}) {
    for (const std::uint64_t cases : {0U, 1U, 3U, 10U, 29U}) {
      std::set<std::uint64_t> seen;
      for (std::uint32_t i = 0; i < count; ++i) {
        const Shard shard{i, count};
        for (std::uint64_t n = 0; n < shard.size(cases); ++n) {
          const std::uint64_t index = shard.case_index(n);
          EXPECT_TRUE(shard.has(index));
          EXPECT_LT(index, cases);
          EXPECT_TRUE(seen.insert(index).second) << index;
        }
      }
      EXPECT_EQ(seen.size(), cases);
    }
  }
}

TEST(Shards, AreReadFromText) {
  EXPECT_EQ(parse_shard("2/8").value(), (Shard{2, 8}));
  for (const char* text : {"8/8", "0/0", "1", "/2", "1/", "-1/2", "1/2/3", "a/b", "1/4294967296"}) {
    EXPECT_FALSE(parse_shard(text).ok()) << text;
  }
  EXPECT_EQ(chosen("3/4", {}).value().shard, (Shard{3, 4}));
  EXPECT_EQ(chosen("4/4", {}).error().message, "--shard: shard: there is no shard 4 of 4");
}

TEST(Shards, ComeFromTheEnvironmentOfClusters) {
  const auto slurm = must(chosen("", {{"SLURM_ARRAY_TASK_ID", "7"},
                                      {"SLURM_ARRAY_TASK_COUNT", "3"},
                                      {"SLURM_ARRAY_TASK_MIN", "5"},
                                      {"SLURM_ARRAY_TASK_STEP", "2"}}));
  EXPECT_EQ(slurm.shard, (Shard{1, 3}));
  EXPECT_EQ(slurm.source, "SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(chosen("", {{"JOB_COMPLETION_INDEX", "2"}, {"GRAPHGATE_SHARDS", "5"}}).value().shard,
            (Shard{2, 5}));
  EXPECT_EQ(chosen("", {{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "2"}}).value().shard,
            (Shard{0, 2}));
  EXPECT_EQ(chosen("", {}).value().shard, (Shard{0, 1}));
  EXPECT_EQ(chosen("", {}).value().source, "");
}

TEST(Shards, OfTheFlagWinOverTheEnvironment) {
  const auto choice = chosen("1/2", {{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "3"}});
  EXPECT_EQ(choice.value().shard, (Shard{1, 2}));
}

TEST(Shards, AreRefusedWhereTheEnvironmentContradictsItself) {
  EXPECT_EQ(
      error_of({{"JOB_COMPLETION_INDEX", "0"}}),
      "JOB_COMPLETION_INDEX is set, and GRAPHGATE_SHARDS is not; give --shard i/N, or set it");
  EXPECT_EQ(error_of({{"GTEST_TOTAL_SHARDS", "3"}}),
            "GTEST_TOTAL_SHARDS is set, and GTEST_SHARD_INDEX is not; give --shard i/N, or set it");
  EXPECT_EQ(error_of({{"GTEST_SHARD_INDEX", "3"}, {"GTEST_TOTAL_SHARDS", "3"}}),
            "GTEST_SHARD_INDEX: there is no shard 3 of 3");
  EXPECT_EQ(error_of({{"SLURM_ARRAY_TASK_ID", "x"}, {"SLURM_ARRAY_TASK_COUNT", "3"}}),
            "SLURM_ARRAY_TASK_ID: expected a number, found 'x'");
  EXPECT_EQ(error_of({{"SLURM_ARRAY_TASK_ID", "1"},
                      {"SLURM_ARRAY_TASK_COUNT", "3"},
                      {"SLURM_ARRAY_TASK_MIN", "2"}}),
            "SLURM_ARRAY_TASK_ID: 1 is none of 2, 3, ...");
  EXPECT_EQ(error_of({{"SLURM_ARRAY_TASK_ID", "1"},
                      {"SLURM_ARRAY_TASK_COUNT", "4"},
                      {"GTEST_SHARD_INDEX", "0"},
                      {"GTEST_TOTAL_SHARDS", "2"}}),
            "SLURM_ARRAY_TASK_ID says shard 1/4, GTEST_SHARD_INDEX says shard 0/2; --shard i/N "
            "decides");
}

TEST(CaseIds, AreReadAsTheyArePrinted) {
  constexpr KnownGenerators kFirst{1, 1};
  const CaseId id{1, 42, {4711, {}}};
  EXPECT_EQ(print_case_id(id), "g1:42:4711");
  EXPECT_EQ(parse_case_id("g1:42:4711", kFirst).value(), id);
  EXPECT_TRUE(is_case_id("g1:42:4711"));
  EXPECT_FALSE(is_case_id("g1/a:b.case"));
  const CaseId bred{1, 42, {4711, {17, 903}}};
  EXPECT_EQ(print_case_id(bred), "f1:42:17-903-4711");
  EXPECT_EQ(parse_case_id("f1:42:17-903-4711", kFirst).value(), bred);
  EXPECT_TRUE(is_case_id("f1:42:17-903-4711"));
  for (const char* text : {"g1:42", "1:42:4711", "g1:42:", "g:1:2", "g1:42:4711 ", "g1:-1:2",
                           "g1:42:1-2", "f1:42:1", "f1:42:1-", "f1:42:-1", "f1:42:1--2"}) {
    EXPECT_FALSE(parse_case_id(text, kFirst).ok()) << text;
  }
}

TEST(CaseIds, OfAGeneratorThatIsNotKnownAreRefused) {
  constexpr KnownGenerators kKnown{2, 3};
  EXPECT_EQ(parse_case_id("g1:42:4711", kKnown).error().message,
            "case id 'g1:42:4711': generator 1 drew it, this is generator 3, which draws those "
            "from 2 on; a stored case file replays with any");
  EXPECT_EQ(parse_case_id("g2:42:4711", kKnown).value().generator, 2U);
  EXPECT_EQ(parse_case_id("g3:42:4711", kKnown).value().generator, 3U);
  EXPECT_FALSE(parse_case_id("g4:42:4711", kKnown).ok());
}

}  // namespace
}  // namespace graphgate::fuzz
