#include "optimized/codegen/row_text.h"

#include <algorithm>
#include <cstring>

#include "optimized/codegen/kernels.h"
#include "optimized/codegen/row_spelling.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/wide_rows.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

constexpr std::int64_t kLongestOfBlock = 8192;  // what a block's registers hold

// A number in the compute type of a float dtype.
std::uint64_t epsilon_bits(double epsilon, DType dtype) {
  std::uint64_t bits = 0;
  const auto narrow = static_cast<float>(epsilon);
  if (dtype == DType::kFloat64) {
    std::memcpy(&bits, &epsilon, sizeof epsilon);
  } else {
    std::memcpy(&bits, &narrow, sizeof narrow);
  }
  return bits;
}

// A warp takes a row.
TextWork work_by_warps(const Tensor& result, const Tensor& operand, std::int64_t rows) {
  return TextWork{.pointers = {result.data(), operand.data()},
                  .threads = rows * 32,
                  .accesses = {{result, true}, {operand, false}},
                  .shares_launches = true};
}

}  // namespace

std::optional<TextWork> reduce_text(const ReduceWork& work) {
  const RowParts from = rows_of(work.self, work.dims);
  const RowParts to = rows_of(work.result, {});
  const std::int64_t length = from.inner.count();
  if (length > kLongestRow) return {};
  TextWork out = work_by_warps(work.result, work.self, to.outer.count());
  const std::string c = compute_name(work.compute);
  out.statements = row_of_warp_text(to.outer.count()) + first_text("to", 0, to.outer) +
                   first_text("from", 1, from.outer) + place_text("from", from.inner) +
                   "  const auto term = [&](std::int64_t i) -> " + c + " {\n    return " +
                   load_text(work.self.dtype, work.dtype, work.compute, "at_from(i)") +
                   ";\n  };\n  const auto value = device::widened(" + work.function +
                   "(device::Terms<" + c + ", decltype(term)>{term}, " + std::to_string(length) +
                   "));\n  if (threadIdx.x % 32 != 0) return;\n  device::store<" +
                   format_name(work.result.dtype) + ">(to, " +
                   rounded_text(work.rounds_to, work.result.dtype, "value") + ");\n";
  return out;
}

std::optional<TextWork> softmax_text(const Tensor& result, const Tensor& self, std::int64_t dim,
                                     DType dtype, const std::string& function) {
  const RowParts from = rows_of(self, {dim});
  const RowParts to = rows_of(result, {dim});
  const std::int64_t length = from.inner.count();
  if (length > kLongestRow) return {};
  TextWork out = work_by_warps(result, self, from.outer.count());
  const std::string c = compute_name(dtype);
  out.statements = row_of_warp_text(from.outer.count()) + first_text("to", 0, to.outer) +
                   first_text("from", 1, from.outer) + place_text("to", to.inner) +
                   place_text("from", from.inner) + "  device::" + function + "<" + c + ">(" +
                   std::to_string(length) + ", [&](std::int64_t i) -> " + c + " {\n    return " +
                   load_text(self.dtype, dtype, dtype, "at_from(i)") +
                   ";\n  }, [&](std::int64_t i, " + c + " value) {\n    device::store<" +
                   format_name(result.dtype) + ">(at_to(i), " +
                   rounded_text(dtype, result.dtype, "value") + ");\n  });\n";
  return out;
}

