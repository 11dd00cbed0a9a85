#include "conformance/harness/first_divergence.h"

#include <algorithm>
#include <functional>

#include "conformance/harness/configuration_table.h"
#include "conformance/harness/judge_nodes.h"
#include "conformance/harness/judge_report.h"
#include "conformance/harness/lone_taps.h"
#include "spec/deviation.h"

namespace graphgate::conformance {
namespace {

using spec::Finding;
using spec::Outcome;

// One way to change a configuration, and how it is said.
struct Change {
  std::string words;
  Configuration options;  // all of them, after the change
};

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Each option of the script left out; of lists each element, too.
void add_removals(const Configuration& options, std::vector<Change>& out) {
  for (const auto& [name, value] : options) {
    Change change{"without " + name + (value.empty() ? "" : "=" + value), options};
    change.options.erase(name);
    const std::vector<std::string> elements = split_list(value);
    for (std::size_t i = 0; elements.size() > 1 && i < elements.size(); ++i) {
      Change one{"without " + name + "=" + elements[i], options};
      std::string rest;
      for (std::size_t k = 0; k < elements.size(); ++k) {
        if (k != i) rest += (rest.empty() ? "" : ",") + elements[k];
      }
      one.options[name] = rest;
      out.push_back(std::move(one));
    }
    out.push_back(std::move(change));
  }
}

// `text` ("no-reuse", "memory=pools memory-pool=none") set over the options. List options grow.
void add_set(const Configuration& options, const std::string& text, std::vector<Change>& out) {
  Change change{text, options};
  for (const auto& [name, value] : parse_configuration(text)) {
    std::string& now = change.options[name];
    const bool is_list = name == "split-op" || name == "no-pass" || name == "no-deviation";
    if (is_list && !now.empty()) {
      now.append(",").append(value);
    } else {
      now = value;
    }
  }
  if (change.options != options) out.push_back(std::move(change));
}

std::vector<std::string> ops_of(const Script& script) {
  std::vector<std::string> out;
  for (const auto& program : script.programs) {
    for (const spec::Node& node : program->graph.nodes) {
      const bool is_known = script.ops->find(node.op) != nullptr;
      const bool is_new = std::find(out.begin(), out.end(), node.op) == out.end();
      if (is_known && is_new && !node.op.starts_with("_operator.")) out.push_back(node.op);
    }
  }
  return out;
}

// Rows with one option: the common ones first.
std::vector<std::string> single_rows() {
  std::vector<std::string> out;
  for (const bool common : {true, false}) {
    for (const ConfigurationRow& row : configuration_rows()) {
      const bool is_single = row.text.find(' ') == std::string::npos;
      if (is_single && row.is_common == common) out.push_back(row.text);
    }
  }
  return out;
}

std::vector<Change> single_changes(const Script& script) {
  std::vector<Change> out;
  add_removals(script.options, out);
  for (const std::string& row : single_rows()) add_set(script.options, row, out);
  add_set(script.options, "streams=1", out);
  constexpr std::size_t kMostOps = 8;
  const std::vector<std::string> ops = ops_of(script);
  for (std::size_t i = 0; i < std::min(kMostOps, ops.size()); ++i) {
    add_set(script.options, "split-op=" + ops[i], out);
  }
  return out;
}

std::vector<Change> pairs_of_changes(const Script& script) {
  const std::vector<std::string> rows = single_rows();
  std::vector<Change> out;
  constexpr std::size_t kFirst = 10;
  for (std::size_t b = 0; b < std::min(kFirst, rows.size()); ++b) {
    for (std::size_t a = 0; a < b; ++a) add_set(script.options, rows[a] + " " + rows[b], out);
  }
  return out;
}

// A profile with one of its deviations less; of those that it lacks the executor knows nothing.
std::vector<Change> deviations_less(const Script& script) {
  std::vector<Change> out;
  if (!script.options.contains("profile")) return out;
  for (const spec::DeviationRow& row : spec::deviations()) {
    add_set(script.options, "no-deviation=" + std::string(row.name), out);
    out.back().words = "without the profile's deviation " + std::string(row.name);
  }
  return out;
}

class Divider {
 public:
  Divider(Runs& runs, JudgeSet failed, const JudgeSettings& settings, std::size_t budget)
      : runs_(runs), failed_(failed), settings_(settings), budget_(budget) {
    settings_.localize = false;
    settings_.every_configuration = false;
  }

  Result<Divergence> run() {
    GRAPHGATE_TRY_VOID(try_all(single_changes(runs_.script())));
    const bool is_profile =
        std::any_of(out_.changes.begin(), out_.changes.end(),
                    [](const std::string& words) { return words.starts_with("without profile="); });
    if (is_profile) GRAPHGATE_TRY_VOID(try_all(deviations_less(runs_.script())));
    if (out_.passing.empty()) GRAPHGATE_TRY_VOID(try_all(pairs_of_changes(runs_.script())));
    GRAPHGATE_TRY_VOID(find_node());
    return std::move(out_);
  }

