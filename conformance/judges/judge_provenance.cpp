// Provenance as a judge: every element that a node reads, and all that a call leaves behind, comes
// from where the reference says.
//
// docs/provenance.md explains words and rules. The subject and the reference run the script once
// each, with words beside the values; words are compared node by node.
#include <algorithm>
#include <map>
#include <set>

#include "conformance/judges/judge.h"
#include "conformance/judges/judge_report.h"
#include "conformance/judges/open_path.h"
#include "conformance/judges/provenance_compare.h"
#include "conformance/judges/rounded_index.h"
#include "conformance/judges/verified_plans.h"
#include "conformance/run/compile_once.h"
#include "conformance/run/runs.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

JudgeReport not_possible(const StopWatch& watch, const std::string& why) {
  return JudgeReport{.judge = Judge::kProvenance,
                     .outcome = spec::Outcome::kUnsupported,
                     .remark = why,
                     .seconds = watch.seconds()};
}

bool has_words(const Trace& trace) {
  for (const CallRecord& call : trace.calls) {
    if (!call.result.provenance.empty()) return true;
  }
  return false;
}

void add_remark(JudgeReport& report, const std::string& remark) {
  if (report.remark.find(remark) != std::string::npos) return;
  report.remark += (report.remark.empty() ? "" : "; ") + remark;
}

// Nodes that are given a number of that kind which comes out of a tensor. It is part of a word, so
// that two executors that round differently may make different words of it.
void find_readers(const spec::Graph& graph, spec::ValueKind kind, std::set<std::string>& out) {
  std::set<spec::ValueId> computed;
  for (const spec::Node& node : graph.nodes) {
    bool is_computed = false;
    spec::for_each_operand(node, [&](spec::ValueId id) {
      if (computed.contains(id)) out.insert(node.name);
      is_computed =
          is_computed || computed.contains(id) || graph.value(id).kind == spec::ValueKind::kTensor;
    });
    for (const spec::NodeResult& result : node.results) {
      for (const spec::ValueId id : result.values) {
        if (is_computed && graph.value(id).kind == kind) computed.insert(id);
      }
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) find_readers(subgraph, kind, out);
}

// Whether it is such a node that differs, and nothing that it reads.
bool is_about(spec::ValueKind kind, const spec::Finding& finding, const spec::Program& program) {
  if (finding.rule != "P6.other-operation" || finding.nodes.empty()) return false;
  std::set<std::string> readers;
  find_readers(program.graph, kind, readers);
  return readers.contains(finding.nodes.front());
}

bool is_about_an_index(Runs& runs, std::size_t call, const spec::Finding& finding) {
  return finding.rule == "P6.other-operation" && !finding.nodes.empty() &&
         reads_rounded_index(runs, call, finding.nodes.front());
}

// Whether the finding is about what comes before that node of the root graph. At the end of a call
// it names who wrote what the call ends with and who should have: one may stand in an arm that the
// other run did not take.
bool is_before(const spec::Finding& finding, const std::string& node, const spec::Graph& graph) {
  std::set<std::string_view> before;
  for (const spec::Node& other : graph.nodes) {
    if (other.name == node) break;
    before.insert(other.name);
  }
  if (finding.nodes.empty()) return false;
  if (finding.rule != "P5.lost-write") return before.contains(finding.nodes.front());
  return std::ranges::all_of(finding.nodes,
                             [&](const std::string& name) { return before.contains(name); });
}

// Why the words of call `c` are not compared from the finding on: right executors differ there.
// Empty: they do not.
std::string excuse(Runs& runs, std::size_t c, const CallRecord& actual, const CallRecord& expected,
                   const spec::Finding& finding) {
  const spec::Program& program = *runs.script().programs[actual.program];
  if (is_about(spec::ValueKind::kSymFloat, finding, program)) {
    return "words behind '" + finding.nodes.front() +
           "' are not compared: it is given a float that the call computes";
  }
  if (is_about_an_index(runs, c, finding)) {
    return "words behind '" + finding.nodes.front() +
           "' are not compared: a rounding error moved an index that it is given";
  }
  const std::string parting = open_parting(runs, c, actual, expected);
  if (!parting.empty() && !is_before(finding, parting, program.graph)) {
    return "words behind '" + parting +
           "' are not compared: which arm runs, or a size, depends on what the oracle cannot tell";
  }
  if (is_about(spec::ValueKind::kSymInt, finding, program) && is_path_open(runs, c)) {
    return "words behind '" + finding.nodes.front() +
           "' are not compared: it is given an integer that the oracle cannot tell";
  }
  return "";
}

// Whether two calls end with the same words in all states. Words that are hashed over all rows of
// an operand are others where a plan pads it, though no element depends on the rows behind.
bool leave_equal_states(const CallRecord& actual, const CallRecord& expected) {
  std::map<std::string_view, const spec::ProvenanceWords*> states;
  for (const spec::ProvenanceRow& row : expected.result.provenance) {
    if (row.node.empty() && row.port.starts_with("state ")) states.emplace(row.port, &row.words);
  }
  return std::ranges::all_of(actual.result.provenance, [&](const spec::ProvenanceRow& row) {
    const auto known = row.node.empty() ? states.find(row.port) : states.end();
    return known == states.end() || *known->second == row.words;
  });
}

}  // namespace

