// Helpers for tests of kernels: tensors with bytes, and one call of one op through infer_call and
// bind_call, as the executor does it but without a graph.
//
//   const Tensor a = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
//   const Tensor sum = run_one("aten.add.Tensor", {a, a}, {{"alpha", 2}});
//   EXPECT_EQ(numbers(sum), (Numbers{3, 6, 9, 12, 15, 18}));
//   EXPECT_THROW(run_one("aten.add.Tensor", {a, make_tensor(DType::kFloat32, {4})}), OpError);
//
// In-place and out= forms are ops like any other: pass the written tensor, then read it again.
// Storages live until the test binary ends, so that Tensors may be passed around freely.
#pragma once

#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "optimized/kernel.h"

namespace graphgate::optimized::testing {

using spec::DType;
using Numbers = std::vector<double>;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An argument of a call, made from what a test has at hand. Lists: Sizes, std::vector<Tensor>.
struct TestArgument {
  Item item;
  TestArgument(Item value) : item(std::move(value)) {}
  TestArgument(const Tensor& tensor) : item{tensor} {}
  TestArgument(int number) : item{static_cast<std::int64_t>(number)} {}
  TestArgument(std::int64_t number) : item{number} {}
  TestArgument(double number) : item{number} {}
  TestArgument(bool flag) : item{flag} {}
  TestArgument(const char* text) : item{std::string(text)} {}
  TestArgument(spec::DType dtype) : item{dtype} {}
  TestArgument(spec::Device device) : item{std::move(device)} {}
  TestArgument(spec::MemoryFormat format) : item{format} {}
  TestArgument(spec::None none) : item{none} {}
  TestArgument(const Sizes& numbers);
  TestArgument(const std::vector<Tensor>& tensors);
};
using NamedTestArgument = std::pair<std::string_view, TestArgument>;

// A new tensor with a storage of its own. `values` are the elements in row-major order; none at all
// means zeros, else they must be as many as the sizes say. `strides` (in elements, not negative)
// default to row-major; bytes between elements hold 0xa5.
[[nodiscard]] Tensor make_tensor(spec::DType dtype, const Sizes& sizes, const Numbers& values = {},
                                 const Sizes& strides = {});
// The same for values that a double cannot hold.
[[nodiscard]] Tensor make_integers(spec::DType dtype, const Sizes& sizes,
                                   const std::vector<std::int64_t>& values);
// Another geometry over the bytes of `base`; `offset` counts elements from the storage's start.
[[nodiscard]] Tensor view_of(const Tensor& base, Sizes sizes, Sizes strides,
                             std::int64_t offset = 0);

// The elements in row-major order.
[[nodiscard]] Numbers numbers(const Tensor& tensor);
[[nodiscard]] std::vector<std::int64_t> integers(const Tensor& tensor);
// Their bytes, tightly packed: for "the same bits".
[[nodiscard]] std::vector<std::byte> packed(const Tensor& tensor);

// Runs the op (its qualified name, "aten.add_.Tensor") and gives its results in order: tensors,
// numbers (int64, double, bool), None, lists. Arguments come in the schema's order, then by name;
// the rest have their defaults. New results start as 0xa5 in every byte. An op that writes no
// argument is launched twice, with other bytes in its results before: a launch that does not give
// the same bits again stops the test with a message. OpError, Unsupported and NeedsData pass
// through.
std::vector<Item> run_op(std::string_view op, const std::vector<TestArgument>& arguments,
                         const std::vector<NamedTestArgument>& named = {});
// The first result, which must be a tensor.
Tensor run_one(std::string_view op, const std::vector<TestArgument>& arguments,
               const std::vector<NamedTestArgument>& named = {});
// What inference says of the call without bytes: has_data() is false.
[[nodiscard]] std::vector<Made> infer_op(std::string_view op,
                                         const std::vector<TestArgument>& arguments,
                                         const std::vector<NamedTestArgument>& named = {});

}  // namespace graphgate::optimized::testing
