// graphgate check --against, and scripts for PyTorch: where two things part, and how somebody else
// sees it.
#include "base/result_test.h"
#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {
namespace {

// A decoder of two layers, each with a mask of its own, a cache and a product behind it. `compare`
// is what layer 0 hides by.
std::string decoder(const std::string& compare) {
  std::string text =
      "program \"decoder\" {\n  input %x : f32[8, 8]\n  input %rows : i64[8, 1]\n"
      "  input %columns : i64[1, 8]\n  buffer %cache \"cache\" : f32[8, 8]\n";
  std::string h = "%x";
  for (const std::string layer : {"0", "1"}) {
    const std::string op = layer == "0" ? compare : "le";
    text += "  %mask_" + layer + " : bool[8, 8] = aten." + op + ".Tensor(%columns, %rows)\n";
    text += "  %scores_" + layer + " : f32[8, 8] = aten.mm.default(" + h + ", %x)\n";
    text += "  %kept_" + layer + " : f32[8, 8] = aten.where.ScalarOther(%mask_" + layer +
            ", %scores_" + layer + ", 0.0)\n";
    text += "  %h_" + layer + " : f32[8, 8] = aten.tanh.default(%kept_" + layer + ")\n";
    h = "%h_" + layer;
  }
  return text + "  %linear_8 : f32[8, 8] = aten.mm.default(" + h + ", %x)\n" +
         "  %w : f32[8, 8] = aten.copy_.default(%cache, %linear_8)\n  output %linear_8\n}\n";
}

class CliAgainst : public Cli {
 protected:
  std::string written(const std::string& name, const std::string& program) {
    const fs::path path = folder_ / name;
    std::ofstream(path)
        << "graphgate-case 1\nname \"decoder\"\nseed 1\n" + program +
               "weights \"decoder\" seed 7\ninputs \"i\" of \"decoder\" {\n  x seed 3\n"
               "  rows : i64[8, 1] = [0, 1, 2, 3, 4, 5, 6, 7]\n"
               "  columns : i64[1, 8] = [0, 1, 2, 3, 4, 5, 6, 7]\n}\n"
               "scenario {\n  call decoder inputs=i\n  call decoder inputs=i\n}\n";
    return path.string();
  }
  // A program of one input, called once.
  std::string small(const std::string& name, const std::string& lines) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "graphgate-case 1\nname \"small\"\nseed 1\nprogram \"small\" {\n"
                           "  input %x : f32[4]\n" +
                               lines + "}\nscenario {\n  call small\n}\n";
    return path.string();
  }
};

TEST_F(CliAgainst, NamesTheFirstNodeOfTwoProgramsAndNotTheLast) {
  const std::string wrong = written("wrong.case", decoder("lt"));
  const std::string right = written("right.case", decoder("le"));
  const CliRun parted =
      run("check " + wrong + " --against " + right + " --json " + (folder_ / "r.json").string() +
          " --html " + (folder_ / "r.html").string());
  EXPECT_EQ(parted.code, 1) << parted.out << parted.err;
  EXPECT_TRUE(contains(parted.out, "part at 'mask_0' (aten.lt.Tensor), where " + right +
                                       " has 'mask_0' (aten.le.Tensor), call 0"));
  EXPECT_TRUE(contains(parted.out, "  read 'columns': i64[1, 8] = 0 1 2 3 4 5 ..."));
  // The diagonal of the mask.
  EXPECT_TRUE(contains(parted.out, "    #.......\n    .#......\n"));
  EXPECT_TRUE(contains(parted.out, "  call 0: off are output 0, state 'cache'"));
  EXPECT_TRUE(contains(parted.out, "  call 1: off are output 0, state 'cache'"));
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"), nullptr, false);
  EXPECT_EQ(json["node"], "mask_0");
  EXPECT_EQ(json["other_op"], "aten.le.Tensor");
  // The page has the diagonal, too.
  const std::string page = read_file(folder_ / "r.html");
  const std::string start = "id=\"data\">";
  const std::size_t begin = page.find(start) + start.size();
  const auto data = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin),
                                          nullptr, false);
  const auto& elements = data["panels"][0]["elements"];
  ASSERT_EQ(elements["shares"].size(), 64U);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(elements["shares"][i], i % 9 == 0 ? 1.0 : 0.0) << i;

  const CliRun same = run("check " + right + " --against " + right);
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "do not part; 20 node runs compared"));
}

