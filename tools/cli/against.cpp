#include "tools/cli/against.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/formatted.h"
#include "conformance/judges/first_divergence.h"
#include "conformance/judges/first_parting.h"
#include "conformance/run/runs.h"
#include "spec/option.h"
#include "tools/cli/flags.h"
#include "tools/executors/executor_sources.h"
#include "tools/report/escape.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/store/programs.h"

namespace graphgate::tools {
namespace {

using conformance::Parting;
using conformance::PartingNames;
using conformance::Runs;
using conformance::Script;

constexpr std::size_t kMostChanges = 40;  // of options that are tried

MadeSubject made(const std::string& text, const AgainstRequest& request) {
  SubjectSettings settings = request.subject;
  settings.allow_zero_and_one = request.planner.contains(spec::option::kAllowZeroAndOne);
  auto subject = make_subject(text, settings);
  if (!subject.ok()) return subject.error().at("'" + text + "'");
  return subject;
}

Script script_for(const Script& script, const Subject& subject, const AgainstRequest& request) {
  Script own = script;
  own.options = taken_of(subject, conformance::merged(script.options, request.planner));
  return own;
}

// The script with the programs of the other one: calls and data stay.
Result<Script> with_programs_of(const CheckInput& other, const Script& script,
                                const AgainstRequest& request) {
  if (other.script.programs.size() != script.programs.size()) {
    return bad_input(request.against + " has " + std::to_string(other.script.programs.size()) +
                     " programs, and " + request.file + " has " +
                     std::to_string(script.programs.size()));
  }
  Script out = script;
  for (std::size_t i = 0; i < script.programs.size(); ++i) {
    const auto inputs = [](const spec::Program& program) {
      return program.inputs_of(spec::InputKind::kUserInput).size();
    };
    const std::size_t ours = inputs(*script.programs[i]);
    const std::size_t theirs = inputs(*other.script.programs[i]);
    if (ours != theirs) {
      return bad_input(request.against + " takes " + std::to_string(theirs) + " inputs, and " +
                       request.file + " takes " + std::to_string(ours));
    }
    out.programs[i] = other.script.programs[i];
  }
  return out;
}

std::string node_words(const std::string& name, const std::string& op) {
  return "'" + plain_name(name) + "' (" + plain_name(op) + ")";
}

// "at 'lt' (aten.lt.Tensor), where b.pt2 has 'le' (aten.le.Tensor); call 0".
std::string place_words(const Parting& parting, const PartingNames& names) {
  std::string text = "part at ";
  const bool is_pair = !parting.node.empty() && !parting.other_node.empty();
  const bool has_node = !parting.node.empty() || !parting.other_node.empty();
  if (!has_node) text = "part in what is returned";
  if (has_node && parting.node.empty()) {
    text += node_words(parting.other_node, parting.other_op) + " of " + names.right +
            ", for which " + names.left + " has nothing";
  } else if (has_node) {
    text += node_words(parting.node, parting.op);
  }
  const bool is_other =
      is_pair && (parting.node != parting.other_node || parting.op != parting.other_op);
  if (is_other) {
    text += ", where " + names.right + " has " + node_words(parting.other_node, parting.other_op);
  } else if (!parting.node.empty() && parting.other_node.empty()) {
    text += ", for which " + names.right + " has nothing";
  }
  text += ", call " + std::to_string(parting.call);
  if (parting.who == "both") {
    text += "; both are off";
  } else if (!parting.who.empty()) {
    text += "; off is " + parting.who;
  }
  return text;
}

Json json_of(const Parting& parting, const std::vector<std::string>& changes) {
  Json json;
  json["parts"] = parting.is_found;
  json["nodes"] = parting.nodes;
  if (parting.is_found) {
    json["call"] = parting.call;
    json["node"] = parting.node;
    json["op"] = parting.op;
    json["other_node"] = parting.other_node;
    json["other_op"] = parting.other_op;
    if (!parting.who.empty()) json["off"] = parting.who;
    json["element"] = parting.element;
    json["read"] = parting.read;
    json["picture"] = parting.picture;
  }
  json["calls"] = parting.calls;
  json["open"] = parting.open;
  json["mended_by"] = changes;
  json["remarks"] = parting.remarks;
  return json;
}

// Whether all was compared.
bool is_whole(const Parting& parting) { return parting.remarks.empty() && parting.open.empty(); }

// What it came to, behind the names of the two.
std::string ending_of(const Parting& parting, const PartingNames& names) {
  if (parting.is_found) return place_words(parting, names);
  return parting.open.empty() ? "do not part" : "part where it is open which of them is right";
}

// Whole lines for a person.
std::string lines_of(const AgainstRequest& request, const Parting& parting,
                     const PartingNames& names, const std::vector<std::string>& changes) {
  std::string head = parting.is_found ? "FAIL " : is_whole(parting) ? "PASS " : "UNDECIDED ";
  head += request.file + ": " + names.left + " and " + names.right + " ";
  head += ending_of(parting, names);
  std::string text =
      plain_text(head + "; " + std::to_string(parting.nodes) + " node runs compared") + "\n";
  const auto add = [&text](const std::string& line) { text += "  " + plain_text(line) + "\n"; };
  if (!parting.element.empty()) add(parting.element);
  for (const std::string& line : parting.read) add("read " + line);
  if (!parting.picture.empty()) {
    add("elements that differ ('x': some of those that stand there):");
    text += indented(parting.picture, "    ");
  }
  for (const std::string& line : parting.calls) add(line);
  for (const std::string& line : parting.open) add(line);
  if (!parting.is_found && !parting.open.empty()) {
    add("to decide it: give inputs on which no two candidates tie, pass the state of a generator "
        "where something is drawn, and read nothing that nobody wrote");
  }
  for (const std::string& change : changes) add(change);
  for (const std::string& remark : parting.remarks) add(remark);
  return text;
}

// What a page draws of it.
Json panel_of(const Parting& parting, const PartingNames& names,
              const std::vector<std::string>& changes) {
  Json panel{{"panel", "parting"}};
  panel.update(json_of(parting, changes));
  panel["left"] = plain_name(names.left);
  panel["right"] = plain_name(names.right);
  const conformance::ElementMap& map = parting.elements;
  if (map.rows == 0) return panel;
  Json distances = Json::array();
  for (const double distance : map.distances) {
    distances.push_back(std::isfinite(distance) ? Json(distance) : Json(nullptr));
  }
  panel["elements"] = {{"rows", map.rows},
                       {"columns", map.columns},
                       {"sizes", map.sizes},
                       {"shares", map.shares},
                       {"distances", std::move(distances)}};
  return panel;
}

Report report_of(const AgainstRequest& request, const Parting& parting, const PartingNames& names,
                 const std::vector<std::string>& changes, ExitCode code) {
  Report report = one_section("graphgate check --against");
  report.code = code;
  report.facts = json_of(parting, changes);
  if (has_form(request.reports, kHtmlForm)) {
    report.panels.push_back(panel_of(parting, names, changes));
  }
  ReportItem item;
  item.place = request.file;
  item.outcome = parting.is_found    ? spec::Outcome::kFail
                 : is_whole(parting) ? spec::Outcome::kPass
                                     : spec::Outcome::kUndecided;
  item.reason = names.left + " and " + names.right + " " + ending_of(parting, names);
  item.remarks = parting.remarks;
  item.text = lines_of(request, parting, names, changes);
  for (const std::string& op : {parting.op, parting.other_op}) {
    if (!op.empty()) item.ops.push_back(op);
  }
  report.totals = count_text(parting.nodes, "node run", "node runs") + " compared\n";
  report.sections.front().subjects = {plain_name(names.left), plain_name(names.right)};
  report.sections.front().items.push_back(std::move(item));
  return report;
}

// The least changes of options with which the executor that is off is right.
std::vector<std::string> changes_that_mend(Runs& runs) {
  conformance::JudgeSet judges;
  judges.add(conformance::Judge::kBounds);
  conformance::JudgeSettings settings;
  settings.localize = false;
  const auto found = conformance::find_divergence(runs, judges, settings, kMostChanges);
  if (!found.ok()) return {};
  std::vector<std::string> lines;
  for (const std::string& change : found.value().changes) lines.push_back(change + ": passes");
  if (lines.empty() && found.value().tried > 0) {
    lines.push_back("no change of options that was tried mends it (" +
                    std::to_string(found.value().tried) + " were)");
  }
  return lines;
}

}  // namespace

Result<ExitCode> run_against(const AgainstRequest& request,
                             const std::shared_ptr<const spec::OpTable>& ops) {
  GRAPHGATE_TRY(const CheckInput input,
                in_file(read_check_input(request.file, request.calls, ops), request.file));
  // The name of a built-in executor is one, whatever lies beside.
  const auto& built_in = built_in_names();
  const bool is_built_in =
      std::find(built_in.begin(), built_in.end(), request.against) != built_in.end();
  std::error_code failed;
  const bool is_file = !is_built_in && std::filesystem::is_regular_file(request.against, failed);
  const std::string usual = is_file && !input.is_case ? "reference" : "optimized";
  const std::string executor = request.executor.empty() ? usual : request.executor;
  PartingNames names = {is_file ? request.file : executor, request.against};
  GRAPHGATE_TRY(const auto left, made(executor, request));
  GRAPHGATE_TRY(const auto right, made(is_file ? executor : request.against, request));
  left->launch();
  right->launch();
  GRAPHGATE_TRY_VOID(left->start());
  GRAPHGATE_TRY_VOID(right->start());
  const Script ours = script_for(input.script, *left, request);
  Script theirs = script_for(input.script, *right, request);
  if (is_file) {
    GRAPHGATE_TRY(const CheckInput other,
                  in_file(read_check_input(request.against,
                                           {"", request.calls.calls, request.calls.seed}, ops),
                          request.against));
    GRAPHGATE_TRY(theirs, with_programs_of(other, ours, request));
  }
  const auto oracle = reference_source(request.planner.contains(spec::option::kAllowZeroAndOne));
  Runs left_runs(ours, *left, *oracle);
  Runs right_runs(theirs, *right, *oracle);
  const auto parted =
      is_file ? conformance::part_programs(left_runs, right_runs, names, request.false_alarm_rate)
              : conformance::part_executors(left_runs, right_runs, names, request.false_alarm_rate);
  if (!parted.ok()) return parted.error().at(request.file);
  const Parting& parting = parted.value();
  std::vector<std::string> changes;
  if (parting.is_found && !is_file) {
    const bool is_right = parting.who == names.right;
    const bool has_options = (is_right ? *right : *left).takes(spec::option::kNoReuse);
    if (has_options) changes = changes_that_mend(is_right ? right_runs : left_runs);
  }
  const ExitCode code = parting.is_found    ? ExitCode::kFindings
                        : is_whole(parting) ? ExitCode::kGood
                                            : ExitCode::kInconclusive;
  const Report report = report_of(request, parting, names, changes, code);
  if (to_stdout(request.reports) == 0) print_plain(stdout, report.items().front()->text);
  GRAPHGATE_TRY_VOID(write_report(report, request.reports));
  return code;
}

}  // namespace graphgate::tools
