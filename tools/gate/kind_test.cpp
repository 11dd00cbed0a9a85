#include "tools/gate/kind.h"

#include <gtest/gtest.h>

#include <set>

namespace graphgate::tools {
namespace {

TEST(GateKind, IsToldByTheSignature) {
  const auto kind = [](const char* signature) {
    return std::string(kind_name(kind_of(signature)));
  };
  EXPECT_EQ(kind("bounds B1.outside-bound [mm] {}"), "wrong values");
  EXPECT_EQ(kind("state B3.exact [add_] {}"), "wrong values");
  EXPECT_EQ(kind("run R3.not-refused [] {}"), "wrong values");
  EXPECT_EQ(kind("configurations C1.configuration [mm] {}"), "wrong values");
  EXPECT_EQ(kind("verifier V3.overlap [mm] {}"), "unsafe plan");
  EXPECT_EQ(kind("shadow S2.stale-read [view] {}"), "unsafe plan");
  EXPECT_EQ(kind("candidate R4.unsupported [] {}"), "refused");
  EXPECT_EQ(kind("run R1.refused-wrongly [mm] {}"), "stricter");
  EXPECT_EQ(kind("run R2.broke-down [KeyError] {}"), "crash");
  EXPECT_EQ(kind("crash SIGSEGV [] {}"), "crash");
  EXPECT_EQ(kind("quality Q4.not-in-effect [attn] {}"), "plan or fusion no longer applied");
  EXPECT_EQ(kind("plans steps [] {}"), "plan or fusion no longer applied");
  EXPECT_EQ(kind("plans captured-steps [] {}"), "plan or fusion no longer applied");
  EXPECT_EQ(kind("configurations C3.cached-plan [] {}"), "cache");
  EXPECT_EQ(kind("times answer [] {}"), "slower");
  EXPECT_EQ(kind("plans peak [] {}"), "more memory");
  EXPECT_EQ(kind("quality Q1.peak [] {}"), "more memory");
  EXPECT_EQ(kind("memory out-of-memory [] {}"), "more memory");
  EXPECT_EQ(kind("versions since-2.15 [clamp, hardtanh] {}"), "semantics");
  EXPECT_EQ(kind(""), "");
}

TEST(GateKind, HasANameOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i < kGateKindCount; ++i) names.insert(kind_name(static_cast<GateKind>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kGateKindCount));
}

}  // namespace
}  // namespace graphgate::tools
