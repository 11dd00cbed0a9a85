#include "tools/cli/flags.h"

#include <gtest/gtest.h>

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using spec::Configuration;

// What comes of flags as typed behind a verb; an error's words where they are none.
Configuration given(const std::string& arguments) {
  CLI::App app;
  Configuration out;
  add_planner_flags(app, out);
  try {
    app.parse(arguments, false);
  } catch (const CLI::ParseError& error) {
    return {{"error", error.what()}};
  }
  return out;
}

TEST(OptionFlags, BecomeAConfiguration) {
  EXPECT_EQ(given(""), Configuration());
  EXPECT_EQ(given("--memory lines --no-reuse --capture-sizes 2,4 --deviation a --deviation b "
                  "--streams 0x2"),
            (Configuration{{option::kMemory, "lines"},
                           {option::kNoReuse, ""},
                           {option::kCaptureSizes, "2,4"},
                           {option::kDeviation, "a,b"},
                           {option::kStreams, "0x2"}}));
  EXPECT_EQ(given("--weak-outputs=true --share-pools=false --no-reuse=false"),
            (Configuration{{option::kWeakOutputs, ""}}));
}

TEST(OptionFlags, AreThoseOfTheTable) {
  CLI::App app;
  app.set_help_flag();
  Configuration unused;
  add_planner_flags(app, unused);
  std::vector<std::string> expected;
  for (const spec::OptionRow& row : spec::option_rows()) {
    if (row.group != spec::OptionGroup::kReference) expected.emplace_back(row.name);
  }
  std::vector<std::string> flags;
  for (const CLI::Option* flag : app.get_options()) flags.push_back(flag->get_lnames().front());
  EXPECT_EQ(flags, expected);
}

// The words are those of case files (spec::check_option).
TEST(OptionFlags, RefuseWhatTheTableDoes) {
  EXPECT_EQ(given("--memory stacks").at("error"), "--memory: stacks not in {pack,lines,pools}");
  EXPECT_EQ(given("--streams few").at("error"), "Could not convert: --streams = few");
  EXPECT_EQ(given("--weak-outputs=perhaps").at("error"),
            "Could not convert: --weak-outputs = perhaps");
  EXPECT_EQ(given("--size-multiple 0").at("error"),
            "--size-multiple: Value 0 not in range 1 to 1000000");
}

// `check --capture-sizes 1,2,4 model.pt2`: the file is no size.
TEST(OptionFlags, LeaveTheArgumentsBehindThemAlone) {
  CLI::App app;
  Configuration out;
  add_planner_flags(app, out);
  std::vector<std::string> files;
  app.add_option("files", files);
  app.parse("--capture-sizes 1,2,4 a.pt2 --compile-sizes 8 b.pt2 --pass p c.pt2", false);
  EXPECT_EQ(files, (std::vector<std::string>{"a.pt2", "b.pt2", "c.pt2"}));
  EXPECT_EQ(out.at(option::kCaptureSizes), "1,2,4");
}

// A compiler that shares its processor takes a second for a kernel (seed 2026112606).
TEST(UsualTimeout, IsLongerWhereACaseIsCompiled) {
  SubjectFlags subject;
  Configuration planner;
  const double on_host = usual_timeout(subject, planner);
  planner[option::kDevice] = "emulated";
  EXPECT_GE(usual_timeout(subject, planner), 5 * on_host);
  subject.executor = "serve";
  EXPECT_GE(usual_timeout(subject, planner), 20 * on_host);
}

}  // namespace
}  // namespace graphgate::tools
