// XLA's buffer assignments: those that jax dumped hold, and those with one thing wrong do not.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/file_io.h"
#include "base/result_test.h"
#include "conformance/verify/hlo.h"
#include "interop/xla_dump.h"

namespace graphgate {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = std::string(GRAPHGATE_GOLDEN_DIR) + "/xla/";
constexpr std::string_view kEnd = "-buffer-assignment.txt";

std::vector<std::string> dumps() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kEnd)) names.push_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

spec::HloPlan plan_of(const std::string& name) {
  return must(interop::read_xla_dump(kFolder + name + std::string(kEnd)));
}

std::vector<std::string> rules_of(const spec::HloPlan& plan) {
  std::vector<std::string> rules;
  for (const auto& finding : must(verify::verify_hlo(plan))) rules.push_back(finding.rule);
  return rules;
}

const spec::HloInstruction& made_by(const spec::HloPlan& plan, const spec::HloPosition& at) {
  return plan.module.computations[at.computation].instructions[at.instruction];
}

spec::HloValue& value_called(spec::HloPlan& plan, const std::string& name,
                             const std::string& index = "{}") {
  for (spec::HloValue& value : plan.values) {
    const auto& one = made_by(plan, value.position);
    if (one.name == name && one.shape.parts[value.position.part].index == index) return value;
  }
  ADD_FAILURE() << "no value " << name << index;
  return plan.values.front();
}

TEST(XlaPlans, ThatJaxDumpedHold) {
  std::size_t values = 0;
  for (const std::string& name : dumps()) {
    const spec::HloPlan plan = plan_of(name);
    EXPECT_TRUE(plan.live_ranges) << name;
    values += plan.values.size();
    for (const auto& finding : must(verify::verify_hlo(plan))) {
      ADD_FAILURE() << name << ": " << finding.rule << " " << finding.message;
    }
  }
  EXPECT_GE(dumps().size(), 12U);
  EXPECT_GE(values, 350U);
}

// A module and an assignment as text.
spec::HloPlan parsed(const std::string& module, const std::string& assignment) {
  spec::HloPlan plan;
  plan.module = must(interop::parse_hlo("HloModule m, is_scheduled=true\n" + module, "m.txt"));
  const auto read =
      interop::parse_buffer_assignment("BufferAssignment:\n" + assignment, "m-b.txt", plan);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return plan;
}

using Rules = std::vector<std::string>;

constexpr const char* kChain =
    "ENTRY %e (x: f32[16]) -> f32[16] {\n"
    "  %x = f32[16]{0} parameter(0)\n"
    "  %a = f32[16]{0} negate(%x)\n"
    "  %b = f32[16]{0} reverse(%x), dimensions={0}\n"
    "  ROOT %c = f32[16]{0} add(%a, %b)\n"
    "}\n";

std::string chain_places(int a, int b, int c) {
  const auto value = [](int id, const char* name, int offset) {
    return " value: <" + std::to_string(id) + " " + name +
           " @0> (size=64,offset=" + std::to_string(offset) + "): f32[16]{0}\n";
  };
  return "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n" +
         value(0, "x", 0) + "allocation 1: size 192, maybe-live-out:\n" + value(1, "a", a) +
         value(2, "b", b) + value(3, "c", c);
}

TEST(XlaPlans, MayUseBytesAgainThatNobodyReadsLater) {
  EXPECT_EQ(rules_of(parsed(kChain, chain_places(0, 64, 128))), Rules{});
  EXPECT_EQ(rules_of(parsed(kChain, chain_places(0, 64, 0))), Rules{}) << "element over element";
  EXPECT_EQ(rules_of(parsed(kChain, chain_places(0, 64, 64))), Rules{});
}

TEST(XlaPlans, OverwriteNothingThatIsStillRead) {
  const auto findings = must(verify::verify_hlo(parsed(kChain, chain_places(0, 0, 128))));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "V3.overlap");
  EXPECT_EQ(findings[0].message,
            "'b' (64 bytes at 0 of allocation 1) overwrites bytes [0, 64) of 'a' (64 bytes at 0 of "
            "allocation 1) before 'c' reads it");
}

TEST(XlaPlans, LieInsideOfTheirAllocationsAtTheAlignmentOfKernels) {
  EXPECT_EQ(rules_of(parsed(kChain, chain_places(0, 64, 192))), Rules{"V3.capacity"});
  EXPECT_EQ(rules_of(parsed(kChain, chain_places(0, 80, 0))), Rules{"V3.alignment"});
}

