// Whether a graph or a program is valid: what every executor, judge and pass may rely on.
//
// Readers call check_program on everything that comes from outside, and the generator and the
// reducer on what they make. The first fault found is reported in one line that names the place:
//   graph 'true_graph': node 'add' (aten.add.Tensor): argument 'other': ...
// Time and memory grow linearly with the graph (names are hashed).
#pragma once

#include <cstdint>

#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::spec {

// A tensor of more bytes than this is refused, whatever its sizes multiply to.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 46U;

// The structure alone, no op knowledge, for a graph and its subgraphs:
// - ids are in range; subgraph references too;
// - names of values, of nodes and of subgraphs are not empty and differ within a graph;
// - every value is defined exactly once, by an input or a node, before it is read (so that there is
//   no cycle);
// - a result that is no list has exactly one value; graph inputs that are tensors have a type;
// - `type` belongs to tensors only, `expr` and `hint` to symbolic numbers only;
// - sizes and strides have the same length; constant sizes, strides and offsets are >= 0, and the
//   bytes that they span, symbolic sizes counted as 1, are at most kMaxTensorBytes.
[[nodiscard]] Result<void> check_graph(const Graph& graph);

// check_graph, and:
// - every op is in the table (but for higher-order ones): kUnsupported, said last and of all ops at
//   once (missing_op.h); argument names are its schema's, each
//   given once; those without a default are given; kinds fit the schema's types; results fit its
//   returns;
// - inputs and outputs describe the graph's inputs and outputs one by one; targets differ; the
//   targets of mutations exist;
// - every symbol in a type or expression is declared; ranges are not empty and hold the hint;
// - tensors belong to a parameter, buffer or constant, have its dtype, rank and constant sizes, and
//   their storages hold them. A tensor may be missing: see check_tensors_present.
[[nodiscard]] Result<void> check_program(const Program& program, const OpTable& ops);

// The tensors alone, of a program that is valid without them.
[[nodiscard]] Result<void> check_tensors(const Program& program);

// Every parameter, buffer and constant has its tensor: what an executor needs.
[[nodiscard]] Result<void> check_tensors_present(const Program& program);

}  // namespace graphgate::spec
