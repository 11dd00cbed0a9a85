#include "spec/case_ops.h"

#include <algorithm>

namespace graphgate::spec {
namespace {

// The order of rows does not matter, so both are sorted.
struct KeptTable {
  std::vector<std::string> ops;
  std::vector<std::string> replacements;
  std::shared_ptr<const OpTable> table;
};

// Some thousand names each, over rows that all of them share. The generator's custom ops make a few
// sets again and again.
constexpr std::size_t kMostKept = 32;

std::vector<std::string> sorted(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

Result<std::shared_ptr<const OpTable>> shared_case_ops(
    const CaseFile& the_case, const std::vector<std::string>& replacements) {
  if (the_case.ops.empty() && replacements.empty()) {
    // The builtin table lives as long as the process.
    return std::shared_ptr<const OpTable>(std::shared_ptr<const OpTable>(), &builtin_op_table());
  }
  thread_local std::vector<KeptTable> kept;  // the latest that was asked for comes first
  KeptTable wanted{sorted(the_case.ops), sorted(replacements), nullptr};
  auto place = std::find_if(kept.begin(), kept.end(), [&](const KeptTable& one) {
    return one.ops == wanted.ops && one.replacements == wanted.replacements;
  });
  if (place == kept.end()) {
    GRAPHGATE_TRY(OpTable table, case_ops(the_case, replacements));
    wanted.table = std::make_shared<const OpTable>(std::move(table));
    if (kept.size() == kMostKept) kept.pop_back();
    place = kept.insert(kept.end(), std::move(wanted));
  }
  std::rotate(kept.begin(), place, place + 1);
  return kept.front().table;
}

}  // namespace graphgate::spec
