// A program that is being drawn: what each value is, and which of them share bytes.
//
// Families of ops (families/) ask it for operands and add nodes to it; generator.cpp decides which
// family is next, and takes the finished program. Shapes, strides, dtypes and alias classes are
// derived here and in the families from the ops' definitions alone: a third time, beside the
// reference and the planner, on purpose. So every type that a drawn program states is a claim that
// a run can disprove; where nothing is known of strides, the type is left out.
//
// Invariant: the nodes so far are a valid program. The code that adds a node has made sure of it.
#pragma once

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/generate/genes.h"
#include "fuzz/generate/size_table.h"
#include "spec/program.h"

namespace graphgate::fuzz {

inline constexpr int kMostRank = 6;

// Sizes or strides.
struct Shape {
  int rank = 0;
  std::array<Size, kMostRank> at{};

  Shape() = default;
  Shape(std::initializer_list<Size> sizes) {
    for (const Size size : sizes) push(size);
  }
  [[nodiscard]] Size operator[](int dim) const { return at[static_cast<std::size_t>(dim)]; }
  [[nodiscard]] Size& operator[](int dim) { return at[static_cast<std::size_t>(dim)]; }
  [[nodiscard]] bool has(Size size) const {
    return std::find(at.begin(), at.begin() + rank, size) != at.begin() + rank;
  }
  void push(Size size) { at[static_cast<std::size_t>(rank++)] = size; }
  void insert(int dim, Size size);
  void erase(int dim);
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank != b.rank) return false;
    for (int d = 0; d < a.rank; ++d) {
      if (a[d] != b[d]) return false;
    }
    return true;
  }
};

// The place of a tensor among Draft::tensors().
using TensorIndex = std::uint16_t;

struct DrawnTensor {
  spec::ValueId id;
  spec::DType dtype = spec::DType::kFloat32;
  bool has_layout = true;  // strides and offset are known
  bool overlaps = false;   // two of its elements may share bytes
  bool on_host = false;    // in host memory, in a program whose main device is another
  bool is_read = false;
  bool is_large = false;    // so large that nothing should grow out of it
  bool is_retired = false;  // has another geometry since then: nothing mentions it any more
  std::uint16_t storage = 0;
  Shape sizes;
  Shape strides;
  Size offset = 0;
};

struct DrawnStorage {
  bool is_unfilled = false;  // nothing may read it
  bool may_be_written = true;
  bool is_input = false;
  bool is_state = false;               // of a parameter, buffer or constant
  bool is_conjugated = false;          // PyTorch may only mark it so
  Bounds range{INT64_MIN, INT64_MAX};  // of its elements, where they are integers
  std::uint16_t tensors = 0;           // that see it
  std::uint16_t writes = 0;
  std::optional<std::uint16_t> copied;  // the storage that it is at sizes that need no copy
};

// A number among the values: an integer over sizes.
struct DrawnNumber {
  spec::ValueId id;
  Size size = 0;
};

// Where a result lies.
struct Layout {
  bool is_known = false;
  Shape strides;
};

class Draft;

// One node in the making: arguments, then results in order. The node is added when the builder
// goes. Values that its arguments need are added to the draft before it.
class NodeBuilder {
 public:
  NodeBuilder(Draft& draft, std::string_view op);
  ~NodeBuilder();
  NodeBuilder(const NodeBuilder&) = delete;
  NodeBuilder& operator=(const NodeBuilder&) = delete;

  NodeBuilder& argument(std::string_view name, spec::Argument value);
  NodeBuilder& tensor(std::string_view name, TensorIndex index);
  NodeBuilder& optional_tensor(std::string_view name, std::optional<TensorIndex> index);
  NodeBuilder& tensors(std::string_view name, const std::vector<TensorIndex>& indices);
  NodeBuilder& value(std::string_view name, spec::ValueId id);
  NodeBuilder& integer(std::string_view name, std::int64_t value);
  NodeBuilder& real(std::string_view name, double value);
  NodeBuilder& boolean(std::string_view name, bool value);
  NodeBuilder& text(std::string_view name, std::string_view value);
  NodeBuilder& dtype(std::string_view name, spec::DType value);
  NodeBuilder& size(std::string_view name, Size value);
  NodeBuilder& sizes(std::string_view name, const Shape& value);
  NodeBuilder& integers(std::string_view name, const std::vector<std::int64_t>& values);
  NodeBuilder& none(std::string_view name);

