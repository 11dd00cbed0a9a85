// Selection algorithms against this machine's standard library, on entries with many ties and NaNs:
// the very permutation, for it decides which of several equal elements an op names.
#include "optimized/kernels/elements/order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "optimized/kernels/elements/order_test.h"
#include "optimized/kernels/elements/stable_order.h"

namespace graphgate::optimized::element {
namespace {

using Entries = std::vector<Entry<float>>;

// Where the entries stood, in their present order.
std::vector<std::int64_t> places(const Entries& entries) {
  std::vector<std::int64_t> out;
  for (const auto& entry : entries) out.push_back(entry.place);
  return out;
}

Entries with_values(const std::vector<int>& values) {
  Entries out;
  for (const float value : test_numbers(values)) out.push_back({value, std::ssize(out)});
  return out;
}

// At most 600 entries of a few values, all alike, or in an order that makes partitions uneven.
Entries drawn_entries() {
  const auto n = *rc::gen::inRange<std::size_t>(1, 600);
  const int kinds = *rc::gen::element(1, 2, 5, 40, 1000);
  std::vector<int> values = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(0, kinds));
  const int order = *rc::gen::inRange(0, 4);
  if (order == 1) std::sort(values.begin(), values.end());
  if (order == 2) std::sort(values.rbegin(), values.rend());
  return with_values(values);
}

template <class Before>
bool sorts_as_std(const Entries& entries, Before before) {
  Entries expected = entries;
  Entries actual = entries;
  std::sort(expected.begin(), expected.end(), before);
  sort_entries(actual.data(), std::ssize(actual), before);
  return places(actual) == places(expected);
}
template <class Before>
bool finds_first_as_std(const Entries& entries, std::int64_t k, Before before) {
  Entries expected = entries;
  Entries actual = entries;
  std::partial_sort(expected.begin(), expected.begin() + k, expected.end(), before);
  sort_first(actual.data(), k, std::ssize(actual), before);
  return places(actual) == places(expected);
}
template <class Before>
bool finds_nth_as_std(const Entries& entries, std::int64_t k, Before before) {
  Entries expected = entries;
  Entries actual = entries;
  std::nth_element(expected.begin(), expected.begin() + k, expected.end(), before);
  select_nth(actual.data(), k, std::ssize(actual), before);
  return places(actual) == places(expected);
}

RC_GTEST_PROP(Order, SortsAsTheStandardLibraryDoes, ()) {
  const Entries entries = drawn_entries();
  RC_ASSERT(sorts_as_std(entries, Ascending()));
  RC_ASSERT(sorts_as_std(entries, Descending()));
}

RC_GTEST_PROP(Order, FindsTheFirstAsTheStandardLibraryDoes, ()) {
  const Entries entries = drawn_entries();
  const auto k = *rc::gen::inRange<std::int64_t>(1, std::ssize(entries) + 1);
  RC_ASSERT(finds_first_as_std(entries, k, Ascending()));
  RC_ASSERT(finds_first_as_std(entries, k, Descending()));
}

RC_GTEST_PROP(Order, FindsTheNthAsTheStandardLibraryDoes, ()) {
  const Entries entries = drawn_entries();
  const auto k = *rc::gen::inRange<std::int64_t>(0, std::ssize(entries));
  RC_ASSERT(finds_nth_as_std(entries, k, Ascending()));
  RC_ASSERT(finds_nth_as_std(entries, k, Descending()));
}

// In a row that parts badly heaps take over.
TEST(Order, TakesHeapsWhereTheStandardLibraryDoes) {
  for (const int n : {40, 200, 1000, 5000}) {
    const Entries bad_to_sort =
        with_values(killer_values(n, [](auto& elements, const auto& before) {
          std::sort(elements.begin(), elements.end(), before);
        }));
    EXPECT_TRUE(sorts_as_std(bad_to_sort, Ascending())) << n;
    for (const int k : {n / 4, n / 2, n - 1}) {
      const Entries bad_to_part =
          with_values(killer_values(n, [k](auto& elements, const auto& before) {
            std::nth_element(elements.begin(), elements.begin() + k, elements.end(), before);
          }));
      EXPECT_TRUE(finds_nth_as_std(bad_to_part, k, Ascending())) << n << ", " << k;
    }
  }
}

RC_GTEST_PROP(Order, QuickSelectPutsTheKthInItsPlace, ()) {
  Entries entries = drawn_entries();
  const auto k = *rc::gen::inRange<std::int64_t>(0, std::ssize(entries));
  Entries sorted = entries;
  std::sort(sorted.begin(), sorted.end(), Ascending());
  quick_select(entries.data(), k, std::ssize(entries));
  const auto at = static_cast<std::size_t>(k);
  RC_ASSERT(!Ascending()(entries[at], sorted[at]) && !Ascending()(sorted[at], entries[at]));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t before = std::min(i, at);
    RC_ASSERT(!Ascending()(entries[std::max(i, at)], entries[before]));
  }
}

