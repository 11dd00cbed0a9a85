// From what a graph's node says to what a kernel takes: defaults filled in, values looked up.
#pragma once

#include <functional>

#include "optimized/kernel.h"

namespace graphgate::optimized {

// The value that stands for a ValueId.
using Lookup = std::function<Item(spec::ValueId)>;

// One Item per argument of the schema, in order. Throws OpError for a required argument that is
// missing, and for ops and subgraphs as arguments.
[[nodiscard]] std::vector<Item> bind_arguments(const spec::OpSchema& schema,
                                               const std::vector<spec::NamedArgument>& named,
                                               const Lookup& lookup);
// The argument of that name, or null where the node leaves it to the default.
[[nodiscard]] const spec::Argument* find_argument(const std::vector<spec::NamedArgument>& named,
                                                  std::string_view name);
// The values that a node results in, in order, lists unpacked.
[[nodiscard]] std::vector<spec::ValueId> flat_results(const spec::Node& node);

[[nodiscard]] Item bind_argument(const spec::Argument& argument, const Lookup& lookup);

}  // namespace graphgate::optimized
