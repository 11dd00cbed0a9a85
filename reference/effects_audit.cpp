#include "reference/effects_audit.h"

#include <algorithm>
#include <cstring>

namespace graphgate::reference {
EffectsAudit::EffectsAudit(const spec::OpRow& row, const std::vector<Datum>& arguments)
    : row_(row) {
  reached_.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for_each_tensor(arguments[i], [&](const TensorRef& tensor) { add(i, *tensor); });
  }
  std::size_t size = 0;
  for (Reached& reached : reached_) {
    if (reached.may_change || !reached.is_first) continue;
    reached.begin = size;
    reached.size = reached.storage->host->bytes.size();
    size += reached.size;
  }
  bytes_.reserve(size);
  for (const Reached& reached : reached_) {
    if (reached.may_change || !reached.is_first) continue;
    const std::vector<std::byte>& bytes = reached.storage->host->bytes;
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
}

void EffectsAudit::add(std::size_t argument, const Tensor& tensor) {
  Reached added{argument, tensor.storage, 0, 0, row_.writes(argument), true};
  for (const Reached& known : reached_) {
    if (known.storage != tensor.storage) continue;
    added.is_first = false;
    added.may_change = added.may_change || known.may_change;
  }
  for (Reached& known : reached_) {
    if (known.storage == tensor.storage) known.may_change = added.may_change;
  }
  reached_.push_back(std::move(added));
}

bool EffectsAudit::may_alias(std::size_t result, std::size_t argument) const {
  const auto contains = [](const auto& list, const auto& x) {
    return std::find(list.begin(), list.end(), x) != list.end();
  };
  if (contains(row_.undeclared_aliases, row_.schema.arguments[argument].name)) return true;
  const auto& returns = row_.effects.returns;
  return result < returns.size() && contains(returns[result].aliases, argument);
}

bool EffectsAudit::is_unchanged(const Reached& reached) const {
  const std::vector<std::byte>& bytes = reached.storage->host->bytes;
  if (bytes.size() != reached.size) return false;
  return bytes.empty() ||
         std::memcmp(bytes.data(), bytes_.data() + reached.begin, bytes.size()) == 0;
}

void EffectsAudit::check(const std::vector<Datum>& results) const {
  for (const Reached& reached : reached_) {
    if (reached.may_change || !reached.is_first || is_unchanged(reached)) continue;
    throw AuditError("effects audit: " + row_.schema.qualified_name() + " wrote argument '" +
                     row_.schema.arguments[reached.argument].name +
                     "', which its schema does not declare");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    for_each_tensor(results[i], [&](const TensorRef& result) { check_result(i, *result); });
  }
}

void EffectsAudit::check_result(std::size_t index, const Tensor& result) const {
  const Reached* first = nullptr;  // of the arguments that it aliases
  for (const Reached& reached : reached_) {
    if (reached.storage != result.storage) continue;
    if (may_alias(index, reached.argument)) return;
    if (!first) first = &reached;
  }
  if (!first) return;
  throw AuditError("effects audit: result " + std::to_string(index) + " of " +
                   row_.schema.qualified_name() + " aliases argument '" +
                   row_.schema.arguments[first->argument].name +
                   "', which its schema does not declare");
}

}  // namespace graphgate::reference
