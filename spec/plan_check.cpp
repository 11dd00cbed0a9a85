#include <algorithm>
#include <limits>

#include "spec/name_set.h"
#include "spec/plan.h"
#include "spec/plan_names.h"
#include "spec/sym_expr_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

std::string print_range(std::int64_t begin, std::int64_t size) {
  return "[" + std::to_string(begin) + ", " + std::to_string(begin + size) + ")";
}

// Things of one kind need names that differ: the text and JSON forms refer to them so.
template <class Things, class NameOf>
Result<void> check_names(const Things& things, std::string_view what, NameOf name) {
  NameSet seen(things.size());
  for (std::size_t i = 0; i < things.size(); ++i) {
    const std::string& text = name(things[i]);
    const bool is_new = seen.insert(text);
    if (is_new && !text.empty()) continue;
    const Error error =
        bad_input(text.empty() ? "it has no name" : "'" + text + "' is another's name");
    return error.at(std::string(what) + " number " + std::to_string(i));
  }
  return {};
}

Result<void> check_all_names(const Plan& plan) {
  const auto own_name = [](const auto& thing) -> const std::string& { return thing.name; };
  GRAPHGATE_TRY_VOID(check_names(plan.pools, "pool", own_name));
  GRAPHGATE_TRY_VOID(check_names(plan.buffers, "buffer", own_name));
  GRAPHGATE_TRY_VOID(check_names(plan.blocks, "block", own_name));
  return check_names(plan.values, "value",
                     [](const PlanValue& value) -> const std::string& { return value.value.name; });
}

Result<void> check_head(const Plan& plan) {
  if (plan.arithmetic != "strict" && plan.arithmetic != "fast") {
    return bad_input("the arithmetic is 'strict' or 'fast', not '" + plan.arithmetic + "'");
  }
  for (const auto& [name, size] : plan.symbols) {
    if (!is_symbol_name(name)) return bad_input("'" + name + "' is not the name of a symbol");
  }
  return {};
}

Result<void> check_pool(const PlanPool& pool) {
  if (pool.size_bytes < 0) return bad_input("a negative size");
  if (pool.alignment_bytes < 1) return bad_input("an alignment below 1");
  if (pool.kind == PoolKind::kHeap && pool.size_bytes != 0) {
    return bad_input("a heap has size 0, not " + std::to_string(pool.size_bytes));
  }
  return {};
}

Result<void> check_buffer(const Plan& plan, const PlanBuffer& buffer) {
  if (buffer.pool.index >= plan.pools.size()) return missing("pool", buffer.pool.index);
  const PlanPool& pool = plan.pools[buffer.pool.index];
  if (buffer.offset_bytes < 0 || buffer.size_bytes < 0) {
    return bad_input("a negative offset or size");
  }
  if (pool.kind == PoolKind::kHeap) {
    if (buffer.offset_bytes == 0 && buffer.size_bytes == 0) return {};
    return bad_input("in the heap " + name_of(pool) + " it has a place");
  }
  if (buffer.offset_bytes > pool.size_bytes ||
      buffer.size_bytes > pool.size_bytes - buffer.offset_bytes) {
    return bad_input(std::to_string(buffer.size_bytes) + " bytes at offset " +
                     std::to_string(buffer.offset_bytes) + " leave the pool " + name_of(pool) +
                     " of " + std::to_string(pool.size_bytes) + " bytes");
  }
  if (buffer.offset_bytes % pool.alignment_bytes == 0) return {};
  return bad_input("offset " + std::to_string(buffer.offset_bytes) + " is no multiple of " +
                   std::to_string(pool.alignment_bytes) + ", the alignment of " + name_of(pool));
}

Result<void> check_inner_tensor(const TensorType& type) {
  const auto geometry = concrete_geometry(type);
  if (geometry && geometry_fits(*geometry, std::numeric_limits<std::int64_t>::max())) return {};
  return bad_input("its type " + print_tensor_type(type) + " is no known size, inside a body");
}

Result<void> check_tensor(const Plan& plan, const PlanValue& value, bool is_inner) {
  const auto& type = value.value.type;
  if (type && type->sizes.size() != type->strides.size()) {
    return bad_input(std::to_string(type->sizes.size()) + " sizes, but " +
                     std::to_string(type->strides.size()) + " strides");
  }
  if (!value.buffer) {
    if (type && type->layout == Layout::kNone) return {};
    if (type && is_inner) return check_inner_tensor(*type);
    return bad_input("a tensor without a buffer");
  }
  if (value.buffer->index >= plan.buffers.size()) return missing("buffer", value.buffer->index);
  const PlanBuffer& buffer = plan.buffers[value.buffer->index];
  if (plan.pools[buffer.pool.index].kind == PoolKind::kHeap) return {};
  if (!type) return bad_input("a tensor without a type, outside of a heap");
  const auto geometry = concrete_geometry(*type);
  if (!geometry) {
    return bad_input("its type " + print_tensor_type(*type) + " has symbols, outside of a heap");
  }
  if (geometry_fits(*geometry, buffer.size_bytes)) return {};
  return bad_input(print_tensor_type(*type) + " does not fit in " + name_of(buffer) + " " +
                   print_range(buffer.offset_bytes, buffer.size_bytes));
}

