#include "optimized/codegen/join_works.h"

#include <algorithm>

#include "optimized/codegen/epilogue_text.h"
#include "optimized/codegen/side_by_side.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

constexpr std::size_t kMostWorks = 32;     // of a launch: kernels stay small for the compiler
constexpr std::size_t kMostPointers = 64;  // of a launch: parameters have 4 KiB
constexpr std::size_t kFarthest = 64;      // works that one may move over

// Works that run as one kernel, or as one part of it.
struct Part {
  std::optional<PointwiseGroup> group;  // else `text` says what it does
  TextWork text;
  Touched touched;
  std::size_t works = 1;
  std::size_t pointers = 0;  // at most
  bool shares_launches = false;
};

// Parts that do not depend on each other.
struct Side {
  std::vector<std::size_t> parts;
  Touched touched;
  std::size_t works = 0;
  std::size_t pointers = 0;
  bool shares_launches = false;
};

bool is_empty(const DeviceWork& work) {
  const auto* pointwise = std::get_if<PointwiseWork>(&work);
  return pointwise ? pointwise->result.count() == 0 : std::get<TextWork>(work).threads == 0;
}

std::size_t pointers_of(const DeviceWork& work) {
  const auto* pointwise = std::get_if<PointwiseWork>(&work);
  return pointwise ? 1 + pointwise->operands.size() : std::get<TextWork>(work).pointers.size();
}

template <class Limited>
bool has_room(const Limited& limited, std::size_t works, std::size_t pointers) {
  return limited.works + works <= kMostWorks && limited.pointers + pointers <= kMostPointers;
}

Part part_of(const DeviceWork& work) {
  Part part{{}, {}, Touched(work), 1, pointers_of(work), false};
  if (const auto* pointwise = std::get_if<PointwiseWork>(&work)) {
    part.group.emplace(*pointwise);
    part.shares_launches = true;
  } else {
    part.text = std::get<TextWork>(work);
    if (part.text.accesses.empty()) part.text.cells = nullptr;
    part.shares_launches = part.text.shares_launches && !part.text.waits_itself &&
                           part.text.shared_bytes == 0 && !part.text.accesses.empty();
  }
  return part;
}

Touched touched_by(const PointwiseGroup& group) {
  Touched touched(DeviceWork(group.works().front()));
  for (std::size_t w = 1; w < group.size(); ++w) touched.add(Touched(DeviceWork(group.works()[w])));
  for (const auto& cells : group.cells()) touched.add(Touched(cells->accesses()));
  return touched;
}

// First works become parts, one after the other, then parts become the beginnings and ends of
// others, then parts become launches.
class Joining {
 public:
  void add(const DeviceWork& work) {
    if (is_empty(work)) return;
    const auto* pointwise = std::get_if<PointwiseWork>(&work);
    // Threads of a work alone may meet in a byte of its result; what a register has of it may not
    // be what memory keeps.
    if (pointwise == nullptr || may_meet_itself(pointwise->result) || !join(*pointwise)) {
      parts_.push_back(part_of(work));
    }
  }

  [[nodiscard]] DeviceWorks launches() {
    for (std::size_t p = 0; p < parts_.size();) {
      if (!parts_[p].text.norm || !give_norm(p)) ++p;
    }
    for (std::size_t p = 0; p < parts_.size();) {
      if (!parts_[p].text.cells || !give_cells(p)) ++p;
    }
    for (std::size_t p = 0; p < parts_.size();) {
      if (!parts_[p].text.with_epilogue || !take_epilogue(p)) ++p;
    }
    DeviceWorks out;
    for (const Side& side : sides()) out.emplace_back(text_of(side));
    return out;
  }

 private:
  [[nodiscard]] std::size_t farthest(std::size_t size) const {
    return size > kFarthest ? size - kFarthest : 0;
  }

  [[nodiscard]] static bool takes(const Part& part, const PointwiseWork& work) {
    return part.group && has_room(part, 1, pointers_of(work)) &&
           !may_meet_itself(part.group->works().front().result) && part.group->takes(work);
  }

