#include "optimized/device/pointwise_text.h"

#include <algorithm>

#include "optimized/device/copy_work.h"
#include "optimized/device/spelling.h"
#include "optimized/device/touched.h"

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

// Both at the frame: the same bytes for the same position.
bool is_same_place(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.strides == b.strides && a.item_bytes() == b.item_bytes();
}

PointwiseWork framed(const PointwiseWork& work) {
  PointwiseWork out = work;
  for (DeviceOperand& operand : out.operands) {
    if (!operand.is_number) operand.tensor = at_frame(operand.tensor, work.result.sizes);
  }
  out.result = at_frame(work.result, work.result.sizes);
  return out;
}

// "Multiply Subtract": what the callables are called.
std::string words_of(const std::vector<PointwiseWork>& works) {
  constexpr std::string_view kScope = "element::";
  std::string words;
  for (const PointwiseWork& work : works) {
    const std::size_t scope = work.function.rfind(kScope);
    const std::size_t begin = scope == std::string::npos ? 0 : scope + kScope.size();
    const std::size_t end =
        std::min(work.function.find_first_of("<{(", begin), work.function.size());
    words += (words.empty() ? "" : " ") + work.function.substr(begin, end - begin);
  }
  return words;
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
  return std::any_of(works_.begin(), works_.end(), [&](const PointwiseWork& work) {
    return may_share_bytes(work.result, tensor);
  });
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
  if (squeezed(work.result.sizes) != works_.front().result.sizes) return false;
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
  return std::all_of(next.operands.begin(), next.operands.end(), [&](const DeviceOperand& operand) {
    return operand.is_number || maker_of(operand.tensor) != nullptr || !may_write(operand.tensor);
  });
}

bool PointwiseGroup::feeds(const PointwiseWork& work) const {
  const PointwiseWork next = framed(work);
  return std::any_of(next.operands.begin(), next.operands.end(), [&](const DeviceOperand& operand) {
    return !operand.is_number && may_write(operand.tensor);
  });
}

void PointwiseGroup::add(const PointwiseWork& work) { works_.push_back(fitted(work)); }

TextWork PointwiseGroup::text(const std::function<bool(std::size_t)>& is_stored) const {
  // The tensors that memory is touched for, each once.
  std::vector<Tensor> tensors;
  const auto place = [&](const Tensor& tensor) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& other) {
      return is_same_place(other, tensor);
    });
    if (found != tensors.end()) return static_cast<std::size_t>(found - tensors.begin());
    tensors.push_back(tensor);
    return tensors.size() - 1;
  };
  // First all results that are stored, so that the walk follows the first one's strides.
  std::vector<std::optional<std::size_t>> stores(works_.size());
  for (std::size_t w = 0; w < works_.size(); ++w) {
    if (is_stored(w)) stores[w] = place(works_[w].result);
  }
  struct Read {
    std::size_t place = 0;
    const PointwiseWork* maker = nullptr;
  };
  std::vector<std::vector<Read>> reads(works_.size());
  for (std::size_t w = 0; w < works_.size(); ++w) {
    for (const DeviceOperand& operand : works_[w].operands) {
      Read read;
      if (!operand.is_number) {
        for (std::size_t m = w; m-- > 0 && read.maker == nullptr;) {
          const Tensor& made = works_[m].result;
          if (is_same_place(made, operand.tensor) && made.dtype == operand.tensor.dtype) {
            read.maker = &works_[m];
          }
        }
        if (read.maker == nullptr) read.place = place(operand.tensor);
      }
      reads[w].push_back(read);
    }
  }
  std::vector<const Tensor*> walked;
  walked.reserve(tensors.size());
  for (const Tensor& tensor : tensors) walked.push_back(&tensor);
  const Walk walk = walk_of(works_.front().result.sizes, walked, false);

  TextWork out;
  out.what = words_of(works_);
  out.shares_launches = true;
  for (std::size_t w = 0; w < works_.size(); ++w) {
    if (stores[w]) out.accesses.push_back({works_[w].result, true});
    for (std::size_t k = 0; k < reads[w].size(); ++k) {
      const DeviceOperand& operand = works_[w].operands[k];
      if (!operand.is_number && reads[w][k].maker == nullptr) {
        out.accesses.push_back({operand.tensor, false});
      }
    }
  }
  out.threads = walk.count();
  for (const Tensor& tensor : tensors) out.pointers.push_back(tensor.data());
  std::string& text = out.statements;
  text = "  if (thread >= " + std::to_string(out.threads) + ") return;\n";
  text += coordinates_text(walk.sizes, "thread", "x");
  const auto address = [&](std::size_t t) {
    return "p" + std::to_string(t) + " + " + offset_text(walk.strides[t], "x");
  };
  for (std::size_t w = 0; w < works_.size(); ++w) {
    const PointwiseWork& work = works_[w];
    std::string arguments;
    for (std::size_t k = 0; k < work.operands.size(); ++k) {
      const DeviceOperand& operand = work.operands[k];
      std::string value;
      if (operand.is_number) {
        value = number_text(work.compute, operand.number);
      } else if (const PointwiseWork* maker = reads[w][k].maker) {
        value = cast_text(maker->result.dtype, operand.as, work.compute,
                          "v" + std::to_string(maker - works_.data()));
      } else {
        value =
            load_text(operand.tensor.dtype, operand.as, work.compute, address(reads[w][k].place));
      }
      const std::string name = "a" + std::to_string(w) + "_" + std::to_string(k);
      text += joined({"  const ", compute_name(work.compute), " ", name, " = ", value, ";\n"});
      arguments += (k == 0 ? "" : ", ") + name;
    }
    text += "  const auto v" + std::to_string(w) + " = " +
            rounded_text(work.rounds_to, work.result.dtype,
                         "device::widened(" + work.function + "(" + arguments + "))") +
            ";\n";
  }
  for (std::size_t w = 0; w < works_.size(); ++w) {
    if (!stores[w]) continue;
    text += "  device::store<" + format_name(works_[w].result.dtype) + ">(" + address(*stores[w]) +
            ", v" + std::to_string(w) + ");\n";
  }
  return out;
}

TextWork pointwise_text(const PointwiseWork& work) {
  return PointwiseGroup(work).text([](std::size_t) { return true; });
}

}  // namespace graphgate::optimized
