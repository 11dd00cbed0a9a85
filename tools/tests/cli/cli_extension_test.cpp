// Passes and compilers from shared objects: from the command line, cases and campaigns.
#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

constexpr const char* kCase =
    "graphgate-case 1\nname \"doubles\"\nseed 1\n"
    "program \"p\" {\n  input %x : f32[4, 6]\n  %a = aten.mul.Tensor(%x, 2.0)\n"
    "  %b = aten.relu.default(%a)\n  %c = aten.add.Tensor(%b, 1.0)\n  output %c\n}\n"
    "scenario {\n  call p\n  call p\n}\nexpect PASS\n";

class CliExtension : public Cli {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string object(const std::string& name) {
    return std::string(GRAPHGATE_EXTENSIONS_BUILT) + "/" + name + ".so";
  }
  // A case with one option more.
  std::string stored(const std::string& name, const std::string& option = "",
                     const std::string& value = "") {
    std::string text = kCase;
    if (!option.empty()) {
      text.insert(text.find("program"), "option \"" + option + "\" \"" + value + "\"\n");
    }
    std::ofstream(at(name)) << text;
    return at(name);
  }
};

TEST_F(CliExtension, IsJudgedAsAnyExecutorIs) {
  const std::string file = stored("x.case");
  EXPECT_EQ(run("check --pass " + object("product_is_sum") + " --compiler " + object("pairs") +
                " " + file)
                .code,
            0);
  const CliRun wrong = run("check --pass " + object("ComputesAnother") + " " + file);
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  EXPECT_TRUE(contains(wrong.out, "FAIL")) << wrong.out;
  const CliRun crash = run("check --pass " + object("Crashes") + " " + file);
  EXPECT_EQ(crash.code, 1) << crash.out << crash.err;
  EXPECT_TRUE(contains(crash.out, object("Crashes") + ": was killed by signal 11")) << crash.out;
}

TEST_F(CliExtension, IsRefusedInOneLineWhereItIsNone) {
  const std::string file = stored("x.case");
  for (const char* name : {"OfAnotherAbi", "HasNothing", "NoSuchFile", "CrashesAtLoading"}) {
    const CliRun refused = run("check --pass " + object(name) + " " + file);
    EXPECT_EQ(refused.code, 4) << name << ": " << refused.out << refused.err;
    EXPECT_TRUE(contains(refused.out + refused.err, std::string(name) + ".so")) << refused.err;
  }
}

// A case may be somebody else's, and the object is code.
TEST_F(CliExtension, OfACaseIsLoadedOnlyIfSomebodySaysSo) {
  const std::string file = stored("y.case", "pass", object("ComputesAnother"));
  const CliRun refused = run("check " + file);
  EXPECT_EQ(refused.code, 4) << refused.out << refused.err;
  EXPECT_TRUE(contains(refused.out + refused.err, "GRAPHGATE_EXTENSIONS")) << refused.err;
  ::setenv("GRAPHGATE_EXTENSIONS", ("/nowhere:" GRAPHGATE_EXTENSIONS_BUILT), 1);
  EXPECT_EQ(run("check " + file).code, 1);
  ::unsetenv("GRAPHGATE_EXTENSIONS");
  EXPECT_EQ(run("check --pass " + object("ComputesAnother") + " " + file).code, 1);
}

TEST_F(CliExtension, IsLookedAtByCampaigns) {
  const CliRun right = run(
      "fuzz --cases 3 -j 1 --seed 2 --judges bounds,verifier --timeout 200 --no-replay --pass " +
      object("product_is_sum") + " --compiler " + object("pairs") + " --corpus " + at("right"));
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  const CliRun crash =
      run("fuzz --cases 1 -j 1 --seed 2 --judges verifier --no-replay --reduce-time 0 --pass " +
          object("Crashes") + " --corpus " + at("crash"));
  EXPECT_EQ(crash.code, 1) << crash.out << crash.err;
  EXPECT_TRUE(contains(crash.out, "was killed by signal 11")) << crash.out;
}

}  // namespace
}  // namespace graphgate::tools