  static void put_into(Part& part, const PointwiseWork& work, const Touched& touched) {
    part.group->add(work);
    part.touched.add(touched);
    ++part.works;
    part.pointers += pointers_of(work);
  }

  // Whether the work has found a group, at best one that makes what it reads.
  bool join(const PointwiseWork& work) {
    const Touched touched(work);
    std::optional<std::size_t> other;
    std::size_t p = parts_.size();
    for (; p-- > farthest(parts_.size());) {
      if (takes(parts_[p], work)) {
        if (!other || parts_[p].group->feeds(work)) other = p;
        if (parts_[p].group->feeds(work)) break;
      }
      if (parts_[p].touched.keeps_order_with(touched)) break;
    }
    if (other) {
      put_into(parts_[*other], work, touched);
      return true;
    }
    return p < parts_.size() && join_later(p, work, touched);
  }

  // The work stays behind part `last`; a group from before that part may come to it.
  bool join_later(std::size_t last, const PointwiseWork& work, const Touched& touched) {
    for (std::size_t p = last; p-- > farthest(parts_.size());) {
      if (!takes(parts_[p], work) || !parts_[p].group->feeds(work)) continue;
      const auto keeps_order = [&](const Part& other) {
        return other.touched.keeps_order_with(parts_[p].touched);
      };
      const auto first = parts_.begin() + static_cast<std::ptrdiff_t>(p);
      if (std::any_of(first + 1, parts_.end(), keeps_order)) continue;
      put_into(parts_[p], work, touched);
      std::rotate(first, first + 1, parts_.end());
      return true;
    }
    return false;
  }

  // The first part that reads what norm p makes may make it itself, where nothing between keeps the
  // norm from coming to it; p is gone then.
  bool give_norm(std::size_t p) {
    for (std::size_t q = p + 1; q < parts_.size() && q - p <= kFarthest; ++q) {
      Part& next = parts_[q];
      if (!next.touched.keeps_order_with(parts_[p].touched)) continue;
      if (!next.text.with_norm || !has_room(next, parts_[p].works, parts_[p].pointers))
        return false;
      auto text = next.text.with_norm(*parts_[p].text.norm);
      if (!text) return false;
      next.text = *std::move(text);
      take(next, p);
      return true;
    }
    return false;
  }

  // The group that makes all that part p writes into cells may write it there, where nothing
  // between keeps p from coming to it; p is gone then.
  bool give_cells(std::size_t p) {
    const Touched& touched = parts_[p].touched;
    for (std::size_t g = p; g-- > farthest(p);) {
      Part& before = parts_[g];
      if (!before.touched.keeps_order_with(touched)) continue;
      if (!before.group || !has_room(before, parts_[p].works, parts_[p].pointers)) return false;
      if (!before.group->takes(*parts_[p].text.cells)) return false;
      before.group->add(parts_[p].text.cells);
      take(before, p);
      return true;
    }
    return false;
  }

  // What depends on part p may go on with what that has, where what stands between and keeps it may
  // come before p.
  bool take_epilogue(std::size_t p) {
    for (std::size_t g = p + 1; g < parts_.size() && g - p <= kFarthest; ++g) {
      Part& part = parts_[p];
      const Part& next = parts_[g];
      if (!next.group && !next.text.cells) continue;
      if (!next.touched.keeps_order_with(part.touched)) continue;
      if (!has_room(part, next.works, next.pointers)) continue;
      if (next.group && may_meet_itself(next.group->works().front().result)) continue;
      const auto between = in_front_of(p, g);
      if (!between) continue;
      auto text = with_behind(part.text, g);
      if (!text) continue;
      part.text = *std::move(text);
      take(part, g);
      const auto place = [&](std::size_t at) {
        return parts_.begin() + static_cast<std::ptrdiff_t>(at);
      };
      for (const std::size_t moved : *between) {
        std::rotate(place(p), place(moved), place(moved + 1));
        ++p;
      }
      return true;
    }
    return false;
  }

