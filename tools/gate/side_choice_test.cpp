#include "tools/gate/side_choice.h"

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

SideChoice parsed(const std::string& text) { return must(parse_side(text)); }

std::string refusal_of(const std::string& text) { return message_of(parse_side(text)); }

TEST(SideChoice, IsAProfileOrAStoredSide) {
  const SideChoice profile = parsed("torch-2.9.1,vllm-0.11.1");
  EXPECT_TRUE(profile.is_profile());
  EXPECT_EQ(profile.profile, "torch-2.9.1,vllm-0.11.1");
  EXPECT_EQ(profile.subject->name(), "optimized");
  EXPECT_TRUE(parsed("a=b.json").is_stored());
  EXPECT_EQ(parsed("a=b.json").file, "a=b.json");
}

// Of a subject that is not started, the command is the name.
TEST(SideChoice, IsACommandCalledAsTheUserSays) {
  const SideChoice plain = parsed("cmd:HOST=a serve --config x.json");
  EXPECT_TRUE(plain.is_process());
  EXPECT_EQ(plain.name, "cmd:HOST=a serve --config x.json");
  EXPECT_EQ(plain.subject->name(), "HOST=a serve --config x.json");
  const SideChoice named = parsed("the new one=cmd:serve A=python:b");
  EXPECT_EQ(named.name, "the new one");
  EXPECT_EQ(named.subject->name(), "serve A=python:b");
  EXPECT_EQ(parsed("now=python:no-such-python:compile").name, "now");
  EXPECT_EQ(parsed("now=vllm:no-such-python").name, "now");
  EXPECT_EQ(parsed("now=vllm:no-such-python").text, "vllm:no-such-python");
  EXPECT_EQ(parsed("torch-2.9.1").text, "torch-2.9.1");
  EXPECT_EQ(refusal_of("cmd:"), "'cmd:': nothing stands behind cmd:");
  EXPECT_EQ(refusal_of("new=cmd: "), "'new=cmd: ': nothing stands behind cmd:");
  EXPECT_EQ(refusal_of("now=python::compile"),
            "'now=python::compile': python: needs an interpreter or an environment's folder");
}

}  // namespace
}  // namespace graphgate::tools
