#include "optimized/schedule/fuse_group.h"

#include <algorithm>

#include "optimized/binding.h"
#include "optimized/launch.h"
#include "optimized/schedule/fuse_key.h"

namespace graphgate::optimized {
namespace {

bool is_static_tensor(const SizedGraph& graph, spec::ValueId id) {
  const SizedValue& value = graph.value(id);
  if (value.kind != spec::ValueKind::kTensor || value.is_dynamic) return false;
  if (spec::is_complex(value.tensor.dtype)) return false;  // tiles are of numbers
  return graph.storages[value.tensor.storage].kind != StorageKind::kDynamic;
}

// Whether the operands of a tile broadcast to its results.
bool broadcasts_tiles(const Candidate& candidate, std::int64_t rows, std::int64_t some) {
  const std::vector<FormedTensor>& forms = candidate.forms(rows);
  const auto results = forms.end() - std::ssize(candidate.call.results);
  const auto sizes_of = [&](const FormedTensor& formed) {
    return tile_sizes(*formed.tensor, formed.form, rows, some);
  };
  Sizes common;
  try {
    for (auto at = forms.begin(); at != results; ++at) {
      common = broadcast_sizes(common, sizes_of(*at));
    }
  } catch (const OpError&) {
    return false;
  }
  return results != forms.end() &&
         std::all_of(results, forms.end(),
                     [&](const FormedTensor& formed) { return sizes_of(formed) == common; });
}

// Whether its kernel, asked about a tile, makes a tile: the kernel's word against ours.
bool makes_tiles(const Candidate& candidate, std::int64_t rows) {
  const std::int64_t some = std::min<std::int64_t>(rows, 2);
  if (candidate.call.is_elementwise) return broadcasts_tiles(candidate, rows, some);
  std::vector<Tensor> tiles;
  tiles.reserve(candidate.forms(rows).size());
  for (const FormedTensor& formed : candidate.forms(rows)) {
    tiles.push_back(tile_of(*formed.tensor, formed.form, rows, some, formed.form.pitch));
  }
  TileCall tile = replace_tensors(candidate.call, std::move(tiles));
  try {
    Inference made = infer_call(*tile.kernel, *tile.row, std::move(tile.arguments), false);
    const std::vector<Tensor> results = flat_tensors(std::move(made.results()));
    return std::equal(
        results.begin(), results.end(), tile.results.begin(), tile.results.end(),
        [](const Tensor& a, const Tensor& b) { return a.sizes == b.sizes && a.dtype == b.dtype; });
  } catch (const OpError&) {
    return false;
  } catch (const Unsupported&) {
    return false;
  } catch (const NeedsData&) {
    return false;
  }
}

RowCounts work_out_rows(const Candidate& candidate) {
  auto rows = possible_rows(candidate.call, candidate.is_pointwise);
  if (!rows.empty() && !makes_tiles(candidate, rows.back())) rows.clear();
  return rows;
}

std::string key_of_one(const TileCall& call) {
  return key_of(std::span(&call, 1), [](StorageIndex /*storage*/) { return false; });
}

void note_width(const Tensor& tensor, Candidate& out) {
  out.widest_bytes = std::max(out.widest_bytes, tensor.count() * tensor.item_bytes());
}

bool has(const FuseGroup::Geometries& list, const Sizes& sizes) {
  return std::ranges::any_of(list, [&](const Sizes* one) { return *one == sizes; });
}

void add_once(FuseGroup::Geometries& list, const Sizes& sizes) {
  if (!has(list, sizes)) list.push_back(&sizes);
}

}  // namespace

const std::vector<FormedTensor>& Candidate::forms(std::int64_t at_rows) const {
  if (form_rows_ != at_rows) {
    forms_ = forms_at(call, is_pointwise, at_rows);
    form_rows_ = at_rows;
  }
  return forms_;
}

std::shared_ptr<const Candidate> CandidateFinder::find(const SizedNode& node) {
  if (node.row == nullptr || node.kernel == nullptr || node.kernel->bind == nullptr) return {};
  const bool pointwise = is_pointwise(*node.row, *node.kernel);
  if (!pointwise && !is_row_op(*node.kernel) && !(fuses_scatter_ && is_scatter(*node.kernel))) {
    return {};
  }
  if (!is_fusable(node)) return {};
  auto out = std::make_shared<Candidate>();
  out->call = tile_call_of(graph_, node);
  out->is_pointwise = pointwise;
  out->rows = rows_of(out);
  if (out->rows.empty()) return {};
  for (const Tensor* tensor : written_by(out->call)) {
    note_width(*tensor, *out);
    out->device = tensor->device;
    out->written.push_back(tensor->storage);
  }
  for (const Item& item : out->call.arguments) {
    if (const auto* tensor = item.as<Tensor>()) note_width(*tensor, *out);
  }
  return out;
}

RowCounts CandidateFinder::rows_of(const std::shared_ptr<const Candidate>& candidate) {
  Seen& seen = seen_[candidate->call.row];
  if (seen.first == nullptr) {
    seen.first = candidate;
    return work_out_rows(*candidate);
  }
  if (seen.rows.empty()) seen.rows.emplace(key_of_one(seen.first->call), seen.first->rows);
  const auto [at, is_new] = seen.rows.try_emplace(key_of_one(candidate->call));
  if (is_new) at->second = work_out_rows(*candidate);
  return at->second;
}

bool CandidateFinder::is_fusable(const SizedNode& node) const {
  if (node.is_dynamic || node.is_fused()) return false;
  if (!node.row->orders.empty() || !node.row->hidden_state_reads.empty() ||
      !node.row->hidden_state_writes.empty()) {
    return false;
  }
  return has_static_tensors(node);
}

// All on one device, and something that is written.
bool CandidateFinder::has_static_tensors(const SizedNode& node) const {
  const spec::Device* device = nullptr;
  bool fits = true;
  const auto look_at = [&](spec::ValueId id) {
    fits = fits && is_static_tensor(graph_, id);
    if (!fits) return;
    const spec::Device& own = graph_.value(id).tensor.device;
    fits = device == nullptr || *device == own;
    device = &own;
  };
  for_each_operand(node.node, look_at);
  for (const spec::NodeResult& result : node.node.results) {
    fits = fits && !result.is_list;
    for (const spec::ValueId id : result.values) look_at(id);
  }
  return fits && device != nullptr;
}

std::unique_ptr<FuseGroup> FuseGroup::start(std::uint32_t node,
                                            std::shared_ptr<const Candidate> candidate,
                                            const Accesses& accesses) {
  auto group = std::make_unique<FuseGroup>();
  group->nodes_ = {node};
  group->rows_ = candidate->rows;
  group->widest_bytes_ = candidate->widest_bytes;
  for (const Access& write : accesses.writes) group->row_of(write.storage).is_written = true;
  if (!group->add_rows(*candidate)) return {};
  group->members_.push_back(std::move(candidate));
  return group;
}

bool FuseGroup::join(FuseGroup& second, const FuseLimits& limits) {
  const RowCounts rows = rows_of_both(rows_, second.rows_);
  const std::int64_t widest = std::max(widest_bytes_, second.widest_bytes_);
  if (rows.empty() || widest / rows.back() > limits.row_bytes) return false;
  if (members_.front()->device != second.members_.front()->device) return false;
  if (nodes_.size() + second.nodes_.size() > limits.nodes) return false;
  const bool fewer_rows = rows.back() != rows_.back();
  rows_ = rows;
  widest_bytes_ = widest;
  for (const StorageRow& row : second.storages_) {
    if (row.is_written) row_of(row.storage).is_written = true;
  }
  if (fewer_rows) {
    for (StorageRow& row : storages_) row.row = RowUnion();
    fixed_.clear();
    made_.clear();
    for (const auto& member : members_) {
      if (!add_rows(*member)) return false;
    }
  }
  for (const auto& member : second.members_) {
    if (!add_rows(*member)) return false;
  }
  std::move(second.members_.begin(), second.members_.end(), std::back_inserter(members_));
  nodes_.insert(nodes_.end(), second.nodes_.begin(), second.nodes_.end());
  return true;
}

FuseGroup::StorageRow& FuseGroup::row_of(StorageIndex storage) {
  const auto found = std::ranges::find_if(
      storages_, [&](const StorageRow& row) { return row.storage == storage; });
  if (found != storages_.end()) return *found;
  storages_.push_back({storage, RowUnion(), false});
  return storages_.back();
}

// Adds what the member has in a row. False where a storage that is written does not go row by row.
bool FuseGroup::add_rows(const Candidate& member) {
  const std::int64_t rows = rows_.back();
  for (const FormedTensor& formed : member.forms(rows)) {
    const StorageIndex storage = formed.tensor->storage;
    StorageRow& own = row_of(storage);
    if (own.row && !own.row->add(formed, rows)) own.row.reset();
    const bool is_written =
        own.is_written || std::ranges::find(member.written, storage) != member.written.end();
    if (is_written && !own.row) return false;
    if (rows == 1) continue;
    // Memory planning puts a result over an operand of the same geometry: then all rows of the
    // operand must be read at the same places.
    const Sizes& sizes = formed.tensor->sizes;
    if (formed.form.pitch == 0) add_once(fixed_, sizes);
    if (is_written) add_once(made_, sizes);
    if ((formed.form.pitch == 0 && has(made_, sizes)) || (is_written && has(fixed_, sizes))) {
      return false;
    }
  }
  return true;
}

TileCall tile_call_of(const SizedGraph& graph, const SizedNode& node) {
  TileCall call;
  call.row = node.row;
  call.kernel = node.kernel;
  call.is_elementwise = node.is_elementwise;
  call.arguments =
      bind_arguments(node.row->schema, node.node.arguments,
                     [&](spec::ValueId id) -> Item { return {graph.value(id).tensor}; });
  for (const spec::ValueId id : flat_results(node.node)) {
    call.results.push_back(graph.value(id).tensor);
  }
  return call;
}

}  // namespace graphgate::optimized
