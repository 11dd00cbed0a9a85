// Plans as text: one step a line, so that a change of a plan reads well in a review.
//
//   plan "tiny" strict {
//     pool @arena arena on cuda 1536 align 256
//     buffer $y @arena [0, 512)
//     ...
//     input user "x" %x : f32[8, 16] $x
//     block @main {
//       partition 0 captured {
//         in $x, free $t
//         out $y
//         %y : f32[8, 16] $y = aten.mul.Tensor(%x, 2.0) as mul stream 1 wait 0
//         %y = aten.add_.Tensor(%y, 1.0) as add_
//         view %t : f32[16, 8]{1, 16} $y
//         %z : f32[8, 8] $z = graphgate.fused(%x, %t) {
//           %d : f32[8, 8] = aten.mm.default(%x, %t)
//           %z = aten.relu.default(%d)
//         }
//       }
//       partition 1 eager "conditional" { ... }
//     }
//     output %z
//   }
//
// Steps look like the nodes of graph text (graph_text.h); a result that is there already is updated
// in place. A view stands directly before the first line that mentions it; those that nothing
// mentions stand last. The full grammar is in docs/formats.md. Stored plans, tests and plan_diff.h
// use it.
//
// Invariants, for plans that check_plan accepts, whose ops are in the table, and which number_plan
// leaves as they are: parse(print(p)) == p (but NaN differs from itself). For text that the printer
// made: print(parse(s)) == s.
#pragma once

#include <string>
#include <string_view>

#include "spec/op_table.h"
#include "spec/plan.h"

namespace graphgate::spec {

// The canonical text, ending in a line end. The ids in the plan must be in range.
[[nodiscard]] std::string print_plan(const Plan& plan, const OpTable& ops);

// Errors: "SOURCE:LINE:COLUMN: expected ..., found ...". What is parsed is well formed, not yet
// valid: see check_plan.
[[nodiscard]] Result<Plan> parse_plan(std::string_view text, const OpTable& ops,
                                      std::string_view source_name = "plan");

// The same plan in the numbering of its text: steps block by block, values in the order of
// definition, views where their lines stand. Lifetimes that are all strong are left out. The plan
// must pass check_plan.
[[nodiscard]] Plan number_plan(Plan plan);

// A graph that has the plan's values, and its blocks as empty subgraphs: what print_node and
// print_argument take for a plan's steps and arguments.
[[nodiscard]] Graph plan_names(const Plan& plan);

// "state", "input", "arena", "heap", "caller".
[[nodiscard]] std::string_view pool_kind_name(PoolKind kind);
[[nodiscard]] std::optional<PoolKind> parse_pool_kind(std::string_view name);

// "parameter", "buffer", "constant", "user".
[[nodiscard]] std::string_view input_kind_name(InputKind kind);
[[nodiscard]] std::optional<InputKind> parse_input_kind(std::string_view name);

}  // namespace graphgate::spec
