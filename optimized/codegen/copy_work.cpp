#include "optimized/codegen/copy_work.h"

#include <cstring>

#include "base/result.h"
#include "optimized/arithmetic/tile.h"
#include "optimized/codegen/spelling.h"
#include "optimized/word_dtype.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr const char* kIdentity = "element::Identity{}";

}  // namespace

PointwiseWork copy_work(const Tensor& target, const Tensor& source) {
  PointwiseWork work{target, target.dtype, compute_dtype(source.dtype), kIdentity, {}};
  Tensor from = source;
  if (target.dtype == source.dtype) {
    const DType word = word_dtype(target.dtype);
    work.result.dtype = word;
    work.rounds_to = word;
    work.compute = DType::kInt64;
    from.dtype = word;
  }
  work.operands.push_back({from, from.dtype, false, 0});
  return work;
}

bool is_copy(const PointwiseWork& work) {
  if (work.function != kIdentity || work.operands.size() != 1) return false;
  const DeviceOperand& from = work.operands.front();
  const DType dtype = work.result.dtype;
  return !from.is_number && dtype == word_dtype(dtype) && work.rounds_to == dtype &&
         work.compute == DType::kInt64 && from.as == dtype && from.tensor.dtype == dtype;
}

PointwiseWork copy_of_numbers(PointwiseWork copy, DType dtype) {
  DeviceOperand& from = copy.operands.front();
  copy.result.dtype = copy.rounds_to = from.tensor.dtype = from.as = dtype;
  copy.compute = compute_dtype(dtype);
  return copy;
}

PointwiseWork fill_work(const Tensor& target, const std::array<std::byte, 8>& element) {
  const DType word = word_dtype(target.dtype);
  PointwiseWork work{target, word, DType::kInt64, kIdentity, {}};
  work.result.dtype = word;
  const auto bits = load_element<std::int64_t>(word, element.data());
  DeviceOperand number{{}, word, true, 0};
  std::memcpy(&number.number, &bits, sizeof bits);
  work.operands.push_back(number);
  return work;
}

TextWork sequence_text(const Tensor& result, const std::string& function) {
  GRAPHGATE_CHECK(!function.empty());
  TextWork work{.pointers = {result.data()},
                .threads = result.count(),
                .accesses = {{result, true}},
                .shares_launches = true};
  work.statements = "  if (thread >= " + std::to_string(work.threads) + ") return;\n" +
                    "  device::store<" + format_name(result.dtype) + ">(p0 + thread * " +
                    std::to_string(result.strides.front() * result.item_bytes()) + ", " + function +
                    "(thread));\n";
  return work;
}

TextWork linear_steps_text(const Tensor& result, bool in_double, bool is_whole,
                           const DeviceOperand& first, const DeviceOperand& last) {
  TextWork work{.pointers = {result.data()},
                .threads = result.count(),
                .accesses = {{result, true}},
                .shares_launches = true};
  const DType compute = in_double ? DType::kFloat64 : DType::kFloat32;
  const auto bound = [&](const DeviceOperand& operand) {
    std::string text = number_text(compute, operand.number);
    if (!operand.is_number) {
      const DType dtype = operand.tensor.dtype;
      text = load_text(dtype, dtype, compute, "p" + std::to_string(work.pointers.size()));
      work.pointers.push_back(operand.tensor.data());
      work.accesses.push_back({operand.tensor, false});
    }
    return is_whole ? "std::trunc(" + text + ")" : text;
  };
  const std::string start = bound(first);
  const std::string end = bound(last);
  work.statements = "  if (thread >= " + std::to_string(work.threads) + ") return;\n" +
                    joined({"  device::store<", format_name(result.dtype), ">(p0 + thread * ",
                            std::to_string(result.strides.front() * result.item_bytes()),
                            ", element::linear_step<", compute_name(compute), ">(", start, ", ",
                            end, ", ", std::to_string(work.threads), ", thread));\n"});
  return work;
}

TextWork triangle_text(const Tensor& result, const Tensor& self, std::int64_t diagonal,
                       bool is_lower) {
  TextWork work{.pointers = {result.data(), self.data()},
                .threads = result.count(),
                .accesses = {{result, true}, {self, false}},
                .shares_launches = true};
  const auto at = [](const Tensor& tensor) {
    Sizes strides = tensor.strides;
    for (std::int64_t& stride : strides) stride *= tensor.item_bytes();
    return offset_text(strides, "x");
  };
  const std::string row = "x" + std::to_string(result.rank() - 2);
  const std::string column = "x" + std::to_string(result.rank() - 1);
  const std::string word = "std::uint" + std::to_string(8 * result.item_bytes()) + "_t";
  work.statements = "  if (thread >= " + std::to_string(work.threads) + ") return;\n" +
                    coordinates_text(result.sizes, "thread", "x") + "  *reinterpret_cast<" + word +
                    "*>(p0 + " + at(result) + ") = " + column + (is_lower ? " <= " : " >= ") + row +
                    " + " + std::to_string(diagonal) + " ? *reinterpret_cast<const " + word +
                    "*>(p1 + " + at(self) + ") : " + word + "{0};\n";
  return work;
}

}  // namespace graphgate::optimized