namespace {

// Where elements of each of a norm's tensors lie: "at_NAME(i)".
void add_norm_rows(const RmsNormWork& work, TextWork& out) {
  const auto rows = [&](const Tensor& tensor, const std::string& name, bool is_written = false) {
    add_rows(out, tensor, {tensor.rank() - 1}, name, is_written);
  };
  rows(work.result, "to", true);
  rows(work.input, "from");
  rows(work.weight, "weight");
  if (work.residual != nullptr) rows(*work.residual, "residual");
  if (work.sum != nullptr) rows(*work.sum, "sum", true);
}

// A block takes a row, eight elements at a time where all tensors let it.
void add_norm_by_block(const DeviceListener& listener, const RmsNormWork& work, std::int64_t length,
                       TextWork& out) {
  const auto is_wide = [](const Tensor* tensor) {
    return tensor == nullptr || (is_half(tensor->dtype) && has_wide_rows(*tensor));
  };
  const bool all_are_wide = is_wide(&work.result) && is_wide(&work.input) &&
                            is_wide(&work.weight) && is_wide(work.residual) && is_wide(work.sum);
  const std::string width = all_are_wide ? "8" : "1";
  const std::string own = format_name(work.input.dtype);
  const std::string c = compute_name(work.input.dtype);
  const std::string each = "  for (int e = 0; e < " + width + "; ++e) ";
  const auto load = [](DType dtype, const char* at, const char* to) {
    return joined({"    device::load_row<", format_name(dtype), ">(at_", at, "(i), ", to, ");\n"});
  };
  const auto store = [](const Tensor& tensor, const char* at, const char* from) {
    return joined(
        {"    device::store_row<", format_name(tensor.dtype), ">(at_", at, "(i), ", from, ");\n"});
  };
  out.waits_itself = true;
  const bool is_constant = listener.is_constant(work.weight);
  for (DeviceAccess& access : out.accesses) {
    access.is_early = is_constant && access.tensor.data() == work.weight.data();
  }
  std::string& text = out.statements;
  text += "  device::rms_norm_by_block<" + own + ", " + format_name(work.compute) + ", " +
          std::to_string(length) + ", " + width + (work.by_power ? ", true" : ", false") +
          (is_constant ? ", true, " : ", false, ") + c + ">(" + epsilon_text(work) +
          ",\n      [&](std::int64_t i, " + c + " (&out)[" + width + "]) {\n" +
          load(work.weight.dtype, "weight", "out") + "  }, [&](std::int64_t i, " + c + " (&out)[" +
          width + "]) {\n" + load(work.input.dtype, "from", "out");
  if (work.residual != nullptr) {
    text += "    " + c + " more[" + width + "];\n" + load(work.input.dtype, "residual", "more") +
            "#pragma unroll\n  " + each + "out[e] = rounded_in<" + own + ">(more[e] + out[e]);\n";
  }
  const std::string numbers = "const " + c + " (&";
  text += "  }, [&](std::int64_t i, " + numbers + "x)[" + width + "], " + c + " (&normal)[" +
          width + "], " + numbers + "weight)[" + width + "]) {\n";
  if (work.sum != nullptr) text += store(*work.sum, "sum", "x");
  text += "#pragma unroll\n  " + each + "normal[e] = normal[e] * weight[e];\n" +
          store(work.result, "to", "normal") + "    (void)x;\n  });\n";
}

}  // namespace

std::string epsilon_text(const RmsNormWork& work) {
  return number_text(work.input.dtype, epsilon_bits(work.epsilon, work.input.dtype));
}

std::optional<TextWork> rms_norm_text(const DeviceListener& listener, const RmsNormWork& work) {
  const DType dtype = work.input.dtype;
  const RowParts from = rows_of(work.input, {work.input.rank() - 1});
  const std::int64_t length = from.inner.count();
  if (length > kLongestRow || length == 0) return {};
  TextWork out;
  const bool by_block = listener.is_fast() && length <= kLongestOfBlock;
  out.what = work.residual == nullptr ? "rms_norm" : "add_rms_norm";
  out.threads = from.outer.count() * (by_block ? kDeviceBlock : 32);
  std::string& text = out.statements;
  text =
      by_block ? "  const std::int64_t row = blockIdx.x;\n" : row_of_warp_text(from.outer.count());
  add_norm_rows(work, out);
  if (by_block) {
    add_norm_by_block(listener, work, length, out);
    if (work.residual == nullptr) {
      auto norm = std::make_shared<RmsNormWork>(work);
      norm->weight_is_constant = listener.is_constant(work.weight);
      out.norm = std::move(norm);
    }
    return out;
  }
  out.shares_launches = true;
  const std::string c = compute_name(dtype);
  std::string term = load_text(dtype, dtype, dtype, "at_from(i)");
  if (work.residual != nullptr) {
    term = "rounded_in<" + format_name(dtype) + ">(" +
           load_text(dtype, dtype, dtype, "at_residual(i)") + " + " + term + ")";
  }
  text += "  const auto term = [&](std::int64_t i) -> " + c + " {\n    return " + term +
          ";\n  };\n" + "  device::rms_norm<" + format_name(dtype) + ", " +
          format_name(work.compute) + ", " + (work.by_power ? "true" : "false") + ", " + c + ">(" +
          std::to_string(length) + ", " + epsilon_text(work) + ", term, [&](std::int64_t i, " + c +
          " x, " + c + " normal) {\n";
  if (work.sum != nullptr) {
    text += "    device::store<" + format_name(work.sum->dtype) + ">(at_sum(i), x);\n";
  }
  text += "    device::store<" + format_name(work.result.dtype) + ">(at_to(i), normal * " +
          load_text(work.weight.dtype, work.weight.dtype, dtype, "at_weight(i)") + ");\n  });\n";
  return out;
}

