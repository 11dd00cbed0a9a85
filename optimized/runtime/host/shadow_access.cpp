#include "optimized/runtime/host/shadow_access.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "optimized/runtime/host/shadow_image.h"
#include "optimized/schedule/fuse_layout.h"

namespace graphgate::optimized {
namespace {

using Visit = std::function<void(const Tensor&)>;

void for_each_tensor(const Item& item, const Visit& visit) {
  if (const auto* tensor = item.as<Tensor>()) visit(*tensor);
  if (const auto* list = item.as<Item::List>()) {
    for (const Item& element : *list) for_each_tensor(element, visit);
  }
}

class Collector {
 public:
  void add(const BoundCall& call, std::size_t index) {
    find_storages(call);
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      if (!call.row->effects.arguments[a].reads) continue;
      for_each_tensor(call.arguments[a],
                      [&](const Tensor& tensor) { add_read(call, index, a, tensor); });
    }
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      if (!call.row->writes(a)) continue;
      for_each_tensor(call.arguments[a], [&](const Tensor& tensor) { add_write(index, tensor); });
    }
    for (const Tensor& result : call.results) {
      if (!is_view(result)) add_write(index, result);
    }
  }
  [[nodiscard]] ShadowAccesses take() { return std::move(out_); }

 private:
  void find_storages(const BoundCall& call) {
    given_.clear();
    written_.clear();
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      for_each_tensor(call.arguments[a], [&](const Tensor& tensor) {
        given_.insert(tensor.storage);
        if (call.row->writes(a)) written_.insert(tensor.storage);
      });
    }
  }

  [[nodiscard]] bool is_view(const Tensor& result) const {
    return given_.contains(result.storage) && !written_.contains(result.storage);
  }

  static ShadowBytes bytes_of(const Tensor& tensor) {
    if (tensor.bytes == nullptr) return {};
    return {tensor.storage, address_of(tensor.bytes), byte_runs(tensor)};
  }

  void add_read(const BoundCall& call, std::size_t index, std::size_t argument,
                const Tensor& tensor) {
    ShadowBytes bytes = bytes_of(tensor);
    const auto made = made_.find(tensor.storage);
    if (made != made_.end()) {
      std::vector<ShadowRange> rest;
      for (const ShadowRange& range : bytes.ranges) {
        made->second.for_each(range, [&](std::int64_t begin, std::int64_t end, ShadowTag tag) {
          if (tag == kNoTag) rest.push_back({begin, end});
        });
      }
      bytes.ranges = std::move(rest);
    }
    if (bytes.ranges.empty()) return;
    out_.reads.push_back({std::move(bytes), index, argument, &tensor, call.row->writes(argument)});
  }

  void add_write(std::size_t index, const Tensor& tensor) {
    ShadowBytes bytes = bytes_of(tensor);
    if (bytes.ranges.empty()) return;
    const auto is_same = [&](const ShadowWritten& before) {
      return before.call == index && before.bytes.storage == tensor.storage &&
             before.bytes.ranges == bytes.ranges;
    };
    if (std::ranges::any_of(out_.writes, is_same)) return;
    for (const ShadowRange& range : bytes.ranges) made_[tensor.storage].set(range, 1);
    out_.writes.push_back({std::move(bytes), index, &tensor});
  }

  ShadowAccesses out_;
  std::map<StorageIndex, ShadowTags> made_;  // by the calls before
  std::set<StorageIndex> given_;             // of the call
  std::set<StorageIndex> written_;
};

// The bytes that two have in common, as a whole; empty where they have none.
ShadowRange common(const ShadowBytes& a, const ShadowBytes& b) {
  ShadowRange out;
  const ShadowRange hull_a{a.base + a.ranges.front().begin, a.base + a.ranges.back().end};
  const ShadowRange hull_b{b.base + b.ranges.front().begin, b.base + b.ranges.back().end};
  if (hull_a.begin >= hull_b.end || hull_b.begin >= hull_a.end) return out;
  ShadowTags of_a;
  for (const ShadowRange& range : a.ranges) of_a.set(a.absolute(range), 1);
  for (const ShadowRange& range : b.ranges) {
    of_a.for_each(b.absolute(range), [&](std::int64_t begin, std::int64_t end, ShadowTag tag) {
      if (tag == kNoTag) return;
      if (out.begin == out.end) out = {begin, end};
      out = {std::min(out.begin, begin), std::max(out.end, end)};
    });
  }
  return out;
}

