// No hand-set tolerance decides anything: what may differ follows from error bounds, and what must
// not differ is compared bit by bit. This test reads the tree for what a tolerance looks like, and
// holds it to a closed list, with the reason for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string_view>

namespace graphgate::dev {
namespace {

namespace fs = std::filesystem;

// The code of a line: without string literals and without a comment.
std::string without_literals(std::string line) {
  line = std::regex_replace(line, std::regex(R"re("(\\.|[^"\\])*")re"), "\"\"");
  return line.substr(0, line.find("//"));
}

// Comparisons with a margin, and the names that margins go by, anywhere; in code that is no test,
// small decimal numbers too.
bool looks_like_a_tolerance(const std::string& line, bool is_test) {
  static const std::regex kMargin(
      R"((EXPECT|ASSERT)_(NEAR|FLOAT_EQ|DOUBLE_EQ)|\b(rtol|atol|allclose|assert_close)\b|[Tt]olerance)");
  static const std::regex kSmall(R"((^|[^\w.])\d+(\.\d*)?[eE]-\d+)");
  constexpr std::string_view kParts[] = {"_NEAR", "FLOAT_EQ", "DOUBLE_EQ", "tol",
                                         "close", "olerance", "e-",        "E-"};
  const bool may_be = std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return line.find(part) != std::string::npos;
  });
  if (!may_be) return false;  // regular expressions are slow
  const std::string code = without_literals(line);
  return std::regex_search(code, kMargin) || (!is_test && std::regex_search(code, kSmall));
}

struct Allowed {
  std::size_t lines;  // kAnyNumber: at least one
  const char* why;
};
constexpr std::size_t kAnyNumber = 0;

// By file. A file with fewer such lines than listed fails too, so that the list stays what there
// is.
const std::map<std::string, Allowed>& allowed() {
  static const std::map<std::string, Allowed> kAllowed = {
      {"conformance/bounds/judge_call.h", {1, "a probability: the false-alarm rate"}},
      {"conformance/compare/compare_test.cpp",
       {2, "a computed ratio and a tail probability, no executor's result"}},
      {"conformance/compare/torch_view.cpp",
       {kAnyNumber, "torch's own tolerances, as a view for comparison; no judge asks it"}},
      {"conformance/judges/judge.h", {1, "a probability: the false-alarm rate"}},
      {"conformance/judges/judge_report.h", {1, "nanoseconds"}},
      {"conformance/run/run_script.cpp", {1, "nanoseconds"}},
      {"fuzz/campaign/campaign_cases_test.cpp", {2, "shares of a sample"}},
      {"fuzz/campaign/campaign_test.cpp",
       {3, "estimates and bounds of a sample, computed here another way"}},
      {"optimized/analysis/composite_gradients.cpp", {1, "the op's: the least that it divides by"}},
      {"reference/ops/composite_gradients.cpp", {1, "the op's: the least that it divides by"}},
      {"fuzz/families/batch_norm.cpp", {kAnyNumber, "an argument of the op: its epsilon"}},
      {"fuzz/families/functionalized.cpp", {2, "an argument of the op: its epsilon"}},
      {"fuzz/families/gradients.cpp", {3, "an argument of the op: its epsilon"}},
      {"fuzz/families/normalization.cpp", {kAnyNumber, "an argument of the op: its epsilon"}},
      {"fuzz/families/vllm.cpp", {1, "an argument of the op: its epsilon"}},
      {"optimized/analysis/composite_linalg.cpp",
       {kAnyNumber, "arguments of the op linalg_matrix_rank"}},
      {"optimized/analysis/composite_losses.cpp",
       {1, "an epsilon of the op cosine_embedding_loss"}},
      {"optimized/arithmetic/functions_special_test.cpp",
       {1, "sinc(1), whose value depends on how pi is rounded"}},
      {"optimized/arithmetic/functions_test.cpp",
       {kAnyNumber, "the reflection formula of digamma, which is not rounded as the function is"}},
      {"optimized/complex_test.cpp", {kAnyNumber, "functions in float32 against float64"}},
      {"optimized/kernels/elements/binary.h", {kAnyNumber, "epsilons of ops"}},
      {"optimized/kernels/equality.cpp", {8, "arguments of the op allclose"}},
      {"optimized/kernels/linalg_spectral.cpp",
       {kAnyNumber, "arguments of the op pinv, and limits of a rank"}},
      {"optimized/kernels/linalg_test.cpp",
       {kAnyNumber, "square roots and turned vectors in float32"}},
      {"optimized/kernels/loss_test.cpp", {kAnyNumber, "logarithms in float32 against float64"}},
      {"optimized/kernels/pointwise_test.cpp",
       {kAnyNumber, "functions in float32 against float64"}},
      {"optimized/kernels/quantization.cpp", {kAnyNumber, "epsilons of ops"}},
      {"optimized/kernels/random_test.cpp", {kAnyNumber, "means and shares of a sample"}},
      {"optimized/kernels/renorm.cpp", {kAnyNumber, "the op's own epsilon"}},
      {"optimized/kernels/seeded_test.cpp",
       {kAnyNumber, "digits that PyTorch prints, and means of a sample"}},
      {"reference/array_test.cpp", {3, "radii, not values"}},
      {"reference/number/functions.h",
       {1, "the stated error of formula 7.1.26 of Abramowitz and Stegun"}},
      {"reference/number/special_functions.h",
       {kAnyNumber, "losses of PyTorch's own series, with their source"}},
      {"reference/ops/attention_test.cpp", {1, "a logarithm in float32 against float64"}},
      {"reference/ops/binning_test.cpp", {2, "radii, not values"}},
      {"reference/ops/complex_composite.cpp", {kAnyNumber, "arguments of the op allclose"}},
      {"reference/ops/complex_test.cpp", {kAnyNumber, "quotients and functions in floating point"}},
      {"reference/ops/composite.cpp", {kAnyNumber, "arguments of the op isclose"}},
      {"reference/ops/composite_linalg.cpp",
       {kAnyNumber, "arguments of the op linalg_matrix_rank"}},
      {"reference/ops/composite_loss.cpp",
       {kAnyNumber, "an epsilon of the op cosine_embedding_loss"}},
      {"reference/ops/equality.cpp", {12, "arguments of the op allclose, and its body"}},
      {"reference/ops/composite_test.cpp",
       {kAnyNumber, "singular values, slopes and tanh in floating point"}},
      {"reference/ops/known_draws_test.cpp", {kAnyNumber, "digits that PyTorch prints"}},
      {"reference/ops/linalg_spectral.cpp", {kAnyNumber, "arguments of the op pinv"}},
      {"reference/ops/linalg_test.cpp", {kAnyNumber, "square roots and turned vectors in float32"}},
      {"reference/ops/loss_test.cpp", {kAnyNumber, "logarithms in float32 against float64"}},
      {"reference/ops/pointwise_test.cpp", {kAnyNumber, "functions in float32 against float64"}},
      {"reference/ops/pooling_test.cpp", {1, "2/3 in float32"}},
      {"reference/ops/quantization.cpp", {kAnyNumber, "epsilons of ops"}},
      {"reference/ops/random_test.cpp", {kAnyNumber, "ends of ranges in float32"}},
      {"reference/ops/reduction_test.cpp", {3, "a radius, and thirds in float32"}},
      {"reference/ops/renorm.cpp", {kAnyNumber, "the op's own epsilon"}},
      {"reference/ops/sorting_test.cpp", {2, "radii, not values"}},
      {"reference/ops/special_test.cpp", {kAnyNumber, "functions in float32 against tables"}},
      {"reference/ops/training_test.cpp", {kAnyNumber, "numbers in float32"}},
      {"tools/cli/check.cpp", {3, "a probability, its range, and nanoseconds in seconds"}},
      {"tools/report/campaign_history.cpp", {1, "a unit: nanoseconds in seconds"}},
      {"tools/report/campaign_history_test.cpp", {1, "a time, read from nanoseconds"}},
      {"tools/report/timings.cpp", {1, "a unit: nanoseconds in seconds"}},
      {"tools/report/timings_test.cpp", {9, "times, read from nanoseconds"}},
      {"tools/tests/cli/cli_outputs_test.cpp", {4, "times by the clock, and their sums"}},
  };
  return kAllowed;
}

std::size_t count_in(const fs::path& path, std::string& lines) {
  const std::string name = path.filename().string();
  const bool is_test = name.find("_test.") != std::string::npos;
  std::ifstream file(path);
  std::size_t count = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!looks_like_a_tolerance(line, is_test)) continue;
    ++count;
    lines += "\n  " + std::to_string(number) + ": " + line;
  }
  return count;
}

