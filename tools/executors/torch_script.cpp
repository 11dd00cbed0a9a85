#include "tools/executors/torch_script.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/one_line.h"
#include "conformance/run/trace.h"
#include "spec/element_text.h"
#include "spec/graph.h"
#include "spec/option.h"
#include "spec/schema.h"
#include "tools/executors/executor_sources.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {

// What every script has before the case, and behind it (cmake/embed_text.cmake).
extern const std::string_view kTorchScriptTexts[];

namespace {

using conformance::Script;
using spec::Argument;
using spec::Graph;
using spec::HostTensor;
using spec::ValueId;

// So many elements of all calls are held to numbers of the reference; beyond it, to layouts alone.
constexpr std::size_t kMostNumbers = 1U << 16U;
// A longer storage is written as bytes in base 64.
constexpr std::size_t kMostLiterals = 64;

// ---- literals of Python ----

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += std::string("\\x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// A float that reads back to the same double.
std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string out(text.data(), end);
  const bool is_float = out.find_first_of(".en") != std::string::npos;
  return is_float ? out : out + ".0";
}

std::string python_bool(bool value) { return value ? "True" : "False"; }

std::string python_dtype(spec::DType dtype) {
  return "torch." + std::string(spec::torch_name(dtype));
}

template <class Number>
std::string python_list(const std::vector<Number>& numbers) {
  std::string out = "[";
  for (const Number number : numbers) {
    out += (out.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return out + "]";
}

std::string base64(const std::vector<std::byte>& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      word = word << 8U | (j < count ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= count ? kDigits[word >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return out;
}

// The elements of a storage as a list, where a person reads it and PyTorch reads back the same
// bits; else nothing.
std::string element_list(const std::vector<std::byte>& bytes, spec::DType dtype) {
  const auto size = static_cast<std::size_t>(spec::item_size_bytes(dtype));
  const bool is_plain = spec::is_integral(dtype) || dtype == spec::DType::kBool ||
                        dtype == spec::DType::kFloat32 || dtype == spec::DType::kFloat64;
  if (!is_plain || bytes.size() % size != 0 || bytes.size() / size > kMostLiterals) return "";
  std::string out = "[";
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const auto text = spec::print_element(dtype, std::span(bytes).subspan(at, size));
    if (!text) return "";
    std::string word = *text;
    if (dtype == spec::DType::kBool) word = python_bool(word == "true" || word == "True");
    out += (at > 0 ? ", " : "") + word;
  }
  return out + "]";
}

// ---- names ----

// Words that Python, or the head of every script, has taken. Between blanks.
constexpr std::string_view kTakenWords =
    " False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield self torch operator math inf nan tensor memory ";

bool is_keyword(const std::string& word) {
  return kTakenWords.find(" " + word + " ") != std::string_view::npos;
}

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  const bool may_begin = !out.empty() && !std::isdigit(static_cast<unsigned char>(out.front()));
  if (!may_begin) out.insert(0, "v");
  return is_keyword(out) ? out + "_" : out;
}

class Names {
 public:
  std::string fresh(std::string_view wanted) {
    const std::string base = identifier(wanted);
    std::string name = base;
    for (int n = 2; !used_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
  }

 private:
  std::set<std::string> used_;
};

std::string attribute(std::string_view target) {
  std::string out = "state_";
  for (const char c : target) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

// ---- programs ----

// Whether PyTorch has the op without other packages.
bool is_of_torch(const std::string& op) {
  const std::string ns = op.substr(0, op.find('.'));
  return ns == "aten" || ns == "prims" || ns == "quantized_decomposed" ||
         spec::is_python_namespace(ns);
}

// Higher-order ops that a plain function may hold.
bool is_plain_higher_order(std::string_view op) {
  return op == "higher_order.cond" || op == "higher_order.while_loop" || op == "higher_order.scan";
}

std::string called_name(const std::string& op) {
  if (op.starts_with("_operator.")) return op.substr(1);
  return spec::is_python_namespace(op.substr(0, op.find('.'))) ? op : "torch.ops." + op;
}

// The lines of one graph, as the body of a function.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const spec::OpTable& ops, std::string indent)
      : graph_(graph), ops_(ops), indent_(std::move(indent)), names_of_(graph.values.size()) {}

  void name_value(ValueId id, const std::string& name) { names_of_[id.index] = name; }
  std::string fresh(std::string_view wanted) { return names_.fresh(wanted); }

  // Appends subgraphs and nodes.
  Result<void> write(std::string& out) {
    for (const Graph& subgraph : graph_.subgraphs) {
      functions_.push_back(names_.fresh(subgraph.name));
    }
    for (std::size_t i = 0; i < graph_.subgraphs.size(); ++i) {
      GRAPHGATE_TRY_VOID(write_function(graph_.subgraphs[i], functions_[i],
                                        is_condition(static_cast<std::uint32_t>(i)), out));
    }
    for (const spec::Node& node : graph_.nodes) GRAPHGATE_TRY_VOID(write_node(node, out));
    return {};
  }

  Result<std::string> print(const Argument& argument, const char* open = "[") const {
    if (argument.as<spec::None>()) return std::string("None");
    if (const auto* flag = argument.as<bool>()) return python_bool(*flag);
    if (const auto* number = argument.as<std::int64_t>()) return std::to_string(*number);
    if (const auto* number = argument.as<double>()) return python_float(*number);
    if (const auto* number = argument.as<spec::ComplexNumber>()) {
      return "complex(" + python_float(number->real) + ", " + python_float(number->imag) + ")";
    }
    if (const auto* text = argument.as<std::string>()) return python_string(*text);
    if (const auto* dtype = argument.as<spec::DType>()) return python_dtype(*dtype);
    if (const auto* device = argument.as<spec::Device>()) {
      return "torch.device(" + python_string(spec::print_device(*device)) + ")";
    }
    if (const auto* layout = argument.as<spec::Layout>()) {
      return "torch." + std::string(spec::layout_name(*layout));
    }
    if (const auto* format = argument.as<spec::MemoryFormat>()) {
      return "torch." + std::string(spec::memory_format_name(*format));
    }
    if (const auto* id = argument.as<ValueId>()) return names_of_.at(id->index);
    if (const auto* id = argument.as<spec::SubgraphId>()) return functions_.at(id->index);
    const auto* list = argument.as<Argument::List>();
    if (!list) return unsupported("a function of PyTorch takes no op as an argument");
    const bool is_tuple = open[0] == '(';
    std::string out = open;
    for (const Argument& element : *list) {
      GRAPHGATE_TRY(const std::string text, print(element));
      out += (out.size() > 1 ? ", " : "") + text;
    }
    if (is_tuple && list->size() == 1) out += ',';
    return out + (is_tuple ? ")" : "]");
  }

 private:
  // A while_loop's first function returns no tuple.
  [[nodiscard]] bool is_condition(std::uint32_t subgraph) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const spec::Node& node) {
      const bool is_loop = node.op == "higher_order.while_loop" && !node.arguments.empty();
      const auto* first =
          is_loop ? node.arguments.front().argument.as<spec::SubgraphId>() : nullptr;
      return first && first->index == subgraph;
    });
  }

  Result<void> write_function(const Graph& graph, const std::string& name, bool is_condition,
                              std::string& out) {
    GraphWriter inner(graph, ops_, indent_ + "    ");
    std::string parameters;
    for (const ValueId input : graph.inputs) {
      const std::string parameter = inner.fresh(graph.value(input).name);
      inner.name_value(input, parameter);
      parameters += (parameters.empty() ? "" : ", ") + parameter;
    }
    out += indent_ + "def " + name + "(" + parameters + "):\n";
    GRAPHGATE_TRY_VOID(inner.write(out));
    GRAPHGATE_TRY(const std::string results, inner.print(Argument{graph.outputs}, "("));
    if (is_condition && graph.outputs.size() == 1) {
      GRAPHGATE_TRY(const std::string only, inner.print(graph.outputs.front()));
      out += indent_ + "    return " + only + "\n\n";
    } else {
      out += indent_ + "    return " + results + "\n\n";
    }
    return {};
  }

  Result<std::string> arguments_of(const spec::Node& node) const {
    const bool is_higher = node.op.starts_with("higher_order.");
    const spec::OpRow* row = ops_.find(node.op);
    std::string out;
    bool in_order = true;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const auto& [name, argument] = node.arguments[i];
      GRAPHGATE_TRY(const std::string text, print(argument, is_higher ? "(" : "["));
      const auto place = row ? row->schema.find_argument(name) : std::nullopt;
      in_order = in_order && (!place || (*place == i && !row->schema.arguments[i].kwarg_only));
      out += out.empty() ? "" : ", ";
      if (!in_order && !name.empty()) out.append(name).append("=");
      out += text;
    }
    return out;
  }

