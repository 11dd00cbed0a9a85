#include "conformance/judges/plan_quality.h"

#include "base/result_test.h"
#include "spec/plan_text.h"

namespace graphgate::conformance {
namespace {

constexpr const char* kPlan = R"(plan "tiny" strict {
  pool @in input on cuda 256 align 256
  pool @arena arena on cuda 512 align 256
  buffer $x @in [0, 64)
  buffer $y @arena [0, 64)
  buffer $z @arena [256, 320)
  input user "x" %x : f32[16] $x
  block @main {
    partition 0 captured {
      in $x
      out $z
      %y : f32[16] $y = aten.relu.default(%x)
      %z : f32[16] $z = aten.neg.default(%y)
    }
  }
  output %z
}
)";

TEST(Quality, IsWhatThePlanTakes) {
  const auto plan = must(spec::parse_plan(kPlan, spec::builtin_op_table()));
  EXPECT_EQ(print_quality("tiny", 1, quality_of(plan)),
            "tiny call 1: peak 512 lower-bound 512 no-reuse 512 partitions 1 captured 1 steps 2 "
            "captured-steps 2 copied-in 64\n");
}

TEST(Quality, ReadsBackWhatItPrints) {
  const Quality quality = {{"peak", 512}, {"steps", 2}};
  const auto read = must(parse_quality("# bytes\n" + print_quality("a", 0, quality) +
                                       print_quality("b.core", 3, quality)));
  EXPECT_EQ(read.at("a call 0"), quality);
  EXPECT_EQ(read.at("b.core call 3"), quality);
}

TEST(Quality, BelongsToWhatWasAskedForNotToWhatIsWrong) {
  EXPECT_EQ(quality_suffix({}), "");
  EXPECT_EQ(quality_suffix({{"deviation", "mutation_blocks_reuse"}, {"profile", "torch-2.9.0"}}),
            "");
  EXPECT_EQ(quality_suffix({{"deviation", "frees_twice"}, {"memory", "lines"}}),
            " with memory=lines");
}

TEST(Quality, NamesTheLineThatItCannotRead) {
  for (const char* text : {"a call 0: peak 1\na call 0: peak 1\n", "\nno colon\n", "\na: peak\n",
                           "\na: peak x\n", "\na: peak 1x\n"}) {
    const Error read = failure_of(parse_quality(text), text);
    EXPECT_EQ(read.kind, ErrorKind::kBadInput);
    EXPECT_TRUE(contains(read.message, "quality:2: "));
  }
}

TEST(Quality, GetsWorseByMoreBytesPartitionsStepsAndFewerCaptures) {
  const Quality before = {
      {"peak", 512}, {"partitions", 2}, {"steps", 5}, {"captured-steps", 5}, {"copied-in", 64}};
  EXPECT_TRUE(worse_than(before, before).empty());
  const auto with = [&](std::size_t index, std::int64_t value) {
    Quality now = before;
    now[index].second = value;
    return now;
  };
  EXPECT_EQ(worse_than(with(0, 513), before), std::vector<std::string>{"peak is 513, was 512"});
  EXPECT_TRUE(worse_than(with(0, 511), before).empty());
  EXPECT_EQ(worse_than(with(1, 3), before).size(), 1U);
  EXPECT_EQ(worse_than(with(2, 6), before).size(), 2U) << "one step more, and not captured";
  EXPECT_EQ(worse_than(with(3, 4), before),
            std::vector<std::string>{"steps that are not captured are 1, were 0"});
  EXPECT_EQ(worse_than(with(4, 65), before).size(), 1U);
  EXPECT_TRUE(worse_than({{"steps", 4}, {"captured-steps", 4}}, before).empty());
}

}  // namespace
}  // namespace graphgate::conformance
