#include "spec/op_table.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/result_test.h"
#include "spec/base_name.h"

namespace graphgate::spec {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kRelu = "x::relu(Tensor self) -> Tensor ; tags=core,pointwise\n";
constexpr std::string_view kAttend =
    "x::attend(Tensor q, Tensor scratch, Tensor(a!) out, str layer_name) -> ()"
    " ; hidden_reads=layer_name ; hidden_writes=layer_name,clock ; undeclared_writes=scratch"
    " ; orders=kv\n";

std::string table_error_of(std::string_view text) {
  OpTable table;
  return message_of(table.add_text(text, "ops.txt"), "added");
}

TEST(OpTable, FindsAnOpByItsQualifiedName) {
  OpTable table;
  ASSERT_TRUE(table.add_text(kRelu, "ops.txt").ok());
  const OpRow* row = table.find("x.relu.default");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(print_schema(row->schema), "x::relu(Tensor self) -> Tensor");
  EXPECT_TRUE(row->has_tag("pointwise"));
  EXPECT_FALSE(row->has_tag("reduction"));
  EXPECT_EQ(table.find("x.relu"), nullptr);
  EXPECT_EQ(table.find("x.relu.Tensor"), nullptr);
}

TEST(OpTable, KeepsWhatASchemaCannotSay) {
  OpTable table;
  ASSERT_TRUE(table.add_text(kAttend, "ops.txt").ok());
  const OpRow& row = *table.find("x.attend.default");
  EXPECT_EQ(row.hidden_state_reads, Names({"layer_name"}));
  EXPECT_EQ(row.hidden_state_writes, Names({"layer_name", "clock"}));
  EXPECT_EQ(row.undeclared_writes, Names({"scratch"}));
  EXPECT_EQ(row.orders, Names({"kv"}));
  EXPECT_EQ(row.state_argument("layer_name"), 3u);
  EXPECT_EQ(row.state_argument("clock"), std::nullopt);
  EXPECT_FALSE(row.writes(0));
  EXPECT_TRUE(row.writes(1)) << "undeclared";
  EXPECT_FALSE(row.effects.mutates(1)) << "effects hold what is declared";
  EXPECT_TRUE(row.writes(2));
}

TEST(OpTable, SkipsBlankLinesAndComments) {
  OpTable table;
  ASSERT_TRUE(table.add_text("# a::b\n\n  \n  # c\r\n x::f() -> () \r\n#", "ops.txt").ok());
  EXPECT_EQ(table.size(), 1u);
}

TEST(OpTable, TakesASemicolonInsideADefaultForText) {
  OpTable table;
  ASSERT_TRUE(table.add_text("x::f(str a=\";\\\";\") -> () ; tags=core", "ops.txt").ok());
  EXPECT_TRUE(table.find("x.f.default")->has_tag("core"));
}

TEST(OpTable, NamesSourceLineAndColumnOfAnError) {
  EXPECT_EQ(table_error_of("\n# c\nx::f(Tensr a) -> ()"),
            "ops.txt:3: column 6: unknown type 'Tensr'");
  EXPECT_EQ(table_error_of("x::f() -> () ; tag=core"),
            "ops.txt:1: column 16: expected one of tags= hidden_reads= hidden_writes= "
            "undeclared_writes= undeclared_aliases= orders=, found 'tag=core'");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags"), "ops.txt:1: column 20: expected '=' after tags");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags="), "ops.txt:1: column 21: expected a name");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags=a,,b"), "ops.txt:1: column 23: expected a name");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags=a b"),
            "ops.txt:1: column 21: expected one name, found 'a b'");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags=a,a"),
            "ops.txt:1: column 23: 'a' stands twice in one list");
  EXPECT_EQ(table_error_of("x::f() -> () ; tags=a ; tags=b"),
            "ops.txt:1: column 25: a second tags=");
}

TEST(OpTable, RejectsAnUndeclaredWriteThatCannotBe) {
  EXPECT_EQ(table_error_of("x::f(Tensor a) -> () ; undeclared_writes=b"),
            "ops.txt:1: undeclared_writes: x.f.default has no tensor argument 'b'");
  EXPECT_EQ(table_error_of("x::f(int a) -> () ; undeclared_writes=a"),
            "ops.txt:1: undeclared_writes: x.f.default has no tensor argument 'a'");
  EXPECT_EQ(table_error_of("x::f(Tensor(a!) a) -> () ; undeclared_writes=a"),
            "ops.txt:1: undeclared_writes: the schema declares that of 'a' already");
}

TEST(OpTable, KeepsAnAliasThatNoSetDeclares) {
  OpTable table;
  ASSERT_TRUE(table.add_text("x::same(Tensor a) -> Tensor ; undeclared_aliases=a", "o").ok());
  EXPECT_EQ(table.find("x.same.default")->undeclared_aliases, Names({"a"}));
  EXPECT_EQ(table_error_of("x::view(Tensor(a) s) -> Tensor(a) ; undeclared_aliases=s"),
            "ops.txt:1: undeclared_aliases: the schema declares that of 's' already");
}

