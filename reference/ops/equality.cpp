// Questions about all elements at once: whether two tensors are equal or close (a Python bool), and
// whether elements are among others.
#include <algorithm>
#include <array>
#include <limits>

#include "reference/ops/open_order.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// Emits whether all of these hold. One that certainly does not decides it.
void emit_all(Call& call, const std::vector<Whole>& truths) {
  bool is_open = false;
  for (const Whole& truth : truths) {
    if (truth.value == 0 && !truth.undecided) return call.emit_datum({false});
    is_open = is_open || truth.undecided;
  }
  if (is_open) throw Undecidable("whether all elements agree depends on rounding");
  call.emit_datum({true});
}

// Tensors of different sizes are not equal; of different dtypes, elements are compared in the
// common one.
void equal_tensors(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  if (self->sizes != other->sizes) return call.emit_datum({false});
  const DType dtype = promote(self->dtype, other->dtype);
  with_number(call.mode(), dtype, [&]<class N>() {
    const Array<N> a = load<N>(*self, dtype);
    const Array<N> b = load<N>(*other, dtype);
    std::vector<Whole> truths;
    for (std::int64_t i = 0; i < a.count(); ++i) truths.push_back(equal(a[i], b[i]));
    emit_all(call, truths);
  });
}

// |self - other| <= atol + |rtol * other|, or equal. Each step rounds to the dtype; integers are
// taken as float32.
template <class N>
struct Closeness {
  double rtol, atol;
  bool equal_nan;
  DType dtype;

  [[nodiscard]] Whole operator()(const N& a, const N& b) const {
    Whole close = equal(a, b);
    if (equal_nan) close = close | (is_nan(a) & is_nan(b));
    if (rtol == 0 && atol == 0) return close;
    const N relative = abs(held_in(N(rtol) * b, dtype));
    const N allowed = held_in(relative + cast(N(atol), dtype), dtype);
    const N actual = abs(held_in(a - b, dtype));
    const Whole is_finite = less(actual, N(std::numeric_limits<double>::infinity()));
    const Whole is_within = less(actual, allowed) | equal(actual, allowed);
    const Whole is_near = is_finite & is_within;
    // What certainly holds, or does not, decides it beside an open one.
    if (is_certain(close, true) || is_certain(is_near, true)) return 1;
    if (is_certain(is_finite, false) || is_certain(is_within, false)) return close;
    return close | is_near;
  }

 private:
  static bool is_certain(const Whole& x, bool truth) {
    return !x.undecided && (x.value != 0) == truth;
  }
};

void allclose(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& other = call.tensor("other");
  const double rtol = call.real("rtol");
  const double atol = call.real("atol");
  if (self->dtype != other->dtype) throw OpError("allclose: the dtypes do not match");
  if (!(rtol >= 0)) throw OpError("rtol must be greater than or equal to zero");
  if (!(atol >= 0)) throw OpError("atol must be greater than or equal to zero");
  const Sizes sizes = broadcast_sizes({self->sizes, other->sizes});
  const bool is_real = spec::is_floating_point(self->dtype);
  const DType dtype = to_floating(self->dtype);
  // Integers are compared as they are, too: float32 does not tell all of them apart.
  const Array<Whole> a_whole = is_real ? Array<Whole>() : load<Whole>(*self, self->dtype);
  const Array<Whole> b_whole = is_real ? Array<Whole>() : load<Whole>(*other, self->dtype);
  const bool only_equal = !is_real && rtol == 0 && atol == 0;
  if (only_equal) {
    const Array<Whole> a = broadcast_to(a_whole, sizes);
    const Array<Whole> b = broadcast_to(b_whole, sizes);
    std::vector<Whole> truths;
    for (std::int64_t i = 0; i < a.count(); ++i) truths.push_back(equal(a[i], b[i]));
    return emit_all(call, truths);
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> a = broadcast_to(load<N>(*self, dtype), sizes);
    const Array<N> b = broadcast_to(load<N>(*other, dtype), sizes);
    const Closeness<N> close{rtol, atol, call.boolean("equal_nan"), dtype};
    std::vector<Whole> truths;
    for (std::int64_t i = 0; i < a.count(); ++i) truths.push_back(close(a[i], b[i]));
    emit_all(call, truths);
  });
}

// ---- isin

long double center_of_number(double x) { return static_cast<long double>(x); }
long double center_of_number(Whole x) { return static_cast<long double>(x.value); }
template <class P>
long double center_of_number(const Tracked<P>& x) {
  return x.value;
}

// Numbers to be looked up: the exact ones in order, apart from those that radii leave open.
template <class N>
class Lookup {
 public:
  explicit Lookup(const std::vector<N>& numbers) {
    for (const N& x : numbers) {
      if (is_inexact(x)) {
        open_.push_back(x);
      } else if (is_nan(x).value == 0) {
        exact_.push_back(x);
      }
    }
    std::sort(exact_.begin(), exact_.end(), is_below);
  }

  [[nodiscard]] Whole holds(const N& x) const {
    Whole found = 0;
    if (is_certain_nan(x)) return found;
    if (is_inexact(x)) {
      for (const N& other : exact_) found.undecided = found.undecided || is_same(x, other);
    } else {
      found = std::binary_search(exact_.begin(), exact_.end(), x, is_below) ? 1 : 0;
    }
    if (found.value != 0) return found;
    for (const N& other : open_) found.undecided = found.undecided || is_same(x, other);
    return found;
  }

 private:
  static bool is_below(const N& a, const N& b) { return center_of_number(a) < center_of_number(b); }
  static bool is_same(const N& a, const N& b) {
    const Whole same = equal(a, b);
    return same.value != 0 || same.undecided;
  }
  std::vector<N> exact_;
  std::vector<N> open_;
};

void isin(Call& call) {
  const bool is_lone = call.has("element");
  const Datum& elements = call.datum(is_lone ? "element" : "elements");
  const Datum& tests = call.datum(call.has("test_element") ? "test_element" : "test_elements");
  const auto dtype_of = [](const Datum& datum) {
    const auto* tensor = datum.as<TensorRef>();
    return tensor ? std::optional((*tensor)->dtype) : std::nullopt;
  };
  for (const Datum* datum : {&elements, &tests}) {
    if (dtype_of(*datum) == DType::kBool) throw OpError("isin: bool is not supported");
  }
  const DType dtype = result_type(std::array{elements, tests});
  const bool inverts = call.boolean("invert");
  const auto sizes_of = [](const Datum& datum) {
    const auto* tensor = datum.as<TensorRef>();
    return tensor ? (*tensor)->sizes : Sizes{};
  };
  with_number(call.mode(), dtype, [&]<class N>() {
    const Array<N> asked = detail::operand_array<N>(elements, dtype, sizes_of(elements));
    const Lookup<N> among(detail::operand_array<N>(tests, dtype, sizes_of(tests)).data);
    Array<Whole> out(asked.sizes);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const Whole found = among.holds(asked[i]);
      out[i] = inverts ? logical_not(found) : found;
    }
    call.emit(out, DType::kBool);
  });
}

constexpr std::array kEqualityOps = {
    OpBody{"aten.allclose", allclose},
    OpBody{"aten.equal", equal_tensors},
    OpBody{"aten.isin", isin},
};

}  // namespace

std::span<const OpBody> equality_ops() { return kEqualityOps; }

}  // namespace graphgate::reference