TEST_F(CliAgainst, NamesTheNodeWhereAnExecutorLeavesAnother) {
  const std::string file = written("right.case", decoder("le"));
  // One that runs layer 0 as another op.
  const std::string takes =
      "sed -u 's/mask_0 : bool\\[8, 8\\] = aten.le/mask_0 : bool[8, 8] = "
      "aten.lt/' | " +
      (folder_ / "graphgate").string() + " serve reference";
  const CliRun parted = run("check " + file + " --executor reference --against \"" + takes + "\"");
  EXPECT_EQ(parted.code, 1) << parted.out << parted.err;
  EXPECT_TRUE(contains(parted.out, "part at 'mask_0' (aten.le.Tensor), call 0; off is "));
  EXPECT_TRUE(contains(parted.out, "(8 of 64 elements differ)"));
  const CliRun same = run("check " + file + " --executor optimized --against reference");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
}

// What every node makes is the same; what is returned is not.
TEST_F(CliAgainst, TellsOutputsThatAreExchanged) {
  const auto program = [&](const std::string& name, const std::string& outputs) {
    return small(name, "  %a = aten.tanh.default(%x)\n  %b = aten.neg.default(%x)\n" + outputs);
  };
  const std::string left = program("left.case", "  output %a\n  output %b\n");
  const std::string right = program("right.case", "  output %b\n  output %a\n");
  const CliRun parted = run("check " + left + " --against " + right);
  EXPECT_EQ(parted.code, 1) << parted.out << parted.err;
  EXPECT_TRUE(contains(parted.out, "part in what is returned, call 0"));
  EXPECT_TRUE(contains(parted.out, "no node is named"));
  EXPECT_TRUE(contains(parted.out, "  call 0: off are output 0, output 1"));
  const CliRun fewer = run("check " + left + " --against " + program("one.case", "  output %a\n"));
  EXPECT_EQ(fewer.code, 4) << fewer.out;
  EXPECT_TRUE(contains(fewer.err, "has 2 outputs, and its counterpart has 1")) << fewer.err;
}

TEST_F(CliAgainst, TellsInputsThatAreWritten) {
  const auto program = [&](const std::string& name, const std::string& body) {
    return small(name, body + "  output %d\n");
  };
  const std::string left = program("left.case",
                                   "  %c = aten.clone.default(%x)\n"
                                   "  %d = aten.add_.Tensor(%c, 1.0)\n");
  const std::string right = program("right.case", "  %d = aten.add_.Tensor(%x, 1.0)\n");
  const CliRun parted = run("check " + left + " --against " + right);
  EXPECT_EQ(parted.code, 1) << parted.out << parted.err;
  EXPECT_TRUE(contains(parted.out, "  call 0: off are input 0")) << parted.out;
}

// Where every node's result is an output, no bytes are given away too early.
TEST_F(CliAgainst, TellsWhatGoesWhereEveryValueIsAnOutput) {
  const std::string file =
      GRAPHGATE_SOURCE_DIR "/golden/cases/catalogue/b1-output-through-a-view.case";
  const CliRun parted = run("check " + file + " --deviation output_by_exact_name --against " +
                            "reference --json " + (folder_ / "r.json").string());
  EXPECT_EQ(parted.code, 1) << parted.out << parted.err;
  EXPECT_TRUE(contains(parted.out, "part in what is returned, call 0; off is optimized"));
  // The smallest changes of options that mend it.
  EXPECT_TRUE(contains(parted.out, "  without deviation=output_by_exact_name: passes\n"));
  EXPECT_TRUE(contains(parted.out, "  no-reuse: passes\n")) << parted.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"), nullptr, false);
  EXPECT_EQ(json["off"], "optimized");
  EXPECT_EQ(json["mended_by"][0], "without deviation=output_by_exact_name: passes");
  const CliRun same = run("check " + file + " --against reference");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
}

