// Diagonals: matrices that have something on one alone (eye, diag of a vector), a matrix's own
// (diag of a matrix), and the places on one side of it (tril_indices, triu_indices).
#include <algorithm>
#include <array>

#include "optimized/codegen/work.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// ---- eye

void infer_eye(Inference& call) {
  const std::int64_t rows = call.integer("n");
  const std::int64_t columns = call.has("m") ? call.integer("m") : rows;
  if (rows < 0 || columns < 0) throw OpError("eye of " + print_sizes({rows, columns}));
  call.make(call.optional_dtype("dtype").value_or(DType::kFloat32), {rows, columns}, {},
            call.device_or({}));
}
Launch bind_eye(const Binding& call) {
  const Tensor& result = call.result();
  return in_turn({fill_launch(call.listener(), result, {}),
                  fill_launch(call.listener(), diagonal_of(result, 0, 0, 1),
                              element_of({std::int64_t{1}}, result.dtype))});
}

// ---- diag

void infer_diag(Inference& call) {
  const Tensor& self = call.tensor("self");
  const std::int64_t offset = call.integer("diagonal");
  if (self.rank() == 2) {
    return call.make(self.dtype, diagonal_of(self, offset, 0, 1).sizes);
  }
  if (self.rank() != 1) throw OpError("diag of sizes " + print_sizes(self.sizes));
  const std::int64_t side = self.sizes[0] + (offset < 0 ? -offset : offset);
  call.make(self.dtype, {side, side});
}
Launch bind_diag(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& result = call.result();
  const std::int64_t offset = call.integer("diagonal");
  if (self.rank() == 2) {
    return copy_launch(call.listener(), result, diagonal_of(self, offset, 0, 1));
  }
  return in_turn({fill_launch(call.listener(), result, {}),
                  copy_launch(call.listener(), diagonal_of(result, offset, 0, 1), self)});
}

// ---- tril_indices, triu_indices

// The columns that a row of the matrix keeps.
struct TriangleSide {
  bool is_lower = true;
  std::int64_t rows = 0, columns = 0, offset = 0;

  [[nodiscard]] std::int64_t begin(std::int64_t row) const {
    return is_lower ? 0 : std::clamp<std::int64_t>(row + offset, 0, columns);
  }
  [[nodiscard]] std::int64_t end(std::int64_t row) const {
    return is_lower ? std::clamp<std::int64_t>(row + offset + 1, 0, columns) : columns;
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += end(row) - begin(row);
    return sum;
  }
};

TriangleSide side_of(const KernelCall& call, bool is_lower) {
  const TriangleSide side{is_lower, call.integer("row"), call.integer("col"),
                          call.integer("offset")};
  if (side.rows < 0 || side.columns < 0) {
    throw OpError("a matrix of sizes " + print_sizes({side.rows, side.columns}));
  }
  (void)checked_count({side.rows, side.columns});
  return side;
}

template <bool is_lower>
void infer_side(Inference& call) {
  const Tensor* out = call.written_result(0);
  const DType dtype = out ? out->dtype : call.optional_dtype("dtype").value_or(DType::kInt64);
  if (!spec::is_integral(dtype) || dtype == DType::kBool) {
    throw OpError("indices of dtype " + std::string(spec::torch_name(dtype)));
  }
  call.make(dtype, {2, side_of(call, is_lower).count()}, {}, call.device_or({}));
}

// Writes elements of one row of a matrix, one after the other, in tiles.
class RowWriter {
 public:
  RowWriter(const Tensor& matrix, std::int64_t row)
      : dtype_(matrix.dtype),
        at_(matrix.data() + row * matrix.strides[0] * matrix.item_bytes()),
        stride_bytes_(matrix.strides[1] * matrix.item_bytes()) {}

  void write(std::int64_t value) {
    tile_[static_cast<std::size_t>(used_++)] = value;
    if (used_ == kTile) flush();
  }
  void flush() {
    store_tile<std::int64_t>(dtype_, tile_.data(), used_, at_, stride_bytes_);
    at_ += used_ * stride_bytes_;
    used_ = 0;
  }

 private:
  DType dtype_;
  std::byte* at_;
  std::int64_t stride_bytes_;
  std::array<std::int64_t, kTile> tile_{};
  int used_ = 0;
};

template <bool is_lower>
Launch bind_side(const Binding& call) {
  return [side = side_of(call, is_lower), result = call.result()] {
    RowWriter rows(result, 0);
    RowWriter columns(result, 1);
    for (std::int64_t row = 0; row < side.rows; ++row) {
      for (std::int64_t column = side.begin(row); column < side.end(row); ++column) {
        rows.write(row);
        columns.write(column);
      }
    }
    rows.flush();
    columns.flush();
  };
}

}  // namespace

std::span<const Kernel> diagonal_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.diag", infer_diag, bind_diag}.any_dtype().moves("self"),
      Kernel{"aten.eye", infer_eye, bind_eye}.any_dtype().row_major(RowMajorRule::kAlways),
      Kernel{"aten.tril_indices", infer_side<true>, bind_side<true>}.row_major(
          RowMajorRule::kAlways),
      Kernel{"aten.triu_indices", infer_side<false>, bind_side<false>}.row_major(
          RowMajorRule::kAlways),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
