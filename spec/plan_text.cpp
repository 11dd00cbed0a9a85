#include "spec/plan_text.h"

#include <array>
#include <utility>

#include "spec/node_text.h"
#include "spec/plan_names.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

constexpr std::array<std::pair<PoolKind, std::string_view>, 5> kPoolKinds = {{
    {PoolKind::kState, "state"},
    {PoolKind::kInput, "input"},
    {PoolKind::kArena, "arena"},
    {PoolKind::kHeap, "heap"},
    {PoolKind::kCaller, "caller"},
}};
constexpr std::array<std::pair<InputKind, std::string_view>, 4> kInputKinds = {{
    {InputKind::kParameter, "parameter"},
    {InputKind::kBuffer, "buffer"},
    {InputKind::kTensorConstant, "constant"},
    {InputKind::kUserInput, "user"},
}};

template <class Table, class Kind>
std::string_view find_name(const Table& table, Kind kind) {
  for (const auto& [known, name] : table) {
    if (known == kind) return name;
  }
  return {};
}

template <class Kind, std::size_t kCount>
std::optional<Kind> find_kind(const std::array<std::pair<Kind, std::string_view>, kCount>& table,
                              std::string_view name) {
  for (const auto& [kind, known] : table) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

// " stream 1", " wait 0, 2": with a comma between the items.
template <class Items, class Print>
std::string print_items(std::string_view keyword, const Items& items, Print print) {
  std::string text;
  for (const auto& item : items) {
    text += text.empty() ? std::string(keyword) + " " : ", ";
    text += print(item);
  }
  return text;
}

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const OpTable& ops)
      : plan_(plan),
        ops_(ops),
        names_(plan_names(plan)),
        has_maker_(made_values(plan)),
        defined_(plan.values.size(), false) {}

  std::string print() {
    out_ = "plan " + quote_string(plan_.name) + " " + plan_.arithmetic + " {\n";
    if (plan_.event_count > 0) line("events " + std::to_string(plan_.event_count));
    for (const auto& [name, value] : plan_.key) {
      line("key " + quote_string(name) + " = " + quote_string(value));
    }
    for (const auto& [name, size] : plan_.symbols) {
      line("symbol " + name + " = " + std::to_string(size));
    }
    if (plan_.padding) line("padding " + plan_.padding->symbol);
    for (const PlanPool& pool : plan_.pools) print_pool(pool);
    for (const PlanBuffer& buffer : plan_.buffers) print_buffer(buffer);
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) print_input(i);
    for (const PlanBlock& block : plan_.blocks) print_block(block);
    for (const PlanInput& input : plan_.inputs) print_final_value(input);
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const bool weak =
          i < plan_.output_lifetimes.size() && plan_.output_lifetimes[i] == OutputLifetime::kWeak;
      print_output(plan_.outputs[i], weak ? "output weak " : "output ",
                   plan_.padding ? print_pad(plan_.padding->output_dims, i) : "");
    }
    for (const ValueId id : unmentioned_values(plan_, defined_)) print_view(id);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_.append(2 * depth_, ' ');
    out_ += text;
    out_ += '\n';
  }

  void close() {
    --depth_;
    line("}");
  }

  void print_pool(const PlanPool& pool) {
    line("pool " + print_sigil_name('@', pool.name) + " " + std::string(pool_kind_name(pool.kind)) +
         " on " + print_device_name(pool.device) + " " + std::to_string(pool.size_bytes) +
         " align " + std::to_string(pool.alignment_bytes));
  }

  void print_buffer(const PlanBuffer& buffer) {
    const PlanPool& pool = plan_.pools.at(buffer.pool.index);
    std::string text =
        "buffer " + print_sigil_name('$', buffer.name) + " " + print_sigil_name('@', pool.name);
    if (pool.kind != PoolKind::kHeap) {
      text += " [" + std::to_string(buffer.offset_bytes) + ", " +
              std::to_string(buffer.offset_bytes + buffer.size_bytes) + ")";
    }
    line(text);
  }

  // " pad 0": the dimension that a call may fill in part only.
  static std::string print_pad(const std::vector<std::optional<std::uint32_t>>& dims,
                               std::size_t index) {
    if (index >= dims.size() || !dims[index]) return "";
    return " pad " + std::to_string(*dims[index]);
  }

  void print_input(std::size_t index) {
    const PlanInput& input = plan_.inputs[index];
    std::string text =
        "input " + std::string(input_kind_name(input.kind)) + " " + quote_string(input.target);
    if (input.constant) {
      text += " = ";
      print_argument(names_, *input.constant, text);
    } else {
      text += " " + print_definition(input.value);
    }
    if (plan_.padding) text += print_pad(plan_.padding->input_dims, index);
    line(text);
  }

  void print_final_value(const PlanInput& input) {
    if (!input.final_value) return;
    print_views(Argument{*input.final_value});
    line("final " + print_definition(input.value) + " = " + print_definition(*input.final_value));
  }

  void print_block(const PlanBlock& block) {
    line("block " + print_sigil_name('@', block.name) + " {");
    ++depth_;
    for (std::size_t i = 0; i < block.partitions.size(); ++i) {
      print_partition(block.partitions[i], i);
    }
    for (const Argument& output : block.outputs) print_output(output, "output ", "");
    close();
  }

  void print_partition(const PlanPartition& partition, std::size_t index) {
    line("partition " + std::to_string(index) +
         (partition.captured ? " captured {" : " eager " + quote_string(partition.reason) + " {"));
    ++depth_;
    print_signature(partition.signature);
    for (std::size_t i = partition.begin_step; i < partition.end_step; ++i) {
      print_step(plan_.steps.at(i));
    }
    close();
  }

  void print_signature(const PlanSignature& signature) {
    const auto name = [this](BufferId id) { return buffer_name(id); };
    const auto input_name = [this](const SignatureInput& input) {
      return (input.deallocate ? "free " : "") + buffer_name(input.buffer);
    };
    const std::string lines[] = {
        print_items("in", signature.inputs, input_name),
        print_items("out", signature.outputs, name),
        print_items("constants", signature.constants, name),
        print_items("symbols", signature.symbols, [](const std::string& symbol) { return symbol; }),
    };
    for (const std::string& text : lines) {
      if (!text.empty()) line(text);
    }
  }

  void print_step(const PlanStep& step) {
    const auto event = [](EventId id) { return std::to_string(id.index); };
    std::string text = print_node(step.node, step_count_++);
    if (step.workspace) text += " workspace " + buffer_name(*step.workspace);
    if (step.stream != 0) text += " stream " + std::to_string(step.stream);
    text += print_items(" wait", step.waits, event);
    text += print_items(" record", step.records, event);
    if (step.body.empty()) return line(text);
    line(text + " {");
    ++depth_;
    for (std::size_t i = 0; i < step.body.size(); ++i) line(print_node(step.body[i], i));
    close();
  }

  // The views that it mentions first stand in front of it.
  std::string print_node(const Node& node, std::size_t index) {
    for (const NamedArgument& named : node.arguments) print_views(named.argument);
    std::string text;
    print_bare_node(
        names_, node, ops_, [this](ValueId id) { return print_definition(id); }, text);
    if (node.name != default_node_name(names_, node, index)) text += " as " + print_name(node.name);
    return text;
  }

  void print_output(const Argument& output, std::string_view keyword, const std::string& pad) {
    print_views(output);
    std::string text(keyword);
    print_argument(names_, output, text);
    line(text + pad);
  }

  // What the next line mentions first.
  void print_views(const Argument& argument) {
    for_each_value(argument, [this](ValueId id) {
      if (!has_maker_.at(id.index) && !defined_[id.index]) print_view(id);
    });
  }

  void print_view(ValueId id) { line("view " + print_definition(id)); }

  // The name alone where the value was defined before.
  std::string print_definition(ValueId id) {
    const PlanValue& value = plan_.values.at(id.index);
    std::string text = print_sigil_name('%', value.value.name);
    if (defined_[id.index]) return text;
    defined_[id.index] = true;
    text += print_value_type(value.value);
    if (value.buffer) text += " " + buffer_name(*value.buffer);
    return text;
  }

  std::string buffer_name(BufferId id) const {
    return print_sigil_name('$', plan_.buffers.at(id.index).name);
  }

  const Plan& plan_;
  const OpTable& ops_;
  Graph names_;
  std::vector<bool> has_maker_;  // values that an input or a step makes
  std::vector<bool> defined_;    // values whose definition is printed
  std::size_t step_count_ = 0;   // printed so far
  std::size_t depth_ = 1;
  std::string out_;
};

}  // namespace

std::string print_plan(const Plan& plan, const OpTable& ops) {
  return PlanPrinter(plan, ops).print();
}

Graph plan_names(const Plan& plan) {
  Graph graph;
  graph.values.reserve(plan.values.size());
  for (const PlanValue& value : plan.values) graph.values.push_back(value.value);
  for (const PlanBlock& block : plan.blocks) {
    graph.subgraphs.emplace_back();
    graph.subgraphs.back().name = block.name;
  }
  return graph;
}

std::string_view pool_kind_name(PoolKind kind) { return find_name(kPoolKinds, kind); }
std::optional<PoolKind> parse_pool_kind(std::string_view name) {
  return find_kind(kPoolKinds, name);
}
std::string_view input_kind_name(InputKind kind) { return find_name(kInputKinds, kind); }
std::optional<InputKind> parse_input_kind(std::string_view name) {
  return find_kind(kInputKinds, name);
}

}  // namespace graphgate::spec
