#include "optimized/schedule/fuse_layout.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Rows such that no tile has exactly one of several: what kernels ask of tensors with one element
// must not depend on the tile.
std::int64_t choose_tile_rows(std::int64_t rows, std::int64_t widest_bytes,
                              std::int64_t all_bytes) {
  const std::int64_t wanted = std::min(kTileBytes / std::max<std::int64_t>(widest_bytes, 1),
                                       kTileGroupBytes / std::max<std::int64_t>(all_bytes, 1));
  for (std::int64_t r = std::min(wanted, rows); r >= 2; --r) {
    if (rows % r != 1) return r;
  }
  for (std::int64_t r = 2; r < rows; ++r) {
    if (rows % r != 1) return r;
  }
  return rows;
}

bool is_same(const TilePlace& place, const Tensor& tensor, const RowForm& form) {
  return place.tensor.storage == tensor.storage && place.tensor.dtype == tensor.dtype &&
         same_geometry(place.tensor, tensor) && place.form.pitch == form.pitch &&
         place.form.lead == form.lead;
}

// Bytes of scratch that live from one call to another.
struct Unit {
  std::int64_t row_bytes = 0;
  std::size_t first_call = 0;
  std::size_t last_call = 0;
  std::int64_t begin_bytes = 0;  // of the storage, for a unit that keeps a whole row
  std::int64_t offset = 0;
};

class Layouter {
 public:
  Layouter(std::span<const TileCall> calls, const std::function<bool(StorageIndex)>& is_inner)
      : calls_(calls), is_inner_(is_inner), uses_(calls.size()) {}

  TileLayout run() {
    place();
    for (std::size_t p = 0; p < out_.places.size(); ++p) make_tile(p);
    add_copies();
    measure_kernels();
    out_.of_calls.reserve(uses_.size());
    for (CallUse& use : uses_) out_.of_calls.push_back(std::move(use.places));
    return std::move(out_);
  }

