// Running sums, products, extrema and differences along one dimension.
#include "optimized/analysis/row_rules.h"
#include "optimized/codegen/scan_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/elements/scans.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/kernels/view_geometry.h"
#include "optimized/promotion.h"
#include "optimized/scratch.h"
#include "optimized/strides.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;
using spec::DType;

Dims scanned_dims(const KernelCall& call, const Tensor& self) {
  return {wrap_dim(call.integer("dim"), self.rank())};
}

// Integers widen to int64, unless the result is given.
DType scan_dtype(const KernelCall& call) {
  if (const Tensor* out = call.written_result(0)) return out->dtype;
  if (const auto dtype = call.optional_dtype("dtype")) return *dtype;
  const DType dtype = call.tensor("self").dtype;
  return spec::is_floating_point(dtype) ? dtype : DType::kInt64;
}

void infer_scan(Inference& call) {
  const Tensor& self = call.tensor("self");
  (void)scanned_dims(call, self);
  call.make(scan_dtype(call), self.sizes);
}

// Rows of compute type C along which a Scan (elements/scans.h) goes.
template <class C, class Scan>
Launch scan_launch(const Binding& call, DType dtype) {
  const Tensor& self = call.tensor("self");
  const Dims dims = scanned_dims(call, self);
  Launch launch = [from = ConvertedRows(self, dims, dtype), to = Rows(call.result(), dims),
                   result = call.result(), dtype] {
    std::vector<C> row(at(from.length()));
    for (std::int64_t r = 0; r < from.count(); ++r) {
      from.template load<C>(r, row.data());
      Scan scan;
      for (C& x : row) x = scan(x);
      store_row<C>(result, to, r, dtype, row.data());
    }
  };
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch),
                   {scan_text(call.result(), self, dims[0], dtype, type_text<Scan>())});
}

Launch bind_cumulative_sum(const Binding& call) {
  const DType dtype = scan_dtype(call);
  return with_compute(
      dtype, [&]<class C>() { return scan_launch<C, element::RunningSum<C>>(call, dtype); });
}

Launch bind_cumulative_product(const Binding& call) {
  const DType dtype = scan_dtype(call);
  return with_compute(
      dtype, [&]<class C>() { return scan_launch<C, element::RunningProduct<C>>(call, dtype); });
}

void infer_logcumsumexp(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (!spec::is_floating_point(self.dtype)) {
    throw OpError("logcumsumexp wants a floating-point input");
  }
  (void)scanned_dims(call, self);
  call.make(self.dtype, self.sizes);
}

Launch bind_logcumsumexp(const Binding& call) {
  const DType dtype = call.tensor("self").dtype;
  return with_real(
      dtype, [&]<class C>() { return scan_launch<C, element::RunningLogSumExp<C>>(call, dtype); });
}

void infer_extremum(Inference& call) {
  const Tensor& self = call.tensor("self");
  (void)scanned_dims(call, self);
  call.make(self.dtype, self.sizes);
  call.make(DType::kInt64, self.sizes);
}

template <bool greatest>
Launch bind_extremum(const Binding& call) {
  const Tensor& self = call.tensor("self");
  const Dims dims = scanned_dims(call, self);
  return with_compute(self.dtype, [&]<class C>() -> Launch {
    using Scan = element::RunningExtreme<C, greatest>;
    Launch launch = [from = Rows(self, dims), values = Rows(call.result(0), dims),
                     indices = Rows(call.result(1), dims)] {
      std::vector<C> row(at(from.length()));
      std::vector<std::int64_t> where(row.size());
      for (std::int64_t r = 0; r < from.count(); ++r) {
        from.template load<C>(r, row.data());
        Scan scan;
        for (std::size_t i = 0; i < row.size(); ++i) {
          scan.take(row[i], static_cast<std::int64_t>(i));
          row[i] = scan.value;
          where[i] = scan.place;
        }
        values.template store<C>(r, row.data());
        indices.store<std::int64_t>(r, where.data());
      }
    };
    if (call.listener() == nullptr) return launch;
    return described(std::move(launch), {running_extreme_text(call.result(0), call.result(1), self,
                                                              dims[0], type_text<Scan>())});
  });
}

// What diff works on: prepend, self and append, one after the other.
struct JoinedScan {
  std::vector<Tensor> parts;
  DType dtype = DType::kFloat32;
  std::int64_t dim = 0;
  Sizes sizes, strides;
  std::int64_t steps = 0;
};

JoinedScan joined_input(const KernelCall& call) {
  JoinedScan out;
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("diff wants an input with dimensions");
  out.dim = wrap_dim(call.integer("dim"), self.rank());
  out.sizes = self.sizes;
  out.strides = self.strides;
  std::vector<const Tensor*> given = {call.optional_tensor("prepend"), &self,
                                      call.optional_tensor("append")};
  std::erase(given, nullptr);
  out.dtype = self.dtype;
  if (given.size() > 1) out.dtype = result_type(given);
  std::int64_t length = 0;
  for (const Tensor* part : given) {
    Sizes sizes = part->sizes;
    if (part->rank() != self.rank()) throw OpError("diff joins tensors of one rank");
    length += sizes[at(out.dim)];
    sizes[at(out.dim)] = self.sizes[at(out.dim)];
    if (sizes != self.sizes) throw OpError("diff joins tensors that differ along one dimension");
    out.parts.push_back(*part);
  }
  out.sizes[at(out.dim)] = length;
  if (given.size() > 1) out.strides = row_major_strides(out.sizes);
  const std::int64_t steps = call.integer("n");
  if (steps < 0) throw OpError("diff wants an order of 0 or more");
  out.steps = std::min(steps, length);
  return out;
}

