#include "optimized/codegen/product_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "optimized/codegen/spelling.h"
#include "optimized/loop.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// A number argument in the compute type of `dtype`, as an expression.
std::string item_text(const Item& item, DType dtype) {
  std::uint64_t bits = 0;
  with_compute(dtype, [&]<class C>() {
    const C number = number_as<C>(item);
    std::memcpy(&bits, &number, sizeof number);
  });
  return number_text(dtype, bits);
}

Sizes leading_bytes(const Tensor& tensor, const Sizes& leading) {
  Sizes sizes = leading;
  sizes.insert(sizes.end(), tensor.sizes.end() - 2, tensor.sizes.end());
  Sizes strides = broadcast_strides(tensor, sizes);
  strides.resize(leading.size());
  for (std::int64_t& stride : strides) stride *= tensor.item_bytes();
  return strides;
}

std::int64_t row_bytes(const Tensor& t) { return t.strides[t.sizes.size() - 2] * t.item_bytes(); }
std::int64_t column_bytes(const Tensor& t) { return t.strides.back() * t.item_bytes(); }

}  // namespace

TextWork product_text(const Product& p) {
  const Sizes leading(p.result.sizes.begin(), p.result.sizes.end() - 2);
  const std::int64_t m = p.result.size(-2);
  const std::int64_t n = p.result.size(-1);
  const std::int64_t k = p.a.size(-1);
  const std::int64_t row_tiles = (m + 15) / 16;
  const std::int64_t column_tiles = (n + 15) / 16;
  std::optional<Tensor> added;
  if (p.added && number_as<double>(p.beta) != 0) added = broadcast_to(*p.added, p.result.sizes);
  const std::string c = compute_name(p.rounds_to);

  TextWork out{.pointers = {p.result.data(), p.a.data(), p.b.data()},
               .threads = checked_count(leading) * row_tiles * column_tiles * 256,
               .accesses = {{p.result, true}, {p.a, false}, {p.b, false}}};
  if (added) {
    out.pointers.push_back(added->data());
    out.accesses.push_back({*added, false});
  }
  std::string& text = out.statements;
  text = "  using C = " + c + ";\n  using W = internal::Accumulator<C>;\n";
  text += "  __shared__ W left[16][17];\n  __shared__ W right[16][17];\n";
  text += "  const std::int64_t block = thread / 256;\n";
  text += "  const std::int64_t matrix = block / " + text_of(row_tiles * column_tiles) + ";\n";
  text += "  const std::int64_t row0 = block / " + text_of(column_tiles) + " % " +
          text_of(row_tiles) + " * 16;\n";
  text += "  const std::int64_t column0 = block % " + text_of(column_tiles) + " * 16;\n";
  text += "  const int slow = threadIdx.x / 16;\n  const int fast = threadIdx.x % 16;\n";
  text += coordinates_text(leading, "matrix", "l");
  text += "  const char* const a = p1 + " + offset_text(leading_bytes(p.a, leading), "l") + ";\n";
  text += "  const char* const b = p2 + " + offset_text(leading_bytes(p.b, leading), "l") + ";\n";
  // Neighbours of a warp read neighbours in memory.
  const bool a_along_k = std::abs(column_bytes(p.a)) <= std::abs(row_bytes(p.a));
  const bool b_along_k = std::abs(row_bytes(p.b)) < std::abs(column_bytes(p.b));
  text += "  W total = 0;\n  W sum = 0;\n";
  text += "  for (std::int64_t k0 = 0; k0 < " + text_of(k) + "; k0 += 16) {\n    {\n";
  text += std::string("      const int i = ") + (a_along_k ? "slow" : "fast") + ";\n";
  text += std::string("      const int t = ") + (a_along_k ? "fast" : "slow") + ";\n";
  text += "      left[i][t] = row0 + i < " + text_of(m) + " && k0 + t < " + text_of(k) +
          " ? static_cast<W>(" +
          load_text(p.a.dtype, p.a.dtype, p.rounds_to,
                    "a + (row0 + i) * " + text_of(row_bytes(p.a)) + " + (k0 + t) * " +
                        text_of(column_bytes(p.a))) +
          ") : W(0);\n    }\n    {\n";
  text += std::string("      const int t = ") + (b_along_k ? "fast" : "slow") + ";\n";
  text += std::string("      const int j = ") + (b_along_k ? "slow" : "fast") + ";\n";
  text += "      right[t][j] = column0 + j < " + text_of(n) + " && k0 + t < " + text_of(k) +
          " ? static_cast<W>(" +
          load_text(p.b.dtype, p.b.dtype, p.rounds_to,
                    "b + (k0 + t) * " + text_of(row_bytes(p.b)) + " + (column0 + j) * " +
                        text_of(column_bytes(p.b))) +
          ") : W(0);\n    }\n    __syncthreads();\n";
  text += "    const std::int64_t depth = " + text_of(k) + " - k0 < 16 ? " + text_of(k) +
          " - k0 : 16;\n";
  text += "    for (int t = 0; t < depth; ++t) sum += left[slow][t] * right[t][fast];\n";
  text += "    __syncthreads();\n";
  text += "    if ((k0 + 16) % " + text_of(kGemmDepth) + " == 0 || k0 + 16 >= " + text_of(k) +
          ") {\n      total = k0 < " + text_of(kGemmDepth) +
          " ? sum : total + sum;\n      sum = 0;\n    }\n  }\n";
  text +=
      "  const std::int64_t row = row0 + slow;\n  const std::int64_t column = column0 + fast;\n";
  text += "  if (row >= " + text_of(m) + " || column >= " + text_of(n) + ") return;\n";
  text += "  W value = total * static_cast<W>(" + item_text(p.alpha, p.rounds_to) + ");\n";
  const auto element = [&](const Tensor& t, std::size_t pointer) {
    return "p" + std::to_string(pointer) + " + " + offset_text(leading_bytes(t, leading), "l") +
           " + row * " + text_of(row_bytes(t)) + " + column * " + text_of(column_bytes(t));
  };
  if (added) {
    text += "  value += static_cast<W>(" +
            load_text(added->dtype, added->dtype, p.rounds_to, element(*added, 3)) +
            ") * static_cast<W>(" + item_text(p.beta, p.rounds_to) + ");\n";
  }
  text += "  device::store<" + format_name(p.result.dtype) + ">(" + element(p.result, 0) + ", " +
          rounded_text(p.rounds_to, p.result.dtype, "static_cast<C>(value)") + ");\n";
  return out;
}

