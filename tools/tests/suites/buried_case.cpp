// A case with much around it; declared in reduced_mutant.h.
#include <algorithm>

#include "spec/graph_text.h"
#include "tools/tests/suites/reduced_mutant.h"

namespace graphgate::tools {
namespace {

using spec::CaseFile;
using spec::Node;
using spec::Program;
using spec::ValueId;

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 8;

// A chain of ops that keep the sizes of its input; every eighth value is returned.
class Chain {
 public:
  explicit Chain(Program& program) : program_(program) {
    type_.sizes = {kRows, kColumns};
    type_.strides = {kColumns, 1};
    latest_ = add_value("bury_x");
    earlier_ = latest_;
    spec::ProgramInput input;
    input.value = latest_;
    input.target = "bury_x";
    program_.inputs.push_back(std::move(input));
    program_.graph.inputs.push_back(latest_);
  }

  Node next() {
    constexpr std::string_view kOps[] = {
        "aten.mul.Tensor",  "aten.tanh.default", "aten.add.Tensor",  "aten.cumsum.default",
        "aten.neg.default", "aten.sub.Tensor",   "aten.relu.default"};
    const std::string name = "bury_" + std::to_string(count_);
    Node node;
    node.name = name;
    node.op = kOps[count_ % std::size(kOps)];
    node.arguments.push_back({"self", {latest_}});
    if (node.op.ends_with(".Tensor")) node.arguments.push_back({"other", {earlier_}});
    if (node.op == "aten.cumsum.default") node.arguments.push_back({"dim", {std::int64_t{1}}});
    const ValueId made = add_value(name);
    node.results.push_back({false, {made}});
    if (count_ % 3 == 2) earlier_ = latest_;
    latest_ = made;
    if (count_++ % 8 == 7) add_output();
    return node;
  }

  void add_output() {
    program_.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    program_.graph.outputs.push_back({latest_});
  }

 private:
  ValueId add_value(const std::string& name) {
    const ValueId id{static_cast<std::uint32_t>(program_.graph.values.size())};
    spec::Value value;
    value.name = name;
    value.type = type_;
    program_.graph.values.push_back(std::move(value));
    return id;
  }

  Program& program_;
  spec::TensorType type_;
  ValueId latest_;
  ValueId earlier_;
  std::size_t count_ = 0;
};

enum class Where { kBetween, kBefore, kBehind };

void bury_program(Program& program, std::size_t count, Where where) {
  Chain chain(program);
  std::vector<Node> own = std::move(program.graph.nodes);
  std::vector<Node> nodes;
  const auto add = [&](std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) nodes.push_back(chain.next());
  };
  const std::size_t gaps = own.size() + 1;
  if (where == Where::kBefore) add(count);
  for (std::size_t n = 0; n < own.size(); ++n) {
    if (where == Where::kBetween) add(count * (n + 1) / gaps - count * n / gaps);
    nodes.push_back(std::move(own[n]));
  }
  if (where == Where::kBetween) add(count - count * own.size() / gaps);
  if (where == Where::kBehind) add(count);
  program.graph.nodes = std::move(nodes);
  chain.add_output();
  program = spec::number_values_by_definition(std::move(program));
}

CaseFile with_nodes(const CaseFile& the_case, std::size_t count, Where where) {
  CaseFile out = the_case;
  for (Program& program : out.programs) bury_program(program, count, where);
  return out;
}

// All steps once more, in front, until there are enough calls.
CaseFile with_calls(const CaseFile& the_case, std::size_t calls) {
  CaseFile out = the_case;
  const auto& own = the_case.scenario.steps;
  std::size_t count = fuzz::size_of(the_case).calls;
  const std::size_t each = std::max<std::size_t>(count, 1);
  for (; count < calls; count += each) {
    out.scenario.steps.insert(out.scenario.steps.begin(), own.begin(), own.end());
  }
  return out;
}

struct Bit {
  const char* name;
  const char* value;
};
constexpr Bit kBits[] = {{"warm-up-runs", "1"}, {"plans-kept", "64"}, {"poison", "0xAB"},
                         {"realize", "bytes"},  {"reorder", "none"},  {"min-partition", "1"}};

}  // namespace

CaseFile buried(const CaseFile& the_case, const BurySettings& settings,
                const fuzz::CheckCase& shows) {
  CaseFile out = the_case;
  const auto take = [&](CaseFile candidate) {
    const bool is_good = spec::check_case(candidate).ok() && shows(candidate);
    if (is_good) out = std::move(candidate);
    return is_good;
  };
  CaseFile bare = the_case;
  bare.expectation = {};
  (void)take(std::move(bare));
  for (const Where where : {Where::kBetween, Where::kBehind, Where::kBefore}) {
    if (take(with_nodes(out, settings.nodes, where))) break;
  }
  // A call that is to be refused is the last one, and the only one of its kind.
  if (!out.expectation.refusal) (void)take(with_calls(out, settings.calls));
  for (const Bit& bit : kBits) {
    CaseFile candidate = out;
    if (candidate.options.emplace(bit.name, bit.value).second) (void)take(std::move(candidate));
  }
  return out;
}

}  // namespace graphgate::tools
