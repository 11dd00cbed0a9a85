#include "optimized/memory/hints.h"

#include <algorithm>
#include <unordered_map>

namespace graphgate::optimized {
namespace {

using Types = std::unordered_map<std::string, const spec::TensorType*>;

void collect_types(const spec::Graph& graph, Types& out) {
  for (const spec::Value& value : graph.values) {
    if (value.type) out.try_emplace(value.name, &*value.type);
  }
  for (const spec::Graph& subgraph : graph.subgraphs) collect_types(subgraph, out);
}

// Where the last element ends. Nothing when a size cannot be told at the hints.
std::optional<std::int64_t> bytes_at(const spec::TensorType& type,
                                     const spec::SymbolValues& hints) {
  const auto number = [&](const spec::SymExpr& expr) -> std::optional<std::int64_t> {
    const auto value = evaluate(expr, hints);
    return value.ok() ? std::optional(value.value()) : std::nullopt;
  };
  if (type.strides.size() != type.sizes.size()) return {};
  auto last = number(type.storage_offset);
  for (std::size_t d = 0; last && d < type.sizes.size(); ++d) {
    const auto size = number(type.sizes[d]);
    const auto stride = number(type.strides[d]);
    std::int64_t step = 0;
    if (!size || !stride || *size < 0 || *stride < 0) return {};
    if (*size == 0) return 0;
    if (__builtin_mul_overflow(*size - 1, *stride, &step)) return {};
    if (__builtin_add_overflow(*last, step, &*last)) return {};
  }
  std::int64_t bytes = 0;
  const std::int64_t item = spec::item_size_bytes(type.dtype);
  if (!last || __builtin_mul_overflow(*last + 1, item, &bytes)) return {};
  return bytes;
}

}  // namespace

bool asks_for_hints(const MemoryOptions& options, const spec::DeviationSet& deviations) {
  return (options.reuse && options.strategy == MemoryStrategy::kPools) || !deviations.empty();
}

std::vector<std::int64_t> hinted_bytes(const spec::Program& program, const spec::Graph& prepared,
                                       const SizedGraph& sized) {
  if (program.symbols.empty()) return {};
  spec::SymbolValues hints;
  for (const auto& [name, value] : sized.symbols) hints.emplace(name, value);
  for (const auto& [name, info] : program.symbols) {
    if (info.hint) hints.insert_or_assign(name, *info.hint);
  }
  Types types;
  collect_types(prepared, types);
  std::vector<std::int64_t> out;
  out.reserve(sized.storages.size());
  for (const SizedStorage& storage : sized.storages) {
    const auto found = types.find(storage.name);
    const auto bytes = found == types.end() ? std::nullopt : bytes_at(*found->second, hints);
    out.push_back(bytes.value_or(storage.bytes));
  }
  return out;
}

}  // namespace graphgate::optimized
