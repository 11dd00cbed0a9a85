#include "tools/store/promises.h"

#include <set>
#include <sstream>

#include "base/result_test.h"

namespace graphgate::tools {
namespace {

using Names = std::vector<std::string>;

Result<conformance::Promises> promises_in(const std::string& text) {
  const interop::Json json = interop::Json::parse(text);
  return read_promises({json, "greeting"});
}

TEST(Promises, AreTheLeastWhereAGreetingHasNone) {
  const conformance::Promises none = promises_in("{}").value();
  EXPECT_EQ(none.arithmetic, "strict");
  EXPECT_EQ(none.kernels, "cpu");
  EXPECT_TRUE(none.split_sums.empty());
  EXPECT_TRUE(none.keeps_layouts);
}

TEST(Promises, NameWhoseKernelsDecide) {
  for (const std::string word : {"cpu", "cuda", "own"}) {
    EXPECT_EQ(promises_in(R"({"kernels": ")" + word + "\"}").value().kernels, word);
  }
  const Error read = failure_of(promises_in(R"({"kernels": "mine"})"), "mine");
  EXPECT_TRUE(contains(read.message, "expected cpu, cuda or own, found 'mine'")) << read.message;
}

TEST(Promises, NameTheDtypesWhoseSumsAreSplitInOrderAndOnce) {
  EXPECT_EQ(promises_in(R"({"split_sums": []})").value().split_sums, Names());
  EXPECT_EQ(promises_in(R"({"split_sums": ["f16"]})").value().split_sums, Names{"f16"});
  EXPECT_EQ(promises_in(R"({"split_sums": ["f16", "bfloat16", "bf16"]})").value().split_sums,
            (Names{"bf16", "f16"}));
}

TEST(Promises, OfSplitSumsAreForDtypesOf16Bits) {
  for (const char* name : {"f32", "f64", "i16", "f8e5m2", "half"}) {
    const Error read =
        failure_of(promises_in(R"({"split_sums": ["bf16", ")" + std::string(name) + "\"]}"), name);
    EXPECT_EQ(read.kind, ErrorKind::kBadInput);
    EXPECT_TRUE(contains(read.message, "expected f16 or bf16, found '" + std::string(name) + "'"));
  }
  EXPECT_FALSE(promises_in(R"({"split_sums": "bf16"})").ok());
  EXPECT_FALSE(promises_in(R"({"split_sums": [16]})").ok());
}

TEST(Promises, NameConvolutionsAsTf32) {
  EXPECT_FALSE(promises_in("{}").value().has_tf32_convolutions);
  EXPECT_TRUE(promises_in(R"({"tf32": ["convolution"]})").value().has_tf32_convolutions);
  EXPECT_FALSE(promises_in(R"({"tf32": ["matmul"]})").ok());
  EXPECT_FALSE(promises_in(R"({"tf32": true})").ok());
}

TEST(Promises, NameTheReleaseOfPyTorchOrLeaveItOpen) {
  EXPECT_TRUE(promises_in("{}").value().torch.is_open());
  EXPECT_TRUE(promises_in(R"({"torch": "open"})").value().torch.is_open());
  EXPECT_EQ(promises_in(R"({"torch": "2.11.0+cu130"})").value().torch, (spec::TorchRelease{2, 11}));
  EXPECT_EQ(promises_in(R"({"torch": "2.16.0a0+git1"})").value().torch,
            (spec::TorchRelease{2, 16}));
  for (const std::string text : {"", "2", "2.", "two", "2.15x", ".15", "0.0", "2.99999"}) {
    const Error read = failure_of(promises_in(R"({"torch": ")" + text + "\"}"), text);
    EXPECT_TRUE(contains(read.message, "expected a version of PyTorch")) << read.message;
  }
  EXPECT_FALSE(promises_in(R"({"torch": 2.15})").ok());
}

TEST(SubjectLimits, AreNoneWhereAGreetingHasNone) {
  const auto limits_in = [](const std::string& text) {
    const interop::Json json = interop::Json::parse(text);
    return read_limits({json, "greeting"});
  };
  EXPECT_EQ(fuzz::not_drawn_for(limits_in("{}").value()), "");
  EXPECT_EQ(fuzz::not_drawn_for(
                limits_in(R"({"devices": ["cpu", "cuda"], "not_wrapped": ["prim"]})").value()),
            "");
  EXPECT_EQ(fuzz::not_drawn_for(limits_in(R"({"devices": ["cpu"]})").value()), "accelerator");
  EXPECT_EQ(fuzz::not_drawn_for(
                limits_in(R"({"devices": ["cpu"], "not_wrapped": ["aten", "prims"]})").value()),
            "accelerator,functionalized.split_with_sizes_copy,functionalized.batch_norm");
  const std::string takes_few = fuzz::not_drawn_for(
      limits_in(R"({"ops": ["aten.relu.default", "aten.mm.default"]})").value());
  const std::set<std::string> names = [&] {
    std::set<std::string> all;
    std::istringstream words(takes_few);
    for (std::string word; std::getline(words, word, ',');) all.insert(word);
    return all;
  }();
  EXPECT_FALSE(names.contains("aten.relu") || names.contains("aten.mm")) << takes_few;
  EXPECT_TRUE(names.contains("aten.silu") && names.contains("view")) << takes_few;
  EXPECT_FALSE(limits_in(R"({"devices": "cpu"})").ok());
  EXPECT_FALSE(limits_in(R"({"ops": ["aten add"]})").ok());
  EXPECT_FALSE(limits_in(R"({"not_wrapped": ["a,b"]})").ok());
}

}  // namespace
}  // namespace graphgate::tools
