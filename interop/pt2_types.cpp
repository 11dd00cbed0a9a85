#include "interop/pt2_types.h"

#include <algorithm>

#include "interop/json_fields.h"
#include "interop/sympy_expr.h"
#include "interop/torch_enums.h"

namespace graphgate::interop {

namespace {

constexpr std::string_view kOpsPrefix = "torch.ops.";

Result<std::int64_t> read_hint(const JsonCursor& hint) {
  GRAPHGATE_TRY(const auto only, hint.only_member());
  const auto& [kind, value] = only;
  if (kind == "as_int") return value.as_int();
  if (kind == "as_bool") {
    GRAPHGATE_TRY(const bool flag, value.as_bool());
    return std::int64_t{flag};
  }
  return value.unsupported_here("a hint of this kind");
}

Result<SymbolicNumber> read_expression(const JsonCursor& expression, bool needs_expr,
                                       ReadContext& context) {
  SymbolicNumber number;
  GRAPHGATE_TRY(const JsonCursor text_cursor, expression.member("expr_str"));
  GRAPHGATE_TRY(const std::string text, text_cursor.as_string());
  const auto known = context.expressions.find(text);
  if (known != context.expressions.end()) {
    number.expr = known->second;
  } else {
    auto parsed = parse_sympy(text);
    const bool opaque = !parsed.ok() && parsed.error().kind == ErrorKind::kUnsupported;
    if (!parsed.ok() && (needs_expr || !opaque)) return parsed.error().at(text_cursor.place());
    if (!opaque) {
      number.expr = std::move(parsed).value();
      context.expressions.emplace(text, *number.expr);
      for (std::string& symbol : spec::free_symbols(*number.expr)) {
        context.symbols.try_emplace(std::move(symbol));
      }
    }
  }
  GRAPHGATE_TRY(const auto hint, expression.find_member("hint"));
  if (!hint) return number;
  if (hint->json().contains("as_float")) return number;
  GRAPHGATE_TRY(number.hint, read_hint(*hint));
  if (number.expr && number.expr->op() == spec::SymOp::kSymbol) {
    auto& info = context.symbols[number.expr->name()];
    if (!info.hint) info.hint = number.hint;
  }
  return number;
}

Result<spec::SymExpr> read_extent(const JsonCursor& cursor, ReadContext& context) {
  GRAPHGATE_TRY(SymbolicNumber number, read_symbolic(cursor, true, context));
  if (number.expr->is_constant() && number.expr->constant() < 0) {
    return cursor.error("is negative: " + std::to_string(number.expr->constant()));
  }
  return std::move(*number.expr);
}

Result<std::vector<spec::SymExpr>> read_extents(const JsonCursor& list, ReadContext& context) {
  return read_elements(list, [&](const auto& cursor) { return read_extent(cursor, context); });
}

// Whether the constant sizes alone make a tensor that fits an address space.
bool is_addressable(const spec::TensorType& type) {
  std::vector<std::int64_t> sizes;
  for (const spec::SymExpr& size : type.sizes) {
    if (size.is_constant()) sizes.push_back(size.constant());
  }
  const auto count = spec::checked_element_count(sizes);
  return count && *count <= kMaxTensorBytes / spec::item_size_bytes(type.dtype);
}

}  // namespace

Result<SymbolicNumber> read_symbolic(const JsonCursor& number, bool needs_expr,
                                     ReadContext& context) {
  GRAPHGATE_TRY(const auto only, number.only_member());
  const auto& [kind, value] = only;
  if (kind == "as_expr") return read_expression(value, needs_expr, context);
  if (kind == "as_int") {
    GRAPHGATE_TRY(const std::int64_t constant, value.as_int());
    return SymbolicNumber{spec::SymExpr(constant), std::nullopt};
  }
  if (kind == "as_bool") {
    GRAPHGATE_TRY(const bool constant, value.as_bool());
    return SymbolicNumber{spec::SymExpr(std::int64_t{constant}), std::nullopt};
  }
  if (kind == "as_float" && !needs_expr) {
    GRAPHGATE_TRY_VOID(value.as_double());
    return SymbolicNumber{};
  }
  return value.error("unknown kind of number");
}

Result<spec::Device> read_device(const JsonCursor& device) {
  spec::Device out;
  GRAPHGATE_TRY(const JsonCursor type, device.member("type"));
  GRAPHGATE_TRY(out.type, type.as_string());
  if (out.type.empty()) return type.error("expected the name of a device type");
  GRAPHGATE_TRY(const auto index, device.find_member("index"));
  if (!index) return out;
  GRAPHGATE_TRY(const std::int64_t number, index->as_int());
  if (number < 0 || number > 1023) return index->error("expected an index of 0 to 1023");
  out.index = static_cast<int>(number);
  return out;
}

Result<spec::TensorType> read_tensor_type(const JsonCursor& meta, ReadContext& context) {
  spec::TensorType type;
  GRAPHGATE_TRY(const JsonCursor dtype, meta.member("dtype"));
  GRAPHGATE_TRY(type.dtype, read_number_of(dtype, dtype_of_number));
  GRAPHGATE_TRY(const JsonCursor layout, meta.member("layout"));
  GRAPHGATE_TRY(type.layout, read_number_of(layout, layout_of_number));
  GRAPHGATE_TRY(type.device, read_member(meta, "device", read_device));
  GRAPHGATE_TRY(const JsonCursor sizes, meta.member("sizes"));
  GRAPHGATE_TRY(type.sizes, read_extents(sizes, context));
  GRAPHGATE_TRY(const JsonCursor strides, meta.member("strides"));
  GRAPHGATE_TRY(type.strides, read_extents(strides, context));
  GRAPHGATE_TRY(const JsonCursor offset, meta.member("storage_offset"));
  GRAPHGATE_TRY(type.storage_offset, read_extent(offset, context));
  if (type.strides.size() != type.sizes.size()) {
    return strides.error("expected " + std::to_string(type.sizes.size()) +
                         " strides, one for each size, found " +
                         std::to_string(type.strides.size()));
  }
  if (!is_addressable(type)) return sizes.error("the tensor is larger than any address space");
  return type;
}

std::string op_of_target(std::string_view target) {
  if (target.starts_with(kOpsPrefix)) target.remove_prefix(kOpsPrefix.size());
  return std::string(target);
}

std::string target_of_op(std::string_view op) {
  // "_operator.mul", "math.trunc", "torch.sym_max": a Python function has no overload.
  const bool is_python = op.starts_with("_operator.") || op.starts_with("math.") ||
                         (op.starts_with("torch.") && std::count(op.begin(), op.end(), '.') == 1);
  return is_python ? std::string(op) : std::string(kOpsPrefix) + std::string(op);
}

}  // namespace graphgate::interop
