#include "optimized/runtime/host/fused_launch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

// Copies rows between memory and scratch.
class RowCopy {
 public:
  RowCopy(const TilePlace& place, std::byte* workspace)
      : memory_(place.tensor.data()),
        item_bytes_(place.tensor.item_bytes()),
        memory_pitch_(place.form.pitch * item_bytes_),
        scratch_(workspace + place.scratch_bytes + place.tile.offset * item_bytes_),
        scratch_pitch_(place.pitch * item_bytes_) {
    for (std::size_t d = static_cast<std::size_t>(place.form.lead); d < place.tile.sizes.size();
         ++d) {
      add_dim(place.tensor.sizes[d], place.tensor.strides[d] * item_bytes_,
              place.tile.strides[d] * item_bytes_);
    }
    merge_runs();
  }

  void load(std::int64_t first_row, std::int64_t rows) const { copy<false>(first_row, rows); }
  void store(std::int64_t first_row, std::int64_t rows) const { copy<true>(first_row, rows); }

 private:
  struct Dim {
    std::int64_t size, memory_stride, scratch_stride;
  };

  void add_dim(std::int64_t size, std::int64_t memory_stride, std::int64_t scratch_stride) {
    if (size == 1 || (memory_stride == 0 && scratch_stride == 0)) return;
    dims_.push_back({size, memory_stride, scratch_stride});
  }

  // Runs of bytes that stand behind each other in both are one.
  void merge_runs() {
    std::ranges::stable_sort(
        dims_, [](const Dim& a, const Dim& b) { return a.memory_stride > b.memory_stride; });
    run_bytes_ = item_bytes_;
    while (!dims_.empty() && dims_.back().memory_stride == run_bytes_ &&
           dims_.back().scratch_stride == run_bytes_) {
      run_bytes_ *= dims_.back().size;
      dims_.pop_back();
    }
  }

  template <bool kStore>
  void copy(std::int64_t first_row, std::int64_t rows) const {
    std::byte* memory = memory_ + first_row * memory_pitch_;
    if (dims_.empty() && memory_pitch_ == run_bytes_ && scratch_pitch_ == run_bytes_) {
      return move<kStore>(memory, scratch_, rows * run_bytes_);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      copy_dims<kStore>(0, memory + r * memory_pitch_, scratch_ + r * scratch_pitch_);
    }
  }

  template <bool kStore>
  void copy_dims(std::size_t dim, std::byte* memory, std::byte* scratch) const {
    if (dim == dims_.size()) return move<kStore>(memory, scratch, run_bytes_);
    for (std::int64_t i = 0; i < dims_[dim].size; ++i) {
      copy_dims<kStore>(dim + 1, memory + i * dims_[dim].memory_stride,
                        scratch + i * dims_[dim].scratch_stride);
    }
  }

  template <bool kStore>
  static void move(std::byte* memory, std::byte* scratch, std::int64_t bytes) {
    std::memcpy(kStore ? memory : scratch, kStore ? scratch : memory,
                static_cast<std::size_t>(bytes));
  }

  std::byte* memory_;
  std::int64_t item_bytes_;
  std::int64_t memory_pitch_;  // in bytes
  std::byte* scratch_;
  std::int64_t scratch_pitch_;
  std::vector<Dim> dims_;  // behind the rows; the innermost last
  std::int64_t run_bytes_ = 0;
};

// The nodes of the body bound to tiles of `tile_rows` rows.
class Binder {
 public:
  Binder(std::span<const TileCall> calls, const TileLayout& layout, std::byte* workspace)
      : calls_(calls), layout_(layout), workspace_(workspace) {}

  [[nodiscard]] std::vector<Launch> bind(std::int64_t tile_rows) const {
    std::vector<Launch> out;
    out.reserve(calls_.size());
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const TileCall& call = calls_[c];
      std::vector<Tensor> tiles;
      tiles.reserve(layout_.of_calls[c].size());
      for (const std::size_t p : layout_.of_calls[c]) {
        tiles.push_back(tile(layout_.places[p], tile_rows));
      }
      TileCall bound = replace_tensors(call, std::move(tiles));
      out.push_back(bind_call(*call.kernel, *call.row, std::move(bound.arguments),
                              std::move(bound.results), workspace_ + layout_.kernel_workspace));
    }
    return out;
  }

 private:
  [[nodiscard]] Tensor tile(const TilePlace& place, std::int64_t tile_rows) const {
    Tensor out = place.tile;
    if (tile_rows != layout_.tile_rows) {
      const Tensor full = tile_of(place.tensor, place.form, layout_.rows, tile_rows, 0);
      out.sizes = full.sizes;
    }
    out.bytes = place.in_place ? place.tensor.bytes : workspace_ + place.scratch_bytes;
    return out;
  }

  std::span<const TileCall> calls_;
  const TileLayout& layout_;
  std::byte* workspace_;
};

struct Tiles {
  std::int64_t rows = 0;
  std::int64_t tile_rows = 0;
  std::vector<std::pair<RowCopy, std::size_t>> loads;  // with the call that they precede
  std::vector<RowCopy> stores;
  std::vector<Launch> full;  // one per call
  std::vector<Launch> tail;

