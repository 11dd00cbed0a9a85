#include "optimized/device/cells_text.h"

#include <algorithm>

#include "optimized/device/spelling.h"

namespace graphgate::optimized {
namespace {

std::string word_name(std::int64_t item_bytes) {
  return "std::uint" + std::to_string(8 * item_bytes) + "_t";
}

// What both kernels see: p0 the other tensor, p1 the indexed one, p2... the index tensors.
struct CellMoves {
  explicit CellMoves(const IndexedLoop::Parts& parts) : frame(parts.frame), dims(parts.dims) {
    tensors = {&parts.others.front(), &parts.indexed};
    for (const IndexedDim& dim : dims) tensors.push_back(&dim.index);
    for (const Tensor* tensor : tensors) {
      Sizes bytes = broadcast_strides(*tensor, frame);
      for (std::int64_t& stride : bytes) stride *= tensor->item_bytes();
      strides.push_back(std::move(bytes));
    }
  }

  [[nodiscard]] TextWork begin(bool is_read) const {
    TextWork out;
    for (const Tensor* tensor : tensors) {
      out.pointers.push_back(tensor->data());
      out.accesses.push_back({*tensor, false});
    }
    out.accesses[0].is_written = is_read;
    out.accesses[1] = {all_cells(), !is_read};
    out.reports_faults = true;
    out.what = is_read ? "cells read" : "cells written";
    out.shares_launches = true;
    return out;
  }

  // Wherever indices may lead.
  [[nodiscard]] Tensor all_cells() const {
    Tensor out = *tensors[1];
    for (const IndexedDim& dim : dims) {
      out.sizes.insert(out.sizes.end(), dim.sizes.begin(), dim.sizes.end());
      for (const std::int64_t stride : dim.strides_bytes) {
        out.strides.push_back(stride / out.item_bytes());
      }
    }
    return out;
  }

  // Statements that move one cell, at coordinates x0, x1...; `otherwise` leaves an index out of
  // range behind.
  [[nodiscard]] std::string move_text(const std::string& word, bool is_read,
                                      const std::string& otherwise) const {
    std::string text = "  char* cell = p1 + " + offset_text(strides[1], "x") + ";\n";
    for (std::size_t t = 0; t < dims.size(); ++t) {
      const IndexedDim& dim = dims[t];
      const std::int64_t size = checked_count(dim.sizes);
      const std::string i = "i" + std::to_string(t);
      text += "  std::int64_t " + i + " = " +
              load_text(dim.index.dtype, dim.index.dtype, spec::DType::kInt64,
                        "p" + std::to_string(t + 2) + " + " + offset_text(strides[t + 2], "x")) +
              ";\n";
      const std::string end = std::to_string(size);
      text += joined({"  if (", i, " < ", std::to_string(dim.wraps ? -size : 0), " || ", i,
                      " >= ", end, ") {\n    device::report(fault, ", i, ", ",
                      std::to_string(dim.dim), ", ", end, ");\n    ", otherwise, ";\n  }\n"});
      if (dim.wraps) text += joined({"  if (", i, " < 0) ", i, " += ", end, ";\n"});
      if (dim.sizes.size() == 1) {
        text += "  cell += " + i + " * " + std::to_string(dim.strides_bytes[0]) + ";\n";
      } else {
        const std::string prefix = "y" + std::to_string(t) + "_";
        text += coordinates_text(dim.sizes, i, prefix) +
                "  cell += " + offset_text(dim.strides_bytes, prefix) + ";\n";
      }
    }
    const std::string other = "p0 + " + offset_text(strides[0], "x");
    const std::string pointer = "reinterpret_cast<" + word + "*>(";
    text += is_read ? "  *" + pointer + other + ") = *" + pointer + "cell);\n"
                    : "  *" + pointer + "cell) = *" + pointer + other + ");\n";
    return text;
  }

  const Sizes& frame;
  const std::vector<IndexedDim>& dims;
  std::vector<const Tensor*> tensors;
  std::vector<Sizes> strides;  // at the frame, in bytes
};

}  // namespace

TextWork read_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes) {
  const CellMoves cells(parts);
  TextWork out = cells.begin(true);
  out.threads = checked_count(parts.frame);
  out.statements = "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
                   coordinates_text(parts.frame, "thread", "x") +
                   cells.move_text(word_name(item_bytes), true, "return");
  return out;
}

TextWork write_cells_text(const IndexedLoop::Parts& parts, std::int64_t item_bytes) {
  const CellMoves cells(parts);
  TextWork out = cells.begin(false);
  // Dimensions that no index moves along are shared out among threads.
  Sizes shared;
  std::vector<std::size_t> shared_dims;
  std::vector<std::size_t> own_dims;
  for (std::size_t d = 0; d < parts.frame.size(); ++d) {
    const bool moves = std::any_of(cells.strides.begin() + 2, cells.strides.end(),
                                   [&](const Sizes& strides) { return strides[d] != 0; });
    // A stride of 0 in the indexed tensor: elements along it meet in one cell.
    const bool meets = cells.strides[1][d] == 0 && parts.frame[d] != 1;
    (moves || meets ? own_dims : shared_dims).push_back(d);
    if (!moves && !meets) shared.push_back(parts.frame[d]);
  }
  out.threads = checked_count(parts.frame) == 0 ? 0 : checked_count(shared);
  std::string& text = out.statements;
  text = "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
         coordinates_text(shared, "thread", "s");
  for (std::size_t i = 0; i < shared_dims.size(); ++i) {
    text += "  const std::int64_t x" + std::to_string(shared_dims[i]) + " = s" + std::to_string(i) +
            ";\n";
  }
  for (const std::size_t d : own_dims) {
    const std::string x = "x" + std::to_string(d);
    text += joined({"  for (std::int64_t ", x, " = 0; ", x, " < ", std::to_string(parts.frame[d]),
                    "; ++", x, ") {\n"});
  }
  text += cells.move_text(word_name(item_bytes), false, "return");
  for (std::size_t i = 0; i < own_dims.size(); ++i) text += "  }\n";
  return out;
}

}  // namespace graphgate::optimized
