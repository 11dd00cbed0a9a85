#include "optimized/codegen/batch_norm_text.h"

#include "optimized/codegen/row_spelling.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

// The text on its way: numbers of a channel are read and written at row `row`.
class BatchNormText {
 public:
  explicit BatchNormText(const BatchNormWork& work)
      : work_(work), dtype_(work.input.dtype), c_(compute_name(dtype_)) {}

  TextWork text() {
    std::vector<std::int64_t> dims = {0};
    for (std::int64_t d = 2; d < work_.input.rank(); ++d) dims.push_back(d);
    const RowParts from = rows_of(work_.input, dims);
    const RowParts to = rows_of(work_.result, dims);
    n_ = std::to_string(from.inner.count());
    out_.threads = from.outer.count() * 32;
    out_.pointers = {work_.result.data(), work_.input.data()};
    out_.accesses = {{work_.result, true}, {work_.input, false}};
    out_.shares_launches = true;
    out_.what = "batch_norm";
    out_.statements = row_of_warp_text(from.outer.count()) + first_text("to", 0, to.outer) +
                      first_text("from", 1, from.outer) + place_text("to", to.inner) +
                      place_text("from", from.inner);
    add_statistics();
    add_running();
    out_.statements +=
        "  for (std::int64_t i = threadIdx.x % 32; i < " + n_ + "; i += 32) {\n    device::store<" +
        format_name(work_.result.dtype) + ">(at_to(i), " +
        rounded_text(dtype_, work_.result.dtype, "(term(i) - mean) * scale + shift") + ");\n  }\n";
    return std::move(out_);
  }

 private:
  // Where a channel's number lies.
  std::string place(const Tensor& tensor, bool is_written) {
    out_.pointers.push_back(tensor.data());
    out_.accesses.push_back({tensor, is_written});
    return "p" + std::to_string(out_.pointers.size() - 1) + " + row * " +
           std::to_string(tensor.strides[0] * tensor.item_bytes());
  }
  std::string load(const Tensor& tensor) {
    return load_text(tensor.dtype, tensor.dtype, dtype_, place(tensor, false));
  }
  void store(const Tensor* tensor, const std::string& value) {
    if (tensor == nullptr) return;
    const std::string at = place(*tensor, true);
    out_.statements +=
        joined({"    device::store<", format_name(tensor->dtype), ">(", at, ", ", value, ");\n"});
  }
  void move_on(const Tensor* running, const std::string& value) {
    if (running == nullptr) return;
    const std::string momentum = number_text(dtype_, work_.momentum);
    store(running, joined({momentum, " * (", value, ") + (", c_, "(1) - ", momentum, ") * ",
                           load(*running)}));
  }

  void add_statistics() {
    const std::string count = "static_cast<" + c_ + ">(" + n_ + ")";
    const std::string sum = " = ordered_sum_of<" + c_ + ">(" + n_ + ", ";
    std::string& text = out_.statements;
    text += "  const auto term = [&](std::int64_t i) -> " + c_ + " {\n    return " +
            load_text(dtype_, dtype_, dtype_, "at_from(i)") + ";\n  };\n";
    text += "  const " + c_ + " mean" + sum + "term) / " + count + ";\n";
    text += "  const " + c_ + " squares" + sum + "[&](std::int64_t i) -> " + c_ + " {\n";
    text += "    const auto distance = term(i) - mean;\n    return distance * distance;\n  });\n";
    text += "  const " + c_ + " factor = " + c_ + "(1) / std::sqrt(squares / " + count + " + " +
            number_text(dtype_, work_.epsilon) + ");\n";
    const std::string weight = work_.weight != nullptr ? " * " + load(*work_.weight) : "";
    const std::string bias = work_.bias != nullptr ? load(*work_.bias) : c_ + "(0)";
    text += "  const " + c_ + " scale = factor" + weight + ";\n";
    text += "  const " + c_ + " shift = " + bias + ";\n";
  }

  // By one thread: what the call keeps of the batch.
  void add_running() {
    out_.statements += "  if (threadIdx.x % 32 == 0) {\n";
    move_on(work_.running_mean, "mean");
    move_on(work_.running_variance, "squares / static_cast<" + c_ + ">(" + n_ + " - 1)");
    store(work_.mean, "mean");
    store(work_.factor, "factor");
    out_.statements += "  }\n";
  }

  const BatchNormWork& work_;
  spec::DType dtype_;
  std::string c_, n_;
  TextWork out_;
};

}  // namespace

TextWork batch_norm_text(const BatchNormWork& work) { return BatchNormText(work).text(); }

}  // namespace graphgate::optimized
