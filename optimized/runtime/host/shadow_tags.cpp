#include "optimized/runtime/host/shadow_tags.h"

#include <algorithm>

namespace graphgate::optimized {
namespace {

struct Dim {
  std::int64_t size;
  std::int64_t stride_bytes;
};

// Places that the outer dimensions give to a run of `run_bytes` bytes.
void add_runs(const std::vector<Dim>& dims, std::size_t dim, std::int64_t at,
              std::int64_t run_bytes, std::vector<ShadowRange>& out) {
  if (dim == dims.size()) {
    out.push_back({at, at + run_bytes});
    return;
  }
  for (std::int64_t i = 0; i < dims[dim].size; ++i) {
    add_runs(dims, dim + 1, at + i * dims[dim].stride_bytes, run_bytes, out);
  }
}

}  // namespace

// Splits the range that `at` lies inside of.
void ShadowTags::cut_at(std::int64_t at) {
  auto found = ranges_.lower_bound(at);
  if (found == ranges_.begin()) return;
  --found;
  if (found->second.end <= at) return;
  ranges_.emplace(at, found->second);
  found->second.end = at;
}

void ShadowTags::set(ShadowRange range, ShadowTag tag) {
  if (range.begin >= range.end) return;
  cut_at(range.begin);
  cut_at(range.end);
  const auto first = ranges_.lower_bound(range.begin);
  auto next = ranges_.erase(first, ranges_.lower_bound(range.end));
  if (next != ranges_.end() && next->first == range.end && next->second.tag == tag) {
    range.end = next->second.end;
    next = ranges_.erase(next);
  }
  if (next != ranges_.begin()) {
    auto& before = *std::prev(next);
    if (before.second.end == range.begin && before.second.tag == tag) {
      before.second.end = range.end;
      return;
    }
  }
  ranges_.emplace_hint(next, range.begin, Tagged{range.end, tag});
}

std::vector<ShadowRange> byte_runs(const Tensor& tensor) {
  std::vector<ShadowRange> out;
  if (tensor.count() == 0) return out;
  std::vector<Dim> dims;
  const std::int64_t item = tensor.item_bytes();
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] > 1 && tensor.strides[d] != 0) {
      dims.push_back({tensor.sizes[d], tensor.strides[d] * item});
    }
  }
  std::ranges::stable_sort(
      dims, [](const Dim& a, const Dim& b) { return a.stride_bytes > b.stride_bytes; });
  std::int64_t run_bytes = item;
  while (!dims.empty() && dims.back().stride_bytes <= run_bytes) {
    run_bytes += (dims.back().size - 1) * dims.back().stride_bytes;
    dims.pop_back();
  }
  add_runs(dims, 0, tensor.offset * item, run_bytes, out);
  return out;
}

}  // namespace graphgate::optimized
