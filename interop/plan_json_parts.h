// The parts that the reader of plans as JSON is made of: names, and what stands in tables and
// steps. The writer shares the words.
//
// Inside interop/ only. plan_json_reader.cpp reads the document and gives names their ids in the
// order of definition; plan_json_parts.cpp reads values, steps and arguments, which use them. Every
// error names its place through the cursor.
#pragma once

#include <unordered_map>

#include "interop/json_fields.h"
#include "interop/plan_json.h"
#include "spec/plan.h"

namespace graphgate::interop {

// The names of one kind of thing. By number, a name may come twice, and any number is an id.
template <class IdType>
class Names {
 public:
  Names(std::string_view what, PlanReferences references) : what_(what), references_(references) {}

  // The name of a new thing: the member "name" of an object.
  Result<std::string> define(const JsonCursor& object) {
    GRAPHGATE_TRY(const JsonCursor cursor, object.member("name"));
    GRAPHGATE_TRY(std::string name, cursor.as_string());
    const IdType id{static_cast<std::uint32_t>(ids_.size())};
    const bool is_new = ids_.try_emplace(name, id).second;
    if (is_new || references_ == PlanReferences::kByNumber) return name;
    return cursor.error("expected a new name, found \"" + name + "\" again");
  }

  Result<IdType> use(const JsonCursor& cursor) const {
    if (references_ == PlanReferences::kByNumber) {
      GRAPHGATE_TRY(const std::uint32_t index, as_count(cursor));
      return IdType{index};
    }
    return read_word(cursor, "the name of a " + what_,
                     [this](std::string_view name) -> std::optional<IdType> {
                       const auto found = ids_.find(std::string(name));
                       return found == ids_.end() ? std::nullopt : std::optional(found->second);
                     });
  }
  // use() as a function.
  auto user() const {
    return [this](const JsonCursor& cursor) { return use(cursor); };
  }

 private:
  std::string what_;
  PlanReferences references_;
  std::unordered_map<std::string, IdType> ids_;
};

// The names of a plan.
struct PlanNames {
  explicit PlanNames(PlanReferences how)
      : references(how),
        pools("pool", how),
        buffers("buffer", how),
        values("value", how),
        blocks("block", how) {}

  PlanReferences references;
  Names<spec::PoolId> pools;
  Names<spec::BufferId> buffers;
  Names<spec::ValueId> values;
  Names<spec::SubgraphId> blocks;
};

// "tensor", "symint"...
[[nodiscard]] std::string_view value_kind_name(spec::ValueKind kind);

// Defines the value's name.
[[nodiscard]] Result<spec::PlanValue> read_plan_value(const JsonCursor& cursor, PlanNames& names);
// A step, its body included.
[[nodiscard]] Result<spec::PlanStep> read_plan_step(const JsonCursor& cursor,
                                                    const PlanNames& names);
[[nodiscard]] Result<spec::Argument> read_plan_argument(const JsonCursor& cursor,
                                                        const PlanNames& names);
// A list of arguments, which may be missing.
[[nodiscard]] Result<void> read_plan_arguments(const JsonCursor& object, std::string_view key,
                                               const PlanNames& names,
                                               std::vector<spec::Argument>& arguments);

}  // namespace graphgate::interop
