// Ops that are other ops under a further name: "aten.absolute" is "aten.abs".
#pragma once

#include <string_view>

namespace graphgate::optimized {

// Returns the base name of the op whose kernel serves this one, too; empty where there is none.
[[nodiscard]] std::string_view same_op_as(std::string_view base_name);

}  // namespace graphgate::optimized
