// Random small programs with views, writes in place and allocations: whatever way they are cut and
// reordered, results are the same bits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "optimized/program_test.h"

namespace graphgate::optimized {
namespace {

// Adds one operation on tensors f32[4, 6], and names what it makes.
class Writer {
 public:
  std::string run(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add();
    std::string outputs;
    for (const std::string& name : names_) outputs += "  output " + name + "\n";
    return text_ + outputs + "}";
  }

 private:
  std::string any() { return *rc::gen::elementOf(names_); }
  std::string fresh() { return "%n" + std::to_string(next_++); }
  void line(const std::string& result, const std::string& call) {
    text_ += "  " + result + " = " + call + "\n";
  }

  void add() {
    const std::string name = fresh();
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        line(name, "aten.neg.default(" + any() + ")");
        break;
      case 1:
        line(name, "aten.tanh.default(" + any() + ")");
        break;
      case 2:
        line(name, "aten.add.Tensor(" + any() + ", " + any() + ")");
        break;
      case 3:
        line(name,
             *rc::gen::element<std::string>("aten.tanh_", "aten.neg_") + ".default(" + any() + ")");
        return;
      case 4:
        return write_part(name);
      default: {
        line(name, "aten.empty_like.default(" + any() + ")");
        line(fresh(), "aten.copy_.default(" + name + ", " + any() + ")");
      }
    }
    names_.push_back(name);
  }

  // Every other column, a block of columns, or some rows.
  void write_part(const std::string& name) {
    const std::string part = *rc::gen::element<std::string>("1, 0, 6, 2", "1, 1, 6, 2", "1, 0, 2",
                                                            "1, 2, 5", "0, 0, 2", "0, 1, 4");
    line(name, "aten.slice.Tensor(" + any() + ", " + part + ")");
    line(fresh(), *rc::gen::element<std::string>("aten.neg_", "aten.tanh_", "aten.zero_") +
                      ".default(" + name + ")");
  }

  std::string text_ = "program \"random\" {\n  input %x : f32[4, 6]\n  input %y : f32[4, 6]\n";
  std::vector<std::string> names_ = {"%x", "%y"};
  int next_ = 0;
};

CompileOptions random_options() {
  CompileOptions options;
  using Names = std::vector<std::string>;
  options.partition.split_ops = *rc::gen::element(
      Names{"aten.tanh"}, Names{"aten.tanh", "aten.tanh_"}, Names{"aten.neg_", "aten.copy_"},
      Names{"aten.tanh_", "aten.add", "aten.zero_"});
  options.partition.max_nodes = *rc::gen::element<std::uint32_t>(0, 0, 1, 3);
  options.partition.min_partition_size = *rc::gen::element<std::uint32_t>(0, 2, 4);
  options.partition.split_generation = *rc::gen::element(
      SplitGeneration::kOlder, SplitGeneration::kAdjacent, SplitGeneration::kNewer);
  if (*rc::gen::arbitrary<bool>()) {
    options.partition.mode = PartitionMode::kSplitGraph;
  } else {
    options.reorder.reorder = *rc::gen::element(Reorder::kSimple, Reorder::kMinimize);
    options.reorder.memory_budget = 100;
  }
  return options;
}

std::vector<float> seeded(float step) {
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>(i * 7 % 24) - 11) * step;
  }
  return values;
}

// The bytes of everything that two calls return and leave behind.
std::vector<std::vector<std::byte>> bits_of(const spec::Program& program,
                                            const CompileOptions& compile) {
  Options options;
  options.compile = compile;
  Inputs first = {f32({4, 6}, seeded(0.25F)), f32({4, 6}, seeded(0.5F))};
  Inputs second = {f32({4, 6}, seeded(0.125F)), f32({4, 6}, seeded(2.0F))};
  std::vector<std::vector<std::byte>> out;
  for (const spec::CallResult& result : run_calls(program, {first, second}, options)) {
    for (const spec::OutputValue& value : result.outputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
    for (const spec::InputValue& value : result.final_inputs) {
      out.push_back(spec::packed_bytes(std::get<spec::HostTensor>(value)));
    }
  }
  return out;
}

RC_GTEST_PROP(Configurations, GiveTheSameBits, ()) {
  const std::string text = Writer().run(*rc::gen::inRange<std::size_t>(2, 16));
  RC_LOG() << text;
  const spec::Program program = program_of(text);
  CompileOptions plain;
  plain.partition.split_ops = {};
  const auto expected = bits_of(program, plain);
  RC_ASSERT(!expected.empty());
  RC_ASSERT(bits_of(program, random_options()) == expected);
}

}  // namespace
}  // namespace graphgate::optimized
