// Numbers in, numbers out: sizes, and the Python functions that programs call on them.
//
// The rules are Python's: ints are exact (a result beyond 64 bits is refused), bools count as ints,
// `/` gives the nearest double of the exact quotient, `//` and `%` follow the divisor's sign.
#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>

#include "optimized/analysis/row_rules.h"
#include "optimized/arithmetic/power.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr double kTwo63 = 0x1p63;

bool is_real(const Item& item) { return item.as<double>() != nullptr; }

std::int64_t to_integer(const Item& item) {
  if (const auto* i = item.as<std::int64_t>()) return *i;
  if (const auto* b = item.as<bool>()) return *b ? 1 : 0;
  throw OpError("expected an integer");
}

double to_real(const Item& item) {
  if (const auto* x = item.as<double>()) return *x;
  return static_cast<double>(to_integer(item));
}

bool to_truth(const Item& item) {
  return is_real(item) ? *item.as<double>() != 0 : to_integer(item) != 0;
}

[[noreturn]] void overflow() { throw OpError("an integer result does not fit 64 bits"); }

void refuse_zero(bool is_zero) {
  if (is_zero) throw OpError("division by zero");
}

// An int and a double compare by their exact values.
std::partial_ordering compare(std::int64_t i, double x) {
  if (std::isnan(x)) return std::partial_ordering::unordered;
  if (x >= kTwo63) return std::partial_ordering::less;
  if (x < -kTwo63) return std::partial_ordering::greater;
  const auto whole = static_cast<std::int64_t>(x);
  if (i != whole) return i <=> whole;
  return 0.0 <=> (x - static_cast<double>(whole));
}

std::partial_ordering compare(const Item& a, const Item& b) {
  if (is_real(a) && is_real(b)) return *a.as<double>() <=> *b.as<double>();
  if (is_real(b)) return compare(to_integer(a), *b.as<double>());
  if (is_real(a)) {
    const std::partial_ordering turned = compare(to_integer(b), *a.as<double>());
    if (std::is_lt(turned)) return std::partial_ordering::greater;
    return std::is_gt(turned) ? std::partial_ordering::less : turned;
  }
  return to_integer(a) <=> to_integer(b);
}

Item add(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b)) return {to_real(a) + to_real(b)};
  std::int64_t out = 0;
  if (__builtin_add_overflow(to_integer(a), to_integer(b), &out)) overflow();
  return {out};
}
Item sub(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b)) return {to_real(a) - to_real(b)};
  std::int64_t out = 0;
  if (__builtin_sub_overflow(to_integer(a), to_integer(b), &out)) overflow();
  return {out};
}
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) overflow();
  return out;
}
Item mul(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b)) return {to_real(a) * to_real(b)};
  return {times(to_integer(a), to_integer(b))};
}

struct Quotient {
  double whole;
  double rest;
};

// Python's divmod of floats: the rest has the divisor's sign, and is exact up to one addition.
Quotient divide_floored(double a, double b) {
  refuse_zero(b == 0);
  double rest = std::fmod(a, b);
  double whole = (a - rest) / b;
  if (rest == 0) {
    rest = std::copysign(0.0, b);
  } else if ((b < 0) != (rest < 0)) {
    rest += b;
    whole -= 1;
  }
  if (whole == 0) return {std::copysign(0.0, a / b), rest};
  const double floored = std::floor(whole);
  return {whole - floored > 0.5 ? floored + 1 : floored, rest};
}

Item floordiv(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b)) return {divide_floored(to_real(a), to_real(b)).whole};
  const std::int64_t n = to_integer(a);
  const std::int64_t d = to_integer(b);
  refuse_zero(d == 0);
  if (d == -1) return sub({std::int64_t{0}}, {n});
  return {n / d - (n % d != 0 && (n < 0) != (d < 0) ? 1 : 0)};
}
Item mod(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b)) return {divide_floored(to_real(a), to_real(b)).rest};
  const std::int64_t d = to_integer(b);
  refuse_zero(d == 0);
  const std::int64_t rest = d == -1 ? 0 : to_integer(a) % d;
  return {rest != 0 && (rest < 0) != (d < 0) ? rest + d : rest};
}

std::uint64_t magnitude(std::int64_t i) {
  return i < 0 ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
}

