#include "optimized/loop.h"

#include <algorithm>
#include <cstring>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/work.h"
#include "optimized/complex_numbers.h"

namespace graphgate::optimized {
namespace {

// Whether dimension `outer` followed by `inner` is one longer dimension in every tensor.
bool merges(const Sizes& outer, const Sizes& inner, std::int64_t inner_size) {
  for (std::size_t t = 0; t < outer.size(); ++t) {
    if (outer[t] != inner[t] * inner_size) return false;
  }
  return true;
}

template <class C>
void convert_runs(const Loop& loop, spec::DType to, spec::DType from) {
  loop.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
    std::array<C, kTile> tile;
    for (std::int64_t begin = 0; begin < n; begin += kTile) {
      const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
      load_tile<C>(from, firsts[1] + begin * strides[1], strides[1], length, tile.data());
      store_tile<C>(to, tile.data(), length, firsts[0] + begin * strides[0], strides[0]);
    }
  });
}

// The same dtype: bytes move as they are, NaN payloads and all.
template <class Word>
void move_runs(const Loop& loop) {
  loop.for_each_run([&](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Word));
    if (strides[0] == kBytes && strides[1] == kBytes) {
      std::memmove(firsts[0], firsts[1], static_cast<std::size_t>(n * kBytes));
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      std::memcpy(firsts[0] + i * strides[0], firsts[1] + i * strides[1], sizeof(Word));
    }
  });
}

void move_items(const Loop& loop, std::int64_t item_bytes) {
  switch (item_bytes) {
    case 1:
      return move_runs<std::uint8_t>(loop);
    case 2:
      return move_runs<std::uint16_t>(loop);
    case 4:
      return move_runs<std::uint32_t>(loop);
    default:
      return move_runs<std::uint64_t>(loop);
  }
}

}  // namespace

Loop::Loop(std::span<const Tensor* const> tensors) {
  const Sizes& sizes = tensors.front()->sizes;
  count_ = checked_count(sizes);
  std::vector<Sizes> strides(sizes.size(), Sizes(tensors.size()));
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    bases_.push_back(tensors[t]->data());
    const Sizes elements = broadcast_strides(*tensors[t], sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      strides[d][t] = elements[d] * tensors[t]->item_bytes();
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) order.push_back(d);
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return strides[a][0] > strides[b][0]; });
  for (const std::size_t d : order) {
    if (!sizes_.empty() && merges(strides_.back(), strides[d], sizes[d])) {
      sizes_.back() *= sizes[d];
      strides_.back() = strides[d];
    } else {
      sizes_.push_back(sizes[d]);
      strides_.push_back(strides[d]);
    }
  }
  if (sizes_.empty()) {
    sizes_.push_back(1);
    strides_.emplace_back(tensors.size(), 0);
  }
}

namespace {

Launch zero_launch(const DeviceListener* listener, const Tensor& target) {
  const std::array<const Tensor*, 1> tensors = {&target};
  Launch launch = [loop = Loop(tensors), item = static_cast<std::size_t>(target.item_bytes())] {
    loop.for_each_run(
        [item](std::byte* const* firsts, const std::int64_t* strides, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) std::memset(firsts[0] + i * strides[0], 0, item);
        });
  };
  if (listener == nullptr) return launch;
  return described(std::move(launch), {fill_work(target, {})});
}

// Copies component by component: the imaginary one of a real number is 0, and goes where the target
// is real.
Launch copy_components(const DeviceListener* listener, const Tensor& target, const Tensor& source) {
  const bool to_complex = spec::is_complex(target.dtype);
  if (to_complex && spec::is_complex(source.dtype)) {
    Tensor pairs = source;  // the last dimension of 2 stays the last
    pairs.strides = broadcast_strides(source, target.sizes);
    pairs.sizes = target.sizes;
    return copy_launch(listener, components_of(target), components_of(pairs));
  }
  if (to_complex) {
    return in_turn({copy_launch(listener, component_of(target, 0), source),
                    zero_launch(listener, component_of(target, 1))});
  }
  if (target.dtype == spec::DType::kBool) throw Unsupported("a complex number as a bool");
  return copy_launch(listener, target, component_of(source, 0));
}

}  // namespace

Launch copy_launch(const DeviceListener* listener, const Tensor& target, const Tensor& source) {
  const bool has_complex = spec::is_complex(target.dtype) || spec::is_complex(source.dtype);
  // Elements of 8 bytes move as words.
  if (has_complex && (target.dtype != source.dtype || target.item_bytes() > 8)) {
    return copy_components(listener, target, source);
  }
  const std::array<const Tensor*, 2> tensors = {&target, &source};
  const Loop loop(tensors);
  Launch launch;
  if (target.dtype == source.dtype) {
    launch = [loop, item = target.item_bytes()] { move_items(loop, item); };
  } else {
    with_compute(source.dtype, [&]<class C>() {
      launch = [loop, to = target.dtype, from = source.dtype] { convert_runs<C>(loop, to, from); };
    });
  }
  if (listener == nullptr) return launch;
  return described(std::move(launch), {copy_work(target, source)});
}

void copy_now(const Tensor& target, const Tensor& source) {
  copy_launch(nullptr, target, source).run();
}

}  // namespace graphgate::optimized
