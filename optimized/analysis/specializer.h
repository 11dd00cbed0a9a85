// The working state of specialize(): values made so far, and the block that nodes go to.
#pragma once

#include <map>
#include <unordered_map>

#include "optimized/analysis/composite.h"
#include "optimized/analysis/specialize.h"

namespace graphgate::optimized {

// What each value of a graph has become: a ValueId of the SizedGraph, a constant, None, or a list.
using Environment = std::vector<spec::Argument>;

class Specializer {
 public:
  // All three outlive the Specializer.
  Specializer(const spec::SymbolValues& symbols, const spec::OpTable& ops,
              const spec::DeviationSet& deviations);

  // Makes room for as many values more.
  void reserve(std::size_t values);
  // Runs the nodes of `graph` into the current block, and returns what its outputs have become.
  std::vector<spec::Argument> run_graph(const spec::Graph& graph,
                                        const std::vector<spec::Argument>& inputs);
  // Adds a launch of copy_ to the current block; `symbols` are those that its sizes depend on.
  void emit_copy(spec::ValueId target, spec::ValueId source, const std::string& name,
                 std::vector<std::string> symbols);

  spec::ValueId add_value(SizedValue value);
  StorageIndex add_storage(SizedStorage storage);
  [[nodiscard]] SizedGraph& out() { return out_; }
  // The value that a value's tensor is at the end: another one where it took another geometry.
  [[nodiscard]] spec::ValueId at_the_end(spec::ValueId id) const;
  // "node 'x' (aten.add.Tensor): " while a node is being specialized, else "".
  [[nodiscard]] std::string place() const;

 private:
  void run_node(const spec::Graph& graph, const spec::Node& node, Environment& environment);
  void run_node_as_traced(const spec::Graph& graph, const spec::Node& node,
                          Environment& environment);
  [[nodiscard]] bool has_other_strides(const spec::Graph& graph, const spec::Node& node,
                                       const Environment& environment) const;
  void take_apart(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                  TakeApart composite, Environment& environment);
  // `declared`: what the program says of the whole's results, for a part whose results only a call
  // can tell.
  std::vector<spec::Argument> run_part(const SizedNode& whole, const std::string& op,
                                       std::vector<spec::NamedArgument> arguments,
                                       const std::vector<spec::Value>& declared = {});
  // Runs a node of operands that are resolved: by its kernel or by its parts. Throws Unsupported
  // for one that has neither.
  void run_or_take_apart(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                         Environment& environment);
  // How it is taken apart; null where its kernel runs it.
  [[nodiscard]] TakeApart parts_of(const SizedNode& node) const;
  [[nodiscard]] bool mentions_complex(const spec::Argument& argument) const;
  // Puts numbers of their own in the place of views that are read otherwise than they lie there.
  void read_turned(const SizedNode& whole, spec::Argument& argument);
  // How the operand of a view is turned. Throws Unsupported where a node writes one that is.
  [[nodiscard]] Turn turn_of_view(const SizedNode& node) const;
  // Says it of the results of a node.
  void pass_turn(const spec::Node& node, Turn turn, const Environment& environment);
  // By its kernel.
  void run_resolved(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                    Environment& environment);
  void run_conditional(const spec::Graph& graph, const spec::Node& node, Environment& environment);
  void refuse_aliases(const std::vector<spec::Argument>& outputs) const;
  spec::Argument join_arms(const spec::Graph& graph, spec::ValueId result, std::size_t index,
                           std::span<const std::size_t> arms);

  // Loops (loop.cpp). Where what is carried lies: a tensor's own kind of place, a number's tensor
  // of one element.
  struct LoopPlace {
    spec::ValueId id;
    spec::ValueKind kind;
  };
  struct Loop {
    const spec::Node& node;
    std::vector<std::string> symbols;
    std::vector<LoopPlace> places;
  };
  void run_loop(const spec::Graph& graph, const spec::Node& node, Environment& environment);
  void run_while(const spec::Graph& graph, Loop& loop, Environment& environment);
  void run_scan(const spec::Graph& graph, Loop& loop, Environment& environment);
  std::string part_name(const Loop& loop);
  spec::Argument run_loop_op(const Loop& loop, const std::string& op,
                             std::vector<spec::NamedArgument> arguments, spec::ValueKind kind,
                             const std::optional<spec::TensorType>& type);
  void make_places(Loop& loop, const spec::Argument::List& initial);
  spec::Argument::List read_places(const Loop& loop);
  void write_places(const Loop& loop, spec::Argument::List results);
  std::size_t open_loop_block(const Loop& loop, const std::string& suffix);
  template <class Read, class Finish>
  void run_in_block(std::size_t block, const spec::Graph& graph, Read&& read, Finish&& finish);
  void push_loop(const Loop& loop, std::vector<spec::NamedArgument> arguments,
                 const spec::Argument::List& made, const spec::Argument::List& further);
  [[nodiscard]] std::int64_t scanned_count(const spec::Argument::List& scanned) const;
  spec::Argument make_stack(const Loop& loop, const spec::Value& declared);
  spec::Argument::List read_slices(const Loop& loop, const spec::Argument::List& scanned,
                                   spec::ValueId counter, std::int64_t count);
  void write_stack(const Loop& loop, const spec::Argument& stack, const spec::Argument& slice,
                   spec::ValueId counter);

  // Both take the node.
  void finish_static(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                     Inference& inference, Environment& environment);
  void finish_dynamic(const spec::Graph& graph, const spec::Node& node, SizedNode&& sized,
                      Environment& environment);
  spec::Argument dynamic_result(const spec::Graph& graph, spec::ValueId result, std::size_t index,
                                const SizedNode& node);
  [[nodiscard]] static std::optional<spec::ValueId> written_operand(std::size_t index,
                                                                    const SizedNode& node);
  [[nodiscard]] std::vector<StorageIndex> possible_bases(std::size_t index,
                                                         const SizedNode& node) const;
  spec::Argument argument_of(Made& made, const std::string& name, std::size_t result,
                             const SizedNode& node);
  [[nodiscard]] spec::ValueId operand_of(const Tensor& tensor, std::size_t result, bool same_shape,
                                         const SizedNode& node) const;
  void replace_everywhere(spec::ValueId old, spec::ValueId replacement);
  void pick_element(const spec::Node& node, Environment& environment);

  [[nodiscard]] spec::Argument resolve(const spec::Argument& argument,
                                       const Environment& environment) const;
  [[nodiscard]] bool is_dynamic(const SizedNode& node) const;
  [[nodiscard]] std::vector<StorageIndex> storages_of(const spec::Argument& argument) const;
  [[nodiscard]] std::optional<Tensor> declared_tensor(const spec::Value& value) const;
  std::string unique_name(const std::string& wanted);
  spec::ValueId none_value();

  const spec::SymbolValues& symbols_;
  const spec::OpTable& ops_;
  const spec::DeviationSet& deviations_;
  SizedGraph out_;
  std::size_t block_ = 0;
  std::size_t values_before_arm_ = 0;       // values that are not of the arm being specialized
  std::vector<Environment*> environments_;  // of the graphs being run, the outermost first
  std::unordered_map<std::string, int> names_;
  std::map<spec::ValueId, spec::ValueId> reshaped_;
  std::map<spec::ValueId, Turn> turned_;
  const spec::Node* place_ = nullptr;
};

}  // namespace graphgate::optimized