TEST_F(CliAgainst, DoesNotPassWhereAllThatDiffersIsLeftOpen) {
  const std::string file = GRAPHGATE_SOURCE_DIR "/golden/cases/op/random.case";
  const CliRun open =
      run("check " + file + " --against reference --json " + (folder_ / "r.json").string());
  EXPECT_EQ(open.code, 2) << open.out << open.err;
  EXPECT_TRUE(contains(open.out, "UNDECIDED " + file)) << open.out;
  EXPECT_TRUE(contains(open.out, "part where it is open which of them is right"));
  EXPECT_TRUE(contains(open.out, "the first node is 'u' (aten.rand.default)"));
  EXPECT_TRUE(contains(open.out, "\n  to decide it: ")) << open.out;
  const auto json = nlohmann::json::parse(read_file(folder_ / "r.json"), nullptr, false);
  EXPECT_EQ(json["parts"], false);
  EXPECT_FALSE(json["open"].empty());
}

TEST_F(CliAgainst, RefusesWhatCannotBeCompared) {
  const std::string file = written("right.case", decoder("le"));
  EXPECT_EQ(run("check " + file + " " + file + " --against reference").code, 4);
  EXPECT_EQ(run("check " + file + " --against reference --junit a.xml").code, 4);
  const CliRun limit = run("check " + file + " --against reference --answer-limit much");
  EXPECT_EQ(limit.code, 4);
  EXPECT_TRUE(contains(limit.err, "--answer-limit: expected a size")) << limit.err;
  EXPECT_EQ(run("check " + file + " --against " + model("mutations.pt2")).code, 4);
}

// ---- scripts ----

class CliScript : public CliAgainst {
 protected:
  CliRun convert(const std::string& from) {
    return run("convert " + from + " -o " + (folder_ / "repro.py").string());
  }
};

TEST_F(CliScript, SaysAllOfACaseInWordsOfPyTorch) {
  const std::string right = written("right.case", decoder("le"));
  const CliRun made = convert(right);
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string text = read_file(folder_ / "repro.py");
  EXPECT_TRUE(contains(text, "mask_0 = torch.ops.aten.le.Tensor(columns, rows)\n"));
  EXPECT_TRUE(contains(text, "w = torch.ops.aten.copy_.default(self.state_cache, linear_8)\n"));
  EXPECT_TRUE(contains(text, "self.register_buffer(\"state_cache\", states[\"cache\"])\n"));
  EXPECT_EQ(text.find("graphgate_"), std::string::npos);
}

TEST_F(CliScript, IsNotWrittenOfWhatPyTorchAloneHasNot) {
  const CliRun refused = convert(model("vllm_like.pt2"));
  EXPECT_EQ(refused.code, 2) << refused.out << refused.err;
  EXPECT_EQ(line_count(refused.err), 1U) << refused.err;
  EXPECT_TRUE(contains(refused.err, "PyTorch alone has no vllm."));
  EXPECT_FALSE(fs::exists(folder_ / "repro.py"));
}

// The eager half of a script takes no compiler.
TEST_F(CliScript, ShowsADifferenceToPyTorchAlone) {
  const char* python = std::getenv("GRAPHGATE_TORCH_PYTHON");
  if (!python) GTEST_SKIP() << "GRAPHGATE_TORCH_PYTHON names no interpreter with PyTorch";
  const auto status_of = [&](const std::string& from) {
    EXPECT_EQ(convert(from).code, 0);
    const std::string command = std::string(python) + " " + (folder_ / "repro.py").string() +
                                " eager >" + (folder_ / "seen.txt").string() + " 2>&1";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): our own words
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const std::string findings = GRAPHGATE_SOURCE_DIR "/tools/adapters/torch/findings/";
  EXPECT_EQ(status_of(written("right.case", decoder("le"))), 0) << read_file(folder_ / "seen.txt");
  EXPECT_EQ(status_of(findings + "median-expanded.case"), 1) << read_file(folder_ / "seen.txt");
  EXPECT_TRUE(contains(read_file(folder_ / "seen.txt"), "eager: call 0, output "));
}

}  // namespace
}  // namespace graphgate::tools