Result<JudgeReport> judge_provenance(Runs& runs, const JudgeSettings& /*settings*/) {
  const StopWatch watch;
  if (has_pass_of_users(runs.script().options)) {
    return not_possible(watch,
                        "a pass from a shared object rewrites the graphs: words of nodes are "
                        "not compared");
  }
  const auto subject = runs.subject({{option::kInstrument, "provenance"}});
  if (!subject.ok()) return not_possible(watch, subject.error().message);
  const auto oracle = runs.oracle("provenance");
  if (!oracle.ok()) return not_possible(watch, "the reference: " + oracle.error().message);
  const Trace& actual = *subject.value();
  const Trace& expected = *oracle.value();
  if (!actual.calls.empty() && !has_words(actual)) {
    return not_possible(watch, std::string(runs.subject_name()) + " shows no words");
  }
  JudgeReport report;
  report.judge = Judge::kProvenance;
  if (actual.error) add_remark(report, "the executor stopped: " + actual.error->message);
  if (expected.error) add_remark(report, "the reference stopped: " + expected.error->message);
  for (std::size_t c = 0; c < actual.calls.size() && c < expected.calls.size(); ++c) {
    const CallRecord& call = actual.calls[c];
    const bool is_padded = call.plan && call.plan->padding;
    const bool is_copied =
        call.plan && is_relaid(actual.configuration, *runs.script().programs[call.program],
                               *call.plan, call.inputs);
    if (is_padded || is_copied) {
      add_remark(report, is_padded ? "padded calls are not compared"
                                   : "calls with inputs in another layout are not compared");
      if (!leave_equal_states(call, expected.calls[c])) {
        add_remark(report, "nor what comes behind the state that one left");
        break;
      }
      continue;
    }
    ProvenanceDifferences differences = compare_provenance(
        call, expected.calls[c], *runs.script().programs[call.program], *runs.script().ops);
    report.checks += differences.elements;
    if (!differences.findings.empty()) {
      const std::string why =
          excuse(runs, c, call, expected.calls[c], differences.findings.front());
      if (!why.empty()) {
        add_remark(report, why);
        break;
      }
    }
    for (spec::Finding& finding : differences.findings) {
      if (actual.calls.size() > 1) {
        finding.message = "call " + std::to_string(c) + ": " + finding.message;
      }
      finding.program = runs.script().programs[call.program]->name;
      report.findings.push_back(std::move(finding));
    }
    // What is wrong now is wrong in what follows from it.
    if (!report.findings.empty()) break;
  }
  conclude(report, watch, spec::Outcome::kUnsupported, "there was no call to compare");
  return report;
}

}  // namespace graphgate::conformance
