// Symbolic numbers: the Python functions that exported programs call on sizes, with Python's
// meaning, and the aten ops that read a size. Integers are 64-bit: what leaves them is an error.
#include <array>
#include <cmath>

#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// An operand: an integer (a bool counts as 0 or 1, as in Python) or a float.
struct Operand {
  bool is_float = false;
  std::int64_t integer = 0;
  double real = 0;  // of an integer too
};

Operand operand(const Call& call, std::string_view name) {
  Operand out;
  if (const double* x = decided_float(call.datum(name))) {
    out.is_float = true;
    out.real = *x;
    return out;
  }
  out.integer = call.integer(name);
  out.real = static_cast<double>(out.integer);
  return out;
}

[[noreturn]] void overflow(const Call& call) {
  throw OpError(call.row().schema.qualified_name() + ": the result does not fit 64 bits");
}

std::int64_t whole(const Call& call, double x) {
  if (std::isnan(x) || std::isinf(x)) throw OpError("cannot convert a non-finite float to integer");
  if (!(x >= -0x1p63 && x < 0x1p63)) overflow(call);
  return static_cast<std::int64_t>(x);
}

// A function of two numbers: over integers (false: it overflows) and over floats.
template <class OverIntegers, class OverFloats>
void arithmetic(Call& call, OverIntegers over_integers, OverFloats over_floats) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (a.is_float || b.is_float) return call.emit_datum({over_floats(a.real, b.real)});
  std::int64_t out = 0;
  if (!over_integers(a.integer, b.integer, &out)) overflow(call);
  call.emit_datum({out});
}

void add(Call& call) {
  arithmetic(
      call, [](auto a, auto b, auto* out) { return !__builtin_add_overflow(a, b, out); },
      [](double a, double b) { return a + b; });
}
void sub(Call& call) {
  arithmetic(
      call, [](auto a, auto b, auto* out) { return !__builtin_sub_overflow(a, b, out); },
      [](double a, double b) { return a - b; });
}
void mul(Call& call) {
  arithmetic(
      call, [](auto a, auto b, auto* out) { return !__builtin_mul_overflow(a, b, out); },
      [](double a, double b) { return a * b; });
}

void check_divisor(const Call& call) {
  if (operand(call, "b").real == 0) throw OpError("division by zero");
}

