#include "optimized/codegen/cells_text.h"

#include <algorithm>
#include <cstring>

#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

std::string word_name(std::int64_t item_bytes) {
  return "std::uint" + std::to_string(8 * item_bytes) + "_t";
}

// What the kernels see: the other tensor, where there is one, the indexed one and the index
// tensors, as p0, p1... in this order.
struct CellMoves {
  explicit CellMoves(const IndexedCells& parts)
      : frame(parts.frame), dims(parts.dims), indexed(parts.others.size()) {
    for (const Tensor& other : parts.others) tensors.push_back(&other);
    tensors.push_back(&parts.indexed);
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
    out.accesses[indexed] = {all_cells(), !is_read};
    out.reports_faults = true;
    out.what = is_read ? "cells read" : "cells written";
    out.shares_launches = true;
    return out;
  }

  // Wherever indices may lead.
  [[nodiscard]] Tensor all_cells() const {
    Tensor out = *tensors[indexed];
    for (const IndexedDim& dim : dims) {
      out.sizes.insert(out.sizes.end(), dim.sizes.begin(), dim.sizes.end());
      for (const std::int64_t stride : dim.strides_bytes) {
        out.strides.push_back(stride / out.item_bytes());
      }
    }
    return out;
  }

  // Whether elements at different places along dimension d may meet in one cell.
  [[nodiscard]] bool may_meet_along(std::size_t d) const {
    if (frame[d] == 1) return false;
    if (strides[indexed][d] == 0) return true;
    if (all_others_stay_apart()) return false;
    return std::any_of(strides.begin() + static_cast<std::ptrdiff_t>(indexed) + 1, strides.end(),
                       [d](const Sizes& index) { return index[d] != 0; });
  }

  // Statements that do something to one cell, at coordinates x0, x1...: they see its address as
  // `cell`, and the other element's as `other`. An index out of range is left behind.
  [[nodiscard]] std::string move_text(const std::string& what) const {
    std::string text = cell_text();
    if (indexed > 0) text += joined({"  char* const other = ", place_text(0), ";\n"});
    return text + what;
  }

  // The same without the other element.
  [[nodiscard]] std::string cell_text() const {
    std::string text = joined({"  char* cell = ", place_text(indexed), ";\n"});
    for (std::size_t t = 0; t < dims.size(); ++t) {
      const IndexedDim& dim = dims[t];
      const std::int64_t size = checked_count(dim.sizes);
      const std::string i = "i" + std::to_string(t);
      text += "  std::int64_t " + i + " = " +
              load_text(dim.index.dtype, dim.index.dtype, spec::DType::kInt64,
                        place_text(indexed + 1 + t)) +
              ";\n";
      const std::string end = std::to_string(size);
      text += joined({"  if (", i, " < ", std::to_string(dim.wraps ? -size : 0), " || ", i,
                      " >= ", end, ") {\n    device::report(fault, ", i, ", ",
                      std::to_string(dim.dim), ", ", end, ");\n    return;\n  }\n"});
      if (dim.wraps) text += joined({"  if (", i, " < 0) ", i, " += ", end, ";\n"});
      if (dim.sizes.size() == 1) {
        text += "  cell += " + i + " * " + std::to_string(dim.strides_bytes[0]) + ";\n";
      } else {
        const std::string prefix = "y" + std::to_string(t) + "_";
        text += coordinates_text(dim.sizes, i, prefix) +
                "  cell += " + offset_text(dim.strides_bytes, prefix) + ";\n";
      }
    }
    return text;
  }

  [[nodiscard]] std::string place_text(std::size_t tensor) const {
    return "p" + std::to_string(first_pointer + tensor) + " + " + offset_text(strides[tensor], "x");
  }

