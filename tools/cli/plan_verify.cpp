#include "tools/cli/plan_verify.h"

#include <cstdio>
#include <set>

#include "base/atomic_file.h"
#include "base/file_io.h"
#include "base/one_line.h"
#include "conformance/verify/hlo.h"
#include "conformance/verify/packing.h"
#include "conformance/verify/verify.h"
#include "interop/minimalloc.h"
#include "interop/plan_json.h"
#include "interop/xla_dump.h"
#include "spec/missing_op.h"
#include "spec/plan_names.h"
#include "spec/plan_text.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

// By the first line that holds something: a table begins with the names of its columns. A list is
// no plan, but whoever wrote one meant JSON.
PlanForm form_of(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && line[first] != '#') {
      if (line[first] == '{' || line[first] == '[') return PlanForm::kJson;
      if (line.starts_with("BufferAssignment:")) return PlanForm::kXla;
      return line.find(',') != std::string_view::npos ? PlanForm::kTable : PlanForm::kText;
    }
    text.remove_prefix(end + 1);
  }
  return PlanForm::kText;
}

Result<std::vector<spec::Finding>> verify_table(const std::string& text,
                                                const PlanVerifyOptions& options) {
  if (!options.program.empty()) return bad_input("--program goes with a plan, not with a table");
  GRAPHGATE_TRY(const auto buffers,
                interop::parse_placed_minimalloc(text, base_name(options.file)));
  std::vector<verify::PackedBuffer> packed;
  packed.reserve(buffers.size());
  for (const auto& [buffer, offset_bytes] : buffers) {
    packed.push_back({buffer.id, buffer.lower, buffer.upper, buffer.size_bytes, offset_bytes});
  }
  return verify::verify_packing(packed, options.capacity_bytes);
}

// `of_what` says how much was looked at.
Result<std::vector<spec::Finding>> verify_xla(const PlanVerifyOptions& options,
                                              std::string& of_what) {
  if (!options.program.empty()) return bad_input("--program goes with a plan, not with XLA's");
  if (options.capacity_bytes) return bad_input("--capacity goes with a table of buffers");
  GRAPHGATE_TRY(const spec::HloPlan plan, interop::read_xla_dump(options.file));
  of_what = " in " + std::to_string(plan.values.size()) + " values of " +
            std::to_string(plan.allocations.size()) + " allocations" +
            (plan.live_ranges ? "" : ", without live ranges");
  auto findings = verify::verify_hlo(plan);
  if (!findings.ok()) return findings.error().at(one_line(options.file));
  return findings;
}

// Rules ask the table about every op; JSON is read without it.
Result<void> check_ops(const spec::Plan& plan, const spec::OpTable& ops) {
  spec::MissingOps missing;
  const auto look_at = [&](const spec::Node& node) {
    const bool is_known = ops.find(node.op) != nullptr || node.op == spec::kFusedStepOp ||
                          node.op.starts_with("higher_order.");
    if (!is_known) missing.add(node.name, node.op);
  };
  for (const spec::PlanStep& step : plan.steps) {
    look_at(step.node);
    for (const spec::Node& node : step.body) look_at(node);
  }
  if (missing.empty()) return {};
  return missing.error(spec::kNoSchema);
}

// Rules read operands by the names that the schema gives them: one that it does not have would be
// passed over.
Result<void> check_arguments(const spec::Node& node, const spec::OpTable& ops) {
  const spec::OpRow* row = ops.find(node.op);
  if (row == nullptr) return {};
  const auto names_of = [&] {
    std::string names;
    for (const spec::SchemaArgument& each : row->schema.arguments) {
      names += (names.empty() ? "" : ", ") + each.name;
    }
    return names.empty() ? "none" : names;
  };
  std::set<std::string> given;
  for (const spec::NamedArgument& argument : node.arguments) {
    if (!row->schema.find_argument(argument.name)) {
      return bad_input("step '" + node.name + "': " + node.op + " has no argument '" +
                       argument.name + "'; its arguments are " + names_of());
    }
    if (!given.insert(argument.name).second) {
      return bad_input("step '" + node.name + "': the argument '" + argument.name +
                       "' comes twice");
    }
  }
  for (const spec::SchemaArgument& each : row->schema.arguments) {
    if (each.default_value || given.contains(each.name)) continue;
    return bad_input("step '" + node.name + "': " + node.op + " needs the argument '" + each.name +
                     "', and it is missing");
  }
  return {};
}

