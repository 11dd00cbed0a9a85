#include "tools/bench/chain.h"

#include <sstream>

#include "spec/executor.h"
#include "spec/graph_text.h"

namespace graphgate::tools {
namespace {

// A chain that grows at its end.
class Chain {
 public:
  Chain(spec::InputKind kind, std::int64_t elements) {
    program_.name = "chain";
    type_ = {spec::DType::kFloat32, {elements}, {1}, 0, {}, {}};
    last_ = add_value("x");
    program_.graph.inputs = {last_};
    program_.inputs = {{kind, last_, "x", true, std::nullopt}};
    if (kind == spec::InputKind::kUserInput) return;
    program_.tensors.emplace("x", spec::make_host_tensor(spec::DType::kFloat32, {elements}));
  }

  void add(const std::string& op) { add_node(op, {}); }
  void add(const std::string& op, double constant) { add_node(op, {{"other", {constant}}}); }
  void add_turned() {
    add_node("aten.flip.default", {{"dims", {spec::Argument::List{{std::int64_t{0}}}}}});
  }
  // `other` is the value so many nodes before the last, or the first of all.
  void add_earlier(const std::string& op, std::uint32_t distance) {
    const spec::ValueId earlier{last_.index < distance ? 0 : last_.index - distance};
    add_node(op, {{"other", {earlier}}});
  }

  spec::Program take() {
    program_.graph.outputs = {{last_}};
    program_.outputs = {{spec::OutputKind::kUserOutput, ""}};
    return std::move(program_);
  }

 private:
  spec::ValueId add_value(const std::string& name) {
    spec::Value value;
    value.name = name;
    value.type = type_;
    program_.graph.values.push_back(std::move(value));
    return {static_cast<std::uint32_t>(program_.graph.values.size() - 1)};
  }

  void add_node(const std::string& op, std::vector<spec::NamedArgument> arguments) {
    spec::Node node;
    node.name = "n" + std::to_string(program_.graph.nodes.size());
    node.op = op;
    node.arguments = {{"self", {last_}}};
    node.arguments.insert(node.arguments.end(), arguments.begin(), arguments.end());
    last_ = add_value(node.name);
    node.results = {{false, {last_}}};
    program_.graph.nodes.push_back(std::move(node));
  }

  spec::Program program_;
  spec::TensorType type_;
  spec::ValueId last_;
};

}  // namespace

spec::Program make_reusing_chain(std::size_t nodes) {
  constexpr std::int64_t kElements = 8;
  constexpr std::uint32_t kDistance = 40;
  Chain chain(spec::InputKind::kUserInput, kElements);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i % 3 == 0) {
      chain.add("aten.relu.default");
    } else if (i % 3 == 1) {
      chain.add_earlier("aten.add.Tensor", kDistance);
    } else {
      chain.add("aten.mul.Tensor", 0.5);
    }
  }
  return chain.take();
}

spec::Program make_straight_chain(std::size_t nodes, std::int64_t elements) {
  Chain chain(spec::InputKind::kBuffer, elements);
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i % 3 == 0) {
      chain.add("aten.mul.Tensor", 0.5);
    } else if (i % 3 == 1) {
      chain.add("aten.add.Tensor", 1.0);
    } else {
      chain.add("aten.relu.default");
    }
  }
  return chain.take();
}

spec::Program make_turning_chain(std::size_t nodes, std::int64_t elements) {
  Chain chain(spec::InputKind::kBuffer, elements);
  for (std::size_t i = 0; i < nodes; ++i) chain.add_turned();
  return chain.take();
}

spec::Program make_layers(std::size_t layers, std::int64_t width, std::int64_t most_rows) {
  std::ostringstream text;
  text << "program \"layers\" {\n  symbol s0 in [1, " << most_rows << "]\n";
  for (std::size_t i = 0; i < layers; ++i) {
    text << "  parameter %w" << i << " \"w" << i << "\" : f32[" << width << ", " << width << "]\n";
  }
  text << "  input %x0 : f32[s0, " << width << "]\n";
  for (std::size_t i = 0; i < layers; ++i) {
    text << "  %m" << i << " : f32[s0, " << width << "] = aten.mm.default(%x" << i << ", %w" << i
         << ")\n  %x" << i + 1 << " : f32[s0, " << width << "] = aten.relu.default(%m" << i
         << ")\n";
  }
  text << "  output %x" << layers << "\n}\n";
  spec::Program program = spec::parse_program(text.str(), spec::builtin_op_table()).value();
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == spec::InputKind::kUserInput) continue;
    program.tensors.emplace(input.target,
                            spec::make_host_tensor(spec::DType::kFloat32, {width, width}));
  }
  return program;
}

}  // namespace graphgate::tools
