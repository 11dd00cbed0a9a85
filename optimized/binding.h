// Turns what a graph's node says into what a kernel takes: defaults filled in, values looked up.
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
// Finds one argument after the other, soonest in the order in which they stand.
class ArgumentFinder {
 public:
  // The arguments outlive it.
  explicit ArgumentFinder(const std::vector<spec::NamedArgument>& named) : named_(named) {}
  [[nodiscard]] const spec::Argument* find(std::string_view name) {
    if (next_ < named_.size() && named_[next_].name == name) return &named_[next_++].argument;
    return find_argument(named_, name);
  }

 private:
  const std::vector<spec::NamedArgument>& named_;
  std::size_t next_ = 0;
};

// The values that a node results in, in order, lists unpacked.
using ValueIds = SmallVector<spec::ValueId, 4>;
[[nodiscard]] ValueIds flat_results(const spec::Node& node);

[[nodiscard]] Item bind_argument(const spec::Argument& argument, const Lookup& lookup);

}  // namespace graphgate::optimized
