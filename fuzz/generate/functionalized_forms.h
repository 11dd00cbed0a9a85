// What a program's functionalized ops write, and whether plans copied it first.
//
// features.cpp counts these. A copy that a plan has left out was reinplaced: the op writes the
// base.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/graph.h"
#include "spec/plan.h"

namespace graphgate::fuzz {

// One written argument.
struct FunctionalizedForm {
  // How it lies in its base, and what else the node does with that base.
  enum class Place : std::uint8_t { kWhole, kAlias, kSlice, kStrided };
  enum class Base : std::uint8_t { kAlone, kShared, kTwice };
  enum class Fate : std::uint8_t { kInPlace, kCopied, kNotRun };
  std::string_view op;  // the one that is held; of the graph
  Place place = Place::kWhole;
  Base base = Base::kAlone;
  Fate fate = Fate::kInPlace;
};

// The names of the nodes that the plan's steps run.
void add_node_names(const spec::Plan& plan, std::set<std::string, std::less<>>& names);

// Of every functionalized op of the graph. `names`: of what its plans run.
[[nodiscard]] std::vector<FunctionalizedForm> functionalized_forms(
    const spec::Graph& graph, const std::set<std::string, std::less<>>& names);

}  // namespace graphgate::fuzz
