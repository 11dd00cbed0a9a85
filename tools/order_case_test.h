// Programs of ops that put elements in order, over rows that are full of equal elements and NaNs.
#pragma once

#include <string>

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

// Every op along dimension DIM of %x, whose length is N; HALF is the half of it.
inline std::string order_ops_text() {
  return R"(
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
}

inline std::string with_word(std::string text, const std::string& word, const std::string& what) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    text.replace(at, word.size(), what);
  }
  return text;
}

// Of a row length, along dimension `dim` of two.
inline std::string order_case(const std::string& dtype, std::int64_t length, int dim) {
  const std::string n = std::to_string(length);
  std::string text = "graphgate-case 1\nname \"order\"\nseed 7\nprogram \"p\" {\n";
  text += order_input_text(dtype, dim == 1 ? "[3, " + n + "]" : "[" + n + ", 3]");
  text += with_word(with_word(order_ops_text(), "DIM", std::to_string(dim)), "HALF",
                    std::to_string((length + 1) / 2));
  for (int op = 0; op < 10; ++op) {
    const std::string number = std::to_string(op);
    text += "  output %v";
    text += number;
    text += "\n  output %i";
    text += number;
    text += "\n";
  }
  return text + "  output %m\n}\nscenario {\n  call p\n}\nexpect PASS\n";
}

}  // namespace graphgate
