#include "optimized/runtime/device/compiler_log.h"

#include <gtest/gtest.h>

namespace graphgate::optimized {
namespace {

TEST(CompilerLog, IsOneLineFromTheFirstErrorOn) {
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened("cannot be run\n"), "cannot be run");
  EXPECT_EQ(shortened("a.cu(3): error: no such name\n  x = y;\n\n"),
            "a.cu(3): error: no such name   x = y;");
  EXPECT_EQ(shortened("a.cu(1): warning: never used\n  int x;\n\na.cu(3): error: none\n"),
            "a.cu(3): error: none");
}

TEST(CompilerLog, IsCut) {
  const std::string log = "warning\nerror: " + std::string(10'000, 'x');
  EXPECT_EQ(shortened(log), log.substr(8, 600));
}

}  // namespace
}  // namespace graphgate::optimized