TEST(XlaPlans, KeepTheCallersInputs) {
  const std::string over_x =
      "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out:\n"
      " value: <0 x @0> (size=64,offset=0): f32[16]{0}\n"
      " value: <3 c @0> (size=64,offset=0): f32[16]{0}\n"
      "allocation 1: size 128, preallocated-temp:\n"
      " value: <1 a @0> (size=64,offset=0): f32[16]{0}\n"
      " value: <2 b @0> (size=64,offset=64): f32[16]{0}\n";
  EXPECT_EQ(rules_of(parsed(kChain, over_x)), Rules{"V3.kept-bytes"});
  spec::HloPlan given_up = parsed(kChain, over_x);
  given_up.module.donations.push_back({0, 0, 0, false});
  EXPECT_EQ(rules_of(given_up), Rules{});
  spec::HloPlan elsewhere = parsed(kChain, chain_places(0, 64, 128));
  elsewhere.module.donations.push_back({0, 0, 0, true});
  EXPECT_EQ(rules_of(elsewhere), Rules{"V4.wrong-result"});
}

// A fusion over its operand, with `body` for the computation's root.
Rules rules_of_fusion_over_operand(const std::string& body) {
  const std::string module =
      "%f (p: f32[16], i: s32[]) -> f32[16] {\n"
      "  %p = f32[16]{0} parameter(0)\n"
      "  %i = s32[] parameter(1)\n"
      "  %zero = s32[] constant(0)\n" +
      body +
      "}\n"
      "ENTRY %e (x: f32[16], n: s32[]) -> f32[16] {\n"
      "  %x = f32[16]{0} parameter(0)\n"
      "  %n = s32[] parameter(1)\n"
      "  %a = f32[16]{0} negate(%x)\n"
      "  ROOT %c = f32[16]{0} fusion(%a, %n), kind=kLoop, calls=%f\n"
      "}\n";
  return rules_of(parsed(module,
                         "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
                         " value: <0 x @0> (size=64,offset=0): f32[16]{0}\n"
                         "allocation 1: size 4, parameter 1, shape |s32[]| at ShapeIndex {}:\n"
                         " value: <1 n @0> (size=4,offset=0): s32[]\n"
                         "allocation 2: size 64, maybe-live-out:\n"
                         " value: <2 a @0> (size=64,offset=0): f32[16]{0}\n"
                         " value: <3 c @0> (size=64,offset=0): f32[16]{0}\n"));
}

TEST(XlaPlans, LetAFusionWriteOverWhatItReadsAtTheSameIndexOnly) {
  EXPECT_EQ(rules_of_fusion_over_operand("  %s = f32[16]{0} sine(%p)\n"
                                         "  ROOT %r = f32[16]{0} add(%s, %p)\n"),
            Rules{});
  EXPECT_EQ(rules_of_fusion_over_operand("  %s = f32[16]{0} reverse(%p), dimensions={0}\n"
                                         "  ROOT %r = f32[16]{0} add(%s, %p)\n"),
            Rules{"V3.in-place"});
  const std::string slice = "  %s = f32[4]{0} dynamic-slice(%p, %i), dynamic_slice_sizes={4}\n";
  const std::string twice = "  %t = f32[4]{0} add(%s, %s)\n";
  EXPECT_EQ(rules_of_fusion_over_operand(
                slice + twice + "  ROOT %r = f32[16]{0} dynamic-update-slice(%p, %t, %i)\n"),
            Rules{})
      << "the rows that it reads are those that it writes";
  EXPECT_EQ(rules_of_fusion_over_operand(
                slice + twice + "  ROOT %r = f32[16]{0} dynamic-update-slice(%p, %t, %zero)\n"),
            Rules{"V3.in-place"});
}

