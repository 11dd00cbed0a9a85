#include <cmath>

#include "interop/plan_json_parts.h"
#include "spec/plan_text.h"

namespace graphgate::interop {

using spec::Argument;
using spec::Plan;

namespace {

Json expr_json(const spec::SymExpr& expr) {
  if (expr.is_constant()) return expr.constant();
  return spec::print_sym_expr(expr);
}

Json exprs_json(const std::vector<spec::SymExpr>& list) {
  Json json = Json::array();
  for (const spec::SymExpr& expr : list) json.push_back(expr_json(expr));
  return json;
}

Json type_json(const spec::TensorType& type) {
  return Json{{"dtype", std::string(spec::torch_name(type.dtype))},
              {"sizes", exprs_json(type.sizes)},
              {"strides", exprs_json(type.strides)},
              {"storage_offset", expr_json(type.storage_offset)},
              {"device", spec::print_device(type.device)},
              {"layout", std::string(spec::layout_name(type.layout))}};
}

// What ids are written as: names, or themselves.
struct PlanNaming {
  const Plan& plan;
  PlanReferences references;

  [[nodiscard]] Json of(spec::PoolId id) const {
    return is_by_number() ? Json(id.index) : Json(plan.pools.at(id.index).name);
  }
  [[nodiscard]] Json of(spec::BufferId id) const {
    return is_by_number() ? Json(id.index) : Json(plan.buffers.at(id.index).name);
  }
  [[nodiscard]] Json of(spec::ValueId id) const {
    return is_by_number() ? Json(id.index) : Json(plan.values.at(id.index).value.name);
  }
  [[nodiscard]] Json of(spec::SubgraphId id) const {
    return is_by_number() ? Json(id.index) : Json(plan.blocks.at(id.index).name);
  }
  template <class Id>
  [[nodiscard]] Json of(const std::vector<Id>& ids) const {
    Json json = Json::array();
    for (const Id id : ids) json.push_back(of(id));
    return json;
  }
  [[nodiscard]] bool is_by_number() const { return references == PlanReferences::kByNumber; }
};

// An object with one member says what the argument is, where JSON has no value of that kind.
struct ArgumentJson {
  const PlanNaming& naming;

  static Json object(const char* key, std::string_view text) {
    return Json{{key, std::string(text)}};
  }

  Json operator()(spec::None) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const {
    if (std::isnan(value)) return object("float", "nan");
    if (std::isinf(value)) return object("float", value > 0 ? "inf" : "-inf");
    return value;
  }
  Json operator()(const spec::ComplexNumber& value) const {
    return Json{{"complex", {(*this)(value.real), (*this)(value.imag)}}};
  }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(spec::DType value) const { return object("dtype", spec::torch_name(value)); }
  Json operator()(const spec::Device& value) const {
    return object("device", spec::print_device(value));
  }
  Json operator()(spec::Layout value) const { return object("layout", spec::layout_name(value)); }
  Json operator()(spec::MemoryFormat value) const {
    return object("memory_format", spec::memory_format_name(value));
  }
  Json operator()(spec::ValueId id) const { return Json{{"value", naming.of(id)}}; }
  Json operator()(const spec::OpName& op) const { return object("op", op.name); }
  Json operator()(spec::SubgraphId id) const { return Json{{"block", naming.of(id)}}; }
  Json operator()(const Argument::List& list) const {
    Json json = Json::array();
    for (const Argument& element : list) json.push_back(std::visit(*this, element.value));
    return json;
  }
};

class PlanWriter {
 public:
  PlanWriter(const Plan& plan, PlanReferences references)
      : plan_(plan), naming_{plan, references} {}

  std::string write() {
    out_ = "{\"graphgate_plan\": " + std::to_string(kPlanJsonVersion);
    if (naming_.is_by_number()) member("references", "numbers");
    member("name", plan_.name);
    member("arithmetic", plan_.arithmetic);
    member("event_count", plan_.event_count);
    member("key", Json(plan_.key));
    member("symbols", Json(plan_.symbols));
    if (plan_.padding) member("padding", json(*plan_.padding));
    list("pools", plan_.pools);
    list("buffers", plan_.buffers);
    list("values", plan_.values);
    list("inputs", plan_.inputs);
    list("steps", plan_.steps);
    list("blocks", plan_.blocks);
    list("outputs", plan_.outputs);
    if (!plan_.output_lifetimes.empty()) member("output_lifetimes", lifetimes());
    return out_ + "}\n";
  }

 private:
  void member(std::string_view key, const Json& value) {
    out_ += ",\n\"" + std::string(key) + "\": " + value.dump();
  }

  template <class Things>
  void list(std::string_view key, const Things& things) {
    out_ += ",\n\"" + std::string(key) + "\": [";
    bool first = true;
    for (const auto& thing : things) {
      out_ += first ? "\n  " : ",\n  ";
      out_ += json(thing).dump();
      first = false;
    }
    out_ += ']';
  }