  // The parts between p and g that g has to stay behind, where all of them may come before p.
  [[nodiscard]] std::optional<std::vector<std::size_t>> in_front_of(std::size_t p,
                                                                    std::size_t g) const {
    std::vector<std::size_t> moved;
    for (std::size_t between = p + 1; between < g; ++between) {
      const Touched& touched = parts_[between].touched;
      if (!touched.keeps_order_with(parts_[g].touched)) continue;
      for (std::size_t other = p; other < between; ++other) {
        const bool stays = std::ranges::find(moved, other) == moved.end();
        if (stays && parts_[other].touched.keeps_order_with(touched)) return {};
      }
      moved.push_back(between);
    }
    return moved;
  }

  // The text with part g behind it: as a whole, or each of what does not depend on each other in
  // it.
  [[nodiscard]] std::optional<TextWork> with_behind(const TextWork& text, std::size_t g) const {
    const Part& part = parts_[g];
    if (!part.group) return text.with_epilogue({{}, {}, part.text.cells, part.touched});
    std::vector<bool> stored;
    stored.reserve(part.group->size());
    for (std::size_t w = 0; w < part.group->size(); ++w) stored.push_back(is_stored(g, w));
    if (auto whole = text.with_epilogue({part.group, stored, nullptr, part.touched})) return whole;
    std::optional<TextWork> out = text;
    for (const GroupComponent& component : components_of(*part.group)) {
      WorkBehind behind{component.group, {}, nullptr, touched_by(component.group)};
      for (const std::size_t w : component.works) behind.is_stored.push_back(stored[w]);
      out = out->with_epilogue(behind);
      if (!out) break;
    }
    return out;
  }

  // A part is another one's from now on.
  void take(Part& part, std::size_t other) {
    part.touched.add(parts_[other].touched);
    part.works += parts_[other].works;
    part.pointers += parts_[other].pointers;
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(other));
  }

  // A part goes into the first launch that it can come to.
  [[nodiscard]] std::vector<Side> sides() const {
    std::vector<Side> sides;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      Side* place = nullptr;
      for (std::size_t s = sides.size(); part.shares_launches && s-- > farthest(sides.size());) {
        Side& side = sides[s];
        if (side.touched.keeps_order_with(part.touched)) break;
        if (side.shares_launches && has_room(side, part.works, part.pointers)) place = &side;
      }
      if (place == nullptr) {
        sides.push_back({{p}, part.touched, part.works, part.pointers, part.shares_launches});
        continue;
      }
      place->parts.push_back(p);
      place->touched.add(part.touched);
      place->works += part.works;
      place->pointers += part.pointers;
    }
    return sides;
  }

  [[nodiscard]] bool is_stored(std::size_t part, std::size_t work) const {
    const std::vector<PointwiseWork>& works = parts_[part].group->works();
    const Tensor& result = works[work].result;
    if (!works[work].is_inner) return true;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (p != part && parts_[p].touched.may_read(result)) return true;
    }
    return false;
  }

  [[nodiscard]] TextWork text_of(std::size_t part) const {
    if (!parts_[part].group) return parts_[part].text;
    return parts_[part].group->text([&](std::size_t work) { return is_stored(part, work); });
  }

  [[nodiscard]] TextWork text_of(const Side& side) const {
    std::vector<TextWork> texts;
    texts.reserve(side.parts.size());
    for (const std::size_t part : side.parts) texts.push_back(text_of(part));
    return texts.size() == 1 ? std::move(texts.front()) : side_by_side(texts);
  }

  std::vector<Part> parts_;
};

}  // namespace

DeviceWorks join_works(const DeviceWorks& works) {
  Joining joining;
  for (const DeviceWork& work : works) joining.add(work);
  return joining.launches();
}

}  // namespace graphgate::optimized