Result<void> check_value(const Plan& plan, const PlanValue& value, bool is_inner) {
  const Value& inner = value.value;
  if (inner.kind == ValueKind::kTensor) {
    if (inner.expr || inner.hint) return bad_input("only a number has an expression or a hint");
    return check_tensor(plan, value, is_inner);
  }
  if (inner.kind == ValueKind::kTensorList) {
    return bad_input("a list of tensors has no place: its elements are values of their own");
  }
  if (inner.type || value.buffer) return bad_input("only a tensor has a type and a buffer");
  if (is_symbolic(inner.kind) || (!inner.expr && !inner.hint)) return {};
  return bad_input("only a number has an expression or a hint");
}

Result<void> check_tables(const Plan& plan) {
  for (const PlanPool& pool : plan.pools) {
    const auto result = check_pool(pool);
    if (!result.ok()) return result.error().at("pool " + name_of(pool));
  }
  for (const PlanBuffer& buffer : plan.buffers) {
    const auto result = check_buffer(plan, buffer);
    if (!result.ok()) return result.error().at("buffer " + name_of(buffer));
  }
  const std::vector<bool> is_inner = inner_values(plan);
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const PlanValue& value = plan.values[i];
    const auto result = check_value(plan, value, is_inner[i]);
    if (!result.ok()) return result.error().at("value " + name_of(value));
  }
  return {};
}

Result<void> check_signature(const Plan& plan, const PlanSignature& signature) {
  const auto is_missing = [&](BufferId id) { return id.index >= plan.buffers.size(); };
  for (const BufferId id : signature.outputs) {
    if (is_missing(id)) return missing("buffer", id.index);
  }
  for (const SignatureInput& input : signature.inputs) {
    if (is_missing(input.buffer)) return missing("buffer", input.buffer.index);
  }
  for (const BufferId id : signature.constants) {
    if (is_missing(id)) return missing("buffer", id.index);
  }
  for (const std::string& name : signature.symbols) {
    if (!is_symbol_name(name)) return bad_input("'" + name + "' is not the name of a symbol");
  }
  return {};
}

// Which steps belong to a partition already, over all blocks.
class Coverage {
 public:
  explicit Coverage(const Plan& plan) : plan_(plan), covered_(plan.steps.size(), false) {}

  Result<void> check() {
    if (plan_.blocks.empty()) return bad_input("it has no block");
    for (const PlanBlock& block : plan_.blocks) {
      const PlanPartition* previous = nullptr;
      for (const PlanPartition& partition : block.partitions) {
        const auto result = check_partition(partition, previous);
        if (!result.ok()) {
          const auto index = &partition - block.partitions.data();
          return result.error().at("block " + name_of(block) + ": partition " +
                                   std::to_string(index));
        }
        previous = &partition;
      }
    }
    const auto left = std::find(covered_.begin(), covered_.end(), false);
    if (left == covered_.end()) return {};
    return bad_input("it is in no partition")
        .at(place_of(plan_, static_cast<std::size_t>(left - covered_.begin())));
  }

 private:
  Result<void> check_partition(const PlanPartition& partition, const PlanPartition* previous) {
    const auto range = [&] {
      return "[" + std::to_string(partition.begin_step) + ", " +
             std::to_string(partition.end_step) + ")";
    };
    if (partition.captured && !partition.reason.empty()) {
      return bad_input("captured, but with a reason not to be");
    }
    if (partition.begin_step > partition.end_step || partition.end_step > plan_.steps.size()) {
      return bad_input("steps " + range() + " are no range of the " +
                       std::to_string(plan_.steps.size()) + " steps");
    }
    if (previous != nullptr && previous->end_step != partition.begin_step) {
      return bad_input("steps " + range() + " do not follow the partition before, which ends at " +
                       std::to_string(previous->end_step));
    }
    for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
      if (covered_[i]) return bad_input(place_of(plan_, i) + " is in another partition too");
      covered_[i] = true;
    }
    return check_signature(plan_, partition.signature);
  }

  const Plan& plan_;
  std::vector<bool> covered_;
};

}  // namespace

Result<void> check_plan(const Plan& plan) {
  GRAPHGATE_TRY_VOID(check_head(plan));
  GRAPHGATE_TRY_VOID(check_all_names(plan));
  GRAPHGATE_TRY_VOID(check_tables(plan));
  GRAPHGATE_TRY_VOID(Coverage(plan).check());
  GRAPHGATE_TRY_VOID(check_plan_order(plan));
  GRAPHGATE_TRY_VOID(check_plan_bodies(plan));
  return check_plan_claims(plan);
}

}  // namespace graphgate::spec
