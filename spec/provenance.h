// Provenance: a run in which values are replaced by where they come from.
//
// Beside its bytes, every tensor has words that say which op made each element, from which operands
// and with which attributes. Data movement moves words, arithmetic hashes them, so that two runs
// agree exactly if they computed the same thing from the same versions of everything, whatever the
// numbers are. Both executors can run so; each derives for itself how elements depend on each other
// (docs/provenance.md). What they share is here: what a word is, and how words are mixed.
//
//   word   63                 24 23        8 7      0
//          [ hash of the history ][ producer ][ version ]
//
// The hash alone tells runs apart. Producer and version explain: which node of the program made the
// element (1 + its index, 0 for inputs and state, modulo 2^16), as the how-manieth write of its
// storage (modulo 2^8).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/dtype.h"

namespace graphgate::spec {

using ProvenanceWord = std::uint64_t;

inline constexpr int kProvenanceHashShift = 24;

[[nodiscard]] constexpr std::uint64_t provenance_hash(ProvenanceWord word) {
  return word >> kProvenanceHashShift;
}
[[nodiscard]] constexpr std::uint32_t provenance_producer(ProvenanceWord word) {
  return static_cast<std::uint32_t>(word >> 8) & 0xffff;
}
[[nodiscard]] constexpr std::uint32_t provenance_version(ProvenanceWord word) {
  return static_cast<std::uint32_t>(word) & 0xff;
}
[[nodiscard]] constexpr ProvenanceWord make_provenance(std::uint64_t hash, std::uint32_t producer,
                                                       std::uint32_t version) {
  return (hash << kProvenanceHashShift) | (std::uint64_t{producer & 0xffff} << 8) |
         (version & 0xff);
}

// An order-dependent mix of 64-bit words: the finalizer of splitmix64 (Steele, Lea, Flood 2014)
// over each word and what came before.
[[nodiscard]] constexpr std::uint64_t mix_provenance(std::uint64_t before, std::uint64_t word) {
  std::uint64_t x = before * 0x9e3779b97f4a7c15ULL + word + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
[[nodiscard]] constexpr std::uint64_t mix_provenance(std::uint64_t before, std::string_view text) {
  for (const char c : text) before = mix_provenance(before, static_cast<unsigned char>(c));
  return mix_provenance(before, text.size());
}

// Words in row-major order. They never change, so that rows and executors share them.
class ProvenanceWords {
 public:
  using Array = std::vector<ProvenanceWord>;
  ProvenanceWords() = default;
  ProvenanceWords(Array words) : array_(std::make_shared<const Array>(std::move(words))) {}
  explicit ProvenanceWords(std::shared_ptr<const Array> words) : array_(std::move(words)) {}

  [[nodiscard]] std::size_t size() const { return array_ ? array_->size() : 0; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const ProvenanceWord* data() const { return array_ ? array_->data() : nullptr; }
  [[nodiscard]] const ProvenanceWord* begin() const { return data(); }
  [[nodiscard]] const ProvenanceWord* end() const { return data() + size(); }
  [[nodiscard]] ProvenanceWord operator[](std::size_t i) const { return (*array_)[i]; }
  friend bool operator==(const ProvenanceWords& a, const ProvenanceWords& b) {
    return a.array_ == b.array_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const Array> array_;
};

// What one tensor was made of, and where it lay, when `node` read it, made it or had written it, or
// when the call ended with it. `port` is "operand 0", "result 1" or "written 0" (an operand after
// the node; lists unpacked, counted in the schema's order). For the end of a call `node` is empty
// and `port` is "output 0", "input NAME" or "state NAME". `words` are those of the elements, empty
// where nobody asked for them. Rows of one call that share a `storage` number lie over the same
// bytes.
struct ProvenanceRow {
  std::string node;
  std::string op;
  std::string port;
  std::string value;       // the value's name in the program, where it has one
  std::string buffer;      // the plan's buffer, from executors that have one
  std::uint32_t step = 0;  // of the plan, from executors that have one
  std::uint32_t storage = 0;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t storage_offset = 0;    // in elements
  ProvenanceWords words;
};

}  // namespace graphgate::spec