  Result<void> write_node(const spec::Node& node, std::string& out) {
    const bool is_higher = node.op.starts_with("higher_order.");
    if (is_higher ? !is_plain_higher_order(node.op) : !is_of_torch(node.op)) {
      return unsupported("node '" + node.name + "': PyTorch alone has no " + node.op);
    }
    GRAPHGATE_TRY(const std::string arguments, arguments_of(node));
    std::string results;
    bool has_any = false;
    for (const spec::NodeResult& result : node.results) {
      std::string place;
      for (const ValueId id : result.values) {
        const bool is_nothing = graph_.value(id).kind == spec::ValueKind::kNone;
        const std::string name = is_nothing ? "_" : names_.fresh(graph_.value(id).name);
        names_of_[id.index] = is_nothing ? "None" : name;
        has_any = has_any || !is_nothing;
        place += (place.empty() ? "" : ", ") + name;
      }
      results += (results.empty() ? "" : ", ") + (result.is_list ? "[" + place + "]" : place);
    }
    const bool is_tuple = is_higher && node.results.size() == 1;
    out += indent_;
    if (has_any) out += results + (is_tuple ? ", = " : " = ");
    out += called_name(node.op) + "(" + arguments + ")\n";
    return {};
  }

  const Graph& graph_;
  const spec::OpTable& ops_;
  std::string indent_;
  Names names_;
  std::vector<std::string> names_of_;
  std::vector<std::string> functions_;
};

