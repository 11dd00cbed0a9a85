#include "optimized/schedule/fuse_groups.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>

#include "optimized/analysis/dependences.h"
#include "optimized/binding.h"
#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

using spec::Deviation;

bool share_bytes(const Access& a, const Access& b) {
  if (a.storage != b.storage || !a.bytes.overlaps(b.bytes)) return false;
  return a.tensor == nullptr || b.tensor == nullptr || !provably_disjoint(*a.tensor, *b.tensor);
}

bool is_static_tensor(const SizedGraph& graph, spec::ValueId id) {
  const SizedValue& value = graph.value(id);
  if (value.kind != spec::ValueKind::kTensor || value.is_dynamic) return false;
  return graph.storages[value.tensor.storage].kind != StorageKind::kDynamic;
}

// A node that may be in a group.
struct Candidate {
  TileCall call;
  std::vector<std::int64_t> rows;  // possible ones
  std::int64_t widest_bytes = 0;
};

class CandidateFinder {
 public:
  CandidateFinder(const SizedGraph& graph, const spec::DeviationSet& deviations)
      : graph_(graph), fuses_scatter_(deviations.has(Deviation::kFusesReaderWithScatter)) {}

  [[nodiscard]] std::optional<Candidate> find(const SizedNode& node) const {
    if (!is_fusable(node)) return {};
    Candidate out;
    out.call = tile_call_of(graph_, node);
    out.rows = possible_rows(out.call, is_pointwise(out.call));
    if (out.rows.empty() || !makes_tiles(out)) return {};
    for (const Tensor* tensor : written_by(out.call)) note_width(*tensor, out);
    for (const Item& item : out.call.arguments) {
      if (const auto* tensor = item.as<Tensor>()) note_width(*tensor, out);
    }
    return out;
  }

 private:
  static void note_width(const Tensor& tensor, Candidate& out) {
    out.widest_bytes = std::max(out.widest_bytes, tensor.count() * tensor.item_bytes());
  }

  [[nodiscard]] bool is_fusable(const SizedNode& node) const {
    if (node.row == nullptr || node.kernel == nullptr || node.kernel->bind == nullptr) return false;
    if (node.is_dynamic || node.is_fused()) return false;
    const bool is_known = is_pointwise(*node.row, *node.kernel) || is_row_op(*node.kernel) ||
                          (fuses_scatter_ && is_scatter(*node.kernel));
    if (!is_known) return false;
    if (!node.row->orders.empty() || !node.row->hidden_state_reads.empty() ||
        !node.row->hidden_state_writes.empty()) {
      return false;
    }
    return has_static_tensors(node);
  }

  // All on one device, and something that is written.
  [[nodiscard]] bool has_static_tensors(const SizedNode& node) const {
    std::optional<spec::Device> device;
    bool fits = true;
    const auto look_at = [&](spec::ValueId id) {
      fits = fits && is_static_tensor(graph_, id);
      if (!fits) return;
      const spec::Device& own = graph_.value(id).tensor.device;
      fits = !device || *device == own;
      device = own;
    };
    for_each_operand(node.node, look_at);
    for (const spec::NodeResult& result : node.node.results) {
      fits = fits && !result.is_list;
      for (const spec::ValueId id : result.values) look_at(id);
    }
    return fits && device.has_value();
  }

  // Whether its kernel, asked about a tile, makes a tile: the kernel's word against ours.
  [[nodiscard]] static bool makes_tiles(const Candidate& candidate) {
    const std::int64_t rows = candidate.rows.back();
    const std::int64_t some = std::min<std::int64_t>(rows, 2);
    std::vector<Tensor> tiles;
    for (const FormedTensor& formed :
         forms_at(candidate.call, is_pointwise(candidate.call), rows)) {
      tiles.push_back(tile_of(*formed.tensor, formed.form, rows, some, formed.form.pitch));
    }
    TileCall tile = replace_tensors(candidate.call, tiles);
    try {
      const Inference made = infer_call(*tile.kernel, *tile.row, std::move(tile.arguments), false);
      const std::vector<Tensor> results = flat_tensors(made.results());
      return std::equal(results.begin(), results.end(), tile.results.begin(), tile.results.end(),
                        [](const Tensor& a, const Tensor& b) {
                          return a.sizes == b.sizes && a.dtype == b.dtype;
                        });
    } catch (const OpError&) {
      return false;
    } catch (const Unsupported&) {
      return false;
    } catch (const NeedsData&) {
      return false;
    }
  }

  const SizedGraph& graph_;
  bool fuses_scatter_;
};

