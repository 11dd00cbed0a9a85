#include "optimized/kernels/indexed_loop.h"

#include "optimized/codegen/cells_text.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

std::byte unread_byte{};

Loop make_loop(const IndexedCells& cells) {
  GRAPHGATE_CHECK(cells.others.size() <= IndexedLoop::kMaxOthers);
  const Tensor order = order_tensor(cells.frame);
  std::vector<const Tensor*> tensors = {&order, &cells.indexed};
  for (const Tensor& other : cells.others) tensors.push_back(&other);
  for (const IndexedDim& dim : cells.dims) tensors.push_back(&dim.index);
  return Loop(tensors);
}

}  // namespace

Tensor order_tensor(const Sizes& frame) {
  Tensor order;
  order.dtype = spec::DType::kBool;
  order.sizes = frame;
  order.strides.assign(frame.size(), 0);
  order.bytes = &unread_byte;
  return order;
}

Loop row_major_loop(const Sizes& frame, std::span<const Tensor* const> tensors) {
  const Tensor order = order_tensor(frame);
  std::vector<const Tensor*> all = {&order};
  all.insert(all.end(), tensors.begin(), tensors.end());
  return Loop(all);
}

IndexedLoop::IndexedLoop(const IndexedCells& cells)
    : other_count_(cells.others.size()), dims_(cells.dims), loop_(make_loop(cells)) {}

void IndexedLoop::read_offsets(std::byte* const* indices, const std::int64_t* strides_bytes,
                               std::int64_t begin, std::int64_t n, std::int64_t* offsets) const {
  std::fill(offsets, offsets + n, std::int64_t{0});
  std::array<std::int64_t, kTile> values;
  for (std::size_t t = 0; t < dims_.size(); ++t) {
    const IndexedDim& dim = dims_[t];
    const std::int64_t size = checked_count(dim.sizes);
    const std::int64_t least = dim.wraps ? -size : 0;
    load_tile<std::int64_t>(dim.index.dtype, indices[t] + begin * strides_bytes[t],
                            strides_bytes[t], static_cast<int>(n), values.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t value = values[static_cast<std::size_t>(i)];
      if (value < least || value >= size) throw_index_out_of_range(value, dim.dim, size);
      const std::int64_t place = value < 0 ? value + size : value;
      offsets[i] += dim.sizes.size() == 1 ? place * dim.strides_bytes[0]
                                          : offset_of(place, dim.sizes, dim.strides_bytes);
    }
  }
}

Launch read_cells(const DeviceListener* listener, const IndexedCells& cells,
                  std::int64_t item_bytes) {
  Launch launch = [loop = IndexedLoop(cells), item_bytes] {
    with_word(item_bytes, [&]<class Word>() {
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Word));
      loop.for_each_run([](const Cells& run, std::byte* const* others, const std::int64_t* strides,
                           std::int64_t n) {
        if (!run.offsets && run.stride_bytes == kBytes && strides[0] == kBytes) {
          std::memcpy(others[0], run.first, static_cast<std::size_t>(n * kBytes));
          return;
        }
        for (std::int64_t i = 0; i < n; ++i) {
          std::memcpy(others[0] + i * strides[0], run.at(i), sizeof(Word));
        }
      });
    });
  };
  if (listener == nullptr || item_bytes > 8) return launch;
  return described(std::move(launch), {read_cells_text(cells, item_bytes)});
}

Launch write_cells(const DeviceListener* listener, const IndexedCells& cells,
                   std::int64_t item_bytes) {
  Launch launch = [loop = IndexedLoop(cells), item_bytes] {
    with_word(item_bytes, [&]<class Word>() {
      constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Word));
      loop.for_each_run([](const Cells& run, std::byte* const* others, const std::int64_t* strides,
                           std::int64_t n) {
        if (!run.offsets && run.stride_bytes == kBytes && strides[0] == kBytes) {
          std::memcpy(run.first, others[0], static_cast<std::size_t>(n * kBytes));
          return;
        }
        for (std::int64_t i = 0; i < n; ++i) {
          std::memcpy(run.at(i), others[0] + i * strides[0], sizeof(Word));
        }
      });
    });
  };
  if (listener == nullptr || item_bytes > 8) return launch;
  return described(std::move(launch), {write_cells_text(cells, item_bytes)});
}

Launch fill_cells(const DeviceListener* listener, const IndexedCells& cells,
                  std::int64_t item_bytes, std::array<std::byte, 8> value) {
  Launch launch = [loop = IndexedLoop(cells), item_bytes, value] {
    with_word(item_bytes, [&]<class Word>() {
      loop.for_each_run(
          [&](const Cells& run, std::byte* const*, const std::int64_t*, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) {
              std::memcpy(run.at(i), value.data(), sizeof(Word));
            }
          });
    });
  };
  if (listener == nullptr) return launch;
  return described(std::move(launch), {fill_cells_text(cells, item_bytes, value)});
}

void check_index_dtype(const Tensor& index) {
  if (index.dtype == spec::DType::kInt64 || index.dtype == spec::DType::kInt32) return;
  throw OpError("the index has dtype " + std::string(spec::torch_name(index.dtype)) +
                ", not int64 or int32");
}

}  // namespace graphgate::optimized
