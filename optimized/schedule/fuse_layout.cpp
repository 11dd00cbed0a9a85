#include "optimized/schedule/fuse_layout.h"

#include <algorithm>
#include <map>
#include <set>

#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::int64_t> common_rows(std::span<const TileCall> calls) {
  std::vector<std::int64_t> common;
  for (const TileCall& call : calls) {
    const auto own = possible_rows(call, is_pointwise(call));
    if (&call == calls.data()) {
      common = own;
      continue;
    }
    std::vector<std::int64_t> both;
    std::set_intersection(common.begin(), common.end(), own.begin(), own.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

// Rows such that no tile has exactly one of several: what kernels ask of tensors with one element
// must not hang on the tile.
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
      : calls_(calls), is_inner_(is_inner) {}

  TileLayout run() {
    const auto rows = common_rows(calls_);
    GRAPHGATE_CHECK(!rows.empty());
    out_.rows = rows.back();
    find_written();
    formed_.reserve(calls_.size());
    for (std::size_t c = 0; c < calls_.size(); ++c) add_call(c);
    make_units();
    place_units();
    for (std::size_t p = 0; p < out_.places.size(); ++p) make_tile(p);
    add_copies();
    measure_kernels();
    return std::move(out_);
  }

 private:
  void find_written() {
    for (const TileCall& call : calls_) {
      for (const Tensor* tensor : written_by(call)) written_.insert(tensor->storage);
    }
  }

  void add_call(std::size_t c) {
    formed_.push_back(forms_at(calls_[c], is_pointwise(calls_[c]), out_.rows));
    for (const FormedTensor& formed : formed_.back()) {
      const StorageIndex storage = formed.tensor->storage;
      const std::size_t p = place_of(formed);
      uses_[p].push_back(c);
      if (!written_.contains(storage)) continue;
      GRAPHGATE_CHECK(unions_[storage].add(formed, out_.rows));
    }
    for (const Tensor& made : calls_[c].results) {
      const bool is_new = !is_operand(calls_[c], made);
      if (is_new) made_.insert(made.storage);
    }
  }

  static bool is_operand(const TileCall& call, const Tensor& made) {
    const auto tensors = written_by(call);
    return std::count_if(tensors.begin(), tensors.end(),
                         [&](const Tensor* tensor) { return tensor->storage == made.storage; }) > 1;
  }

  std::size_t place_of(const FormedTensor& formed) {
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      if (is_same(out_.places[p], *formed.tensor, formed.form)) return p;
    }
    TilePlace place;
    place.tensor = *formed.tensor;
    place.form = formed.form;
    out_.places.push_back(std::move(place));
    uses_.emplace_back();
    return out_.places.size() - 1;
  }

  // Storages that the group writes keep their rows together; what is only read comes alone.
  void make_units() {
    std::map<StorageIndex, std::size_t> shared;
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      TilePlace& place = out_.places[p];
      const StorageIndex storage = place.tensor.storage;
      std::size_t first = uses_[p].front();
      std::size_t last = uses_[p].back();
      if (!written_.contains(storage)) {
        place.in_place = out_.rows == 1 || place.form.pitch == 0;
        unit_of_.push_back(units_.size());
        units_.push_back({place.in_place ? 0 : own_row_bytes(place), first, last, 0, 0});
        continue;
      }
      if (!is_inner_(storage)) last = calls_.size();
      if (!is_inner_(storage) && !made_.contains(storage)) first = 0;
      const auto [at, is_new] = shared.try_emplace(storage, units_.size());
      const RowUnion& row = unions_[storage];
      if (is_new) {
        const ByteRange range = row.range();
        units_.push_back({range.end - range.begin, first, last, range.begin, 0});
      }
      Unit& unit = units_[at->second];
      unit.first_call = std::min(unit.first_call, first);
      unit.last_call = std::max(unit.last_call, last);
      unit_of_.push_back(at->second);
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
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
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
      const auto free = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) {
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
    const Unit& unit = units_[unit_of_[p]];
    place.tile = place.tensor;
    if (place.in_place) {
      place.tile = tile_of(place.tensor, place.form, out_.rows, out_.tile_rows, 0);
      return;
    }
    place.scratch_bytes = unit.offset;
    const std::int64_t item = place.tensor.item_bytes();
    Tensor base = place.tensor;
    if (written_.contains(base.storage)) {
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
    place.tile = tile_of(base, place.form, out_.rows, out_.tile_rows, place.pitch);
    place.tile.bytes = nullptr;
  }

  void add_copies() {
    for (std::size_t p = 0; p < out_.places.size(); ++p) {
      const TilePlace& place = out_.places[p];
      const StorageIndex storage = place.tensor.storage;
      if (place.in_place || is_inner_(storage) || made_.contains(storage)) continue;
      const bool is_written = written_.contains(storage);
      out_.loads.push_back({p, is_written ? 0 : uses_[p].front()});
    }
    std::stable_sort(out_.loads.begin(), out_.loads.end(),
                     [](const auto& a, const auto& b) { return a.before_call < b.before_call; });
    std::set<std::size_t> stores;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const auto written = written_by(calls_[c]);
      for (const FormedTensor& formed : formed_[c]) {
        const bool is_written = std::any_of(written.begin(), written.end(), [&](const Tensor* t) {
          return t->storage == formed.tensor->storage && t->dtype == formed.tensor->dtype &&
                 same_geometry(*t, *formed.tensor);
        });
        if (is_written && !is_inner_(formed.tensor->storage)) stores.insert(place_of(formed));
      }
    }
    out_.stores.assign(stores.begin(), stores.end());
  }

  void measure_kernels() {
    std::int64_t most = 0;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const TileCall& call = calls_[c];
      std::vector<Tensor> tiles;
      tiles.reserve(formed_[c].size());
      for (const FormedTensor& formed : formed_[c]) {
        tiles.push_back(out_.places[place_of(formed)].tile);
      }
      TileCall tile = replace_tensors(call, tiles);
      most = std::max(
          most,
          infer_call(*call.kernel, *call.row, std::move(tile.arguments), false).workspace_bytes());
    }
    out_.scratch_bytes = aligned(out_.kernel_workspace + most);
  }

  std::span<const TileCall> calls_;
  const std::function<bool(StorageIndex)>& is_inner_;
  TileLayout out_;
  std::set<StorageIndex> written_;
  std::set<StorageIndex> made_;  // by a call that makes the storage
  std::map<StorageIndex, RowUnion> unions_;
  std::vector<std::vector<FormedTensor>> formed_;  // by call, at out_.rows
  std::vector<std::vector<std::size_t>> uses_;     // by place: calls, ascending
  std::vector<std::size_t> unit_of_;               // by place
  std::vector<Unit> units_;
};

void replace(Item& item, const std::vector<Tensor>& tensors, std::size_t& next) {
  if (auto* tensor = std::get_if<Tensor>(&item.value)) *tensor = tensors[next++];
  if (auto* list = std::get_if<Item::List>(&item.value)) {
    for (Item& element : *list) replace(element, tensors, next);
  }
}

void collect(const Item& item, std::vector<const Tensor*>& out) {
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

const TilePlace* find_place(const TileLayout& layout, const Tensor& tensor, const RowForm& form) {
  for (const TilePlace& place : layout.places) {
    if (is_same(place, tensor, form)) return &place;
  }
  return nullptr;
}

TileCall replace_tensors(const TileCall& call, const std::vector<Tensor>& tensors) {
  TileCall out = call;
  std::size_t next = 0;
  for (Item& item : out.arguments) replace(item, tensors, next);
  for (Tensor& result : out.results) result = tensors[next++];
  GRAPHGATE_CHECK(next == tensors.size());
  return out;
}

std::vector<const Tensor*> written_by(const TileCall& call) {
  std::vector<const Tensor*> out;
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
