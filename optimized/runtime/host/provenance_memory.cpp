#include "optimized/runtime/host/provenance_memory.h"

#include <algorithm>
#include <cstring>

#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using spec::make_provenance;
using spec::mix_provenance;
using spec::provenance_hash;

constexpr std::uint8_t mark_of(std::uint32_t size, std::uint32_t index) {
  return static_cast<std::uint8_t>(16 * size + index);
}

// The marks of a whole element, as one number of its size.
std::uint64_t whole_marks(std::uint32_t size) {
  std::uint64_t marks = 0;
  for (std::uint32_t i = 0; i < size; ++i) marks |= std::uint64_t{mark_of(size, i)} << (8 * i);
  return marks;
}

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

bool is_wider_integer(spec::DType from, spec::DType to) {
  using spec::DType;
  if (!spec::is_integral(from) || !spec::is_integral(to)) return false;
  if (from == DType::kBool || to == DType::kBool || to == DType::kUInt8) return false;
  return spec::item_size_bytes(from) < spec::item_size_bytes(to);
}

}  // namespace

Word DerivedWords::byte_of(Word element, std::uint32_t size, std::uint32_t index) {
  if (size == 1) return element;
  const std::uint64_t named = mix_provenance(mix_provenance(0, "byte"), provenance_hash(element));
  const Word word =
      make_provenance(mix_provenance(mix_provenance(named, size), index),
                      spec::provenance_producer(element), spec::provenance_version(element));
  slices_.insert_or_assign(word, Slice{element, size, index});
  return word;
}

Word DerivedWords::joined(std::span<const Word> bytes) const {
  if (bytes.size() == 1) return bytes[0];
  const Slice* first = nullptr;
  std::size_t in_place = 0;
  std::uint64_t hash = mix_provenance(0, "joined");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    hash = mix_provenance(hash, provenance_hash(bytes[i]));
    const auto found = slices_.find(bytes[i]);
    if (found == slices_.end()) continue;
    if (i == 0) first = &found->second;
    if (first && found->second.element == first->element && found->second.index == i) ++in_place;
  }
  if (first && in_place == bytes.size() && first->size == bytes.size()) return first->element;
  return make_provenance(hash, spec::provenance_producer(bytes.back()),
                         spec::provenance_version(bytes.back()));
}

Word DerivedWords::converted(Word word, spec::DType from, spec::DType to, std::uint32_t producer) {
  if (from == to) return word;
  if (!narrower_.empty()) {
    const auto found = narrower_.find(word);
    if (found != narrower_.end() && found->second.second == to) return found->second.first;
  }
  const std::uint64_t named = mix_provenance(mix_provenance(0, "cast"), spec::torch_name(to));
  const Word made = make_provenance(mix_provenance(named, provenance_hash(word)), producer, 1);
  if (is_wider_integer(from, to)) narrower_.insert_or_assign(made, std::pair(word, from));
  return made;
}

WordMemory::Page* WordMemory::find(Address address) const {
  const Address number = address / kPageBytes;
  if (number == last_) return last_page_;
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_ = number;
  last_page_ = found->second.get();
  return last_page_;
}

WordMemory::Page& WordMemory::at(Address address) {
  if (Page* page = find(address)) return *page;
  const Address number = address / kPageBytes;
  auto& page = pages_[number];
  page.reset(new Page);  // words stay uninitialized: marks tell
  last_ = number;
  last_page_ = page.get();
  return *page;
}

// An element that was not written as one.
Word WordMemory::load_bytes(Address address, std::uint32_t size) {
  std::array<Word, 8> words{};
  std::array<std::uint8_t, 8> marks{};
  bool is_whole = true;
  bool is_written = false;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (const Page* page = find(address + i)) marks[i] = page->marks[(address + i) % kPageBytes];
    words[i] =
        marks[i] != 0 ? at(address + i).words[(address + i) % kPageBytes] : spec::kUnwrittenWord;
    is_written |= marks[i] != 0;
    is_whole &= marks[i] == mark_of(size, i) && words[i] == words[0];
  }
  if (is_whole || !is_written) return words[0];
  for (std::uint32_t i = 0; i < size; ++i) {
    if (marks[i] != 0) words[i] = derived.byte_of(words[i], marks[i] / 16U, marks[i] % 16U);
  }
  return derived.joined(std::span(words).first(size));
}

std::vector<Word> WordMemory::load(const Tensor& tensor, Address first) {
  std::vector<Word> out;
  out.reserve(static_cast<std::size_t>(tensor.count()));
  const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
  const std::uint64_t whole = whole_marks(size);
  for_each_address(tensor, first, [&](Address address) {
    const std::size_t place = address % kPageBytes;
    const Page* page = find(address);
    if (page && place + size <= kPageBytes) {
      std::uint64_t marks = 0;
      std::memcpy(&marks, page->marks.data() + place, size);
      // Elements of one size lie at multiples of it: whole marks are those of one element.
      if (marks == whole) return out.push_back(page->words[place]);
      if (marks == 0) return out.push_back(spec::kUnwrittenWord);
    }
    out.push_back(load_bytes(address, size));
  });
  return out;
}

void WordMemory::store_byte(Address address, Word word, std::uint8_t mark) {
  Page& page = at(address);
  page.words[address % kPageBytes] = word;
  page.marks[address % kPageBytes] = mark;
}

void WordMemory::store(const Tensor& tensor, Address first, std::span<const Word> words) {
  const auto size = static_cast<std::uint32_t>(tensor.item_bytes());
  const std::uint64_t whole = whole_marks(size);
  std::size_t next = 0;
  for_each_address(tensor, first, [&](Address address) {
    const Word word = words[next++];
    const std::size_t place = address % kPageBytes;
    if (place + size > kPageBytes) {
      for (std::uint32_t i = 0; i < size; ++i) store_byte(address + i, word, mark_of(size, i));
      return;
    }
    Page& page = at(address);
    std::fill_n(page.words.data() + place, size, word);
    std::memcpy(page.marks.data() + place, &whole, size);
  });
}

void WordMemory::store_elements(Address first, std::uint32_t size, std::span<const Word> words) {
  for (std::size_t e = 0; e < words.size(); ++e) {
    for (std::uint32_t i = 0; i < size; ++i) {
      store_byte(first + e * size + i, words[e], mark_of(size, i));
    }
  }
}

void WordMemory::forget(Address first, std::size_t count) {
  for (std::size_t i = 0; i < count;) {
    const std::size_t place = (first + i) % kPageBytes;
    const std::size_t run = std::min(kPageBytes - place, count - i);
    if (Page* page = find(first + i)) std::fill_n(page->marks.data() + place, run, std::uint8_t{0});
    i += run;
  }
}

void WordMemory::forget(const Tensor& tensor, Address first) {
  const auto size = static_cast<std::size_t>(tensor.item_bytes());
  for_each_address(tensor, first, [&](Address address) { forget(address, size); });
}

WordMemory::Saved WordMemory::save(Address first, std::size_t count) const {
  Saved saved{first, std::vector<Word>(count), std::vector<std::uint8_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Page* page = find(first + i);
    if (!page) continue;
    saved.marks[i] = page->marks[(first + i) % kPageBytes];
    if (saved.marks[i] != 0) saved.words[i] = page->words[(first + i) % kPageBytes];
  }
  return saved;
}

void WordMemory::restore(const Saved& saved) {
  for (std::size_t i = 0; i < saved.words.size(); ++i) {
    store_byte(saved.first + i, saved.words[i], saved.marks[i]);
  }
}

}  // namespace graphgate::optimized
