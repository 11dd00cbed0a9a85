#include "optimized/kernels/accumulation.h"

#include <cstring>

#include "optimized/codegen/cells_text.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/fill.h"
#include "optimized/kernels/pointwise.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

bool combines_in_place(DType dtype) {
  return !spec::is_floating_point(dtype) || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

// Calls f with the callable of elements.h that combines a cell with what comes to it.
template <class F>
void with_function(Combine how, F&& f) {
  switch (how) {
    case Combine::kAdd:
      return f.template operator()<element::Add>();
    case Combine::kMultiply:
      return f.template operator()<element::Multiply>();
    case Combine::kMaximum:
      return f.template operator()<element::MaximumOrFirst>();
    case Combine::kMinimum:
      return f.template operator()<element::MinimumOrFirst>();
  }
}

// Calls f with the C++ type of a dtype that combines in place.
template <class F>
void with_native(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat64:
      return f.template operator()<double>();
    case DType::kFloat32:
      return f.template operator()<float>();
    case DType::kInt64:
      return f.template operator()<std::int64_t>();
    case DType::kInt32:
      return f.template operator()<std::int32_t>();
    case DType::kInt16:
      return f.template operator()<std::int16_t>();
    case DType::kInt8:
      return f.template operator()<std::int8_t>();
    default:
      return f.template operator()<std::uint8_t>();
  }
}

template <class T>
using WideOf = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

// Combines x[0, n) into cells [begin, begin + n).
template <class T, class Function>
void combine_tile(bool is_bool, const Cells& cells, std::int64_t begin, int n, const WideOf<T>* x) {
  using C = WideOf<T>;
  for (int i = 0; i < n; ++i) {
    T stored;
    std::byte* at = cells.at(begin + i);
    std::memcpy(&stored, at, sizeof stored);
    const C cell = is_bool ? static_cast<C>(stored != T{0}) : static_cast<C>(stored);
    const C value = Function()(cell, x[i]);
    if constexpr (std::is_floating_point_v<T>) {
      stored = value;
    } else {
      stored = is_bool ? static_cast<T>(value != 0) : wrap_to<T>(value);
    }
    std::memcpy(at, &stored, sizeof stored);
  }
}

// The step that combines everything into `target`.
template <class T, class Function>
Launch combine_launch(const DeviceListener* listener, const Accumulation& job,
                      const Tensor& target) {
  using C = WideOf<T>;
  const bool has_source = job.source.has_value();
  const C constant = has_source ? C{} : number_as<C>(job.constant);
  const C scale = number_as<C>(job.scale);
  const DType from = has_source ? job.source->dtype : target.dtype;
  const IndexedCells cells =
      job.cells(target, has_source ? std::vector{*job.source} : std::vector<Tensor>());
  Launch launch = [loop = IndexedLoop(cells), scale, constant, has_source, from,
                   is_bool = target.dtype == DType::kBool] {
    loop.for_each_run(
        [&](const Cells& run, std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
          std::array<C, kTile> x;
          x.fill(constant);
          for (std::int64_t begin = 0; begin < n; begin += kTile) {
            const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
            if (has_source) {
              load_tile<C>(from, at[0] + begin * strides[0], strides[0], length, x.data());
              for (int i = 0; i < length && scale != C{1}; ++i) {
                C& value = x[static_cast<std::size_t>(i)];
                value = multiply(value, scale);
              }
            }
            combine_tile<T, Function>(is_bool, run, begin, length, x.data());
          }
        });
  };
  if (listener == nullptr) return launch;
  CellCombination combination{callable_text<C>(Function()), target.dtype};
  std::memcpy(&combination.number, has_source ? &scale : &constant, sizeof scale);
  return described(std::move(launch), {combine_cells_text(cells, combination)});
}

Launch combine(const DeviceListener* listener, const Accumulation& job, const Tensor& target) {
  Launch out;
  with_native(target.dtype, [&]<class T>() {
    with_function(job.how, [&]<class Function>() {
      out = combine_launch<T, Function>(listener, job, target);
    });
  });
  return out;
}

