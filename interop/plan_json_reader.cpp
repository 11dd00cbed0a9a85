#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/plan_json.h"
#include "spec/plan_text.h"
#include "spec/type_text.h"

namespace graphgate::interop {

using spec::Argument;

namespace {

constexpr std::array<std::pair<std::string_view, spec::ValueKind>, 6> kValueKinds = {{
    {"tensor", spec::ValueKind::kTensor},
    {"tensors", spec::ValueKind::kTensorList},
    {"symint", spec::ValueKind::kSymInt},
    {"symfloat", spec::ValueKind::kSymFloat},
    {"symbool", spec::ValueKind::kSymBool},
    {"none", spec::ValueKind::kNone},
}};

std::optional<spec::ValueKind> parse_value_kind(std::string_view name) {
  for (const auto& [known, kind] : kValueKinds) {
    if (known == name) return kind;
  }
  return std::nullopt;
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
  GRAPHGATE_TRY(const JsonCursor dtype, cursor.member("dtype"));
  GRAPHGATE_TRY(type.dtype, read_word(dtype, "a dtype", spec::parse_dtype));
  const auto read_into = [](std::vector<spec::SymExpr>& list) {
    return [&list](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(spec::SymExpr expr, read_expr(element));
      list.push_back(std::move(expr));
      return {};
    };
  };
  GRAPHGATE_TRY(const JsonCursor sizes, cursor.member("sizes"));
  GRAPHGATE_TRY(const auto size_list, sizes.elements());
  for (const JsonCursor& size : size_list) GRAPHGATE_TRY_VOID(read_into(type.sizes)(size));
  GRAPHGATE_TRY_VOID(read_list(cursor, "strides", read_into(type.strides)));
  GRAPHGATE_TRY(const auto strides, cursor.find_member("strides"));
  if (!strides) {
    auto dense = spec::default_strides(type.sizes);
    if (!dense) return cursor.error("expected sizes whose product fits in 64 bits");
    type.strides = std::move(*dense);
  }
  GRAPHGATE_TRY(const auto offset, cursor.find_member("storage_offset"));
  if (offset) {
    GRAPHGATE_TRY(type.storage_offset, read_expr(*offset));
  }
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

// The names of one kind of thing.
template <class IdType>
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}

  // The name of a new thing: the member "name" of an object.
  Result<std::string> define(const JsonCursor& object) {
    GRAPHGATE_TRY(const JsonCursor cursor, object.member("name"));
    GRAPHGATE_TRY(std::string name, cursor.as_string());
    const IdType id{static_cast<std::uint32_t>(ids_.size())};
    if (ids_.try_emplace(name, id).second) return name;
    return cursor.error("expected a new name, found \"" + name + "\" again");
  }

  Result<IdType> use(const JsonCursor& cursor) const {
    return read_word(cursor, "the name of a " + what_,
                     [this](std::string_view name) -> std::optional<IdType> {
                       const auto found = ids_.find(std::string(name));
                       return found == ids_.end() ? std::nullopt : std::optional(found->second);
                     });
  }

 private:
  std::string what_;
  std::unordered_map<std::string, IdType> ids_;
};

class PlanReader {
 public:
  explicit PlanReader(const JsonCursor& root) : root_(root) {}

