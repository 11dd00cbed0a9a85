#include "optimized/device/pointwise_text.h"

#include <algorithm>

#include "optimized/device/copy_work.h"
#include "optimized/device/kernels.h"
#include "optimized/device/large_gpu.h"
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
    if (work.function.empty()) continue;
    const std::size_t scope = work.function.rfind(kScope);
    const std::size_t begin = scope == std::string::npos ? 0 : scope + kScope.size();
    const std::size_t end =
        std::min(work.function.find_first_of("<>{(", begin), work.function.size());
    words += (words.empty() ? "" : " ") + work.function.substr(begin, end - begin);
  }
  return words;
}

// What a kernel has before the group's own works begin has no function.
bool is_given(const PointwiseWork& work) { return work.function.empty(); }

// A tensor that memory is touched for, at its sizes.
struct Touch {
  Tensor tensor;
  bool is_read = false;
  bool is_written = false;
  std::string place;  // where the thread's first element is: "p0 + x0 * 4"
  // Of several neighbours, element e lies in a word of the thread's own: "r0.at(e)" where it is
  // read, "w0.at(e)" where it is written.
  bool has_word = false;
};

// The elements that a word holds lie next to each other, `bytes` of them together, and so do those
// of all other words.
bool is_at_multiples(const Tensor& tensor, std::span<const std::int64_t> strides_bytes,
                     std::int64_t bytes) {
  constexpr std::int64_t kMostBytes = 16;
  const auto is_multiple = [bytes](std::int64_t x) { return x % bytes == 0; };
  return bytes <= kMostBytes &&
         is_multiple(reinterpret_cast<std::intptr_t>(tensor.data())) &&  // NOLINT: a number
         std::all_of(strides_bytes.begin(), strides_bytes.end(), is_multiple);
}

// What a group's works say together.
class GroupText {
 public:
  GroupText(const std::vector<PointwiseWork>& works,
            const std::function<bool(std::size_t)>& is_stored)
      : works_(works) {
    // First all results that are stored, so that the walk follows the first one's strides.
    stores_.resize(works.size());
    for (std::size_t w = 0; w < works.size(); ++w) {
      if (is_stored(w)) stores_[w] = place(works[w].result);
      if (stores_[w]) touches_[*stores_[w]].is_written = true;
    }
    for (std::size_t w = 0; w < works.size(); ++w) {
      std::vector<Read>& reads = reads_.emplace_back();
      for (const DeviceOperand& operand : works[w].operands) {
        Read& read = reads.emplace_back();
        if (operand.is_number) continue;
        read.maker = maker_before(w, operand.tensor);
        if (read.maker) continue;
        read.place = place(operand.tensor);
        touches_[read.place].is_read = true;
      }
    }
  }

  // Thread by thread.
  [[nodiscard]] TextWork text() {
    std::vector<const Tensor*> walked;
    walked.reserve(touches_.size());
    for (const Touch& touch : touches_) walked.push_back(&touch.tensor);
    Walk walk = walk_of(works_.front().result.sizes, walked, false);
    const std::int64_t neighbours = take_neighbours(walk);
    for (std::size_t t = 0; t < touches_.size(); ++t) {
      touches_[t].place = "p" + std::to_string(t) + " + " + offset_text(walk.strides[t], "x");
    }
    TextWork out;
    out.what = words_of(works_);
    out.shares_launches = true;
    out.accesses = accesses();
    out.pointers = pointers();
    out.threads = walk.count();
    for (const PointwiseWork& work : works_) out.reports_faults |= work.reports_faults;
    out.statements = "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
                     coordinates_text(walk.sizes, "thread", "x") +
                     (neighbours > 1 ? loop_text(std::to_string(neighbours)) : element_text());
    return out;
  }