  Json json(const spec::PlanPool& pool) const {
    return Json{{"name", pool.name},
                {"kind", std::string(spec::pool_kind_name(pool.kind))},
                {"device", spec::print_device(pool.device)},
                {"size_bytes", pool.size_bytes},
                {"alignment_bytes", pool.alignment_bytes}};
  }

  Json json(const spec::PlanBuffer& buffer) const {
    return Json{{"name", buffer.name},
                {"pool", naming_.of(buffer.pool)},
                {"offset_bytes", buffer.offset_bytes},
                {"size_bytes", buffer.size_bytes}};
  }

  Json json(const spec::PlanValue& value) const {
    Json json{{"name", value.value.name}, {"kind", std::string(value_kind_name(value.value.kind))}};
    if (value.value.type) json["type"] = type_json(*value.value.type);
    if (value.value.expr) json["expr"] = expr_json(*value.value.expr);
    if (value.value.hint) json["hint"] = *value.value.hint;
    if (value.buffer) json["buffer"] = naming_.of(*value.buffer);
    return json;
  }

  Json json(const spec::PlanInput& input) const {
    Json json{{"kind", std::string(spec::input_kind_name(input.kind))}, {"target", input.target}};
    if (input.constant) {
      json["constant"] = argument(*input.constant);
    } else {
      json["value"] = naming_.of(input.value);
    }
    if (input.final_value) json["final_value"] = naming_.of(*input.final_value);
    return json;
  }

  static Json json(const spec::PlanPadding& padding) {
    return Json{{"symbol", padding.symbol},
                {"input_dims", dims(padding.input_dims)},
                {"output_dims", dims(padding.output_dims)}};
  }

  static Json dims(const std::vector<std::optional<std::uint32_t>>& dims) {
    Json json = Json::array();
    for (const auto& dim : dims) json.push_back(dim ? Json(*dim) : Json());
    return json;
  }

  Json lifetimes() const {
    Json json = Json::array();
    for (const spec::OutputLifetime lifetime : plan_.output_lifetimes) {
      json.push_back(lifetime == spec::OutputLifetime::kWeak ? "weak" : "strong");
    }
    return json;
  }

  Json json(const spec::PlanStep& step) const {
    Json json = node_json(step.node);
    for (const spec::Node& node : step.body) json["body"].push_back(node_json(node));
    json["stream"] = step.stream;
    json["waits"] = events(step.waits);
    json["records"] = events(step.records);
    if (step.workspace) json["workspace"] = naming_.of(*step.workspace);
    return json;
  }

  Json node_json(const spec::Node& node) const {
    Json json{{"name", node.name}, {"op", node.op}};
    json["arguments"] = Json::array();
    for (const spec::NamedArgument& named : node.arguments) {
      json["arguments"].push_back(
          Json{{"name", named.name}, {"argument", argument(named.argument)}});
    }
    json["results"] = Json::array();
    for (const spec::NodeResult& result : node.results) {
      const Json names = naming_.of(result.values);
      if (naming_.is_by_number() && !result.is_list && names.size() != 1) {
        json["results"].push_back(Json{{"no_list", names}});
        continue;
      }
      json["results"].push_back(result.is_list ? names : names.at(0));
    }
    return json;
  }

  Json json(const spec::PlanBlock& block) const {
    Json json{{"name", block.name}};
    json["partitions"] = Json::array();
    for (const spec::PlanPartition& partition : block.partitions) {
      json["partitions"].push_back(partition_json(partition));
    }
    json["outputs"] = Json::array();
    for (const Argument& output : block.outputs) json["outputs"].push_back(argument(output));
    return json;
  }

  Json json(const Argument& output) const { return argument(output); }

  Json partition_json(const spec::PlanPartition& partition) const {
    Json inputs = Json::array();
    for (const spec::SignatureInput& input : partition.signature.inputs) {
      inputs.push_back(
          Json{{"buffer", naming_.of(input.buffer)}, {"deallocate", input.deallocate}});
    }
    return Json{{"captured", partition.captured},
                {"reason", partition.reason},
                {"begin_step", partition.begin_step},
                {"end_step", partition.end_step},
                {"inputs", std::move(inputs)},
                {"outputs", naming_.of(partition.signature.outputs)},
                {"constants", naming_.of(partition.signature.constants)},
                {"symbols", Json(partition.signature.symbols)}};
  }

  Json argument(const Argument& value) const {
    return std::visit(ArgumentJson{naming_}, value.value);
  }

  static Json events(const std::vector<spec::EventId>& ids) {
    Json json = Json::array();
    for (const spec::EventId id : ids) json.push_back(id.index);
    return json;
  }

  const Plan& plan_;
  const PlanNaming naming_;
  std::string out_;
};

}  // namespace

Result<std::string> print_plan_json(const Plan& plan, PlanReferences references) {
  try {
    return PlanWriter(plan, references).write();
  } catch (const Json::exception&) {
    return unsupported("plan '" + plan.name + "': JSON cannot say a text that is no UTF-8");
  }
}

}  // namespace graphgate::interop
