#include "optimized/wrapper/relayout.h"

#include <cstring>

#include "base/result.h"

namespace graphgate::optimized {

void copy_elements(const spec::HostTensor& from, const spec::HostTensor& to) {
  GRAPHGATE_CHECK(from.dtype == to.dtype && from.sizes == to.sizes);
  const std::int64_t item_bytes = spec::item_size_bytes(from.dtype);
  const std::size_t rank = from.sizes.size();
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t read = from.storage_offset;
  std::int64_t write = to.storage_offset;
  for (std::int64_t left = spec::element_count(from.sizes); left > 0; --left) {
    std::memcpy(to.storage->bytes.data() + write * item_bytes,
                from.storage->bytes.data() + read * item_bytes,
                static_cast<std::size_t>(item_bytes));
    // The next index in row-major order; both places move along.
    for (std::size_t d = rank; d-- > 0;) {
      read += from.strides[d];
      write += to.strides[d];
      if (++index[d] < from.sizes[d]) break;
      read -= from.strides[d] * from.sizes[d];
      write -= to.strides[d] * to.sizes[d];
      index[d] = 0;
    }
  }
}

}  // namespace graphgate::optimized