Result<void> check_all_arguments(const spec::Plan& plan, const spec::OpTable& ops) {
  for (const spec::PlanStep& step : plan.steps) {
    GRAPHGATE_TRY_VOID(check_arguments(step.node, ops));
    for (const spec::Node& node : step.body) GRAPHGATE_TRY_VOID(check_arguments(node, ops));
  }
  return {};
}

Result<std::vector<spec::Finding>> verify_one(const std::string& text, PlanForm form,
                                              const PlanVerifyOptions& options,
                                              const spec::OpTable& ops) {
  if (options.capacity_bytes) return bad_input("--capacity goes with a table of buffers");
  GRAPHGATE_TRY(const spec::Plan plan, form == PlanForm::kJson
                                           ? interop::read_plan_json(text, options.file)
                                           : spec::parse_plan(text, ops, options.file));
  const auto checked = spec::check_plan(plan);
  if (!checked.ok()) return checked.error().at(options.file);
  const auto known = check_ops(plan, ops);
  if (!known.ok()) return known.error().at(options.file);
  if (form == PlanForm::kJson) {  // text is read by the schemas
    const auto arguments = check_all_arguments(plan, ops);
    if (!arguments.ok()) return arguments.error().at(options.file);
  }
  const auto positions = verify::check_positions(plan, ops);
  if (!positions.ok()) return positions.error().at(options.file);
  if (options.program.empty()) return verify::verify_plan({&plan, nullptr, &ops, nullptr});
  GRAPHGATE_TRY(const spec::Program program, read_program(options.program, ops));
  if (program.inputs.size() != plan.inputs.size()) {
    return bad_input("the plan has " + std::to_string(plan.inputs.size()) + " inputs, and " +
                     options.program + " has " + std::to_string(program.inputs.size()))
        .at(options.file);
  }
  return verify::verify_plan({&plan, &program, &ops, nullptr});
}

}  // namespace

Result<ExitCode> run_plan_verify(const PlanVerifyOptions& options, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const std::string text, read_text(options.file));
  const PlanForm form = options.form == PlanForm::kAny ? form_of(text) : options.form;
  std::string of_what;
  std::vector<spec::Finding> findings;
  if (form == PlanForm::kXla) {
    GRAPHGATE_TRY(findings, verify_xla(options, of_what));
  } else if (form == PlanForm::kTable) {
    GRAPHGATE_TRY(findings, verify_table(text, options));
  } else {
    GRAPHGATE_TRY(findings, verify_one(text, form, options, ops));
  }
  std::string page;
  for (const spec::Finding& finding : findings) {
    const spec::Finding plain = plain_finding(finding);
    page += plain_text(plain.rule + ": " + plain.message) + "\n" + plain.drawing;
  }
  page += plain_text(options.file) + ": " +
          (findings.empty()       ? "no findings"
           : findings.size() == 1 ? "1 finding"
                                  : std::to_string(findings.size()) + " findings") +
          of_what + "\n";
  if (options.json != "-") GRAPHGATE_TRY_VOID(write_text(page, "-"));
  if (!options.json.empty()) {
    nlohmann::ordered_json json = {{"file", options.file},
                                   {"findings", nlohmann::ordered_json::array()}};
    for (const spec::Finding& finding : findings) {
      json["findings"].push_back({{"rule", finding.rule},
                                  {"message", finding.message},
                                  {"nodes", finding.nodes},
                                  {"buffers", finding.buffers}});
    }
    GRAPHGATE_TRY_VOID(write_text(print_json(json), options.json));
  }
  return findings.empty() ? ExitCode::kGood : ExitCode::kFindings;
}

}  // namespace graphgate::tools