  // Whether cells that differ along a dimension of the indexed tensor's own differ at all.
  [[nodiscard]] bool all_others_stay_apart() const {
    Tensor cells = all_cells();
    for (std::size_t d = frame.size(); d-- > 0;) {
      if (cells.strides[d] != 0) continue;
      cells.sizes.erase(cells.sizes.begin() + static_cast<std::ptrdiff_t>(d));
      cells.strides.erase(cells.strides.begin() + static_cast<std::ptrdiff_t>(d));
    }
    return !may_meet_itself(cells);
  }

  const Sizes& frame;
  const std::vector<IndexedDim>& dims;
  std::size_t indexed;  // of the tensors
  std::size_t first_pointer = 0;
  std::vector<const Tensor*> tensors;
  std::vector<Sizes> strides;  // at the frame, in bytes
};

// Something done to every cell that the indices name.
TextWork update_text(const CellMoves& cells, const std::string& what) {
  TextWork out = cells.begin(false);
  Sizes shared;
  std::vector<std::size_t> shared_dims;
  std::vector<std::size_t> own_dims;
  for (std::size_t d = 0; d < cells.frame.size(); ++d) {
    const bool meets = cells.may_meet_along(d);
    (meets ? own_dims : shared_dims).push_back(d);
    if (!meets) shared.push_back(cells.frame[d]);
  }
  out.threads = checked_count(cells.frame) == 0 ? 0 : checked_count(shared);
  std::string& text = out.statements;
  text = "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
         coordinates_text(shared, "thread", "s");
  for (std::size_t i = 0; i < shared_dims.size(); ++i) {
    text += "  const std::int64_t x" + std::to_string(shared_dims[i]) + " = s" + std::to_string(i) +
            ";\n";
  }
  for (const std::size_t d : own_dims) {
    const std::string x = "x" + std::to_string(d);
    text += joined({"  for (std::int64_t ", x, " = 0; ", x, " < ", std::to_string(cells.frame[d]),
                    "; ++", x, ") {\n"});
  }
  text += cells.move_text(what);
  for (std::size_t i = 0; i < own_dims.size(); ++i) text += "  }\n";
  return out;
}

std::string word_text(std::int64_t item_bytes, const std::string& address) {
  return joined({"*reinterpret_cast<", word_name(item_bytes), "*>(", address, ")"});
}

}  // namespace

TextWork read_cells_text(const IndexedCells& parts, std::int64_t item_bytes) {
  const CellMoves cells(parts);
  TextWork out = cells.begin(true);
  out.threads = checked_count(parts.frame);
  out.statements = "  if (thread >= " + std::to_string(out.threads) + ") return;\n" +
                   coordinates_text(parts.frame, "thread", "x") +
                   cells.move_text(joined({"  ", word_text(item_bytes, "other"), " = ",
                                           word_text(item_bytes, "cell"), ";\n"}));
  return out;
}

TextWork write_cells_text(const IndexedCells& parts, std::int64_t item_bytes) {
  TextWork out = update_text(CellMoves(parts), joined({"  ", word_text(item_bytes, "cell"), " = ",
                                                       word_text(item_bytes, "other"), ";\n"}));
  out.cells = CellsWrite::of(parts);
  return out;
}

std::shared_ptr<const CellsWrite> CellsWrite::of(const IndexedCells& parts) {
  if (parts.others.size() != 1 || may_meet_itself(parts.others.front())) return nullptr;
  const CellMoves cells(parts);
  for (std::size_t d = 0; d < cells.frame.size(); ++d) {
    if (cells.frame[d] == 1) continue;
    if (cells.strides[0][d] <= 0 || cells.may_meet_along(d)) return nullptr;
  }
  return std::shared_ptr<const CellsWrite>(new CellsWrite(parts));
}

std::vector<DeviceAccess> CellsWrite::accesses() const {
  std::vector<DeviceAccess> out = CellMoves(parts_).begin(false).accesses;
  out.erase(out.begin());
  return out;
}