bool is_on_host(const Graph& graph) {
  const auto is_host = [](const spec::Value& value) {
    return !value.type || value.type->device.type == "cpu";
  };
  return std::all_of(graph.values.begin(), graph.values.end(), is_host) &&
         std::all_of(graph.subgraphs.begin(), graph.subgraphs.end(), is_on_host);
}

// A class for a program: states are attributes, forward() its nodes.
Result<std::string> print_module(const spec::Program& program, const spec::OpTable& ops,
                                 const std::string& name) {
  if (!is_on_host(program.graph)) {
    return unsupported("program '" + program.name + "' has tensors that are not on the host");
  }
  GraphWriter writer(program.graph, ops, "        ");
  std::string parameters;
  std::map<std::string, std::string> user_inputs;
  std::string states;
  std::string head = "\n\nclass " + name + "(torch.nn.Module):\n";
  std::string names;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput) {
      const std::string parameter = writer.fresh(input.target.empty() ? "x" : input.target);
      parameters += ", " + parameter;
      user_inputs[input.target] = parameter;
      if (!input.constant) writer.name_value(input.value, parameter);
      continue;
    }
    const std::string held = attribute(input.target);
    names += (names.empty() ? "" : ", ") + python_string(input.target) + ": " + python_string(held);
    const bool is_parameter = input.kind == spec::InputKind::kParameter;
    states += is_parameter ? "        self." + held + " = torch.nn.Parameter(states[" +
                                 python_string(input.target) + "], requires_grad=False)\n"
                           : "        self.register_buffer(" + python_string(held) + ", states[" +
                                 python_string(input.target) + "])\n";
    writer.name_value(input.value, "self." + held);
  }
  head += "    names = {" + names + "}\n\n    def __init__(self, states):\n" +
          "        super().__init__()\n" + states + "\n    def forward(self" + parameters + "):\n";
  std::string body;
  GRAPHGATE_TRY_VOID(writer.write(body));
  Argument::List results;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const spec::ProgramOutput& output = program.outputs[i];
    if (output.kind == spec::OutputKind::kUserOutput) {
      results.push_back(program.graph.outputs[i]);
      continue;
    }
    GRAPHGATE_TRY(const std::string value, writer.print(program.graph.outputs[i]));
    const bool is_input = output.kind == spec::OutputKind::kUserInputMutation;
    const std::string held =
        is_input ? user_inputs[output.target] : "self." + attribute(output.target);
    const std::string written = writer.fresh("written");
    body.append("        ").append(written).append(" = torch.ops.aten.copy_.default(");
    body.append(held).append(", ").append(value).append(")\n");
    // An output that is the new contents of a target is the target.
    if (const auto* id = program.graph.outputs[i].as<ValueId>()) writer.name_value(*id, written);
  }
  GRAPHGATE_TRY(const std::string returned, writer.print(Argument{results}, "("));
  return head + body + "        return " + returned + "\n";
}

