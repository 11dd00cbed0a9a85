#include "fuzz/generate/alphabet.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <set>
#include <string>

namespace graphgate::fuzz {
namespace {

struct TraitRow {
  std::string_view name;
  std::uint32_t percent = 0;
  int since = 0;  // the first generator that draws it
};
constexpr std::array<TraitRow, kTraitCount> kTraits = {{
    {"symbolic-sizes", 45},   {"second-symbol", 20},
    {"accelerator", 15},      {"several-programs", 18},
    {"mixed-dtypes", 40},     {"buffer", 55},
    {"split-ops", 68},        {"cuts", 42},
    {"memory", 45},           {"streams", 25},
    {"padding", 45},          {"modes", 15},
    {"passes", 10},           {"cache", 6},
    {"weak-outputs", 12},     {"poison", 15},
    {"held-outputs", 30},     {"feed-back", 35},
    {"swapped-weights", 20},  {"shared-inputs", 15},
    {"exact-data", 20},       {"special-data", 8},
    {"call-modes", 15},       {"empty-sizes", 5},
    {"static-inputs", 20, 4}, {"rare-options", 20, 5},
    {"wrapper", 15, 10},      {"dispatch", 10, 10},
    {"moved-inputs", 20, 11}, {"sleep", 12, 12},
}};

// Calls `visit(name, number)` for "name" and "name=7" between commas.
Result<void> for_each_word(
    std::string_view text, std::string_view flag,
    const std::function<Result<void>(std::string_view, std::optional<std::uint32_t>)>& visit) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    std::optional<std::uint32_t> number;
    if (const std::size_t equal = word.find('='); equal != std::string_view::npos) {
      const std::string_view digits = word.substr(equal + 1);
      std::uint32_t value = 0;
      const auto [stop, code] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (code != std::errc() || stop != digits.data() + digits.size() || value > 1'000'000) {
        return bad_input(std::string(flag) + ": expected NAME=WEIGHT, found '" + std::string(word) +
                         "'");
      }
      number = value;
      word = word.substr(0, equal);
    }
    GRAPHGATE_TRY_VOID(visit(word, number));
  }
  return {};
}

bool is_named(const Alphabet::Row& row, std::string_view name) {
  return row.op->name == name || families()[row.family].name == name;
}

std::optional<Trait> find_trait(std::string_view name, int generator) {
  for (std::size_t t = 0; t < kTraits.size(); ++t) {
    if (kTraits[t].name == name && kTraits[t].since <= generator) return static_cast<Trait>(t);
  }
  return std::nullopt;
}

// Whether the ops that are taken have this one ("aten.add_.Tensor"), or an overload of it
// ("aten.add"). What it writes in place is not told apart.
bool takes(const std::set<std::string, std::less<>>& taken, std::string_view op) {
  const std::size_t space = op.find('.');
  const std::size_t end = std::min(op.find('.', space + 1), op.size());
  std::string name(op.substr(0, end));
  if (name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  name += op.substr(end);
  if (taken.contains(name)) return true;
  const auto next = taken.lower_bound(name + ".");
  return next != taken.end() && next->starts_with(name + ".");
}

// Whether they have all that the row makes. One that names no op is a way to use others.
bool takes(const std::set<std::string, std::less<>>& taken, const DrawnOp& op) {
  if (!op.wraps.empty()) {
    return takes(taken, "higher_order.auto_functionalized_v2") && takes(taken, op.wraps);
  }
  if (op.makes.empty()) return op.name.find('.') == std::string_view::npos || takes(taken, op.name);
  return std::ranges::all_of(std::views::split(op.makes, ' '), [&](const auto& word) {
    return takes(taken, std::string_view(word.begin(), word.end()));
  });
}

Error unknown(std::string_view flag, std::string_view name) {
  return bad_input(std::string(flag) + ": no op, family or trait is called '" + std::string(name) +
                   "' (graphgate fuzz --list-ops lists them)");
}

}  // namespace

std::string_view trait_name(Trait trait) { return kTraits[static_cast<std::size_t>(trait)].name; }

