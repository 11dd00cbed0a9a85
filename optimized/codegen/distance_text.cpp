#include "optimized/codegen/distance_text.h"

#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

// Statements that take the distance of rows `left` and `right`, and store it at `to`.
std::string pair_text(const Tensor& result, const Tensor& a, const Tensor& b,
                      const std::string& function, const std::string& to) {
  const std::string c = compute_name(a.dtype);
  const auto row = [&](const std::string& name, const Tensor& tensor) {
    return joined(
        {"  const auto ", name, "_term = [&](std::int64_t i) -> ", c, " {\n    return ",
         load_text(tensor.dtype, tensor.dtype, tensor.dtype,
                   name + " + i * " + std::to_string(tensor.strides.back() * tensor.item_bytes())),
         ";\n  };\n  using ", name, "_row = device::Terms<", c, ", decltype(", name,
         "_term)>;\n  const ", name, "_row ", name, "s{", name, "_term};\n"});
  };
  return row("left", a) + row("right", b) + "  const " + c + " distance = " + function +
         "(element::Difference<" + c + ", left_row, right_row>{lefts, rights}, " +
         std::to_string(a.size(-1)) + ");\n  if (threadIdx.x % 32 != 0) return;\n" +
         "  device::store<" + format_name(result.dtype) + ">(" + to + ", " +
         rounded_text(a.dtype, result.dtype, "distance") + ");\n";
}

TextWork begin(const Tensor& result, const Tensor& a, const Tensor& b) {
  TextWork out{.pointers = {result.data(), a.data(), b.data()},
               .threads = result.count() * 32,
               .what = "distances",
               .accesses = {{result, true}, {a, false}, {b, false}},
               .shares_launches = true};
  out.statements =
      "  const std::int64_t pair = thread / 32;\n  if (pair >= " + std::to_string(result.count()) +
      ") return;\n";
  return out;
}

}  // namespace

TextWork distance_text(const Tensor& result, const Tensor& a, const Tensor& b,
                       const std::string& function) {
  TextWork out = begin(result, a, b);
  // At the result's coordinates, `a` stays where j moves, and `b` where i does.
  Sizes left = strides_in_bytes(a);
  Sizes right = strides_in_bytes(b);
  left.back() = 0;
  right.back() = right[right.size() - 2];
  right[right.size() - 2] = 0;
  out.statements +=
      coordinates_text(result.sizes, "pair", "x") + "  const char* const left = p1 + " +
      offset_text(left, "x") + ";\n  const char* const right = p2 + " + offset_text(right, "x") +
      ";\n" +
      pair_text(result, a, b, function, "p0 + " + offset_text(strides_in_bytes(result), "x"));
  return out;
}

TextWork pair_distance_text(const Tensor& result, const Tensor& self, const std::string& function) {
  TextWork out = begin(result, self, self);
  const std::string rows = std::to_string(self.sizes[0]);
  const std::string pitch = std::to_string(self.strides[0] * self.item_bytes());
  out.statements +=
      "  std::int64_t i = 0;\n  std::int64_t rest = pair;\n  for (; rest >= " + rows +
      " - 1 - i; ++i) rest -= " + rows + " - 1 - i;\n  const char* const left = p1 + i * " + pitch +
      ";\n  const char* const right = p2 + (i + 1 + rest) * " + pitch + ";\n" +
      pair_text(result, self, self, function,
                "p0 + pair * " + std::to_string(result.strides[0] * result.item_bytes()));
  return out;
}

}  // namespace graphgate::optimized