  // The scratch bytes alone.
  std::int64_t measure() {
    place();
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      if (calls_[c].is_elementwise) continue;
      for (const std::size_t p : uses_[c].places) make_tile(p);
    }
    measure_kernels();
    return out_.scratch_bytes;
  }

 private:
  void place() {
    find_rows();
    find_written();
    for (std::size_t c = 0; c < calls_.size(); ++c) add_call(c);
    make_units();
    place_units();
  }

  struct CallUse {
    bool is_pointwise = false;
    WrittenTensors written;
    std::vector<FormedTensor> formed;  // at out_.rows
    std::vector<std::size_t> places;   // of those
  };
  struct PlaceUse {
    std::size_t storage = 0;  // in storages_
    std::size_t first_call = 0;
    std::size_t last_call = 0;
    std::size_t unit = 0;
  };
  struct StorageUse {
    StorageIndex storage = kNoStorage;
    bool is_inner = false;
    bool is_written = false;
    bool is_made = false;  // by a call that makes the storage
    RowUnion row;          // of one that is written
    std::optional<std::size_t> unit;
  };

  // The most that all calls allow.
  void find_rows() {
    RowCounts common;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      uses_[c].is_pointwise = is_pointwise(calls_[c]);
      const RowCounts own = possible_rows(calls_[c], uses_[c].is_pointwise);
      common = c == 0 ? own : rows_of_both(common, own);
    }
    GRAPHGATE_CHECK(!common.empty());
    out_.rows = common.back();
  }

  void find_written() {
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      uses_[c].written = written_by(calls_[c]);
      for (const Tensor* tensor : uses_[c].written) {
        storages_[use_of(tensor->storage)].is_written = true;
      }
    }
  }

  // Groups are small (FuseLimits): a walk is as good as a map.
  std::size_t use_of(StorageIndex storage) {
    for (std::size_t s = 0; s < storages_.size(); ++s) {
      if (storages_[s].storage == storage) return s;
    }
    storages_.push_back({storage, is_inner_(storage), false, false, {}, {}});
    return storages_.size() - 1;
  }

  void add_call(std::size_t c) {
    CallUse& use = uses_[c];
    use.formed = forms_at(calls_[c], use.is_pointwise, out_.rows);
    use.places.reserve(use.formed.size());
    for (const FormedTensor& formed : use.formed) {
      const std::size_t p = place_of(formed, c);
      use.places.push_back(p);
      place_uses_[p].last_call = c;
      StorageUse& storage = storages_[place_uses_[p].storage];
      if (storage.is_written) GRAPHGATE_CHECK(storage.row.add(formed, out_.rows));
    }
    for (const Tensor& made : calls_[c].results) {
      if (!is_operand(use, made)) storages_[use_of(made.storage)].is_made = true;
    }
  }

  static bool is_operand(const CallUse& use, const Tensor& made) {
    return std::ranges::count_if(use.written, [&](const Tensor* tensor) {
             return tensor->storage == made.storage;
           }) > 1;
  }

  // The place of a tensor, made at call `c` if there is none.
  std::size_t place_of(const FormedTensor& formed, std::size_t c) {
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      if (is_same(out_.places[p], *formed.tensor, formed.form)) return p;
    }
    TilePlace& place = out_.places.emplace_back();
    place.tensor = *formed.tensor;
    place.form = formed.form;
    place_uses_.push_back({use_of(place.tensor.storage), c, c, 0});
    return out_.places.size() - 1;
  }

  // Storages that the group writes keep their rows together; what is only read comes alone.
  void make_units() {
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      TilePlace& place = out_.places[p];
      PlaceUse& use = place_uses_[p];
      StorageUse& storage = storages_[use.storage];
      std::size_t first = use.first_call;
      std::size_t last = use.last_call;
      if (!storage.is_written) {
        place.in_place = out_.rows == 1 || place.form.pitch == 0;
        use.unit = units_.size();
        units_.push_back({place.in_place ? 0 : own_row_bytes(place), first, last, 0, 0});
        continue;
      }
      if (!storage.is_inner) last = calls_.size();
      if (!storage.is_inner && !storage.is_made) first = 0;
      if (!storage.unit) {
        storage.unit = units_.size();
        const ByteRange range = storage.row.range();
        units_.push_back({range.end - range.begin, first, last, range.begin, 0});
      }
      use.unit = *storage.unit;
      Unit& unit = units_[use.unit];
      unit.first_call = std::min(unit.first_call, first);
      unit.last_call = std::max(unit.last_call, last);
    }
  }

  // Rows that are mostly gaps, or reach into each other, are packed.
  [[nodiscard]] static bool keeps_strides(const TilePlace& place) {
    const std::int64_t item = place.tensor.item_bytes();
    const std::int64_t extent = place.form.first_row.end - place.form.first_row.begin;
    return extent <= place.form.pitch * item && extent <= 2 * row_count(place) * item;
  }
  [[nodiscard]] static std::int64_t row_count(const TilePlace& place) {
    std::int64_t count = 1;
    for (std::size_t d = static_cast<std::size_t>(place.form.lead); d < place.tensor.sizes.size();
         ++d) {
      count *= place.tensor.sizes[d];
    }
    return count;
  }
  [[nodiscard]] static std::int64_t own_row_bytes(const TilePlace& place) {
    if (!keeps_strides(place)) return row_count(place) * place.tensor.item_bytes();
    return place.form.first_row.end - place.form.first_row.begin;
  }

  // First fit over what has ended.
  void place_units() {
    std::int64_t widest = 0;
    std::int64_t all = 0;
    for (const Unit& unit : units_) {
      widest = std::max(widest, unit.row_bytes);
      all += unit.row_bytes;
    }
    out_.tile_rows = choose_tile_rows(out_.rows, widest, all);
    std::vector<std::size_t> order(units_.size());
    for (std::size_t u = 0; u < order.size(); ++u) order[u] = u;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return units_[a].first_call < units_[b].first_call;
    });
    struct Slot {
      std::int64_t offset, bytes;
      std::size_t last_call;
    };
    std::vector<Slot> slots;
    for (const std::size_t u : order) {
      Unit& unit = units_[u];
      const std::int64_t bytes = aligned(unit.row_bytes * out_.tile_rows);
      if (bytes == 0) continue;
      const auto free = std::ranges::find_if(slots, [&](const Slot& slot) {
        return slot.bytes == bytes && slot.last_call < unit.first_call;
      });
      if (free != slots.end()) {
        unit.offset = free->offset;
        free->last_call = unit.last_call;
        continue;
      }
      unit.offset = out_.kernel_workspace;
      slots.push_back({unit.offset, bytes, unit.last_call});
      out_.kernel_workspace += bytes;
    }
  }

  void make_tile(std::size_t p) {
    TilePlace& place = out_.places[p];
    const Unit& unit = units_[place_uses_[p].unit];
    if (place.in_place) {
      place.tile = tile_of(place.tensor, place.form, out_.rows, out_.tile_rows, 0);
      return;
    }
    place.scratch_bytes = unit.offset;
    const std::int64_t item = place.tensor.item_bytes();
    Tensor base = place.tensor;
    base.bytes = nullptr;
    if (storages_[place_uses_[p].storage].is_written) {
      base.offset -= unit.begin_bytes / item;
    } else if (keeps_strides(place)) {
      base.offset = 0;
    } else {
      base.offset = 0;
      const Sizes dense =
          row_major_strides(Sizes(base.sizes.begin() + place.form.lead, base.sizes.end()));
      std::copy(dense.begin(), dense.end(), base.strides.begin() + place.form.lead);
    }
    place.pitch = unit.row_bytes / item;
    place.tile = tile_of(std::move(base), place.form, out_.rows, out_.tile_rows, place.pitch);
  }

  void add_copies() {
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      const StorageUse& storage = storages_[place_uses_[p].storage];
      if (out_.places[p].in_place || storage.is_inner || storage.is_made) continue;
      out_.loads.push_back({p, storage.is_written ? 0 : place_uses_[p].first_call});
    }
    std::ranges::stable_sort(
        out_.loads, [](const auto& a, const auto& b) { return a.before_call < b.before_call; });
    std::vector<bool> is_stored(out_.places.size(), false);
    for (const CallUse& use : uses_) {
      for (std::size_t i = 0; i < use.formed.size(); ++i) {
        const Tensor& tensor = *use.formed[i].tensor;
        if (storages_[place_uses_[use.places[i]].storage].is_inner) continue;
        if (std::ranges::any_of(use.written,
                                [&](const Tensor* t) { return same_geometry(*t, tensor); })) {
          is_stored[use.places[i]] = true;
        }
      }
    }
    for (std::size_t p = 0; p < is_stored.size(); ++p) {
      if (is_stored[p]) out_.stores.push_back(p);
    }
  }

  void measure_kernels() {
    std::int64_t most = 0;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const TileCall& call = calls_[c];
      if (call.is_elementwise) continue;
      const std::vector<std::size_t>& places = uses_[c].places;
      std::vector<Tensor> operands;
      operands.reserve(places.size() - call.results.size());
      for (std::size_t i = 0; i + call.results.size() < places.size(); ++i) {
        operands.push_back(out_.places[places[i]].tile);
      }
      most = std::max(most, infer_call(*call.kernel, *call.row,
                                       replace_operands(call, std::move(operands)), false)
                                .workspace_bytes());
    }
    out_.scratch_bytes = aligned(out_.kernel_workspace + most);
  }

  std::span<const TileCall> calls_;
  const std::function<bool(StorageIndex)>& is_inner_;
  TileLayout out_;
  std::vector<CallUse> uses_;         // by call
  std::vector<PlaceUse> place_uses_;  // by place
  std::vector<StorageUse> storages_;
  std::vector<Unit> units_;
};

