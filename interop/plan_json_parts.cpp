#include "interop/plan_json_parts.h"

#include <algorithm>
#include <array>
#include <limits>

#include "spec/plan_text.h"
#include "spec/type_text.h"

namespace graphgate::interop {

using spec::Argument;

namespace {

// In the order of ValueKind.
constexpr std::array<std::string_view, 6> kValueKinds = {"tensor",   "tensors", "symint",
                                                         "symfloat", "symbool", "none"};
static_assert(kValueKinds.size() == static_cast<std::size_t>(spec::ValueKind::kNone) + 1);

std::optional<spec::ValueKind> parse_value_kind(std::string_view name) {
  const auto* const found = std::find(kValueKinds.begin(), kValueKinds.end(), name);
  if (found == kValueKinds.end()) return std::nullopt;
  return static_cast<spec::ValueKind>(found - kValueKinds.begin());
}

Result<spec::SymExpr> read_expr(const JsonCursor& cursor) {
  if (!cursor.json().is_string()) {
    GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
    return spec::SymExpr(number);
  }
  GRAPHGATE_TRY(const std::string text, cursor.as_string());
  auto expr = spec::parse_sym_expr(text);
  if (!expr.ok()) return cursor.error(expr.error().message);
  return expr;
}

Result<spec::TensorType> read_type(const JsonCursor& cursor) {
  GRAPHGATE_TRY_VOID(
      expect_members(cursor, {"dtype", "sizes", "strides", "storage_offset", "device", "layout"}));
  spec::TensorType type;
  GRAPHGATE_TRY(type.dtype, read_word(cursor, "dtype", "a dtype", spec::parse_dtype));
  GRAPHGATE_TRY(const JsonCursor sizes, cursor.member("sizes"));
  GRAPHGATE_TRY(type.sizes, read_elements(sizes, read_expr));
  GRAPHGATE_TRY_VOID(read_list(cursor, "strides", type.strides, read_expr));
  GRAPHGATE_TRY(const auto strides, cursor.find_member("strides"));
  if (!strides) {
    auto dense = spec::default_strides(type.sizes);
    if (!dense) return cursor.error("expected sizes whose product fits in 64 bits");
    type.strides = std::move(*dense);
  }
  GRAPHGATE_TRY_VOID(read_optional(cursor, "storage_offset", type.storage_offset, read_expr));
  GRAPHGATE_TRY(const auto device, cursor.find_member("device"));
  if (device) {
    GRAPHGATE_TRY(type.device, read_word(*device, "a device", spec::parse_device));
  }
  GRAPHGATE_TRY(const auto layout, cursor.find_member("layout"));
  if (layout) {
    GRAPHGATE_TRY(type.layout, read_word(*layout, "strided or none", spec::parse_layout));
  }
  return type;
}

class StepReader {
 public:
  explicit StepReader(const PlanNames& names) : names_(names) {}