std::int64_t CellsWrite::neighbours(std::int64_t most) const {
  const CellMoves cells(parts_);
  const std::int64_t item = source().item_bytes();
  const auto let = [&](std::int64_t count) {
    const auto is_multiple = [bytes = count * item](std::int64_t x) { return x % bytes == 0; };
    const auto begins_at_multiple = [&](const Tensor& tensor) {
      return is_multiple(reinterpret_cast<std::intptr_t>(tensor.data()));  // NOLINT: a number
    };
    bool all_let = begins_at_multiple(source()) && begins_at_multiple(parts_.indexed);
    bool has_neighbours = false;
    for (std::size_t d = 0; d < cells.frame.size(); ++d) {
      if (cells.frame[d] == 1) continue;
      const bool is_last = cells.strides[0][d] == item;
      has_neighbours |= is_last;
      for (std::size_t t = 0; t < cells.strides.size(); ++t) {
        const std::int64_t stride = cells.strides[t][d];
        if (t > cells.indexed) {
          all_let &= !is_last || stride == 0;
        } else {
          all_let &= is_last ? stride == item && cells.frame[d] % count == 0 : is_multiple(stride);
        }
      }
    }
    for (const IndexedDim& dim : cells.dims) {
      all_let &= std::ranges::all_of(dim.strides_bytes, is_multiple);
    }
    return all_let && has_neighbours;
  };
  while (most > 1 && !let(most)) most /= 2;
  return most;
}

std::string CellsWrite::text(const std::string& offset, const std::string& store,
                             std::size_t first_pointer) const {
  CellMoves cells(parts_);
  cells.first_pointer = first_pointer - 1;  // there is none for the source
  const Sizes& strides = cells.strides[0];
  // Elements that lie apart are counted by the longest stride first.
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < cells.frame.size(); ++d) {
    if (cells.frame[d] > 1) dims.push_back(d);
  }
  std::ranges::sort(dims, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  const ByteRange range = byte_range(source());
  std::string text =
      joined({"  [&] {\n  std::int64_t at = ", offset,
              ";\n  if (at < 0 || at >= ", std::to_string(range.end - range.begin), ") return;\n"});
  for (std::size_t d = 0; d < cells.frame.size(); ++d) {
    if (cells.frame[d] == 1) text += "  constexpr std::int64_t x" + std::to_string(d) + " = 0;\n";
  }
  for (const std::size_t d : dims) {
    const std::string x = "x" + std::to_string(d);
    const std::string stride = std::to_string(strides[d]);
    text += joined({"  const std::int64_t ", x, " = at / ", stride, ";\n  at %= ", stride,
                    ";\n  if (", x, " >= ", std::to_string(cells.frame[d]), ") return;\n"});
  }
  text += "  if (at != 0) return;\n" + cells.cell_text();
  return text + store + "  }();\n";
}

TextWork fill_cells_text(const IndexedCells& parts, std::int64_t item_bytes,
                         const std::array<std::byte, 8>& element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element.data(), static_cast<std::size_t>(item_bytes));
  return update_text(CellMoves(parts),
                     joined({"  ", word_text(item_bytes, "cell"), " = std::uint64_t{",
                             std::to_string(bits), "u};\n"}));
}

TextWork combine_cells_text(const IndexedCells& parts, const CellCombination& combination) {
  const spec::DType dtype = combination.dtype;
  std::string x = number_text(dtype, combination.number);
  if (!parts.others.empty()) {
    const spec::DType from = parts.others.front().dtype;
    x = "element::Multiply{}(" + load_text(from, from, dtype, "other") + ", " + x + ")";
  }
  TextWork out =
      update_text(CellMoves(parts),
                  joined({"  device::store<", format_name(dtype), ">(cell, ", combination.function,
                          "(", load_text(dtype, dtype, dtype, "cell"), ", ", x, "));\n"}));
  out.what = "cells combined";
  return out;
}

}  // namespace graphgate::optimized