// What a device does, each entry by itself.
template <class Before>
Entries merged_by_places(const Entries& entries, Before before) {
  const auto n = std::ssize(entries);
  Entries out(entries.size());
  for (std::int64_t i = 0; i < n; ++i) {
    out[static_cast<std::size_t>(place_in_run(entries.data(), n, i, before))] =
        entries[static_cast<std::size_t>(i)];
  }
  for (std::int64_t run = kRun; run < n; run *= 2) {
    const Entries from = out;
    for (std::int64_t i = 0; i < n; ++i) {
      out[static_cast<std::size_t>(place_in_merged(from.data(), n, i, run, before))] =
          from[static_cast<std::size_t>(i)];
    }
  }
  return out;
}

RC_GTEST_PROP(Order, PlacesOfEntriesAreTheStableOrder, ()) {
  const Entries entries = drawn_entries();
  Entries up = entries;
  std::stable_sort(up.begin(), up.end(), Ascending());
  RC_ASSERT(places(merged_by_places(entries, Ascending())) == places(up));
  Entries down = entries;
  std::stable_sort(down.begin(), down.end(), Descending());
  RC_ASSERT(places(merged_by_places(entries, Descending())) == places(down));
}

// Short rows have one answer alone, which devices take in parallel.
RC_GTEST_PROP(Order, ShortRowsAreSortedInTheStableOrder, ()) {
  Entries entries = drawn_entries();
  entries.resize(std::min<std::size_t>(entries.size(), kInsertion));
  Entries expected = entries;
  std::stable_sort(expected.begin(), expected.end(), Descending());
  Sorted<Descending>()(entries.data(), std::ssize(entries));
  RC_ASSERT(places(entries) == places(expected));
}

RC_GTEST_PROP(Order, MediansAreOfNumbersOrTheFirstNan, ()) {
  Entries entries = drawn_entries();
  const auto is_nan = [](const Entry<float>& entry) { return entry.value != entry.value; };
  const auto first_nan = std::find_if(entries.begin(), entries.end(), is_nan);
  const std::int64_t nan_place = first_nan == entries.end() ? -1 : first_nan->place;
  const auto numbers = std::count_if(entries.begin(), entries.end(), std::not_fn(is_nan));
  std::stable_sort(entries.begin(), entries.end(), Ascending());
  const auto n = std::ssize(entries);
  const std::int64_t middle = std::max<std::int64_t>(numbers - 1, 0) / 2;
  RC_ASSERT(Median<true>()(entries.data(), n) == middle);
  const std::int64_t found = Median<false>()(entries.data(), n);
  if (nan_place < 0) {
    RC_ASSERT(found == middle);
  } else {
    RC_ASSERT(entries[static_cast<std::size_t>(found)].place == nan_place);
  }
}

}  // namespace
}  // namespace graphgate::optimized::element
