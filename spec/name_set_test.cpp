#include "spec/name_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace graphgate::spec {
namespace {

RC_GTEST_PROP(NameSet, TellsNamesThatItHasSeen, ()) {
  const auto names = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("", "a", "b", "ab"));
  NameSet seen(names.size());
  std::set<std::string> wanted;
  for (const std::string& name : names) {
    RC_ASSERT(seen.insert(name) == wanted.insert(name).second);
  }
}

TEST(NameSet, HoldsAsManyAsItWasToldOf) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(i));
  NameSet seen(names.size());
  for (const std::string& name : names) EXPECT_TRUE(seen.insert(name)) << name;
  for (const std::string& name : names) EXPECT_FALSE(seen.insert(name)) << name;
}

}  // namespace
}  // namespace graphgate::spec
