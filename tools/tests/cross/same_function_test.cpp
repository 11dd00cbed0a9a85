// The verifier's list of ops that may be one function, against what the reference computes: two ops
// that make the same of the same must be in it, else a right plan would be blamed for one of them.
#include "conformance/verify/same_function.h"

#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/result_test.h"
#include "reference/reference.h"
#include "spec/graph_text.h"
#include "spec/host_tensor_test.h"
#include "spec/op_table.h"

namespace graphgate {
namespace {

using Operands = std::vector<spec::InputValue>;

// Three operands of [3, 4], with zeros, ties and both signs.
Operands floats(float large) {
  const auto of = [](const std::vector<float>& values) {
    return spec::host_tensor(spec::DType::kFloat32, {3, 4}, values);
  };
  return {of({0, 1, 0.5F, -0.5F, 2.5F, -1.5F, 0.25F, 2, -2, large, -large, 1.25F}),
          of({0.5F, 1, 0.25F, 2, -2.5F, 1.5F, 0.75F, -3, -2, 0.5F, 3.5F, 0.125F}),
          of({1, 0.5F, 0.75F, 1.5F, 0.5F, 2, 0.25F, 0.5F, 3, 1, 0.5F, 2.5F})};
}

// What stands for an argument that is no tensor; nothing where none is tried.
std::vector<std::string> literals_of(const spec::SchemaArgument& argument) {
  if (argument.type.optional) return {"None"};
  if (argument.type.is_list()) {
    return argument.type.base == spec::BaseType::kInt ? std::vector<std::string>{"[1]"}
                                                      : std::vector<std::string>{};
  }
  switch (argument.type.base) {
    case spec::BaseType::kScalar:
      return {"2"};
    case spec::BaseType::kInt:
      return {"1"};
    case spec::BaseType::kFloat:
      return {"0.5"};
    case spec::BaseType::kBool:
      return {"False", "True"};
    default:
      return {};
  }
}

// "self=%a, other=2" of as many arguments, each way to fill them; `shape` is the same without
// names.
struct Call {
  std::string arguments;
  std::string shape;
};
std::vector<Call> calls_of(const spec::OpSchema& schema, std::size_t count) {
  std::vector<Call> out = {{}};
  char next = 'a';
  for (std::size_t i = 0; i < count; ++i) {
    const spec::SchemaArgument& argument = schema.arguments[i];
    const bool is_tensor = argument.type.holds_tensors() && !argument.type.is_list();
    const std::vector<std::string> texts = is_tensor && next <= 'c'
                                               ? std::vector<std::string>{std::string("%") + next}
                                               : literals_of(argument);
    if (is_tensor) ++next;
    std::vector<Call> longer;
    for (const Call& call : out) {
      for (const std::string& text : texts) {
        const std::string comma = i > 0 ? ", " : "";
        longer.push_back(
            {call.arguments + comma + argument.name + "=" + text, call.shape + comma + text});
      }
    }
    out = std::move(longer);
  }
  return out;
}

// What the op makes of the operands, to five digits; nothing where it does not run.
std::optional<std::string> made_by(spec::Executor& executor, const std::string& op,
                                   const std::string& arguments, const Operands& operands) {
  const auto program = spec::parse_program(
      "program \"p\" {\n  input %a : f32[3, 4]\n  input %b : f32[3, 4]\n  input %c : f32[3, 4]\n  "
      "%y = " +
          op + "(" + arguments + ")\n  output %y\n}\n",
      spec::builtin_op_table(), "p");
  if (!program.ok()) return std::nullopt;
  const auto loaded = executor.load(program.value());
  if (!loaded.ok()) return std::nullopt;
  const auto result = loaded.value()->call(operands);
  if (!result.ok() || result.value().outputs.size() != 1) return std::nullopt;
  const auto* tensor = std::get_if<spec::HostTensor>(&result.value().outputs[0]);
  if (tensor == nullptr || result.value().output_spreads.empty()) return std::nullopt;
  std::string text = std::string(spec::short_name(tensor->dtype));
  for (const std::int64_t size : tensor->sizes) text += " " + std::to_string(size);
  for (const long double value : result.value().output_spreads[0].values) {
    std::array<char, 64> digits{};
    std::snprintf(digits.data(), digits.size(), " %.5Lg", value == 0 ? 0 : value);
    text += digits.data();
  }
  return text;
}

bool is_asked_of(const spec::OpRow& row) {
  const auto& arguments = row.schema.arguments;
  return row.schema.ns == "aten" && (row.has_tag("pointwise") || row.has_tag("reduction")) &&
         !row.has_tag("nondeterministic_seeded") && row.schema.returns.size() == 1 &&
         std::ranges::none_of(arguments, [](const auto& one) { return one.type.writes(); });
}

// By call and result: the families that make it.
std::map<std::string, std::set<std::string>> families_by_result(
    const std::vector<Operands>& operands) {
  reference::Options options;
  options.mode = reference::Mode::kWorstCase;
  const auto executor = reference::make_executor(options);
  std::map<std::string, std::set<std::string>> out;
  for (const auto& [name, row] : spec::builtin_op_table().rows()) {
    if (!is_asked_of(*row)) continue;
    const auto& arguments = row->schema.arguments;
    for (std::size_t count = 1; count <= arguments.size(); ++count) {
      if (arguments[count - 1].kwarg_only) break;
      if (count < arguments.size() && !arguments[count].kwarg_only &&
          !arguments[count].default_value) {
        continue;
      }
      for (const Call& call : calls_of(row->schema, count)) {
        std::string all = call.shape;
        for (const Operands& one : operands) {
          const auto made = made_by(*executor, name, call.arguments, one);
          all += made ? ": " + *made : "";
        }
        if (all != call.shape) out[all].insert(row->schema.base_name());
      }
    }
  }
  return out;
}

TEST(SameFunction, IsSaidOfAllThatMakeTheSameOfTheSame) {
  const auto found =
      families_by_result({floats(7.5F), floats(std::numeric_limits<float>::infinity())});
  std::set<std::string> tried;
  for (const auto& [result, families] : found) {
    tried.insert(families.begin(), families.end());
    for (const std::string& a : families) {
      for (const std::string& b : families) {
        if (b < a) continue;
        EXPECT_TRUE(verify::may_be_one_function(a, b)) << a << " and " << b << " of " << result;
      }
    }
  }
  EXPECT_GT(tried.size(), 150U);
}

TEST(SameFunction, IsNotSaidOfWhatDiffers) {
  for (const auto& [a, b] : {std::pair("exp", "sin"),
                             {"add", "sub"},
                             {"gt", "ge"},
                             {"sum", "mean"},
                             {"sqrt", "rsqrt"},
                             {"maximum", "minimum"},
                             {"relu", "sigmoid"}}) {
    EXPECT_FALSE(verify::may_be_one_function(a, b)) << a << " and " << b;
  }
  EXPECT_TRUE(verify::may_be_one_function("absolute", "abs"));
}

}  // namespace
}  // namespace graphgate