std::optional<TextWork> norm_text(const NormWork& work) {
  const DType dtype = work.input.dtype;
  const RowParts from = rows_of(work.input, work.dims);
  const RowParts to = rows_of(work.result, work.dims);
  const std::int64_t length = from.inner.count();
  if (length > kLongestRow || length == 0) return {};
  TextWork out = work_by_warps(work.result, work.input, from.outer.count());
  const std::string c = compute_name(dtype);
  const std::uint64_t epsilon = epsilon_bits(work.epsilon, dtype);
  std::string& text = out.statements;
  text = row_of_warp_text(from.outer.count()) + first_text("to", 0, to.outer) +
         first_text("from", 1, from.outer) + place_text("to", to.inner) +
         place_text("from", from.inner) + "  const auto term = [&](std::int64_t i) -> " + c +
         " {\n    return " + load_text(dtype, dtype, dtype, "at_from(i)") +
         ";\n  };\n  const auto statistics = device::statistics<" + c + ">(" +
         std::to_string(length) + ", " + number_text(dtype, epsilon) + ", term);\n";
  std::string scale;
  const auto parameter = [&](const Tensor* tensor, const std::string& name, const char* sign) {
    if (tensor == nullptr) return;
    const bool has_rows = tensor->rank() == work.input.rank();
    const RowParts rows =
        rows_of(*tensor, has_rows ? work.dims : wrap_dims({}, tensor->rank(), true));
    text += (has_rows
                 ? first_text(name, out.pointers.size(), rows.outer)
                 : "  char* const " + name + " = p" + std::to_string(out.pointers.size()) + ";\n") +
            place_text(name, rows.inner);
    out.pointers.push_back(tensor->data());
    out.accesses.push_back({*tensor, false});
    scale += std::string("    value = value ") + sign + " " +
             load_text(tensor->dtype, tensor->dtype, dtype, "at_" + name + "(i)") + ";\n";
  };
  parameter(work.weight, "weight", "*");
  parameter(work.bias, "bias", "+");
  text += "  for (std::int64_t i = threadIdx.x % 32; i < " + std::to_string(length) +
          "; i += 32) {\n    " + c +
          " value = (term(i) - statistics.center) * statistics.factor;\n" + scale +
          "    device::store<" + format_name(work.result.dtype) + ">(at_to(i), " +
          rounded_text(dtype, work.result.dtype, "value") + ");\n  }\n";
  const auto statistic = [&](const Tensor* tensor, const std::string& name, const char* member) {
    if (tensor == nullptr) return;
    text += first_text(name, out.pointers.size(), rows_of(*tensor, {}).outer);
    out.pointers.push_back(tensor->data());
    out.accesses.push_back({*tensor, true});
    text += "  if (threadIdx.x % 32 == 0) device::store<" + format_name(tensor->dtype) + ">(" +
            name + ", " +
            rounded_text(work.statistics, tensor->dtype, std::string("statistics.") + member) +
            ");\n";
  };
  statistic(work.mean, "mean", "center");
  statistic(work.deviation, "deviation", "factor");
  return out;
}

}  // namespace graphgate::optimized
