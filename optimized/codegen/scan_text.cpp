#include "optimized/codegen/scan_text.h"

#include "optimized/codegen/row_spelling.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// A row of `self` for each thread, and the scan's state.
TextWork begin_scan(const Tensor& self, std::int64_t dim, const std::string& scan) {
  TextWork out{
      .threads = rows_of(self, {dim}).outer.count(), .what = "scan", .shares_launches = true};
  out.statements =
      joined({"  const std::int64_t row = thread;\n  if (row >= ", std::to_string(out.threads),
              ") return;\n  ", scan, " scan;\n"});
  add_rows(out, self, {dim}, "from");
  return out;
}

// `each` for every element i of a row.
void add_loop(TextWork& out, const Tensor& self, std::int64_t dim, const std::string& each) {
  out.statements +=
      joined({"  for (std::int64_t i = 0; i < ", std::to_string(rows_of(self, {dim}).inner.count()),
              "; ++i) {\n", each, "  }\n"});
}

}  // namespace

TextWork scan_text(const Tensor& result, const Tensor& self, std::int64_t dim, DType dtype,
                   const std::string& scan) {
  TextWork out = begin_scan(self, dim, scan);
  add_rows(out, result, {dim}, "to", true);
  const std::string value = "scan(" + load_text(self.dtype, dtype, dtype, "at_from(i)") + ")";
  add_loop(out, self, dim,
           joined({"    device::store<", format_name(result.dtype), ">(at_to(i), ",
                   rounded_text(dtype, result.dtype, value), ");\n"}));
  return out;
}

TextWork running_extreme_text(const Tensor& values, const Tensor& places, const Tensor& self,
                              std::int64_t dim, const std::string& scan) {
  TextWork out = begin_scan(self, dim, scan);
  add_rows(out, values, {dim}, "values", true);
  add_rows(out, places, {dim}, "places", true);
  add_loop(out, self, dim,
           joined({"    scan.take(", load_text(self.dtype, self.dtype, self.dtype, "at_from(i)"),
                   ", i);\n    device::put<", format_name(values.dtype),
                   ">(at_values(i), scan.value);\n    device::store<", format_name(places.dtype),
                   ">(at_places(i), scan.place);\n"}));
  return out;
}

}  // namespace graphgate::optimized
