// The op table: every op that graphs may hold, by schema string, with what a schema cannot say.
//
// builtin_op_table() is made from spec/ops/*.txt, which the build embeds. A user registers custom
// ops with add_text on a copy of it. The graph parser, importers, executors and `graphgate ops`
// look ops up here; none of them keeps a list of ops of its own.
//
// Text format, one op a line; blank lines and lines that start with `#` are skipped:
//
//   SCHEMA [; KEY=NAME[,NAME...]]...
//   aten::relu(Tensor self) -> Tensor ; tags=core,pointwise
//   vllm::attend(Tensor q, Tensor(a!) out, str layer) -> () ; hidden_reads=layer ; orders=kv
//
//   tags               PyTorch's names: core, pointwise, reduction, inplace_view,
//   cudagraph_unsafe... hidden_reads      state that the op reads though no argument carries it (a
//   KV cache) hidden_writes     state that it writes so undeclared_writes tensor arguments that it
//   writes though the schema has no `!` (scratch) orders            tokens: calls of ops that share
//   one keep their order
//
// A name in hidden_reads and hidden_writes that is the name of an argument of type str stands for
// the state named by that argument's value (layer_name="model.layers.0"). Any other name is itself
// the name of one state that all calls share.
//
// Each key at most once on a line. Ops that hold subgraphs (cond, auto_functionalized_v2) are not
// here: the graph knows them. Python functions over symbolic numbers are, as pseudo schemas in the
// namespaces `_operator`, `math` and `torch` (is_python_namespace in schema.h).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "spec/effects.h"
#include "spec/schema.h"

namespace graphgate::spec {

struct OpRow {
  OpSchema schema;
  Effects effects;  // derive_effects(schema): what is declared, and only that
  std::vector<std::string> tags;
  std::vector<std::string> hidden_state_reads;
  std::vector<std::string> hidden_state_writes;
  std::vector<std::string> undeclared_writes;  // argument names
  // Argument names. dropout out of training and type_as of the same dtype return their argument.
  std::vector<std::string> undeclared_aliases;
  std::vector<std::string> orders;  // ordering tokens

  [[nodiscard]] bool has_tag(std::string_view tag) const;
  // Declared or undeclared: what really happens. `argument` < schema.arguments.size().
  [[nodiscard]] bool writes(std::size_t argument) const;
  // The argument of type str whose value names this state; nothing if `state` names it itself.
  [[nodiscard]] std::optional<std::size_t> state_argument(std::string_view state) const;
};

// Ops by qualified name. Rows stay where they are: a pointer from find() lives as long as the table
// or a copy of it, and survives add_text. Copies share rows, and those of the built-in table share
// its list of names as well: a copy with a few ops more costs these.
//
// A row of the built-in table is read from its line when somebody asks for it: a process that looks
// a few ops up does not read all 2,100. rows() reads them all.
class OpTable {
 public:
  using Rows = std::map<std::string, std::shared_ptr<const OpRow>, std::less<>>;

  // Adds the ops of a text. All or nothing: on an error the table is as before. Errors start with
  // "SOURCE:LINE: column N:". An op that is there already, from this text or before, is an error;
  // but in a copy of the built-in table a row may replace a custom op of spec/ops/custom.txt, once.
  Result<void> add_text(std::string_view text, std::string_view source_name);

  // "aten.add_.Tensor", "aten.mm.default", "_operator.mul"; null if there is none.
  [[nodiscard]] const OpRow* find(std::string_view qualified_name) const;

  // Every overload of a family, in name order. `base` is namespace and base name: "aten.add" gives
  // aten.add.Tensor, aten.add.out, aten.add_.Tensor...
  [[nodiscard]] std::vector<const OpRow*> find_by_base_name(std::string_view base) const;

  // Every overload of a name: "aten.add_" gives aten.add_.Tensor, aten.add_.Scalar.
  [[nodiscard]] std::vector<const OpRow*> find_overloads(std::string_view name) const;

  // A list of all, in byte order of qualified names.
  [[nodiscard]] Rows rows() const;
  [[nodiscard]] std::size_t size() const;

 private:
  // A line of an embedded text, and its row once somebody has asked for it.
  class Line {
   public:
    Line(std::string_view text, std::string_view source_name, std::size_t number)
        : text_(text), source_name_(source_name), number_(number) {}
    // Returns the row, the same one every time; safe from several threads. `name` is its qualified
    // name. A line that is broken stops the process with the message.
    [[nodiscard]] const std::shared_ptr<const OpRow>& row(std::string_view name) const;

   private:
    std::string_view text_;
    std::string_view source_name_;
    std::size_t number_;
    mutable std::once_flag read_;
    mutable std::shared_ptr<const OpRow> row_;
  };
  // What copies have in common: nobody sees it change.
  struct Shared {
    std::map<std::string, Line, std::less<>> lines;
    std::unordered_map<std::string_view, const Line*> by_name;  // the keys of `lines`
  };
  friend const OpTable& builtin_op_table();
  static std::shared_ptr<const Shared> builtin_lines();
  [[nodiscard]] std::vector<const OpRow*> find_from(std::string_view prefix) const;

  std::shared_ptr<const Shared> shared_;  // null where nothing is shared
  Rows added_;
};

// One line of the text format, without a newline: what add_text reads back to the same row.
std::string print_row(const OpRow& row);

// The table of the embedded files. Built once, at the first call; safe from several threads. A
// broken embedded file is a programmer's error: the process stops with the message, at the first
// call or where the broken line is asked for.
const OpTable& builtin_op_table();

// An embedded file: its path in the repository and its text. The build generates the definitions
// (graphgate_embed_text in cmake/embed_text.cmake) from spec/ops/*.txt.
extern const std::string_view kBuiltinOpTexts[];
extern const std::string_view kBuiltinOpTextsNames[];
extern const std::size_t kBuiltinOpTextsCount;

}  // namespace graphgate::spec
