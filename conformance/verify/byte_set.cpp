#include "conformance/verify/byte_set.h"

#include <algorithm>

#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

using spec::HostTensor;

struct Dim {
  std::int64_t size = 1;
  std::int64_t stride_bytes = 0;
};

// Dimensions that move, the shortest step first.
std::vector<Dim> moving_dims(const HostTensor& geometry) {
  const std::int64_t item_bytes = spec::item_size_bytes(geometry.dtype);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
    const Dim dim{geometry.sizes[i], geometry.strides[i] * item_bytes};
    if (dim.size > 1 && dim.stride_bytes != 0) dims.push_back(dim);
  }
  std::ranges::sort(dims,
                    [](const Dim& a, const Dim& b) { return a.stride_bytes < b.stride_bytes; });
  return dims;
}

// Whether the elements lie one behind the other.
bool is_row_major(const HostTensor& geometry) {
  std::int64_t expected = 1;
  for (std::size_t i = geometry.sizes.size(); i-- > 0;) {
    if (geometry.sizes[i] != 1 && geometry.strides[i] != expected) return false;
    expected *= geometry.sizes[i];
  }
  return true;
}

void merge_ranges(absl::InlinedVector<ByteRange, 1>& ranges) {
  std::ranges::sort(
      ranges, [](const ByteRange& a, const ByteRange& b) { return a.begin_bytes < b.begin_bytes; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin_bytes <= ranges[last].end_bytes) {
      ranges[last].end_bytes = std::max(ranges[last].end_bytes, ranges[i].end_bytes);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

// Row-major strides and sizes without dimensions of one element, neighbours that go on in one step
// folded together: equal for equal index maps.
std::vector<Dim> folded_dims(const HostTensor& geometry) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
    const Dim dim{geometry.sizes[i], geometry.strides[i]};
    if (dim.size == 1) continue;
    if (!dims.empty() && dims.back().stride_bytes == dim.size * dim.stride_bytes) {
      dims.back() = {dims.back().size * dim.size, dim.stride_bytes};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

}  // namespace

ByteRange ByteSet::hull() const {
  if (ranges.empty()) return {};
  return {ranges.front().begin_bytes, ranges.back().end_bytes};
}

std::int64_t ByteSet::size_bytes() const {
  std::int64_t sum = 0;
  for (const ByteRange& range : ranges) sum += range.end_bytes - range.begin_bytes;
  return sum;
}

ByteSet bytes_of(const HostTensor& geometry) {
  for (const std::int64_t size : geometry.sizes) {
    if (size == 0) return {};
  }
  const std::int64_t item_bytes = spec::item_size_bytes(geometry.dtype);
  const std::int64_t begin = geometry.storage_offset * item_bytes;
  if (is_row_major(geometry)) {
    return bytes_of(begin, begin + spec::element_count(geometry.sizes) * item_bytes);
  }
  std::int64_t length = item_bytes;  // of the run that every combination of the outer ones begins
  std::vector<Dim> outer;
  std::int64_t span = item_bytes;
  std::size_t count = 1;
  for (const Dim& dim : moving_dims(geometry)) {
    span += (dim.size - 1) * dim.stride_bytes;
    if (outer.empty() && dim.stride_bytes <= length) {
      length += (dim.size - 1) * dim.stride_bytes;
      continue;
    }
    outer.push_back(dim);
    if (static_cast<std::size_t>(dim.size) > kMaxRanges / count) {
      return {{{begin, begin + span}}, false};
    }
    count *= static_cast<std::size_t>(dim.size);
  }
  ByteSet out;
  out.ranges.push_back({begin, begin + length});
  for (const Dim& dim : outer) {
    const std::size_t inner = out.ranges.size();
    for (std::int64_t i = 1; i < dim.size; ++i) {
      for (std::size_t j = 0; j < inner; ++j) {
        const ByteRange range = out.ranges[j];
        out.ranges.push_back(
            {range.begin_bytes + i * dim.stride_bytes, range.end_bytes + i * dim.stride_bytes});
      }
    }
  }
  merge_ranges(out.ranges);
  return out;
}

std::optional<ByteSet> bytes_of(const spec::TensorType& type) {
  // Mostly row-major, of constants: then nothing is made for it.
  std::int64_t count = 1;
  bool is_row_major = type.storage_offset.is_constant() && type.sizes.size() == type.strides.size();
  for (std::size_t i = type.sizes.size(); i-- > 0 && is_row_major;) {
    is_row_major = type.sizes[i].is_constant() && type.strides[i].is_constant() &&
                   (type.sizes[i].constant() == 1 || type.strides[i].constant() == count);
    count *= type.sizes[i].constant();
  }
  if (is_row_major) {
    const std::int64_t item_bytes = spec::item_size_bytes(type.dtype);
    const std::int64_t begin = type.storage_offset.constant() * item_bytes;
    return bytes_of(begin, begin + count * item_bytes);
  }
  const auto geometry = spec::concrete_geometry(type);
  return geometry ? std::optional(bytes_of(*geometry)) : std::nullopt;
}

ByteSet bytes_of(std::int64_t begin_bytes, std::int64_t end_bytes) {
  if (begin_bytes >= end_bytes) return {};
  return {{{begin_bytes, end_bytes}}, true};
}

ByteSet shifted(ByteSet bytes, std::int64_t by_bytes) {
  for (ByteRange& range : bytes.ranges) {
    range.begin_bytes += by_bytes;
    range.end_bytes += by_bytes;
  }
  return bytes;
}

std::optional<ByteRange> first_common(const ByteSet& a, std::int64_t shift_a_bytes,
                                      const ByteSet& b, std::int64_t shift_b_bytes) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.ranges.size() && j < b.ranges.size()) {
    const std::int64_t a_end = a.ranges[i].end_bytes + shift_a_bytes;
    const std::int64_t b_end = b.ranges[j].end_bytes + shift_b_bytes;
    const std::int64_t begin =
        std::max(a.ranges[i].begin_bytes + shift_a_bytes, b.ranges[j].begin_bytes + shift_b_bytes);
    if (begin < std::min(a_end, b_end)) return ByteRange{begin, std::min(a_end, b_end)};
    if (a_end <= b_end) {
      ++i;
    } else {
      ++j;
    }
  }
  return std::nullopt;
}

std::vector<std::int64_t> element_offsets_bytes(const HostTensor& geometry) {
  const std::int64_t item_bytes = spec::item_size_bytes(geometry.dtype);
  std::vector<std::int64_t> out = {geometry.storage_offset * item_bytes};
  for (std::size_t d = 0; d < geometry.sizes.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(geometry.sizes[d]));
    for (const std::int64_t base : out) {
      for (std::int64_t i = 0; i < geometry.sizes[d]; ++i) {
        next.push_back(base + i * geometry.strides[d] * item_bytes);
      }
    }
    out = std::move(next);
  }
  return out;
}

bool same_index_map(const HostTensor& a, const HostTensor& b) {
  const std::int64_t count = spec::element_count(a.sizes);
  if (count != spec::element_count(b.sizes)) return false;
  if (count == 0) return true;
  if (spec::item_size_bytes(a.dtype) != spec::item_size_bytes(b.dtype)) return false;
  if (a.storage_offset != b.storage_offset) return false;
  const std::vector<Dim> x = folded_dims(a);
  const std::vector<Dim> y = folded_dims(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Dim& p, const Dim& q) {
    return p.size == q.size && p.stride_bytes == q.stride_bytes;
  });
}

}  // namespace graphgate::verify
