// The walk behind facts_of: a graph in its own order, with a map of writers for every storage.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/verify/facts.h"

namespace graphgate::verify {

class FactsWalk {
 public:
  FactsWalk(const spec::Program& program, const spec::OpTable& ops,
            const std::map<std::string, std::int64_t>& symbols, const RunRows& rows,
            GraphFacts& facts);
  void walk(const std::vector<std::uint32_t>& input_groups);

 private:
  // A tensor over a storage. Without geometry it is the whole storage (`whole`), or some part.
  struct Ref {
    std::uint32_t storage = 0;
    Geometry geometry;
    bool whole = false;
    Writers copied_by;  // nodes that may have copied it out of the storage
  };
  struct Known {
    std::optional<Ref> tensor;
    std::vector<Ref> list;       // the elements of a list that is kept whole, as far as known
    std::optional<Ref> element;  // what stands for an element that is not known
    Writers number;
  };
  // Values of one frame, by id.
  using Values = std::vector<Known>;
  struct Storage {
    ContentMap map;
    bool is_of_run = false;  // rows of the run name it
    // A node may have copied it: who reads the copy does not see later writes.
    bool is_loose = false;
  };

  // An op that changes how its argument is seen, and no byte of it (squeeze_).
  [[nodiscard]] static bool writes_no_byte(const spec::OpRow& row) {
    return row.has_tag("inplace_view");
  }
  void bind_inputs(const std::vector<std::uint32_t>& input_groups, Values& values);
  void walk_frame(std::uint32_t frame, Values& values);
  void walk_node(std::uint32_t index, Values& values);
  void record_operands(NodeFact& fact, const Values& values);
  void write_operands(const NodeFact& fact, Writer writer, const Values& values);
  void make_results(std::uint32_t index, Values& values);
  void walk_conditional(std::uint32_t index, Values& values);
  Values arm_values(const spec::Graph& arm, const spec::Node& node, const Values& values);
  void join_results(std::uint32_t index, const std::vector<std::vector<Known>>& arms,
                    Values& values);
  // Loops (facts_loop.cpp).
  struct Makers;
  void walk_loop(std::uint32_t index, Values& values);
  [[nodiscard]] static Known known_argument(const spec::Argument& argument, const Values& values);
  [[nodiscard]] Makers makers_of(const Known& known) const;
  Known made_by(const Makers& makers, const spec::Value& value, Writer writer);
  std::vector<Makers> walk_iteration(std::uint32_t index,
                                     const std::vector<const spec::Graph*>& graphs,
                                     const std::vector<Known>& given);
  void note_condition(std::uint32_t index, const spec::Graph& graph, const Values& inner);
  [[nodiscard]] bool is_never_run(const spec::Argument::List& scanned,
                                  const spec::Graph& graph) const;
  void hand_on_carried(std::uint32_t index, const spec::Argument::List& carried, Values& values);
  void read_ends(const Values& values);

  Ref make_result(std::uint32_t index, std::size_t result, spec::ValueId id, std::size_t unpacked,
                  const Values& values);
  Known make_list(std::uint32_t index, std::size_t result, const Values& values);
  Ref made_ref(const spec::ProvenanceRow* row, Geometry geometry, Writer writer);
  // What a result is that shares storage with operand `base`, as the schema says.
  Ref viewed_ref(const NodeFact& fact, const Ref& base, bool declared, Writer writer,
                 const Geometry& geometry);
  [[nodiscard]] std::optional<Ref> aliased_operand(const NodeFact& fact, std::size_t result,
                                                   const Values& values, bool& declared,
                                                   bool& updates) const;
  [[nodiscard]] static Geometry geometry_of(const spec::ProvenanceRow& row);
  [[nodiscard]] Geometry geometry_of(const spec::Value& value) const;
  // Of the storage: those that it is, or may be some of.
  [[nodiscard]] static const ByteSet& bytes_of(const Ref& ref);
  // Whether the tensor is all of its storage, as far as anything of it is known.
  [[nodiscard]] bool covers_all(const Ref& ref) const;
  [[nodiscard]] TensorFact read(const Ref& ref) const;
  void write(const Ref& ref, Writer writer, bool may);
  std::uint32_t add_storage();
  // Of that number in the run; a new one, without contents, if it is the first.
  std::uint32_t storage_of(const spec::ProvenanceRow& row, bool& is_new);

  const spec::Program& program_;
  const spec::OpTable& ops_;
  spec::SymbolValues symbols_;
  const RunRows& rows_;
  GraphFacts& facts_;
  std::vector<Storage> storages_;
  std::map<std::uint32_t, std::uint32_t> storage_of_row_;  // by ProvenanceRow::storage
};

}  // namespace graphgate::verify
