// An op's schema: name, arguments, results, and what it says about aliasing and writing.
//
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
//   ^ns   ^name ^overload    ^alias        kwarg-only ^        ^default    ^returns
//
// Everything here is plain data. parse_schema reads PyTorch's schema language (the text of
// `torch.ops.aten.add_.Tensor._schema`), print_schema writes it back; effects.h derives from it
// what an op reads, writes and aliases. The op table, the graph text and the importers call these.
//
// Invariant: for text in PyTorch's own spelling, print_schema(parse_schema(s)) == s, byte by byte.
// Defaults keep their source text for that reason: 0.33333333333333331 and `1.` come back as
// written.
//
// Not read: TorchScript-only types (type variables such as `t`, Dict, Future, tuples, classes) and
// variadic `...`. They are refused as kUnsupported; no op on tensors uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace graphgate::spec {

// The type of one element, as the schema language spells it (print_base_type gives the spelling).
enum class BaseType {
  kTensor,
  kInt,
  kSymInt,  // an int that may be a symbolic expression
  kFloat,
  kSymFloat,
  kBool,
  kSymBool,
  kComplex,
  kScalar,  // int, float, bool or complex, symbolic ones included
  kString,
  kScalarType,  // a dtype
  kDevice,
  kLayout,
  kMemoryFormat,
  kQScheme,
  kGenerator,
  kDimname,
  kStorage,
  kStream,
  kAny,
};

// "Tensor", "int", "ScalarType", ...
std::string_view print_base_type(BaseType type);
// The type of that spelling, or nothing.
std::optional<BaseType> find_base_type(std::string_view name);

// An alias annotation: what stands in the parentheses after a type.
//   (a)  (a!)  (a|b)  (a -> *)  (a! -> a|b)  (*)
// Values whose sets share a name may share storage. "*" is the wildcard set: it may share storage
// with any other member of "*". No annotation (present() is false) means: shares with nothing.
struct AliasInfo {
  std::vector<std::string> before;  // the sets the value belongs to when the op starts
  std::vector<std::string> after;   // and when it ends; equals `before` where there is no arrow
  bool writes = false;              // `!`: the op writes the value's bytes

  [[nodiscard]] bool present() const { return !before.empty(); }
  [[nodiscard]] bool is_before_wildcard() const;
  [[nodiscard]] bool is_after_wildcard() const;
  bool operator==(const AliasInfo&) const = default;
};

// A type with its suffixes:   base (alias) ?            for one value
//                             base (alias) ? [n] (alias) ?   for a list
//
//   Tensor(a!)?   base=kTensor  alias={a!}  optional
//   Tensor?[]     base=kTensor  optional_element  list_sizes={any}
//   SymInt[2]?    base=kSymInt  list_sizes={2}    optional
//   Tensor(a)[]   base=kTensor  alias={a}         list_sizes={any}
//   int[](a!)     base=kInt     list_sizes={any}  list_alias={a!}
struct SchemaType {
  BaseType base = BaseType::kTensor;
  AliasInfo alias;                // of the value, or of every element of a list
  bool optional_element = false;  // elements may be None; only in lists
  // One entry for each level of nesting, the innermost first; empty: not a list. A fixed size is a
  // hint of the schema language: one element given alone is repeated so many times.
  std::vector<std::optional<std::int64_t>> list_sizes;
  AliasInfo list_alias;   // of the list itself, not of what it holds
  bool optional = false;  // the value, or the whole list, may be None

  [[nodiscard]] bool is_list() const { return !list_sizes.empty(); }
  [[nodiscard]] bool holds_tensors() const { return base == BaseType::kTensor; }
  // True when the element or the list is annotated with `!`.
  [[nodiscard]] bool writes() const { return alias.writes || list_alias.writes; }
  bool operator==(const SchemaType&) const = default;
};

// A bare word as a default: contiguous_format, Mean, long, cpu. What it stands for depends on the
// argument's type; schemas registered with the dispatcher spell most of them as integers.
struct EnumName {
  std::string name;
  bool operator==(const EnumName&) const = default;
};

// A default, parsed. std::monostate is None.
struct SchemaValue {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, EnumName,
               std::vector<SchemaValue>>
      data;
  [[nodiscard]] bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  bool operator==(const SchemaValue&) const = default;
};

struct SchemaDefault {
  SchemaValue value;
  std::string text;  // exactly as written: "0.33333333333333331", "[0, 1]", "\"linear\""
  // The value follows from the text; comparing values would make a `nan` differ from itself.
  bool operator==(const SchemaDefault& other) const { return text == other.text; }
};

struct SchemaArgument {
  std::string name;
  SchemaType type;
  std::optional<SchemaDefault> default_value;
  bool kwarg_only = false;  // stands after the bare `*`
  bool operator==(const SchemaArgument&) const = default;
};

struct SchemaReturn {
  std::string name;  // empty: unnamed
  SchemaType type;
  bool operator==(const SchemaReturn&) const = default;
};

// Holds these invariants, kept by parse_schema. Argument names differ, and so do return names. An
// annotated return shares a set with some argument, or is in the wildcard set. A default fits its
// type. A positional argument after one with a default has a default too (lists excepted, as in
// PyTorch). Keyword-only arguments come last.
struct OpSchema {
  std::string ns;
  std::string name;
  std::string overload;  // empty for the one that PyTorch calls "default"
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaReturn> returns;

  // What graphs call the op: "aten.add_.Tensor", "aten.mm.default". A Python function over symbolic
  // numbers (see is_python_namespace) has no overloads and is called "_operator.mul".
  [[nodiscard]] std::string qualified_name() const;
  // The op family: the name without the one trailing `_` of an in-place op, which is taken off only
  // if the schema writes the first argument. add_ -> add; __iand__, __and__, add.out: unchanged.
  [[nodiscard]] std::string base_name() const;
  // The index of the argument of that name, or nothing.
  [[nodiscard]] std::optional<std::size_t> find_argument(std::string_view argument_name) const;
  bool operator==(const OpSchema&) const = default;
};

// `_operator`, `math` and `torch` hold plain Python functions, which exported programs call on
// symbolic numbers (_operator.mul, math.ceil, torch.sym_max). The op table gives them pseudo
// schemas in these namespaces.
bool is_python_namespace(std::string_view ns);

// Reads one schema; blanks around it are allowed, anything else after it is an error. Errors name
// the column, 1-based in bytes, and what was expected:
//   column 17: expected ',' or ')' after an argument, found ';'
// kBadInput for text that breaks the language or an invariant of OpSchema, kUnsupported for
// TorchScript-only types.
Result<OpSchema> parse_schema(std::string_view text);

// The schema in PyTorch's spelling.
std::string print_schema(const OpSchema& schema);
std::string print_type(const SchemaType& type);

}  // namespace graphgate::spec
