#include "optimized/runtime/host/provenance_memory.h"

#include <algorithm>

#include "base/result.h"
#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

// Visits the addresses of all elements in row-major order.
template <class Visit>
void for_each_address(const Tensor& tensor, Address first, Visit&& visit) {
  if (tensor.count() == 0) return;
  const std::int64_t item = tensor.item_bytes();
  const auto rank = tensor.sizes.size();
  std::vector<std::int64_t> index(rank, 0);
  auto address = static_cast<std::int64_t>(first) + tensor.offset * item;
  const std::int64_t inner = rank == 0 ? 1 : tensor.sizes[rank - 1];
  const std::int64_t step = rank == 0 ? 0 : tensor.strides[rank - 1] * item;
  while (true) {
    for (std::int64_t i = 0; i < inner; ++i) visit(static_cast<Address>(address + i * step));
    std::size_t d = rank < 2 ? 0 : rank - 1;
    for (; d > 0; --d) {
      const std::size_t at = d - 1;
      address += tensor.strides[at] * item;
      if (++index[at] < tensor.sizes[at]) break;
      address -= tensor.strides[at] * item * tensor.sizes[at];
      index[at] = 0;
    }
    if (d == 0) return;
  }
}

// The bytes from a tensor's first element to its last.
std::pair<Address, Address> hull_of(const Tensor& tensor, Address first) {
  const ByteRange range = byte_range(tensor);
  return {first + static_cast<Address>(range.begin), first + static_cast<Address>(range.end)};
}

}  // namespace

WordMemory::Extent WordMemory::Extent::part(Address from, Address to) const {
  const Address bytes = from - begin + skip;
  return {from,
          to,
          item_bytes,
          static_cast<std::uint32_t>(bytes % item_bytes),
          element + bytes / item_bytes,
          words};
}

std::map<Address, WordMemory::Extent>::const_iterator WordMemory::first_behind(
    Address address) const {
  auto extent = extents_.upper_bound(address);
  if (extent == extents_.begin()) return extent;
  const auto before = std::prev(extent);
  return address < before->second.end ? before : extent;
}

const WordMemory::Extent* WordMemory::find(Address address) const {
  const auto extent = first_behind(address);
  return extent != extents_.end() && extent->first <= address ? &extent->second : nullptr;
}

void WordMemory::forget(Address first, std::size_t count) {
  const Address end = first + count;
  if (count == 0) return;
  const auto behind = first_behind(first);
  auto next = extents_.erase(behind, behind);  // as a plain iterator
  while (next != extents_.end() && next->first < end) {
    const Extent old = std::move(next->second);
    next = extents_.erase(next);
    if (old.begin < first) extents_.emplace(old.begin, old.part(old.begin, first));
    if (old.end > end) extents_.emplace(end, old.part(end, old.end));
  }
}

void WordMemory::put(Extent extent) {
  const auto known = extents_.find(extent.begin);
  if (known != extents_.end() && known->second.end == extent.end) {
    known->second = std::move(extent);
    return;
  }
  forget(extent.begin, extent.end - extent.begin);
  extents_.emplace(extent.begin, std::move(extent));
}

void WordMemory::store_elements(Address first, std::uint32_t size, Words words) {
  if (words->size() == 0) return;
  const Address end = first + words->size() * size;
  put({first, end, size, 0, 0, std::move(words)});
}

const WordMemory::Extent* WordMemory::join(Address begin, Address end, std::uint32_t size) {
  const Extent* whole = find(begin);
  if (whole && whole->end >= end) return whole->begins_element(begin, size) ? whole : nullptr;
  std::vector<Word> words((end - begin) / size, kNoWord);
  std::size_t found = 0;
  bool has_holes = false;
  for (auto next = first_behind(begin); next != extents_.end() && next->first < end; ++next) {
    const Extent& extent = next->second;
    const Address from = std::max(extent.begin, begin);
    const Address to = std::min(extent.end, end);
    if (!extent.begins_element(from, size)) return nullptr;
    if ((from - begin) % size != 0 || (to - begin) % size != 0) return nullptr;
    const std::size_t count = (to - from) / size;
    std::copy_n(extent.words->data() + extent.element_at(from), count,
                words.data() + (from - begin) / size);
    found += count;
    has_holes |= extent.words->has_holes();
  }
  has_holes |= found < words.size();
  put({begin, end, size, 0, 0, std::make_shared<const WordArray>(std::move(words), has_holes)});
  return find(begin);
}

