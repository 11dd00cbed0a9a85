
#include "interop/json_stream.h"
#include "interop/plan_json.h"
#include "interop/plan_json_parts.h"
#include "spec/plan_text.h"
#include "spec/type_text.h"

namespace graphgate::interop {

namespace {

class PlanReader {
 public:
  PlanReader(const JsonCursor& root, PlanReferences references) : root_(root), names_(references) {}

  Result<spec::Plan> read() {
    GRAPHGATE_TRY_VOID(read_head());
    GRAPHGATE_TRY_VOID(
        read_list(root_, "pools", [this](const auto& cursor) { return read_pool(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "buffers", [this](const auto& cursor) { return read_buffer(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "values", [this](const JsonCursor& cursor) -> Result<void> {
      GRAPHGATE_TRY(spec::PlanValue value, read_plan_value(cursor, names_));
      plan_.values.push_back(std::move(value));
      return {};
    }));
    // Steps name blocks, so that these are defined first.
    GRAPHGATE_TRY_VOID(
        read_list(root_, "blocks", [this](const auto& cursor) { return define_block(cursor); }));
    GRAPHGATE_TRY_VOID(
        read_list(root_, "inputs", [this](const auto& cursor) { return read_input(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "steps", [this](const JsonCursor& cursor) -> Result<void> {
      GRAPHGATE_TRY(spec::PlanStep step, read_plan_step(cursor, names_));
      plan_.steps.push_back(std::move(step));
      return {};
    }));
    std::size_t block = 0;
    GRAPHGATE_TRY_VOID(read_list(root_, "blocks", [&](const auto& cursor) {
      return read_block(cursor, plan_.blocks[block++]);
    }));
    GRAPHGATE_TRY_VOID(read_plan_arguments(root_, "outputs", names_, plan_.outputs));
    GRAPHGATE_TRY_VOID(read_lifetimes());
    GRAPHGATE_TRY_VOID(read_padding());
    return std::move(plan_);
  }

 private:
  Result<void> read_head() {
    GRAPHGATE_TRY(const JsonCursor version, root_.member("graphgate_plan"));
    GRAPHGATE_TRY(const std::int64_t number, version.as_int());
    if (number != kPlanJsonVersion) {
      return version.unsupported_here("version " + std::to_string(number) + " of the plan form");
    }
    GRAPHGATE_TRY_VOID(read_references());
    GRAPHGATE_TRY_VOID(
        expect_members(root_, {"graphgate_plan", "references", "name", "arithmetic", "event_count",
                               "key", "symbols", "padding", "pools", "buffers", "values", "inputs",
                               "steps", "blocks", "outputs", "output_lifetimes"}));
    GRAPHGATE_TRY(plan_.name, read_string(root_, "name"));
    GRAPHGATE_TRY_VOID(read_optional(root_, "arithmetic", plan_.arithmetic));
    GRAPHGATE_TRY_VOID(read_optional(root_, "event_count", plan_.event_count));
    GRAPHGATE_TRY_VOID(read_key());
    GRAPHGATE_TRY(const auto symbols, root_.find_member("symbols"));
    if (!symbols) return {};
    GRAPHGATE_TRY(const auto members, symbols->members());
    for (const auto& [name, cursor] : members) {
      GRAPHGATE_TRY(const std::int64_t size, cursor.as_int());
      plan_.symbols.emplace(name, size);
    }
    return {};
  }

  // Absent: by name.
  Result<void> read_references() {
    GRAPHGATE_TRY(const auto cursor, root_.find_member("references"));
    const bool is_wanted = names_.references == PlanReferences::kByNumber;
    if (!cursor) return is_wanted ? root_.error("expected references by number") : Result<void>();
    GRAPHGATE_TRY(const std::string word, cursor->as_string());
    if (is_wanted && word == "numbers") return {};
    return cursor->error("such a plan is not well formed, and is kept in stored runs only");
  }

  Result<void> read_key() {
    GRAPHGATE_TRY(const auto key, root_.find_member("key"));
    if (!key) return {};
    GRAPHGATE_TRY(const auto members, key->members());
    for (const auto& [name, cursor] : members) {
      GRAPHGATE_TRY(std::string value, cursor.as_string());
      plan_.key.emplace(name, std::move(value));
    }
    return {};
  }

  Result<void> read_lifetimes() {
    const auto parse = [](std::string_view word) -> std::optional<spec::OutputLifetime> {
      if (word == "strong") return spec::OutputLifetime::kStrong;
      if (word == "weak") return spec::OutputLifetime::kWeak;
      return std::nullopt;
    };
    return read_list(root_, "output_lifetimes", [&](const JsonCursor& element) -> Result<void> {
      GRAPHGATE_TRY(const auto lifetime, read_word(element, "strong or weak", parse));
      plan_.output_lifetimes.push_back(lifetime);
      return {};
    });
  }

  Result<void> read_padding() {
    GRAPHGATE_TRY(const auto cursor, root_.find_member("padding"));
    if (!cursor) return {};
    GRAPHGATE_TRY_VOID(expect_members(*cursor, {"symbol", "input_dims", "output_dims"}));
    spec::PlanPadding padding;
    GRAPHGATE_TRY(padding.symbol, read_string(*cursor, "symbol"));
    GRAPHGATE_TRY_VOID(read_dims(*cursor, "input_dims", padding.input_dims));
    GRAPHGATE_TRY_VOID(read_dims(*cursor, "output_dims", padding.output_dims));
    plan_.padding = std::move(padding);
    return {};
  }

  // Null stands for no dimension.
  static Result<void> read_dims(const JsonCursor& object, std::string_view key,
                                std::vector<std::optional<std::uint32_t>>& dims) {
    return read_list(object, key, [&](const JsonCursor& element) -> Result<void> {
      dims.emplace_back();
      if (element.is_null()) return {};
      GRAPHGATE_TRY(dims.back(), as_count(element));
      return {};
    });
  }

  Result<void> read_pool(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(
        expect_members(cursor, {"name", "kind", "device", "size_bytes", "alignment_bytes"}));
    spec::PlanPool pool;
    GRAPHGATE_TRY(pool.name, names_.pools.define(cursor));
    GRAPHGATE_TRY(const JsonCursor kind, cursor.member("kind"));
    GRAPHGATE_TRY(pool.kind,
                  read_word(kind, "state, input, arena, heap or caller", spec::parse_pool_kind));
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
    GRAPHGATE_TRY(buffer.name, names_.buffers.define(cursor));
    GRAPHGATE_TRY(const JsonCursor pool, cursor.member("pool"));
    GRAPHGATE_TRY(buffer.pool, names_.pools.use(pool));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "offset_bytes", buffer.offset_bytes));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "size_bytes", buffer.size_bytes));
    plan_.buffers.push_back(std::move(buffer));
    return {};
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
      GRAPHGATE_TRY(input.constant, read_plan_argument(constant, names_));
    } else {
      GRAPHGATE_TRY(const JsonCursor value, cursor.member("value"));
      GRAPHGATE_TRY(input.value, names_.values.use(value));
    }
    GRAPHGATE_TRY(const auto final_value, cursor.find_member("final_value"));
    if (final_value) {
      GRAPHGATE_TRY(input.final_value, names_.values.use(*final_value));
    }
    plan_.inputs.push_back(std::move(input));
    return {};
  }

  Result<void> define_block(const JsonCursor& cursor) {
    spec::PlanBlock block;
    GRAPHGATE_TRY(block.name, names_.blocks.define(cursor));
    plan_.blocks.push_back(std::move(block));
    return {};
  }

  Result<void> read_block(const JsonCursor& cursor, spec::PlanBlock& block) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "partitions", "outputs"}));
    GRAPHGATE_TRY_VOID(read_list(cursor, "partitions", [&](const JsonCursor& element) {
      return read_partition(element, block);
    }));
    return read_plan_arguments(cursor, "outputs", names_, block.outputs);
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
      GRAPHGATE_TRY(input.buffer, names_.buffers.use(buffer));
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
      GRAPHGATE_TRY(const spec::BufferId id, names_.buffers.use(element));
      buffers.push_back(id);
      return {};
    });
  }

  const JsonCursor& root_;
  spec::Plan plan_;
  PlanNames names_;
};

}  // namespace

Result<spec::Plan> read_plan_json(std::string_view text, std::string_view file,
                                  PlanReferences references) {
  GRAPHGATE_TRY(const Json json, parse_json(text, file));
  const JsonCursor root(json, std::string(file));
  GRAPHGATE_TRY(spec::Plan plan, PlanReader(root, references).read());
  if (references == PlanReferences::kByNumber) return plan;
  const auto checked = check_plan(plan);
  if (!checked.ok()) return checked.error().at(file);
  return plan;
}

}  // namespace graphgate::interop
