// Names that were seen, to find one that stands there twice. For checks that look at every name of
// a graph or plan: one table, made once, and nothing for each name.
#pragma once

#include <bit>
#include <functional>
#include <string_view>
#include <vector>

namespace graphgate::spec {

class NameSet {
 public:
  // For at most so many names, which somebody else keeps.
  explicit NameSet(std::size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  // Whether it is new.
  bool insert(std::string_view name) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string_view>()(name) & mask;
    for (; slots_[at].data() != nullptr; at = (at + 1) & mask) {
      if (slots_[at] == name) return false;
    }
    slots_[at] = name;
    return true;
  }

 private:
  std::vector<std::string_view> slots_;  // half of them stay free; those without data are
};

}  // namespace graphgate::spec
