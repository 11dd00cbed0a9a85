#include "spec/type_text.h"

#include <algorithm>

#include "spec/sym_expr_text.h"

namespace graphgate::spec {
namespace {

using Expressions = std::vector<SymExpr>;

std::string print_list(const Expressions& list) {
  std::string text;
  for (const SymExpr& expr : list) {
    if (!text.empty()) text += ", ";
    text += print_sym_expr(expr);
  }
  return text;
}

// A list up to `close`; the opening mark is taken already.
Result<Expressions> read_list(TextReader& reader, std::string_view close) {
  Expressions list;
  if (reader.accept(close)) return list;
  do {
    GRAPHGATE_TRY(list.emplace_back(), read_sym_expr(reader));
  } while (reader.accept(","));
  if (!reader.accept(close)) return reader.expected("',' or '" + std::string(close) + "'");
  return list;
}

Result<Expressions> read_strides(TextReader& reader, const Token& start, const Expressions& sizes) {
  if (reader.accept("{")) return read_list(reader, "}");
  auto strides = default_strides(sizes);
  if (!strides) {
    return reader.error_at(
        start, "expected sizes whose product fits in 64 bits, found [" + print_list(sizes) + "]");
  }
  return std::move(*strides);
}

// `on DEVICE` and `layout none`, both optional.
Result<void> read_placement(TextReader& reader, TensorType& type) {
  if (reader.accept("on")) {
    GRAPHGATE_TRY(type.device, read_device(reader));
  }
  if (!reader.accept("layout")) return {};
  const auto layout = parse_layout(reader.peek().text);
  if (!layout) return reader.expected("a layout, strided or none");
  (void)reader.take();
  type.layout = *layout;
  return {};
}

std::optional<std::vector<std::int64_t>> constants(const Expressions& list) {
  std::vector<std::int64_t> values;
  values.reserve(list.size());
  for (const SymExpr& expr : list) {
    if (!expr.is_constant()) return std::nullopt;
    values.push_back(expr.constant());
  }
  return values;
}

}  // namespace

std::optional<Expressions> default_strides(const Expressions& sizes) {
  Expressions strides(sizes.size(), SymExpr(1));
  std::int64_t factor = 1;
  Expressions symbolic;  // the symbolic sizes to the right, left to right
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (symbolic.empty()) {
      strides[i] = SymExpr(factor);
    } else if (symbolic.size() == 1 && factor == 1) {
      strides[i] = symbolic.front();
    } else {
      Expressions operands = symbolic;
      if (factor != 1) operands.insert(operands.begin(), SymExpr(factor));
      strides[i] = SymExpr::apply(SymOp::kMul, std::move(operands));
    }
    if (!sizes[i].is_constant()) {
      symbolic.insert(symbolic.begin(), sizes[i]);
      continue;
    }
    const std::int64_t size = std::max<std::int64_t>(sizes[i].constant(), 1);
    if (i > 0 && __builtin_mul_overflow(factor, size, &factor)) return std::nullopt;
  }
  return strides;
}

std::string print_device_name(const Device& device) {
  if (is_word(device.type)) return print_device(device);
  return quote_string(print_device(device));
}

Result<Device> read_device(TextReader& reader) {
  const Token start = reader.peek();
  GRAPHGATE_TRY(std::string text, reader.take_name("a device"));
  if (reader.accept(":")) {
    GRAPHGATE_TRY(const Token index, reader.expect(TokenKind::kInteger, "a device index"));
    text += ":" + std::string(index.text);
  }
  const auto device = parse_device(text);
  if (!device) return reader.error_at(start, "expected a device, found '" + text + "'");
  return *device;
}

std::string print_tensor_type(const TensorType& type) {
  std::string text = std::string(short_name(type.dtype)) + "[" + print_list(type.sizes) + "]";
  if (default_strides(type.sizes) != type.strides) text += "{" + print_list(type.strides) + "}";
  if (type.storage_offset != SymExpr(0)) text += "@" + print_sym_expr(type.storage_offset);
  if (type.device != Device{}) text += " on " + print_device_name(type.device);
  if (type.layout != Layout::kStrided) text += " layout " + std::string(layout_name(type.layout));
  return text;
}

Result<TensorType> read_tensor_type(TextReader& reader) {
  const Token start = reader.peek();
  const auto dtype = parse_dtype(start.text);
  if (start.kind != TokenKind::kWord || !dtype) {
    return reader.expected("a dtype (f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u8 bool)");
  }
  (void)reader.take();
  TensorType type;
  type.dtype = *dtype;
  GRAPHGATE_TRY_VOID(reader.expect("["));
  GRAPHGATE_TRY(type.sizes, read_list(reader, "]"));
  GRAPHGATE_TRY(type.strides, read_strides(reader, start, type.sizes));
  if (reader.accept("@")) {
    GRAPHGATE_TRY(type.storage_offset, read_sym_expr(reader));
  }
  GRAPHGATE_TRY_VOID(read_placement(reader, type));
  return type;
}

std::optional<HostTensor> concrete_geometry(const TensorType& type) {
  auto sizes = constants(type.sizes);
  auto strides = constants(type.strides);
  if (!sizes || !strides || !type.storage_offset.is_constant()) return std::nullopt;
  HostTensor tensor;
  tensor.dtype = type.dtype;
  tensor.sizes = std::move(*sizes);
  tensor.strides = std::move(*strides);
  tensor.storage_offset = type.storage_offset.constant();
  tensor.device = type.device;
  return tensor;
}

TensorType type_of(const HostTensor& tensor) {
  TensorType type;
  type.dtype = tensor.dtype;
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.strides.assign(tensor.strides.begin(), tensor.strides.end());
  type.storage_offset = SymExpr(tensor.storage_offset);
  type.device = tensor.device;
  return type;
}

}  // namespace graphgate::spec