  void run() const {
    for (std::int64_t row = 0; row < rows; row += tile_rows) {
      const std::int64_t count = std::min(tile_rows, rows - row);
      const std::vector<Launch>& launches = count == tile_rows ? full : tail;
      auto load = loads.begin();
      for (std::size_t c = 0; c < launches.size(); ++c) {
        for (; load != loads.end() && load->second == c; ++load) load->first.load(row, count);
        if (launches[c].run) launches[c].run();
      }
      for (const RowCopy& store : stores) store.store(row, count);
    }
  }
};

// Inner values by the plan's word: each has a storage of its own, and a view that of its base.
class InnerValues {
 public:
  InnerValues(const spec::Plan& plan, const Lookup& lookup) : plan_(plan), lookup_(lookup) {}

  Item operator()(spec::ValueId id) {
    if (plan_.values[id.index].buffer) return lookup_(id);
    return {tensors_.at(id)};
  }
  void make(spec::ValueId id, StorageIndex storage) {
    const auto& type = plan_.values[id.index].value.type;
    GRAPHGATE_CHECK(type.has_value());
    Tensor tensor;
    tensor.dtype = type->dtype;
    for (const spec::SymExpr& size : type->sizes) tensor.sizes.push_back(size.constant());
    for (const spec::SymExpr& stride : type->strides) tensor.strides.push_back(stride.constant());
    tensor.offset = type->storage_offset.constant();
    tensor.device = type->device;
    tensor.storage = storage;
    tensors_.insert_or_assign(id, std::move(tensor));
  }
  [[nodiscard]] bool is_known(spec::ValueId id) const {
    return plan_.values[id.index].buffer || tensors_.contains(id);
  }

 private:
  const spec::Plan& plan_;
  const Lookup& lookup_;
  std::map<spec::ValueId, Tensor> tensors_;
};

// A plan says by its results what a node updates in place. One that was made for an op with other
// effects says what is not so.
void check_updates(const spec::Plan& plan, const spec::Node& node, const spec::OpRow& row) {
  for (std::size_t r = 0; r < node.results.size() && r < row.effects.returns.size(); ++r) {
    const bool gives_back = !row.effects.returns[r].aliases.empty();
    for (const spec::ValueId id : node.results[r].values) {
      bool is_operand = false;
      for_each_operand(node, [&](spec::ValueId operand) { is_operand |= operand == id; });
      if (is_operand == gives_back) continue;
      throw OpError("node '" + node.name + "' (" + node.op + "): gives back " +
                    (gives_back ? "bytes that it was given" : "new bytes") +
                    ", and the plan has %" + plan.values[id.index].value.name +
                    " in other ones: the plan was made for an op with other effects");
    }
  }
}

}  // namespace

BodyCalls body_calls(const spec::Plan& plan, const spec::PlanStep& step, const spec::OpTable& ops,
                     const Lookup& lookup) {
  BodyCalls out;
  out.first_inner = static_cast<StorageIndex>(plan.buffers.size());
  InnerValues inner(plan, lookup);
  StorageIndex next = out.first_inner;
  for (const spec::Node& node : step.body) {
    TileCall call;
    call.row = ops.find(node.op);
    GRAPHGATE_CHECK(call.row != nullptr);
    call.kernel = find_kernel(*call.row);
    GRAPHGATE_CHECK(call.kernel != nullptr);
    call.arguments = bind_arguments(call.row->schema, node.arguments,
                                    [&](spec::ValueId id) { return inner(id); });
    const bool is_view = call.kernel->bind == nullptr;
    if (!is_view) check_updates(plan, node, *call.row);
    for (const spec::ValueId id : flat_results(node)) {
      const auto* base = is_view ? call.arguments.front().as<Tensor>() : nullptr;
      if (!inner.is_known(id)) inner.make(id, base != nullptr ? base->storage : next++);
      const Item made = inner(id);
      const auto* tensor = made.as<Tensor>();
      GRAPHGATE_CHECK(tensor != nullptr);
      call.results.push_back(*tensor);
    }
    if (is_view) continue;
    out.calls.push_back(std::move(call));
    out.nodes.push_back(&node);
  }
  return out;
}

Launch fused_launch(std::span<const TileCall> calls,
                    const std::function<bool(StorageIndex)>& is_inner,
                    std::span<std::byte> workspace) {
  const TileLayout layout = lay_out_tile(calls, is_inner);
  GRAPHGATE_CHECK(std::ssize(workspace) >= layout.scratch_bytes);
  std::byte* scratch = workspace.data();
  const Binder binder(calls, layout, scratch);
  auto tiles = std::make_shared<Tiles>();
  tiles->rows = layout.rows;
  tiles->tile_rows = layout.tile_rows;
  for (const TileLoad& load : layout.loads) {
    tiles->loads.emplace_back(RowCopy(layout.places[load.place], scratch), load.before_call);
  }
  for (const std::size_t place : layout.stores) {
    tiles->stores.emplace_back(layout.places[place], scratch);
  }
  tiles->full = binder.bind(layout.tile_rows);
  const std::int64_t rest = layout.rows % layout.tile_rows;
  if (rest != 0) tiles->tail = binder.bind(rest);
  return [tiles = std::move(tiles)] { tiles->run(); };
}

}  // namespace graphgate::optimized
