#include "fuzz/campaign/reduce_case.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/folder_test.h"
#include "base/result_test.h"
#include "fuzz/reduce/stated_types.h"
#include "tools/executors/case_archive.h"
#include "tools/executors/case_sources.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"
#include "tools/store/programs.h"

namespace graphgate::fuzz {
namespace {

using conformance::ExecutorSource;
using spec::CaseFile;
using tools::CaseSources;
using tools::optimized_source;
using tools::parse_checked_case;
using tools::read_program;
using tools::read_text;
using tools::reference_source;

CaseFile golden(const std::string& name) {
  const std::string path = GRAPHGATE_GOLDEN_DIR "/cases/" + name + ".case";
  const auto text = read_text(path);
  EXPECT_TRUE(text.ok()) << path;
  auto the_case = parse_checked_case(text.value(), path);
  EXPECT_TRUE(the_case.ok()) << path;
  return std::move(the_case).value();
}

std::string text_of(const CaseFile& the_case) {
  const auto text = spec::print_case(the_case);
  return text.ok() ? text.value() : text.error().message;
}

ReduceRequest request_for(CaseFile the_case, const std::string& deviation) {
  ReduceRequest request;
  request.the_case = std::move(the_case);
  if (!deviation.empty()) request.the_case.options["deviation"] = deviation;
  request.limits.kept_options = {"deviation"};
  request.choice.settings.localize = false;
  return request;
}

Result<ReducedCase> reduced_built_in(const ReduceRequest& request) {
  const CaseSources sources(no_files());
  return reduce_case(request, sources.get());
}

TEST(ReduceCase, KeepsTheSignatureAndTellsWhatIsLeft) {
  const auto made =
      must(reduced_built_in(request_for(golden("catalogue/b4-freed-twice"), "frees_twice")));
  const CaseFile& left = made.reduced.the_case;
  EXPECT_LE(made.reduced.after.nodes, 4U);
  EXPECT_EQ(made.reduced.after.calls, 1U);
  ASSERT_TRUE(made.signature);
  EXPECT_EQ(print_signature(*made.signature),
            "verifier V3.overlap [] {compiler=eager, deviation=frees_twice, memory=lines}");
  const auto stored = stored_signature(left);
  ASSERT_TRUE(stored.ok() && stored.value());
  EXPECT_EQ(*stored.value(), *made.signature);
  // It is what it says it is, and its neighbour is not.
  const CaseSources builtin(no_files());
  const auto check = [&](const CaseFile& one) {
    return check_signature(one, builtin.get(), *made.signature, {});
  };
  EXPECT_EQ(check(left), CheckResult::kSame);
  ASSERT_TRUE(made.reduced.passing);
  EXPECT_EQ(check(*made.reduced.passing), CheckResult::kPasses);
}

// The fault depends on no numbers: without the fill it shows as well, in what nobody wrote.
TEST(ReduceCase, LeavesWhoWritesWhatIsRead) {
  const auto filled = [](const std::string& fill) {
    return must(parse_checked_case(
        "graphgate-case 1\nname \"filled\"\nseed 1\noption \"compiler\" \"eager\"\n"
        "option \"memory\" \"lines\"\nprogram \"p\" {\n"
        "  %x = aten.empty.memory_format([8, 8])\n" +
            fill +
            "  %a = aten.mm.default(%x, %x)\n  %b = aten.neg.default(%a)\n"
            "  %c = aten.mm.default(%x, %x)\n  %d = aten.mm.default(%b, %c)\n"
            "  output %d\n}\nscenario {\n  call p\n}\nexpect PASS\n",
        "test"));
  };
  const CaseSources builtin(no_files());
  const CaseFile whole = filled("  %f = aten.fill_.Scalar(%x, 1.0)\n");
  EXPECT_FALSE(reads_unwritten(whole, builtin.get()));
  EXPECT_TRUE(reads_unwritten(filled(""), builtin.get()));
  const auto all_same = [](const CaseFile&) { return CheckResult::kSame; };
  const auto answer = [&](const CaseFile& original, const CaseFile& candidate) {
    return refusing_void(all_same, original, builtin.get())(candidate);
  };
  EXPECT_EQ(answer(whole, whole), CheckResult::kSame);
  EXPECT_EQ(answer(whole, filled("")), CheckResult::kOther);
  EXPECT_EQ(answer(filled(""), filled("")), CheckResult::kSame);
  const auto made = must(reduced_built_in(request_for(whole, "frees_twice")));
  const CaseFile& left = made.reduced.the_case;
  EXPECT_FALSE(reads_unwritten(left, builtin.get())) << text_of(left);
  EXPECT_LE(made.reduced.after.nodes, 6U) << text_of(left);
  // What was so from the beginning may stay so.
  EXPECT_TRUE(reduced_built_in(request_for(filled(""), "frees_twice")).ok());
}

// Two buffers may not become one where a list op writes both: nothing promises what is in it then.
TEST(ReduceCase, LeavesApartWhatANodeWrites) {
  const auto listed = [](const std::string& list) {
    return must(
        parse_checked_case("graphgate-case 1\nname \"listed\"\nseed 1\nprogram \"p\" {\n"
                           "  input %a : f32[2]\n  input %b : f32[2]\n  input %c : f32[2]\n"
                           "  aten._foreach_addcdiv_.Scalar(" +
                               list +
                               ", [%c, %c], [%c, %c]) as n\n  output %a\n  output %b\n}\n"
                               "scenario {\n  call p\n}\nexpect PASS\n",
                           "test"));
  };
  const CaseSources builtin(no_files());
  const auto answer = [&](const CaseFile& original, const CaseFile& candidate) {
    const auto all_same = [](const CaseFile&) { return CheckResult::kSame; };
    return refusing_void(all_same, original, builtin.get())(candidate);
  };
  const CaseFile apart = listed("[%a, %b]");
  const CaseFile twice = listed("[%a, %a]");
  EXPECT_EQ(answer(apart, apart), CheckResult::kSame);  // what is read may be there twice
  EXPECT_EQ(answer(apart, twice), CheckResult::kOther);
  EXPECT_EQ(answer(twice, twice), CheckResult::kSame);
}

TEST(ReduceCase, RefusesACaseThatShowsNothing) {
  const Error made =
      failure_of(reduced_built_in(request_for(golden("catalogue/b4-freed-twice"), "")));
  EXPECT_EQ(made.kind, ErrorKind::kBadInput);
  EXPECT_TRUE(contains(made.message, "nothing to reduce"));
}

TEST(ReduceCase, RefusesASignatureThatDoesNotShow) {
  ReduceRequest request = request_for(golden("catalogue/b4-freed-twice"), "frees_twice");
  request.signature = Signature{"verifier", "V5.double-free", "mm", ""};
  const Error made = failure_of(reduced_built_in(request));
  EXPECT_TRUE(contains(made.message, "V5.double-free"));
  EXPECT_TRUE(contains(made.message, "V3.overlap"));
}

TEST(ReduceCase, CutsAFaultOutOfAnImportedModel) {
  const auto program =
      must(read_program(GRAPHGATE_GOLDEN_DIR "/models/mutations.pt2", spec::builtin_op_table()));
  auto the_case = must(case_of_program(program, 2, 1));
  ReduceRequest request = request_for(std::move(the_case), "");
  request.the_case.options["plan-mutation"] = "offset-over-live";
  request.limits.kept_options = {"plan-mutation"};
  auto judges = conformance::parse_judges("verifier");
  request.choice.judges = judges.value();
  const auto made = must(reduced_built_in(request));
  EXPECT_GE(made.reduced.before.nodes, 20U);
  EXPECT_LE(made.reduced.after.nodes, 5U) << text_of(made.reduced.the_case);
  EXPECT_EQ(made.reduced.after.calls, 1U);
  // What is left is a program that PyTorch's form can hold.
  const TemporaryFolder folder = made_folder();
  std::filesystem::create_directories(folder.path());
  const std::string path = folder.path() + "/small.pt2";
  must(tools::write_case_archive(made.reduced.the_case, ".", path));
  const auto again = must(read_program(path, spec::builtin_op_table()));
  EXPECT_EQ(again.graph.nodes.size(), made.reduced.after.nodes);
}

TEST(ReduceCase, TakesAnExternalWordForIt) {
  ReduceRequest request = request_for(golden("catalogue/c19-everything-at-once"), "");
  request.external = [](const CaseFile& candidate) -> Result<bool> {
    return text_of(candidate).find("aten.cumsum.default") != std::string::npos;
  };
  const auto made = must(reduced_built_in(request));
  EXPECT_EQ(made.reduced.after.nodes, 1U);
  EXPECT_EQ(made.reduced.after.options, 0U);
  EXPECT_FALSE(made.signature);
  request.external = [](const CaseFile&) -> Result<bool> { return false; };
  EXPECT_FALSE(reduced_built_in(request).ok());
  request.external = [](const CaseFile&) -> Result<bool> { return infrastructure("disk full"); };
  EXPECT_EQ(failure_of(reduced_built_in(request)).kind, ErrorKind::kInfrastructure);
}

// An executor that does not survive an op.
class DeadlySource final : public ExecutorSource {
 public:
  DeadlySource(const ExecutorSource& inner, bool hangs) : inner_(inner), hangs_(hangs) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(auto made, inner_.make(configuration, ops));
    return std::unique_ptr<spec::Executor>(
        std::make_unique<DeadlyExecutor>(std::move(made), hangs_));
  }

