#include "interop/op_cases.h"

#include <optional>
#include <utility>

#include "base/file_io.h"
#include "spec/missing_op.h"

namespace graphgate::interop {

using spec::Argument;
using spec::HostTensor;
using spec::ValueId;
using spec::ValueKind;

namespace {

spec::TensorType type_of(const HostTensor& tensor) {
  spec::TensorType type;
  type.dtype = tensor.dtype;
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.strides.assign(tensor.strides.begin(), tensor.strides.end());
  type.storage_offset = tensor.storage_offset;
  type.device = tensor.device;
  return type;
}

// Makes the program of one call, piece by piece.
class CaseMaker {
 public:
  CaseMaker(const OpCall& call, const spec::OpRow& row) : call_(call), schema_(row.schema) {
    out_.id = call.id;
    out_.op = call.op;
    out_.program.name = call.op + " case " + std::to_string(call.id);
    node_.op = call.op;
    node_.name = "call";
  }

  Result<OpCase> make() {
    GRAPHGATE_TRY_VOID(add_arguments());
    GRAPHGATE_TRY_VOID(add_results());
    GRAPHGATE_TRY_VOID(add_mutations());
    graph().nodes.push_back(std::move(node_));
    return std::move(out_);
  }

 private:
  spec::Graph& graph() { return out_.program.graph; }

  ValueId add_value(std::string name, ValueKind kind, const HostTensor* tensor) {
    const ValueId id{static_cast<std::uint32_t>(graph().values.size())};
    spec::Value value;
    value.name = std::move(name);
    value.kind = kind;
    if (tensor != nullptr) value.type = type_of(*tensor);
    graph().values.push_back(std::move(value));
    return id;
  }

  ValueId add_input(const HostTensor& tensor) {
    const std::string name = "in" + std::to_string(out_.inputs.size());
    const ValueId id = add_value(name, ValueKind::kTensor, &tensor);
    graph().inputs.push_back(id);
    spec::ProgramInput input;
    input.value = id;
    input.target = name;
    out_.program.inputs.push_back(std::move(input));
    out_.inputs.emplace_back(tensor);
    return id;
  }

  Argument convert(const OpArgument& argument) {
    if (const auto* tensor = argument.as<HostTensor>()) return Argument{add_input(*tensor)};
    if (const auto* list = argument.as<OpArgument::List>()) {
      Argument::List converted;
      for (const OpArgument& element : *list) converted.push_back(convert(element));
      return Argument{std::move(converted)};
    }
    return std::visit(
        [](const auto& value) -> Argument {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, HostTensor> || std::is_same_v<T, OpArgument::List>) {
            return Argument{};
          } else {
            return Argument{value};
          }
        },
        argument.value);
  }

  void add_argument(const std::string& name, const OpArgument& argument) {
    if (argument.as<HostTensor>()) positions_[name] = out_.inputs.size();
    node_.arguments.push_back({name, convert(argument)});
  }

  Result<void> add_arguments() {
    if (call_.args.size() > schema_.arguments.size()) {
      return bad_input("has more arguments than the schema of " + call_.op);
    }
    for (std::size_t i = 0; i < call_.args.size(); ++i) {
      add_argument(schema_.arguments[i].name, call_.args[i]);
    }
    for (const auto& [name, argument] : call_.kwargs) {
      const auto index = schema_.find_argument(name);
      if (!index || *index < call_.args.size()) {
        return bad_input("the schema of " + call_.op + " has no further argument '" + name + "'");
      }
      add_argument(name, argument);
    }
    return {};
  }

  Result<ValueId> add_output(const OpArgument& result, const std::string& name) {
    const auto* tensor = result.as<HostTensor>();
    const auto add = [&](ValueKind kind, spec::OutputValue expected) {
      const ValueId id = add_value(name, kind, tensor);
      graph().outputs.push_back(Argument{id});
      out_.program.outputs.emplace_back();
      out_.expected.push_back(std::move(expected));
      return id;
    };
    if (tensor != nullptr) return add(ValueKind::kTensor, *tensor);
    if (const auto* flag = result.as<bool>()) return add(ValueKind::kSymBool, *flag);
    if (const auto* number = result.as<std::int64_t>()) return add(ValueKind::kSymInt, *number);
    if (const auto* number = result.as<double>()) return add(ValueKind::kSymFloat, *number);
    if (result.as<spec::None>()) return add_value(name, ValueKind::kNone, nullptr);
    if (result.as<spec::ComplexNumber>()) {
      return unsupported("result '" + name + "' is a complex number, which no value can be");
    }
    return bad_input("result '" + name + "' is no tensor and no number");
  }

  Result<void> add_results() {
    const std::size_t count = schema_.returns.size();
    const auto* list = call_.result.as<OpArgument::List>();
    std::vector<const OpArgument*> results;
    if (count == 1) {
      results.push_back(&call_.result);
    } else if (count > 1 && list != nullptr) {
      for (const OpArgument& result : *list) results.push_back(&result);
    }
    if (results.size() != count) return bad_input("has not as many results as the schema returns");
    for (std::size_t i = 0; i < count; ++i) {
      spec::NodeResult out;
      const std::string name = "out" + std::to_string(i);
      const auto* elements = results[i]->as<OpArgument::List>();
      out.is_list = elements != nullptr;
      if (elements == nullptr) {
        GRAPHGATE_TRY(const ValueId id, add_output(*results[i], name));
        out.values.push_back(id);
      }
      for (std::size_t j = 0; elements != nullptr && j < elements->size(); ++j) {
        GRAPHGATE_TRY(out.values.emplace_back(),
                      add_output((*elements)[j], name + "_" + std::to_string(j)));
      }
      node_.results.push_back(std::move(out));
    }
    return {};
  }

  Result<void> add_mutations() {
    for (const auto& [name, tensor] : call_.mutated) {
      const auto position = positions_.find(name);
      if (position == positions_.end()) {
        return bad_input("has no tensor argument '" + name + "' that could be written");
      }
      out_.mutated.emplace(position->second, tensor);
    }
    return {};
  }

  const OpCall& call_;
  const spec::OpSchema& schema_;
  OpCase out_;
  spec::Node node_;
  std::map<std::string, std::size_t, std::less<>> positions_;  // of tensor arguments, by name
};

}  // namespace

Result<OpCase> make_op_case(const OpCall& call, const spec::OpTable& ops) {
  const spec::OpRow* row = ops.find(call.op);
  if (row == nullptr) {
    spec::MissingOps missing;
    missing.add("", call.op);
    return missing.error(spec::kNoSchema);
  }
  return CaseMaker(call, *row).make();
}

Result<void> read_op_cases(const std::string& jsonl_path, const spec::OpTable& ops,
                           const std::function<bool(const OpCase&)>& visit,
                           const std::function<void(const OpCall&, const Error&)>& pass_over) {
  const auto dot = jsonl_path.rfind('.');
  const std::string stem = jsonl_path.substr(0, dot);
  bool is_stopped = false;
  const auto convert = [&](OpCall&& call) -> Result<void> {
    if (is_stopped) return {};
    auto made = make_op_case(call, ops);
    if (!made.ok() && made.error().kind == ErrorKind::kUnsupported && pass_over) {
      pass_over(call, made.error());
      return {};
    }
    if (!made.ok()) {
      return made.error().at(base_name(jsonl_path) + ":" + std::to_string(call.line));
    }
    is_stopped = !visit(made.value());
    return {};
  };
  return read_op_calls(jsonl_path, stem + ".safetensors", convert);
}

}  // namespace graphgate::interop