 private:
  Result<void> try_all(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      if (out_.tried >= budget_ || watch_.seconds() > kMostSeconds) return {};
      GRAPHGATE_TRY(const bool passed, passes(change.options));
      if (!passed) continue;
      out_.passing.push_back(change.options);
      out_.changes.push_back(change.words);
    }
    return {};
  }

  // Whether the judges that failed are content with the script under these options. A configuration
  // that is refused does not count as tried.
  Result<bool> passes(const Configuration& options) {
    Script script = runs_.script();
    script.options = options;
    script.expectation.outcome = Outcome::kPass;
    Runs runs = runs_.on(script);
    runs.share_oracle(runs_);
    const auto report = judge_script(runs, failed_, settings_);
    if (!report.ok()) {
      if (report.error().kind == ErrorKind::kInfrastructure) return report.error();
      return false;
    }
    ++out_.tried;
    return report.value().outcome == Outcome::kPass;
  }

  // In the order of how much each says of the very run that failed.
  Result<void> find_node() {
    for (const auto judge : {judge_provenance, judge_shadow, judge_verifier}) {
      if (take_node_from(judge)) return {};
    }
    if (take_node_from_taps()) return {};
    take_node_from_difference();
    for (const auto judge : {judge_happens_before, judge_quality}) {
      if (out_.node.empty()) take_node_from(judge);
    }
    return {};
  }

  bool take_node_from(Result<JudgeReport> (*judge)(Runs&, const JudgeSettings&)) {
    const auto report = judge(runs_, settings_);
    if (!report.ok()) return false;
    for (const Finding& finding : report.value().findings) {
      if (finding.outcome != Outcome::kFail || finding.nodes.empty()) continue;
      const std::string& name = finding.nodes.front();
      out_.node = name;
      out_.how = finding.rule + ": " + finding.message;
      return true;
    }
    return false;
  }

  bool take_node_from_taps() {
    const auto report = judge_nodes(runs_);
    if (!report.ok()) return false;
    for (const NodeFinding& finding : report.value().findings) {
      if (finding.node.empty()) continue;
      out_.node = finding.node;
      out_.how = finding.op + ": call " + std::to_string(finding.call) + ", " + finding.message;
      return true;
    }
    return false;
  }

  // Node by node against a configuration that passes, or against the one that disagrees with the
  // default where only that is wrong.
  void take_node_from_difference() {
    Configuration other;
    std::string words;
    if (!out_.passing.empty()) {
      other = out_.passing.front();
      words = out_.changes.front();
    } else if (!disagreeing_row(other, words)) {
      return;
    }
    const auto found = first_difference(runs_, runs_.script().options, other);
    if (!found) return;
    out_.node = found->node;
    out_.how = found->op + ": other bits than with the change (" + words + "): " + found->message;
  }

  bool disagreeing_row(Configuration& options, std::string& words) {
    if (!failed_.has(Judge::kConfigurations)) return false;
    const auto report = judge_configurations(runs_, settings_);
    if (!report.ok() || report.value().findings.empty()) return false;
    const std::string& message = report.value().findings.front().message;
    words = message.substr(0, message.find(": "));
    options = merged(runs_.script().options, parse_configuration(words));
    return true;
  }

  static constexpr double kMostSeconds = 60;

  Runs& runs_;
  JudgeSet failed_;
  JudgeSettings settings_;
  std::size_t budget_;
  StopWatch watch_;
  Divergence out_;
};

}  // namespace

Result<Divergence> find_divergence(Runs& runs, JudgeSet failed, const JudgeSettings& settings,
                                   std::size_t budget) {
  GRAPHGATE_CHECK(!failed.empty());
  return Divider(runs, failed, settings, budget).run();
}

std::vector<std::string> localize(Runs& runs, JudgeSet failed, const JudgeSettings& settings) {
  const auto found = find_divergence(runs, failed, settings);
  if (!found.ok()) return {"cannot be localized: " + found.error().message};
  const Divergence& divergence = found.value();
  std::vector<std::string> lines;
  if (!divergence.node.empty()) {
    lines.push_back("first node: '" + divergence.node + "': " + divergence.how);
  }
  for (const std::string& words : divergence.changes) lines.push_back(words + ": passes");
  if (divergence.changes.empty()) {
    lines.push_back("none of " + std::to_string(divergence.tried) +
                    " changes of the configuration makes it pass");
  }
  return lines;
}

}  // namespace graphgate::conformance
