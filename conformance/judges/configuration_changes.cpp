#include "conformance/judges/configuration_changes.h"

#include <algorithm>

#include "conformance/judges/configuration_table.h"
#include "spec/deviation.h"
#include "spec/option.h"

namespace graphgate::conformance {
namespace {

namespace option = spec::option;

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

// `set` over the options. List options grow.
void add_set(const Configuration& options, std::string words, const Configuration& set,
             std::vector<Change>& out) {
  Change change{std::move(words), options};
  for (const auto& [name, value] : set) {
    std::string& now = change.options[name];
    if (spec::find_option(name)->is_several() && !now.empty()) {
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
      const bool is_new = std::ranges::find(out, node.op) == out.end();
      if (is_known && is_new && !node.op.starts_with("_operator.")) out.push_back(node.op);
    }
  }
  return out;
}

// Rows with one option: the common ones first.
std::vector<ConfigurationRow> single_rows() {
  std::vector<ConfigurationRow> out;
  for (const bool common : {true, false}) {
    for (const ConfigurationRow& row : configuration_rows()) {
      if (row.options.size() == 1 && row.is_common == common) out.push_back(row);
    }
  }
  return out;
}

}  // namespace

std::vector<Change> single_changes(const Script& script) {
  std::vector<Change> out;
  add_removals(script.options, out);
  const auto add = [&](const Configuration& set) {
    add_set(script.options, print_configuration(set), set, out);
  };
  for (const ConfigurationRow& row : single_rows()) add(row.options);
  add({{option::kStreams, "1"}});
  constexpr std::size_t kMostOps = 8;
  const std::vector<std::string> ops = ops_of(script);
  for (std::size_t i = 0; i < std::min(kMostOps, ops.size()); ++i) {
    add({{option::kSplitOp, ops[i]}});
  }
  return out;
}

std::vector<Change> pairs_of_changes(const Script& script) {
  const std::vector<ConfigurationRow> rows = single_rows();
  std::vector<Change> out;
  constexpr std::size_t kFirst = 10;
  for (std::size_t b = 0; b < std::min(kFirst, rows.size()); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      add_set(script.options, rows[a].text + " " + rows[b].text,
              merged(rows[a].options, rows[b].options), out);
    }
  }
  return out;
}

std::vector<Change> deviations_less(const Script& script) {
  std::vector<Change> out;
  if (!script.options.contains(option::kProfile)) return out;
  for (const spec::DeviationRow& row : spec::deviations()) {
    const std::string name(row.name);
    add_set(script.options, "without the profile's deviation " + name,
            {{option::kNoDeviation, name}}, out);
  }
  return out;
}

}  // namespace graphgate::conformance
