#include "optimized/compile_counters.h"

#include <array>
#include <string_view>

namespace graphgate::optimized {
namespace {

struct Counter {
  std::string_view name;
  std::int64_t CompileCounters::*count;
  std::optional<std::int64_t> ExpectedCounters::*expected;
};

#define GRAPHGATE_COUNTER(name) \
  Counter { #name, &CompileCounters::name, &ExpectedCounters::name }
constexpr std::array kCounters = {
    GRAPHGATE_COUNTER(graphs_seen),      GRAPHGATE_COUNTER(plans_compiled),
    GRAPHGATE_COUNTER(partitions),       GRAPHGATE_COUNTER(captured_partitions),
    GRAPHGATE_COUNTER(captures),         GRAPHGATE_COUNTER(recompiles),
    GRAPHGATE_COUNTER(cache_hits),       GRAPHGATE_COUNTER(cache_misses),
    GRAPHGATE_COUNTER(entries_rejected), GRAPHGATE_COUNTER(entries_saved),
    GRAPHGATE_COUNTER(artifacts_saved),  GRAPHGATE_COUNTER(artifacts_loaded),
};
#undef GRAPHGATE_COUNTER
static_assert(kCounters.size() * sizeof(std::int64_t) == sizeof(CompileCounters));

}  // namespace

std::string unmet(const CompileCounters& before, const CompileCounters& after,
                  const ExpectedCounters& expected) {
  std::string text;
  for (const Counter& counter : kCounters) {
    const std::optional<std::int64_t> wanted = expected.*counter.expected;
    const std::int64_t growth = after.*counter.count - before.*counter.count;
    if (!wanted || *wanted == growth) continue;
    text += (text.empty() ? "" : "; ") + std::string(counter.name) + " grew by " +
            std::to_string(growth) + ", expected " + std::to_string(*wanted);
  }
  return text;
}

std::map<std::string, std::int64_t> counts_by_name(const CompileCounters& counters) {
  std::map<std::string, std::int64_t> counts;
  for (const Counter& counter : kCounters) {
    counts.emplace(counter.name, counters.*counter.count);
  }
  return counts;
}

std::string print_counters(const CompileCounters& counters) {
  std::string text;
  for (const Counter& counter : kCounters) {
    const std::int64_t count = counters.*counter.count;
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(counter.name) + " " + std::to_string(count);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace graphgate::optimized
