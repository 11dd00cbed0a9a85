// What a call of an op does to memory, as far as its schema tells.
//
// derive_effects reads the schema's alias annotations and nothing else: no list of op names exists.
// The graph, the analyses of the executors, the verifier and the generator all ask here which
// arguments a node writes and which results share storage with them.
//
// "May" semantics: a read or an alias listed here can happen, it need not. `to` returns its
// argument or a copy; `empty_like` reads no byte of its argument. Writes are declared writes. What
// a schema cannot say (hidden state, scratch writes that it hides) stands in the op's row, see
// op_table.h.
//
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, ...) -> Tensor(a!)
//     self is read and written, other is read; return 0 aliases self; in place.
//   aten::split.Tensor(Tensor(a -> *) self, ...) -> Tensor(a)[]
//     every element of return 0 aliases self; a view.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/schema.h"

namespace graphgate::spec {

// One per argument, in the schema's order.
struct ArgumentEffect {
  // Bytes may be read. True for every argument that holds tensors or storages, except `out`
  // arguments, whose bytes from before the call do not matter.
  bool reads = false;
  bool writes = false;  // the annotation has a `!`, on the element or on the list
  bool operator==(const ArgumentEffect&) const = default;
};

// One per return, in the schema's order. For a list, what holds for any of its elements.
struct ReturnEffect {
  // Indices of arguments whose storage the return may share, ascending.
  std::vector<std::size_t> aliases;
  bool operator==(const ReturnEffect&) const = default;
};

struct Effects {
  std::vector<ArgumentEffect> arguments;
  std::vector<ReturnEffect> returns;

  // A return aliases an argument that the op does not write.
  bool is_view = false;
  // A positional argument is written, and either a return aliases it, or it is the first argument
  // and the op's name ends in the one `_` of in-place ops (_foreach_add_ returns nothing).
  bool is_in_place = false;
  // Keyword-only arguments are written and returned: the out= form of an op.
  bool is_out = false;
  // Writes something and returns nothing: only its effect keeps the node alive.
  bool is_effect_only = false;

  // True if any argument is written.
  [[nodiscard]] bool mutates() const;
  // True if that argument is written. `argument` < arguments.size().
  [[nodiscard]] bool mutates(std::size_t argument) const;
  // Indices of the written arguments, ascending.
  [[nodiscard]] std::vector<std::size_t> mutated() const;
  bool operator==(const Effects&) const = default;
};

Effects derive_effects(const OpSchema& schema);

// One line for review, without a newline. Kinds, reads, writes, then each return that aliases:
//   aten.add_.Tensor: in_place; reads self, other; writes self; 0=self
//   aten.split.Tensor: view; reads self; 0=self
//   aten.max.dim_max: out; reads self; writes max, max_values; 0=max, 1=max_values
//   aten.full.default: pure
// Kinds: view, in_place, out, effect_only, mutates (writes, and none of the former), pure (none).
std::string print_effects(const OpSchema& schema, const Effects& effects);

}  // namespace graphgate::spec