// A group that waits.
struct Group {
  Launched nodes;
  std::vector<std::shared_ptr<const Candidate>> members;
  std::vector<std::int64_t> rows;  // possible for all
  std::int64_t widest_bytes = 0;
  spec::Device device;
  std::vector<Access> reads;
  std::vector<Access> writes;
  // What each storage has in a row; nothing where its tensors do not go together, which is well as
  // long as the group only reads it.
  std::unordered_map<StorageIndex, std::optional<RowUnion>> unions;
  std::vector<Sizes> fixed;  // of tensors that are read by several rows
  std::vector<Sizes> made;   // of tensors that are written row by row
  bool waits = true;
};

std::vector<std::int64_t> intersect(const std::vector<std::int64_t>& a,
                                    const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// Adds what the member has in a row. False where a storage that is written does not go row by row.
bool add_rows(const Candidate& member, std::int64_t rows, Group& group) {
  const auto written = written_by(member.call);
  for (const FormedTensor& formed : forms_at(member.call, is_pointwise(member.call), rows)) {
    const StorageIndex storage = formed.tensor->storage;
    auto& row = group.unions.try_emplace(storage, RowUnion()).first->second;
    if (row && !row->add(formed, rows)) row.reset();
    const auto is_it = [&](const Access& write) { return write.storage == storage; };
    const bool is_written =
        std::any_of(written.begin(), written.end(),
                    [&](const Tensor* tensor) { return tensor->storage == storage; }) ||
        std::any_of(group.writes.begin(), group.writes.end(), is_it);
    if (is_written && !row) return false;
    if (rows == 1) continue;
    if (formed.form.pitch == 0) group.fixed.push_back(formed.tensor->sizes);
    if (is_written) group.made.push_back(formed.tensor->sizes);
  }
  // Memory planning puts a result over an operand of the same geometry: then all rows of the
  // operand must be read at the same places.
  return std::none_of(group.fixed.begin(), group.fixed.end(), [&](const Sizes& sizes) {
    return std::find(group.made.begin(), group.made.end(), sizes) != group.made.end();
  });
}

std::optional<Group> start_group(std::uint32_t n, const Candidate& candidate,
                                 const Accesses& accesses) {
  Group group;
  group.nodes = {n};
  group.members = {std::make_shared<const Candidate>(candidate)};
  group.rows = candidate.rows;
  group.widest_bytes = candidate.widest_bytes;
  group.device = written_by(candidate.call).front()->device;
  group.reads = accesses.reads;
  group.writes = accesses.writes;
  if (!add_rows(candidate, group.rows.back(), group)) return {};
  return group;
}

// The first one's nodes stand in front of the second one's, or have nothing to do with them.
std::optional<Group> join_groups(const Group& first, const Group& second,
                                 const FuseLimits& limits) {
  const std::vector<std::int64_t> rows = intersect(first.rows, second.rows);
  const std::int64_t widest = std::max(first.widest_bytes, second.widest_bytes);
  if (rows.empty() || widest / rows.back() > limits.row_bytes) return {};
  if (first.device != second.device) return {};
  if (first.nodes.size() + second.nodes.size() > limits.nodes) return {};
  Group both = first;
  both.rows = rows;
  both.widest_bytes = widest;
  both.writes.insert(both.writes.end(), second.writes.begin(), second.writes.end());
  if (rows.back() != first.rows.back()) {
    both.unions.clear();
    both.fixed.clear();
    both.made.clear();
    for (const auto& member : first.members) {
      if (!add_rows(*member, rows.back(), both)) return {};
    }
  }
  for (const auto& member : second.members) {
    if (!add_rows(*member, rows.back(), both)) return {};
  }
  both.reads.insert(both.reads.end(), second.reads.begin(), second.reads.end());
  both.members.insert(both.members.end(), second.members.begin(), second.members.end());
  both.nodes.insert(both.nodes.end(), second.nodes.begin(), second.nodes.end());
  return both;
}

class Scan {
 public:
  Scan(const SizedGraph& graph, const SizedBlock& block, std::uint32_t begin,
       const FuseLimits& limits, const spec::DeviationSet& deviations)
      : graph_(graph),
        block_(block),
        begin_(begin),
        limits_(limits),
        finder_(graph, deviations),
        ignores_readers_(deviations.has(Deviation::kWritesBeforePendingReaders)),
        by_name_(deviations.has(Deviation::kPendingReadersByName)),
        forgets_fused_(deviations.has(Deviation::kPrunesWeakDependences)) {}

  std::vector<Launched> run(std::uint32_t end) {
    for (std::uint32_t n = begin_; n < end; ++n) take(n);
    for (std::size_t g = 0; g < groups_.size(); ++g) finish(g);
    return std::move(out_);
  }

 private:
  void take(std::uint32_t n) {
    const SizedNode& node = block_.nodes[n];
    const Accesses accesses = accesses_of(graph_, node);
    std::vector<std::size_t> touched = touched_groups(accesses);
    const auto candidate = finder_.find(node);
    std::optional<Group> joined;
    if (candidate) joined = start_group(n, *candidate, accesses);
    if (joined) {
      for (auto g = touched.rbegin(); g != touched.rend(); ++g) {
        if (auto both = join_groups(groups_[*g], *joined, limits_)) {
          joined = std::move(both);
          groups_[*g].waits = false;
          *g = kNone;
        }
      }
    }
    for (const std::size_t g : touched) {
      if (g != kNone) finish(g);
    }
    if (!joined) {
      out_.push_back({n - begin_});
      return;
    }
    add(std::move(*joined));
  }

  void add(Group group) {
    const std::size_t index = groups_.size();
    const auto note = [&](const std::vector<Access>& accesses, auto& by_storage) {
      for (const Access& access : accesses) {
        auto& groups = by_storage[access.storage];
        if (groups.empty() || groups.back() != index) groups.push_back(index);
      }
    };
    note(group.reads, readers_);
    note(group.writes, writers_);
    groups_.push_back(std::move(group));
  }

  void finish(std::size_t g) {
    Group& group = groups_[g];
    if (!group.waits) return;
    group.waits = false;
    std::sort(group.nodes.begin(), group.nodes.end());
    for (std::uint32_t& node : group.nodes) node -= begin_;
    out_.push_back(std::move(group.nodes));
    group = Group();
    group.waits = false;
  }

  // Groups that wait and must not come behind the node as it is, ascending.
  std::vector<std::size_t> touched_groups(const Accesses& accesses) {
    std::vector<std::size_t> out;
    const auto look_at = [&](const Access& access, auto& by_storage, auto touches) {
      const auto found = by_storage.find(access.storage);
      if (found == by_storage.end()) return;
      std::erase_if(found->second, [&](std::size_t g) { return !groups_[g].waits; });
      for (const std::size_t g : found->second) {
        if (touches(groups_[g], access)) out.push_back(g);
      }
    };
    const auto writes_it = [](const Group& group, const Access& access) {
      return std::any_of(group.writes.begin(), group.writes.end(),
                         [&](const Access& write) { return share_bytes(access, write); });
    };
    const auto waits_for_it = [this](const Group& group, const Access& access) {
      return std::any_of(group.reads.begin(), group.reads.end(), [&](const Access& read) {
        return share_bytes(access, read) && holds_back(group, read, access);
      });
    };
    for (const Access& read : accesses.reads) look_at(read, writers_, writes_it);
    for (const Access& write : accesses.writes) {
      look_at(write, writers_, writes_it);
      look_at(write, readers_, waits_for_it);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Whether a write must wait for the reader: always, but for what deviations forget.
  [[nodiscard]] bool holds_back(const Group& group, const Access& read, const Access& write) const {
    if (ignores_readers_) return false;
    if (forgets_fused_ && group.nodes.size() > 1) return false;
    return !by_name_ || read.tensor == write.tensor;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const SizedGraph& graph_;
  const SizedBlock& block_;
  std::uint32_t begin_;
  FuseLimits limits_;
  CandidateFinder finder_;
  bool ignores_readers_;
  bool by_name_;
  bool forgets_fused_;
  std::vector<Group> groups_;
  // By storage: groups that may still wait.
  std::unordered_map<StorageIndex, std::vector<std::size_t>> readers_;
  std::unordered_map<StorageIndex, std::vector<std::size_t>> writers_;
  std::vector<Launched> out_;
};

}  // namespace

std::vector<Launched> find_groups(const SizedGraph& graph, const SizedBlock& block,
                                  std::uint32_t begin, std::uint32_t end, const FuseLimits& limits,
                                  const spec::DeviationSet& deviations) {
  return Scan(graph, block, begin, limits, deviations).run(end);
}

bool can_fuse(const SizedGraph& graph, const std::vector<const SizedNode*>& nodes,
              const spec::DeviationSet& deviations) {
  const CandidateFinder finder(graph, deviations);
  const FuseLimits limits{nodes.size(), std::numeric_limits<std::int64_t>::max()};
  std::optional<Group> group;
  for (const SizedNode* node : nodes) {
    const auto candidate = finder.find(*node);
    auto next = candidate ? start_group(0, *candidate, accesses_of(graph, *node)) : std::nullopt;
    if (!next) return false;
    group = group ? join_groups(*group, *next, limits) : std::move(next);
    if (!group) return false;
  }
  return true;
}

TileCall tile_call_of(const SizedGraph& graph, const SizedNode& node) {
  TileCall call;
  call.row = node.row;
  call.kernel = node.kernel;
  call.arguments =
      bind_arguments(node.row->schema, node.node.arguments,
                     [&](spec::ValueId id) -> Item { return {graph.value(id).tensor}; });
  for (const spec::ValueId id : flat_results(node.node)) {
    call.results.push_back(graph.value(id).tensor);
  }
  return call;
}

}  // namespace graphgate::optimized
