// Every gene vector gives a valid case; what cases have is what the alphabet asks for.
#include "fuzz/generate/generator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/result_test.h"
#include "fuzz/generate/descent.h"
#include "spec/case_file.h"

namespace graphgate::fuzz {
namespace {

using spec::CaseFile;

// "" for a case that is valid, and comes back from its text as it was.
std::string complaint(const CaseFile& the_case) {
  const auto valid = spec::check_case(the_case);
  if (!valid.ok()) return valid.error().message;
  const auto text = spec::print_case(the_case);
  if (!text.ok()) return text.error().message;
  const auto parsed = spec::parse_case(text.value());
  if (!parsed.ok()) return parsed.error().message + "\n" + text.value();
  if (!spec::same_case(parsed.value(), the_case)) return "another case came back:\n" + text.value();
  if (spec::print_case(parsed.value()).value() != text.value()) return "another text came back";
  return "";
}

CaseFile case_of(std::uint64_t seed, std::uint64_t index, const Alphabet& alphabet = Alphabet()) {
  return draw_case(genes_of(seed, index), alphabet);
}

std::set<std::string> ops_of(const CaseFile& the_case) {
  std::set<std::string> ops;
  for (const spec::Program& program : the_case.programs) {
    for (const spec::Node& node : program.graph.nodes) ops.insert(node.op);
  }
  return ops;
}

RC_GTEST_PROP(Generator, MakesAValidCaseOfAnyGenes, (GeneVector genes)) {
  RC_ASSERT(complaint(draw_case(genes, Alphabet())) == "");
}

// Long vectors of any numbers, which the container's own generator seldom makes.
RC_GTEST_PROP(Generator, MakesAValidCaseOfManyGenes, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(0, kHeaderGenes + 40 * kNodeGenes);
  const auto genes = *rc::gen::container<GeneVector>(length, rc::gen::arbitrary<std::uint32_t>());
  RC_ASSERT(complaint(draw_case(genes, Alphabet())) == "");
}

TEST(Generator, MakesValidCasesOfSeeds) {
  for (std::uint64_t index = 0; index < 1500; ++index) {
    ASSERT_EQ(complaint(case_of(7, index)), "") << "index " << index;
  }
}

TEST(Generator, IsAFunctionOfGenesAndAlphabet) {
  for (std::uint64_t index = 0; index < 50; ++index) {
    EXPECT_TRUE(spec::same_case(case_of(3, index), case_of(3, index))) << index;
  }
  EXPECT_FALSE(spec::same_case(case_of(3, 1), case_of(3, 2)));
  EXPECT_FALSE(spec::same_case(case_of(3, 1), case_of(4, 1)));
}

TEST(Generator, MakesTheSimplestCaseOfNoGenes) {
  const CaseFile simplest = draw_case({}, Alphabet());
  ASSERT_EQ(simplest.programs.size(), 1U);
  EXPECT_LE(simplest.programs[0].graph.nodes.size(), 1U);
  EXPECT_TRUE(simplest.options.empty());
  EXPECT_TRUE(simplest.programs[0].symbols.empty());
  EXPECT_EQ(simplest.scenario.steps.size(), 2U);
}

TEST(Generator, DrawsEveryOpOfTheAlphabet) {
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 6000; ++index) {
    for (const std::string& op : ops_of(case_of(11, index))) {
      seen.insert(op);
      std::string base = op.substr(0, op.rfind('.'));
      seen.insert(base);
      if (base.back() == '_') base.pop_back();
      seen.insert(base);
    }
  }
  const Alphabet alphabet;
  for (const Alphabet::Row& row : alphabet.rows()) {
    // No ops of their own, or ops that other nodes hold.
    const std::string_view name = row.op->name;
    if (name == "input" || name == "sizes" || name == "device-copy" || name == "writing-cond" ||
        name.starts_with("host") || name.starts_with("functionalized.") ||
        name.starts_with("optimizer.") || name.starts_with("motif.")) {
      continue;
    }
    EXPECT_TRUE(seen.contains(std::string(row.op->name))) << row.op->name;
  }
}

// Lines of reports name cases by generator, seed and index: whatever compiled it, a generator draws
// what it drew.
TEST(Generator, DrawsWhatItsVersionDrew) {
  const auto digest_of = [](int generator) {
    std::uint64_t digest = 0xcbf29ce484222325U;
    for (std::uint64_t index = 0; index < 200; ++index) {
      const auto text = spec::print_case(case_of(77, index, Alphabet(generator)));
      for (const char c : text.value()) {
        digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
      }
    }
    return digest;
  };
  EXPECT_EQ(digest_of(3), 12437281220082020267U);
  EXPECT_EQ(digest_of(4), 648801999765590164U);
  EXPECT_EQ(digest_of(5), 14908485972460335394U);
  EXPECT_EQ(digest_of(6), 15391051556505629111U);
  EXPECT_EQ(digest_of(7), 14616207692044549481U);
  EXPECT_EQ(digest_of(8), 15075524912915432496U);
  EXPECT_EQ(digest_of(9), 9067643188194004224U);
  EXPECT_EQ(digest_of(10), 7367161746981056000U);
  EXPECT_EQ(digest_of(11), 700995093805872132U);
  EXPECT_EQ(digest_of(12), 14195956797229329524U);
  EXPECT_EQ(kGeneratorVersion, 13) << "a new version stands here, too";
}

// What names the views that functionalized ops write, and what is left out or given twice.
TEST(Generator, DrawsEveryFormOfFunctionalizedOps) {
  const auto alphabet = must(parse_alphabet("functionalized,aten.add,view=1", ""));
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const CaseFile the_case = case_of(12, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    for (const spec::Program& program : the_case.programs) {
      for (const spec::Node& node : program.graph.nodes) {
        if (node.op != "higher_order.auto_functionalized_v2") continue;
        for (const spec::NamedArgument& named : node.arguments) seen.insert(named.name);
        const auto& bases = *node.arguments.back().argument.as<spec::Argument::List>();
        if (bases.size() == 2 && bases[0] == bases[1]) seen.insert("twice");
        const bool is_norm = node.arguments[0].argument.as<spec::OpName>()->name ==
                             "vllm.fused_add_rms_norm.default";
        if (is_norm && bases.size() == 1) seen.insert("halves");
      }
    }
  }
  for (const char* name :
       {"_out_base_index", "_out_alias", "_out_slice_dim", "_out_size", "_out_storage_offset",
        "_out_length", "_out_1_base_index", "_spare_base_index", "_residual_slice_start",
        "_residual_stride", "_running_var_base_index", "twice", "halves"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
}

// Each motif alone is a valid case, and campaigns draw each.
TEST(Generator, DrawsEveryMotif) {
  std::size_t motifs = 0;
  const Alphabet alphabet;
  for (std::size_t r = 0; r < alphabet.rows().size(); ++r) {
    const std::string_view name = alphabet.rows()[r].op->name;
    if (!name.starts_with("motif.")) continue;
    ++motifs;
    EXPECT_GT(alphabet.rows()[r].weight, 0U) << name;
    const auto alone = must(parse_alphabet(name, ""));
    for (std::uint64_t index = 0; index < 10; ++index) {
      ASSERT_EQ(complaint(case_of(15, index, alone)), "") << name << ", index " << index;
    }
  }
  EXPECT_GE(motifs, 97U);
  EXPECT_FALSE(parse_alphabet("motif.clone-before-norm", "", 8).ok());
  EXPECT_TRUE(parse_alphabet("motif.clone-before-norm", "", 9).ok());
  EXPECT_FALSE(parse_alphabet("motif.softmax-of-scaled-bytes", "", 9).ok());
  EXPECT_FALSE(parse_alphabet("motif.range-as-another-type", "", 12).ok());
  EXPECT_FALSE(parse_alphabet("sizes", "", 12).ok());
}

// Campaigns find relatives: dtypes, numbers and operations of a motif are drawn.
TEST(Generator, DrawsTheAlternativesOfAMotif) {
  const auto alone = must(parse_alphabet("motif.range-as-another-type,special-data=0", ""));
  std::set<std::string> dtypes;
  for (std::uint64_t index = 0; index < 60; ++index) {
    const auto text = spec::print_case(case_of(15, index, alone)).value();
    for (const char* dtype : {"bool", "u8", "i8", "i16", "i32", "f16", "bf16", "f32"}) {
      if (text.find("dtype=" + std::string(dtype)) != std::string::npos) dtypes.insert(dtype);
    }
  }
  EXPECT_EQ(dtypes.size(), 8U);
}

// A size is computed with by negative numbers, and is an exponent where it may be.
TEST(Generator, ComputesWithSizes) {
  const auto alphabet = must(parse_alphabet("sizes,aten.add,view=1,symbolic-sizes=100", ""));
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const CaseFile the_case = case_of(18, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    seen.merge(ops_of(the_case));
  }
  for (const char* op : {"_operator.mod", "_operator.floordiv", "_operator.pow", "_operator.lshift",
                         "_operator.mul", "_operator.sub", "torch.sym_int"}) {
    EXPECT_TRUE(seen.contains(op)) << op;
  }
}

// Host memory beside the main device: inputs, buffers written in place, what is made there; and
// inputs that lie elsewhere in their storage from call to call.
TEST(Generator, DrawsWhatLiesInHostMemoryAndAtOtherPlaces) {
  const auto alphabet =
      must(parse_alphabet("host,aten.add,view=1,accelerator=100,moved-inputs=100", ""));
  std::set<std::string> seen;
  std::set<std::int64_t> offsets;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const CaseFile the_case = case_of(16, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    for (const spec::Program& program : the_case.programs) {
      for (const spec::ProgramInput& input : program.inputs) {
        const auto& type = program.graph.value(input.value).type;
        if (!type || type->device.type != "cpu") continue;
        seen.insert(input.kind == spec::InputKind::kBuffer ? "buffer" : "input");
      }
      for (const spec::Node& node : program.graph.nodes) {
        seen.insert(node.op);
        // PyTorch refuses an out= argument on another device than the operand.
        if (node.op == "aten.add.Scalar_out" || node.op == "aten.mul.Scalar_out") {
          std::set<std::string> devices;
          for (const char* name : {"self", "out"}) {
            const auto found = std::ranges::find(node.arguments, name, &spec::NamedArgument::name);
            const auto& type = program.graph.value(*found->argument.as<spec::ValueId>()).type;
            if (type) devices.insert(type->device.type);
          }
          EXPECT_LE(devices.size(), 1U) << "index " << index;
        }
      }
    }
    for (const spec::InputSet& set : the_case.inputs) {
      for (const auto& input : set.inputs) {
        const auto* tensor = std::get_if<spec::HostTensor>(&input.data);
        if (tensor != nullptr) offsets.insert(tensor->storage_offset);
      }
    }
  }
  for (const char* name : {"input", "buffer", "aten.add_.Scalar", "aten.mul.Scalar",
                           "aten.arange.default", "aten.full.default", "aten.sub.Tensor"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
  EXPECT_EQ(offsets, (std::set<std::int64_t>{0, 1, 2, 3}));
  EXPECT_FALSE(parse_alphabet("host.add", "", 10).ok());
  EXPECT_FALSE(parse_alphabet("moved-inputs", "", 10).ok());
}

// Memory that sleeps between calls, at both levels, with caches, in parts, and calls in between.
TEST(Generator, DrawsSleeps) {
  const auto alphabet = must(parse_alphabet("aten.add,aten.mul,view=1,sleep=100,buffer=100", ""));
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const CaseFile the_case = case_of(17, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    std::size_t missing = 0;
    for (const spec::Step& step : the_case.scenario.steps) {
      if (const auto* sleep = std::get_if<spec::SleepStep>(&step)) {
        seen.insert("level " + std::to_string(sleep->asked.level));
        if (!sleep->asked.caches.empty()) seen.insert("caches");
        missing = 2;
      } else if (const auto* wake = std::get_if<spec::WakeStep>(&step)) {
        missing -= wake->part ? 1 : 2;
        if (wake->part) seen.insert("in parts");
      } else if (std::holds_alternative<spec::CallStep>(step) && missing > 0) {
        seen.insert("called early");
      }
    }
    EXPECT_EQ(missing, 0U) << "index " << index;
    for (const char* option : {"wakes-elsewhere", "sleep-drops-graphs"}) {
      if (the_case.options.contains(option)) seen.insert(option);
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"level 1", "level 2", "caches", "in parts", "called early",
                                         "wakes-elsewhere", "sleep-drops-graphs"}));
  EXPECT_FALSE(parse_alphabet("sleep", "", 11).ok());
}

TEST(Generator, DrawsArmsThatWriteToOperands) {
  const auto alphabet = must(parse_alphabet("writing-cond,aten.add,view=1", ""));
  std::set<std::string> written;
  int one_sided = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const CaseFile the_case = case_of(13, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    for (const spec::Program& program : the_case.programs) {
      std::vector<bool> writes;
      for (const spec::Graph& arm : program.graph.subgraphs) {
        writes.push_back(false);
        for (const spec::Node& node : arm.nodes) {
          const auto* self = node.arguments.front().argument.as<spec::ValueId>();
          const bool is_target = arm.inputs.size() > 1 && *self == arm.inputs[1];
          if (is_target) written.insert(node.op);
          writes.back() = writes.back() || is_target;
        }
      }
      for (std::size_t s = 0; s + 1 < writes.size(); s += 2) {
        EXPECT_TRUE(writes[s] || writes[s + 1]) << index;
        one_sided += writes[s] != writes[s + 1] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(one_sided, 20);
  for (const char* op :
       {"aten.mul_.Tensor", "aten.zero_.default", "aten.select.int", "aten.copy_.default",
        "aten.index_fill_.int_Scalar", "aten.index_put_.default", "aten.add_.Tensor"}) {
    EXPECT_TRUE(written.contains(op)) << op;
  }
}

// An executor refuses a static input that a program writes, and one that moves.
TEST(Generator, MakesInputsStaticInEveryProgramAndStep) {
  const auto alphabet = must(parse_alphabet("static-inputs=100,several-programs=50", ""));
  int named = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const CaseFile the_case = case_of(14, index, alphabet);
    const auto option = the_case.options.find("static-input");
    std::size_t steps = 0;
    for (const spec::Step& step : the_case.scenario.steps) {
      steps += std::holds_alternative<spec::StaticStep>(step) ? 1 : 0;
    }
    const std::size_t names = option == the_case.options.end()
                                  ? 0
                                  : 1 + static_cast<std::size_t>(std::count(
                                            option->second.begin(), option->second.end(), ','));
    EXPECT_EQ(steps, names * the_case.programs.size()) << index;
    named += names > 0 ? 1 : 0;
  }
  EXPECT_GT(named, 200);
}

// Mutations, cuts asked for and reads behind writes: what finds bugs is in most cases.
TEST(Generator, BiasesTowardMutationAndCuts) {
  constexpr int kCases = 1000;
  int mutations = 0;
  int cuts = 0;
  for (int index = 0; index < kCases; ++index) {
    const CaseFile the_case = case_of(5, static_cast<std::uint64_t>(index));
    bool mutates = false;
    const auto table = spec::case_ops(the_case);
    for (const std::string& op : ops_of(the_case)) {
      const spec::OpRow* const row = table.value().find(op);
      mutates = mutates || (row && row->effects.mutates());
    }
    mutations += mutates ? 1 : 0;
    bool cuts_here = false;
    for (const char* option : {"split-op", "max-partition", "cut-after", "partition"}) {
      cuts_here = cuts_here || the_case.options.contains(option);
    }
    cuts += cuts_here ? 1 : 0;
  }
  EXPECT_GT(mutations, kCases * 8 / 10);
  EXPECT_GT(cuts, kCases / 2);
}

// A storage is on one device; `complaint` holds each set to that.
TEST(Generator, SharesInputsOfOneDeviceAlone) {
  const auto alphabet = must(
      parse_alphabet("host-scalar=20,region_scatter=20,shared-inputs=100,accelerator=100", ""));
  int shared = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const CaseFile the_case = case_of(6, index, alphabet);
    ASSERT_EQ(complaint(the_case), "") << "index " << index;
    shared +=
        static_cast<int>(spec::print_case(the_case).value().find(" = alias ") != std::string::npos);
  }
  EXPECT_GT(shared, 10);
}

// An op without an overload has no name but its own.
TEST(Generator, NamesOpsWhereItAsksForCuts) {
  const auto alphabet = must(parse_alphabet("split-ops=100,symbolic=40,custom=20", ""));
  bool has_bare = false;
  for (std::uint64_t index = 0; index < 1500; ++index) {
    const CaseFile the_case = case_of(7, index, alphabet);
    const auto option = the_case.options.find("split-op");
    if (option == the_case.options.end()) continue;
    const auto table = spec::case_ops(the_case);
    std::istringstream names(option->second);
    for (std::string name; std::getline(names, name, ',');) {
      const bool has_overloads = !table.value().find_overloads(name).empty() &&
                                 std::count(name.begin(), name.end(), '.') == 1;
      EXPECT_TRUE(table.value().find(name) != nullptr || has_overloads) << name;
      has_bare = has_bare || name.starts_with("torch.");
    }
  }
  EXPECT_TRUE(has_bare);
}

// contiguous() of a slice hands on the input where a size is 1, and what writes it writes the
// input.
TEST(Generator, KeepsNoInputStaticThatIsWrittenAtSomeSizes) {
  const CaseFile the_case = case_of(2026112414, 58604, Alphabet(7));
  const std::string& kept = the_case.options.at("static-input");
  EXPECT_FALSE(contains(kept, "x0"));
}

TEST(Alphabet, DrawsNamedOpsAlone) {
  const auto alphabet = must(parse_alphabet("aten.mm,view=3", "aten.slice"));
  std::set<std::string> seen;
  for (std::uint64_t index = 0; index < 200; ++index) {
    seen.merge(ops_of(case_of(1, index, alphabet)));
  }
  EXPECT_TRUE(seen.contains("aten.mm.default"));
  EXPECT_TRUE(seen.contains("aten.select.int"));
  EXPECT_FALSE(seen.contains("aten.slice.Tensor"));
  EXPECT_FALSE(seen.contains("aten.add.Tensor"));
}

TEST(Alphabet, SetsChancesOfTraits) {
  const auto always = must(parse_alphabet("symbolic-sizes", "streams,cache"));
  for (std::uint64_t index = 0; index < 100; ++index) {
    const CaseFile the_case = case_of(2, index, always);
    EXPECT_FALSE(the_case.programs[0].symbols.empty());
    EXPECT_FALSE(the_case.options.contains("streams"));
    EXPECT_FALSE(the_case.options.contains("cache"));
  }
}

TEST(Alphabet, RefusesUnknownNames) {
  EXPECT_EQ(parse_alphabet("aten.nothing", "").error().message,
            "--ops: no op, family or trait is called 'aten.nothing' (graphgate fuzz --list-ops "
            "lists them)");
  EXPECT_EQ(parse_alphabet("", "vew").error().message,
            "--exclude: no op, family or trait is called 'vew' (graphgate fuzz --list-ops lists "
            "them)");
  EXPECT_EQ(parse_alphabet("view=x", "").error().message,
            "--ops: expected NAME=WEIGHT, found 'view=x'");
  EXPECT_TRUE(parse_alphabet("writing-cond,static-inputs", "").ok());
  EXPECT_FALSE(parse_alphabet("writing-cond", "", 3).ok());
  EXPECT_FALSE(parse_alphabet("", "static-inputs", 3).ok());
}

TEST(Descent, GivesGenesThatAreTheParentsInPart) {
  Descent descent{3, {}};
  EXPECT_EQ(genes_of(5, descent), genes_of(5, 3));
  for (std::uint64_t index = 100; index < 160; ++index) {
    const GeneVector parent = genes_of(5, descent);
    const Descent child = child_of(descent, index);
    const GeneVector genes = genes_of(5, child);
    EXPECT_EQ(genes, genes_of(5, child));
    EXPECT_NE(genes, parent);
    EXPECT_NE(genes, genes_of(5, index));
    EXPECT_NE(genes, genes_of(6, child));
    std::size_t same = 0;
    for (std::size_t g = 0; g < std::min(genes.size(), parent.size()); ++g) {
      same += genes[g] == parent[g] ? 1 : 0;
    }
    EXPECT_GE(same, kNodeGenes) << index;
    if (index % 3 == 0) descent = child;
  }
}

TEST(Descent, GivesValidCases) {
  Descent descent{1, {}};
  for (std::uint64_t index = 2; index < 400; ++index) {
    const Descent child = child_of(descent, index);
    ASSERT_EQ(complaint(draw_case(genes_of(1, child), Alphabet())), "") << index;
    descent = child.ancestors.size() < kMostAncestors ? child : Descent{index, {}};
  }
}

// Cases of one draw: whatever decides what is compiled is the same, and no two have the same data.
TEST(DataSets, ChangeTheDataOfACaseAlone) {
  constexpr std::uint64_t kSets = 5;
  const auto case_of = [](std::uint64_t index) {
    return draw_case(genes_of(7, Descent{index, {}}, kSets), Alphabet());
  };
  for (std::uint64_t draw = 0; draw < 40; ++draw) {
    EXPECT_EQ(genes_of(7, Descent{draw * kSets, {}}, kSets), genes_of(7, draw));
    EXPECT_EQ(genes_of(7, Descent{draw, {}}, 1), genes_of(7, draw));
    const spec::CaseFile first = case_of(draw * kSets);
    std::set<std::uint64_t> seeds = {first.seed};
    for (std::uint64_t set = 1; set < kSets; ++set) {
      spec::CaseFile other = case_of(draw * kSets + set);
      seeds.insert(other.seed);
      ASSERT_EQ(complaint(other), "") << draw << " " << set;
      EXPECT_EQ(other.options, first.options);
      EXPECT_EQ(other.scenario, first.scenario);
      // But for data the text is the same.
      other.seed = first.seed;
      other.weights = first.weights;
      other.inputs = first.inputs;
      EXPECT_EQ(spec::print_case(other).value(), spec::print_case(first).value());
    }
    EXPECT_EQ(seeds.size(), kSets);
  }
}

// What a subject says that it does not take is left out as --exclude leaves it out: all that it
// names is there, and none of it is drawn.
TEST(Alphabet, LeavesOutWhatASubjectDoesNotTake) {
  const std::string names = not_drawn_for({{"cpu"}, {"aten", "prim"}, {}});
  const auto alphabet = must(parse_alphabet("functionalized=50,view", names));
  std::set<std::string> wrapped;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const CaseFile the_case = case_of(7, index, alphabet);
    for (const spec::Program& program : the_case.programs) {
      for (const spec::Value& value : program.graph.values) {
        if (value.type) {
          EXPECT_EQ(value.type->device.type, "cpu");
        }
      }
      for (const spec::Node& node : program.graph.nodes) {
        if (node.op != "higher_order.auto_functionalized_v2") continue;
        wrapped.insert(node.arguments[0].argument.as<spec::OpName>()->name);
      }
    }
  }
  EXPECT_FALSE(wrapped.empty());
  for (const std::string& op : wrapped) EXPECT_FALSE(op.starts_with("aten.")) << op;
}

TEST(Alphabet, DrawsTheOpsThatASubjectTakesInAnyOfTheirForms) {
  SubjectLimits limits;
  limits.ops = {"aten.add.Tensor",       "aten.add.Scalar",   "aten.mul.Scalar",
                "aten.fill.Scalar",      "aten.relu.default", "aten.sort.stable",
                "aten.clone.default",    "aten.mm.default",   "aten._foreach_mul.Scalar",
                "aten._foreach_add.List"};
  const std::string names = not_drawn_for(limits);
  const auto alphabet = must(parse_alphabet("", names));
  std::set<std::string> drawn;
  for (const Alphabet::Row& row : alphabet.rows()) {
    if (row.weight > 0) drawn.emplace(row.op->name);
  }
  // No custom form, as aten.relu.unsafe; motifs of these ops alone.
  EXPECT_EQ(drawn, (std::set<std::string>{"aten._foreach_add",
                                          "aten._foreach_mul",
                                          "aten.add",
                                          "aten.clone",
                                          "aten.fill",
                                          "aten.fill_",
                                          "aten.mm",
                                          "aten.mul",
                                          "aten.relu",
                                          "aten.sort",
                                          "aten.sort.stable",
                                          "device-copy",
                                          "host-number.add",
                                          "host-number.mul",
                                          "host-scalar",
                                          "host.add",
                                          "host.mul",
                                          "input",
                                          "motif.clone-written-later",
                                          "motif.product-that-is-read-twice",
                                          "motif.read-long-after",
                                          "motif.sum-with-a-factor",
                                          "motif.zero-of-another-dtype",
                                          "optimizer.momentum",
                                          "optimizer.momentum_list"}));
  // The family of paddings has the name of a trait.
  EXPECT_EQ(alphabet.chance(Trait::kPadding), Alphabet().chance(Trait::kPadding));
  // A family of which nothing is drawn is named once.
  EXPECT_NE(("," + names + ",").find(",convolution,"), std::string::npos);
  EXPECT_EQ(names.find("aten.conv2d"), std::string::npos);
}

}  // namespace
}  // namespace graphgate::fuzz
