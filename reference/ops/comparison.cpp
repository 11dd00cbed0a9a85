// Comparisons, logic, bits, and what chooses between values: where, masked_fill, clamp, maximum.
#include "reference/ops/comparison.h"

#include <array>

#include "reference/ops/index_access.h"
#include "reference/ops/limits.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

// The body of a comparison; operands are compared in their common dtype.
template <class F>
constexpr Body compares(F /*f*/) {
  return [](Call& call) { pointwise_bool(call, {"self", "other"}, F()); };
}

template <class N>
Whole at_most(const N& a, const N& b) {
  return less(a, b) | equal(a, b);
}

// The body of a predicate of one tensor.
template <class F>
constexpr Body tests(F /*f*/) {
  return [](Call& call) { pointwise_bool(call, {"self"}, F()); };
}

template <class N>
Whole truth(const N& x) {
  return logical_not(is_zero(x));
}

// The body of a bitwise op: integers and bool.
template <class F>
constexpr Body bits(F /*f*/) {
  return [](Call& call) {
    const Operands operands = gather_operands(call, {"self", "other"});
    require_integral(call, operands.common);
    emit_formula<Whole>(call, operands, operands.common, operands.common, F());
  };
}

// How far `distance` shifts a number of the dtype: all of its bits out for a negative distance, or
// one as large as the dtype is wide.
Whole shifted_left(Whole x, Whole distance, DType dtype) {
  const bool undecided = x.undecided || distance.undecided;
  const std::int64_t width = 8 * spec::item_size_bytes(dtype);
  if (distance.value < 0 || distance.value >= width) return {0, undecided};
  return {detail::wrap(detail::bits(x.value) << distance.value), undecided};
}
// Copies of the sign come in.
Whole shifted_right(Whole x, Whole distance, DType dtype) {
  const bool undecided = x.undecided || distance.undecided;
  const std::int64_t width = 8 * spec::item_size_bytes(dtype);
  const bool is_all = distance.value < 0 || distance.value >= width;
  const std::int64_t most = std::min<std::int64_t>(width, 63);
  return {x.value >> (is_all ? most : distance.value), undecided};
}
template <class F>
constexpr Body by_distance(F /*f*/) {
  return [](Call& call) {
    const Operands operands = gather_operands(call, {"self", "other"});
    const DType dtype = operands.common;
    require_integral(call, dtype);
    refuse_bool(call, dtype);
    emit_formula<Whole>(call, operands, dtype, dtype,
                        [dtype](Whole x, Whole distance) { return F()(x, distance, dtype); });
  };
}
constexpr Body kShiftLeft = by_distance(
    [](Whole x, Whole distance, DType dtype) { return shifted_left(x, distance, dtype); });
constexpr Body kShiftRight = by_distance(
    [](Whole x, Whole distance, DType dtype) { return shifted_right(x, distance, dtype); });

// Whether the sign's bit is set: of -0, and of NaNs, too, whose sign nobody knows.
Whole sign_bit(Whole x) { return less(x, Whole(0)); }
Whole sign_bit(double x) { return std::signbit(x); }
template <class P>
Whole sign_bit(const Tracked<P>& x) {
  return {std::signbit(x.value), std::isnan(x.value) || detail::has_open_sign(x)};
}

// `condition ? self : other`. Only the values are promoted.
void where_chosen(Call& call) {
  Operands operands = gather_operands(call, {"condition", "self", "other"});
  const DType condition = call.tensor("condition")->dtype;
  if (condition != DType::kBool && condition != DType::kUInt8) {
    throw OpError("where expected condition to be a boolean tensor");
  }
  const DType dtype = result_type(std::span(operands.data).subspan(1));
  Datum chosen = read_before_writing(call, operands).data[0];
  operands.data.erase(operands.data.begin());
  with_number(call.mode(), dtype, [&]<class N>() {
    detail::ElementReader<Whole> conditions(chosen, DType::kBool, operands.sizes);
    emit_formula<N>(call, operands, dtype, dtype,
                    [&](const N& a, const N& b) { return select(conditions.next(), a, b); });
  });
}