// A single kernel: it says what it stands.
bool stands(const BoundCall& call, const ShadowRead& read, const ShadowWritten& written) {
  const Kernel* kernel = find_kernel(*call.row);
  const Tensor& a = *read.tensor;
  const Tensor& b = *written.tensor;
  const bool is_same_place = a.data() == b.data() && a.sizes == b.sizes && a.strides == b.strides &&
                             a.item_bytes() == b.item_bytes();
  return kernel != nullptr && kernel->overlap == Overlap::kSameGeometry && is_same_place &&
         (call.row->has_tag("pointwise") ||
          call.row->schema.arguments[read.argument].name == "self");
}

// A fused launch reads all of a tile before it writes any of it to memory.
class FusedClash {
 public:
  explicit FusedClash(const BoundStep& step) {
    for (const BoundCall& call : step.calls) {
      calls_.push_back({call.row, find_kernel(*call.row), call.arguments, call.results});
    }
    const auto note = [&](const Tensor& tensor) {
      if (tensor.bytes == nullptr) inner_.insert(tensor.storage);
    };
    for (const TileCall& call : calls_) {
      for (const Item& item : call.arguments) for_each_tensor(item, note);
      for (const Tensor& result : call.results) note(result);
    }
    layout_ = lay_out_tile(calls_, [&](StorageIndex s) { return inner_.contains(s); });
  }

  // Whether some tile would read what an earlier one has overwritten.
  [[nodiscard]] bool stands(const Tensor& read, const Tensor& written) const {
    if (layout_.tile_rows >= layout_.rows) return true;
    for (const TilePlace& from : layout_.places) {
      if (!is_over(from, read)) continue;
      for (const std::size_t store : layout_.stores) {
        const TilePlace& to = layout_.places[store];
        if (is_over(to, written) && !goes_along(from, to)) return false;
      }
    }
    return true;
  }

 private:
  static bool is_over(const TilePlace& place, const Tensor& tensor) {
    return place.tensor.storage == tensor.storage && place.tensor.bytes == tensor.bytes;
  }
  // Rows behind a row that is written are not touched by that.
  static bool goes_along(const TilePlace& from, const TilePlace& to) {
    const std::int64_t pitch = from.form.pitch * from.tensor.item_bytes();
    if (pitch <= 0 || pitch != to.form.pitch * to.tensor.item_bytes()) return false;
    const std::int64_t next_read =
        address_of(from.tensor.bytes) + from.form.first_row.begin + pitch;
    return address_of(to.tensor.bytes) + to.form.first_row.end <= next_read;
  }

  std::vector<TileCall> calls_;
  std::set<StorageIndex> inner_;
  TileLayout layout_;
};

}  // namespace

ShadowAccesses shadow_accesses(const BoundStep& step) {
  Collector collector;
  for (std::size_t c = 0; c < step.calls.size(); ++c) collector.add(step.calls[c], c);
  return collector.take();
}

std::vector<ShadowClash> shadow_clashes(const BoundStep& step, const ShadowAccesses& accesses,
                                        bool is_fused) {
  std::vector<ShadowClash> out;
  std::unique_ptr<FusedClash> fused;
  for (const ShadowRead& read : accesses.reads) {
    for (const ShadowWritten& written : accesses.writes) {
      if (read.bytes.storage == written.bytes.storage) continue;
      const ShadowRange range = common(read.bytes, written.bytes);
      if (range.begin == range.end) continue;
      if (is_fused && !fused) fused = std::make_unique<FusedClash>(step);
      const bool is_right = fused ? fused->stands(*read.tensor, *written.tensor)
                                  : stands(step.calls.front(), read, written);
      if (!is_right) out.push_back({&read, &written, range});
    }
  }
  if (step.workspace.empty()) return out;
  const ShadowBytes scratch{
      kNoStorage, address_of(step.workspace.data()), {{0, std::ssize(step.workspace)}}};
  const auto test = [&](const ShadowBytes& bytes, const ShadowRead* read,
                        const ShadowWritten* written) {
    const ShadowRange range = common(scratch, bytes);
    if (range.begin != range.end) out.push_back({read, written, range});
  };
  for (const ShadowRead& read : accesses.reads) test(read.bytes, &read, nullptr);
  for (const ShadowWritten& written : accesses.writes) test(written.bytes, nullptr, &written);
  return out;
}

}  // namespace graphgate::optimized