TEST(Tolerances, AreRecognized) {
  EXPECT_TRUE(looks_like_a_tolerance("  EXPECT_NEAR(a, b, 0.1);", true));
  EXPECT_TRUE(looks_like_a_tolerance("bool ok = allclose(a, b);", true));
  EXPECT_TRUE(looks_like_a_tolerance("if (error < 1e-3) return true;", false));
  EXPECT_TRUE(looks_like_a_tolerance("constexpr double kRelative = 1.3e-6;", false));
  EXPECT_TRUE(looks_like_a_tolerance("double atol = 0;", false));
  EXPECT_FALSE(looks_like_a_tolerance("double x = 1e-3;", true)) << "data of a test";
  EXPECT_FALSE(looks_like_a_tolerance("double x = 0x1p-24;  // 1e-7", false));
  EXPECT_FALSE(looks_like_a_tolerance("print(\"rtol 1e-3\");", false));
  EXPECT_FALSE(looks_like_a_tolerance("int made = three-3;", false));
}

TEST(Tolerances, StandNowhereButWhereTheListSaysWhy) {
  const fs::path root = GRAPHGATE_SOURCE_DIR;
  std::size_t files = 0;
  std::map<std::string, std::size_t> seen;
  for (const char* folder :
       {"spec", "interop", "reference", "optimized", "conformance", "fuzz", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cpp" && path.extension() != ".h") continue;
      const std::string name = fs::relative(path, root).string();
      if (name == "tools/dev/tolerances_test.cpp" || name.starts_with("tools/bench/")) continue;
      ++files;
      std::string lines;
      const std::size_t count = count_in(path, lines);
      const auto known = allowed().find(name);
      const std::size_t expected = known == allowed().end() ? 0 : known->second.lines;
      const bool any = known != allowed().end() && expected == kAnyNumber && count > 0;
      EXPECT_TRUE(any || count == expected) << name << ": expected " << expected << lines;
      seen[name] = count;
    }
  }
  EXPECT_GT(files, 300U) << "not the tree that this test is for";
  for (const auto& [name, reason] : allowed()) EXPECT_TRUE(seen.contains(name)) << name;
}

}  // namespace
}  // namespace graphgate::dev