// The double nearest to n / d, rounded once: at least 56 bits of the quotient, and whether there
// is more behind them.
double divide_exactly(std::int64_t n, std::int64_t d) {
  const std::uint64_t divisor = magnitude(d);
  refuse_zero(divisor == 0);
  const auto bits = [](std::uint64_t number) { return static_cast<int>(std::bit_width(number)); };
  const int shift = std::max(0, 56 - bits(magnitude(n)) + bits(divisor));
  const Wide scaled = static_cast<Wide>(magnitude(n)) << shift;
  const auto whole = static_cast<std::uint64_t>(scaled / divisor);
  const bool has_rest = scaled % divisor != 0;
  const double value = std::ldexp(static_cast<double>(whole | (has_rest ? 1U : 0U)), -shift);
  return (n < 0) != (d < 0) ? -value : value;
}

Item truediv(const Item& a, const Item& b) {
  refuse_zero(to_real(b) == 0);
  if (is_real(a) || is_real(b)) return {to_real(a) / to_real(b)};
  if (to_integer(a) == 0) return {0.0};
  return {divide_exactly(to_integer(a), to_integer(b))};
}

Item real_power(double a, double b) {
  if (a == 0 && b < 0) throw OpError("0 to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    throw Unsupported("a negative number to a fractional power is complex");
  }
  const double out = pow(a, b);
  if (std::isinf(out) && std::isfinite(a) && std::isfinite(b)) {
    throw OpError("a power does not fit a double");
  }
  return {out};
}

Item power(const Item& a, const Item& b) {
  if (is_real(a) || is_real(b) || to_integer(b) < 0) return real_power(to_real(a), to_real(b));
  std::int64_t out = 1;
  std::int64_t square = to_integer(a);
  for (std::int64_t rest = to_integer(b); rest > 0; rest /= 2) {
    if (rest % 2 != 0) out = times(out, square);
    if (rest > 1) square = times(square, square);
  }
  return {out};
}

// n * 2^bits, n != 0.
Item power_of_two_times(std::int64_t n, std::int64_t bits) {
  const std::int64_t limit = std::numeric_limits<std::int64_t>::max() >> bits;
  if (n > limit || n < -limit - 1) overflow();
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(n) << bits)};
}

Item lshift(const Item& a, const Item& b) {
  const std::int64_t n = to_integer(a);
  const std::int64_t bits = to_integer(b);
  if (bits < 0) throw OpError("a shift count is negative");
  if (n == 0) return {n};
  if (bits > 63) overflow();
  return power_of_two_times(n, bits);
}
Item rshift(const Item& a, const Item& b) {
  const std::int64_t bits = to_integer(b);
  if (bits < 0) throw OpError("a shift count is negative");
  return {to_integer(a) >> std::min<std::int64_t>(bits, 63)};
}

Item both(const Item& a, const Item& b) {
  if (a.as<bool>() && b.as<bool>()) return {*a.as<bool>() && *b.as<bool>()};
  return {to_integer(a) & to_integer(b)};
}
Item either(const Item& a, const Item& b) {
  if (a.as<bool>() && b.as<bool>()) return {*a.as<bool>() || *b.as<bool>()};
  return {to_integer(a) | to_integer(b)};
}

Item eq(const Item& a, const Item& b) { return {std::is_eq(compare(a, b))}; }
Item ne(const Item& a, const Item& b) { return {std::is_neq(compare(a, b))}; }
Item lt(const Item& a, const Item& b) { return {std::is_lt(compare(a, b))}; }
Item le(const Item& a, const Item& b) { return {std::is_lteq(compare(a, b))}; }
Item gt(const Item& a, const Item& b) { return {std::is_gt(compare(a, b))}; }
Item ge(const Item& a, const Item& b) { return {std::is_gteq(compare(a, b))}; }

// The first of equals; a float when either is.
Item chosen(const Item& a, const Item& b, bool takes_b) {
  const Item& out = takes_b ? b : a;
  return is_real(a) || is_real(b) ? Item{to_real(out)} : out;
}
Item maximum(const Item& a, const Item& b) { return chosen(a, b, std::is_gt(compare(b, a))); }
Item minimum(const Item& a, const Item& b) { return chosen(a, b, std::is_lt(compare(b, a))); }

Item neg(const Item& a) {
  if (is_real(a)) return {-to_real(a)};
  return sub({std::int64_t{0}}, a);
}
Item pos(const Item& a) { return is_real(a) ? a : Item{to_integer(a)}; }
Item logical_not(const Item& a) { return {!to_truth(a)}; }
Item as_float(const Item& a) { return {to_real(a)}; }

