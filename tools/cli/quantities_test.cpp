#include "tools/cli/quantities.h"

#include <gtest/gtest.h>

namespace graphgate::tools {
namespace {

TEST(Quantities, AreReadAsPeopleTypeThem) {
  EXPECT_EQ(parse_duration("8h").value(), 28'800);
  EXPECT_EQ(parse_duration("1h30m").value(), 5'400);
  EXPECT_EQ(parse_duration("90").value(), 90);
  EXPECT_EQ(parse_duration("0.5s").value(), 0.5);
  EXPECT_EQ(parse_duration("2m5s").value(), 125);
  for (const char* text : {"", "h", "0", "-1s", "5d", "5s3m", "1m1m", "1h30", "nan", "1e300h"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
  EXPECT_EQ(parse_bytes("4GiB").value(), std::uint64_t{4} << 30U);
  EXPECT_EQ(parse_bytes("512M").value(), std::uint64_t{512} << 20U);
  EXPECT_EQ(parse_bytes("100").value(), 100U);
  EXPECT_EQ(parse_bytes("0").value(), 0U);
  for (const char* text : {"", "G", "-1", "4GB", "4 GiB", "99999999T", "1.5G"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

}  // namespace
}  // namespace graphgate::tools
