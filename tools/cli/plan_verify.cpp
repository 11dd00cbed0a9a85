#include "tools/cli/plan_verify.h"

#include <algorithm>
#include <map>
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
#include "optimized/memory/pack.h"
#include "spec/missing_op.h"
#include "spec/plan_names.h"
#include "spec/plan_text.h"
#include "tools/cli/pack_csv.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/report/plan_panel.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

constexpr const char* kOverlap = "V3.overlap";

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

// What was found, and what is said besides.
struct Verified {
  std::vector<spec::Finding> findings;
  std::string of_what;  // how much was looked at
  // Of a table: how high it is, and the most bytes that are in use at once.
  std::optional<PackedSize> size;
  Json panel;  // what a page draws of the plan, where one was asked for
};

// Nothing for sizes beyond 63 bits in all, each of which may be a finding.
std::optional<PackedSize> size_of(const std::vector<interop::PlacedMinimallocBuffer>& buffers) {
  PackedSize size;
  std::vector<optimized::PackItem> items;
  items.reserve(buffers.size());
  for (const auto& [buffer, offset_bytes] : buffers) {
    items.push_back({buffer.lower, buffer.upper, buffer.size_bytes});
    std::int64_t end = 0;
    if (__builtin_add_overflow(offset_bytes, buffer.size_bytes, &end)) return {};
    size.peak_bytes = std::max(size.peak_bytes, end);
  }
  const auto bound_bytes = optimized::lower_bound_bytes(items, /*alignment_bytes=*/1);
  if (!bound_bytes.ok()) return {};
  size.bound_bytes = bound_bytes.value();
  return size;
}

PlanPanelFacts facts_of(const PlanVerifyOptions& options,
                        const std::vector<spec::Finding>& findings) {
  PlanPanelFacts facts{options.file, options.file, {}, {}};
  for (const spec::Finding& finding : findings) facts.findings.push_back(plain_finding(finding));
  return facts;
}

Result<Verified> verify_table(const std::string& text, const PlanVerifyOptions& options) {
  if (!options.program.empty()) return bad_input("--program goes with a plan, not with a table");
  GRAPHGATE_TRY(const auto buffers,
                interop::parse_placed_minimalloc(text, base_name(options.file)));
  std::vector<verify::PackedBuffer> packed;
  packed.reserve(buffers.size());
  for (const auto& [buffer, offset_bytes] : buffers) {
    packed.push_back({buffer.id, buffer.lower, buffer.upper, buffer.size_bytes, offset_bytes});
  }
  Verified out;
  out.findings = verify::verify_packing(packed, options.capacity_bytes);
  out.of_what = " in " + std::to_string(buffers.size()) + " buffers";
  out.size = size_of(buffers);
  if (options.page) out.panel = packing_panel(packed, facts_of(options, out.findings));
  return out;
}

Result<Verified> verify_xla(const PlanVerifyOptions& options) {
  if (!options.program.empty()) return bad_input("--program goes with a plan, not with XLA's");
  if (options.capacity_bytes) return bad_input("--capacity goes with a table of buffers");
  GRAPHGATE_TRY(const spec::HloPlan plan, interop::read_xla_dump(options.file));
  Verified out;
  out.of_what = " in " + std::to_string(plan.values.size()) + " values of " +
                std::to_string(plan.allocations.size()) + " allocations" +
                (plan.live_ranges ? "" : ", without live ranges");
  auto findings = verify::verify_hlo(plan);
  if (!findings.ok()) return findings.error().at(one_line(options.file));
  out.findings = std::move(findings).value();
  return out;
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

Result<Verified> verify_one(const std::string& text, PlanForm form,
                            const PlanVerifyOptions& options, const spec::OpTable& ops) {
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
  const auto judged = [&](const spec::Program* program) {
    Verified out;
    out.findings = verify::verify_plan({&plan, program, &ops, nullptr});
    if (options.page) out.panel = plan_panel(plan, ops, facts_of(options, out.findings));
    return out;
  };
  if (options.program.empty()) return judged(nullptr);
  GRAPHGATE_TRY(const spec::Program program, read_program(options.program, ops));
  if (program.inputs.size() != plan.inputs.size()) {
    return bad_input("the plan has " + std::to_string(plan.inputs.size()) + " inputs, and " +
                     options.program + " has " + std::to_string(program.inputs.size()))
        .at(options.file);
  }
  return judged(&program);
}

// A plan of XLA's has findings and no panel: its places are none of a plan of ours.
void add_to_page(const PlanVerifyOptions& options, const std::vector<spec::Finding>& findings,
                 const std::string& text, Json panel) {
  ReportItem item;
  item.place = options.file;
  item.text = text;
  for (const spec::Finding& finding : findings) {
    item.findings.push_back({plain_finding(finding), "", "verifier"});
  }
  if (!findings.empty()) {
    item.outcome = spec::Outcome::kFail;
    item.reason = findings.front().rule + ": " + findings.front().message;
  }
  options.page->sections.front().items.push_back(std::move(item));
  if (!panel.is_null()) options.page->panels.push_back(std::move(panel));
}

// Findings of one cause: one buffer that lies on others.
struct Cause {
  std::size_t first;                // of the findings
  std::string buffer;               // that they all name; empty: there is one finding
  std::vector<std::string> others;  // beside the first finding's
};

// The buffer that most overlaps name which are not told yet, and how many do.
std::pair<std::string, std::size_t> most_named(const std::vector<spec::Finding>& findings,
                                               const std::vector<bool>& is_told) {
  std::map<std::string, std::size_t> counts;
  std::pair<std::string, std::size_t> most;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (is_told[i] || findings[i].rule != kOverlap || findings[i].buffers.size() != 2) continue;
    for (const std::string& name : findings[i].buffers) ++counts[name];
  }
  for (const auto& [name, count] : counts) {
    if (count > most.second) most = {name, count};
  }
  return most;
}

