// Programs as text: short enough to write by hand in a test and to paste into a bug report.
//
//   program "tiny" {
//     symbol s0 in [1, 64] hint 8
//     parameter %w "layer.weight" : f32[16, 16]
//     buffer %state "state" : f32[4] = [0.0, 0.0, 0.0, 0.0]
//     input %x : f32[s0, 16]
//     graph @scale {
//       input %y : f32[s0, 16]
//       %z = aten.mul.Tensor(%y, 2.0)
//       output %z
//     }
//     %p = aten.sum.default(%state)
//     %q = aten.gt.Scalar(%p, 0)
//     %c = higher_order.cond(%q, @scale, @scale, [%x])
//     %v : f32[s0], %i = aten.max.dim(%c, 1)
//     (%l, %r) = aten.split.Tensor(%v, 4) as halves
//     mutation buffer "state" %l
//     output %i
//   }
//
// Lines stand in this order: annotation, symbol, inputs of all kinds, graph, nodes, outputs. The
// full grammar is in docs/formats.md. Judges, the reducer and tests read and write it; case_file.h
// holds programs in it.
//
// Invariants, for programs that check_program accepts and whose values are numbered as
// number_values_by_definition numbers them: parse(print(p)) == p but for tensors that were not
// printed. For text that the printer made: print(parse(s)) == s.
//
// Arguments are stored by their schema's names. The text leaves the names of leading arguments out
// as Python does, so both directions need the op table. Ops in the namespace higher_order have no
// schema: their arguments keep the name that the text gives, or none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/missing_op.h"
#include "spec/op_table.h"
#include "spec/program.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

struct PrintOptions {
  // Tensors of Program::tensors whose storage has at most this many bytes are printed with their
  // elements; of the others only the type is. -1: no tensor is.
  std::int64_t max_inline_bytes = -1;
};

// The canonical text, ending in a line end. The ids in the program must be in range.
[[nodiscard]] std::string print_program(const Program& program, const OpTable& ops,
                                        const PrintOptions& options = {});

// One node of `graph` on one line, without a line end: for messages and reports.
[[nodiscard]] std::string print_node(const Graph& graph, const Node& node, const OpTable& ops);

// Errors: "SOURCE:LINE:COLUMN: expected ..., found ...". What is parsed is well formed, not yet
// valid: see check_program.
[[nodiscard]] Result<Program> parse_program(std::string_view text, const OpTable& ops,
                                            std::string_view source_name = "program",
                                            UnknownOps unknown = UnknownOps::kRefuse);

// The same inside a longer text: starts at the word `program`, stops behind the closing brace. The
// reader notes ops that the table lacks.
[[nodiscard]] Result<Program> read_program(TextReader& reader, const OpTable& ops);

// Renumbers values: inputs first, then results in the order of nodes; subgraphs too. Every value
// must be defined exactly once (check_graph).
[[nodiscard]] Graph number_values_by_definition(Graph graph);
// The same for a program and the inputs that it names by value.
[[nodiscard]] Program number_values_by_definition(Program program);

// Whether an op has no schema: it takes what the text gives, named or not (cond, while_loop,
// auto_functionalized_v2).
[[nodiscard]] bool is_higher_order(std::string_view op);

}  // namespace graphgate::spec