// while (i < n) { c = f(c) } with the places of the condition's scratch and of the body's result.
Rules rules_of_loop(int scratch, int result, bool reads) {
  const std::string of = reads ? "%bc" : "%new";
  const std::string module =
      "%cond (cp: (f32[16])) -> pred[] {\n"
      "  %cp = (f32[16]{0}) parameter(0)\n"
      "  %cc = f32[16]{0} get-tuple-element(%cp), index=0\n"
      "  %scratch = f32[16]{0} reverse(%cc), dimensions={0}\n"
      "  ROOT %go = pred[] custom-call(%scratch), custom_call_target=\"t\"\n"
      "}\n"
      "%body (bp: (f32[16])) -> (f32[16]) {\n"
      "  %bp = (f32[16]{0}) parameter(0)\n"
      "  %bc = f32[16]{0} get-tuple-element(%bp), index=0\n"
      "  %new = f32[16]{0} rng(), distribution=rng_uniform\n"
      "  %next = f32[16]{0} negate(" +
      of +
      ")\n"
      "  ROOT %bt = (f32[16]{0}) tuple(%next)\n"
      "}\n"
      "ENTRY %e (x: f32[16]) -> f32[16] {\n"
      "  %x = f32[16]{0} parameter(0)\n"
      "  %start = f32[16]{0} negate(%x)\n"
      "  %t = (f32[16]{0}) tuple(%start)\n"
      "  %w = (f32[16]{0}) while(%t), condition=%cond, body=%body\n"
      "  ROOT %out = f32[16]{0} get-tuple-element(%w), index=0\n"
      "}\n";
  std::string places =
      "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
      " value: <0 x @0> (size=64,offset=0): f32[16]{0}\n"
      "allocation 1: size 512, maybe-live-out:\n";
  const auto add = [&](const std::string& name, const char* shape, int size, int offset) {
    places += " value: <9 " + name + " @0> (size=" + std::to_string(size) +
              ",offset=" + std::to_string(offset) + "): " + shape + "\n";
  };
  for (const char* name : {"start", "cp{0} (phi)", "bp{0} (phi)", "w{0} (phi)"}) {
    add(name, "f32[16]{0}", 64, 0);
  }
  for (const char* name : {"t{}", "cp{} (phi)", "bp{} (phi)", "w{} (phi)", "bt{}"}) {
    add(name, "(f32[16]{0})", 8, 64);
  }
  add("new", "f32[16]{0}", 64, 192);
  add("go", "pred[]", 1, 128);
  add("next", "f32[16]{0}", 64, result);
  add("scratch", "f32[16]{0}", 64, scratch);
  return rules_of(parsed(module, places));
}

TEST(XlaPlans, HandOverWhatALoopCarriesInTheSameBytes) {
  EXPECT_EQ(rules_of_loop(256, 0, true), Rules{});
  EXPECT_EQ(rules_of_loop(192, 0, true), Rules{}) << "scratch of the body is free in the condition";
  EXPECT_EQ(rules_of_loop(256, 320, true), Rules{"V4.wrong-operand"});
}

TEST(XlaPlans, LetAConditionSpoilNothingBehindTheLastIteration) {
  // The body makes its result anew: only the condition behind it can spoil what the loop returns.
  const Rules rules = rules_of_loop(0, 0, false);
  EXPECT_NE(std::find(rules.begin(), rules.end(), "V3.in-place"), rules.end());
  EXPECT_NE(std::find(rules.begin(), rules.end(), "V3.overlap"), rules.end());
}

TEST(XlaPlans, RunEachBranchOverTheMemoryBeforeIt) {
  const std::string module =
      "%left (lp: (f32[16])) -> f32[16] {\n"
      "  %lp = (f32[16]{0}) parameter(0)\n"
      "  %l0 = f32[16]{0} get-tuple-element(%lp), index=0\n"
      "  %l1 = f32[16]{0} negate(%l0)\n"
      "  ROOT %l2 = f32[16]{0} reverse(%l1), dimensions={0}\n"
      "}\n"
      "%right (rp: (f32[16])) -> f32[16] {\n"
      "  %rp = (f32[16]{0}) parameter(0)\n"
      "  %r0 = f32[16]{0} get-tuple-element(%rp), index=0\n"
      "  ROOT %r1 = f32[16]{0} reverse(%r0), dimensions={0}\n"
      "}\n"
      "ENTRY %e (x: f32[16], p: pred[]) -> f32[16] {\n"
      "  %x = f32[16]{0} parameter(0)\n"
      "  %p = pred[] parameter(1)\n"
      "  %kept = f32[16]{0} negate(%x)\n"
      "  %t = (f32[16]{0}) tuple(%x)\n"
      "  %c = f32[16]{0} conditional(%p, %t, %t), true_computation=%left, "
      "false_computation=%right\n"
      "  ROOT %out = f32[16]{0} add(%c, %kept)\n"
      "}\n";
  const auto rules = [&](int of_left) {
    std::string places =
        "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:\n"
        " value: <0 x @0> (size=64,offset=0): f32[16]{0}\n"
        "allocation 1: size 1, parameter 1, shape |pred[]| at ShapeIndex {}:\n"
        " value: <1 p @0> (size=1,offset=0): pred[]\n"
        "allocation 2: size 512, maybe-live-out:\n"
        " value: <2 t{} @0> (size=8,offset=256): (f32[16]{0})\n";
    for (const auto& [name, offset] : std::map<std::string, int>{
             {"l2", 0}, {"r1", 0}, {"c (phi)", 0}, {"kept", 64}, {"out", 192}, {"l1", of_left}}) {
      places += " value: <3 " + name + " @0> (size=64,offset=" + std::to_string(offset) +
                "): f32[16]{0}\n";
    }
    return rules_of(parsed(module, places));
  };
  EXPECT_EQ(rules(128), Rules{});
  EXPECT_EQ(rules(192), Rules{}) << "what only comes later";
  EXPECT_EQ(rules(64), Rules{"V3.overlap"}) << "one branch overwrites what is read behind both";
}