TextWork grouped_product_text(const Tensor& result, const Tensor& a, const Tensor& weights,
                              const Tensor& ends) {
  const std::int64_t count = result.count();
  const std::string rows = text_of(a.size(0));
  const DType dtype = a.dtype;
  TextWork out;
  out.threads = std::max<std::int64_t>(count, 1);  // one has to look at the ends
  out.pointers = {result.data(), a.data(), weights.data(), ends.data()};
  out.accesses = {{result, true}, {a, false}, {weights, false}, {ends, false}};
  out.reports_faults = true;
  out.shares_launches = true;
  out.what = "grouped product";
  std::string& text = out.statements;
  text = "  if (thread >= " + text_of(out.threads) + ") return;\n";
  text += "  const std::int64_t row = thread / " +
          text_of(std::max<std::int64_t>(result.size(1), 1)) + ";\n";
  text += "  std::int64_t begin = 0;\n  std::int64_t group = -1;\n";
  text += "  for (std::int64_t g = 0; g < " + text_of(weights.size(0)) + "; ++g) {\n";
  text +=
      "    const std::int64_t end = " +
      load_text(ends.dtype, ends.dtype, DType::kInt64, "p3 + g * " + text_of(column_bytes(ends))) +
      ";\n    if (end < begin || end > " + rows + ") {\n      device::report(fault, end, 0, " +
      rows + ", device::kGroupsDoNotAscend);\n      return;\n    }\n";
  text += "    if (begin <= row && row < end) group = g;\n    begin = end;\n  }\n";
  text += "  if (thread >= " + text_of(count) + ") return;\n";
  text += "  const std::int64_t column = thread % " +
          text_of(std::max<std::int64_t>(result.size(1), 1)) + ";\n";
  text += "  const char* const left = p1 + row * " + text_of(row_bytes(a)) + ";\n";
  text += "  const char* const right = p2 + group * " +
          text_of(weights.strides[0] * weights.item_bytes()) + " + column * " +
          text_of(column_bytes(weights)) + ";\n";
  const std::string c = compute_name(dtype);
  text += "  const " + c + " value = group < 0 ? " + c + "(0) : device::product_sum<" + c + ", " +
          text_of(kGemmDepth) + ">(" + text_of(a.size(1)) + ", [&](std::int64_t k) -> " + c +
          " {\n    return multiply(" +
          load_text(dtype, dtype, dtype, "left + k * " + text_of(column_bytes(a))) + ", " +
          load_text(dtype, dtype, dtype, "right + k * " + text_of(row_bytes(weights))) +
          ");\n  });\n";
  text += "  device::store<" + format_name(result.dtype) + ">(p0 + row * " +
          text_of(row_bytes(result)) + " + column * " + text_of(column_bytes(result)) +
          ", value);\n";
  return out;
}

}  // namespace graphgate::optimized