Item whole_number(double x) {
  if (std::isnan(x)) throw OpError("NaN is no integer");
  if (!(x >= -kTwo63 && x < kTwo63)) overflow();
  return {static_cast<std::int64_t>(x)};
}
Item truncated(const Item& a) { return is_real(a) ? whole_number(to_real(a)) : pos(a); }
Item floored(const Item& a) { return is_real(a) ? whole_number(std::floor(to_real(a))) : pos(a); }
Item ceiled(const Item& a) { return is_real(a) ? whole_number(std::ceil(to_real(a))) : pos(a); }
Item square_root_of(const Item& a) {
  if (to_real(a) < 0) throw OpError("the square root of a negative number");
  return {std::sqrt(to_real(a))};
}

template <Item (*function)(const Item&, const Item&)>
void infer_binary(Inference& call) {
  call.make_number(function(call.item("a"), call.item("b")));
}
template <Item (*function)(const Item&)>
void infer_unary(Inference& call) {
  call.make_number(function(call.arguments().front()));
}

void infer_choice(Inference& call) {
  call.make_number(call.item(to_truth(call.item("b")) ? "t" : "f"));
}

void infer_size(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("sym_size of a tensor without dimensions");
  call.make_number({self.size(call.integer("dim"))});
}

void infer_stride(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() == 0) throw OpError("sym_stride of a tensor without dimensions");
  call.make_number({self.strides[at(wrap_dim(call.integer("dim"), self.rank()))]});
}
void infer_count(Inference& call) { call.make_number({call.tensor("self").count()}); }
void infer_offset(Inference& call) { call.make_number({call.tensor("self").offset}); }

void infer_getitem(Inference& call) {
  const auto* list = call.item("self").as<Item::List>();
  if (!list) throw OpError("getitem: the argument is not a list");
  const auto extent = static_cast<std::int64_t>(list->size());
  std::int64_t index = call.integer("index");
  if (index < 0) index += extent;
  if (index < 0 || index >= extent) {
    throw OpError("getitem: index " + std::to_string(call.integer("index")) + " of " +
                  std::to_string(extent) + " elements");
  }
  const Item& element = (*list)[static_cast<std::size_t>(index)];
  if (const auto* tensor = element.as<Tensor>()) return call.make_same(*tensor);
  if (element.as<spec::None>()) return call.make_none();
  call.make_number(element);
}

}  // namespace

std::span<const Kernel> symbolic_kernels() {
  static constexpr Kernel kKernels[] = {
      {"_operator.add", infer_binary<add>},
      {"_operator.and_", infer_binary<both>},
      {"_operator.eq", infer_binary<eq>},
      {"_operator.floordiv", infer_binary<floordiv>},
      {"_operator.ge", infer_binary<ge>},
      {"_operator.getitem", infer_getitem},
      {"_operator.gt", infer_binary<gt>},
      {"_operator.le", infer_binary<le>},
      {"_operator.lshift", infer_binary<lshift>},
      {"_operator.lt", infer_binary<lt>},
      {"_operator.mod", infer_binary<mod>},
      {"_operator.mul", infer_binary<mul>},
      {"_operator.ne", infer_binary<ne>},
      {"_operator.neg", infer_unary<neg>},
      {"_operator.or_", infer_binary<either>},
      {"_operator.pos", infer_unary<pos>},
      {"_operator.pow", infer_binary<power>},
      {"_operator.rshift", infer_binary<rshift>},
      {"_operator.sub", infer_binary<sub>},
      {"_operator.truediv", infer_binary<truediv>},
      Kernel{"aten.sym_numel", infer_count}.any_dtype(),
      Kernel{"aten.sym_size", infer_size}.any_dtype().rows(row_rules::states_sizes),
      Kernel{"aten.sym_storage_offset", infer_offset}.any_dtype(),
      Kernel{"aten.sym_stride", infer_stride}.any_dtype(),
      {"math.ceil", infer_unary<ceiled>},
      {"math.floor", infer_unary<floored>},
      {"math.trunc", infer_unary<truncated>},
      {"torch._sym_sqrt", infer_unary<square_root_of>},
      {"torch.sym_float", infer_unary<as_float>},
      {"torch.sym_int", infer_unary<truncated>},
      {"torch.sym_ite", infer_choice},
      {"torch.sym_max", infer_binary<maximum>},
      {"torch.sym_min", infer_binary<minimum>},
      {"torch.sym_not", infer_unary<logical_not>},
      {"torch.sym_sqrt", infer_unary<square_root_of>},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