// ---- data ----

// Storages by the order in which they are met, each once in a step.
class DataWriter {
 public:
  explicit DataWriter(std::string indent) : indent_(std::move(indent)) {}

  // An expression for the tensor; what it needs is appended before.
  std::string tensor(const HostTensor& tensor, std::string& out) {
    const auto [found, is_new] = storages_.emplace(tensor.storage.get(), "");
    if (is_new) {
      found->second = "m" + std::to_string(storages_.size() - 1);
      const std::string elements = element_list(tensor.storage->bytes, tensor.dtype);
      out += indent_ + found->second + " = memory(" + python_dtype(tensor.dtype) + ", " +
             (elements.empty() ? python_string(base64(tensor.storage->bytes)) : elements) + ")\n";
    }
    return "tensor(" + found->second + ", " + python_dtype(tensor.dtype) + ", " +
           python_list(tensor.sizes) + ", " + python_list(tensor.strides) + ", " +
           std::to_string(tensor.storage_offset) + ")";
  }

  std::string value(const spec::InputValue& value, std::string& out) {
    if (const auto* held = std::get_if<HostTensor>(&value)) return tensor(*held, out);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return python_float(*number);
    return python_bool(std::get<bool>(value));
  }

 private:
  std::string indent_;
  std::map<const spec::HostStorage*, std::string> storages_;
};

// ---- the scenario ----

std::string class_of(const Script& script, std::size_t program) {
  std::string name = "Program";
  if (script.programs.size() > 1) name += std::to_string(program);
  return name;
}

// Steps as they come: a call is a line that begins with what it passes.
class ScenarioWriter {
 public:
  explicit ScenarioWriter(const Script& script) : script_(script) {}

  Result<std::string> write() {
    out_ = "\n\ndef scenario(side):\n";
    for (std::size_t i = 0; i < script_.programs.size(); ++i) load(i);
    for (const conformance::ScriptStep& step : script_.steps) {
      GRAPHGATE_TRY_VOID(std::visit([this](const auto& one) { return add(one); }, step));
    }
    return out_;
  }

 private:
  static std::string key(std::size_t program) { return std::to_string(program); }

  void load(std::size_t index) {
    const spec::Program& program = *script_.programs[index];
    DataWriter& data = data_;
    std::string states;
    for (const auto& [target, tensor] : program.tensors) {
      const std::string text = data.tensor(tensor, out_);
      states += (states.empty() ? "" : ", ") + python_string(target) + ": " + text;
    }
    out_ +=
        "    side.load(" + key(index) + ", " + class_of(script_, index) + "({" + states + "}))\n";
  }

  Result<void> add(const conformance::ScriptCall& call) {
    DataWriter data("    ");
    std::string inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const auto fed = fed_.find({call.program, i});
      inputs += ", ";
      inputs += fed == fed_.end() ? data.value(call.inputs[i], out_) : fed->second;
    }
    fed_.clear();
    out_ += "    r" + key(call.program) + " = side.call(" + key(call.program) + inputs + ")\n";
    return {};
  }
  Result<void> add(const conformance::ScriptFeedBack& step) {
    fed_[{step.input.program, step.input.index}] =
        "r" + key(step.output.program) + "[" + std::to_string(step.output.index) + "]";
    return {};
  }
  Result<void> add(const conformance::ScriptSwap& step) {
    if (step.rebind) return unsupported("a state is bound to new memory");
    DataWriter data("    ");
    for (const auto& [target, tensor] : step.values) {
      const std::string text = data.tensor(tensor, out_);
      out_ += "    side.state(" + key(step.program) + ", " + python_string(target) + ").copy_(" +
              text + ")\n";
    }
    return {};
  }
  Result<void> add(const conformance::ScriptRestart& /*step*/) {
    return unsupported("the case restarts its process");
  }
  // Results stay where they are, and are looked at when they come.
  Result<void> add(const conformance::ScriptHold& /*step*/) { return {}; }
  Result<void> add(const conformance::ScriptRelease& /*step*/) { return {}; }
  Result<void> add(const conformance::ScriptCheck& /*step*/) { return {}; }
  Result<void> add(const conformance::ScriptStatic& /*step*/) { return {}; }
  // PyTorch keeps its memory, and serves no call meanwhile.
  Result<void> add(const conformance::ScriptSleep& /*step*/) { return {}; }
  Result<void> add(const conformance::ScriptWake& /*step*/) { return {}; }

  const Script& script_;
  DataWriter data_{"    "};
  std::map<std::pair<std::size_t, std::size_t>, std::string> fed_;
  std::string out_;
};

