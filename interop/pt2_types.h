// Sizes, tensor types and the state that is shared while one .pt2 is read.
//
// Used by the graph, weight and signature readers of this folder only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interop/json_cursor.h"
#include "spec/program.h"

namespace graphgate::interop {

// What the parts of one program share while it is read.
struct ReadContext {
  // Every symbol met so far, with the hint of its first plain occurrence. Ranges come at the end.
  std::map<std::string, spec::SymbolInfo, std::less<>> symbols;
  // "GRAPH/VALUE" -> the SymInt, SymBool or SymFloat as written, where no SymExpr says the same.
  Json opaque_values = Json::object();
  // Paths of the graphs that return a bare tensor and not a tuple.
  Json single_returns = Json::array();
  // Nodes of higher-order ops that do so, as "GRAPH/NODE".
  Json bare_nodes = Json::array();
  // Nodes by path of their graph that stood in a region of autocast for the CPU, on or off: the
  // casts of another region around that one are not theirs.
  std::map<std::string, std::unordered_set<std::string>, std::less<>> settled_casts;
  // Texts seen before: large programs repeat few expressions.
  std::unordered_map<std::string, spec::SymExpr> expressions;
};

// A symbolic number of the schema: {"as_int": 4} or {"as_expr": {"expr_str", "hint"}}.
struct SymbolicNumber {
  std::optional<spec::SymExpr> expr;  // absent: an expression without an integer meaning
  std::optional<std::int64_t> hint;
};

// Reads one; notes the symbols in it and their hints. With `needs_expr`, an expression without an
// integer meaning is kUnsupported instead of absent.
[[nodiscard]] Result<SymbolicNumber> read_symbolic(const JsonCursor& number, bool needs_expr,
                                                   ReadContext& context);

// TensorMeta of the schema. Constant sizes, strides and offsets must be >= 0 and the elements must
// fit an address space.
[[nodiscard]] Result<spec::TensorType> read_tensor_type(const JsonCursor& meta,
                                                        ReadContext& context);

[[nodiscard]] Result<spec::Device> read_device(const JsonCursor& device);

// What a number of the schema stands for (torch_enums.h).
template <class T>
[[nodiscard]] Result<T> read_number_of(const JsonCursor& cursor,
                                       Result<T> (*lookup)(std::int64_t)) {
  GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
  Result<T> value = lookup(number);
  if (!value.ok()) return value.error().at(cursor.place());
  return value;
}

// "torch.ops.aten.add.Tensor" -> "aten.add.Tensor"; Python functions stay as they are. And back.
[[nodiscard]] std::string op_of_target(std::string_view target);
[[nodiscard]] std::string target_of_op(std::string_view op);

// Element bytes that no machine can address; larger tensors are refused wherever they are met.
inline constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 47;

}  // namespace graphgate::interop
