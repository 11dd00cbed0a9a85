#include "optimized/gemm.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "optimized/arithmetic/sum.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/product_text.h"
#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

// What the registers hold: integers wrap, so they are multiplied as unsigned.
template <class C>
using Word = internal::Accumulator<C>;

template <class C>
struct VectorOf {
  using Type [[gnu::vector_size(16)]] = Word<C>;
};
template <class C>
using Vector = typename VectorOf<C>::Type;

template <class C>
inline constexpr std::int64_t kVector = 16 / static_cast<std::int64_t>(sizeof(C));
constexpr std::int64_t kPanelRows = 4;
template <class C>
inline constexpr std::int64_t kPanelColumns = 2 * kVector<C>;

constexpr std::int64_t kBlockRows = 64;      // rows of a packed at a time
constexpr std::int64_t kBlockColumns = 128;  // columns of b packed at a time

std::int64_t round_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

// Buffers of this thread; they grow and stay.
template <class C>
struct Scratch {
  std::vector<C> a, b, sums;
  static Scratch& of_thread() {
    thread_local Scratch scratch;
    return scratch;
  }
  static C* at_least(std::vector<C>& buffer, std::int64_t count) {
    if (static_cast<std::int64_t>(buffer.size()) < count) {
      buffer.resize(static_cast<std::size_t>(count));
    }
    return buffer.data();
  }
};

// Packs `lines` of the given length into panels of `width` lines: panel p holds, for each position
// along the lines, the elements of lines [p * width, (p + 1) * width), zeros beyond the last.
template <class C>
void pack_across(const Factor& f, std::int64_t lines, std::int64_t length, std::int64_t line_stride,
                 std::int64_t stride, std::int64_t width, C* out) {
  std::array<C, kTile> tile;
  for (std::int64_t panel = 0; panel < lines; panel += width) {
    for (std::int64_t j = 0; j < width; ++j) {
      C* to = out + panel * length + j;
      if (panel + j >= lines) {
        for (std::int64_t i = 0; i < length; ++i) to[i * width] = 0;
        continue;
      }
      const std::byte* line = f.first + (panel + j) * line_stride;
      for (std::int64_t begin = 0; begin < length; begin += kTile) {
        const auto n = static_cast<int>(std::min<std::int64_t>(kTile, length - begin));
        load_tile<C>(f.dtype, line + begin * stride, stride, n, tile.data());
        for (int i = 0; i < n; ++i) to[(begin + i) * width] = tile[static_cast<std::size_t>(i)];
      }
    }
  }
}

// The same, read along the panels' width: for matrices whose lines lie side by side.
template <class C>
void pack_along(const Factor& f, std::int64_t lines, std::int64_t length, std::int64_t line_stride,
                std::int64_t stride, std::int64_t width, C* out) {
  std::array<C, kBlockColumns> tile;
  for (std::int64_t i = 0; i < length; ++i) {
    load_tile<C>(f.dtype, f.first + i * stride, line_stride, static_cast<int>(lines), tile.data());
    for (std::int64_t panel = 0; panel < lines; panel += width) {
      C* to = out + panel * length + i * width;
      for (std::int64_t j = 0; j < width; ++j) {
        to[j] = panel + j < lines ? tile[static_cast<std::size_t>(panel + j)] : C(0);
      }
    }
  }
}

// At most kBlockColumns lines.
template <class C>
void pack(const Factor& f, std::int64_t lines, std::int64_t length, std::int64_t line_stride,
          std::int64_t stride, std::int64_t width, C* out) {
  const bool is_along = std::abs(line_stride) < std::abs(stride);
  (is_along ? pack_along<C> : pack_across<C>)(f, lines, length, line_stride, stride, width, out);
}

// One tile of sums: the first `rows` rows of a panel, two vectors of columns, `depth` terms each.
template <class C, std::int64_t rows>
void multiply_tile(std::int64_t depth, const C* a, const C* b, C* sums, std::int64_t stride,
                   bool is_first) {
  Vector<C> acc[rows][2] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<C> left;
    Vector<C> right;
    std::memcpy(&left, b, sizeof left);
    std::memcpy(&right, b + kVector<C>, sizeof right);
    b += kPanelColumns<C>;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto factor = static_cast<Word<C>>(a[i]);
      acc[i][0] += factor * left;
      acc[i][1] += factor * right;
    }
    a += kPanelRows;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t v = 0; v < 2; ++v) {
      C* to = sums + i * stride + v * kVector<C>;
      Vector<C> sum = acc[i][v];
      if (!is_first) {
        Vector<C> before;
        std::memcpy(&before, to, sizeof before);
        sum = before + sum;
      }
      std::memcpy(to, &sum, sizeof sum);
    }
  }
}

