// One fusion group while it grows: its nodes, and what must be known of them to let another join.
//
// schedule/fuse_groups.h says which nodes meet; this says whether they go together. All must be on
// one device and have a common number of rows. Every storage that is written must be walked row by
// row by all that touch it. Data of a group grows with its nodes; a join adds the second group's
// nodes to the first one's data and copies nothing.
#pragma once

#include <memory>
#include <unordered_map>

#include "optimized/analysis/accesses.h"
#include "optimized/schedule/fuse_layout.h"
#include "optimized/schedule/fuse_options.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

// A node that may be in a group.
struct Candidate {
  TileCall call;
  bool is_pointwise = false;
  RowCounts rows;                        // possible ones; not empty
  SmallVector<StorageIndex, 4> written;  // storages, as often as the call writes them
  std::int64_t widest_bytes = 0;         // of its tensors
  spec::Device device;                   // of all of them

  // forms_at() of the call, kept for the rows that were asked about last.
  [[nodiscard]] const std::vector<FormedTensor>& forms(std::int64_t at_rows) const;

 private:
  mutable std::int64_t form_rows_ = 0;  // 0: none yet
  mutable std::vector<FormedTensor> forms_;
};

// Says which nodes are candidates.
//
// Deviations: FusesReaderWithScatter.
class CandidateFinder {
 public:
  CandidateFinder(const SizedGraph& graph, const spec::DeviationSet& deviations)
      : graph_(graph), fuses_scatter_(deviations.has(spec::Deviation::kFusesReaderWithScatter)) {}

  // Null for a node that is in no group.
  [[nodiscard]] std::shared_ptr<const Candidate> find(const SizedNode& node);

 private:
  // Answers by key of the call. Few ops come twice in a small partition: the first call of an op is
  // kept as it is, and gets a key when the second one comes.
  struct Seen {
    std::shared_ptr<const Candidate> first;
    std::unordered_map<std::string, RowCounts> rows;
  };

  // Rows that the candidate can be cut into: empty where it cannot be in a group.
  [[nodiscard]] RowCounts rows_of(const std::shared_ptr<const Candidate>& candidate);
  // Of a node whose op may be in a group.
  [[nodiscard]] bool is_fusable(const SizedNode& node) const;
  [[nodiscard]] bool has_static_tensors(const SizedNode& node) const;

  const SizedGraph& graph_;
  bool fuses_scatter_;
  std::unordered_map<const spec::OpRow*, Seen> seen_;
};

class FuseGroup {
 public:
  using Geometries = SmallVector<const Sizes*, 4>;

  // A group of one node. Null where it writes a storage that does not go row by row.
  [[nodiscard]] static std::unique_ptr<FuseGroup> start(std::uint32_t node,
                                                        std::shared_ptr<const Candidate> candidate,
                                                        const Accesses& accesses);

  // Takes the nodes of `second`, which stand behind this group's own, or have nothing to do with
  // them. False where they do not go together: then `second` is as it was, and this group has its
  // nodes and nothing more to join with.
  [[nodiscard]] bool join(FuseGroup& second, const FuseLimits& limits);

  // In the order of joins.
  [[nodiscard]] const std::vector<std::uint32_t>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::uint32_t> take_nodes() { return std::move(nodes_); }

 private:
  // What a storage has in a row; nothing where its tensors do not go together, which is well as
  // long as the group only reads it.
  struct StorageRow {
    StorageIndex storage = kNoStorage;
    std::optional<RowUnion> row = RowUnion();
    bool is_written = false;
  };

  [[nodiscard]] bool add_rows(const Candidate& member);
  [[nodiscard]] StorageRow& row_of(StorageIndex storage);

  std::vector<std::uint32_t> nodes_;
  std::vector<std::shared_ptr<const Candidate>> members_;
  RowCounts rows_;  // possible for all
  std::int64_t widest_bytes_ = 0;
  // Groups are small (FuseLimits): a walk is as good as a map.
  SmallVector<StorageRow, 4> storages_;
  // Each once; they are those of members' tensors.
  Geometries fixed_;  // of tensors that are read by several rows
  Geometries made_;   // of tensors that are written row by row
};

// The node as a call: what fuse_rows.h asks about. Its tensors are static.
[[nodiscard]] TileCall tile_call_of(const SizedGraph& graph, const SizedNode& node);

}  // namespace graphgate::optimized
