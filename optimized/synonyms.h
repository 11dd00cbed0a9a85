// Ops that are other ops under a further name: "aten.absolute" is "aten.abs".
#pragma once

#include <span>
#include <string_view>

namespace graphgate::optimized {

// Base names: what does the work of `name` does that of `op`.
struct SameOp {
  std::string_view name;
  std::string_view op;
};
[[nodiscard]] std::span<const SameOp> same_ops();

}  // namespace graphgate::optimized
