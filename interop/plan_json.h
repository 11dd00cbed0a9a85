// Plans as JSON: how a plan of another executor gets here, and how one of ours gets out.
//
// The document has what spec::Plan has, member by member; docs/formats.md describes each. Pools,
// buffers, values and blocks are referred to by name, steps by their place. Members that have a
// default may be missing; unknown members are refused, so that a misspelt one is not ignored.
//
//   {"graphgate_plan": 1,
//    "name": "tiny",
//    "pools": [{"name": "arena", "kind": "arena", "device": "cuda", "size_bytes": 1536}],
//    "buffers": [{"name": "y", "pool": "arena", "offset_bytes": 0, "size_bytes": 512}],
//    "values": [{"name": "y", "type": {"dtype": "float32", "sizes": [8, 16]}, "buffer": "y"}],
//    "steps": [{"name": "mul", "op": "aten.mul.Tensor", "results": ["y"],
//      "arguments": [{"name": "self", "argument": {"value": "x"}}]}],
//    "blocks": [{"name": "main", "partitions": [{"captured": true, "begin_step": 0, "end_step":
//    1}]}],
//    ...}
//
// Invariant: read(print(p)) == p for plans that check_plan accepts, but that NaN differs from
// itself.
//
// A plan that check_plan refuses may have names twice and ids of nothing. Such a plan is kept by
// number: every reference is the id itself, whatever it is, and nothing is checked. The document
// says so ("references": "numbers"), and each form refuses the other.
#pragma once

#include <string>
#include <string_view>

#include "interop/json_cursor.h"
#include "spec/plan.h"

namespace graphgate::interop {

inline constexpr std::int64_t kPlanJsonVersion = 1;

enum class PlanReferences : std::uint8_t { kByName, kByNumber };

// The document, with one pool, buffer, value, step or block a line. By name, the ids in the plan
// must be in range. Fails (kUnsupported) where a name or text is no UTF-8, which JSON cannot say.
[[nodiscard]] Result<std::string> print_plan_json(
    const spec::Plan& plan, PlanReferences references = PlanReferences::kByName);

// Errors name the place: "plan.json: steps[3].arguments[0].argument: ...". By name, the
// plan passes check_plan; no op table is asked, so ops and the names of their arguments are as they
// stand.
[[nodiscard]] Result<spec::Plan> read_plan_json(
    std::string_view text, std::string_view file,
    PlanReferences references = PlanReferences::kByName);

}  // namespace graphgate::interop