// ---- what must come out ----

std::string number_text(long double value, bool is_exact) {
  if (!is_exact || !std::isfinite(value)) return python_float(static_cast<double>(value));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.0Lf", value);
  return text.data();
}

// The radius around a value that was rounded to a double itself.
std::string radius_text(double radius, long double value) {
  if (!std::isfinite(radius)) return "None";
  if (radius == 0 && static_cast<long double>(static_cast<double>(value)) == value) return "0";
  const auto lost = std::isfinite(value) ? static_cast<double>(std::fabs(value)) * 0x1p-52 : 0;
  return python_float(radius * (1 + 0x1p-40) + lost);
}

class Expectations {
 public:
  std::string call(const spec::CallResult& result) {
    groups_.clear();
    std::string values;
    const auto add = [&](const std::string& name, const auto& value, const spec::Spread* spread) {
      const std::string text = value_text(name, value, spread);
      if (!text.empty()) values += "        " + python_string(name) + ": " + text + ",\n";
    };
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      add("output " + std::to_string(i), result.outputs[i], spread_at(result.output_spreads, i));
    }
    for (std::size_t i = 0; i < result.final_inputs.size(); ++i) {
      add("input " + std::to_string(i), result.final_inputs[i],
          spread_at(result.final_input_spreads, i));
    }
    for (std::size_t i = 0; i < result.final_states.size(); ++i) {
      add("state '" + result.state_targets[i] + "'", spec::OutputValue(result.final_states[i]),
          spread_at(result.final_state_spreads, i));
    }
    std::string shared;
    for (const auto& [storage, names] : groups_) {
      if (names.size() < 2) continue;
      std::string group;
      for (const std::string& name : names) {
        group += (group.empty() ? "" : ", ") + python_string(name);
      }
      shared += (shared.empty() ? "[" : ", [") + group + "]";
    }
    return "    {\"values\": {\n" + values + "    }, \"shared\": [" + shared + "]},\n";
  }

  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  static const spec::Spread* spread_at(const std::vector<spec::Spread>& spreads, std::size_t i) {
    return i < spreads.size() ? &spreads[i] : nullptr;
  }

  std::string value_text(const std::string& name, const HostTensor& tensor,
                         const spec::Spread* spread) {
    if (!tensor.storage->bytes.empty()) groups_[tensor.storage.get()].push_back(name);
    std::string text = "(" + python_dtype(tensor.dtype) + ", " + python_list(tensor.sizes) + ", " +
                       python_list(tensor.strides) + ", " + std::to_string(tensor.storage_offset);
    const std::size_t count = spread ? spread->values.size() : 0;
    const bool has_any = spread && (count > 0 || spec::element_count(tensor.sizes) == 0);
    if (!has_any || numbers_ + count > kMostNumbers) {
      is_cut_ = is_cut_ || has_any;
      return text + ", None, None)";
    }
    numbers_ += count;
    const bool is_exact = !spec::is_floating_point(tensor.dtype) && !spec::is_complex(tensor.dtype);
    std::string values;
    std::vector<std::string> radii;
    for (std::size_t i = 0; i < count; ++i) {
      values += (i > 0 ? ", " : "") + number_text(spread->values[i], is_exact);
      radii.push_back(radius_text(spread->radii[i], spread->values[i]));
    }
    const bool is_one = std::all_of(radii.begin(), radii.end(),
                                    [&](const std::string& each) { return each == radii.front(); });
    std::string all;
    for (const std::string& radius : radii) all += (all.empty() ? "" : ", ") + radius;
    const std::string radius = radii.empty() ? "0" : is_one ? radii.front() : "[" + all + "]";
    return text + ",\n            [" + values + "],\n            " + radius + ")";
  }

  template <class Value>
  std::string value_text(const std::string& name, const Value& value, const spec::Spread* spread) {
    if (const auto* tensor = std::get_if<HostTensor>(&value)) {
      return value_text(name, *tensor, spread);
    }
    if constexpr (std::is_same_v<Value, spec::OutputValue>) {
      if (std::holds_alternative<spec::None>(value)) return "None";
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* flag = std::get_if<bool>(&value)) return python_bool(*flag);
    // A float that was read of a rounded element has a radius of its own.
    const bool is_rounded = spread && !spread->radii.empty() && spread->radii.front() != 0;
    return is_rounded ? "" : python_float(std::get<double>(value));
  }

  std::map<const spec::HostStorage*, std::vector<std::string>> groups_;
  std::size_t numbers_ = 0;
  bool is_cut_ = false;
};

