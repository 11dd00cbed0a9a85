#include "spec/schema.h"

#include <limits>
#include <string>

#include "base/result_test.h"
#include "spec/op_table.h"

namespace graphgate::spec {
namespace {

OpSchema parsed(std::string_view text) {
  Result<OpSchema> schema = parse_schema(text);
  if (!schema.ok()) {
    ADD_FAILURE() << text << "\n" << schema.error().message;
    return {};
  }
  return std::move(schema).value();
}

SchemaType parsed_type(const std::string& type) {
  const OpSchema schema = parsed("x::f(Tensor(a) s, " + type + " y) -> ()");
  return schema.arguments.size() == 2 ? schema.arguments[1].type : SchemaType{};
}

SchemaDefault parsed_default(const std::string& argument) {
  const OpSchema schema = parsed("x::f(" + argument + ") -> ()");
  if (schema.arguments.size() != 1 || !schema.arguments[0].default_value) {
    ADD_FAILURE() << argument << " has no default";
    return {};
  }
  return *schema.arguments[0].default_value;
}

std::string error_of(std::string_view text) {
  const Result<OpSchema> schema = parse_schema(text);
  return schema.ok() ? "parsed: " + print_schema(schema.value()) : schema.error().message;
}

TEST(SchemaParser, ReadsEveryPartOfASchema) {
  const OpSchema schema =
      parsed("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
  EXPECT_EQ(schema.ns, "aten");
  EXPECT_EQ(schema.name, "add_");
  EXPECT_EQ(schema.overload, "Tensor");
  ASSERT_EQ(schema.arguments.size(), 3u);
  EXPECT_EQ(schema.arguments[0].name, "self");
  EXPECT_TRUE(schema.arguments[0].type.alias.writes);
  EXPECT_FALSE(schema.arguments[1].type.alias.present());
  EXPECT_FALSE(schema.arguments[1].kwarg_only);
  EXPECT_TRUE(schema.arguments[2].kwarg_only);
  EXPECT_EQ(schema.arguments[2].type.base, BaseType::kScalar);
  EXPECT_EQ(schema.arguments[2].default_value->value.data, SchemaValue{std::int64_t{1}}.data);
  ASSERT_EQ(schema.returns.size(), 1u);
  EXPECT_EQ(schema.returns[0].type.alias, schema.arguments[0].type.alias);
  EXPECT_EQ(schema.find_argument("alpha"), 2u);
  EXPECT_EQ(schema.find_argument("beta"), std::nullopt);
}

TEST(SchemaParser, TellsOptionalElementsFromOptionalLists) {
  EXPECT_TRUE(parsed_type("Tensor?[]").optional_element);
  EXPECT_FALSE(parsed_type("Tensor?[]").optional);
  EXPECT_FALSE(parsed_type("Tensor[]?").optional_element);
  EXPECT_TRUE(parsed_type("Tensor[]?").optional);
  EXPECT_TRUE(parsed_type("Tensor?").optional);
  EXPECT_FALSE(parsed_type("Tensor?").optional_element);
  const SchemaType both = parsed_type("Tensor?[]?");
  EXPECT_TRUE(both.optional && both.optional_element);
}

TEST(SchemaParser, ReadsListSizes) {
  const SchemaType fixed = parsed_type("SymInt[2]?");
  ASSERT_EQ(fixed.list_sizes.size(), 1u);
  EXPECT_EQ(fixed.list_sizes[0], 2);
  EXPECT_TRUE(fixed.optional);
  EXPECT_EQ(parsed_type("float[]").list_sizes[0], std::nullopt);
  EXPECT_EQ(parsed_type("int[][3]").list_sizes.size(), 2u);
  EXPECT_FALSE(parsed_type("int").is_list());
}

TEST(SchemaParser, PutsAnAliasOnTheElementOrOnTheList) {
  EXPECT_TRUE(parsed_type("Tensor(b!)[]").alias.writes);
  EXPECT_FALSE(parsed_type("Tensor(b!)[]").list_alias.present());
  EXPECT_TRUE(parsed_type("Tensor[](b!)").list_alias.writes);
  EXPECT_FALSE(parsed_type("Tensor[](b!)").alias.present());
  EXPECT_TRUE(parsed_type("Tensor[](b!)").writes());
}

TEST(SchemaParser, ReadsAliasSetsAndTheirChange) {
  using Sets = std::vector<std::string>;
  const AliasInfo moved = parsed_type("Tensor(b! -> c|d)").alias;
  EXPECT_EQ(moved.before, Sets({"b"}));
  EXPECT_EQ(moved.after, Sets({"c", "d"}));
  EXPECT_TRUE(moved.writes);
  const AliasInfo to_wildcard = parsed_type("Tensor(b -> *)").alias;
  EXPECT_TRUE(to_wildcard.is_after_wildcard());
  EXPECT_FALSE(to_wildcard.is_before_wildcard());
  EXPECT_TRUE(parsed_type("Tensor(*)").alias.is_before_wildcard());
  EXPECT_EQ(parsed_type("Tensor(b|c)").alias.after, Sets({"b", "c"}));
}

TEST(SchemaParser, ReadsDefaultsAsValuesAndKeepsTheirText) {
  EXPECT_TRUE(parsed_default("Tensor? x=None").value.is_none());
  EXPECT_EQ(parsed_default("bool x=True").value, SchemaValue{true});
  EXPECT_EQ(parsed_default("int x=-100").value, SchemaValue{std::int64_t{-100}});
  EXPECT_EQ(parsed_default("float x=1.").value, SchemaValue{1.0});
  EXPECT_EQ(parsed_default("float x=1.").text, "1.");
  EXPECT_EQ(parsed_default("float x=1.0000000000000001e-05").value, SchemaValue{1e-5});
  EXPECT_EQ(parsed_default("float x=0.33333333333333331").text, "0.33333333333333331");
  EXPECT_EQ(parsed_default("float x=-inf").value,
            SchemaValue{-std::numeric_limits<double>::infinity()});
  EXPECT_EQ(parsed_default("str x=\"a\\n\\\"b\"").value, SchemaValue{std::string("a\n\"b")});
  EXPECT_EQ(parsed_default("MemoryFormat x=contiguous_format").value,
            SchemaValue{EnumName{"contiguous_format"}});
  EXPECT_EQ(parsed_default("int x=Mean").value, SchemaValue{EnumName{"Mean"}});
  const SchemaDefault list = parsed_default("int[2] x=[0,1]");
  EXPECT_EQ(list.text, "[0,1]");
  EXPECT_EQ(list.value, (SchemaValue{std::vector<SchemaValue>{SchemaValue{std::int64_t{0}},
                                                              SchemaValue{std::int64_t{1}}}}));
  EXPECT_EQ(parsed_default("int[] x=[]").value, SchemaValue{std::vector<SchemaValue>{}});
}

TEST(SchemaParser, AcceptsOneElementForAListOfFixedSizeOnly) {
  EXPECT_EQ(parsed_default("int[2] x=1").value, SchemaValue{std::int64_t{1}});
  EXPECT_EQ(error_of("x::f(int[] x=1) -> ()"), "column 14: default 1 does not fit type int[]");
}

TEST(SchemaParser, AcceptsBlanksAnywhereAndPrintsTheUsualOnes) {
  EXPECT_EQ(print_schema(parsed(" a::b( Tensor( a ! -> * )  x,*,int  y = 1 )->( Tensor ( a ) ) ")),
            "a::b(Tensor(a! -> *) x, *, int y=1) -> Tensor(a)");
}

TEST(SchemaPrinter, GivesBackEverySchemaOfTheOpTable) {
  ASSERT_GT(builtin_op_table().size(), 585u);
  std::size_t checked = 0;
  for (std::size_t index = 0; index < kBuiltinOpTextsCount; ++index) {
    std::string_view text = kBuiltinOpTexts[index];
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (line.empty() || line.front() == '#') continue;
      const std::string_view schema = line.substr(0, line.find(" ; "));
      EXPECT_EQ(print_schema(parsed(schema)), schema);
      ++checked;
    }
  }
  EXPECT_EQ(checked, builtin_op_table().size());
}

TEST(SchemaPrinter, GivesBackOddSchemas) {
  for (const std::string_view text : {
           "x::f() -> ()",
           "x::f(*, int a) -> ()",
           "x::f(Tensor(a!)? a=None) -> Tensor(a!)?",
           "x::f(Tensor(a -> *) a) -> Tensor(a)[]",
           "x::f(Tensor(a)[] a) -> (Tensor(a)[] b, SymBool c)",
           "x::f(Tensor[](a!) a) -> Tensor[](a!)",
           "x::f(Tensor(a) a) -> Tensor(b|a)",
           "x::f(Tensor theta, int N) -> Tensor grid",
           "x::f(bool[3] a, float[]? b=None, Tensor?[]? c=None) -> (Tensor, Tensor)",
           "x::f(str a=\"\\\"\\'\\\\\", str b=\" \\n\\t\\f\\v\", str c=';,)') -> ()",
           "x::f(float a=1., float b=1e-08, float c=.5, float d=inf, Scalar e=-2) -> ()",
           "x::f(int[] a=[], int[1] b=[0,1], int[2] c=[-2, -1], bool[2] d=[True, False]) -> ()",
           "x::f(ScalarType a=long, Device b=cpu, Layout? c=None, MemoryFormat? d=0) -> ()",
           "x::f(Generator? a, Dimname b, Storage c, Stream d, QScheme e, complex f) -> Any",
           "aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor",
           "_x1::F_2.o_3(SymFloat a_4) -> SymInt",
       }) {
    EXPECT_EQ(print_schema(parsed(text)), text);
    EXPECT_EQ(parsed(print_schema(parsed(text))), parsed(text));
  }
}

TEST(SchemaParser, SaysWhereAndWhatItExpected) {
  EXPECT_EQ(error_of(""), "column 1: expected a namespace such as 'aten', found the end");
  EXPECT_EQ(error_of("mm(Tensor x) -> ()"),
            "column 3: expected '::' after the namespace, found '('");
  EXPECT_EQ(error_of("x::f.() -> ()"), "column 6: expected the name of the overload, found '('");
  EXPECT_EQ(error_of("x::f -> ()"), "column 6: expected '(' and the arguments, found '-'");
  EXPECT_EQ(error_of("x::f(Tensor) -> ()"),
            "column 12: expected the name of the argument, found ')'");
  EXPECT_EQ(error_of("x::f(Tensor a; int b) -> ()"),
            "column 14: expected ',' or ')' after an argument, found ';'");
  EXPECT_EQ(error_of("x::f(Tensor a,) -> ()"), "column 15: expected a type, found ')'");
  EXPECT_EQ(error_of("x::f(Tensor a)"), "column 15: expected '->' and the returns, found the end");
  EXPECT_EQ(error_of("x::f() -> (Tensor"),
            "column 18: expected ',' or ')' after a return, found the end");
  EXPECT_EQ(error_of("x::f() -> () garbage"),
            "column 14: expected the end of the schema, found 'garbage'");
  EXPECT_EQ(error_of("x::f(Tensor(a a) -> ()"),
            "column 15: expected ')' after the alias annotation, found 'a'");
  EXPECT_EQ(error_of("x::f(Tensor() a) -> ()"),
            "column 13: expected an alias set such as 'a' or '*', found ')'");
  EXPECT_EQ(error_of("x::f(int[0] a) -> ()"),
            "column 10: expected ']' or a list size of at least 1, found '0'");
  EXPECT_EQ(error_of("x::f(int a=) -> ()"), "column 12: expected a default, found ')'");
  EXPECT_EQ(error_of("x::f(int[] a=[1 2]) -> ()"),
            "column 17: expected ',' or ']' in the list, found '2'");
  EXPECT_EQ(error_of("x::f(str a=\"b) -> ()"), "column 12: the string is not closed");
  EXPECT_EQ(error_of("x::f(str a=\"\\q\") -> ()"), "column 13: unknown escape '\\q'");
  EXPECT_EQ(error_of("x::f(*) -> ()"),
            "column 7: expected ',' and an argument after '*', found ')'");
  EXPECT_EQ(error_of("x::f(\x01) -> ()"), "column 6: expected a type, found byte 1");
}

TEST(SchemaParser, RejectsASchemaThatContradictsItself) {
  EXPECT_EQ(error_of("x::f(int a, int a) -> ()"), "column 17: a second argument named 'a'");
  EXPECT_EQ(error_of("x::f(int a) -> (int b, int b)"), "column 28: a second return named 'b'");
  EXPECT_EQ(error_of("x::f(*, int a, *, int b) -> ()"), "column 16: a second '*'");
  EXPECT_EQ(error_of("x::f(int a=1, int b) -> ()"),
            "column 19: argument 'b' has no default but follows an argument that has one");
  EXPECT_EQ(error_of("x::f(Tensor(a) x) -> Tensor(b)"),
            "column 22: the return's alias set is on no argument");
  EXPECT_EQ(error_of("x::f.default() -> ()"),
            "column 6: the overload name 'default' is reserved for an op without one");
}

TEST(SchemaParser, RejectsADefaultThatDoesNotFitItsType) {
  EXPECT_EQ(error_of("x::f(int a=\"b\") -> ()"), "column 12: default \"b\" does not fit type int");
  EXPECT_EQ(error_of("x::f(Tensor a=None) -> ()"),
            "column 15: default None does not fit type Tensor");
  EXPECT_EQ(error_of("x::f(bool a=1) -> ()"), "column 13: default 1 does not fit type bool");
  EXPECT_EQ(error_of("x::f(int[] a=[1.5]) -> ()"),
            "column 14: default [1.5] does not fit type int[]");
  EXPECT_EQ(error_of("x::f(int a=99999999999999999999) -> ()"),
            "column 12: '99999999999999999999' is not a number that fits 64 bits");
  EXPECT_EQ(error_of("x::f(float a=1.2.3) -> ()"),
            "column 14: '1.2.3' is not a number that fits 64 bits");
}

TEST(SchemaParser, BoundsTheDepthOfADefault) {
  const std::string deep = "x::f(int[] a=" + std::string(100000, '[') + ") -> ()";
  EXPECT_EQ(error_of(deep), "column 18: lists are nested too deeply");
}

TEST(SchemaParser, RefusesTorchScriptTypesAsUnsupported) {
  for (const std::string_view text :
       {"aten::len.t(t[] a) -> int", "aten::wait(Future(t) self) -> t",
        "aten::keys.str(Dict(str, t) self) -> str[](*)", "aten::format(str self, ...) -> str",
        "prim::f((int, int) a) -> ()", "quantized::f(__torch__.torch.classes.P a) -> ()"}) {
    const Error schema = failure_of(parse_schema(text), text);
    EXPECT_EQ(schema.kind, ErrorKind::kUnsupported) << schema.message;
  }
  const Error typo = failure_of(parse_schema("x::f(tensor a) -> ()"));
  EXPECT_EQ(typo.kind, ErrorKind::kBadInput);
  EXPECT_EQ(typo.message, "column 6: unknown type 'tensor'");
}

TEST(SchemaParser, EndsOnEveryPrefixOfASchemaWithAnErrorOrASchema) {
  const std::string text =
      "aten::f.o(Tensor(a! -> *)[2]? x, *, str s=\"\\n\", float[] y=[1.5, -inf]) -> (Tensor(a) r)";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_schema(text.substr(0, length)).ok()) << text.substr(0, length);
  }
  EXPECT_TRUE(parse_schema(text).ok()) << error_of(text);
}