TEST(OpTable, RejectsADuplicateAndStaysAsItWas) {
  OpTable table;
  ASSERT_TRUE(table.add_text(kRelu, "ops.txt").ok());
  EXPECT_EQ(failure_of(table.add_text("x::g() -> ()\n" + std::string(kRelu), "more.txt")).message,
            "more.txt:2: column 1: x.relu.default is in the table already");
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table_error_of("x::f() -> ()\nx::f(int a) -> ()"),
            "ops.txt:2: column 1: x.f.default is in the table already");
}

// vLLM's own attention op has more arguments than the built-in row.
TEST(OpTable, LetsARowOfTheUserReplaceABuiltInOne) {
  const std::string row =
      "vllm::unified_attention_with_output(Tensor query, Tensor key, Tensor value, "
      "Tensor(a!) output, str layer_name, Tensor? output_scale=None) -> ()";
  const std::string name = "vllm.unified_attention_with_output.default";
  OpTable table = builtin_op_table();
  const std::size_t before = table.size();
  ASSERT_TRUE(table.add_text(row, "mine.ops").ok());
  EXPECT_EQ(table.size(), before);
  EXPECT_EQ(table.find(name)->schema.arguments.size(), 6U);
  EXPECT_EQ(table.rows().at(name).get(), table.find(name));
  ASSERT_EQ(table.find_by_base_name("vllm.unified_attention_with_output").size(), 1U);
  EXPECT_EQ(table.find_by_base_name("vllm.unified_attention_with_output").front(),
            table.find(name));
  EXPECT_EQ(builtin_op_table().find(name)->schema.arguments.size(), 5U);
  EXPECT_EQ(failure_of(table.add_text(row, "more.ops")).message,
            "more.ops:1: column 1: " + name + " is in the table already");
}

TEST(OpTable, KeepsRowsInPlaceWhenMoreAreAdded) {
  OpTable table;
  ASSERT_TRUE(table.add_text(kRelu, "ops.txt").ok());
  const OpRow* before = table.find("x.relu.default");
  ASSERT_TRUE(table.add_text(kAttend, "more.txt").ok());
  EXPECT_EQ(table.find("x.relu.default"), before);
}

TEST(OpTable, FindsRowsInACopyAndInWhatItWasMovedTo) {
  auto first = std::make_unique<OpTable>();
  ASSERT_TRUE(first->add_text(kRelu, "ops.txt").ok());
  const OpRow* row = first->find("x.relu.default");
  OpTable copy = *first;
  OpTable assigned;
  assigned = *first;
  const OpTable moved = std::move(*first);
  first.reset();
  ASSERT_TRUE(copy.add_text(kAttend, "ops.txt").ok());
  EXPECT_EQ(copy.find("x.relu.default"), row);
  EXPECT_NE(copy.find("x.attend.default"), nullptr);
  EXPECT_EQ(assigned.find("x.relu.default"), row);
  EXPECT_EQ(assigned.find("x.attend.default"), nullptr);
  EXPECT_EQ(moved.find("x.relu.default"), row);
}

TEST(OpTable, ListsAFamilyWithItsInPlaceAndOutForms) {
  OpTable table;
  ASSERT_TRUE(table
                  .add_text("x::add_(Tensor(a!) self) -> Tensor(a!)\n"
                            "x::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
                            "x::add(Tensor self) -> Tensor\n"
                            "x::addmm(Tensor self) -> Tensor\n"
                            "y::add(Tensor self) -> Tensor\n",
                            "ops.txt")
                  .ok());
  Names names;
  for (const OpRow* row : table.find_by_base_name("x.add")) {
    names.push_back(row->schema.qualified_name());
  }
  EXPECT_EQ(names, Names({"x.add.default", "x.add.out", "x.add_.default"}));
  EXPECT_TRUE(table.find_by_base_name("x.ad").empty());
}

TEST(OpTable, PrintsARowThatReadsBack) {
  OpTable table;
  ASSERT_TRUE(table.add_text(kAttend, "ops.txt").ok());
  EXPECT_EQ(print_row(*table.find("x.attend.default")) + "\n", kAttend);
}

TEST(BuiltinOpTable, PrintsEveryRowAsItsFileHasIt) {
  for (std::size_t index = 0; index < kBuiltinOpTextsCount; ++index) {
    OpTable table;
    ASSERT_TRUE(table.add_text(kBuiltinOpTexts[index], kBuiltinOpTextsNames[index]).ok());
    std::set<std::string> lines;
    for (const auto& [name, row] : table.rows()) lines.insert(print_row(*row) + "\n");
    for (const std::string& line : lines) {
      EXPECT_TRUE(contains(kBuiltinOpTexts[index], line)) << line;
    }
  }
}