// Python's remainder has the sign of the divisor.
double python_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// Python's: the exact multiple below a, divided, to the nearest whole number.
double python_floordiv(double a, double b) {
  const double quotient = (a - python_mod(a, b)) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

void floordiv(Call& call) {
  check_divisor(call);
  arithmetic(
      call,
      [](std::int64_t a, std::int64_t b, std::int64_t* out) {
        *out = floored_quotient(Whole(a), Whole(b)).value;
        return !(a == INT64_MIN && b == -1);
      },
      python_floordiv);
}
void mod(Call& call) {
  check_divisor(call);
  arithmetic(
      call,
      [](std::int64_t a, std::int64_t b, std::int64_t* out) {
        *out = floored_remainder(Whole(a), Whole(b)).value;
        return true;
      },
      python_mod);
}
// Of integers: the quotient rounded once, as Python does for integers of any size.
void truediv(Call& call) {
  check_divisor(call);
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (a.is_float || b.is_float) return call.emit_datum({a.real / b.real});
  const long double quotient =
      static_cast<long double>(a.integer) / static_cast<long double>(b.integer);
  call.emit_datum({static_cast<double>(quotient)});
}

bool integer_power(std::int64_t base, std::int64_t exponent, std::int64_t* out) {
  *out = 1;
  while (exponent > 0) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(*out, base, out)) return false;
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

void pow(Call& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (b.real < 0 && a.real == 0) throw OpError("0 cannot be raised to a negative power");
  const bool real = b.integer < 0 && !a.is_float && !b.is_float;
  if (real) return call.emit_datum({std::pow(a.real, b.real)});
  arithmetic(call, integer_power, [](double x, double y) { return std::pow(x, y); });
}

void neg(Call& call) {
  const Operand a = operand(call, "a");
  if (a.is_float) return call.emit_datum({-a.real});
  if (a.integer == INT64_MIN) overflow(call);
  call.emit_datum({-a.integer});
}
void pos(Call& call) {
  const Operand a = operand(call, "a");
  a.is_float ? call.emit_datum({a.real}) : call.emit_datum({a.integer});
}

// -1, 0 or 1 as a is less than, equal to or greater than b; 2 when a NaN is among them. Exact for
// an integer beside a float as well.
int order(const Operand& a, const Operand& b) {
  if (!a.is_float && !b.is_float) return (a.integer > b.integer) - (a.integer < b.integer);
  const auto x =
      a.is_float ? static_cast<long double>(a.real) : static_cast<long double>(a.integer);
  const auto y =
      b.is_float ? static_cast<long double>(b.real) : static_cast<long double>(b.integer);
  if (std::isnan(x) || std::isnan(y)) return 2;
  return (x > y) - (x < y);
}

template <bool (*kHolds)(int)>
void compare(Call& call) {
  call.emit_datum({kHolds(order(operand(call, "a"), operand(call, "b")))});
}
bool is_equal(int order) { return order == 0; }
bool is_unequal(int order) { return order != 0; }
bool is_less(int order) { return order == -1; }
bool is_less_or_equal(int order) { return order == -1 || order == 0; }
bool is_greater(int order) { return order == 1; }
bool is_greater_or_equal(int order) { return order == 1 || order == 0; }

// Python's & and | on two bools are bools, on integers bitwise.
template <class OnIntegers>
void bitwise(Call& call, OnIntegers f) {
  const bool bools = call.datum("a").as<bool>() && call.datum("b").as<bool>();
  const std::int64_t out = f(call.integer("a"), call.integer("b"));
  bools ? call.emit_datum({out != 0}) : call.emit_datum({out});
}
void and_(Call& call) {
  bitwise(call, [](std::int64_t a, std::int64_t b) { return a & b; });
}
void or_(Call& call) {
  bitwise(call, [](std::int64_t a, std::int64_t b) { return a | b; });
}

std::int64_t shift_count(const Call& call) {
  const std::int64_t count = call.integer("b");
  if (count < 0) throw OpError("negative shift count");
  return count;
}
void lshift(Call& call) {
  const std::int64_t a = call.integer("a");
  const std::int64_t count = shift_count(call);
  std::int64_t out = 0;
  if (a != 0 && (count > 62 || __builtin_mul_overflow(a, std::int64_t{1} << count, &out))) {
    overflow(call);
  }
  call.emit_datum({out});
}
void rshift(Call& call) {
  const std::int64_t a = call.integer("a");
  const std::int64_t count = shift_count(call);
  call.emit_datum({count > 63 ? (a < 0 ? std::int64_t{-1} : std::int64_t{0}) : a >> count});
}

// One result of a node with several, or one element of a list.
void getitem(Call& call) {
  const auto* list = call.datum("self").as<Datum::List>();
  if (!list) throw OpError("getitem wants a list");
  const auto size = static_cast<std::int64_t>(list->size());
  const std::int64_t index = call.integer("index");
  if (index < -size || index >= size) throw OpError("list index out of range");
  call.emit_datum((*list)[static_cast<std::size_t>(index < 0 ? index + size : index)]);
}

template <double (*kRound)(double)>
void round_to_whole(Call& call, std::string_view name) {
  const Operand x = operand(call, name);
  call.emit_datum({x.is_float ? whole(call, kRound(x.real)) : x.integer});
}
double round_up(double x) { return std::ceil(x); }
double round_down(double x) { return std::floor(x); }
double cut(double x) { return std::trunc(x); }
void math_ceil(Call& call) { round_to_whole<round_up>(call, "x"); }
void math_floor(Call& call) { round_to_whole<round_down>(call, "x"); }
void math_trunc(Call& call) { round_to_whole<cut>(call, "x"); }
void sym_int(Call& call) { round_to_whole<cut>(call, "a"); }

void sym_float(Call& call) { call.emit_datum({operand(call, "a").real}); }
void sym_sqrt(Call& call) {
  const double a = operand(call, "a").real;
  if (a < 0) throw OpError("math domain error: square root of a negative number");
  call.emit_datum({std::sqrt(a)});
}
void sym_not(Call& call) { call.emit_datum({!call.boolean("a")}); }
void sym_ite(Call& call) { call.emit_datum(call.datum(call.boolean("b") ? "t" : "f")); }

// An integer beside a float gives a float.
void pick(Call& call, bool first) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  const Operand& chosen = first ? a : b;
  if (a.is_float || b.is_float) return call.emit_datum({chosen.real});
  call.emit_datum({chosen.integer});
}
void sym_max(Call& call) { pick(call, order(operand(call, "a"), operand(call, "b")) >= 0); }
void sym_min(Call& call) { pick(call, order(operand(call, "a"), operand(call, "b")) <= 0); }

