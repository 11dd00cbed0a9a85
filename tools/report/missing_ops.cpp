#include "tools/report/missing_ops.h"

#include <algorithm>
#include <vector>

#include "spec/missing_op.h"
#include "tools/report/escape.h"

namespace graphgate::tools {
namespace {

std::vector<std::pair<std::string, std::size_t>> ranked(const MissingOpCounts& counts) {
  std::vector<std::pair<std::string, std::size_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  return rows;
}

}  // namespace

void count_missing_ops(const std::string& reason, MissingOpCounts& counts) {
  for (const std::string& op : spec::missing_ops_in(reason)) ++counts[op];
}

std::string describe_missing_ops(const MissingOpCounts& counts) {
  std::string text;
  for (const auto& [op, count] : ranked(counts)) {
    text += (text.empty() ? "missing ops: " : ", ") + plain_name(op) + " (" +
            std::to_string(count) + ")";
  }
  return text.empty() ? text : text + "\n";
}

Json json_of_missing_ops(const MissingOpCounts& counts) {
  Json json = Json::object();
  for (const auto& [op, count] : ranked(counts)) json[op] = count;
  return json;
}

}  // namespace graphgate::tools