  // For a kernel that has the elements of the first `given` works, which are [rows, columns].
  [[nodiscard]] PointwiseEpilogue epilogue(std::size_t given, std::int64_t rows,
                                           std::int64_t columns) {
    PointwiseEpilogue out;
    out.width = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
    for (std::size_t t = 0; t < touches_.size(); ++t) {
      Touch& touch = touches_[t];
      const std::int64_t item = touch.tensor.item_bytes();
      const std::int64_t pitch = rows == 1 ? 0 : touch.tensor.strides.front() * item;
      const std::int64_t step = columns == 1 ? item : touch.tensor.strides.back() * item;
      touch.place = "p" + std::to_string(t) + " + row * " + std::to_string(pitch) + " + column * " +
                    std::to_string(step);
      touch.has_word = step == item;
      if (step == 0) continue;
      const auto lets = [&](std::int64_t width) {
        return touch.has_word && is_at_multiples(touch.tensor, std::span(&pitch, 1), item * width);
      };
      while (out.width > 1 && !lets(out.width)) out.width /= 2;
    }
    out.what = words_of(works_);
    out.accesses = accesses();
    out.pointers = pointers();
    out.function = "[&]<int kCount>(long row, long column, const float (&given)[" +
                   std::to_string(given) + "][kCount]) {\n" + loop_text("kCount") + "  }";
    return out;
  }

 private:
  struct Read {
    std::size_t place = 0;
    std::optional<std::size_t> maker;  // the work whose value it is, and no memory is read
  };

  [[nodiscard]] std::size_t place(const Tensor& tensor) {
    for (std::size_t t = 0; t < touches_.size(); ++t) {
      if (is_same_place(touches_[t].tensor, tensor)) return t;
    }
    touches_.emplace_back().tensor = tensor;
    return touches_.size() - 1;
  }

  [[nodiscard]] std::optional<std::size_t> maker_before(std::size_t w, const Tensor& tensor) const {
    for (std::size_t m = w; m-- > 0;) {
      const Tensor& made = works_[m].result;
      if (is_same_place(made, tensor) && made.dtype == tensor.dtype) return m;
    }
    return {};
  }

  // A thread takes 4 or 2 neighbouring elements where all tensors let it and enough threads are
  // left to keep a large GPU busy: two blocks on each multiprocessor. The walk becomes that of the
  // first ones.
  [[nodiscard]] std::int64_t take_neighbours(Walk& walk) {
    constexpr std::int64_t kLeastThreads = 2 * kMultiprocessors * kDeviceBlock;
    for (const std::int64_t count : {4, 2}) {
      if (walk.sizes.empty() || walk.sizes.back() % count != 0) continue;
      bool all_let = walk.count() / count >= kLeastThreads;
      for (std::size_t t = 0; t < touches_.size() && all_let; ++t) {
        const std::span<const std::int64_t> strides = walk.strides[t];
        const std::int64_t item = touches_[t].tensor.item_bytes();
        all_let = strides.back() == 0
                      ? !touches_[t].is_written
                      : strides.back() == item &&
                            is_at_multiples(touches_[t].tensor, strides.first(strides.size() - 1),
                                            item * count);
      }
      if (!all_let) continue;
      walk.sizes.back() /= count;
      for (std::size_t t = 0; t < touches_.size(); ++t) {
        touches_[t].has_word = walk.strides[t].back() != 0;
        walk.strides[t].back() *= count;
      }
      return count;
    }
    return 1;
  }

  [[nodiscard]] std::vector<DeviceAccess> accesses() const {
    std::vector<DeviceAccess> out;
    for (const Touch& touch : touches_) {
      if (touch.is_written) out.push_back({touch.tensor, true});
      if (touch.is_read) out.push_back({touch.tensor, false});
    }
    return out;
  }
  [[nodiscard]] std::vector<std::byte*> pointers() const {
    std::vector<std::byte*> out;
    out.reserve(touches_.size());
    for (const Touch& touch : touches_) out.push_back(touch.tensor.data());
    return out;
  }

  [[nodiscard]] std::string address(const char* prefix, std::size_t t) const {
    return touches_[t].has_word ? prefix + std::to_string(t) + ".at(e)" : touches_[t].place;
  }

