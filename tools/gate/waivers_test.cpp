#include "tools/gate/waivers.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

constexpr const char* kLine = "verifier-V3.overlap-3f2a9c0d5e71 https://example.org/12 2027-01-31";

TEST(Waivers, ReadOneALineWithItsLastDay) {
  const auto waivers =
      must(parse_waivers(std::string("# why\n\n") + kLine + " until then\n", "w.txt"));
  ASSERT_EQ(waivers.size(), 1U);
  const auto& [name, waiver] = *waivers.begin();
  EXPECT_EQ(name, "verifier-V3.overlap-3f2a9c0d5e71");
  EXPECT_EQ(waiver.issue, "https://example.org/12");
  EXPECT_EQ(waiver.note, "until then");
  EXPECT_TRUE(waiver.holds_on("2027-01-31"));
  EXPECT_FALSE(waiver.holds_on("2027-02-01"));
}

TEST(Waivers, WantAnIssueAndADayOfTheCalendar) {
  const auto message = [](const std::string& text) {
    return message_of(parse_waivers(text, "w.txt"));
  };
  EXPECT_EQ(message("\nname 12 2027-01-31\n"),
            "w.txt:2: expected the address of an issue behind 'name'");
  for (const char* day : {"", "2027-02-29", "2027-1-1", "31.01.2027", "2027-01-32", "2O27-01-01"}) {
    EXPECT_EQ(message(std::string("name https://e.org/1 ") + day),
              "w.txt:1: expected the last day, YYYY-MM-DD, behind 'name https://e.org/1'");
  }
  EXPECT_EQ(message(std::string(kLine) + "\n" + kLine),
            "w.txt:2: 'verifier-V3.overlap-3f2a9c0d5e71' comes twice");
}

TEST(Waivers, CompareWithADayOfTheSameForm) {
  EXPECT_EQ(today().size(), 10U);
  EXPECT_GE(today(), "2026-01-01");
}

}  // namespace
}  // namespace graphgate::tools
