// Ops on complex tensors, taken apart into ops on their components.
//
// A component of a complex tensor is a view of it (complex_numbers.h), so that parts are ordinary
// nodes, which are planned, fused, captured, and run on a device. A result is made as one tensor of
// pairs, into which both components are copied when both are known, and seen as complex.
//
// Every part rounds to the dtype of the components, as PyTorch's own arithmetic does. Elementary
// functions of complex64 take parts in float64, and round once.
#pragma once

#include <initializer_list>

#include "optimized/analysis/composite.h"

namespace graphgate::optimized {

// How an op is taken apart that has complex operands; null where there is no way.
[[nodiscard]] TakeApart find_complex(const spec::OpRow& row);

// What complex.cpp looks through.
[[nodiscard]] std::span<const CompositeOp> complex_arithmetic();
[[nodiscard]] std::span<const CompositeOp> complex_functions();
[[nodiscard]] std::span<const CompositeOp> complex_reductions();
[[nodiscard]] std::span<const CompositeOp> complex_products();

// A number or one tensor of numbers, by components. Each is a value, or a constant (a double).
struct Components {
  spec::Argument re;
  spec::Argument im;
};

// Adds parts that compute on components of one dtype.
class ComplexParts {
 public:
  // `component` is float32 or float64; `parts` outlives it.
  ComplexParts(Parts& parts, spec::DType component) : parts_(parts), component_(component) {}

  [[nodiscard]] Parts& parts() { return parts_; }
  [[nodiscard]] spec::DType component() const { return component_; }

  // A tensor or a number, its components converted to the dtype.
  [[nodiscard]] Components pair(const spec::Argument& operand);
  [[nodiscard]] Components pair(std::string_view name) { return pair(parts_[name]); }

  // On components.
  [[nodiscard]] spec::Argument add(const spec::Argument& a, const spec::Argument& b);
  [[nodiscard]] spec::Argument sub(const spec::Argument& a, const spec::Argument& b);
  [[nodiscard]] spec::Argument mul(const spec::Argument& a, const spec::Argument& b);
  [[nodiscard]] spec::Argument div(const spec::Argument& a, const spec::Argument& b);
  [[nodiscard]] spec::Argument negated(const spec::Argument& a);
  // An op of one or two tensors: call("aten.exp.default", a).
  [[nodiscard]] spec::Argument call(std::string_view op, const spec::Argument& a);
  [[nodiscard]] spec::Argument call(std::string_view op, const spec::Argument& a,
                                    const spec::Argument& b);
  // Elements of `a` where the condition holds, else of `b`.
  [[nodiscard]] spec::Argument chosen(const spec::Argument& condition, const spec::Argument& a,
                                      const spec::Argument& b);
  // A comparison with a number: compared("ge", a, 0).
  [[nodiscard]] spec::Argument compared(std::string_view how, const spec::Argument& a, double b);
  // As a tensor: a constant becomes one without dimensions.
  [[nodiscard]] spec::Argument tensor(const spec::Argument& a);

  // On complex numbers.
  [[nodiscard]] Components add(const Components& a, const Components& b);
  [[nodiscard]] Components sub(const Components& a, const Components& b);
  [[nodiscard]] Components mul(const Components& a, const Components& b);
  [[nodiscard]] Components div(const Components& a, const Components& b);
  [[nodiscard]] Components negated(const Components& a);
  [[nodiscard]] Components conjugate(const Components& a);
  [[nodiscard]] Components times_i(const Components& a);
  [[nodiscard]] Components over_i(const Components& a);
  [[nodiscard]] Components chosen(const spec::Argument& condition, const Components& a,
                                  const Components& b);
  [[nodiscard]] spec::Argument absolute(const Components& a);
  [[nodiscard]] spec::Argument angle(const Components& a);
  // Whether the two are equal; whether one is 0.
  [[nodiscard]] spec::Argument equal(const Components& a, const Components& b);
  [[nodiscard]] spec::Argument is_zero(const Components& a);

 private:
  template <class F>
  spec::Argument binary(std::string_view op, const spec::Argument& a, const spec::Argument& b,
                        bool swaps, F fold);
  spec::Argument converted(const spec::Argument& value);

  Parts& parts_;
  spec::DType component_;
};

// Components of the very numbers that a complex value holds: views.
[[nodiscard]] spec::Argument component_view(Parts& parts, const spec::Argument& value, int which);
[[nodiscard]] Components component_views(Parts& parts, const spec::Argument& value);

// Makes result 0 of the node, of `dtype` and `sizes`, from its components, which broadcast to them
// and may be of a wider dtype. In the in-place and out= forms it is the written tensor; both
// components are known before it is written. `strides`: of a new one, dense.
[[nodiscard]] spec::Argument make_complex(Parts& parts, const Components& value, spec::DType dtype,
                                          const Sizes& sizes, const Sizes& strides);
// The same where the result is pointwise over these arguments (numbers and None are left out).
[[nodiscard]] spec::Argument make_pointwise_complex(Parts& parts, const Components& value,
                                                    spec::DType dtype,
                                                    std::initializer_list<std::string_view> over);
// Makes result 0, which is real: `value`, or what it is written into.
[[nodiscard]] spec::Argument make_real(Parts& parts, const spec::Argument& value);

// Runs the node's own op with other arguments in the place of those named, and returns result 0.
[[nodiscard]] spec::Argument same_op(
    Parts& parts, const std::vector<std::pair<std::string_view, spec::Argument>>& others);
// Runs the node's own op on real components, and then on imaginary ones: those of the named
// arguments; the others are as they are, and a dtype is left out. Returns result 0.
[[nodiscard]] std::vector<spec::Argument> run_apart(
    ComplexParts& c, const std::vector<std::pair<std::string_view, Components>>& pairs);

// The complex dtype of a result of these arguments. Throws OpError where there is none complex.
[[nodiscard]] spec::DType complex_result(const Parts& parts,
                                         std::initializer_list<std::string_view> names);
[[nodiscard]] spec::DType complex_with(spec::DType component);

// Elementary functions; float64 is what they take.
[[nodiscard]] Components complex_exp(ComplexParts& c, const Components& z);
[[nodiscard]] Components complex_log(ComplexParts& c, const Components& z);
[[nodiscard]] Components complex_sqrt(ComplexParts& c, const Components& z);

}  // namespace graphgate::optimized
