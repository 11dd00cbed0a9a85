#include "optimized/codegen/epilogue_text.h"

#include <algorithm>

#include "optimized/codegen/spelling.h"
#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

// One epilogue on its way.
class Epilogue {
 public:
  Epilogue(const Tensor& result, const Bands& bands) : result_(result), bands_(bands) {
    out_.pointers = {result.data()};
    out_.accesses = {{result, true}};
    out_.width = neighbours_of(band(0, 0, runs()), 4);
    given_text();
  }

  // Whether the work goes on with what is there.
  bool add(const WorkBehind& behind) {
    if (std::ranges::any_of(before_, [&](const Touched& other) {
          return other.keeps_order_with(behind.touched);
        })) {
      return false;
    }
    before_.push_back(behind.touched);
    return behind.group ? add_group(*behind.group, behind.is_stored) : add_cells(*behind.cells);
  }

  [[nodiscard]] PointwiseEpilogue finished() && {
    out_.function = joined({"[&]<int kCount>(long row, long column, const float (&given)[",
                            text_of(bands_.count), "][kCount]) {\n", text_, "  }"});
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::int64_t rows() const { return result_.size(0); }
  [[nodiscard]] std::int64_t runs() const { return result_.size(1) / bands_.run / bands_.count; }
  [[nodiscard]] std::int64_t pitch() const { return rows() == 1 ? 0 : result_.strides[0]; }

  // Where band b has the thread's first element, in bytes behind the result's first one.
  [[nodiscard]] std::string offset_text(std::int64_t b) const {
    return joined({"row * ", text_of(pitch() * 2), " + run * ",
                   text_of(bands_.run * bands_.count * 2), " + inner * 2 + ",
                   text_of(b * bands_.run * 2)});
  }

  void given_text() {
    const std::string run = text_of(bands_.run);
    text_ = runs() == 1 ? "  constexpr long run = 0;\n  const long inner = column;\n"
                        : joined({"  const long run = column / ", run,
                                  ";\n  const long inner = column % ", run, ";\n"});
    for (std::int64_t b = 0; b < bands_.count; ++b) {
      const std::string g = "g" + text_of(b);
      text_ += joined({"  device::Word<2, kCount> ", g, ";\n  device::pack<",
                       format_name(result_.dtype), ">(", g, ", given[", text_of(b), "]);\n  ", g,
                       ".store(p0 + ", offset_text(b), ");\n"});
    }
  }

  // A band's elements in runs [begin, begin + count), as [rows, count, run].
  [[nodiscard]] Tensor band(std::int64_t b, std::int64_t begin, std::int64_t count) const {
    const std::int64_t step = bands_.run * bands_.count;
    Tensor out = result_;
    out.sizes = {rows(), count, bands_.run};
    out.strides = {result_.strides[0], step, 1};
    out.offset += begin * step + b * bands_.run;
    return out;
  }

  // The first run that the group reads of, if it reads one of the same place in every row.
  [[nodiscard]] std::optional<std::int64_t> first_run(const PointwiseGroup& group) const {
    for (const PointwiseWork& work : group.works()) {
      for (const DeviceOperand& operand : work.operands) {
        if (operand.is_number || !may_share_bytes(operand.tensor, result_)) continue;
        const std::int64_t at = (operand.tensor.data() - result_.data()) / 2;
        if (at < 0 || at >= result_.size(1)) return {};
        return at / (bands_.run * bands_.count);
      }
    }
    return {};
  }

  bool add_group(const PointwiseGroup& group, const std::vector<bool>& is_stored) {
    const auto first = first_run(group);
    const std::int64_t elements = group.works().front().result.count();
    const std::int64_t count = elements / (rows() * bands_.run);
    if (!first || count < 1 || *first + count > runs()) return false;
    const auto given = static_cast<std::size_t>(bands_.count);
    std::vector<Tensor> bands;
    bands.reserve(given);
    for (std::int64_t b = 0; b < bands_.count; ++b) bands.push_back(band(b, *first, count));
    const auto work_of = [](const Tensor& tensor) {
      return PointwiseWork{tensor, tensor.dtype, tensor.dtype, "", {}};
    };
    PointwiseGroup all(work_of(bands.front()));
    for (std::size_t b = 1; b < given; ++b) all.add(work_of(bands[b]));
    for (const PointwiseWork& work : group.works()) {
      if (!all.takes(work)) return false;
      all.add(work);
    }
    for (const auto& cells : group.cells()) {
      if (!all.takes(*cells)) return false;
      all.add(cells);
    }
    GroupText texts(all.works(), all.cells(), [&](std::size_t w) { return is_stored[w - given]; });
    std::vector<std::string> coordinates;
    if (rows() > 1) coordinates.emplace_back("row");
    if (count > 1) coordinates.push_back(joined({"(run - ", text_of(*first), ")"}));
    if (bands_.run > 1) coordinates.emplace_back("inner");
    const std::int64_t width = texts.most_neighbours(out_.width);
    GroupPiece piece = texts.piece(coordinates, "kCount", width, out_.pointers.size());
    // What other threads have of the result is theirs.
    for (const DeviceAccess& access : piece.accesses) {
      const auto is_own = [&](const PointwiseWork& work) {
        return is_same_place(access.tensor, work.result);
      };
      if (may_share_bytes(access.tensor, result_) &&
          std::none_of(all.works().begin(), all.works().begin() + bands_.count, is_own)) {
        return false;
      }
    }
    out_.width = width;
    text_ += count == runs() ? "  {\n"
                             : joined({"  if (run >= ", text_of(*first), " && run < ",
                                       text_of(*first + count), ") {\n"});
    text_ += piece.statements + "  }\n";
    append(std::move(piece));
    return true;
  }

  bool add_cells(const CellsWrite& cells) {
    if (!are_among(cells.source(), std::span(&result_, 1))) return false;
    const std::vector<DeviceAccess> accesses = cells.accesses();
    if (std::ranges::any_of(accesses, [&](const DeviceAccess& access) {
          return may_share_bytes(access.tensor, result_);
        })) {
      return false;
    }
    const std::int64_t ahead = result_.data() - cells.source().data();
    const std::size_t next = out_.pointers.size();
    const bool of_words = cells.neighbours(out_.width) == out_.width;
    if (!of_words) text_ += "#pragma unroll\n  for (int e = 0; e < kCount; ++e) {\n";
    for (std::int64_t b = 0; b < bands_.count; ++b) {
      const std::string g = "g" + text_of(b);
      const std::string offset = joined({text_of(ahead), " + ", offset_text(b)});
      text_ += of_words ? cells.text(offset, joined({"  ", g, ".store(cell);\n"}), next)
                        : cells.text(offset + " + e * 2",
                                     joined({"  *reinterpret_cast<std::uint16_t*>(cell) = "
                                             "*reinterpret_cast<const std::uint16_t*>(",
                                             g, ".at(e));\n"}),
                                     next);
    }
    if (!of_words) text_ += "  }\n";
    GroupPiece piece;
    piece.what = "cells written";
    piece.reports_faults = true;
    for (const DeviceAccess& access : accesses) piece.pointers.push_back(access.tensor.data());
    piece.accesses = accesses;
    append(std::move(piece));
    return true;
  }

  void append(GroupPiece piece) {
    out_.pointers.insert(out_.pointers.end(), piece.pointers.begin(), piece.pointers.end());
    out_.accesses.insert(out_.accesses.end(), piece.accesses.begin(), piece.accesses.end());
    out_.what += (out_.what.empty() ? "" : ", ") + piece.what;
    out_.reports_faults |= piece.reports_faults;
  }

  const Tensor& result_;
  Bands bands_;
  std::string text_;
  std::vector<Touched> before_;
  PointwiseEpilogue out_;
};

}  // namespace

std::vector<Bands> bands_for(const Tensor& result, std::span<const WorkBehind> behind) {
  const std::int64_t columns = result.size(1);
  std::vector<Bands> out = {{1, columns}};
  const auto add = [&](std::int64_t count, std::int64_t run) {
    const bool is_known = std::ranges::any_of(
        out, [&](const Bands& bands) { return bands.count == count && bands.run == run; });
    if (!is_known && columns % (count * run) == 0) out.push_back({count, run});
  };
  if (columns % 2 == 0) add(2, columns / 2);
  for (const WorkBehind& one : behind) {
    if (!one.group || one.group->works().front().result.sizes.empty()) continue;
    const std::int64_t run = one.group->works().front().result.sizes.back();
    add(1, run);
    add(2, run);
  }
  return out;
}

std::optional<PointwiseEpilogue> epilogue_of(const Tensor& result, const Bands& bands,
                                             std::span<const WorkBehind> behind) {
  Epilogue epilogue(result, bands);
  for (const WorkBehind& one : behind) {
    if (!epilogue.add(one)) return {};
  }
  return std::move(epilogue).finished();
}

}  // namespace graphgate::optimized
