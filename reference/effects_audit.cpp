#include "reference/effects_audit.h"

#include <algorithm>
#include <cstring>

namespace graphgate::reference {
namespace {

template <class Visit>
void for_each_tensor(const Datum& datum, Visit&& visit) {
  if (const auto* tensor = datum.as<TensorRef>()) visit(**tensor);
  if (const auto* list = datum.as<Datum::List>()) {
    for (const Datum& element : *list) for_each_tensor(element, visit);
  }
}

}  // namespace

EffectsAudit::EffectsAudit(const spec::OpRow& row, const std::vector<Datum>& arguments)
    : row_(row) {
  snapshots_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for_each_tensor(arguments[i], [&](const Tensor& tensor) { add(i, tensor); });
  }
  for (Snapshot& snapshot : snapshots_) {
    if (!snapshot.may_change) snapshot.bytes = snapshot.storage->host->bytes;
  }
}

void EffectsAudit::add(std::size_t argument, const Tensor& tensor) {
  auto snapshot = std::find_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& known) {
    return known.storage == tensor.storage;
  });
  if (snapshot == snapshots_.end()) {
    snapshot = snapshots_.insert(snapshot, {tensor.storage, {}, {}, false});
  }
  snapshot->arguments.push_back(argument);
  snapshot->may_change = snapshot->may_change || row_.writes(argument);
}

bool EffectsAudit::may_alias(std::size_t result, std::size_t argument) const {
  const auto contains = [](const auto& list, const auto& x) {
    return std::find(list.begin(), list.end(), x) != list.end();
  };
  if (contains(row_.undeclared_aliases, row_.schema.arguments[argument].name)) return true;
  const auto& returns = row_.effects.returns;
  return result < returns.size() && contains(returns[result].aliases, argument);
}

bool EffectsAudit::is_unchanged(const Snapshot& snapshot) {
  const std::vector<std::byte>& bytes = snapshot.storage->host->bytes;
  if (bytes.size() != snapshot.bytes.size()) return false;
  return bytes.empty() || std::memcmp(bytes.data(), snapshot.bytes.data(), bytes.size()) == 0;
}

void EffectsAudit::check(const std::vector<Datum>& results) const {
  for (const Snapshot& snapshot : snapshots_) {
    if (snapshot.may_change || is_unchanged(snapshot)) continue;
    throw AuditError("effects audit: " + row_.schema.qualified_name() + " wrote argument '" +
                     row_.schema.arguments[snapshot.arguments.front()].name +
                     "', which its schema does not declare");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    for_each_tensor(results[i], [&](const Tensor& result) { check_result(i, result); });
  }
}

void EffectsAudit::check_result(std::size_t index, const Tensor& result) const {
  for (const Snapshot& snapshot : snapshots_) {
    if (snapshot.storage != result.storage) continue;
    const bool allowed =
        std::any_of(snapshot.arguments.begin(), snapshot.arguments.end(),
                    [&](std::size_t argument) { return may_alias(index, argument); });
    if (allowed) continue;
    throw AuditError("effects audit: result " + std::to_string(index) + " of " +
                     row_.schema.qualified_name() + " aliases argument '" +
                     row_.schema.arguments[snapshot.arguments.front()].name +
                     "', which its schema does not declare");
  }
}

}  // namespace graphgate::reference