// An element that may not have been written as one.
Word WordMemory::load_element(Address address, std::uint32_t size) {
  constexpr std::size_t kMostBytes = 16;  // of complex128
  GRAPHGATE_CHECK(size <= kMostBytes);
  std::array<Word, kMostBytes> words{};
  std::array<const Extent*, kMostBytes> extents{};
  bool is_whole = true;
  bool is_written = false;
  for (std::uint32_t i = 0; i < size; ++i) {
    extents[i] = find(address + i);
    if (extents[i]) words[i] = (*extents[i]->words)[extents[i]->element_at(address + i)];
    if (words[i] == kNoWord) {
      extents[i] = nullptr;
      words[i] = spec::kUnwrittenWord;
    }
    is_written |= extents[i] != nullptr;
    is_whole &= extents[i] && extents[i]->begins_element(address, size) && words[i] == words[0];
  }
  if (is_whole || !is_written) return words[0];
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!extents[i]) continue;
    const Extent& extent = *extents[i];
    const Address bytes = address + i - extent.begin + extent.skip;
    words[i] = derived.byte_of(words[i], extent.item_bytes,
                               static_cast<std::uint32_t>(bytes % extent.item_bytes));
  }
  return derived.joined(std::span(words).first(size));
}

Words WordMemory::load(const Tensor& tensor, Address first) {
  const auto count = static_cast<std::size_t>(tensor.count());
  if (count == 0) return make_words({});
  const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
  const auto [begin, end] = hull_of(tensor, first);
  if (const Extent* extent = join(begin, end, size)) {
    const std::size_t at = extent->element_at(begin);
    const Words& words = extent->words;
    const bool is_all = at == 0 && words->size() == count && !words->has_holes();
    return is_all && is_contiguous(tensor) ? words : words->view(at, tensor);
  }
  std::vector<Word> out;
  out.reserve(count);
  for_each_address(tensor, first,
                   [&](Address address) { out.push_back(load_element(address, size)); });
  return make_words(std::move(out));
}

void WordMemory::store(const Tensor& tensor, Address first, const Words& words) {
  if (words->size() == 0) return;
  const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
  const auto [begin, end] = hull_of(tensor, first);
  if (is_contiguous(tensor)) return store_elements(begin, size, words);
  if (is_dense(tensor)) {
    // All bytes in between, in another order: what lay there does not matter.
    std::vector<Word> all(words->size());
    std::size_t next = 0;
    for_each_address(tensor, first, [&, begin = begin](Address address) {
      all[(address - begin) / size] = (*words)[next++];
    });
    return store_elements(begin, size, make_words(std::move(all)));
  }
  const Extent* extent = join(begin, end, size);
  if (!extent) {
    std::size_t next = 0;
    for_each_address(tensor, first, [&](Address address) {
      store_elements(address, size, make_words({(*words)[next++]}));
    });
    return;
  }
  // The extent with other words where the tensor lies: what is written together stays so.
  Extent changed = *extent;
  std::vector<Word> all = changed.words->all();
  std::size_t next = 0;
  for_each_address(tensor, first,
                   [&](Address address) { all[changed.element_at(address)] = (*words)[next++]; });
  const bool has_holes = changed.words->has_holes() && std::ranges::find(all, kNoWord) != all.end();
  changed.words = std::make_shared<const WordArray>(std::move(all), has_holes);
  put(std::move(changed));
}

void WordMemory::forget(const Tensor& tensor, Address first) {
  const auto size = static_cast<std::size_t>(tensor.item_bytes());
  if (is_contiguous(tensor)) {
    const auto [begin, end] = hull_of(tensor, first);
    return forget(begin, end - begin);
  }
  for_each_address(tensor, first, [&](Address address) { forget(address, size); });
}

WordMemory::Saved WordMemory::save(Address first, std::size_t count) const {
  Saved saved{first, count, {}};
  const Address end = first + count;
  for (auto next = first_behind(first); next != extents_.end() && next->first < end; ++next) {
    const Extent& extent = next->second;
    saved.extents.push_back(extent.part(std::max(extent.begin, first), std::min(extent.end, end)));
  }
  return saved;
}

void WordMemory::restore(const Saved& saved) {
  forget(saved.first, saved.count);
  for (const Extent& extent : saved.extents) extents_.emplace(extent.begin, extent);
}

void WordMemory::move(Address first, std::size_t count, Address to) {
  Saved saved = save(first, count);
  forget(first, count);
  saved.first = to;
  for (Extent& extent : saved.extents) {
    extent.end = to + (extent.end - first);
    extent.begin = to + (extent.begin - first);
  }
  restore(saved);
}

}  // namespace graphgate::optimized
