#include "optimized/codegen/group_text.h"

#include <algorithm>

#include "optimized/codegen/kernels.h"
#include "optimized/codegen/large_gpu.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

// "Multiply Subtract": what the callables are called.
std::string words_of(std::span<const PointwiseWork> works) {
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

// The elements that a word holds lie next to each other, `bytes` of them together, and so do those
// of all other words.
bool is_at_multiples(const Tensor& tensor, std::span<const std::int64_t> strides_bytes,
                     std::int64_t bytes) {
  constexpr std::int64_t kMostBytes = 16;
  const auto is_multiple = [bytes](std::int64_t x) { return x % bytes == 0; };
  return bytes <= kMostBytes &&
         is_multiple(reinterpret_cast<std::intptr_t>(tensor.data())) &&  // NOLINT: a number
         std::ranges::all_of(strides_bytes, is_multiple);
}

}  // namespace

bool is_same_place(const Tensor& a, const Tensor& b) {
  return a.data() == b.data() && a.strides == b.strides && a.item_bytes() == b.item_bytes();
}

GroupText::GroupText(std::span<const PointwiseWork> works,
                     std::span<const std::shared_ptr<const CellsWrite>> cells,
                     const std::function<bool(std::size_t)>& is_stored)
    : works_(works), cells_(cells) {
  // First all results that are stored, so that the walk follows the first one's strides.
  stores_.resize(works.size());
  for (std::size_t w = 0; w < works.size(); ++w) {
    if (is_given(works[w])) continue;
    const bool is_fed =
        std::ranges::any_of(cells, [&](const auto& write) { return feeds(w, *write); });
    if (is_fed || is_stored(w)) stores_[w] = place(works[w].result);
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

TextWork GroupText::text() {
  std::vector<const Tensor*> walked;
  walked.reserve(touches_.size());
  for (const Touch& touch : touches_) walked.push_back(&touch.tensor);
  Walk walk = walk_of(works_.front().result.sizes, walked, false);
  const std::int64_t neighbours = take_neighbours(walk);
  for (std::size_t t = 0; t < touches_.size(); ++t) {
    touches_[t].offset = offset_text(walk.strides[t], "x");
  }
  name_pointers(0);
  TextWork out{.pointers = pointers(),
               .threads = walk.count(),
               .reports_faults = reports_faults(),
               .what = what(),
               .accesses = accesses(),
               .shares_launches = true};
  out.statements =
      "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
      coordinates_text(walk.sizes, "thread", "x") +
      (neighbours > 1 ? loop_text(std::to_string(neighbours), neighbours) : element_text(1));
  return out;
}

std::int64_t neighbours_of(const Tensor& tensor, std::int64_t most) {
  if (tensor.sizes.empty()) return 1;
  while (most > 1 && tensor.sizes.back() % most != 0) most /= 2;
  if (tensor.strides.back() == 0) return most;
  if (tensor.strides.back() != 1) return 1;
  Sizes strides;
  for (std::size_t d = 0; d + 1 < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] != 1) strides.push_back(tensor.strides[d] * tensor.item_bytes());
  }
  while (most > 1 && !is_at_multiples(tensor, strides, tensor.item_bytes() * most)) most /= 2;
  return most;
}

std::int64_t GroupText::most_neighbours(std::int64_t most) const {
  for (const Touch& touch : touches_) most = neighbours_of(touch.tensor, most);
  return most;
}

GroupPiece GroupText::piece(std::span<const std::string> coordinates, const std::string& count,
                            std::int64_t most, std::size_t first_pointer) {
  for (Touch& touch : touches_) {
    const std::int64_t item = touch.tensor.item_bytes();
    GRAPHGATE_CHECK(touch.tensor.strides.size() == coordinates.size());
    touch.offset.clear();
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      const std::int64_t stride = touch.tensor.strides[d] * item;
      if (stride == 0) continue;
      touch.offset += joined(
          {touch.offset.empty() ? "" : " + ", coordinates[d], " * ", std::to_string(stride)});
    }
    if (touch.offset.empty()) touch.offset = "0";
    touch.has_word = !coordinates.empty() && touch.tensor.strides.back() == 1;
  }
  name_pointers(first_pointer);
  return {loop_text(count, most), pointers(), accesses(), what(), reports_faults()};
}

std::size_t GroupText::place(const Tensor& tensor) {
  for (std::size_t t = 0; t < touches_.size(); ++t) {
    if (is_same_place(touches_[t].tensor, tensor)) return t;
  }
  touches_.emplace_back().tensor = tensor;
  return touches_.size() - 1;
}

std::optional<std::size_t> GroupText::maker_before(std::size_t w, const Tensor& tensor) const {
  for (std::size_t m = w; m-- > 0;) {
    const Tensor& made = works_[m].result;
    if (is_same_place(made, tensor) && made.dtype == tensor.dtype) return m;
  }
  return {};
}

