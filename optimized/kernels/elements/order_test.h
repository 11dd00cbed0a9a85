// Rows that are hard to put in order, for tests.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

namespace graphgate::optimized::element {

// 0 becomes NaN; -0 and 0 are two that are equal.
inline std::vector<float> test_numbers(const std::vector<int>& values) {
  constexpr std::array<float, 3> kKinds = {std::numeric_limits<float>::quiet_NaN(), -0.0F, 0.0F};
  std::vector<float> out;
  for (const int value : values) {
    const bool is_kind = value >= 0 && value < 3;
    out.push_back(is_kind ? kKinds.at(static_cast<std::size_t>(value)) : static_cast<float>(value));
  }
  return out;
}

// McIlroy's adversary: decides while `algorithm` compares what the values are, so that nearly all
// elements end up on one side of every pivot.
template <class Algorithm>
std::vector<int> killer_values(int n, const Algorithm& algorithm) {
  const int undecided = n;
  std::vector<int> values(static_cast<std::size_t>(n), undecided);
  std::vector<std::size_t> elements(values.size());
  std::iota(elements.begin(), elements.end(), 0);
  int next = 0;
  std::size_t candidate = 0;
  algorithm(elements, [&](std::size_t a, std::size_t b) {
    if (values[a] == undecided && values[b] == undecided) values[a == candidate ? a : b] = next++;
    if (values[a] == undecided) candidate = a;
    if (values[b] == undecided) candidate = b;
    return values[a] < values[b];
  });
  for (int& value : values) value += 3;
  return values;
}

}  // namespace graphgate::optimized::element
