#include "optimized/codegen/bins_text.h"
#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/row_spelling.h"
#include "optimized/codegen/row_text.h"
#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// Row-major elements of `dtype` that only the device has; without bytes where there is no scratch.
Tensor scratch_tensor(const DeviceListener& listener, DType dtype, const Sizes& sizes) {
  Tensor out{.dtype = dtype, .sizes = sizes, .strides = row_major_strides(sizes)};
  out.bytes = listener.reserve(out.count() * out.item_bytes());
  return out;
}

std::vector<std::int64_t> all_dims(const Tensor& tensor) {
  return wrap_dims({}, tensor.rank(), true);
}

std::string first_lines(std::int64_t threads) {
  return "  if (thread >= " + std::to_string(threads) + ") return;\n";
}

// The least or the greatest element.
std::optional<TextWork> extreme(const Tensor& result, const Tensor& self, bool is_greatest) {
  const DType c = result.dtype;
  return reduce_text({result, self, all_dims(self), self.dtype, c, c,
                      joined({"device::ExtremeValue<", compute_name(c),
                              is_greatest ? ", true>{}" : ", false>{}"})});
}

// Every element is counted in `counts`.
TextWork count_text(const BinsWork& work, const Tensor& counts, const Tensor* low,
                    const Tensor* high) {
  TextWork out{.threads = work.self.count(), .what = "count", .shares_launches = true};
  out.statements = first_lines(out.threads);
  add_rows(out, work.self, all_dims(work.self), "self");
  add_rows(out, counts, {0}, "counts", true);
  const DType c = compute_dtype(work.self.dtype);
  if (low != nullptr) {
    add_rows(out, *low, {0}, "low");
    add_rows(out, *high, {0}, "high");
    out.reports_faults = true;
  }
  const auto bound = [&](const char* name, std::uint64_t bits) {
    if (low == nullptr) return number_text(c, bits);
    return load_text(c, c, c, joined({"at_", name, "(0)"}));
  };
  const BinsWork::Range given = work.range.value_or(BinsWork::Range{});
  out.statements +=
      joined({"  element::Bins<", compute_name(c), "> bins = {", bound("low", given.low), ", ",
              bound("high", given.high), ", std::int64_t{", std::to_string(work.count), "}};\n"});
  if (low != nullptr) {
    out.statements +=
        "  if (bins.low != bins.low) return device::report(fault, device::kElementsNotFinite);\n"
        "  bins.widen();\n"
        "  if (!bins.are_finite()) return device::report(fault, device::kBinsNotFinite);\n";
  }
  out.statements +=
      joined({"  const std::int64_t bin = bins(",
              load_text(work.self.dtype, work.self.dtype, work.self.dtype, "at_self(thread)"),
              ");\n  if (bin < 0) return;\n"
              "  atomicAdd(reinterpret_cast<unsigned long long*>(at_counts(bin)), 1ull);\n"});
  return out;
}

}  // namespace

std::optional<DeviceWorks> bins_works(const DeviceListener& listener, const BinsWork& work) {
  const DType c = compute_dtype(work.self.dtype);
  const Tensor counts = scratch_tensor(listener, DType::kInt64, {work.count});
  if (counts.bytes == nullptr) return {};
  DeviceWorks out = {fill_work(counts, {})};
  if (work.range) {
    out.emplace_back(count_text(work, counts, nullptr, nullptr));
  } else {
    const Tensor low = scratch_tensor(listener, c, {});
    const Tensor high = scratch_tensor(listener, c, {});
    if (low.bytes == nullptr || high.bytes == nullptr) return {};
    auto least = extreme(low, work.self, false);
    auto greatest = extreme(high, work.self, true);
    if (!least || !greatest) return {};
    out.emplace_back(*std::move(least));
    out.emplace_back(*std::move(greatest));
    out.emplace_back(count_text(work, counts, &low, &high));
  }
  out.emplace_back(copy_work(work.result, counts));
  return out;
}

namespace {

// Whether `place`, read from a sorter of n, is one: what is done otherwise stands behind it.
std::string check_text(std::int64_t n) {
  return joined({"  if (place < 0 || place >= ", std::to_string(n), ") "});
}

// Every index of the sorter, read or not.
TextWork sorter_text(const Tensor& sorter) {
  TextWork out{.threads = sorter.count(), .reports_faults = true, .shares_launches = true};
  out.statements = first_lines(out.threads);
  add_rows(out, sorter, all_dims(sorter), "sorter");
  const std::int64_t n = sorter.sizes.back();
  out.statements +=
      joined({"  const std::int64_t place = ",
              load_text(sorter.dtype, sorter.dtype, DType::kInt64, "at_sorter(thread)"), ";\n",
              check_text(n), "device::report(fault, place, 0, ", std::to_string(n),
              ", device::kSorterOutOfRange);\n"});
  return out;
}

// `boundaries`, whose element i is boundary i of the row in the sorter's order.
void add_boundaries(const SearchWork& work, TextWork& out) {
  const std::vector<std::int64_t> last = {work.boundaries.rank() - 1};
  const std::string c = compute_name(work.dtype);
  const DType from = work.boundaries.dtype;
  add_rows(out, work.boundaries, last, "boundary");
  std::string place = "i";
  if (work.sorter) {
    add_rows(out, *work.sorter, last, "sorter");
    place = load_text(DType::kInt64, DType::kInt64, DType::kInt64, "at_sorter(i)");
  }
  // What is out of range has been told.
  out.statements += joined({"  const auto boundary_at = [&](std::int64_t i) -> ", c,
                            " {\n    std::int64_t place = ", place, ";\n  ",
                            check_text(work.boundaries.sizes.back()), "place = 0;\n    return ",
                            load_text(from, from, work.dtype, "at_boundary(place)"),
                            ";\n  };\n  const device::Terms<", c,
                            ", decltype(boundary_at)> boundaries{boundary_at};\n"});
}

TextWork search_text(const SearchWork& work) {
  const RowParts rows = rows_of(work.result, work.dims);
  TextWork out{.threads = work.result.count(), .what = "search", .shares_launches = true};
  out.statements = first_lines(out.threads) +
                   coordinates_text({rows.outer.count(), rows.inner.count()}, "thread", "x") +
                   "  const std::int64_t row = x0;\n";
  add_rows(out, work.result, work.dims, "result", true);
  add_boundaries(work, out);
  std::string x = number_text(work.dtype, work.number);
  if (work.values) {
    add_rows(out, *work.values, work.dims, "value");
    x = load_text(work.values->dtype, work.values->dtype, work.dtype, "at_value(x1)");
  }
  out.statements += joined({"  device::store<", format_name(work.result.dtype),
                            ">(at_result(x1), element::place_among(boundaries, std::int64_t{",
                            std::to_string(work.boundaries.sizes.back()), "}, ", x,
                            work.right ? ", true));\n" : ", false));\n"});
  return out;
}

}  // namespace

DeviceWorks search_works(const SearchWork& work) {
  DeviceWorks out;
  if (work.sorter) out.emplace_back(sorter_text(*work.sorter));
  out.emplace_back(search_text(work));
  return out;
}

}  // namespace graphgate::optimized
