#include "conformance/judges/configuration_changes.h"

#include <algorithm>

#include "conformance/judges/configuration_table.h"
#include "spec/deviation.h"

namespace graphgate::conformance {
namespace {

// Each option of the script left out; of lists each element, too.
void add_removals(const Configuration& options, std::vector<Change>& out) {
  for (const auto& [name, value] : options) {
    Change change{"without " + name + (value.empty() ? "" : "=" + value), options};
    change.options.erase(name);
    const std::vector<std::string> elements = split_list(value);
    for (std::size_t i = 0; elements.size() > 1 && i < elements.size(); ++i) {
      Change one{"without " + name + "=" + elements[i], options};
      std::vector<std::string> rest = elements;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      one.options[name] = join_list(rest);
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

}  // namespace

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

std::vector<Change> deviations_less(const Script& script) {
  std::vector<Change> out;
  if (!script.options.contains("profile")) return out;
  for (const spec::DeviationRow& row : spec::deviations()) {
    add_set(script.options, "no-deviation=" + std::string(row.name), out);
    out.back().words = "without the profile's deviation " + std::string(row.name);
  }
  return out;
}

}  // namespace graphgate::conformance
