#include "optimized/upstream/version.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/result_test.h"

namespace graphgate::optimized {
namespace {

Version version(std::string_view text) { return parse_version(text).value(); }

TEST(Version, OrdersDevelopmentBeforeCandidatesBeforeTheRelease) {
  const char* const kAscending[] = {"2.8.1",
                                    "2.9.0.dev20250801",
                                    "2.9.0.dev20250802+cu128",
                                    "2.9.0a1",
                                    "2.9.0b1",
                                    "2.9.0rc1.dev1",
                                    "2.9.0rc1",
                                    "2.9.0rc2",
                                    "2.9.0",
                                    "2.9.0+cpu",
                                    "2.9.0.post1.dev1",
                                    "2.9.0.post1",
                                    "2.9.1",
                                    "2.10.0"};
  for (std::size_t i = 0; i + 1 < std::size(kAscending); ++i) {
    EXPECT_LT(version(kAscending[i]), version(kAscending[i + 1])) << kAscending[i];
  }
}

TEST(Version, CountsMissingPlacesAsZero) {
  EXPECT_EQ(version("2.9"), version("2.9.0"));
  EXPECT_EQ(version("v2.9.0"), version("2.9.0"));
  EXPECT_LT(version("2.9"), version("2.9.1"));
}

TEST(Version, IsTheEqualReleaseWhateverItsLocalPart) {
  EXPECT_TRUE(is_equal_release(version("2.9.0"), version("2.9.0")));
  EXPECT_TRUE(is_equal_release(version("2.9.0+cu128"), version("2.9.0")));
  EXPECT_FALSE(is_equal_release(version("2.9.0.dev20250801"), version("2.9.0")));
  EXPECT_FALSE(is_equal_release(version("2.9.1"), version("2.9.0")));
}

TEST(Version, RefusesWhatIsNone) {
  for (const char* text :
       {"", "x", "2.", "2..1", "2.9.0 ", "2.9.0rc1x", "2.9.0+a b", "99999999999"}) {
    EXPECT_TRUE(contains(failure_of(parse_version(text), text).message,
                         "found '" + std::string(text) + "'"));
  }
}

RC_GTEST_PROP(Version, OrderIsTotal, (std::vector<std::uint8_t> genes)) {
  const char* const kSuffixes[] = {"", ".dev1", "rc1", "a2", ".post1", "+cpu", "rc1.dev3"};
  std::vector<Version> versions;
  for (const std::uint8_t gene : genes) {
    versions.push_back(version(std::to_string(gene % 2) + "." + std::to_string(gene / 2 % 3) +
                               kSuffixes[gene / 6 % std::size(kSuffixes)]));
  }
  for (const Version& a : versions) {
    for (const Version& b : versions) {
      RC_ASSERT((a < b) == (b > a));
      for (const Version& c : versions) {
        if (a < b && b < c) RC_ASSERT(a < c);
      }
    }
  }
}

}  // namespace
}  // namespace graphgate::optimized
