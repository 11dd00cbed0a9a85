#include <algorithm>
#include <array>
#include <utility>

#include "base/join_words.h"
#include "spec/base_name.h"
#include "spec/schema.h"

namespace graphgate::spec {
namespace {

constexpr std::array<std::pair<BaseType, std::string_view>, 20> kBaseTypes = {{
    {BaseType::kTensor, "Tensor"},         {BaseType::kInt, "int"},
    {BaseType::kSymInt, "SymInt"},         {BaseType::kFloat, "float"},
    {BaseType::kSymFloat, "SymFloat"},     {BaseType::kBool, "bool"},
    {BaseType::kSymBool, "SymBool"},       {BaseType::kComplex, "complex"},
    {BaseType::kScalar, "Scalar"},         {BaseType::kString, "str"},
    {BaseType::kScalarType, "ScalarType"}, {BaseType::kDevice, "Device"},
    {BaseType::kLayout, "Layout"},         {BaseType::kMemoryFormat, "MemoryFormat"},
    {BaseType::kQScheme, "QScheme"},       {BaseType::kGenerator, "Generator"},
    {BaseType::kDimname, "Dimname"},       {BaseType::kStorage, "Storage"},
    {BaseType::kStream, "Stream"},         {BaseType::kAny, "Any"},
}};

constexpr std::string_view kWildcard = "*";

bool contains(const std::vector<std::string>& sets, std::string_view name) {
  return std::find(sets.begin(), sets.end(), name) != sets.end();
}

std::string print_alias(const AliasInfo& alias) {
  if (!alias.present()) return "";
  std::string text = "(" + join_words(alias.before, "|");
  if (alias.writes) text += '!';
  if (alias.after != alias.before) text += " -> " + join_words(alias.after, "|");
  return text + ")";
}

std::string print_argument(const SchemaArgument& argument) {
  std::string text = print_type(argument.type) + " " + argument.name;
  if (argument.default_value) text += "=" + argument.default_value->text;
  return text;
}

std::string print_return(const SchemaReturn& result) {
  std::string text = print_type(result.type);
  if (!result.name.empty()) text += " " + result.name;
  return text;
}

}  // namespace

bool AliasInfo::is_before_wildcard() const { return contains(before, kWildcard); }
bool AliasInfo::is_after_wildcard() const { return contains(after, kWildcard); }

std::string_view print_base_type(BaseType type) {
  for (const auto& [base, name] : kBaseTypes) {
    if (base == type) return name;
  }
  const bool every_base_type_has_a_spelling = false;
  GRAPHGATE_CHECK(every_base_type_has_a_spelling);
  return {};
}

std::optional<BaseType> find_base_type(std::string_view name) {
  for (const auto& [base, spelling] : kBaseTypes) {
    if (spelling == name) return base;
  }
  return std::nullopt;
}

bool is_python_namespace(std::string_view ns) {
  return ns == "_operator" || ns == "math" || ns == "torch";
}

std::string OpSchema::qualified_name() const {
  const std::string function = ns + "." + name;
  if (!overload.empty()) return function + "." + overload;
  return is_python_namespace(ns) ? function : function + ".default";
}

std::string OpSchema::base_name() const { return std::string(base_name_of(*this)); }

std::optional<std::size_t> OpSchema::find_argument(std::string_view argument_name) const {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (arguments[index].name == argument_name) return index;
  }
  return std::nullopt;
}

std::string print_type(const SchemaType& type) {
  std::string text{print_base_type(type.base)};
  text += print_alias(type.alias);
  if (type.optional_element) text += '?';
  for (const std::optional<std::int64_t>& size : type.list_sizes) {
    text += "[" + (size ? std::to_string(*size) : std::string()) + "]";
  }
  text += print_alias(type.list_alias);
  if (type.optional) text += '?';
  return text;
}

std::string print_schema(const OpSchema& schema) {
  std::vector<std::string> arguments;
  bool in_kwargs = false;
  for (const SchemaArgument& argument : schema.arguments) {
    if (argument.kwarg_only && !std::exchange(in_kwargs, true)) arguments.emplace_back("*");
    arguments.push_back(print_argument(argument));
  }
  std::vector<std::string> returns;
  returns.reserve(schema.returns.size());
  for (const SchemaReturn& result : schema.returns) returns.push_back(print_return(result));

  std::string text = schema.ns + "::" + schema.name;
  if (!schema.overload.empty()) text += "." + schema.overload;
  text += "(" + join_words(arguments, ", ") + ") -> ";
  // PyTorch writes the parentheses unless there is exactly one result.
  if (returns.size() == 1) return text + returns.front();
  return text + "(" + join_words(returns, ", ") + ")";
}

}  // namespace graphgate::spec
