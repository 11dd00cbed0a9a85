#include "fuzz/campaign/known_findings.h"

#include <algorithm>

namespace graphgate::fuzz {
namespace {

// "aten.add.Tensor" with self, other and alpha: "aten.add(alpha,other,self)". Overloads and the
// order of arguments do not matter; `out` is an argument.
std::string op_feature(const spec::Node& node) {
  const std::size_t first = node.op.find('.');
  const std::size_t last = node.op.rfind('.');
  const bool has_overload = first != last && last != std::string::npos;
  std::set<std::string_view> names;
  for (const spec::NamedArgument& given : node.arguments) names.insert(given.name);
  std::string text = (has_overload ? node.op.substr(0, last) : node.op) + "(";
  for (const std::string_view name : names) {
    if (text.back() != '(') text += ',';
    text += name;
  }
  return text + ")";
}

// Those that the reducer puts in the place of others tell nothing.
bool is_telling(spec::DType dtype) {
  return dtype != spec::DType::kFloat32 && dtype != spec::DType::kInt64 &&
         dtype != spec::DType::kBool;
}

void add_features(const spec::Graph& graph, CaseFeatures& features) {
  for (const spec::Node& node : graph.nodes) features.insert(op_feature(node));
  for (const spec::Value& value : graph.values) {
    if (value.kind != spec::ValueKind::kTensor || !value.type) continue;
    if (is_telling(value.type->dtype)) features.emplace(spec::short_name(value.type->dtype));
  }
  for (const spec::Graph& subgraph : graph.subgraphs) add_features(subgraph, features);
}

// The words of `a` that `b` lacks.
std::string lacking(const CaseFeatures& a, const CaseFeatures& b) {
  std::string text;
  for (const std::string& word : a) {
    if (!b.contains(word)) text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// In which features a reduced case differs from a known one.
std::string difference(const CaseFeatures& reduced, const CaseFeatures& known) {
  const std::string more = lacking(reduced, known);
  const std::string less = lacking(known, reduced);
  if (more.empty()) return "lacks " + less;
  return "has " + more + (less.empty() ? " beside" : " in place of " + less);
}

}  // namespace

CaseFeatures identifying_features(const spec::CaseFile& the_case) {
  CaseFeatures features;
  for (const spec::Program& program : the_case.programs) add_features(program.graph, features);
  return features;
}

void KnownFindings::add(KnownFinding finding) {
  for (std::size_t i = 0; i < finding.cases.size(); ++i) {
    rows_.push_back({all_.size(), i, identifying_features(finding.cases[i].the_case)});
  }
  all_.push_back(std::move(finding));
}

const KnownFinding* KnownFindings::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const KnownFinding& one) { return one.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

template <class Visit>
void KnownFindings::for_each_row(std::string_view fault, Visit&& visit) const {
  for (const Row& row : rows_) {
    const KnownFinding& finding = all_[row.finding];
    if (finding.faults.contains(std::string(fault))) visit(row, finding);
  }
}

bool KnownFindings::has_fault(std::string_view fault) const {
  return std::any_of(all_.begin(), all_.end(), [&](const KnownFinding& one) {
    return one.faults.contains(std::string(fault));
  });
}

bool KnownFindings::may_be_known(std::string_view fault, const spec::CaseFile& drawn) const {
  const CaseFeatures features = identifying_features(drawn);
  bool may_be = false;
  for_each_row(fault, [&](const Row& row, const KnownFinding&) {
    may_be = may_be || std::includes(features.begin(), features.end(), row.features.begin(),
                                     row.features.end());
  });
  return may_be;
}

KnownMatch KnownFindings::match(
    std::string_view fault, const spec::CaseFile& reduced,
    const std::function<bool(const spec::CaseFile& known)>& shows) const {
  const CaseFeatures features = identifying_features(reduced);
  KnownMatch match;
  std::size_t least = ~std::size_t{0};  // features in which the nearest one differs
  for_each_row(fault, [&](const Row& row, const KnownFinding& finding) {
    if (match.finding) return;
    std::vector<std::string> other;
    std::set_symmetric_difference(features.begin(), features.end(), row.features.begin(),
                                  row.features.end(), std::back_inserter(other));
    if (other.empty() && shows(finding.cases[row.number].the_case)) {
      match.finding = &finding;
    } else if (other.size() < least) {
      least = other.size();
      match.doubt =
          "has the signature of " + finding.name + ", but " +
          (other.empty() ? "that one does not show it here" : difference(features, row.features));
    }
  });
  if (match.finding) match.doubt.clear();
  return match;
}

}  // namespace graphgate::fuzz