void sym_size(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() == 0) throw OpError("sym_size: a tensor of rank 0 has no dimensions");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  call.emit_datum({self.sizes[static_cast<std::size_t>(dim)]});
}

void sym_numel(Call& call) { call.emit_datum({call.tensor("self")->count()}); }
void sym_storage_offset(Call& call) { call.emit_datum({call.tensor("self")->offset}); }
void sym_stride(Call& call) {
  const Tensor& self = *call.tensor("self");
  if (self.rank() == 0) throw OpError("sym_stride: a tensor of rank 0 has no dimensions");
  const std::int64_t dim = wrap_dim(call.integer("dim"), self.rank());
  call.emit_datum({self.strides[static_cast<std::size_t>(dim)]});
}

constexpr std::array kSymbolicOps = {
    OpBody{"_operator.add", add},
    OpBody{"_operator.and_", and_},
    OpBody{"_operator.eq", compare<is_equal>},
    OpBody{"_operator.floordiv", floordiv},
    OpBody{"_operator.ge", compare<is_greater_or_equal>},
    OpBody{"_operator.getitem", getitem}.any_dtype(),
    OpBody{"_operator.gt", compare<is_greater>},
    OpBody{"_operator.le", compare<is_less_or_equal>},
    OpBody{"_operator.lshift", lshift},
    OpBody{"_operator.lt", compare<is_less>},
    OpBody{"_operator.mod", mod},
    OpBody{"_operator.mul", mul},
    OpBody{"_operator.ne", compare<is_unequal>},
    OpBody{"_operator.neg", neg},
    OpBody{"_operator.or_", or_},
    OpBody{"_operator.pos", pos},
    OpBody{"_operator.pow", pow},
    OpBody{"_operator.rshift", rshift},
    OpBody{"_operator.sub", sub},
    OpBody{"_operator.truediv", truediv},
    OpBody{"aten.sym_numel", sym_numel}.any_dtype(),
    OpBody{"aten.sym_size", sym_size}.any_dtype(),
    OpBody{"aten.sym_storage_offset", sym_storage_offset}.any_dtype(),
    OpBody{"aten.sym_stride", sym_stride}.any_dtype(),
    OpBody{"math.ceil", math_ceil},
    OpBody{"math.floor", math_floor},
    OpBody{"math.trunc", math_trunc},
    OpBody{"torch._sym_sqrt", sym_sqrt},
    OpBody{"torch.sym_float", sym_float},
    OpBody{"torch.sym_int", sym_int},
    OpBody{"torch.sym_ite", sym_ite},
    OpBody{"torch.sym_max", sym_max},
    OpBody{"torch.sym_min", sym_min},
    OpBody{"torch.sym_not", sym_not},
    OpBody{"torch.sym_sqrt", sym_sqrt},
};

}  // namespace

std::span<const OpBody> symbolic_ops() { return kSymbolicOps; }

}  // namespace graphgate::reference
