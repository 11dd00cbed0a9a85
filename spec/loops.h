// Loops among the higher-order ops: those that run a subgraph many times.
#pragma once

#include <cstdint>
#include <string_view>

namespace graphgate::spec {

// while_loop(condition graph, body graph, carried, additional): the body's results are carried into
// the next iteration.
inline constexpr std::string_view kWhileLoop = "higher_order.while_loop";
// scan(body graph, initial, scanned, additional): the body is given what is carried, and one slice
// of each scanned tensor; what it results in behind the carried is stacked.
inline constexpr std::string_view kScan = "higher_order.scan";
// map_impl(body graph, mapped, additional): a scan that carries nothing.
inline constexpr std::string_view kMap = "higher_order.map_impl";

[[nodiscard]] constexpr bool is_loop(std::string_view op) {
  return op == kWhileLoop || op == kScan || op == kMap;
}

// A while_loop that is not over by then is taken for one that never ends.
inline constexpr std::int64_t kMostIterations = std::int64_t{1} << 24;

}  // namespace graphgate::spec