Item replaced(const Item& item, std::vector<Tensor>& tensors, std::size_t& next) {
  if (item.as<Tensor>()) return {std::move(tensors.at(next++))};
  const auto* list = item.as<Item::List>();
  if (list == nullptr) return item;
  Item::List out;
  out.reserve(list->size());
  for (const Item& element : *list) out.push_back(replaced(element, tensors, next));
  return {std::move(out)};
}

// Takes as many of the tensors as the arguments have.
std::vector<Item> replaced(const std::vector<Item>& arguments, std::vector<Tensor>& tensors,
                           std::size_t& next) {
  std::vector<Item> out;
  out.reserve(arguments.size());
  for (const Item& item : arguments) out.push_back(replaced(item, tensors, next));
  return out;
}

void collect(const Item& item, WrittenTensors& out) {
  if (const auto* tensor = item.as<Tensor>()) out.push_back(tensor);
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) collect(element, out);
  }
}

}  // namespace

TileLayout lay_out_tile(std::span<const TileCall> calls,
                        const std::function<bool(StorageIndex)>& is_inner) {
  return Layouter(calls, is_inner).run();
}

std::int64_t tile_scratch_bytes(std::span<const TileCall> calls,
                                const std::function<bool(StorageIndex)>& is_inner) {
  return Layouter(calls, is_inner).measure();
}

std::vector<Item> replace_operands(const TileCall& call, std::vector<Tensor> operands) {
  std::size_t next = 0;
  std::vector<Item> out = replaced(call.arguments, operands, next);
  GRAPHGATE_CHECK(next == operands.size());
  return out;
}

TileCall replace_tensors(const TileCall& call, std::vector<Tensor> tensors) {
  std::size_t next = 0;
  TileCall out{
      call.row, call.kernel, replaced(call.arguments, tensors, next), {}, call.is_elementwise};
  GRAPHGATE_CHECK(next + call.results.size() == tensors.size());
  out.results.assign(std::make_move_iterator(tensors.begin() + static_cast<std::ptrdiff_t>(next)),
                     std::make_move_iterator(tensors.end()));
  return out;
}

WrittenTensors written_by(const TileCall& call) {
  WrittenTensors out;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.row->writes(i)) collect(call.arguments[i], out);
  }
  for (const Tensor& result : call.results) out.push_back(&result);
  return out;
}

bool is_pointwise(const TileCall& call) { return is_pointwise(*call.row, *call.kernel); }

bool RowUnion::add(const FormedTensor& formed, std::int64_t rows) {
  const std::int64_t item = formed.tensor->item_bytes();
  const std::int64_t pitch_bytes = formed.form.pitch * item;
  const ByteRange& own = formed.form.first_row;
  if (item_bytes_ == 0) {
    if (rows > 1 && (pitch_bytes == 0 || own.end - own.begin > pitch_bytes)) return false;
    item_bytes_ = item;
    pitch_bytes_ = pitch_bytes;
    range_ = own;
    return true;
  }
  const ByteRange both{std::min(range_.begin, own.begin), std::max(range_.end, own.end)};
  const bool fits =
      item == item_bytes_ &&
      (rows == 1 || (pitch_bytes == pitch_bytes_ && both.end - both.begin <= pitch_bytes_));
  if (fits) range_ = both;
  return fits;
}

}  // namespace graphgate::optimized
