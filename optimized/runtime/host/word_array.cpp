#include "optimized/runtime/host/word_array.h"

#include <algorithm>

#include "spec/provenance_words.h"

namespace graphgate::optimized {
namespace {

using spec::make_provenance;
using spec::mix_provenance;
using spec::provenance_hash;

constexpr std::size_t kMostKept = 8;  // views and conversions of one array

template <class Kept>
const Words& keep(std::vector<Kept>& kept, Kept made) {
  if (kept.size() == kMostKept) kept.erase(kept.begin());
  return kept.emplace_back(std::move(made)).words;
}

bool is_wider_integer(spec::DType from, spec::DType to) {
  using spec::DType;
  if (!spec::is_integral(from) || !spec::is_integral(to)) return false;
  if (from == DType::kBool || to == DType::kBool || to == DType::kUInt8) return false;
  return spec::item_size_bytes(from) < spec::item_size_bytes(to);
}

// Copies the elements of a geometry over `source`, row-major.
void gather(const Word* source, const Tensor& tensor, Word* out) {
  const std::size_t rank = tensor.sizes.size();
  const std::int64_t inner = rank == 0 ? 1 : tensor.sizes[rank - 1];
  const std::int64_t step = rank == 0 ? 0 : tensor.strides[rank - 1];
  Sizes index(rank, 0);
  while (true) {
    if (step == 1) {
      out = std::copy_n(source, inner, out);
    } else {
      for (std::int64_t i = 0; i < inner; ++i) *out++ = source[i * step];
    }
    std::size_t d = rank < 2 ? 0 : rank - 1;
    for (; d > 0; --d) {
      source += tensor.strides[d - 1];
      if (++index[d - 1] < tensor.sizes[d - 1]) break;
      source -= tensor.strides[d - 1] * tensor.sizes[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace

std::uint64_t WordArray::digest() const {
  if (digest_) return *digest_;
  std::array<std::uint64_t, 8> lanes{};
  const std::size_t even = words_.size() / lanes.size() * lanes.size();
  for (std::size_t i = 0; i < even; i += lanes.size()) {
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      lanes[l] = mix_provenance(lanes[l], provenance_hash(words_[i + l]));
    }
  }
  for (std::size_t i = even; i < words_.size(); ++i) {
    lanes[i - even] = mix_provenance(lanes[i - even], provenance_hash(words_[i]));
  }
  std::uint64_t digest = 0;
  for (const std::uint64_t lane : lanes) digest = mix_provenance(digest, lane);
  digest_ = digest;
  return digest;
}

Words WordArray::view(std::size_t at, const Tensor& tensor) const {
  for (const View& known : views_) {
    if (known.at == at && known.sizes == tensor.sizes && known.strides == tensor.strides) {
      return known.words;
    }
  }
  std::vector<Word> out(static_cast<std::size_t>(tensor.count()));
  if (!out.empty()) gather(words_.data() + at, tensor, out.data());
  if (has_holes_) std::ranges::replace(out, kNoWord, spec::kUnwrittenWord);
  return keep(views_, View{at, tensor.sizes, tensor.strides, make_words(std::move(out))});
}

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

const std::unordered_map<Word, Word>* DerivedWords::narrower(spec::DType dtype) {
  const auto found = widened_.find(dtype);
  if (found == widened_.end()) return nullptr;
  Widened& widened = found->second;
  for (const auto& [before, after] : widened.arrays) {
    for (std::size_t i = 0; i < after->size(); ++i) {
      widened.before.insert_or_assign((*after)[i], (*before)[i]);
    }
  }
  widened.arrays.clear();
  return &widened.before;
}

Words DerivedWords::converted(const Words& words, spec::DType from, spec::DType to,
                              std::uint32_t producer) {
  if (from == to) return words;
  const auto* narrower_words = is_wider_integer(to, from) ? narrower(to) : nullptr;
  if (!narrower_words) {
    for (const auto& known : words->converted_) {
      if (known.from == from && known.to == to && known.producer == producer) return known.words;
    }
  }
  const std::uint64_t named = mix_provenance(mix_provenance(0, "cast"), spec::torch_name(to));
  std::vector<Word> out(words->size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t hash = provenance_hash(words->words_[i]);
    out[i] = make_provenance(mix_provenance(named, hash), producer, 1);
  }
  if (narrower_words) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto before = narrower_words->find(words->words_[i]);
      if (before != narrower_words->end()) out[i] = before->second;
    }
  }
  Words made = make_words(std::move(out));
  if (is_wider_integer(from, to)) widened_[from].arrays.emplace_back(words, made);
  if (narrower_words) return made;
  return keep(words->converted_, WordArray::Converted{from, to, producer, std::move(made)});
}

}  // namespace graphgate::optimized