// The indices of what differs from zero, one tensor per dimension; the columns of nonzero's result.
void emit_indices(Call& call, const Tensor& condition) {
  const TensorRef at_least_1d =
      condition.rank() == 0
          ? view_of(condition, {1}, {1}, condition.offset)
          : view_of(condition, condition.sizes, condition.strides, condition.offset);
  const TensorRef found = nonzero_of(call.mode(), *at_least_1d);
  const std::int64_t count = found->sizes[0];
  Datum::List list;
  for (std::int64_t d = 0; d < found->sizes[1]; ++d) {
    list.push_back({view_of(*found, {count}, {1}, d * count)});
  }
  call.emit_datum({std::move(list)});
}

void where(Call& call) {
  call.has("self") ? where_chosen(call) : emit_indices(call, *call.tensor("condition"));
}
void nonzero_numpy(Call& call) { emit_indices(call, *call.tensor("self")); }

// The value takes self's dtype; the result is contiguous.
void masked_fill(Call& call) {
  const TensorRef& self = call.tensor("self");
  const TensorRef& mask = call.tensor("mask");
  if (mask->dtype != DType::kBool) throw OpError("masked_fill only supports boolean masks");
  const Sizes sizes = broadcast_sizes({self->sizes, mask->sizes});
  const Datum& value = call.datum("value");
  const auto* scalar = value.as<TensorRef>();
  if (scalar && (*scalar)->rank() != 0) {
    throw OpError("masked_fill only supports a 0-dimensional value tensor");
  }
  const auto chosen = broadcast_to(load<Whole>(*mask, DType::kBool), sizes);
  refuse_float8(call, self->dtype);
  with_number(call.mode(), self->dtype, [&]<class N>() {
    Array<N> out = broadcast_to(load<N>(*self, self->dtype), sizes);
    const N fill =
        scalar ? load<N>(**scalar, self->dtype)[0] : checked_number<N>(value, self->dtype);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = select(chosen[i], fill, out[i]);
    call.emit(out, self->dtype);
  });
}

// A bound that is a number: NaN bounds alone change nothing, NaN among two gives NaN everywhere.
template <class N>
N raised(const N& x, const N& low) {
  return select(less(x, low), low, x);
}
template <class N>
N lowered(const N& x, const N& high) {
  return select(less(high, x), high, x);
}

void clamp_by_numbers(Call& call) {
  Operands operands = gather_operands(call, {"self"});
  std::vector<Datum> all = operands.data;
  for (const std::string_view name : {"min", "max"}) {
    if (call.has(name)) all.push_back(call.datum(name));
  }
  operands.common = result_type(all);
  const DType dtype = operands.common;
  refuse_float8(call, dtype);
  const bool has_low = call.has("min");
  const bool has_high = call.has("max");
  with_number(call.mode(), dtype, [&]<class N>() {
    const N low = has_low ? bound_number<N>(call, "min", dtype) : N(0);
    const N high = has_high ? bound_number<N>(call, "max", dtype) : N(0);
    const bool is_void = has_low && has_high && (is_nan(low) | is_nan(high)).value != 0;
    emit_formula<N>(call, operands, dtype, dtype, [&](const N& x) {
      if (is_void) return low + high;
      const N above = has_low ? raised(x, low) : x;
      return has_high ? lowered(above, high) : above;
    });
  });
}

void clamp_by_tensors(Call& call) {
  if (!call.has("max")) {
    return pointwise(call, {"self", "min"}, [](auto x, auto low) { return maximum(x, low); });
  }
  if (!call.has("min")) {
    return pointwise(call, {"self", "max"}, [](auto x, auto high) { return minimum(x, high); });
  }
  pointwise(call, {"self", "min", "max"},
            [](auto x, auto low, auto high) { return minimum(maximum(x, low), high); });
}

void clamp(Call& call) {
  const bool has_low = call.has("min");
  if (!has_low && !call.has("max")) {
    throw OpError("clamp: at least one of 'min' or 'max' must not be None");
  }
  const Datum& bound = call.datum(has_low ? "min" : "max");
  bound.as<TensorRef>() ? clamp_by_tensors(call) : clamp_by_numbers(call);
}