Alphabet::Alphabet(int generator) {
  std::uint32_t end = 0;
  for (std::size_t f = 0; f < families().size(); ++f) {
    for (const DrawnOp& op : families()[f].ops()) {
      if (op.since > generator) continue;
      rows_.push_back({&op, static_cast<std::uint16_t>(f), op.weight});
      ends_.push_back(end += op.weight);
    }
  }
  for (std::size_t t = 0; t < kTraitCount; ++t) {
    chances_[t] = kTraits[t].since > generator ? 0 : kTraits[t].percent;
  }
}

void Alphabet::set_weight(std::size_t row, std::uint32_t weight) {
  rows_[row].weight = weight;
  std::uint32_t end = row == 0 ? 0 : ends_[row - 1];
  for (std::size_t r = row; r < rows_.size(); ++r) ends_[r] = end += rows_[r].weight;
}

const Alphabet::Row& Alphabet::draw(std::uint32_t gene) const {
  if (ends_.back() == 0) return rows_.front();
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), gene % ends_.back());
  return rows_[static_cast<std::size_t>(found - ends_.begin())];
}

std::string not_drawn_for(const SubjectLimits& limits) {
  std::string names;
  const auto add = [&names](std::string_view name) {
    names.append(names.empty() ? "" : ",").append(name);
  };
  if (limits.devices.size() == 1) add(trait_name(Trait::kAccelerator));
  const std::set<std::string, std::less<>> taken(limits.ops.begin(), limits.ops.end());
  for (const Family& family : families()) {
    std::vector<std::string_view> refused;
    for (const DrawnOp& op : family.ops()) {
      const std::string_view space = op.wraps.substr(0, op.wraps.find('.'));
      const auto& spaces = limits.not_wrapped;
      const bool is_wrapped =
          !op.wraps.empty() && std::find(spaces.begin(), spaces.end(), space) != spaces.end();
      if (is_wrapped || !(taken.empty() || takes(taken, op))) refused.push_back(op.name);
    }
    // One name for all of a family, since an id is followed by these; a trait may be called so,
    // too.
    const bool is_whole = refused.size() == family.ops().size() && refused.size() > 1;
    if (is_whole && !find_trait(family.name, kGeneratorVersion)) refused.assign({family.name});
    for (const std::string_view name : refused) add(name);
  }
  return names;
}

Result<Alphabet> parse_alphabet(std::string_view ops, std::string_view exclude, int generator) {
  Alphabet alphabet(generator);
  bool names_ops = false;
  std::vector<std::uint32_t> weights(alphabet.rows().size(), 0);
  GRAPHGATE_TRY_VOID(for_each_word(
      ops, "--ops",
      [&](std::string_view name, std::optional<std::uint32_t> number) -> Result<void> {
        if (const auto trait = find_trait(name, generator)) {
          alphabet.set_chance(*trait, std::min<std::uint32_t>(number.value_or(100), 100));
          return {};
        }
        bool found = false;
        for (std::size_t r = 0; r < weights.size(); ++r) {
          const Alphabet::Row& row = alphabet.rows()[r];
          if (!is_named(row, name)) continue;
          weights[r] = number.value_or(row.weight);
          found = names_ops = true;
        }
        if (!found) return unknown("--ops", name);
        return {};
      }));
  for (std::size_t r = 0; names_ops && r < weights.size(); ++r) alphabet.set_weight(r, weights[r]);
  GRAPHGATE_TRY_VOID(
      for_each_word(exclude, "--exclude",
                    [&](std::string_view name, std::optional<std::uint32_t>) -> Result<void> {
                      if (const auto trait = find_trait(name, generator)) {
                        alphabet.set_chance(*trait, 0);
                        return {};
                      }
                      bool found = false;
                      for (std::size_t r = 0; r < weights.size(); ++r) {
                        if (!is_named(alphabet.rows()[r], name)) continue;
                        alphabet.set_weight(r, 0);
                        found = true;
                      }
                      if (!found) return unknown("--exclude", name);
                      return {};
                    }));
  return alphabet;
}

}  // namespace graphgate::fuzz