  // A result in a storage of its own: row-major, or as the layout says.
  TensorIndex fresh(spec::DType dtype, const Shape& sizes);
  // `offset`: where it begins in its storage, counted in elements.
  TensorIndex fresh(spec::DType dtype, const Shape& sizes, const Layout& layout, Size offset = 0);
  // A view of `base`: it has these sizes, strides and offset over the same storage.
  TensorIndex view(TensorIndex base, const Shape& sizes, const Shape& strides, Size offset,
                   bool overlaps = false);
  // The same elements' bytes, as elements of another dtype of that size.
  TensorIndex view_as(TensorIndex base, spec::DType dtype);
  // The same bytes as elements of another dtype: sizes, strides and offset count these.
  TensorIndex view_as(TensorIndex base, spec::DType dtype, const Shape& sizes, const Shape& strides,
                      Size offset);
  // The same geometry over a copy of its storage.
  TensorIndex copy_of(TensorIndex base);
  // `target` itself, written. Integers written into it are in this range.
  TensorIndex written(TensorIndex target, Bounds range = {INT64_MIN, INT64_MAX});
  // One of the two: `target` itself, or a tensor of its own.
  TensorIndex written_or_fresh(bool writes, TensorIndex target, spec::DType dtype,
                               const Shape& sizes, const Layout& layout) {
    return writes ? written(target) : fresh(dtype, sizes, layout);
  }
  // An argument that the op writes and does not return.
  NodeBuilder& writes(TensorIndex target);
  spec::ValueId number(spec::ValueKind kind, std::optional<Size> size);
  // The results so far are the elements of one list.
  void as_list();

 private:
  TensorIndex result(const DrawnTensor& tensor);
  // The node in its out= form, where it has one; what it writes is its result.
  std::optional<TensorIndex> as_out_form(spec::DType dtype, const Shape& sizes);
  [[nodiscard]] bool reads_storage(std::uint16_t storage) const;

  Draft& draft_;
  spec::Node node_;
};

// What a program is drawn with.
struct DraftSettings {
  bool on_accelerator = false;      // values are on cuda, and some in host memory
  std::vector<Size> dims;           // the few sizes that shapes are made of
  std::vector<spec::DType> dtypes;  // the few dtypes, floating ones first
};

class Draft {
 public:
  Draft() = default;
  void begin(DraftSettings settings);
  // Whether the next node that has an out= form takes it, and where it writes.
  void set_out_gene(std::uint32_t gene) { out_gene_ = gene; }

