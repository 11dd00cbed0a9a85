#include "interop/xla_dump.h"

#include <cstddef>

#include "base/file_io.h"
#include "base/result_test.h"

namespace graphgate::interop {
namespace {

const std::string kDumps = std::string(GRAPHGATE_GOLDEN_DIR) + "/xla/";

constexpr const char* kHead = "HloModule m, is_scheduled=true\n";

std::string module_of(const std::string& lines) {
  return kHead + std::string("ENTRY %e (x: f32[2]) -> f32[2] {\n") + lines + "}\n";
}

TEST(XlaDump, HasTheModuleItsPlacesAndItsLiveRanges) {
  const spec::HloPlan plan = must(read_xla_dump(kDumps + "scan_rnn-buffer-assignment.txt"));
  const auto& entry = plan.module.computations[plan.module.entry];
  EXPECT_EQ(entry.parameters.size(), 2U);
  EXPECT_EQ(entry.instructions[entry.root].opcode, "tuple");
  EXPECT_EQ(plan.allocations[0].size_bytes, 1024);
  ASSERT_TRUE(plan.live_ranges);
  EXPECT_GT(plan.live_ranges->sequence.size(), 20U);
}

TEST(XlaDump, ReadsShapesWithPackedElementsTuplesAndComments) {
  const auto module = must(parse_hlo(
      module_of("  %x = f32[2]{0} parameter(0)\n"
                "  %p = s4[3]{0:E(4)} convert(%x)\n"
                "  %t = (f32[2]{0}, /*index=1*/(s4[3]{0:E(4)}, token[])) custom-call(%x, %p)\n"
                "  ROOT %r = f32[2]{0} negate(f32[2]{0} %x), metadata={op_name=\"a, b=(c\"}\n"),
      "m.txt"));
  const auto& all = module.computations[0].instructions;
  EXPECT_EQ(all[1].shape.parts[0].size_bytes, 2) << "three half bytes";
  ASSERT_EQ(all[2].shape.parts.size(), 5U);
  EXPECT_EQ(all[2].shape.parts[3].index, "{1,0}");
  EXPECT_EQ(all[2].shape.parts[0].size_bytes, 16) << "two pointers";
  EXPECT_EQ(all[2].shape.element_part(1), 2U);
  EXPECT_EQ(all[3].operands, std::vector<std::size_t>{0});
}

TEST(XlaDump, NamesTheLineThatIsWrong) {
  const std::string x = "  %x = f32[2]{0} parameter(0)\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "m.txt:0: expected HloModule, found an empty file"},
      {"{}", "m.txt:1: expected HloModule, found '{}'"},
      {"HloModule m\n", "m.txt:1: a module without a schedule (is_scheduled=true)"},
      {kHead, "m.txt:1: expected an ENTRY before the end"},
      {module_of(x), "m.txt:4: expected a ROOT in 'e'"},
      {module_of(x + x), "m.txt:4: instruction 'x' stands twice"},
      {module_of("  %y = f32[2]{0} negate(%x)\n"),
       "m.txt:3: expected operands that stand before it in its computation, found '  %y = "
       "f32[2]{0} "
       "negate(%x)'"},
      {module_of("  %y = f99[2]{0} negate()\n"),
       "m.txt:3: expected a shape, found 'f99[2]{0} negate()'"},
      {module_of("  %y = f32[99999999999,99999999999]{1,0} parameter(0)\n"),
       "m.txt:3: expected a shape of fewer than 2^63 bits"},
      {module_of("  %y = f32[2]{0:T(8,128)} parameter(0)\n"), "m.txt:3: the layout {0:T(8,128)}"},
      {module_of("  %y = f32[<=2]{0} parameter(0)\n"),
       "m.txt:3: a shape whose sizes change from call to call"},
      {module_of("  %y = f32[2]{0} parameter(1)\n  ROOT %z = f32[2]{0} negate(%y)\n"),
       "m.txt:5: expected parameters 0 to 0 once each in 'e'"},
      {module_of(x + "  ROOT %y = f32[2]{0} get-tuple-element(%x), index=0\n"),
       "m.txt:4: 'y': expected an element of a tuple"},
      {module_of(x + "  ROOT %y = f32[2]{0} fusion(%x), kind=kLoop, calls=%f\n"),
       "m.txt:4: expected a computation that stands before, found 'f'"},
      {module_of(x + "  ROOT %y = f32[2]{0} fusion(%x), kind=kLoop, calls=%e\n"),
       "m.txt:4: expected a computation that stands before, found 'e'"},
      {module_of(x + "  ROOT %y = f32[2]{0} all-reduce-start(%x)\n"),
       "m.txt:4: opcode all-reduce-start"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(failure_of(parse_hlo(text, "m.txt")).message, message) << text;
  }
}

TEST(XlaDump, NamesTheValueThatIsWrong) {
  const std::string module =
      module_of("  %x = f32[2]{0} parameter(0)\n  ROOT %y = f32[2]{0} negate(%x)\n");
  const std::string head = "BufferAssignment:\nallocation 0: size 8, maybe-live-out:\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "b:0: expected BufferAssignment:, found ''"},
      {"BufferAssignment:\nallocation 1: size 8:\n",
       "b:2: expected allocation 0: size BYTES, found 'allocation 1: size 8:'"},
      {"BufferAssignment:\nallocation 0: size 8, holy:\n",
       "b:2: expected an allocation's traits, and : at the end, found 'allocation 0: size 8, "
       "holy:'"},
      {"BufferAssignment:\n value: <0 x @0> (size=8,offset=0): f32[2]{0}\n",
       "b:2: expected an allocation, found ' value: <0 x @0> (size=8,offset=0): f32[2]{0}'"},
      {head + " value: <0 z @0> (size=8,offset=0): f32[2]{0}\n",
       "b:3: expected an instruction of the module, found 'z'"},
      {head + " value: <0 x{1} @0> (size=8,offset=0): f32[2]{0}\n", "b:3: 'x' has no part {1}"},
      {head + " value: <0 x @0> (size=-8,offset=0): f32[2]{0}\n",
       "b:3: expected value: <ID NAME @0> (size=N,offset=N): SHAPE, found ' value: <0 x @0> "
       "(size=-8,offset=0): f32[2]{0}'"},
      {head + " value: <0 x @0> (size=8,offset=0): f\n value: <1 x @0> (size=8,offset=0): f\n",
       "b:4: value 'x{}' stands twice"},
  };
  for (const auto& [text, message] : cases) {
    spec::HloPlan plan;
    plan.module = must(parse_hlo(module, "m.txt"));
    EXPECT_EQ(failure_of(parse_buffer_assignment(text, "b", plan)).message, message) << text;
  }
  spec::HloPlan plan;
  plan.module = must(parse_hlo(module, "m.txt"));
  const std::string sequence = "HloLiveRange (max 2):\n  InstructionSequence:\n    0:x\n";
  EXPECT_EQ(failure_of(parse_live_ranges(sequence + "    2:y\n", "l", plan)).message,
            "l:4: expected 1:INSTRUCTION, found '    2:y'");
  EXPECT_EQ(failure_of(parse_live_ranges(sequence + "  BufferLiveRange:\n    x{}:0\n", "l", plan))
                .message,
            "l:5: expected NAME{}:BEGIN-END, found '    x{}:0'");
}

TEST(XlaDump, WantsTheModuleBesideTheAssignment) {
  EXPECT_EQ(failure_of(read_xla_dump(kDumps + "scan_rnn.txt")).kind, ErrorKind::kBadInput);
  EXPECT_EQ(failure_of(read_xla_dump("nowhere-buffer-assignment.txt")).kind, ErrorKind::kBadInput);
}

TEST(XlaDump, CutOrChangedAnywhereNeverCrashesTheReader) {
  const std::string module = must(read_whole(kDumps + "switch.txt"));
  const std::string places = must(read_whole(kDumps + "switch-buffer-assignment.txt"));
  const std::string lives = must(read_whole(kDumps + "switch-live-range.txt"));
  const auto read = [](const std::string& a, const std::string& b, const std::string& c) {
    auto parsed = parse_hlo(a, "a");
    if (!parsed.ok()) return;
    spec::HloPlan plan;
    plan.module = std::move(parsed).value();
    if (parse_buffer_assignment(b, "b", plan).ok()) (void)parse_live_ranges(c, "c", plan);
  };
  for (std::size_t at = 0; at < module.size(); at += 29) {
    read(module.substr(0, at), places, lives);
    read(module, places.substr(0, at % places.size()), lives);
    read(module, places, lives.substr(0, at % lives.size()));
    for (const char c : {'{', ')', '9', ' ', '%'}) {
      std::string changed = module;
      changed[at] = c;
      read(changed, places, lives);
    }
  }
}

}  // namespace
}  // namespace graphgate::interop