 private:
  class DeadlyExecutor final : public spec::Executor {
   public:
    DeadlyExecutor(std::unique_ptr<spec::Executor> inner, bool hangs)
        : inner_(std::move(inner)), hangs_(hangs) {}
    [[nodiscard]] std::string_view name() const override { return inner_->name(); }
    Result<std::unique_ptr<spec::LoadedProgram>> load(const spec::Program& program) override {
      for (const spec::Node& node : program.graph.nodes) {
        if (node.op != "aten.neg.default") continue;
        while (hangs_) ::pause();
        (void)std::signal(SIGSEGV, SIG_DFL);  // sanitizers take it themselves
        (void)std::raise(SIGSEGV);
      }
      return inner_->load(program);
    }

   private:
    std::unique_ptr<spec::Executor> inner_;
    bool hangs_;
  };

  const ExecutorSource& inner_;
  bool hangs_;
};

class Deadly : public testing::Test {
 protected:
  Reduced reduced(bool hangs, const Signature& signature) {
    const DeadlySource deadly(*subject_, hangs);
    const CaseExecutors executors{deadly, *oracle_, *oracle_, no_files()};
    const CaseFile the_case = golden("catalogue/b4-freed-twice");
    const Isolation isolation{true, 1, 0};
    const auto look = look_at_case(the_case, executors, {}, isolation);
    EXPECT_TRUE(look.ok() && look.value().signatures.size() == 1);
    if (look.ok() && !look.value().signatures.empty()) {
      EXPECT_TRUE(look.value().signatures.front().same_fault(signature))
          << print_signature(look.value().signatures.front());
    }
    ReduceLimits limits;
    limits.checks = hangs ? 12 : 1000;
    return reduce(
        the_case,
        [&](const CaseFile& one) {
          return check_case_for(one, executors, signature, {}, isolation);
        },
        limits);
  }