  SizeTable& table() { return table_; }
  [[nodiscard]] const DraftSettings& settings() const { return settings_; }
  DraftSettings& settings() { return settings_; }
  // By value: adding nodes moves tensors.
  [[nodiscard]] DrawnTensor tensor(TensorIndex index) const { return tensors_[index]; }
  [[nodiscard]] const std::vector<DrawnTensor>& tensors() const { return tensors_; }
  [[nodiscard]] DrawnStorage& storage_of(TensorIndex index) {
    return storages_[tensors_[index].storage];
  }
  [[nodiscard]] const DrawnStorage& storage_of(TensorIndex index) const {
    return storages_[tensors_[index].storage];
  }
  // Whether the tensor sees bytes of an input of the program.
  [[nodiscard]] bool is_input(const DrawnTensor& tensor) const {
    return storages_[tensor.storage].is_input;
  }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }

  // A readable tensor that `fits(tensor)`; recent ones are likelier. None of complex numbers, which
  // few families know.
  template <class Fits>
  [[nodiscard]] std::optional<TensorIndex> pick(GeneReader& genes, Fits&& fits) const {
    return pick_of_any_dtype(genes, [&](const DrawnTensor& tensor) {
      return !spec::is_complex(tensor.dtype) && fits(tensor);
    });
  }
  // The same, complex tensors among them.
  template <class Fits>
  [[nodiscard]] std::optional<TensorIndex> pick_of_any_dtype(GeneReader& genes, Fits&& fits) const {
    std::array<TensorIndex, 64> found;
    std::size_t count = 0;
    for (std::size_t i = tensors_.size(); i-- > 0 && count < found.size();) {
      const DrawnTensor& tensor = tensors_[i];
      if (tensor.on_host || tensor.is_large || tensor.is_retired ||
          storages_[tensor.storage].is_unfilled || !fits(tensor))
        continue;
      found[count++] = static_cast<TensorIndex>(i);
    }
    return choose(genes, found, count);
  }
  // Tensors of one of the program's floating dtypes, and others; made where there is none.
  [[nodiscard]] TensorIndex pick_floating(GeneReader& genes, int least_rank = 0,
                                          int most_rank = kMostRank);
  // A tensor of just this dtype and shape; made where there is none.
  [[nodiscard]] TensorIndex pick_like(GeneReader& genes, spec::DType dtype, const Shape& sizes);
  // A tensor that may be read beside one of these sizes: they broadcast to `sizes`, unchanged.
  [[nodiscard]] std::optional<TensorIndex> pick_broadcast(GeneReader& genes, spec::DType dtype,
                                                          const Shape& sizes) const;
  // One that has just these sizes, and that a node may write.
  [[nodiscard]] std::optional<TensorIndex> pick_target(GeneReader& genes, spec::DType dtype,
                                                       const Shape& sizes) const;
  // One that a node may write as a whole, an unfilled one first; an empty one is made where there
  // is none, for some genes.
  [[nodiscard]] std::optional<TensorIndex> pick_out(std::uint32_t gene, spec::DType dtype,
                                                    const Shape& sizes);
  // An empty tensor, which nothing reads before it is written.
  TensorIndex add_empty(spec::DType dtype, const Shape& sizes);
  // A tensor that has this number everywhere.
  TensorIndex add_filled(spec::DType dtype, const Shape& sizes, std::int64_t value);
  // Integers in [0, size) with these sizes; made where there are none.
  [[nodiscard]] TensorIndex pick_index(GeneReader& genes, const Shape& sizes, Size limit);

  [[nodiscard]] bool may_write(TensorIndex index) const;
  // Whether a node may read `operand` element by element while it writes `target`: they are the
  // same elements, or share none.
  [[nodiscard]] bool may_read_while_writing(TensorIndex operand, TensorIndex target) const;
  // Notes a write through this tensor.
  void note_write(TensorIndex index, Bounds range = {INT64_MIN, INT64_MAX});
  // `made` is a copy of the other, but at sizes where that lies as the copy would.
  void note_copy(TensorIndex made, TensorIndex of) {
    storage_of(made).copied = tensors_[of].storage;
  }
  // Whether anything writes the tensor's storage, at whatever sizes.
  [[nodiscard]] bool is_ever_written(TensorIndex index) const;
  void note_filled(TensorIndex index) { storage_of(index).is_unfilled = false; }
  // A node says a place from a storage's beginning on, pairs floats from there, or has a result
  // that lies where its operand does. Calls then pass every input at the beginning of its storage:
  // copies keep its place, too.
  void keep_places() { keeps_places_ = true; }
  [[nodiscard]] bool keeps_places() const { return keeps_places_; }
  void set_on_host(TensorIndex index) { tensors_[index].on_host = true; }
  // A tensor in host memory, in a program whose main device is another: pick() never gives one.
  template <class Fits>
  [[nodiscard]] std::optional<TensorIndex> pick_on_host(Fits&& fits) const {
    for (std::size_t i = tensors_.size(); i-- > 0;) {
      if (tensors_[i].on_host && fits(tensors_[i])) return static_cast<TensorIndex>(i);
    }
    return std::nullopt;
  }
  // Whether a node writes one of these storages while it reads the other elsewhere than it writes:
  // then they must not be the same bytes.
  [[nodiscard]] bool conflict(std::uint16_t a, std::uint16_t b) const;
  // For ops that change the geometry of their operand: it may be known by several names, so
  // whatever sees its bytes is not mentioned any more, but for the op's result, the latest tensor.
  void retire_older(TensorIndex index);
  void set_range(TensorIndex index, Bounds range) { storage_of(index).range = range; }
  [[nodiscard]] Bounds range(TensorIndex index) const { return storage_of(index).range; }

  // A new input of the program. Its layout: row-major, or (for some `layout` genes) another one.
  TensorIndex add_input(spec::InputKind kind, spec::DType dtype, const Shape& sizes,
                        std::uint32_t layout = 0);
  // Kind and layout by gene.
  TensorIndex add_input(GeneReader& genes, spec::DType dtype, const Shape& sizes);
  [[nodiscard]] Shape draw_shape(GeneReader& genes, int least_rank, int most_rank) const;
  [[nodiscard]] spec::DType draw_floating(GeneReader& genes) const;

  // A symbol of the program.
  Size add_symbol(std::string name, Bounds range, std::optional<std::int64_t> hint);
  // A new symbol for a size that data decide.
  Size add_unbacked(Bounds range);
  [[nodiscard]] std::uint32_t unbacked() const { return next_unbacked_; }
  // A size as an argument: a number, or the value of a node that gives it.
  spec::Argument size_argument(Size size);
  [[nodiscard]] std::optional<spec::ValueId> pick_number(GeneReader& genes) const;
  [[nodiscard]] std::uint32_t number_inputs() const { return number_inputs_; }
  spec::ValueId add_number_input(spec::ValueKind kind);
  // Sizes that only data decide are in it.
  [[nodiscard]] bool is_unbacked(const Shape& sizes) const;
  // A row of the op table that the case brings; it outlives the draft.
  void add_custom_op(std::string_view row);
  [[nodiscard]] const std::vector<std::string_view>& custom_ops() const { return custom_ops_; }
  [[nodiscard]] std::size_t subgraphs() const { return subgraphs_.size(); }
  // A subgraph of the program; returns its place.
  spec::SubgraphId add_subgraph(spec::Graph graph);

  [[nodiscard]] Size elements(const Shape& sizes);
  // Whether a tensor of these sizes is small enough to go on with.
  [[nodiscard]] bool is_small(const Shape& sizes) const;
  [[nodiscard]] Shape row_major(const Shape& sizes);
  [[nodiscard]] bool is_row_major(const DrawnTensor& tensor);
  // What PyTorch calls so: without elements a tensor is, whatever its strides.
  [[nodiscard]] bool is_contiguous(const DrawnTensor& tensor);
  // The type of a value of the draft.
  [[nodiscard]] spec::TensorType type_of(const DrawnTensor& tensor) const;
  [[nodiscard]] spec::Device main_device() const;

  // A value of the program: a tensor, or a number.
  struct DrawnValue {
    spec::ValueKind kind = spec::ValueKind::kTensor;
    TensorIndex tensor = 0;
    std::optional<Size> size;  // of a number that sizes give
  };
  struct Input {
    spec::InputKind kind = spec::InputKind::kUserInput;
    spec::ValueKind value_kind = spec::ValueKind::kTensor;
    TensorIndex tensor = 0;
    spec::ValueId id;
  };
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<DrawnNumber>& numbers() const { return numbers_; }

  // The program. `outputs` are values of the draft. The draft is over then.
  [[nodiscard]] spec::Program finish(std::string name, const std::vector<spec::ValueId>& outputs);

 private:
  friend class NodeBuilder;
  [[nodiscard]] std::optional<TensorIndex> choose(GeneReader& genes,
                                                  const std::array<TensorIndex, 64>& found,
                                                  std::size_t count) const;
  spec::ValueId add_value(DrawnValue value);
  TensorIndex add_tensor(DrawnTensor tensor);
  std::uint16_t add_storage(DrawnStorage storage);
  void note_conflicts(const spec::Node& node, TensorIndex target);
  void mark_read(TensorIndex index) { tensors_[index].is_read = true; }
  [[nodiscard]] std::vector<std::uint32_t> definition_order() const;
  [[nodiscard]] std::vector<std::size_t> inputs_in_order() const;

  DraftSettings settings_;
  SizeTable table_;
  std::vector<DrawnTensor> tensors_;
  std::vector<DrawnStorage> storages_;
  std::vector<DrawnNumber> numbers_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> conflicts_;  // storages
  std::vector<Input> inputs_;
  std::vector<spec::Node> nodes_;
  std::vector<spec::Graph> subgraphs_;
  std::map<std::string, spec::SymbolInfo, std::less<>> symbols_;
  std::vector<DrawnValue> values_;
  std::vector<std::string_view> custom_ops_;
  std::uint32_t next_unbacked_ = 0;
  std::uint32_t number_inputs_ = 0;
  std::uint32_t out_gene_ = 0;
  bool keeps_places_ = false;
};

// What a pointwise op returns: sizes by broadcasting, and the strides that PyTorch's TensorIterator
// gives a result of these operands. `scalars` counts operands that are numbers.
[[nodiscard]] Layout pointwise_layout(Draft& draft, std::span<const TensorIndex> operands,
                                      const Shape& sizes, int scalars);
// What a copy of the tensor that preserves its format has: its own strides, where it is dense, as
// all tensors are without elements.
[[nodiscard]] Layout preserved_layout(Draft& draft, TensorIndex self);
// Whether `from` broadcasts to `to` without making it any larger.
[[nodiscard]] bool broadcasts_to(const Shape& from, const Shape& to);
// The common shape, where there is one.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace graphgate::fuzz