TEST(BuiltinOpTable, FindsEachOpByItsNameAndNoneByAnother) {
  const OpTable::Rows rows = builtin_op_table().rows();
  for (int round = 0; round < 2; ++round) {  // what was found lately is told by a few letters
    for (const auto& [name, row] : rows) {
      EXPECT_EQ(builtin_op_table().find(name), row.get()) << name;
      EXPECT_EQ(builtin_op_table().find(name), row.get()) << name;
      std::string other = name;
      other[other.size() / 2] = '#';
      EXPECT_EQ(builtin_op_table().find(other), nullptr) << other;
      EXPECT_EQ(builtin_op_table().find(name + "#"), nullptr) << name;
    }
  }
}

TEST(BuiltinOpTable, TellsBaseNamesWithoutMakingThem) {
  for (const auto& [name, row] : builtin_op_table().rows()) {
    const OpSchema& schema = row->schema;
    const std::string base = schema.ns + "." + schema.base_name();
    EXPECT_TRUE(is_base_name(base, schema)) << name;
    EXPECT_FALSE(is_base_name(base + "_", schema)) << name;
    EXPECT_FALSE(is_base_name(base.substr(1), schema)) << name;
    EXPECT_FALSE(is_base_name("x" + base.substr(1), schema)) << name;
  }
}

TEST(BaseName, IsAskedAnewWhereAnotherOpComesToTheAddressOfOne) {
  const std::unordered_map<std::string_view, int> table = {{"aten.add", 1}, {"aten.mul", 2}};
  RecentFinds<OpRow, std::pair<const std::string_view, int>> recent;
  OpRow row = *builtin_op_table().find("aten.add.Tensor");
  EXPECT_EQ(*find_by_base_name(table, recent, row), 1);
  row = *builtin_op_table().find("aten.mul_.Tensor");
  EXPECT_EQ(*find_by_base_name(table, recent, row), 2);
  row = *builtin_op_table().find("aten.sub.Tensor");
  EXPECT_EQ(find_by_base_name(table, recent, row), nullptr);
  row = *builtin_op_table().find("aten.mul.Tensor");
  EXPECT_EQ(*find_by_base_name(table, recent, row), 2);
}

TEST(BuiltinOpTable, ListsItsOpsInNameOrder) {
  Names names;
  for (const auto& [name, row] : builtin_op_table().rows()) {
    EXPECT_EQ(row->schema.qualified_name(), name);
    names.push_back(name);
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(BuiltinOpTable, SharesItsOpsWithCopiesThatHaveMore) {
  OpTable copy = builtin_op_table();
  ASSERT_TRUE(copy.add_text("aten::add.mine(Tensor self) -> Tensor\n", "mine.txt").ok());
  EXPECT_FALSE(copy.add_text("aten::add.Tensor(Tensor self) -> Tensor\n", "mine.txt").ok())
      << "it is there already";
  EXPECT_EQ(copy.find("aten.add.Tensor"), builtin_op_table().find("aten.add.Tensor"));
  ASSERT_NE(copy.find("aten.add.mine"), nullptr);
  EXPECT_EQ(builtin_op_table().find("aten.add.mine"), nullptr);
  EXPECT_EQ(copy.size(), builtin_op_table().size() + 1);
  EXPECT_EQ(copy.rows().size(), copy.size());
  Names names;
  for (const OpRow* row : copy.find_overloads("aten.add")) {
    names.push_back(row->schema.qualified_name());
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "aten.add.mine"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "aten.add.Tensor"), 1);
  EXPECT_TRUE(copy.find_overloads("aten.ad").empty());
  const OpTable again = copy;
  EXPECT_EQ(again.find("aten.add.mine"), copy.find("aten.add.mine"));
}

TEST(BuiltinOpTable, HoldsTheOpsThatExportedProgramsUse) {
  const OpTable& table = builtin_op_table();
  for (const std::string_view name :
       {"aten.view.default", "aten.add_.Tensor", "aten._to_copy.default", "aten.sym_size.int",
        "aten.scaled_dot_product_attention.default", "aten._assert_scalar.default",
        "aten.__and__.Tensor", "aten.relu_.default", "aten.index_put_.default",
        "vllm.unified_attention_with_output.default", "vllm.fused_add_rms_norm.default",
        "transformers.grouped_mm_fallback.default", "_operator.mul", "_operator.getitem",
        "torch.sym_not", "_c10d_functional.all_reduce.default"}) {
    EXPECT_NE(table.find(name), nullptr) << name;
  }
  EXPECT_TRUE(table.find("aten.add.Tensor")->has_tag("core"));
  EXPECT_TRUE(table.find("aten.nonzero.default")->has_tag("dynamic_output_shape"));
  EXPECT_TRUE(table.find("aten.unsqueeze_.default")->has_tag("inplace_view"));
}

}  // namespace
}  // namespace graphgate::spec
