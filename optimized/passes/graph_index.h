// What makes and what reads each value, and edits that keep a graph's order: the tools of passes.
//
// A pass builds an index, decides, and applies an Edit once; in between the graph does not change,
// so that indices of nodes stay what they are.
#pragma once

#include <span>

#include "optimized/passes/pass.h"

namespace graphgate::optimized {

class GraphIndex {
 public:
  explicit GraphIndex(const spec::Graph& graph);

  // The index of the node that makes the value; nothing for inputs.
  [[nodiscard]] std::optional<std::uint32_t> producer(spec::ValueId id) const;
  // The nodes that read it, ascending, each once.
  [[nodiscard]] std::span<const std::uint32_t> users(spec::ValueId id) const;
  [[nodiscard]] bool is_output(spec::ValueId id) const { return is_output_[id.index]; }

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> producers_;
  std::vector<std::uint32_t> begins_;  // into users_; one more than values
  std::vector<std::uint32_t> users_;
  std::vector<bool> is_output_;
};

// The argument of that schema name, or null where the node leaves it to the default.
[[nodiscard]] const spec::Argument* argument_of(const spec::Node& node, std::string_view name);
// The value that it is, or nothing for constants and lists.
[[nodiscard]] std::optional<spec::ValueId> value_of(const spec::Node& node, std::string_view name);
// A Python number, whatever its kind; nothing for values.
[[nodiscard]] std::optional<double> number_of(const spec::Argument* argument);
[[nodiscard]] std::optional<std::int64_t> integer_of(const spec::Argument* argument);
// The list of constant integers (one integer counts as a list), or nothing.
[[nodiscard]] std::optional<std::vector<std::int64_t>> integers_of(const spec::Argument* argument);
// Missing, None or `otherwise`.
[[nodiscard]] bool is_default(const spec::Argument* argument, const spec::Argument& otherwise);
// The one result; the node must have at least one.
[[nodiscard]] spec::ValueId result_of(const spec::Node& node);

// A new value without a name in common with the others.
[[nodiscard]] spec::ValueId add_value(spec::Graph& graph, spec::Value value);

// What a pass does to the nodes of a graph, collected and then applied in one sweep.
class Edit {
 public:
  explicit Edit(const spec::Graph& graph);

  void remove(std::uint32_t node) {
    is_removed_[node] = true;
    is_empty_ = false;
  }
  [[nodiscard]] bool is_removed(std::uint32_t node) const { return is_removed_[node]; }
  // `node` stands where the node at index `before` stands, before it.
  void insert(std::uint32_t before, spec::Node node);
  // Whatever reads `old` reads `replacement` instead, outputs included. Chains are followed.
  void replace(spec::ValueId old, spec::ValueId replacement);
  [[nodiscard]] spec::ValueId current(spec::ValueId id) const;

  void apply(spec::Graph& graph);

 private:
  void rename(spec::Argument& argument) const;

  std::vector<bool> is_removed_;
  std::vector<std::pair<std::uint32_t, spec::Node>> inserted_;
  std::vector<std::uint32_t> replacements_;  // by value
  bool is_empty_ = true;                     // most passes find nothing in most graphs
};

}  // namespace graphgate::optimized
