// What tests of op families share: tensors from lists of numbers, one op run by its qualified name
// under the effects audit, results read back as numbers.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/binding.h"
#include "reference/interpreter.h"

namespace graphgate::reference::test {

using spec::DType;
using Numbers = std::vector<double>;
using Arguments = std::vector<std::pair<std::string, Datum>>;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A CPU tensor whose elements, in row-major order, are `values` converted to `dtype`.
inline TensorRef tensor(DType dtype, const Sizes& sizes, const Numbers& values,
                        const Sizes& strides = {}) {
  const Sizes at = strides.empty() ? spec::contiguous_strides(sizes) : strides;
  TensorRef out = new_tensor(dtype, sizes, at, spec::Device{});
  Array<double> array(sizes);
  EXPECT_EQ(values.size(), array.data.size());
  array.data = values;
  store(*out, array);
  return out;
}
// A contiguous float32 tensor that holds 0, 1, 2...
inline TensorRef counting(const Sizes& sizes, DType dtype = DType::kFloat32) {
  Numbers values(static_cast<std::size_t>(count_of(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return tensor(dtype, sizes, values);
}
inline Datum ints(std::initializer_list<std::int64_t> list) {
  Datum::List out;
  for (const std::int64_t x : list) out.push_back({x});
  return {out};
}
inline Datum list_of(std::initializer_list<TensorRef> tensors) {
  Datum::List out;
  for (const TensorRef& x : tensors) out.push_back({x});
  return {out};
}

// The i-th of an op's results, a tensor.
inline const Tensor& result(const std::vector<Datum>& results, std::size_t i) {
  return **results[i].as<TensorRef>();
}

// The row of an op that has a body; null, and a failure, where there is none.
inline const spec::OpRow* row_with_body(std::string_view op) {
  const spec::OpRow* row = spec::builtin_op_table().find(op);
  if (row && find_body(*row)) return row;
  ADD_FAILURE() << "no op " << op;
  return nullptr;
}

// Arguments given by name, in the order of the schema; the others have their defaults.
inline std::vector<Datum> bound_to(const spec::OpRow& row, const Arguments& arguments) {
  std::vector<Datum> bound;
  for (const spec::SchemaArgument& parameter : row.schema.arguments) {
    const Datum* given = nullptr;
    for (const auto& [name, datum] : arguments) {
      if (name == parameter.name) given = &datum;
    }
    bound.push_back(given ? *given : default_datum(parameter));
  }
  return bound;
}

// Runs "aten.add.Tensor" on arguments given by name; the others have their defaults. Throws OpError
// and AuditError as the op and the audit do.
inline std::vector<Datum> run(std::string_view op, const Arguments& arguments,
                              Mode mode = Mode::kEager) {
  const spec::OpRow* row = row_with_body(op);
  if (!row) return std::vector<Datum>(8);
  Options options;
  options.mode = mode;
  return run_op(*row, find_body(*row), bound_to(*row, arguments), Run{options});
}
// The one tensor that an op returns.
inline TensorRef run_tensor(std::string_view op, const Arguments& arguments,
                            Mode mode = Mode::kEager) {
  const std::vector<Datum> results = run(op, arguments, mode);
  const auto* out = results.empty() ? nullptr : results.front().as<TensorRef>();
  EXPECT_TRUE(out) << op;
  return out ? *out : new_tensor(DType::kFloat32, Sizes{0}, spec::Device{});
}

// The elements in row-major order.
inline Numbers values(const Tensor& tensor) { return load<double>(tensor, DType::kFloat64).data; }
// Their radii, for results of an oracle mode.
inline Numbers radii(const Tensor& tensor) {
  Numbers out;
  for (const Bounded& x : load<Bounded>(tensor, DType::kFloat64).data) out.push_back(x.radius);
  return out;
}

}  // namespace graphgate::reference::test