// What NaN and the infinities become: 0 and the dtype's largest numbers unless given.
void nan_to_num(Call& call) {
  const DType dtype = call.tensor("self")->dtype;
  if (!spec::is_floating_point(dtype)) {
    return pointwise(
        call, {"self"}, [](auto x) { return x; }, /*like_self=*/true);
  }
  const double nan = call.optional_real("nan").value_or(0);
  const double high = call.optional_real("posinf").value_or(max_finite(dtype));
  const double low = call.optional_real("neginf").value_or(-max_finite(dtype));
  const auto replaced = [=]<class N>(const N& x) {
    const N finite = select(is_infinite(x), select(less(x, N(0)), N(low), N(high)), x);
    return select(is_nan(x), N(nan), finite);
  };
  pointwise_real(call, {"self"}, replaced, /*like_self=*/true);
}

constexpr std::array kComparisonOps = {
    OpBody{"aten.__and__", bits([](Whole a, Whole b) { return a & b; })},
    OpBody{"aten.__or__", bits([](Whole a, Whole b) { return a | b; })},
    OpBody{"aten.__xor__", bits([](Whole a, Whole b) { return a ^ b; })},
    OpBody{"aten.__ilshift__", kShiftLeft},
    OpBody{"aten.__irshift__", kShiftRight},
    OpBody{"aten.__lshift__", kShiftLeft},
    OpBody{"aten.__rshift__", kShiftRight},
    OpBody{"aten.bitwise_and", bits([](Whole a, Whole b) { return a & b; })},
    OpBody{"aten.bitwise_left_shift", kShiftLeft},
    OpBody{"aten.bitwise_or", bits([](Whole a, Whole b) { return a | b; })},
    OpBody{"aten.bitwise_right_shift", kShiftRight},
    OpBody{"aten.bitwise_xor", bits([](Whole a, Whole b) { return a ^ b; })},
    OpBody{"aten.clamp", clamp},
    OpBody{"aten.clamp_max", clamp},
    OpBody{"aten.clamp_min", clamp},
    OpBody{"aten.eq", compares([](auto a, auto b) { return equal(a, b); })},
    OpBody{"aten.ge", compares([](auto a, auto b) { return at_most(b, a); })},
    OpBody{"aten.gt", compares([](auto a, auto b) { return less(b, a); })},
    OpBody{"aten.isinf", tests([](auto x) { return is_infinite(x); })},
    OpBody{"aten.isnan", tests([](auto x) { return is_nan(x); })},
    OpBody{"aten.isneginf", tests([](auto x) { return is_infinite(x) & less(x, decltype(x)(0)); })},
    OpBody{"aten.isposinf", tests([](auto x) { return is_infinite(x) & less(decltype(x)(0), x); })},
    OpBody{"aten.le", compares([](auto a, auto b) { return at_most(a, b); })},
    OpBody{"aten.logical_and", compares([](auto a, auto b) { return truth(a) & truth(b); })},
    OpBody{"aten.logical_not", tests([](auto x) { return is_zero(x); })},
    OpBody{"aten.logical_or", compares([](auto a, auto b) { return truth(a) | truth(b); })},
    OpBody{"aten.logical_xor", compares([](auto a, auto b) { return truth(a) ^ truth(b); })},
    OpBody{"aten.lt", compares([](auto a, auto b) { return less(a, b); })},
    OpBody{"aten.masked_fill", masked_fill},
    OpBody{"aten.maximum", pointwise_maximum},
    OpBody{"aten.minimum", pointwise_minimum},
    OpBody{"aten.nan_to_num", nan_to_num},
    OpBody{"aten.ne", compares([](auto a, auto b) { return logical_not(equal(a, b)); })},
    OpBody{"aten.nonzero_numpy", nonzero_numpy},
    OpBody{"aten.signbit", tests([](auto x) { return sign_bit(x); })},
    OpBody{"aten.where", where},
};

}  // namespace

std::span<const OpBody> comparison_ops() { return kComparisonOps; }

}  // namespace graphgate::reference