  Result<spec::Plan> read() {
    GRAPHGATE_TRY_VOID(read_head());
    GRAPHGATE_TRY_VOID(
        read_list(root_, "pools", [this](const auto& cursor) { return read_pool(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "buffers", [this](const auto& cursor) { return read_buffer(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "values", [this](const auto& cursor) { return read_value(cursor); }));
    // Steps name blocks, so that these are defined first.
    GRAPHGATE_TRY_VOID(
        read_list(root_, "blocks", [this](const auto& cursor) { return define_block(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "inputs", [this](const auto& cursor) { return read_input(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "steps", [this](const auto& cursor) { return read_step(cursor); }));
    std::size_t block = 0;
    GRAPHGATE_TRY_VOID(read_list(root_, "blocks", [&](const auto& cursor) {
      return read_block(cursor, plan_.blocks[block++]);
    }));
    GRAPHGATE_TRY_VOID(read_arguments(root_, "outputs", plan_.outputs));
    return std::move(plan_);
  }

 private:
  Result<void> read_head() {
    GRAPHGATE_TRY(const JsonCursor version, root_.member("graphgate_plan"));
    GRAPHGATE_TRY(const std::int64_t number, version.as_int());
    if (number != kPlanJsonVersion) {
      return version.unsupported_here("version " + std::to_string(number) + " of the plan form");
    }
    GRAPHGATE_TRY_VOID(expect_members(
        root_, {"graphgate_plan", "name", "arithmetic", "event_count", "symbols", "pools",
                "buffers", "values", "inputs", "steps", "blocks", "outputs"}));
    GRAPHGATE_TRY(plan_.name, read_string(root_, "name"));
    GRAPHGATE_TRY_VOID(read_optional(root_, "arithmetic", plan_.arithmetic));
    GRAPHGATE_TRY_VOID(read_optional(root_, "event_count", plan_.event_count));
    GRAPHGATE_TRY(const auto symbols, root_.find_member("symbols"));
    if (!symbols) return {};
    GRAPHGATE_TRY(const auto members, symbols->members());
    for (const auto& [name, cursor] : members) {
      GRAPHGATE_TRY(const std::int64_t size, cursor.as_int());
      plan_.symbols.emplace(name, size);
    }
    return {};
  }

  Result<void> read_pool(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(
        expect_members(cursor, {"name", "kind", "device", "size_bytes", "alignment_bytes"}));
    spec::PlanPool pool;
    GRAPHGATE_TRY(pool.name, pools_.define(cursor));
    GRAPHGATE_TRY(const JsonCursor kind, cursor.member("kind"));
    GRAPHGATE_TRY(pool.kind, read_word(kind, "state, input, arena or heap", spec::parse_pool_kind));
    GRAPHGATE_TRY(const JsonCursor device, cursor.member("device"));
    GRAPHGATE_TRY(pool.device, read_word(device, "a device", spec::parse_device));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "size_bytes", pool.size_bytes));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "alignment_bytes", pool.alignment_bytes));
    plan_.pools.push_back(std::move(pool));
    return {};
  }

  Result<void> read_buffer(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "pool", "offset_bytes", "size_bytes"}));
    spec::PlanBuffer buffer;
    GRAPHGATE_TRY(buffer.name, buffers_.define(cursor));
    GRAPHGATE_TRY(const JsonCursor pool, cursor.member("pool"));
    GRAPHGATE_TRY(buffer.pool, pools_.use(pool));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "offset_bytes", buffer.offset_bytes));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "size_bytes", buffer.size_bytes));
    plan_.buffers.push_back(std::move(buffer));
    return {};
  }

  Result<void> read_value(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "kind", "type", "expr", "hint", "buffer"}));
    spec::PlanValue value;
    GRAPHGATE_TRY(value.value.name, values_.define(cursor));
    GRAPHGATE_TRY(const auto kind, cursor.find_member("kind"));
    if (kind) {
      GRAPHGATE_TRY(value.value.kind, read_word(*kind, "tensor, symint, symfloat, symbool or none",
                                                parse_value_kind));
    }
    GRAPHGATE_TRY(const auto type, cursor.find_member("type"));
    if (type) {
      GRAPHGATE_TRY(value.value.type, read_type(*type));
    }
    GRAPHGATE_TRY(const auto expr, cursor.find_member("expr"));
    if (expr) {
      GRAPHGATE_TRY(value.value.expr, read_expr(*expr));
    }
    GRAPHGATE_TRY(const auto hint, cursor.find_member("hint"));
    if (hint) {
      GRAPHGATE_TRY(value.value.hint, hint->as_int());
    }
    GRAPHGATE_TRY(value.buffer, read_buffer_name(cursor, "buffer"));
    plan_.values.push_back(std::move(value));
    return {};
  }

  Result<std::optional<spec::BufferId>> read_buffer_name(const JsonCursor& object,
                                                         std::string_view key) {
    GRAPHGATE_TRY(const auto cursor, object.find_member(key));
    if (!cursor) return std::optional<spec::BufferId>();
    GRAPHGATE_TRY(const spec::BufferId id, buffers_.use(*cursor));
    return std::optional(id);
  }

  // `constant` may be null, so that its presence alone decides.
  Result<void> read_input(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(
        expect_members(cursor, {"kind", "target", "value", "constant", "final_value"}));
    spec::PlanInput input;
    GRAPHGATE_TRY(const JsonCursor kind, cursor.member("kind"));
    GRAPHGATE_TRY(input.kind,
                  read_word(kind, "parameter, buffer, constant or user", spec::parse_input_kind));
    GRAPHGATE_TRY(input.target, read_string(cursor, "target"));
    if (cursor.json().contains("constant")) {
      if (cursor.json().contains("value")) return cursor.error("has a value and a constant");
      GRAPHGATE_TRY(const JsonCursor constant, cursor.member("constant"));
      GRAPHGATE_TRY(input.constant, read_argument(constant));
    } else {
      GRAPHGATE_TRY(const JsonCursor value, cursor.member("value"));
      GRAPHGATE_TRY(input.value, values_.use(value));
    }
    GRAPHGATE_TRY(const auto final_value, cursor.find_member("final_value"));
    if (final_value) {
      GRAPHGATE_TRY(input.final_value, values_.use(*final_value));
    }
    plan_.inputs.push_back(std::move(input));
    return {};
  }

  Result<void> read_step(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(
        cursor, {"name", "op", "arguments", "results", "stream", "waits", "records", "workspace"}));
    spec::PlanStep step;
    GRAPHGATE_TRY(step.node.name, read_string(cursor, "name"));
    GRAPHGATE_TRY(step.node.op, read_string(cursor, "op"));
    GRAPHGATE_TRY_VOID(read_list(cursor, "arguments", [&](const JsonCursor& element) {
      return read_named_argument(element, step.node);
    }));
    GRAPHGATE_TRY_VOID(read_list(cursor, "results", [&](const JsonCursor& element) {
      return read_result(element, step.node);
    }));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "stream", step.stream));
    GRAPHGATE_TRY_VOID(read_events(cursor, "waits", step.waits));
    GRAPHGATE_TRY_VOID(read_events(cursor, "records", step.records));
    GRAPHGATE_TRY(step.workspace, read_buffer_name(cursor, "workspace"));
    plan_.steps.push_back(std::move(step));
    return {};
  }

  Result<void> read_named_argument(const JsonCursor& cursor, spec::Node& node) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "argument"}));
    spec::NamedArgument named;
    GRAPHGATE_TRY_VOID(read_optional(cursor, "name", named.name));
    GRAPHGATE_TRY(const JsonCursor argument, cursor.member("argument"));
    GRAPHGATE_TRY(named.argument, read_argument(argument));
    node.arguments.push_back(std::move(named));
    return {};
  }

  // A name, or a list of names.
  Result<void> read_result(const JsonCursor& cursor, spec::Node& node) {
    spec::NodeResult result;
    result.is_list = cursor.json().is_array();
    if (result.is_list) {
      GRAPHGATE_TRY(const auto elements, cursor.elements());
      for (const JsonCursor& element : elements) {
        GRAPHGATE_TRY(const spec::ValueId id, values_.use(element));
        result.values.push_back(id);
      }
    } else {
      GRAPHGATE_TRY(const spec::ValueId id, values_.use(cursor));
      result.values.push_back(id);
    }
    node.results.push_back(std::move(result));
    return {};
  }

  static Result<void> read_events(const JsonCursor& object, std::string_view key,
                                  std::vector<spec::EventId>& events) {
    return read_list(object, key, [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(const std::uint32_t index, as_count(element));
      events.push_back(spec::EventId{index});
      return {};
    });
  }

  Result<void> define_block(const JsonCursor& cursor) {
    spec::PlanBlock block;
    GRAPHGATE_TRY(block.name, blocks_.define(cursor));
    plan_.blocks.push_back(std::move(block));
    return {};
  }

  Result<void> read_block(const JsonCursor& cursor, spec::PlanBlock& block) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "partitions", "outputs"}));
    GRAPHGATE_TRY_VOID(read_list(cursor, "partitions", [&](const JsonCursor& element) {
      return read_partition(element, block);
    }));
    return read_arguments(cursor, "outputs", block.outputs);
  }

  Result<void> read_partition(const JsonCursor& cursor, spec::PlanBlock& block) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"captured", "reason", "begin_step", "end_step",
                                               "inputs", "outputs", "constants", "symbols"}));
    spec::PlanPartition partition;
    GRAPHGATE_TRY(const JsonCursor captured, cursor.member("captured"));
    GRAPHGATE_TRY(partition.captured, captured.as_bool());
    GRAPHGATE_TRY_VOID(read_optional(cursor, "reason", partition.reason));
    GRAPHGATE_TRY(const JsonCursor begin, cursor.member("begin_step"));
    GRAPHGATE_TRY(partition.begin_step, as_count(begin));
    GRAPHGATE_TRY(const JsonCursor end, cursor.member("end_step"));
    GRAPHGATE_TRY(partition.end_step, as_count(end));
    GRAPHGATE_TRY_VOID(read_signature(cursor, partition.signature));
    block.partitions.push_back(std::move(partition));
    return {};
  }

  Result<void> read_signature(const JsonCursor& cursor, spec::PlanSignature& signature) {
    const auto read_one = [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY_VOID(expect_members(element, {"buffer", "deallocate"}));
      spec::SignatureInput input;
      GRAPHGATE_TRY(const JsonCursor buffer, element.member("buffer"));
      GRAPHGATE_TRY(input.buffer, buffers_.use(buffer));
      GRAPHGATE_TRY_VOID(read_optional(element, "deallocate", input.deallocate));
      signature.inputs.push_back(input);
      return {};
    };
    GRAPHGATE_TRY_VOID(read_list(cursor, "inputs", read_one));
    GRAPHGATE_TRY_VOID(read_buffers(cursor, "outputs", signature.outputs));
    GRAPHGATE_TRY_VOID(read_buffers(cursor, "constants", signature.constants));
    return read_list(cursor, "symbols", [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(std::string name, element.as_string());
      signature.symbols.push_back(std::move(name));
      return {};
    });
  }

  Result<void> read_buffers(const JsonCursor& object, std::string_view key,
                            std::vector<spec::BufferId>& buffers) {
    return read_list(object, key, [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(const spec::BufferId id, buffers_.use(element));
      buffers.push_back(id);
      return {};
    });
  }

  Result<void> read_arguments(const JsonCursor& object, std::string_view key,
                              std::vector<Argument>& arguments) {
    return read_list(object, key, [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(Argument argument, read_argument(element));
      arguments.push_back(std::move(argument));
      return {};
    });
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
    GRAPHGATE_TRY(const auto elements, cursor.elements());
    Argument::List list;
    for (const JsonCursor& element : elements) {
      GRAPHGATE_TRY(Argument argument, read_argument(element));
      list.push_back(std::move(argument));
    }
    return Argument{std::move(list)};
  }

  Result<Argument> read_tagged(const JsonCursor& object) {
    GRAPHGATE_TRY(const auto member, object.only_member());
    const auto& [tag, cursor] = member;
    const auto wrap = [](auto result) -> Result<Argument> {
      if (!result.ok()) return result.error();
      return Argument{std::move(result).value()};
    };
    if (tag == "value") return wrap(values_.use(cursor));
    if (tag == "block") return wrap(blocks_.use(cursor));
    if (tag == "float") return wrap(read_float(cursor));
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
        "expected value, block, float, dtype, device, layout, memory_format or op, found \"" +
        std::string(tag) + "\"");
  }

  static Result<double> read_float(const JsonCursor& cursor) {
    if (cursor.json().is_number()) return cursor.as_double();
    return read_word(cursor, "a number, inf, -inf or nan",
                     [](std::string_view text) -> std::optional<double> {
                       constexpr double kInfinity = std::numeric_limits<double>::infinity();
                       if (text == "inf") return kInfinity;
                       if (text == "-inf") return -kInfinity;
                       if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
                       return std::nullopt;
                     });
  }

  const JsonCursor& root_;
  spec::Plan plan_;
  Names<spec::PoolId> pools_{"pool"};
  Names<spec::BufferId> buffers_{"buffer"};
  Names<spec::ValueId> values_{"value"};
  Names<spec::SubgraphId> blocks_{"block"};
};

}  // namespace

Result<spec::Plan> read_plan_json(std::string_view text, std::string_view file) {
  GRAPHGATE_TRY(const Json json, parse_json(text, file));
  const JsonCursor root(json, std::string(file));
  GRAPHGATE_TRY(spec::Plan plan, PlanReader(root).read());
  const auto checked = check_plan(plan);
  if (!checked.ok()) return checked.error().at(file);
  return plan;
}

}  // namespace graphgate::interop
