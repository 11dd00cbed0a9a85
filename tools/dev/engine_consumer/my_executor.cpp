#include "my_executor.h"

#include <cstring>
#include <map>
#include <set>

namespace {

using namespace graphgate;
using spec::HostTensor;
using spec::ValueId;

float read(const HostTensor& tensor, std::int64_t at) {
  float value = 0;
  std::memcpy(&value, tensor.storage->bytes.data() + at * 4, 4);
  return value;
}

const spec::Argument* find(const spec::Node& node, std::string_view name) {
  for (const spec::NamedArgument& each : node.arguments) {
    if (each.name == name) return &each.argument;
  }
  return nullptr;
}

float number(const spec::Argument* argument, float otherwise) {
  if (argument == nullptr) return otherwise;
  if (const auto* integer = argument->as<std::int64_t>()) return static_cast<float>(*integer);
  const auto* real = argument->as<double>();
  return real != nullptr ? static_cast<float>(*real) : otherwise;
}

// Of two operands that broadcast.
std::vector<std::int64_t> joined(const std::vector<std::int64_t>& a,
                                 const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> out(std::max(a.size(), b.size()), 1);
  for (const auto* sizes : {&a, &b}) {
    const std::size_t skipped = out.size() - sizes->size();
    for (std::size_t d = 0; d < sizes->size(); ++d) {
      if ((*sizes)[d] != 1) out[skipped + d] = (*sizes)[d];
    }
  }
  return out;
}

// Where the operand has the element that is at `index` of a result of these sizes.
std::int64_t place(const HostTensor& operand, const std::vector<std::int64_t>& index) {
  const std::size_t skipped = index.size() - operand.sizes.size();
  std::int64_t at = operand.storage_offset;
  for (std::size_t d = 0; d < operand.sizes.size(); ++d) {
    if (operand.sizes[d] != 1) at += index[skipped + d] * operand.strides[d];
  }
  return at;
}

class MyProgram final : public spec::LoadedProgram {
 public:
  MyProgram(const spec::Program& program, bool forgets_views)
      : program_(program), forgets_views_(forgets_views), states_(program.tensors) {
    for (const spec::Node& node : program.graph.nodes) {
      spec::for_each_operand(node, [&](ValueId id) { last_reader_[id] = &node; });
    }
    for (const spec::Argument& output : program.graph.outputs) {
      spec::for_each_value(output, [&](ValueId id) { last_reader_[id] = nullptr; });
    }
  }

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override {
    spec::CallResult result;
    result.final_inputs.assign(inputs.begin(), inputs.end());
    std::map<ValueId, HostTensor> values;
    std::size_t user = 0;
    for (const spec::ProgramInput& input : program_.inputs) {
      const bool is_user = input.kind == spec::InputKind::kUserInput;
      if (is_user && user == inputs.size()) return bad_input("an input is missing");
      values[input.value] =
          is_user ? std::get<HostTensor>(inputs[user++]) : states_.at(input.target);
      if (is_user) continue;
      result.final_states.push_back(states_.at(input.target));
      result.state_targets.push_back(input.target);
    }
    for (const spec::Node& node : program_.graph.nodes) run(node, values);
    for (const spec::Argument& output : program_.graph.outputs) {
      result.outputs.emplace_back(values.at(*output.as<ValueId>()));
    }
    return result;
  }

  Result<void> set_state(std::string_view target, const HostTensor& value, bool) override {
    states_[std::string(target)] = value;
    return {};
  }

 private:
  void run(const spec::Node& node, std::map<ValueId, HostTensor>& values) {
    const ValueId self_id = *find(node, "self")->as<ValueId>();
    const HostTensor self = values.at(self_id);
    const ValueId made = node.results[0].values[0];
    if (node.op == "aten.transpose.int") {
      const auto rank = static_cast<std::int64_t>(self.sizes.size());
      const auto dim = [&](const char* name) {
        const std::int64_t d = *find(node, name)->as<std::int64_t>();
        return static_cast<std::size_t>(d < 0 ? d + rank : d);
      };
      HostTensor view = self;
      if (rank > 0) {
        std::swap(view.sizes[dim("dim0")], view.sizes[dim("dim1")]);
        std::swap(view.strides[dim("dim0")], view.strides[dim("dim1")]);
      }
      values[made] = view;
      return;
    }
    const spec::Argument* other_argument = find(node, "other");
    const auto* other_id = other_argument ? other_argument->as<ValueId>() : nullptr;
    const HostTensor* other = other_id ? &values.at(*other_id) : nullptr;
    HostTensor out = spec::make_host_tensor(spec::DType::kFloat32,
                                            other ? joined(self.sizes, other->sizes) : self.sizes);
    const bool fits =
        made_.contains(self_id) && self.sizes == out.sizes && self.strides == out.strides;
    // In `values` and in `self`: no view has it.
    const bool has_views = self.storage.use_count() > 2;
    if (fits && last_reader_.at(self_id) == &node && (forgets_views_ || !has_views)) out = self;
    fill(node, self, other, number(other_argument, 0), out);
    values[made] = out;
    made_.insert(made);
  }

  static void fill(const spec::Node& node, const HostTensor& self, const HostTensor* other,
                   float scalar, HostTensor& out) {
    const float alpha = number(find(node, "alpha"), 1);
    std::vector<std::int64_t> index(out.sizes.size(), 0);
    for (std::int64_t n = spec::element_count(out.sizes); n > 0; --n) {
      const float a = read(self, place(self, index));
      const float b = other ? read(*other, place(*other, index)) : scalar;
      float value = a;
      if (node.op == "aten.add.Tensor") value = a + alpha * b;
      if (node.op == "aten.mul.Tensor") value = a * b;
      if (node.op == "aten.neg.default") value = -a;
      if (node.op == "aten.relu.default") value = a < 0 ? 0 : a;
      std::memcpy(out.storage->bytes.data() + place(out, index) * 4, &value, 4);
      for (std::size_t d = index.size(); d-- > 0 && ++index[d] == out.sizes[d];) index[d] = 0;
    }
  }

  const spec::Program& program_;
  bool forgets_views_;
  std::map<std::string, HostTensor, std::less<>> states_;
  std::map<ValueId, const spec::Node*> last_reader_;  // null: the program returns it
  std::set<ValueId> made_;                            // in memory of our own
};

}  // namespace

Result<std::unique_ptr<spec::LoadedProgram>> MyExecutor::load(const spec::Program& program) {
  static const std::set<std::string> kOps = {"aten.add.Tensor", "aten.mul.Tensor",
                                             "aten.neg.default", "aten.relu.default",
                                             "aten.transpose.int"};
  for (const spec::Node& node : program.graph.nodes) {
    if (!kOps.contains(node.op)) return unsupported("my executor has no " + node.op);
  }
  for (const spec::Value& value : program.graph.values) {
    if (!value.type || value.type->dtype != spec::DType::kFloat32) {
      return unsupported("my executor takes tensors of float32 alone");
    }
  }
  for (const spec::Argument& output : program.graph.outputs) {
    if (output.as<ValueId>() == nullptr) return unsupported("my executor returns tensors alone");
  }
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.constant) return unsupported("my executor takes no constant inputs");
  }
  return std::unique_ptr<spec::LoadedProgram>(std::make_unique<MyProgram>(program, forgets_views_));
}