TEST(XlaPlans, HaveRangesThatCoverEachUse) {
  spec::HloPlan plan = plan_of("scan_rnn");
  for (auto& range : plan.live_ranges->ranges) {
    if (made_by(plan, range.position).opcode == "tuple") range.end = range.begin - 1;
  }
  for (const std::string& rule : rules_of(plan)) EXPECT_EQ(rule, "V5.use-after-free");
  EXPECT_FALSE(rules_of(plan).empty());
  spec::HloPlan other = plan_of("scan_rnn");
  std::swap(other.live_ranges->sequence[0], other.live_ranges->sequence[1]);
  EXPECT_EQ(rules_of(other), Rules{"V4.wrong-version"});
}

TEST(XlaPlans, LackNoPlace) {
  spec::HloPlan plan = plan_of("donate_late");
  value_called(plan, "a_0_.1").size_bytes += 4;
  const Rules rules = rules_of(plan);
  EXPECT_NE(std::find(rules.begin(), rules.end(), "V3.geometry"), rules.end());
  for (const std::string& name : dumps()) {
    const spec::HloPlan whole = plan_of(name);
    for (std::size_t i = 0; i < whole.values.size(); i += 3) {
      spec::HloPlan less = whole;
      less.values.erase(less.values.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(rules_of(less).empty())
          << name << ": " << made_by(whole, whole.values[i].position).name;
    }
  }
}

using Ranges = std::map<spec::HloPosition, std::pair<std::int64_t, std::int64_t>>;

// By XLA's own live ranges: does value `moved` meet nobody in time and bytes?
bool is_apart(const spec::HloPlan& plan, const Ranges& ranges, const spec::HloValue& moved) {
  const auto [begin, end] = ranges.at(moved.position);
  for (const spec::HloValue& other : plan.values) {
    const bool meets_bytes = other.position != moved.position &&
                             other.allocation == moved.allocation &&
                             moved.offset_bytes < other.offset_bytes + other.size_bytes &&
                             other.offset_bytes < moved.offset_bytes + moved.size_bytes;
    const auto range = ranges.find(other.position);
    if (!meets_bytes || range == ranges.end()) continue;
    if (begin < range->second.second && range->second.first < end) return false;
  }
  return true;
}

// Of each dump each value in memory that is used again, 64 bytes on, 64 bytes back, and onto each
// other value: either somebody finds it, or XLA's own live ranges say that the place is right, too.
TEST(XlaPlans, WithAPlaceMovedAreFoundUnlessItIsRightAsWell) {
  std::size_t found = 0;
  std::size_t right = 0;
  for (const std::string& name : dumps()) {
    const spec::HloPlan plan = plan_of(name);
    Ranges ranges;
    for (const auto& range : plan.live_ranges->ranges) {
      ranges[range.position] = {range.begin, range.end};
    }
    // XLA holds what a branch is given until the branches are over; it is read as one begins.
    std::vector<std::string> given_to_branches;
    for (const auto& computation : plan.module.computations) {
      for (const auto& one : computation.instructions) {
        if (one.opcode != "conditional") continue;
        for (const std::size_t operand : one.operands) {
          given_to_branches.push_back(computation.instructions[operand].name);
        }
      }
    }
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      const spec::HloValue& value = plan.values[i];
      const std::string& by = made_by(plan, value.position).name;
      const bool is_given = std::count(given_to_branches.begin(), given_to_branches.end(), by) > 0;
      if (value.size_bytes == 0 || is_given || !ranges.contains(value.position)) continue;
      std::vector<std::int64_t> offsets = {value.offset_bytes + 64, value.offset_bytes - 64};
      for (std::size_t k = 0; k < plan.values.size(); ++k) {
        const spec::HloValue& other = plan.values[k];
        if (other.allocation == value.allocation) offsets.push_back(other.offset_bytes);
      }
      for (const std::int64_t offset : offsets) {
        if (offset < 0 || offset == value.offset_bytes) continue;
        spec::HloPlan moved = plan;
        moved.values[i].offset_bytes = offset;
        if (!rules_of(moved).empty()) {
          ++found;
          continue;
        }
        ++right;
        EXPECT_TRUE(is_apart(moved, ranges, moved.values[i]))
            << name << ": '" << by << "' moved to " << offset << " is not found";
      }
    }
  }
  EXPECT_GE(found + right, 1500U);
  EXPECT_GE(found, 4 * right) << found << " found, " << right << " right as well";
  RecordProperty("found", static_cast<int>(found));
  RecordProperty("right", static_cast<int>(right));
}

}  // namespace
}  // namespace graphgate
