// Printing and comparing of cases; case_file_parser.cpp reads them, case_check.cpp validates them.
#include "spec/case_file.h"

#include <algorithm>
#include <limits>

#include "spec/case_ops.h"
#include "spec/graph_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

// What follows a name: ` seed 5`, ` from "f" key "k"`, ` : f32[2] = [...]`, ` = 3`.
struct DataPrinter {
  std::string operator()(const SeededData& data) const {
    return " seed " + std::to_string(data.seed);
  }
  std::string operator()(const FileData& data) const {
    const std::string key = data.key.empty() ? "" : " key " + quote_string(data.key);
    return " from " + quote_string(data.file) + key;
  }
  std::string operator()(const HostTensor& tensor) const {
    return " : " + print_tensor_type(type_of(tensor)) + " = " + print_tensor_data(tensor);
  }
  std::string operator()(std::int64_t value) const { return " = " + std::to_string(value); }
  std::string operator()(double value) const { return " = " + print_float(value); }
  std::string operator()(bool value) const { return value ? " = True" : " = False"; }
};

std::string print_head(const CaseFile& the_case) {
  std::string text = "graphgate-case " + std::to_string(kCaseVersion) + "\n";
  for (const std::string& line : the_case.header) text += line.empty() ? "#\n" : "# " + line + "\n";
  if (!the_case.name.empty()) text += "name " + quote_string(the_case.name) + "\n";
  if (the_case.seed != 0) text += "seed " + std::to_string(the_case.seed) + "\n";
  for (const auto& [key, value] : the_case.options) {
    text += "option " + quote_string(key) + " " + quote_string(value) + "\n";
  }
  for (const std::string& row : the_case.ops) text += "op " + row + "\n";
  return text;
}

std::string print_programs(const CaseFile& the_case, const OpTable& ops) {
  std::string text;
  for (const Program& program : the_case.programs) {
    const bool elsewhere =
        std::any_of(the_case.weights.begin(), the_case.weights.end(),
                    [&](const CaseWeights& weights) { return weights.program == program.name; });
    text += print_program(program, ops, PrintOptions{elsewhere ? -1 : kAll});
  }
  for (const CaseWeights& weights : the_case.weights) {
    text += "weights " + quote_string(weights.program) + std::visit(DataPrinter{}, weights.source) +
            "\n";
  }
  return text;
}

bool share_storage(const CaseData& a, const CaseData& b) {
  const auto* left = std::get_if<HostTensor>(&a);
  const auto* right = std::get_if<HostTensor>(&b);
  return left != nullptr && right != nullptr && left->storage == right->storage;
}

std::string print_inputs(const InputSet& set) {
  std::string text = "inputs " + quote_string(set.name) + " of " + quote_string(set.program);
  text += " {\n";
  for (auto input = set.inputs.begin(); input != set.inputs.end(); ++input) {
    text += "  " + print_name(input->name);
    const auto owner = std::find_if(set.inputs.begin(), input, [&](const CaseInput& other) {
      return share_storage(other.data, input->data);
    });
    if (owner == input) {
      text += std::visit(DataPrinter{}, input->data) + "\n";
    } else {
      text += " : " + print_tensor_type(type_of(std::get<HostTensor>(input->data))) + " = alias " +
              quote_string(owner->name) + "\n";
    }
  }
  return text + "}\n";
}

std::string print_expectation(const Expectation& expectation) {
  std::string text = "expect " + std::string(outcome_name(expectation.outcome));
  if (!expectation.detail.empty()) text += " " + quote_string(expectation.detail);
  text += '\n';
  for (const ExpectedOutput& output : expectation.outputs) {
    text += "expect call " + std::to_string(output.call) + " out" + std::to_string(output.output) +
            std::visit(DataPrinter{}, output.data) + "\n";
  }
  if (const auto& refusal = expectation.refusal) {
    text += "expect call " + std::to_string(refusal->call) + " refused";
    text += (refusal->text.empty() ? "" : " " + quote_string(refusal->text)) + "\n";
  }
  return text;
}

bool same_tensor(const HostTensor& a, const HostTensor& b) {
  return type_of(a) == type_of(b) && a.storage->bytes == b.storage->bytes;
}

bool same_data(const CaseData& a, const CaseData& b) {
  const auto* left = std::get_if<HostTensor>(&a);
  const auto* right = std::get_if<HostTensor>(&b);
  if (left != nullptr && right != nullptr) return same_tensor(*left, *right);
  if (left != nullptr || right != nullptr) return false;
  return std::visit(DataPrinter{}, a) == std::visit(DataPrinter{}, b);
}

bool same_inputs(const InputSet& a, const InputSet& b) {
  return a.name == b.name && a.program == b.program &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    [](const CaseInput& x, const CaseInput& y) {
                      return x.name == y.name && same_data(x.data, y.data);
                    }) &&
         print_inputs(a) == print_inputs(b);  // who shares with whom
}

bool same_expectation(const Expectation& a, const Expectation& b) {
  return a.outcome == b.outcome && a.detail == b.detail && a.refusal == b.refusal &&
         std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    [](const ExpectedOutput& x, const ExpectedOutput& y) {
                      return x.call == y.call && x.output == y.output && same_data(x.data, y.data);
                    });
}

}  // namespace

const Program* CaseFile::find_program(std::string_view program_name) const {
  for (const Program& program : programs) {
    if (program.name == program_name) return &program;
  }
  return nullptr;
}

Result<OpTable> case_ops(const CaseFile& the_case, const std::vector<std::string>& replacements) {
  OpTable replaced;
  for (const std::string& row : replacements) GRAPHGATE_TRY_VOID(replaced.add_text(row, "op"));
  OpTable ops = builtin_op_table();
  for (const std::string& row : the_case.ops) {
    OpTable one;
    GRAPHGATE_TRY_VOID(one.add_text(row, "op"));
    const bool stays = one.rows().empty() || !replaced.find(one.rows().begin()->first);
    if (stays) GRAPHGATE_TRY_VOID(ops.add_text(row, "op"));
  }
  for (const std::string& row : replacements) GRAPHGATE_TRY_VOID(ops.add_text(row, "op"));
  return ops;
}

Result<std::string> print_case(const CaseFile& the_case) {
  GRAPHGATE_TRY(const auto ops, shared_case_ops(the_case));
  std::string text = print_head(the_case) + print_programs(the_case, *ops);
  for (const InputSet& set : the_case.inputs) text += print_inputs(set);
  text += "scenario {\n";
  for (const Step& step : the_case.scenario.steps) text += "  " + print_step(step) + "\n";
  return text + "}\n" + print_expectation(the_case.expectation);
}

bool same_case(const CaseFile& a, const CaseFile& b) {
  return a.header == b.header && a.name == b.name && a.seed == b.seed && a.options == b.options &&
         a.ops == b.ops &&
         std::equal(a.programs.begin(), a.programs.end(), b.programs.begin(), b.programs.end(),
                    same_program) &&
         a.weights == b.weights &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    same_inputs) &&
         a.scenario == b.scenario && same_expectation(a.expectation, b.expectation);
}

}  // namespace graphgate::spec
