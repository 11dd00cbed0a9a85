#include "optimized/codegen/chosen_text.h"

#include "optimized/codegen/kernels.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

std::string word_at(const Tensor& tensor, const std::string& place) {
  return joined(
      {"*reinterpret_cast<std::uint", text_of(8 * tensor.item_bytes()), "_t*>(", place, ")"});
}

// "p0 + x0 * 4...", at the coordinates x0, x1...
std::string place_text(std::size_t pointer, const Tensor& tensor, const std::string& prefix) {
  Sizes strides = tensor.strides;
  for (std::int64_t& stride : strides) stride *= tensor.item_bytes();
  return "p" + std::to_string(pointer) + " + " + offset_text(strides, prefix);
}

// Visits the elements of `tensor` that are not 0: statements that see element `i` at x0, x1..., and
// how many are before it as `rank`.
std::string visit_text(std::size_t pointer, const Tensor& tensor, const std::string& visit) {
  return "  const std::int64_t all = device::for_each_chosen(" + text_of(tensor.count()) +
         ", [&](std::int64_t i) -> bool {\n" + coordinates_text(tensor.sizes, "i", "x") +
         "    return " +
         load_text(tensor.dtype, tensor.dtype, tensor.dtype, place_text(pointer, tensor, "x")) +
         " != 0;\n  }, [&](std::int64_t i, std::int64_t rank) {\n" +
         coordinates_text(tensor.sizes, "i", "x") + visit + "  });\n";
}

TextWork begin(std::vector<DeviceAccess> accesses, std::string what) {
  TextWork out;
  for (const DeviceAccess& access : accesses) out.pointers.push_back(access.tensor.data());
  out.accesses = std::move(accesses);
  out.threads = kDeviceBlock;
  out.what = std::move(what);
  return out;
}

}  // namespace

TextWork masked_scatter_text(const Tensor& result, const Tensor& mask, const Tensor& source) {
  TextWork out = begin({{result, true}, {mask, false}, {source, false}}, "masked_scatter");
  out.reports_faults = true;
  const std::string count = text_of(source.count());
  out.statements = visit_text(1, mask,
                              "    if (rank >= " + count + ") return;\n" +
                                  coordinates_text(source.sizes, "rank", "y") + "    " +
                                  word_at(result, place_text(0, result, "x")) + " = " +
                                  word_at(source, place_text(2, source, "y")) + ";\n") +
                   "  if (all > " + count + ") device::report(fault, 0, 0, " + count +
                   ", device::kSourceTooShort);\n";
  return out;
}

TextWork nonzero_static_text(const Tensor& result, const Tensor& self, std::int64_t fill) {
  TextWork out = begin({{result, true}, {self, false}}, "nonzero_static");
  const std::string rows = text_of(result.size(0));
  const std::string row_bytes = text_of(result.strides[0] * result.item_bytes());
  const auto put = [&](std::int64_t d, const std::string& row, const std::string& value) {
    return joined({"    *reinterpret_cast<std::int64_t*>(p0 + ", row, " * ", row_bytes, " + ",
                   text_of(d * result.strides[1] * result.item_bytes()), ") = ", value, ";\n"});
  };
  std::string found = "    if (rank >= " + rows + ") return;\n";
  std::string missing;
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    found += put(d, "rank", "x" + text_of(d));
    missing += put(d, "row", text_of(fill));
  }
  out.statements = visit_text(1, self, found) +
                   "  for (std::int64_t row = all + threadIdx.x; row < " + rows +
                   "; row += " + text_of(kDeviceBlock) + ") {\n" + missing + "  }\n";
  return out;
}

}  // namespace graphgate::optimized