// In the order of their first findings.
std::vector<Cause> causes_of(const std::vector<spec::Finding>& findings) {
  std::vector<Cause> causes;
  std::vector<bool> is_told(findings.size());
  for (auto most = most_named(findings, is_told); most.second > 1;
       most = most_named(findings, is_told)) {
    const std::string& name = most.first;
    Cause cause{findings.size(), name, {}};
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const auto& buffers = findings[i].buffers;
      if (is_told[i] || findings[i].rule != kOverlap || buffers.size() != 2) continue;
      if (buffers[0] != name && buffers[1] != name) continue;
      is_told[i] = true;
      if (cause.first == findings.size()) {
        cause.first = i;
      } else {
        cause.others.push_back(buffers[0] == name ? buffers[1] : buffers[0]);
      }
    }
    causes.push_back(std::move(cause));
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!is_told[i]) causes.push_back({i, "", {}});
  }
  std::sort(causes.begin(), causes.end(),
            [](const Cause& a, const Cause& b) { return a.first < b.first; });
  return causes;
}

std::string line_of(const Cause& cause, const std::vector<spec::Finding>& findings) {
  constexpr std::size_t kMostNames = 8;
  const spec::Finding plain = plain_finding(findings[cause.first]);
  std::string line = plain.rule + ": " + plain.message;
  if (!cause.others.empty()) {
    line += "; '" + cause.buffer + "' meets " + std::to_string(cause.others.size()) + " more: ";
    for (std::size_t i = 0; i < std::min(cause.others.size(), kMostNames); ++i) {
      line += (i == 0 ? "'" : ", '") + cause.others[i] + "'";
    }
    if (cause.others.size() > kMostNames) line += ", ...";
  }
  return plain_text(line) + "\n" + plain.drawing;
}

std::string count_of(std::size_t findings, std::size_t causes) {
  if (findings == 0) return "no findings";
  if (findings == 1) return "1 finding";
  std::string text = std::to_string(findings) + " findings";
  if (causes == findings) return text;
  return text + " of " + std::to_string(causes) + (causes == 1 ? " cause" : " causes");
}

std::string page_of(const Verified& verified, const std::string& file) {
  const std::vector<Cause> causes = causes_of(verified.findings);
  std::string page;
  for (const Cause& cause : causes) page += line_of(cause, verified.findings);
  page += plain_text(file) + ": " + count_of(verified.findings.size(), causes.size()) +
          verified.of_what + "\n";
  if (verified.size) page += size_lines(*verified.size);
  return page;
}

nlohmann::ordered_json json_of(const Verified& verified, const std::string& file) {
  nlohmann::ordered_json json = {{"file", file}, {"findings", nlohmann::ordered_json::array()}};
  for (const spec::Finding& finding : verified.findings) {
    json["findings"].push_back({{"rule", finding.rule},
                                {"message", finding.message},
                                {"nodes", finding.nodes},
                                {"buffers", finding.buffers}});
  }
  if (verified.size) {
    json["peak_bytes"] = verified.size->peak_bytes;
    json["bound_bytes"] = verified.size->bound_bytes;
  }
  return json;
}

}  // namespace

Result<ExitCode> run_plan_verify(const PlanVerifyOptions& options, const spec::OpTable& ops) {
  GRAPHGATE_TRY(const std::string text, read_text(options.file));
  constexpr std::string_view kZip = "PK\x03\x04";
  if (text.starts_with(kZip)) {
    return bad_input(options.file +
                     ": is an archive, expected a plan; --program takes its program");
  }
  const PlanForm form = options.form == PlanForm::kAny ? form_of(text) : options.form;
  Verified verified;
  if (form == PlanForm::kXla) {
    GRAPHGATE_TRY(verified, verify_xla(options));
  } else if (form == PlanForm::kTable) {
    GRAPHGATE_TRY(verified, verify_table(text, options));
  } else {
    GRAPHGATE_TRY(verified, verify_one(text, form, options, ops));
  }
  const std::string page = page_of(verified, options.file);
  if (options.page) add_to_page(options, verified.findings, page, std::move(verified.panel));
  if (!options.is_stdout_taken) GRAPHGATE_TRY_VOID(write_text(page, "-"));
  if (!options.json.empty()) {
    GRAPHGATE_TRY_VOID(write_text(print_json(json_of(verified, options.file)), options.json));
  }
  return verified.findings.empty() ? ExitCode::kGood : ExitCode::kFindings;
}

}  // namespace graphgate::tools