// What leaves every element as it is.
Item identity(const Accumulation& job, DType dtype) {
  if (job.how == Combine::kAdd) return {std::int64_t{0}};
  if (job.how == Combine::kMultiply) return {std::int64_t{1}};
  const bool is_least = job.how == Combine::kMaximum;
  if (spec::is_floating_point(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {is_least ? -infinity : infinity};
  }
  if (dtype == DType::kBool) return {std::int64_t{is_least ? 0 : 1}};
  std::int64_t bound = 0;
  with_native(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      bound = is_least ? std::int64_t{Limits::min()} : std::int64_t{Limits::max()};
    }
  });
  return {bound};
}

Tensor scratch_like(const Tensor& self, DType dtype, std::byte* bytes) {
  Tensor out = self;
  out.dtype = dtype;
  out.strides = row_major_strides(self.sizes);
  out.offset = 0;
  out.storage = kNoStorage;
  out.bytes = bytes;
  return out;
}

std::int64_t scratch_bytes(const Tensor& self, std::int64_t item_bytes) {
  return (self.count() * item_bytes + 63) / 64 * 64;
}

// How often each element is contributed to, counted afresh at every run.
Launch count_launch(const DeviceListener* listener, const Accumulation& job, const Tensor& counts) {
  Accumulation counting;
  counting.cells = job.cells;
  counting.constant = {std::int64_t{1}};
  const Item start{std::int64_t{job.includes_self ? 1 : 0}};
  return in_turn({fill_launch(listener, counts, element_of(start, counts.dtype)),
                  combine(listener, counting, counts)});
}

Launch divide_launch(const DeviceListener* listener, const Tensor& target, const Tensor& counts) {
  return with_compute(target.dtype, [&]<class C>() {
    return launch_tensors<C>(listener, target, target.dtype, element::DivideByCount(), target,
                             counts);
  });
}

}  // namespace

void set_reduction(Accumulation& accumulation, std::string_view name) {
  if (name == "sum" || name == "add" || name == "mean") {
    accumulation.how = Combine::kAdd;
    accumulation.is_mean = name == "mean";
  } else if (name == "prod" || name == "multiply") {
    accumulation.how = Combine::kMultiply;
  } else if (name == "amax") {
    accumulation.how = Combine::kMaximum;
  } else if (name == "amin") {
    accumulation.how = Combine::kMinimum;
  } else {
    throw OpError("'" + std::string(name) + "' is not a reduction");
  }
}

std::int64_t accumulation_bytes(const Tensor& self, bool is_mean) {
  const std::int64_t sums = combines_in_place(self.dtype) ? 0 : scratch_bytes(self, 4);
  return sums + (is_mean ? scratch_bytes(self, 8) : 0);
}

Launch accumulate(const DeviceListener* listener, const Tensor& result, const Tensor& self,
                  const Accumulation& accumulation, std::byte* workspace) {
  std::vector<Launch> steps;
  Tensor target = result;
  if (combines_in_place(result.dtype)) {
    steps.push_back(start_from_self(listener, result, self));
  } else {
    target = scratch_like(self, DType::kFloat32, workspace);
    workspace += scratch_bytes(self, 4);
    steps.push_back(copy_launch(listener, target, self));
  }
  if (!accumulation.includes_self) {
    const Item neutral = identity(accumulation, target.dtype);
    steps.push_back(fill_cells(listener, accumulation.cells(target, {}), target.item_bytes(),
                               element_bytes(target.dtype, neutral)));
  }
  steps.push_back(combine(listener, accumulation, target));
  if (accumulation.is_mean) {
    const Tensor counts = scratch_like(self, DType::kInt64, workspace);
    steps.push_back(count_launch(listener, accumulation, counts));
    steps.push_back(divide_launch(listener, target, counts));
  }
  if (!combines_in_place(result.dtype)) steps.push_back(copy_launch(listener, result, target));
  return in_turn(std::move(steps));
}

Launch start_from_self(const DeviceListener* listener, const Tensor& result, const Tensor& self) {
  if (result.dtype != self.dtype) {
    throw OpError("out has dtype " + std::string(spec::torch_name(result.dtype)) + ", self " +
                  std::string(spec::torch_name(self.dtype)));
  }
  if (same_geometry(result, self) && result.bytes == self.bytes) return {};
  return copy_launch(listener, result, self);
}

std::array<std::byte, 8> element_bytes(DType dtype, const Item& value) {
  std::array<std::byte, 8> bytes{};
  with_compute(dtype,
               [&]<class C>() { store_element<C>(dtype, number_as<C>(value), bytes.data()); });
  return bytes;
}

}  // namespace graphgate::optimized
