// Matrices with ones or given elements on a diagonal, diagonals of matrices, and the indices of
// what lies on one side of a diagonal.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/movement.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// Throws OpError for a diagonal that no tensor reaches; below that no sum overflows.
std::int64_t checked_diagonal(std::int64_t offset) {
  if (offset > -kMostElements && offset < kMostElements) return offset;
  throw OpError("the diagonal " + std::to_string(offset) + " is out of range");
}

std::int64_t checked_extent(const Call& call, std::string_view name) {
  const std::int64_t extent = call.integer(name);
  if (extent >= 0 && extent < kMostElements) return extent;
  throw OpError("argument '" + std::string(name) + "' is out of range: " + std::to_string(extent));
}

DType dtype_wanted(const Call& call, DType otherwise) {
  if (const TensorRef out = call.next_target()) return out->dtype;
  return call.optional_dtype("dtype").value_or(otherwise);
}

void eye(Call& call) {
  const std::int64_t rows = checked_extent(call, "n");
  const std::int64_t columns = call.has("m") ? checked_extent(call, "m") : rows;
  const TensorRef made =
      new_tensor(dtype_wanted(call, DType::kFloat32), {rows, columns}, call.device_or({}));
  fill(call.mode(), *view_of(*made, diagonal_of(*made, 0, 0, 1)), Datum{std::int64_t{1}});
  emit_made(call, made);
}

// Of a vector a matrix that has it on a diagonal, of a matrix a copy of its diagonal.
void diag(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t offset = checked_diagonal(call.integer("diagonal"));
  if (self.rank() == 2) {
    return emit_made(call, copy_of(*view_of(self, diagonal_of(self, offset, 0, 1))));
  }
  if (self.rank() != 1) throw OpError("diag(): Supports 1D or 2D tensors");
  const std::int64_t side = self.sizes[0] + std::abs(offset);
  const TensorRef made = new_tensor(self.dtype, {side, side}, self.device);
  assign(call.mode(), *view_of(*made, diagonal_of(*made, offset, 0, 1)), self);
  emit_made(call, made);
}

// Row and column of every element of a matrix that lies on the kept side of a diagonal, in
// row-major order: [2, count].
void emit_triangle(Call& call, bool is_lower) {
  const std::int64_t rows = checked_extent(call, "row");
  const std::int64_t columns = checked_extent(call, "col");
  const std::int64_t offset = checked_diagonal(call.integer("offset"));
  const DType dtype = dtype_wanted(call, DType::kInt64);
  if (spec::is_floating_point(dtype) || dtype == DType::kBool) {
    throw OpError("indices are integers, not " + std::string(spec::torch_name(dtype)));
  }
  std::vector<Whole> of_row;
  std::vector<Whole> of_column;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t edge =
        std::clamp<std::int64_t>(row + offset + (is_lower ? 1 : 0), 0, columns);
    const std::int64_t begin = is_lower ? 0 : edge;
    const std::int64_t end = is_lower ? edge : columns;
    for (std::int64_t column = begin; column < end; ++column) {
      of_row.emplace_back(row);
      of_column.emplace_back(column);
    }
  }
  Array<Whole> out({2, static_cast<std::int64_t>(of_row.size())});
  std::copy(of_row.begin(), of_row.end(), out.data.begin());
  std::copy(of_column.begin(), of_column.end(),
            out.data.begin() + static_cast<std::ptrdiff_t>(of_row.size()));
  const TensorRef made = new_tensor(dtype, out.sizes, call.device_or({}));
  store(*made, out);
  emit_made(call, made);
}
void tril_indices(Call& call) { emit_triangle(call, true); }
void triu_indices(Call& call) { emit_triangle(call, false); }

constexpr std::array kDiagonalOps = {
    OpBody{"aten.diag", diag}.any_dtype().moves("self"),
    OpBody{"aten.eye", eye},
    OpBody{"aten.tril_indices", tril_indices},
    OpBody{"aten.triu_indices", triu_indices},
};

}  // namespace

std::span<const OpBody> diagonal_ops() { return kDiagonalOps; }

}  // namespace graphgate::reference
