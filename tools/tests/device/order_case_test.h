// Programs of ops that put elements in order or go along rows, over rows that are full of equal
// elements and NaNs.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace graphgate {

// `%x`: integers of few values; as floats, with NaNs and both zeros.
inline std::string order_input_text(const std::string& dtype, const std::string& sizes) {
  if (dtype == "i64") {
    return "  input %r : i64" + sizes + "\n  %x = aten.bitwise_and.Scalar(%r, 7)\n";
  }
  return "  input %r : f32" + sizes +
         "\n  %a = aten.mul.Scalar(%r, 6.0)\n  %b = aten.trunc.default(%a)\n"
         "  %c = aten.ge.Scalar(%b, -4)\n  %d = aten.sqrt.default(%b)\n"
         "  %e = aten.where.self(%c, %b, %d)\n  %x = aten._to_copy.default(%e, dtype=" +
         dtype + ")\n";
}

// Ops along dimension DIM of %x; HALF is the half of its length.
inline constexpr const char* kOrders = R"(
  %v0, %i0 = aten.sort.default(%x, DIM)
  %v1, %i1 = aten.sort.default(%x, DIM, True)
  %v2, %i2 = aten.sort.stable(%x, stable=True, dim=DIM)
  %v3, %i3 = aten.sort.stable(%x, stable=True, dim=DIM, descending=True)
  %v4, %i4 = aten.topk.default(%x, 1, DIM)
  %v5, %i5 = aten.topk.default(%x, HALF, DIM)
  %v6, %i6 = aten.topk.default(%x, HALF, DIM, False, False)
  %v7, %i7 = aten.kthvalue.default(%x, HALF, DIM)
  %v8, %i8 = aten.median.dim(%x, DIM, True)
  %v9, %i9 = aten.nanmedian.dim(%x, DIM)
  %m = aten.median.default(%x)
)";
inline constexpr const char* kScans = R"(
  %v0, %i0 = aten.cummax.default(%x, DIM)
  %v1, %i1 = aten.cummin.default(%x, DIM)
  %s = aten.cumsum.default(%x, DIM)
  %p = aten.cumprod.default(%x, DIM)
)";
// With a row of boundaries for all values, and where rows lie along the last dimension one for each
// row. The sorter leaves them unsorted where there are NaNs, and is in range all the same.
inline constexpr const char* kSearches = R"(
  %q, %i = aten.sort.stable(%x, stable=True, dim=DIM)
  %w = aten.select.int(%q, OTHER, 1)
  %o = aten.select.int(%i, OTHER, 1)
  %u = aten.select.int(%x, OTHER, 1)
  %b0 = aten.bucketize.Tensor(%x, %w)
  %b1 = aten.bucketize.Tensor(%x, %w, out_int32=True, right=True)
  %b2 = aten.bucketize.Scalar(2, %w)
  %b3 = aten.searchsorted.Tensor(%u, %x, sorter=%o)
)";
inline constexpr const char* kRowSearches = R"(
  %q, %i = aten.sort.stable(%x, stable=True, dim=1)
  %k0 = aten.searchsorted.Tensor(%q, %x)
  %k1 = aten.searchsorted.Tensor(%x, %q, side="right", sorter=%i)
)";
// Of numbers that are finite.
inline constexpr const char* kBins = R"(
  %y = aten.nan_to_num.default(%x, 3.0)
  %h0 = aten.histc.default(%y, 7)
  %h1 = aten.histc.default(%x, 5, -3, 2)
  %h2 = aten.histc.default(%y, 3, 1, 1)
  %l = aten.logcumsumexp.default(%x, DIM)
)";

inline std::string with_word(std::string text, const std::string& word, const std::string& what) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    text.replace(at, word.size(), what);
  }
  return text;
}

// `ops` along dimension `dim` of two, of a row length; all that they make are outputs.
inline std::string order_case(const std::string& ops, const std::string& dtype, std::int64_t length,
                              int dim) {
  const std::string n = std::to_string(length);
  std::string text = "graphgate-case 1\nname \"order\"\nseed 7\nprogram \"p\" {\n";
  text += order_input_text(dtype, dim == 1 ? "[3, " + n + "]" : "[" + n + ", 3]");
  const std::string half = std::to_string((length + 1) / 2);
  text += with_word(
      with_word(with_word(ops, "DIM", std::to_string(dim)), "OTHER", std::to_string(1 - dim)),
      "HALF", half);
  std::istringstream lines(ops);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find('=');
    if (end == std::string::npos) continue;
    std::istringstream names(with_word(line.substr(0, end), ",", " "));
    for (std::string name; names >> name;) text += "  output " + name + "\n";
  }
  return text + "}\nscenario {\n  call p\n}\nexpect PASS\n";
}

// Some of each kind.
inline std::vector<std::string> order_cases() {
  return {order_case(kOrders, "bf16", 100, 1),     order_case(kOrders, "f32", 1000, 0),
          order_case(kOrders, "i64", 100, 0),      order_case(kScans, "f64", 100, 1),
          order_case(kSearches, "f16", 100, 1),    order_case(kSearches, "i64", 100, 0),
          order_case(kRowSearches, "f32", 100, 1), order_case(kBins, "f32", 1000, 0),
          order_case(kBins, "f64", 100, 1)};
}

}  // namespace graphgate
