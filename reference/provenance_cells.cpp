#include "reference/provenance_cells.h"

#include "spec/provenance_words.h"

namespace graphgate::reference {
namespace {

using spec::mix_provenance;
using spec::provenance_hash;
using spec::ProvenanceWord;

// A cast of integers that loses nothing.
bool widens_integers(spec::DType from, spec::DType to) {
  if (!spec::is_integral(from) || !spec::is_integral(to)) return false;
  if (from == spec::DType::kBool || to == spec::DType::kBool) return false;
  return to != spec::DType::kUInt8 && spec::item_size_bytes(to) > spec::item_size_bytes(from);
}

std::size_t item_bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
}

}  // namespace

ProvenanceWord Origins::part(ProvenanceWord whole, std::uint8_t size, std::uint8_t index) {
  if (size == 1) return whole;
  std::uint64_t hash = mix_provenance(mix_provenance(0, "byte"), provenance_hash(whole));
  hash = mix_provenance(mix_provenance(hash, size), index);
  const ProvenanceWord word = spec::make_provenance(hash, spec::provenance_producer(whole),
                                                    spec::provenance_version(whole));
  parts_[word] = {whole, size, index, {}};
  return word;
}

ProvenanceWord Origins::join(const Words& parts) const {
  if (parts.size() == 1) return parts.front();
  const auto first = parts_.find(parts.front());
  bool is_whole = first != parts_.end() && first->second.size == parts.size();
  std::uint64_t hash = mix_provenance(0, "joined");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    hash = mix_provenance(hash, provenance_hash(parts[i]));
    const auto found = parts_.find(parts[i]);
    is_whole = is_whole && found != parts_.end() && found->second.index == i &&
               found->second.size == parts.size() && found->second.word == first->second.word;
  }
  if (is_whole) return first->second.word;
  return spec::make_provenance(hash, spec::provenance_producer(parts.back()),
                               spec::provenance_version(parts.back()));
}

ProvenanceWord Origins::cast(ProvenanceWord word, spec::DType from, spec::DType to,
                             std::uint32_t producer) {
  if (from == to) return word;
  const auto origin = casts_.find(word);
  if (origin != casts_.end() && origin->second.dtype == to) return origin->second.word;
  std::uint64_t hash = mix_provenance(mix_provenance(0, "cast"), spec::torch_name(to));
  hash = mix_provenance(hash, provenance_hash(word));
  const ProvenanceWord made = spec::make_provenance(hash, producer, 1);
  if (widens_integers(from, to)) casts_[made] = {word, 0, 0, from};
  return made;
}

void Cells::resize(std::size_t size_bytes) {
  if (size_bytes == size_bytes_) return;
  if (item_bytes_ != 0) split();
  size_bytes_ = size_bytes;
  if (!bytes_.empty()) bytes_.resize(size_bytes);
}

void Cells::begin(SharedWords words, std::size_t item_bytes) {
  item_bytes_ = item_bytes;
  words_ = std::move(words);
  bytes_.clear();
}

SharedWords Cells::read(const Tensor& tensor, Origins& origins) {
  const std::size_t item = item_bytes_of(tensor);
  if (item_bytes_ != item) {
    if (item_bytes_ != 0) split();
    return read_bytes(tensor, origins);
  }
  const auto count = static_cast<std::size_t>(tensor.count());
  if (count == words_.size() && tensor.offset == 0 && is_contiguous(tensor)) return words_;
  Words words;
  words.reserve(count);
  for_each_position(tensor, [&](std::int64_t position) {
    words.push_back(words_[static_cast<std::size_t>(position)]);
  });
  return words;
}

void Cells::write(const Tensor& tensor, const SharedWords& words) {
  const std::size_t item = item_bytes_of(tensor);
  const bool is_all = words.size() * item == size_bytes_ && is_non_overlapping_and_dense(tensor);
  if (is_all && is_contiguous(tensor)) return begin(words, item);
  if (!is_all && item_bytes_ != item) {
    if (item_bytes_ != 0) split();
    return write_bytes(tensor, words);
  }
  Words changed = is_all ? Words(words.size()) : Words(words_.begin(), words_.end());
  std::size_t next = 0;
  for_each_position(tensor, [&](std::int64_t position) {
    changed[static_cast<std::size_t>(position)] = words[next++];
  });
  begin(std::move(changed), item);
}

void Cells::split() {
  bytes_.resize(size_bytes_);
  const auto size = static_cast<std::uint8_t>(item_bytes_);
  for (std::size_t b = 0; b < size_bytes_; ++b) {
    bytes_[b] = {words_[b / item_bytes_], size, static_cast<std::uint8_t>(b % item_bytes_)};
  }
  item_bytes_ = 0;
  words_ = {};
}

Words Cells::read_bytes(const Tensor& tensor, Origins& origins) const {
  const auto count = static_cast<std::size_t>(tensor.count());
  if (bytes_.empty()) return Words(count, spec::kUnwrittenWord);
  const std::size_t size = item_bytes_of(tensor);
  Words words;
  words.reserve(count);
  Words parts(size);
  for (const std::int64_t position : element_positions(tensor)) {
    const ByteWord* at = bytes_.data() + static_cast<std::size_t>(position) * size;
    bool is_whole = true;
    bool is_written = false;
    for (std::size_t i = 0; i < size; ++i) {
      is_whole = is_whole && at[i].size == size && at[i].index == i && at[i].word == at[0].word;
      is_written = is_written || at[i].size != 0;
    }
    if (is_whole || !is_written) {
      words.push_back(is_whole ? at[0].word : spec::kUnwrittenWord);
      continue;
    }
    for (std::size_t i = 0; i < size; ++i) {
      parts[i] = at[i].size == 0 ? spec::kUnwrittenWord
                                 : origins.part(at[i].word, at[i].size, at[i].index);
    }
    words.push_back(origins.join(parts));
  }
  return words;
}

void Cells::write_bytes(const Tensor& tensor, const SharedWords& words) {
  bytes_.resize(size_bytes_);
  const auto size = static_cast<std::uint8_t>(item_bytes_of(tensor));
  std::size_t next = 0;
  for_each_position(tensor, [&](std::int64_t position) {
    ByteWord* at = bytes_.data() + position * size;
    for (std::uint8_t i = 0; i < size; ++i) at[i] = {words[next], size, i};
    ++next;
  });
}

}  // namespace graphgate::reference