  // Words, and what is read and given of them; neighbour by neighbour; what is written.
  [[nodiscard]] std::string loop_text(const std::string& count) const {
    std::string before;
    std::string after;
    for (std::size_t t = 0; t < touches_.size(); ++t) {
      const Touch& touch = touches_[t];
      if (!touch.has_word) continue;
      const std::string number = std::to_string(t);
      const std::string type =
          joined({"  device::Word<", std::to_string(touch.tensor.item_bytes()), ", ", count, "> "});
      if (touch.is_read) {
        before += joined({type, "r", number, ";\n  r", number, ".load(", touch.place, ");\n"});
      }
      if (touch.is_written) {
        before += joined({type, "w", number, ";\n"});
        after += joined({"  w", number, ".store(", touch.place, ");\n"});
      }
    }
    bool all_are_given = true;
    for (std::size_t w = 0; w < works_.size(); ++w) {
      all_are_given &= is_given(works_[w]);
      if (!is_given(works_[w])) continue;
      before += joined({"  device::pack<", format_name(works_[w].result.dtype), ">(w",
                        std::to_string(*stores_[w]), ", given[", std::to_string(w), "]);\n"});
    }
    if (all_are_given) return before + after;
    return before + "#pragma unroll\n  for (int e = 0; e < " + count + "; ++e) {\n" +
           element_text() + "  }\n" + after;
  }

  [[nodiscard]] std::string element_text() const {
    std::string text;
    for (std::size_t w = 0; w < works_.size(); ++w) text += value_text(w);
    for (std::size_t w = 0; w < works_.size(); ++w) {
      if (!stores_[w] || is_given(works_[w])) continue;
      text += joined({"  device::store<", format_name(works_[w].result.dtype), ">(",
                      address("w", *stores_[w]), ", v", std::to_string(w), ");\n"});
    }
    return text;
  }

  // "v0", what a work gives for an element.
  [[nodiscard]] std::string value_text(std::size_t w) const {
    const PointwiseWork& work = works_[w];
    const std::string value = "  const auto v" + std::to_string(w) + " = ";
    if (is_given(work)) {
      const spec::DType dtype = work.result.dtype;
      return value + load_text(dtype, dtype, dtype, address("w", *stores_[w])) + ";\n";
    }
    std::string text;
    std::string arguments;
    for (std::size_t k = 0; k < work.operands.size(); ++k) {
      const DeviceOperand& operand = work.operands[k];
      const Read& read = reads_[w][k];
      std::string argument;
      if (operand.is_number) {
        argument = number_text(work.compute, operand.number);
      } else if (read.maker) {
        argument = cast_text(works_[*read.maker].result.dtype, operand.as, work.compute,
                             "v" + std::to_string(*read.maker));
      } else {
        argument =
            load_text(operand.tensor.dtype, operand.as, work.compute, address("r", read.place));
      }
      const std::string name = "a" + std::to_string(w) + "_" + std::to_string(k);
      text += joined({"  const ", compute_name(work.compute), " ", name, " = ", argument, ";\n"});
      arguments += (k == 0 ? "" : ", ") + name;
    }
    return text + value +
           rounded_text(work.rounds_to, work.result.dtype,
                        "device::widened(" + work.function + "(" + arguments + "))") +
           ";\n";
  }

  const std::vector<PointwiseWork>& works_;
  std::vector<Touch> touches_;
  std::vector<std::optional<std::size_t>> stores_;  // per work
  std::vector<std::vector<Read>> reads_;            // per work and operand
};

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
  return GroupText(works_, is_stored).text();
}

std::optional<PointwiseEpilogue> epilogue_of(std::span<const Tensor> given,
                                             const PointwiseGroup* behind,
                                             const std::function<bool(std::size_t)>& is_stored) {
  const auto work_of = [](const Tensor& tensor) {
    return PointwiseWork{tensor, tensor.dtype, tensor.dtype, "", {}};
  };
  PointwiseGroup all(work_of(given.front()));
  for (const Tensor& tensor : given.subspan(1)) all.add(work_of(tensor));
  if (behind != nullptr) {
    for (const PointwiseWork& work : behind->works()) {
      if (!all.takes(work) || work.reports_faults) return {};
      all.add(work);
    }
  }
  const std::size_t count = given.size();
  return GroupText(all.works(), [&](std::size_t w) { return w < count || is_stored(w - count); })
      .epilogue(count, given.front().size(0), given.front().size(1));
}

TextWork pointwise_text(const PointwiseWork& work) {
  return PointwiseGroup(work).text([](std::size_t) { return true; });
}

}  // namespace graphgate::optimized