// Whether the work is the last one to make some of the elements that are written into cells.
bool GroupText::feeds(std::size_t w, const CellsWrite& cells) const {
  const Tensor& result = works_[w].result;
  return may_share_bytes(result, cells.source()) &&
         std::none_of(
             works_.begin() + static_cast<std::ptrdiff_t>(w) + 1, works_.end(),
             [&](const PointwiseWork& later) { return is_same_place(later.result, result); });
}

// A thread takes 4 or 2 neighbouring elements where all tensors let it and enough threads are
// left to keep a large GPU busy: two blocks on each multiprocessor. The walk becomes that of the
// first ones.
std::int64_t GroupText::take_neighbours(Walk& walk) {
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

void GroupText::name_pointers(std::size_t first) {
  for (std::size_t t = 0; t < touches_.size(); ++t) {
    touches_[t].place = "p" + std::to_string(first + t) + " + " + touches_[t].offset;
  }
  cell_pointers_.clear();
  std::size_t next = first + touches_.size();
  for (const auto& write : cells_) {
    cell_pointers_.push_back(next);
    next += write->accesses().size();
  }
}

std::vector<DeviceAccess> GroupText::accesses() const {
  std::vector<DeviceAccess> out;
  for (const Touch& touch : touches_) {
    if (touch.is_written) out.push_back({touch.tensor, true});
    if (touch.is_read) out.push_back({touch.tensor, false});
  }
  for (const auto& write : cells_) {
    for (DeviceAccess& access : write->accesses()) out.push_back(std::move(access));
  }
  return out;
}

std::vector<std::byte*> GroupText::pointers() const {
  std::vector<std::byte*> out;
  out.reserve(touches_.size());
  for (const Touch& touch : touches_) out.push_back(touch.tensor.data());
  for (const auto& write : cells_) {
    for (const DeviceAccess& access : write->accesses()) out.push_back(access.tensor.data());
  }
  return out;
}

std::string GroupText::what() const {
  std::string words = words_of(works_);
  for (std::size_t c = 0; c < cells_.size(); ++c)
    words += (words.empty() ? "" : ", ") + std::string("cells written");
  return words;
}

bool GroupText::reports_faults() const {
  return !cells_.empty() ||
         std::ranges::any_of(works_, [](const PointwiseWork& work) { return work.reports_faults; });
}

std::string GroupText::address(const char* prefix, std::size_t t) const {
  return touches_[t].has_word ? prefix + std::to_string(t) + ".at(e)" : touches_[t].place;
}

// Words, and what is read of them; neighbour by neighbour; what is written.
std::string GroupText::loop_text(const std::string& count, std::int64_t most) const {
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
  for (std::size_t w = 0; w < works_.size(); ++w) after += cells_text(w, most, true);
  return before + "#pragma unroll\n  for (int e = 0; e < " + count + "; ++e) {\n" +
         element_text(most) + "  }\n" + after;
}

std::string GroupText::element_text(std::int64_t most) const {
  std::string text;
  for (std::size_t w = 0; w < works_.size(); ++w) text += value_text(w);
  for (std::size_t w = 0; w < works_.size(); ++w) {
    if (!stores_[w]) continue;
    text += joined({"  device::store<", format_name(works_[w].result.dtype), ">(",
                    address("w", *stores_[w]), ", v", std::to_string(w), ");\n"});
    text += cells_text(w, most, false);
  }
  return text;
}

// Whether neighbours go into cells together.
bool GroupText::moves_words(std::size_t w, const CellsWrite& cells, std::int64_t most) const {
  return touches_[*stores_[w]].has_word && cells.neighbours(most) == most;
}

// What goes into cells of what a work makes: words as they are, or an element.
std::string GroupText::cells_text(std::size_t w, std::int64_t most, bool of_words) const {
  std::string text;
  if (!stores_[w]) return text;
  const std::size_t t = *stores_[w];
  const Tensor& result = works_[w].result;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    const CellsWrite& cells = *cells_[c];
    if (!feeds(w, cells) || moves_words(w, cells, most) != of_words) continue;
    std::string offset =
        joined({std::to_string(result.data() - cells.source().data()), " + ", touches_[t].offset});
    if (touches_[t].has_word && !of_words) {
      offset += " + e * " + std::to_string(result.item_bytes());
    }
    const std::string store = of_words ? joined({"  w", std::to_string(t), ".store(cell);\n"})
                                       : joined({"  device::store<", format_name(result.dtype),
                                                 ">(cell, v", std::to_string(w), ");\n"});
    text += cells.text(offset, store, cell_pointers_[c]);
  }
  return text;
}

// "v0", what a work gives for an element.
std::string GroupText::value_text(std::size_t w) const {
  const PointwiseWork& work = works_[w];
  const std::string value = "  const auto v" + std::to_string(w) + " = ";
  if (is_given(work)) {
    const spec::DType dtype = work.result.dtype;
    return value + load_text(dtype, dtype, dtype, "g" + std::to_string(w) + ".at(e)") + ";\n";
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

}  // namespace graphgate::optimized