void infer_diff(Inference& call) {
  JoinedScan input = joined_input(call);
  Tensor step = call.tensor("self");
  step.dtype = input.dtype;
  step.sizes = input.sizes;
  step.strides = input.strides;
  if (input.steps == 0) step.strides = strides_like(step, spec::MemoryFormat::kPreserve);
  for (std::int64_t i = 0; i < input.steps; ++i) {
    --step.sizes[at(input.dim)];
    step.strides = pointwise_strides({&step, &step}, step.sizes);
  }
  call.make(input.dtype, step.sizes, step.strides);
}

template <class C>
void difference(DType dtype, std::vector<C>& row, std::int64_t n) {
  using W = internal::Accumulator<C>;
  for (std::int64_t i = 0; i < n; ++i) {
    row[at(i)] = static_cast<C>(static_cast<W>(row[at(i + 1)]) - static_cast<W>(row[at(i)]));
  }
  round_values<C>(dtype, row.data(), n);  // a bool difference is "not equal"
}

// The same over all rows at once, told to a device: the parts in one piece, then step by step,
// through bytes of the device alone. Null where nobody reserves them.
Launch diff_in_steps(const Binding& call, const JoinedScan& input) {
  std::int64_t length = input.sizes[at(input.dim)];
  bool has_room = true;
  const auto along = [&](std::int64_t count) {
    Sizes sizes = input.sizes;
    sizes[at(input.dim)] = count;
    std::byte* bytes = call.listener()->reserve(scratch_bytes(input.dtype, sizes));
    has_room &= bytes != nullptr;
    return scratch_tensor(input.dtype, sizes, bytes);
  };
  std::vector<Launch> launches;
  Tensor current = input.parts.front();
  if (input.parts.size() > 1) {
    current = along(length);
    std::int64_t begin = 0;
    for (const Tensor& part : input.parts) {
      const std::int64_t count = part.sizes[at(input.dim)];
      launches.push_back(
          copy_launch(call.listener(), narrowed(current, input.dim, begin, count), part));
      begin += count;
    }
  }
  for (std::int64_t step = 1; step <= input.steps; ++step) {
    --length;
    const Tensor next = step == input.steps ? call.result() : along(length);
    with_compute(input.dtype, [&]<class C>() {
      launches.push_back(launch_tensors<C>(call.listener(), next, input.dtype, element::Subtract(),
                                           narrowed(current, input.dim, 1, length),
                                           narrowed(current, input.dim, 0, length)));
    });
    current = next;
  }
  if (input.steps == 0) launches.push_back(copy_launch(call.listener(), call.result(), current));
  return has_room ? in_turn(std::move(launches)) : Launch();
}

Launch bind_diff(const Binding& call) {
  const JoinedScan input = joined_input(call);
  if (call.result().count() == 0) return {};
  const Dims dims = {input.dim};
  std::vector<ConvertedRows> parts;
  parts.reserve(input.parts.size());
  for (const Tensor& part : input.parts) parts.emplace_back(part, dims, input.dtype);
  Launch launch = with_compute(input.dtype, [&]<class C>() -> Launch {
    return [parts, to = Rows(call.result(), dims), result = call.result(), dtype = input.dtype,
            steps = input.steps, length = input.sizes[at(input.dim)]] {
      std::vector<C> row(at(length));
      for (std::int64_t r = 0; r < to.count(); ++r) {
        C* out = row.data();
        for (const ConvertedRows& part : parts) {
          part.template load<C>(r, out);
          out += part.length();
        }
        for (std::int64_t step = 1; step <= steps; ++step) difference(dtype, row, length - step);
        store_row<C>(result, to, r, dtype, row.data());
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  const Launch steps = diff_in_steps(call, input);
  return steps ? described(std::move(launch), *steps.works) : launch;
}

}  // namespace

std::span<const Kernel> scan_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten.cumsum", infer_scan, bind_cumulative_sum}.rows(row_rules::along_dim),
      Kernel{"aten.cumprod", infer_scan, bind_cumulative_product}.rows(row_rules::along_dim),
      Kernel{"aten.logcumsumexp", infer_logcumsumexp, bind_logcumsumexp}.rows(row_rules::along_dim),
      Kernel{"aten.cummax", infer_extremum, bind_extremum<true>}.rows(row_rules::along_dim),
      Kernel{"aten.cummin", infer_extremum, bind_extremum<false>}.rows(row_rules::along_dim),
      Kernel{"aten.diff", infer_diff, bind_diff}.rows(row_rules::along_dim),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
