#include "optimized/codegen/pointwise_text.h"

#include <algorithm>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

Sizes squeezed(const Sizes& sizes) {
  Sizes out;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
               [](std::int64_t size) { return size != 1; });
  return out;
}

// A tensor at the sizes of a result that it broadcasts to, without dimensions of size 1.
Tensor at_frame(const Tensor& tensor, const Sizes& sizes) {
  Tensor out = broadcast_to(tensor, sizes);
  Sizes kept_sizes;
  Sizes kept_strides;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    kept_sizes.push_back(sizes[d]);
    kept_strides.push_back(out.strides[d]);
  }
  out.sizes = std::move(kept_sizes);
  out.strides = std::move(kept_strides);
  return out;
}

PointwiseWork framed(const PointwiseWork& work) {
  PointwiseWork out = work;
  for (DeviceOperand& operand : out.operands) {
    if (!operand.is_number) operand.tensor = at_frame(operand.tensor, work.result.sizes);
  }
  out.result = at_frame(work.result, work.result.sizes);
  return out;
}

}  // namespace

PointwiseGroup::PointwiseGroup(const PointwiseWork& first) { works_.push_back(framed(first)); }

// The last work that writes bytes of the tensor, if it writes them where the tensor has them; both
// at the frame.
const PointwiseWork* PointwiseGroup::last_at(const Tensor& tensor) const {
  for (auto work = works_.rbegin(); work != works_.rend(); ++work) {
    if (is_same_place(work->result, tensor)) return &*work;
    if (may_share_bytes(work->result, tensor)) return nullptr;
  }
  return nullptr;
}

const PointwiseWork* PointwiseGroup::maker_of(const Tensor& tensor) const {
  const PointwiseWork* last = last_at(tensor);
  return last != nullptr && last->result.dtype == tensor.dtype ? last : nullptr;
}

bool PointwiseGroup::may_write(const Tensor& tensor) const {
  return std::ranges::any_of(
      works_, [&](const PointwiseWork& work) { return may_share_bytes(work.result, tensor); });
}

// The work at the frame, spelled so that it can go on with what the group has.
PointwiseWork PointwiseGroup::fitted(const PointwiseWork& work) const {
  PointwiseWork out = framed(work);
  for (DeviceOperand& operand : out.operands) {
    if (operand.is_number) continue;
    const PointwiseWork* last = last_at(operand.tensor);
    if (last == nullptr || last->result.dtype == operand.tensor.dtype) continue;
    if (is_copy(out)) return copy_of_numbers(std::move(out), last->result.dtype);
    // A copy moves bytes before anything is stored, and they are still there.
    if (!is_copy(*last) || may_write(last->operands.front().tensor)) continue;
    const spec::DType dtype = operand.tensor.dtype;
    operand.tensor = last->operands.front().tensor;
    operand.tensor.dtype = dtype;
  }
  return out;
}

bool PointwiseGroup::takes(const PointwiseWork& work) const {
  if (!cells_.empty() || squeezed(work.result.sizes) != works_.front().result.sizes) return false;
  const PointwiseWork next = fitted(work);
  for (const PointwiseWork& before : works_) {
    if (!is_same_place(before.result, next.result) && may_share_bytes(before.result, next.result)) {
      return false;
    }
    for (const DeviceOperand& operand : before.operands) {
      if (!operand.is_number && !is_same_place(operand.tensor, next.result) &&
          may_share_bytes(operand.tensor, next.result)) {
        return false;
      }
    }
  }
  return std::ranges::all_of(next.operands, [&](const DeviceOperand& operand) {
    return operand.is_number || maker_of(operand.tensor) != nullptr || !may_write(operand.tensor);
  });
}

bool PointwiseGroup::takes(const CellsWrite& cells) const {
  std::vector<Tensor> results;
  results.reserve(works_.size());
  for (const PointwiseWork& work : works_) results.push_back(work.result);
  if (std::ranges::any_of(results, may_meet_itself)) return false;
  const auto stays_apart = [](const DeviceAccess& access, const Tensor& tensor) {
    return !may_share_bytes(access.tensor, tensor);
  };
  for (const DeviceAccess& access : cells.accesses()) {
    for (const PointwiseWork& work : works_) {
      if (!stays_apart(access, work.result)) return false;
      for (const DeviceOperand& operand : work.operands) {
        if (access.is_written && !operand.is_number && !stays_apart(access, operand.tensor)) {
          return false;
        }
      }
    }
    for (const auto& other : cells_) {
      for (const DeviceAccess& known : other->accesses()) {
        if ((access.is_written || known.is_written) && !stays_apart(access, known.tensor)) {
          return false;
        }
      }
    }
  }
  return are_among(cells.source(), results);
}

bool PointwiseGroup::feeds(const PointwiseWork& work) const {
  const PointwiseWork next = framed(work);
  return std::ranges::any_of(next.operands, [&](const DeviceOperand& operand) {
    return !operand.is_number && may_write(operand.tensor);
  });
}

void PointwiseGroup::add(const PointwiseWork& work) { works_.push_back(fitted(work)); }

TextWork PointwiseGroup::text(const std::function<bool(std::size_t)>& is_stored) const {
  return GroupText(works_, cells_, is_stored).text();
}

std::vector<GroupComponent> components_of(const PointwiseGroup& group) {
  const std::vector<PointwiseWork>& works = group.works();
  std::vector<Touched> touched;
  touched.reserve(works.size());
  for (const PointwiseWork& work : works) touched.emplace_back(DeviceWork(work));
  std::vector<std::size_t> first(works.size());  // work of the component
  const auto unite = [&](std::size_t a, std::size_t b) {
    const auto [to, from] = std::minmax(first[a], first[b]);
    std::ranges::replace(first, std::size_t{from}, std::size_t{to});
  };
  for (std::size_t w = 0; w < works.size(); ++w) {
    first[w] = w;
    for (std::size_t before = 0; before < w; ++before) {
      if (touched[w].keeps_order_with(touched[before])) unite(before, w);
    }
  }
  const auto makers_of = [&](const CellsWrite& cells) {
    std::vector<std::size_t> makers;
    for (std::size_t w = 0; w < works.size(); ++w) {
      if (may_share_bytes(works[w].result, cells.source())) makers.push_back(w);
    }
    return makers;
  };
  for (const auto& cells : group.cells()) {
    const std::vector<std::size_t> makers = makers_of(*cells);
    for (const std::size_t w : makers) unite(makers.front(), w);
  }
  std::vector<GroupComponent> out;
  for (std::size_t w = 0; w < works.size(); ++w) {
    const auto known = std::ranges::find_if(out, [&](const GroupComponent& component) {
      return first[component.works.front()] == first[w];
    });
    if (known == out.end()) {
      out.push_back({PointwiseGroup(works[w]), {w}});
    } else {
      known->group.add(works[w]);
      known->works.push_back(w);
    }
  }
  for (const auto& cells : group.cells()) {
    const std::size_t makers = first[makers_of(*cells).front()];
    for (GroupComponent& component : out) {
      if (first[component.works.front()] == makers) component.group.add(cells);
    }
  }
  return out;
}

TextWork pointwise_text(const PointwiseWork& work) {
  return PointwiseGroup(work).text([](std::size_t) { return true; });
}

}  // namespace graphgate::optimized