// The sums of a block of rows and columns, from panels packed over all of k.
template <class C>
void multiply_block(std::int64_t rows, std::int64_t columns, std::int64_t k, const C* a, const C* b,
                    C* sums) {
  for (std::int64_t begin = 0; begin < k; begin += kGemmDepth) {
    const std::int64_t depth = std::min(kGemmDepth, k - begin);
    for (std::int64_t j = 0; j < columns; j += kPanelColumns<C>) {
      for (std::int64_t i = 0; i < rows; i += kPanelRows) {
        const auto multiply = rows - i == 1 ? multiply_tile<C, 1> : multiply_tile<C, kPanelRows>;
        multiply(depth, a + i * k + begin * kPanelRows, b + j * k + begin * kPanelColumns<C>,
                 sums + i * kBlockColumns + j, kBlockColumns, begin == 0);
      }
    }
  }
  if (k == 0) std::fill_n(sums, kBlockRows * kBlockColumns, C(0));
}

Factor moved(Factor f, std::int64_t rows, std::int64_t columns) {
  f.first += rows * f.row_stride + columns * f.column_stride;
  return f;
}

}  // namespace

template <class C>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const Factor& a, const Factor& b,
          const Finish<C>& finish) {
  auto& scratch = Scratch<C>::of_thread();
  const std::int64_t a_rows = round_up(std::min(m, kBlockRows), kPanelRows);
  const std::int64_t b_columns = round_up(std::min(n, kBlockColumns), kPanelColumns<C>);
  C* a_panels = scratch.at_least(scratch.a, a_rows * k);
  C* b_panels = scratch.at_least(scratch.b, b_columns * k);
  C* sums = scratch.at_least(scratch.sums, kBlockRows * kBlockColumns);
  for (std::int64_t column = 0; column < n; column += kBlockColumns) {
    const std::int64_t columns = std::min(kBlockColumns, n - column);
    if (k > 0) {
      pack<C>(moved(b, 0, column), columns, k, b.column_stride, b.row_stride, kPanelColumns<C>,
              b_panels);
    }
    for (std::int64_t row = 0; row < m; row += kBlockRows) {
      const std::int64_t rows = std::min(kBlockRows, m - row);
      if (k > 0 && (column == 0 || m > kBlockRows)) {
        pack<C>(moved(a, row, 0), rows, k, a.row_stride, a.column_stride, kPanelRows, a_panels);
      }
      multiply_block<C>(rows, columns, k, a_panels, b_panels, sums);
      for (std::int64_t i = 0; i < rows; ++i) {
        finish(row + i, column, sums + i * kBlockColumns, static_cast<int>(columns));
      }
    }
  }
}

template void gemm<float>(std::int64_t, std::int64_t, std::int64_t, const Factor&, const Factor&,
                          const Finish<float>&);
template void gemm<double>(std::int64_t, std::int64_t, std::int64_t, const Factor&, const Factor&,
                           const Finish<double>&);
template void gemm<std::int64_t>(std::int64_t, std::int64_t, std::int64_t, const Factor&,
                                 const Factor&, const Finish<std::int64_t>&);

namespace {

// The tensors of a Product as matrices, with the same leading sizes each.
struct Matrices {
  explicit Matrices(const Tensor& tensor, const Sizes& leading)
      : dtype(tensor.dtype),
        outer(broadcast_to(tensor, with_last_two(leading, tensor)),
              {tensor.rank() - 2, tensor.rank() - 1}) {
    const std::size_t last = tensor.sizes.size() - 1;
    row_stride = tensor.strides[last - 1] * tensor.item_bytes();
    column_stride = tensor.strides[last] * tensor.item_bytes();
  }
  static Sizes with_last_two(Sizes leading, const Tensor& tensor) {
    leading.insert(leading.end(), tensor.sizes.end() - 2, tensor.sizes.end());
    return leading;
  }
  [[nodiscard]] Factor at(std::int64_t index) const {
    return {dtype, outer.at(index), row_stride, column_stride};
  }
  [[nodiscard]] std::byte* element(std::int64_t index, std::int64_t row,
                                   std::int64_t column) const {
    return outer.at(index) + row * row_stride + column * column_stride;
  }

  spec::DType dtype;
  Rows outer;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

bool is_number(const Item& item, double value) { return number_as<double>(item) == value; }

template <class C>
struct Epilogue {
  spec::DType rounds_to;
  Tensor result;
  Matrices results;
  std::optional<Matrices> added;
  C alpha, beta;