  Result<spec::PlanStep> read_step(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "op", "arguments", "results", "body",
                                               "stream", "waits", "records", "workspace"}));
    spec::PlanStep step;
    GRAPHGATE_TRY(step.node, read_node(cursor));
    const auto read_inner = [&](const JsonCursor& element) -> Result<spec::Node> {
      GRAPHGATE_TRY_VOID(expect_members(element, {"name", "op", "arguments", "results"}));
      return read_node(element);
    };
    GRAPHGATE_TRY_VOID(read_list(cursor, "body", step.body, read_inner));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "stream", step.stream));
    GRAPHGATE_TRY_VOID(read_list(cursor, "waits", step.waits, read_event));
    GRAPHGATE_TRY_VOID(read_list(cursor, "records", step.records, read_event));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "workspace", step.workspace, names_.buffers.user()));
    return step;
  }

  // parse_json bounds how deep lists nest.
  Result<Argument> read_argument(const JsonCursor& cursor) {
    const Json& json = cursor.json();
    if (json.is_null()) return Argument{spec::None{}};
    if (json.is_boolean()) return Argument{json.get<bool>()};
    if (json.is_string()) return Argument{json.get<std::string>()};
    if (json.is_number_float()) return Argument{json.get<double>()};
    if (json.is_number()) {
      GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
      return Argument{number};
    }
    if (json.is_object()) return read_tagged(cursor);
    GRAPHGATE_TRY(Argument::List list, read_elements(cursor, [this](const JsonCursor& element) {
                    return read_argument(element);
                  }));
    return Argument{std::move(list)};
  }

 private:
  // What steps and the nodes of bodies have alike.
  Result<spec::Node> read_node(const JsonCursor& cursor) {
    spec::Node node;
    GRAPHGATE_TRY(node.name, read_string(cursor, "name"));
    GRAPHGATE_TRY(node.op, read_string(cursor, "op"));
    GRAPHGATE_TRY_VOID(
        read_list(cursor, "arguments", node.arguments,
                  [this](const JsonCursor& element) { return read_named_argument(element); }));
    GRAPHGATE_TRY_VOID(
        read_list(cursor, "results", node.results,
                  [this](const JsonCursor& element) { return read_result(element); }));
    return node;
  }

  Result<spec::NamedArgument> read_named_argument(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "argument"}));
    spec::NamedArgument named;
    GRAPHGATE_TRY_VOID(read_optional(cursor, "name", named.name));
    GRAPHGATE_TRY(const JsonCursor argument, cursor.member("argument"));
    GRAPHGATE_TRY(named.argument, read_argument(argument));
    return named;
  }

  // A name, or a list of names. By number, also what is no list and has not one value.
  Result<spec::NodeResult> read_result(const JsonCursor& cursor) {
    spec::NodeResult result;
    result.is_list = cursor.json().is_array();
    const bool is_odd = cursor.json().is_object() && names_.references == PlanReferences::kByNumber;
    if (!result.is_list && !is_odd) {
      GRAPHGATE_TRY(result.values.emplace_back(), names_.values.use(cursor));
      return result;
    }
    JsonCursor list = cursor;
    if (is_odd) {
      GRAPHGATE_TRY(list, cursor.member("no_list"));
    }
    GRAPHGATE_TRY(result.values, read_elements(list, names_.values.user()));
    return result;
  }

  static Result<spec::EventId> read_event(const JsonCursor& cursor) {
    GRAPHGATE_TRY(const std::uint32_t index, as_count(cursor));
    return spec::EventId{index};
  }

  Result<Argument> read_tagged(const JsonCursor& object) {
    GRAPHGATE_TRY(const auto member, object.only_member());
    const auto& [tag, cursor] = member;
    const auto wrap = [](auto result) -> Result<Argument> {
      if (!result.ok()) return result.error();
      return Argument{std::move(result).value()};
    };
    if (tag == "value") return wrap(names_.values.use(cursor));
    if (tag == "block") return wrap(names_.blocks.use(cursor));
    if (tag == "float") return wrap(read_float(cursor));
    if (tag == "complex") return wrap(read_complex(cursor));
    if (tag == "dtype") return wrap(read_word(cursor, "a dtype", spec::parse_dtype));
    if (tag == "device") return wrap(read_word(cursor, "a device", spec::parse_device));
    if (tag == "layout") return wrap(read_word(cursor, "strided or none", spec::parse_layout));
    if (tag == "memory_format") {
      return wrap(read_word(cursor, "a memory format", spec::parse_memory_format));
    }
    if (tag == "op") {
      GRAPHGATE_TRY(std::string name, cursor.as_string());
      return Argument{spec::OpName{std::move(name)}};
    }
    return object.error(
        "expected value, block, float, complex, dtype, device, layout, memory_format or op, found "
        "\"" +
        std::string(tag) + "\"");
  }

  const PlanNames& names_;
};

}  // namespace

std::string_view value_kind_name(spec::ValueKind kind) {
  return kValueKinds[static_cast<std::size_t>(kind)];
}

Result<spec::PlanValue> read_plan_value(const JsonCursor& cursor, PlanNames& names) {
  GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "kind", "type", "expr", "hint", "buffer"}));
  spec::PlanValue value;
  GRAPHGATE_TRY(value.value.name, names.values.define(cursor));
  GRAPHGATE_TRY(const auto kind, cursor.find_member("kind"));
  if (kind) {
    GRAPHGATE_TRY(value.value.kind,
                  read_word(*kind, "tensor, symint, symfloat, symbool or none", parse_value_kind));
  }
  GRAPHGATE_TRY_VOID(read_optional(cursor, "type", value.value.type, read_type));
  GRAPHGATE_TRY_VOID(read_optional(cursor, "expr", value.value.expr, read_expr));
  GRAPHGATE_TRY_VOID(read_optional(cursor, "hint", value.value.hint, &JsonCursor::as_int));
  GRAPHGATE_TRY_VOID(read_optional(cursor, "buffer", value.buffer, names.buffers.user()));
  return value;
}

Result<spec::PlanStep> read_plan_step(const JsonCursor& cursor, const PlanNames& names) {
  return StepReader(names).read_step(cursor);
}

Result<Argument> read_plan_argument(const JsonCursor& cursor, const PlanNames& names) {
  return StepReader(names).read_argument(cursor);
}

Result<void> read_plan_arguments(const JsonCursor& object, std::string_view key,
                                 const PlanNames& names, std::vector<Argument>& arguments) {
  return read_list(object, key, arguments,
                   [&](const JsonCursor& element) { return read_plan_argument(element, names); });
}

}  // namespace graphgate::interop
