// Matching lists item by item, for every part of the diff.
#include <algorithm>
#include <unordered_map>

#include "spec/plan_diff.h"

namespace graphgate::spec {
namespace {

constexpr std::size_t kShownItems = 4;

}  // namespace

ItemMatch match_items(const std::vector<std::string>& before,
                      const std::vector<std::string>& after) {
  ItemMatch match;
  match.to_after.resize(before.size());
  match.to_before.resize(after.size());
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;
  for (std::size_t i = after.size(); i-- > 0;) places[after[i]].push_back(i);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto found = places.find(before[i]);
    if (found == places.end() || found->second.empty()) continue;
    match.to_after[i] = found->second.back();
    match.to_before[found->second.back()] = i;
    found->second.pop_back();
  }
  return match;
}

// The items outside a longest increasing run, found by patience sorting.
std::vector<std::size_t> moved_items(const ItemMatch& match) {
  std::vector<std::size_t> tails;  // items that end the best run of each length
  std::vector<std::optional<std::size_t>> previous(match.to_after.size());
  for (std::size_t i = 0; i < match.to_after.size(); ++i) {
    if (!match.to_after[i]) continue;
    const auto place = std::partition_point(tails.begin(), tails.end(), [&](std::size_t tail) {
      return *match.to_after[tail] < *match.to_after[i];
    });
    if (place != tails.begin()) previous[i] = *std::prev(place);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<bool> stays(match.to_after.size(), false);
  std::optional<std::size_t> item;
  if (!tails.empty()) item = tails.back();
  for (; item; item = previous[*item]) stays[*item] = true;
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (match.to_after[i] && !stays[i]) moved.push_back(i);
  }
  return moved;
}

std::string print_some(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kShownItems); ++i) {
    text += (text.empty() ? "" : ", ") + items[i];
  }
  if (items.size() <= kShownItems) return text;
  return text + " and " + std::to_string(items.size() - kShownItems) + " more";
}

}  // namespace graphgate::spec