  void operator()(std::int64_t matrix, std::int64_t row, std::int64_t column, C* values,
                  int n) const {
    using W = Word<C>;
    std::array<C, kBlockColumns> more;
    if (added) {
      load_tile<C>(added->dtype, added->element(matrix, row, column), added->column_stride, n,
                   more.data());
    }
    for (int i = 0; i < n; ++i) {
      W value = static_cast<W>(values[i]) * static_cast<W>(alpha);
      if (added) value += static_cast<W>(more[static_cast<std::size_t>(i)]) * static_cast<W>(beta);
      values[i] = static_cast<C>(value);
    }
    store_rounded<C>(rounds_to, values, n, result, results.element(matrix, row, column),
                     results.column_stride);
  }
};

template <class C>
Launch bind_product(const Product& p) {
  const Sizes leading(p.result.sizes.begin(), p.result.sizes.end() - 2);
  std::optional<Matrices> added;
  if (p.added && !is_number(p.beta, 0)) {
    added.emplace(broadcast_to(*p.added, p.result.sizes), leading);
  }
  const Matrices results(p.result, leading);
  const Epilogue<C> epilogue{p.rounds_to,         p.result, results, added, number_as<C>(p.alpha),
                             number_as<C>(p.beta)};
  const std::int64_t m = p.result.size(-2);
  const std::int64_t n = p.result.size(-1);
  return [a = Matrices(p.a, leading), b = Matrices(p.b, leading), epilogue, m, n, k = p.a.size(-1),
          count = checked_count(leading)] {
    for (std::int64_t matrix = 0; matrix < count; ++matrix) {
      gemm<C>(m, n, k, a.at(matrix), b.at(matrix),
              [&](std::int64_t row, std::int64_t column, C* values, int columns) {
                epilogue(matrix, row, column, values, columns);
              });
    }
  };
}

// Whether dimension `d` and the rows behind it are one longer dimension.
bool rows_merge(const Tensor& t) {
  const std::size_t row = t.sizes.size() - 2;
  return t.strides[row - 1] == t.strides[row] * t.sizes[row];
}

void merge_rows(Tensor& t) {
  const std::size_t row = t.sizes.size() - 2;
  t.sizes[row] *= t.sizes[row - 1];
  t.sizes.erase(t.sizes.begin() + static_cast<std::int64_t>(row) - 1);
  t.strides.erase(t.strides.begin() + static_cast<std::int64_t>(row) - 1);
}

// Many products with one b are one product with more rows: b is packed once.
void merge_shared(Product& p) {
  if (p.added) p.added = broadcast_to(*p.added, p.result.sizes);
  while (p.result.rank() > 2) {
    const auto leading = static_cast<std::size_t>(p.result.rank() - 3);
    const bool is_shared = p.b.sizes[leading] == 1 || p.b.strides[leading] == 0;
    const bool is_whole = p.a.sizes[leading] == p.result.sizes[leading];
    if (!is_shared || !is_whole || !rows_merge(p.a) || !rows_merge(p.result)) return;
    if (p.added && !rows_merge(*p.added)) return;
    merge_rows(p.a);
    merge_rows(p.result);
    if (p.added) merge_rows(*p.added);
    p.b.sizes.erase(p.b.sizes.begin() + static_cast<std::int64_t>(leading));
    p.b.strides.erase(p.b.strides.begin() + static_cast<std::int64_t>(leading));
  }
}

}  // namespace

Launch product_launch(const DeviceListener* listener, Product product) {
  merge_shared(product);
  Launch launch = with_compute(product.rounds_to,
                               [&]<class C>() -> Launch { return bind_product<C>(product); });
  if (listener == nullptr) return launch;
  if (listener->is_fast()) {
    if (auto fast = fast_product_works(*listener, product))
      return described(std::move(launch), *fast);
  }
  return described(std::move(launch), {product_text(product)});
}

Tensor with_unit_dim(Tensor tensor, std::int64_t dim) {
  tensor.sizes.insert(tensor.sizes.begin() + dim, 1);
  tensor.strides.insert(tensor.strides.begin() + dim, 0);
  return tensor;
}

Tensor swapped(Tensor tensor, std::int64_t dim_a, std::int64_t dim_b) {
  const auto a = static_cast<std::size_t>(wrap_dim(dim_a, tensor.rank()));
  const auto b = static_cast<std::size_t>(wrap_dim(dim_b, tensor.rank()));
  std::swap(tensor.sizes[a], tensor.sizes[b]);
  std::swap(tensor.strides[a], tensor.strides[b]);
  return tensor;
}

}  // namespace graphgate::optimized
