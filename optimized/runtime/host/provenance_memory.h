// Words beside memory: for every byte that a run has seen, which element of which history it is.
//
// Keyed by address, so that a place that two storages take after one another keeps what the last
// write left, as the bytes do. Memory is a list of extents, each of elements that were written
// together: a tensor that is read as it was written gets the very array that was put there.
//
// Owned by the provenance instrument (provenance.h).
#pragma once

#include <map>

#include "optimized/runtime/host/word_array.h"

namespace graphgate::optimized {

using Address = std::uintptr_t;

class WordMemory {
 public:
  // The words of `tensor` in row-major order; `first` is where its element at offset 0 lies.
  Words load(const Tensor& tensor, Address first);
  void store(const Tensor& tensor, Address first, const Words& words);

  // Whole elements of `size` bytes, from `first` on.
  void store_elements(Address first, std::uint32_t size, Words words);
  // Bytes that nothing has written.
  void forget(Address first, std::size_t count);
  void forget(const Tensor& tensor, Address first);

 private:
  // Bytes [begin, end) hold elements of `item_bytes` bytes: at `begin`, byte `skip` of element
  // `element` of the array.
  struct Extent {
    Address begin = 0;
    Address end = 0;
    std::uint32_t item_bytes = 1;
    std::uint32_t skip = 0;
    std::size_t element = 0;
    Words words;

    [[nodiscard]] Extent part(Address from, Address to) const;
    // Whether `address` begins an element of that size.
    [[nodiscard]] bool begins_element(Address address, std::uint32_t size) const {
      return item_bytes == size && (address - begin + skip) % size == 0;
    }
    [[nodiscard]] std::size_t element_at(Address address) const {
      return element + (address - begin + skip) / item_bytes;
    }
  };

 public:
  // What lies in some bytes, for putting it back.
  struct Saved {
    Address first = 0;
    std::size_t count = 0;
    std::vector<Extent> extents;
  };
  [[nodiscard]] Saved save(Address first, std::size_t count) const;
  void restore(const Saved& saved);
  // What lies in some bytes lies at `to` from now on, and nothing where it lay.
  void move(Address first, std::size_t count, Address to);

  DerivedWords derived;

 private:
  // The extent that holds the byte; null for one that nothing has written.
  [[nodiscard]] const Extent* find(Address address) const;
  [[nodiscard]] std::map<Address, Extent>::const_iterator first_behind(Address address) const;
  // One extent that holds all these bytes as whole elements, joined from several if need be. Null
  // where something of another size, or a part of an element, lies among them.
  const Extent* join(Address begin, Address end, std::uint32_t size);
  [[nodiscard]] Word load_element(Address address, std::uint32_t size);
  void put(Extent extent);

  std::map<Address, Extent> extents_;  // by begin; disjoint
};

}  // namespace graphgate::optimized