TEST(OpSchema, HasTheNameThatGraphsUse) {
  EXPECT_EQ(parsed("aten::mm(Tensor a, Tensor b) -> Tensor").qualified_name(), "aten.mm.default");
  EXPECT_EQ(parsed("aten::add.Tensor(Tensor a) -> Tensor").qualified_name(), "aten.add.Tensor");
  EXPECT_EQ(parsed("_operator::mul(Scalar a) -> Scalar").qualified_name(), "_operator.mul");
}

TEST(OpSchema, DropsOneUnderscoreFromTheBaseNameOfAnInPlaceOp) {
  EXPECT_EQ(parsed("aten::add_.T(Tensor(a!) self) -> Tensor(a!)").base_name(), "add");
  EXPECT_EQ(parsed("aten::_foreach_add_.S(Tensor(a!)[] self) -> ()").base_name(), "_foreach_add");
  EXPECT_EQ(parsed("aten::__iand__.T(Tensor(a!) self) -> Tensor(a!)").base_name(), "__iand__");
  EXPECT_EQ(parsed("aten::__and__.T(Tensor self) -> Tensor").base_name(), "__and__");
  EXPECT_EQ(parsed("aten::add.out(Tensor s, *, Tensor(a!) out) -> Tensor(a!)").base_name(), "add");
  EXPECT_EQ(parsed("_operator::and_(SymBool a) -> SymBool").base_name(), "and_");
}

}  // namespace
}  // namespace graphgate::spec