// The options of Inductor that stand for a case's.
std::string options_text(const spec::Configuration& options) {
  struct Row {
    const char* name;
    const char* text;
  };
  constexpr Row kRows[] = {{spec::option::kNoReuse, "\"allow_buffer_reuse\": False"},
                           {spec::option::kNoInPlace, "\"inplace_buffers\": False"}};
  std::string text;
  for (const Row& row : kRows) {
    if (options.contains(row.name)) text += (text.empty() ? "" : ", ") + std::string(row.text);
  }
  return text.empty() ? "None" : "{" + text + "}";
}

// Words of a docstring: nothing that ends it.
std::string doc_text(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) out += c == '\\' || c == '"' ? '\'' : c;
  return out;
}

}  // namespace

Result<std::string> print_torch_script(const spec::CaseFile& the_case, const std::string& folder_of,
                                       const TorchScriptWords& words) {
  const auto files = files_beside(folder_of);
  GRAPHGATE_TRY(const Script script, conformance::script_of(the_case, *files));
  std::string modules;
  bool has_quantized = false;
  for (std::size_t i = 0; i < script.programs.size(); ++i) {
    GRAPHGATE_TRY(const std::string module,
                  print_module(*script.programs[i], *script.ops, class_of(script, i)));
    has_quantized = has_quantized || module.find("torch.ops.quantized_decomposed.") != module.npos;
    modules += module;
  }
  ScenarioWriter scenario(script);
  GRAPHGATE_TRY(const std::string steps, scenario.write());
  const conformance::Configuration mode = {{spec::option::kMode, "worst-case"},
                                           {spec::option::kArithmetic, "fast"}};
  const auto oracle = reference_source(script.options.contains(spec::option::kAllowZeroAndOne));
  GRAPHGATE_TRY(const auto executor, oracle->make(mode, *script.ops));
  const conformance::Trace trace = conformance::run_script(script, *executor, mode);
  const bool is_refused = trace.error && trace.error->kind == ErrorKind::kBadInput;
  if (trace.error && !is_refused) return *trace.error;
  Expectations expectations;
  std::string expected;
  for (const conformance::CallRecord& call : trace.calls)
    expected += expectations.call(call.result);

  std::string text = "\"\"\"" + doc_text(the_case.name.empty() ? "A case" : the_case.name) +
                     ": what PyTorch gives in eager mode and compiled, beside what it must give.\n";
  if (!words.signature.empty()) text += "\nFound as: " + doc_text(words.signature) + "\n";
  if (!words.origin.empty()) text += "With graphgate: " + doc_text(words.origin) + "\n";
  text +=
      "\nWritten by graphgate; needs PyTorch alone. EXPECTED holds values, and how far rounding "
      "may take each from it.\nExit status: 1 where a difference shows, 0 where none does.\n";
  if (expectations.is_cut()) {
    text +=
        "The calls have more elements than are listed: of the others, layouts are held alone.\n";
  }
  text += "\"\"\"\n\n" + std::string(kTorchScriptTexts[0]);
  if (has_quantized)
    text += "\nfrom torch.ao.quantization.fx import _decomposed  # noqa: E402,F401\n";
  text += modules + steps;
  text += "\n\nREFUSED = " +
          (is_refused ? python_string(one_line(trace.error->message)) : std::string("\"\"")) + "\n";
  text += "OPTIONS = " + options_text(script.options) + "\nEXPECTED = [\n" + expected + "]\n";
  return text + std::string(kTorchScriptTexts[1]);
}

}  // namespace graphgate::tools
