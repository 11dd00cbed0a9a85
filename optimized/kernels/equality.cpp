// equal and allclose, whose result is a Python bool: they are answered where calls are inferred,
// as soon as there are bytes. And isin, which looks every element up among the sorted others.
#include <algorithm>
#include <cmath>

#include "optimized/analysis/row_rules.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/indexed_loop.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/promotion.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// Reads all elements of a tensor in row-major order, cast to `as`.
template <class C>
std::vector<C> elements_as(DType as, const Tensor& tensor) {
  std::vector<C> out(static_cast<std::size_t>(tensor.count()));
  C* next = out.data();
  const std::array<const Tensor*, 1> tensors = {&tensor};
  row_major_loop(tensor.sizes, tensors)
      .for_each_run([&](std::byte* const* at, const std::int64_t* strides, std::int64_t n) {
        for (std::int64_t begin = 0; begin < n; begin += kTile) {
          const int length = static_cast<int>(std::min<std::int64_t>(kTile, n - begin));
          load_tile_as<C>(as, tensor.dtype, at[1] + begin * strides[1], strides[1], length, next);
          next += length;
        }
      });
  return out;
}

// ---- equal

// Tagged as pointwise, yet every row has a say.
row_rules::Verdict compares_all(const RowCall& call) {
  if (!row_rules::any_rows(call.operands())) return {};
  return row_rules::mixes("compares all rows");
}

void infer_equal(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& other = call.tensor("other");
  if (self.sizes != other.sizes) return call.make_number({false});
  const DType dtype = promote(self.dtype, other.dtype);
  if (!call.has_data()) Inference::needs_data();
  with_compute(dtype, [&]<class C>() {
    const auto a = elements_as<C>(dtype, self);
    const auto b = elements_as<C>(dtype, other);
    call.make_number({std::equal(a.begin(), a.end(), b.begin())});
  });
}

// ---- allclose

// Steps of `isclose`, each held in the dtype.
template <class C>
struct Near {
  C rtol, atol;
  bool equal_nan;
  DType dtype;

  [[nodiscard]] C held(C x) const {
    std::array<std::byte, 8> element{};
    store_element(dtype, x, element.data());
    return load_element<C>(dtype, element.data());
  }
  [[nodiscard]] bool operator()(C a, C b) const {
    if (a == b) return true;
    if (equal_nan && a != a && b != b) return true;
    if (rtol == 0 && atol == 0) return false;
    const C allowed = held(held(atol) + std::fabs(held(rtol * b)));
    const C actual = std::fabs(held(a - b));
    return std::isfinite(actual) && actual <= allowed;
  }
};

void infer_allclose(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& other = call.tensor("other");
  const double rtol = call.real("rtol");
  const double atol = call.real("atol");
  if (self.dtype != other.dtype) throw OpError("allclose of two dtypes");
  if (!(rtol >= 0) || !(atol >= 0)) throw OpError("a tolerance is negative");
  const Sizes sizes = broadcast_sizes(self.sizes, other.sizes);
  if (!call.has_data()) Inference::needs_data();
  const Tensor left = broadcast_to(self, sizes);
  const Tensor right = broadcast_to(other, sizes);
  const bool is_exact = spec::is_integral(self.dtype) && rtol == 0 && atol == 0;
  if (is_exact) {
    return call.make_number({elements_as<std::int64_t>(DType::kInt64, left) ==
                             elements_as<std::int64_t>(DType::kInt64, right)});
  }
  const DType dtype = to_floating(self.dtype);
  with_real(dtype, [&]<class C>() {
    const auto a = elements_as<C>(dtype, left);
    const auto b = elements_as<C>(dtype, right);
    const Near<C> near{static_cast<C>(rtol), static_cast<C>(atol), call.boolean("equal_nan"),
                       dtype};
    call.make_number({std::equal(a.begin(), a.end(), b.begin(), near)});
  });
}

// ---- isin

struct Membership {
  const Item& elements;
  const Item& tests;
};
Membership membership_of(const KernelCall& call) {
  return {call.item(call.has("element") ? "element" : "elements"),
          call.item(call.has("test_element") ? "test_element" : "test_elements")};
}

void infer_isin(Inference& call) {
  const Membership of = membership_of(call);
  for (const Item* item : {&of.elements, &of.tests}) {
    const auto* tensor = item->as<Tensor>();
    if (tensor && tensor->dtype == DType::kBool) throw OpError("isin of bool");
  }
  (void)result_type({&of.elements, &of.tests});
  const auto* tensor = of.elements.as<Tensor>();
  call.make(DType::kBool, tensor ? tensor->sizes : Sizes{});
}

template <class C>
std::vector<C> numbers_of(const Item& item, DType dtype) {
  const Source<C> source(item, dtype);
  return source.is_number ? std::vector<C>{source.number} : elements_as<C>(dtype, source.tensor);
}

Launch bind_isin(const Binding& call) {
  const Membership of = membership_of(call);
  const DType dtype = result_type({&of.elements, &of.tests});
  return with_compute(dtype, [&]<class C>() -> Launch {
    return [elements = of.elements, tests = of.tests, dtype, result = call.result(),
            inverts = call.boolean("invert")] {
      std::vector<C> sorted = numbers_of<C>(tests, dtype);
      sorted.erase(std::remove_if(sorted.begin(), sorted.end(), [](C x) { return x != x; }),
                   sorted.end());
      std::sort(sorted.begin(), sorted.end());
      const std::vector<C> asked = numbers_of<C>(elements, dtype);
      std::vector<std::uint8_t> found;
      found.reserve(asked.size());
      for (const C x : asked) {
        const bool is_in = x == x && std::binary_search(sorted.begin(), sorted.end(), x);
        found.push_back(is_in != inverts ? 1 : 0);
      }
      Tensor row_major;
      row_major.dtype = DType::kBool;
      row_major.sizes = result.sizes;
      row_major.strides = row_major_strides(result.sizes);
      row_major.bytes = reinterpret_cast<std::byte*>(found.data());
      copy_now(result, row_major);
    };
  });
}

}  // namespace

std::span<const Kernel> equality_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten.allclose", infer_allclose},
      Kernel{"aten.equal", infer_equal}.rows(compares_all),
      {"aten.isin", infer_isin, bind_isin},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
