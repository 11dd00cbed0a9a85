#include "spec/effects.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "spec/op_table.h"

namespace graphgate::spec {
namespace {

using Indices = std::vector<std::size_t>;

OpSchema parsed(std::string_view text) {
  Result<OpSchema> schema = parse_schema(text);
  if (!schema.ok()) ADD_FAILURE() << text << "\n" << schema.error().message;
  return schema.ok() ? std::move(schema).value() : OpSchema{};
}

Effects effects_of(std::string_view text) { return derive_effects(parsed(text)); }

std::string line_of(std::string_view text) { return print_effects(parsed(text), effects_of(text)); }

TEST(Effects, OfAPureOpAreReadsOnly) {
  const Effects effects = effects_of("x::mm(Tensor self, Tensor[] mats, int k=1) -> Tensor");
  ASSERT_EQ(effects.arguments.size(), 3u);
  EXPECT_TRUE(effects.arguments[0].reads);
  EXPECT_TRUE(effects.arguments[1].reads);
  EXPECT_FALSE(effects.arguments[2].reads);
  EXPECT_FALSE(effects.mutates());
  EXPECT_EQ(effects.returns[0].aliases, Indices{});
  EXPECT_FALSE(effects.is_view || effects.is_in_place || effects.is_out || effects.is_effect_only);
}

TEST(Effects, OfAnInPlaceOpWriteAndReturnTheArgument) {
  const Effects effects = effects_of("x::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  EXPECT_TRUE(effects.is_in_place);
  EXPECT_TRUE(effects.arguments[0].reads);
  EXPECT_TRUE(effects.mutates(0));
  EXPECT_FALSE(effects.mutates(1));
  EXPECT_EQ(effects.returns[0].aliases, Indices{0});
  EXPECT_FALSE(effects.is_view);
  EXPECT_FALSE(effects.is_out);
}

TEST(Effects, OfAnOutFormDoNotReadTheOutArgument) {
  const Effects effects = effects_of(
      "x::max.out(Tensor self, *, Tensor(a!) max, Tensor(b!) at) -> (Tensor(a!), Tensor(b!))");
  EXPECT_TRUE(effects.is_out);
  EXPECT_FALSE(effects.is_in_place);
  EXPECT_FALSE(effects.arguments[1].reads);
  EXPECT_EQ(effects.mutated(), (Indices{1, 2}));
  EXPECT_EQ(effects.returns[0].aliases, Indices{1});
  EXPECT_EQ(effects.returns[1].aliases, Indices{2});
}

TEST(Effects, KeepTheReadOfAKeywordArgumentThatIsWrittenButNotReturned) {
  const Effects effects = effects_of("x::store(Tensor k, *, Tensor(a!) cache) -> ()");
  EXPECT_FALSE(effects.is_out);
  EXPECT_TRUE(effects.is_effect_only);
  EXPECT_TRUE(effects.arguments[1].reads);
}

TEST(Effects, OfAViewAliasWithoutWriting) {
  EXPECT_TRUE(effects_of("x::view(Tensor(a) self, SymInt[] size) -> Tensor(a)").is_view);
  const Effects split = effects_of("x::split(Tensor(a -> *) self, int n) -> Tensor(a)[]");
  EXPECT_TRUE(split.is_view);
  EXPECT_EQ(split.returns[0].aliases, Indices{0});
  EXPECT_TRUE(effects_of("x::cpu(Tensor(a) self) -> Tensor(b|a)").is_view);
}

TEST(Effects, SeparateTheWrittenFromTheViewedArgument) {
  EXPECT_EQ(line_of("x::f(Tensor(a!) s, Tensor(b) t, Tensor u) -> (Tensor(b), Tensor(a!), Tensor)"),
            "x.f.default: view in_place; reads s, t, u; writes s; 0=t, 1=s");
}

TEST(Effects, FollowWildcardsOnlyToWildcards) {
  EXPECT_EQ(line_of("x::f(Tensor(a -> *) s, Tensor t, Tensor(*) u) -> Tensor(*)"),
            "x.f.default: view; reads s, t, u; 0=s|u");
}

TEST(Effects, SeeWritesOfListsInBothSpellings) {
  EXPECT_EQ(line_of("x::f_(Tensor(a!)[] self, Scalar s) -> ()"),
            "x.f_.default: in_place effect_only; reads self; writes self");
  EXPECT_EQ(line_of("x::g_(Tensor[](a!) inputs) -> Tensor[](a!)"),
            "x.g_.default: in_place; reads inputs; writes inputs; 0=inputs");
}

TEST(Effects, TellAWriteThatIsNeitherInPlaceNorOut) {
  EXPECT_EQ(line_of("x::norm(Tensor x, Tensor(a!)? mean=None) -> (Tensor, Tensor)"),
            "x.norm.default: mutates; reads x, mean; writes mean");
  EXPECT_EQ(line_of("x::norm(Tensor(a!) x, Tensor(b!) residual) -> ()"),
            "x.norm.default: effect_only; reads x, residual; writes x, residual");
  EXPECT_EQ(line_of("x::full(SymInt[] size) -> Tensor"), "x.full.default: pure");
}

TEST(Effects, IgnoreATrailingUnderscoreWithoutAWrite) {
  EXPECT_FALSE(effects_of("x::and_(Tensor a, Tensor b) -> Tensor").is_in_place);
}

// Effects of all ops that PyTorch names in place must agree with the annotation: an audit of the
// data.
TEST(Effects, OfTheOpTableAgreeWithPyTorchsNaming) {
  std::size_t in_place = 0;
  for (const auto& [name, row] : builtin_op_table().rows()) {
    const bool named_in_place = row->schema.base_name() != row->schema.name;
    EXPECT_TRUE(!named_in_place || row->effects.is_in_place) << name;
    EXPECT_TRUE(!row->has_tag("inplace_view") || row->effects.mutates()) << name;
    in_place += named_in_place ? 1u : 0u;
  }
  EXPECT_GT(in_place, 50u);
}

std::string golden_text() {
  std::string text =
      "# Effects of every op of spec/ops/*.txt as spec/effects.h derives them from the schemas.\n"
      "# Made by graphgate golden update --only effects/aten.txt.\n";
  for (const auto& [name, row] : builtin_op_table().rows()) {
    text += print_effects(row->schema, row->effects) + "\n";
  }
  return text;
}

TEST(Effects, MatchTheGoldenFile) {
  const std::string path = GRAPHGATE_SOURCE_DIR "/golden/effects/aten.txt";
  std::istringstream actual(golden_text());
  std::ifstream golden(path, std::ios::binary);
  ASSERT_TRUE(golden.is_open()) << path;
  std::string expected_line;
  std::string actual_line;
  std::size_t line = 0;
  while (std::getline(golden, expected_line)) {
    ++line;
    ASSERT_TRUE(std::getline(actual, actual_line)) << path << ":" << line << ": one line too many";
    ASSERT_EQ(actual_line, expected_line) << path << ":" << line;
  }
  EXPECT_FALSE(std::getline(actual, actual_line)) << path << " lacks: " << actual_line;
}

}  // namespace
}  // namespace graphgate::spec
