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
    GRAPHGATE_TRY_VOID(read_list(root_, "pools", plan_.pools,
                                 [this](const auto& cursor) { return read_pool(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "buffers", plan_.buffers,
                                 [this](const auto& cursor) { return read_buffer(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "values", plan_.values, [this](const auto& cursor) {
      return read_plan_value(cursor, names_);
    }));
    // Steps name blocks, so that these are defined first.
    GRAPHGATE_TRY_VOID(read_list(root_, "blocks", plan_.blocks,
                                 [this](const auto& cursor) { return define_block(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "inputs", plan_.inputs,
                                 [this](const auto& cursor) { return read_input(cursor); }));
    GRAPHGATE_TRY_VOID(read_list(root_, "steps", plan_.steps, [this](const auto& cursor) {
      return read_plan_step(cursor, names_);
    }));
    std::size_t block = 0;
    GRAPHGATE_TRY_VOID(read_list(root_, "blocks", [&](const auto& cursor) {
      return read_block(cursor, plan_.blocks[block++]);
    }));
    GRAPHGATE_TRY_VOID(read_plan_arguments(root_, "outputs", names_, plan_.outputs));
    GRAPHGATE_TRY_VOID(read_lifetimes());
    GRAPHGATE_TRY_VOID(read_optional(root_, "padding", plan_.padding, read_padding));
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
    GRAPHGATE_TRY(const auto key, root_.find_member("key"));
    if (key) GRAPHGATE_TRY_VOID(read_members(*key, plan_.key, &JsonCursor::as_string));
    GRAPHGATE_TRY(const auto symbols, root_.find_member("symbols"));
    if (symbols) GRAPHGATE_TRY_VOID(read_members(*symbols, plan_.symbols, &JsonCursor::as_int));
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

  Result<void> read_lifetimes() {
    const auto parse = [](std::string_view word) -> std::optional<spec::OutputLifetime> {
      if (word == "strong") return spec::OutputLifetime::kStrong;
      if (word == "weak") return spec::OutputLifetime::kWeak;
      return std::nullopt;
    };
    return read_list(
        root_, "output_lifetimes", plan_.output_lifetimes,
        [&](const JsonCursor& element) { return read_word(element, "strong or weak", parse); });
  }

  static Result<spec::PlanPadding> read_padding(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"symbol", "input_dims", "output_dims"}));
    spec::PlanPadding padding;
    GRAPHGATE_TRY(padding.symbol, read_string(cursor, "symbol"));
    GRAPHGATE_TRY_VOID(read_list(cursor, "input_dims", padding.input_dims, read_dim));
    GRAPHGATE_TRY_VOID(read_list(cursor, "output_dims", padding.output_dims, read_dim));
    return padding;
  }

  // Null stands for no dimension.
  static Result<std::optional<std::uint32_t>> read_dim(const JsonCursor& cursor) {
    if (cursor.is_null()) return std::optional<std::uint32_t>();
    GRAPHGATE_TRY(const std::uint32_t dim, as_count(cursor));
    return std::optional(dim);
  }

  Result<spec::PlanPool> read_pool(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(
        expect_members(cursor, {"name", "kind", "device", "size_bytes", "alignment_bytes"}));
    spec::PlanPool pool;
    GRAPHGATE_TRY(pool.name, names_.pools.define(cursor));
    GRAPHGATE_TRY(pool.kind, read_word(cursor, "kind", "state, input, arena, heap or caller",
                                       spec::parse_pool_kind));
    GRAPHGATE_TRY(pool.device, read_word(cursor, "device", "a device", spec::parse_device));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "size_bytes", pool.size_bytes));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "alignment_bytes", pool.alignment_bytes));
    return pool;
  }

  Result<spec::PlanBuffer> read_buffer(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "pool", "offset_bytes", "size_bytes"}));
    spec::PlanBuffer buffer;
    GRAPHGATE_TRY(buffer.name, names_.buffers.define(cursor));
    GRAPHGATE_TRY(buffer.pool, read_member(cursor, "pool", names_.pools.user()));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "offset_bytes", buffer.offset_bytes));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "size_bytes", buffer.size_bytes));
    return buffer;
  }

  // `constant` may be null, so that its presence alone decides.
  Result<spec::PlanInput> read_input(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(
        expect_members(cursor, {"kind", "target", "value", "constant", "final_value"}));
    spec::PlanInput input;
    GRAPHGATE_TRY(input.kind, read_word(cursor, "kind", "parameter, buffer, constant or user",
                                        spec::parse_input_kind));
    GRAPHGATE_TRY(input.target, read_string(cursor, "target"));
    if (cursor.json().contains("constant")) {
      if (cursor.json().contains("value")) return cursor.error("has a value and a constant");
      GRAPHGATE_TRY(const JsonCursor constant, cursor.member("constant"));
      GRAPHGATE_TRY(input.constant, read_plan_argument(constant, names_));
    } else {
      GRAPHGATE_TRY(input.value, read_member(cursor, "value", names_.values.user()));
    }
    GRAPHGATE_TRY_VOID(
        read_optional(cursor, "final_value", input.final_value, names_.values.user()));
    return input;
  }

  Result<spec::PlanBlock> define_block(const JsonCursor& cursor) {
    spec::PlanBlock block;
    GRAPHGATE_TRY(block.name, names_.blocks.define(cursor));
    return block;
  }

  Result<void> read_block(const JsonCursor& cursor, spec::PlanBlock& block) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"name", "partitions", "outputs"}));
    GRAPHGATE_TRY_VOID(read_list(cursor, "partitions", block.partitions,
                                 [&](const auto& element) { return read_partition(element); }));
    return read_plan_arguments(cursor, "outputs", names_, block.outputs);
  }

  Result<spec::PlanPartition> read_partition(const JsonCursor& cursor) {
    GRAPHGATE_TRY_VOID(expect_members(cursor, {"captured", "reason", "begin_step", "end_step",
                                               "inputs", "outputs", "constants", "symbols"}));
    spec::PlanPartition partition;
    GRAPHGATE_TRY(partition.captured, read_bool(cursor, "captured"));
    GRAPHGATE_TRY_VOID(read_optional(cursor, "reason", partition.reason));
    GRAPHGATE_TRY(partition.begin_step, read_member(cursor, "begin_step", as_count));
    GRAPHGATE_TRY(partition.end_step, read_member(cursor, "end_step", as_count));
    GRAPHGATE_TRY_VOID(read_signature(cursor, partition.signature));
    return partition;
  }

  Result<void> read_signature(const JsonCursor& cursor, spec::PlanSignature& signature) {
    const auto read_one = [&](const JsonCursor& element) -> Result<spec::SignatureInput> {
      GRAPHGATE_TRY_VOID(expect_members(element, {"buffer", "deallocate"}));
      spec::SignatureInput input;
      GRAPHGATE_TRY(input.buffer, read_member(element, "buffer", names_.buffers.user()));
      GRAPHGATE_TRY_VOID(read_optional(element, "deallocate", input.deallocate));
      return input;
    };
    const auto buffers = names_.buffers.user();
    GRAPHGATE_TRY_VOID(read_list(cursor, "inputs", signature.inputs, read_one));
    GRAPHGATE_TRY_VOID(read_list(cursor, "outputs", signature.outputs, buffers));
    GRAPHGATE_TRY_VOID(read_list(cursor, "constants", signature.constants, buffers));
    return read_list(cursor, "symbols", signature.symbols, &JsonCursor::as_string);
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
