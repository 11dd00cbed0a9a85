#include "spec/case_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/result_test.h"

namespace graphgate::spec {
namespace {

constexpr std::string_view kFullCase = R"case(graphgate-case 1
# Why: a comment stays.
#
#   indented, too
name "two sizes share a pool"
seed 42
option "profile" "torch-2.11"
op my::scale_(Tensor(a!) x, float by=2.0) -> () ; tags=pointwise
program "g1" {
  symbol s0 in [1, 64]
  parameter %w "w" : f32[2] = [1.0, 2.0]
  input %x : f32[s0, 2]
  input %n : symint
  input %"odd name" : f32[2]
  my.scale_.default(%x, 0.5)
  %y = aten.add.Tensor(%x, %w)
  output %y
  output %n
}
program "g2" {
  buffer %b "b" : f32[2]
  input %x : f32[2]
  output %x
}
weights "g2" from "g2.safetensors"
inputs "first" of "g1" {
  x : f32[2, 2] = [1.0, -0.5, inf, 0.1]
  n = 3
  "odd name" from "in.safetensors" key "odd"
}
inputs "shared" of "g1" {
  x : f32[2, 2] = [1.0, -0.5, inf, 0.1]
  "odd name" : f32[2]@2 = alias "x"
}
inputs "second" of "g1" {
  x seed 5
}
scenario {
  call g1 s0=2 mode=captured inputs=first
  call g2
  hold g1.out0
  feed-back g1.out0 -> g2.in0
  swap-weights g1
  check held
  swap-weights g1 target=w rebind=true
  restart cache-rank="1" op="my::scale_(Tensor x, float by=2.0) -> ()"
  call g1 inputs=shared flag.lora=on
}
expect FAIL "step 7 reads a stale value"
expect call 0 out0 : f32[2, 2] = [2.0, 1.5, inf, 2.1]
expect call 0 out1 = 3
expect call 1 out0 from "out.safetensors" key "o"
expect call 2 refused "moved"
)case";

CaseFile parse_whole(std::string_view text) { return must(parse_case(text, "c")); }

std::string error_of(std::string_view text) {
  return message_of(parse_case(text, "c"), "no error");
}

// kFullCase with its first `from` replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(kFullCase);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << from;
  } else {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(CaseText, PrintsCanonicalTextAsItWas) {
  EXPECT_EQ(print_case(parse_whole(kFullCase)).value(), kFullCase);
  EXPECT_TRUE(check_case(parse_whole(kFullCase)).ok());
}

TEST(CaseText, ReadsTheCaseThatItPrinted) {
  const CaseFile the_case = parse_whole(kFullCase);
  const CaseFile again = parse_whole(print_case(the_case).value());
  EXPECT_TRUE(same_case(again, the_case));
  CaseFile other = again;
  std::get<HostTensor>(other.inputs[0].inputs[0].data).storage =
      std::make_shared<HostStorage>(HostStorage{std::vector<std::byte>(16)});
  EXPECT_FALSE(same_case(other, the_case));
  other = again;
  other.expectation.outputs[1].data = 4.0;
  EXPECT_FALSE(same_case(other, the_case));
  other = again;
  auto& shared = std::get<HostTensor>(other.inputs[1].inputs[1].data);
  shared.storage = std::make_shared<HostStorage>(*shared.storage);
  EXPECT_FALSE(same_case(other, the_case)) << "the same elements, in a storage of their own";
  other = again;
  other.header.pop_back();
  EXPECT_FALSE(same_case(other, the_case));
  other = again;
  other.expectation.refusal.reset();
  EXPECT_FALSE(same_case(other, the_case));
}

TEST(CaseText, NeedsOnlyAVersionAndAProgram) {
  const CaseFile the_case = parse_whole("graphgate-case 1\nprogram \"p\" {\n}\n");
  EXPECT_EQ(the_case.expectation.outcome, Outcome::kPass);
  EXPECT_TRUE(check_case(the_case).ok());
}

TEST(CaseText, RefusesAnUnknownVersion) {
  EXPECT_EQ(error_of("graphgate-case 2\n"),
            "c:1:16: expected version 1 of the case format, found version 2");
  EXPECT_EQ(error_of("program \"p\" {\n}\n"), "c:1:1: expected graphgate-case, found 'program'");
  EXPECT_EQ(error_of(""), "c:1:1: expected graphgate-case, found the end of the text");
}

TEST(CaseText, NamesThePlaceOfAnError) {
  EXPECT_EQ(error_of("graphgate-case 1\n"), "c:2:1: expected a program, found the end of the text");
  EXPECT_EQ(error_of(changed("seed 42", "seed x")), "c:6:6: expected a seed, found 'x'");
  EXPECT_EQ(error_of(changed("seed 42", "sed 42")),
            "c:6:1: expected name, seed, option, op, program, weights, inputs, scenario or "
            "expect, found 'sed'");
  EXPECT_EQ(error_of(changed("seed 42\n", "seed 42\nname \"again\"\n")),
            "c:7:1: expected the blocks of a case in order, found 'name' too late or again");
  EXPECT_EQ(error_of(changed("option", "option \"profile\" \"a\"\noption")),
            "c:8:8: expected each option once, found 'profile' again");
  EXPECT_EQ(error_of(changed("my.scale_", "my.scale")),
            "c:15:3: the op table has no schema for my.scale.default (give one by --custom-ops, or "
            "export with --decompose, which makes core ops of most)");
  EXPECT_EQ(error_of(changed("from \"g2", "form \"g2")),
            "c:25:14: expected seed or from, found "
            "'form'");
  EXPECT_EQ(error_of(changed("n = 3", "n : 3")).substr(0, 31), "c:28:7: expected a dtype (f64 f");
  EXPECT_EQ(error_of(changed("n = 3", "n = \"a\"")), "c:28:7: expected a number, True or False");
  EXPECT_EQ(error_of(changed("n = 3", "n")),
            "c:28:4: expected seed, from, ':' or '=', found the end of the line");
  EXPECT_EQ(error_of(changed("key \"odd\"", "")),
            "c:29:36: expected 'key', found the end of the line");
  EXPECT_EQ(error_of(changed("hold g1", "hod g1")).substr(0, 24), "c:41:3: expected a step ");
  EXPECT_TRUE(parse_case(changed("check held", "check held; check state"), "c").ok());
  EXPECT_EQ(error_of(changed("check held", "check held; check held hold")),
            "c:44:26: expected the end of the line, found 'hold'");
  EXPECT_EQ(error_of(changed("expect FAIL", "expect fail")),
            "c:49:8: expected call, or an outcome (PASS, FAIL, SUSPECT, ...), found 'fail'");
  EXPECT_EQ(error_of(changed("call 0 out1", "call 0 in1")),
            "c:51:15: expected outN, a number of 32 bits, found 'in1'");
  EXPECT_EQ(
      error_of(changed("alias \"x\"", "alias \"z\"")),
      "c:33:33: expected an input with elements above, and a type without symbols, found 'z'");
  EXPECT_EQ(error_of(changed("f32[2]@2 = alias", "f32[2]@3 = alias")),
            "c:33:33: the elements of f32[2]@3 do not fit in the storage of 'x'");
  EXPECT_EQ(error_of(changed("refused \"moved\"", "refused\nexpect call 1 refused")),
            "c:54:13: expected one refusal alone, found another");
  EXPECT_EQ(error_of(changed("out1 = 3", "out1 seed 3")),
            "c:51:20: expected elements, a number or a file, found a seed");
}

// Bytes overwritten, cut and doubled: either a case or one line with a place comes out.
RC_GTEST_PROP(CaseText, SurvivesDamage, (std::vector<std::pair<std::uint16_t, char>> edits)) {
  std::string text(kFullCase);
  for (const auto& [where, what] : edits) {
    const std::size_t at = where % text.size();
    if (what % 3 == 0) text[at] = what;
    if (what % 3 == 1) text.insert(at, text.substr(text.size() / 3, where % 9U));
    if (what % 3 == 2 && text.size() > 100) text.erase(at, where % 5U);
  }
  const auto parsed = parse_case(text, "c");
  if (!parsed.ok()) {
    RC_ASSERT(parsed.error().message.starts_with("c:"));
    RC_ASSERT(parsed.error().message.find('\n') == std::string::npos);
    return;
  }
  const auto checked = check_case(parsed.value());
  RC_ASSERT(checked.ok() || checked.error().message.find('\n') == std::string::npos);
}

TEST(CaseText, GivesTheColumnInABadSchema) {
  const std::string error = error_of(changed("float by=2.0)", "float by=2.0"));
  EXPECT_EQ(error.substr(0, 4), "c:8:") << error;
  EXPECT_TRUE(contains(error, "expected"));
}

TEST(CheckCase, RefusesReferencesToWhatDoesNotExist) {
  const auto error = [](std::string_view from, std::string_view to) {
    return message_of(check_case(parse_whole(changed(from, to))), "valid");
  };
  EXPECT_EQ(error("program \"g2\"", "program \"g1\""), "two programs are named 'g1'");
  EXPECT_EQ(error("weights \"g2\"", "weights \"g3\""), "the case has no program 'g3'");
  EXPECT_EQ(error("weights \"g2\"", "weights \"g1\""),
            "weights 'g1': the program has elements of its own");
  EXPECT_EQ(error("\"second\"", "\"first\""), "inputs 'first': two sets have this name");
  EXPECT_EQ(error("  n = 3", "  m = 3"), "inputs 'first': program 'g1' has no input 'm'");
  EXPECT_EQ(error("  n = 3", "  x = 3"), "inputs 'first': input 'x' is given twice");
  EXPECT_EQ(error("call g2\n", "call g3\n"), "step 1 (call g3): the case has no program 'g3'");
  EXPECT_EQ(error("s0=2", "s1=2"),
            "step 0 (call g1 s1=2 mode=captured inputs=first): the program has no symbol 's1'");
  EXPECT_EQ(error("call g2\n", "call g2 inputs=first\n"),
            "step 1 (call g2 inputs=first): the case has no inputs 'first' of this program");
  EXPECT_EQ(error("call g2\n", "hold g2.out0\n"),
            "step 1 (hold g2.out0): program 'g2' is not called before");
  EXPECT_EQ(error("hold g1.out0", "hold g1.out2"),
            "step 2 (hold g1.out2): the program has 2 outputs");
  EXPECT_EQ(error("g2.in0", "g2.in1"),
            "step 3 (feed-back g1.out0 -> g2.in1): the program has 1 inputs");
  const auto kept = [&](const std::string& port) {
    return error("feed-back g1.out0 -> g2.in0", "static " + port);
  };
  EXPECT_EQ(kept("g1.in0"), "valid");
  EXPECT_EQ(kept("g1.in9"), "step 3 (static g1.in9): the program has 3 inputs");
  EXPECT_EQ(kept("g3.in0"), "step 3 (static g3.in0): the case has no program 'g3'");
  EXPECT_EQ(kept("g1.in1"), "step 3 (static g1.in1): input 'n' is no tensor that calls pass");
  EXPECT_EQ(error("call 1 out0", "call 3 out0"),
            "expected output 0 of call 3: the scenario has 3 calls");
  EXPECT_EQ(error("call 2 refused", "call 3 refused"),
            "refusal of call 3: the scenario has 3 calls");
  EXPECT_EQ(error("target=w", "target=v"),
            "step 6 (swap-weights g1 target=v rebind=true): the program has no state 'v'");
  EXPECT_EQ(error("(Tensor x, float by", "(int x, float by").substr(0, 10), "step 7 (re");
  EXPECT_EQ(error("call g1 inputs=shared flag.lora=on\n", "hold g1.out0\n"),
            "step 8 (hold g1.out0): program 'g1' is not called before");
  EXPECT_EQ(error("f32[s0, 2]\n  input %n", "f32[s1, 2]\n  input %n"),
            "program 'g1': value %x: symbol 's1' is not declared");
}

// What is lost in a sleep has to be given anew, by a program that is awake.
TEST(CheckCase, RefusesToReadWhatASleepHasLost) {
  const auto verdict = [](const std::string& steps) {
    const auto checked = check_case(parse_whole(R"(graphgate-case 1
program "g" {
  parameter %w "w" : f32[1] = [1.0]
  parameter %v "v" : f32[1] = [1.0]
  buffer %k "k" : f32[1] = [1.0]
  input %x : f32[1]
  %a = aten.add.Tensor(%x, %w)
  %b = aten.add.Tensor(%a, %v)
  %y = aten.add.Tensor(%b, %k)
  output %y
}
scenario {
)" + steps + "}\n"));
    return checked.ok() ? "valid" : checked.error().message;
  };
  EXPECT_EQ(verdict("sleep level=1\nwake\ncall g\n"), "valid");
  EXPECT_EQ(verdict("sleep level=1\ncall g\n"), "valid") << "it is to be refused";
  EXPECT_EQ(verdict("sleep level=2\nwake\nswap-weights g\ncall g\n"), "valid");
  EXPECT_EQ(verdict("sleep level=2\nwake\nrestart\ncall g\n"), "valid");
  EXPECT_EQ(verdict("sleep level=2\nwake\ncall g\n"),
            "step 2 (call g): 'v' was lost in the sleep: give it new contents first "
            "(swap-weights g target=v)");
  EXPECT_EQ(verdict("sleep level=2\nwake\nswap-weights g target=v\ncall g\n"),
            "step 3 (call g): 'w' was lost in the sleep: give it new contents first "
            "(swap-weights g target=w)");
  EXPECT_EQ(verdict("sleep level=1 cache=k\nwake\ncall g\n"),
            "step 2 (call g): 'k' was lost in the sleep: give it new contents first "
            "(swap-weights g target=k)");
  EXPECT_EQ(verdict("sleep level=1 cache=k\nwake\nswap-weights g target=k\ncall g\n"), "valid");
  EXPECT_EQ(verdict("sleep level=1 cache=w\n"),
            "step 0 (sleep level=1 cache=w): no program has a buffer 'w'");
  EXPECT_EQ(verdict("sleep level=1\nsleep level=1\n"),
            "step 1 (sleep level=1): the executor is asleep already");
  EXPECT_EQ(verdict("sleep level=2 cache=k\nwake caches\nswap-weights g\n"),
            "step 2 (swap-weights g): 'w' is asleep: it takes no contents");
  EXPECT_EQ(verdict("sleep level=2 cache=k\nwake weights\nswap-weights g target=k\n"),
            "step 2 (swap-weights g target=k): 'k' is asleep: it takes no contents");
}

TEST(CheckCase, RefusesAStorageThatIsToLieOnTwoDevices) {
  EXPECT_EQ(failure_of(check_case(parse_whole(
                           changed("\"odd name\" : f32[2]\n", "\"odd name\" : f32[2] on cuda\n"))))
                .message,
            "inputs 'shared': input 'odd name', on cuda, lies in the storage of 'x', on cpu");
}

}  // namespace
}  // namespace graphgate::spec