  std::unique_ptr<ExecutorSource> subject_ = optimized_source();
  std::unique_ptr<ExecutorSource> oracle_ = reference_source(false);
};

TEST_F(Deadly, CrashesAreReducedInProcessesOfTheirOwn) {
  const Reduced made = reduced(false, {"crash", "SIGSEGV", "", ""});
  ASSERT_TRUE(made.shows);
  EXPECT_TRUE(made.is_finished);
  EXPECT_EQ(made.after, (CaseSize{1, 0, 0, 1})) << text_of(made.the_case);
}

TEST_F(Deadly, SoAreHangs) {
  const Reduced made = reduced(true, {"timeout", "no-end", "", ""});
  ASSERT_TRUE(made.shows);
  EXPECT_LT(made.after.calls, made.before.calls);
}

// A reference on a machine that has no memory for it so many times.
class LackingSource final : public ExecutorSource {
 public:
  LackingSource(const ExecutorSource& inner, int times) : inner_(inner), times_(times) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration, const spec::OpTable& ops) const override {
    if (times_-- > 0) return infrastructure("out of memory");
    return inner_.make(configuration, ops);
  }

 private:
  const ExecutorSource& inner_;
  mutable int times_;
};

TEST(RunReference, AsksAMachineAgainThatFailedOnce) {
  const auto subject = optimized_source();
  const auto reference = reference_source(false);
  const auto run = [&](int times) {
    const LackingSource lacking(*reference, times);
    return run_reference(golden("catalogue/b4-freed-twice"),
                         {*subject, lacking, lacking, no_files()}, "eager");
  };
  EXPECT_EQ(must(run(1)).calls.size(), must(run(0)).calls.size());
  EXPECT_EQ(failure_of(run(2)).kind, ErrorKind::kInfrastructure);
}

TEST(StatedTypes, AreThoseOfTheReferenceInSymbolsWhereThereAreSome) {
  CaseFile the_case = golden("reuse/other-sizes");
  CaseFile open = the_case;
  for (spec::Value& value : open.programs.front().graph.values) {
    if (value.name != "x") value.type.reset();
  }
  const CaseSources builtin(no_files());
  // With one value for both symbols nobody can tell them apart.
  auto& steps = open.scenario.steps;
  steps.erase(steps.begin());
  const CaseFile stated = with_stated_types(open, builtin.get());
  const spec::Graph& graph = stated.programs.front().graph;
  for (const spec::Value& value : the_case.programs.front().graph.values) {
    const auto found = std::find_if(graph.values.begin(), graph.values.end(),
                                    [&](const auto& one) { return one.name == value.name; });
    ASSERT_NE(found, graph.values.end());
    // A transposed view has no row-major strides to say in symbols.
    if (value.name == "t") continue;
    ASSERT_TRUE(found->type) << value.name;
    EXPECT_EQ(found->type->sizes, value.type->sizes) << value.name;
  }
}

}  // namespace
}  // namespace graphgate::fuzz
