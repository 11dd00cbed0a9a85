#include "reference/call.h"

#include <gtest/gtest.h>

#include <deque>

#include "spec/op_table.h"

namespace graphgate::reference {
namespace {

using spec::DType;
using Numbers = std::vector<double>;

TensorRef row_of(DType dtype, const Numbers& numbers) {
  const Sizes sizes = {static_cast<std::int64_t>(numbers.size())};
  TensorRef tensor = new_tensor(dtype, sizes, spec::Device{});
  Array<double> array(sizes);
  array.data = numbers;
  store(*tensor, array);
  return tensor;
}
Numbers numbers_of(const Tensor& tensor) { return load<double>(tensor, DType::kFloat64).data; }
const TensorRef& result_of(Call& call) { return *call.results().front().as<TensorRef>(); }

// A call of an op of the built-in table, one Datum per argument of its schema.
Call call_of(const char* op, std::vector<Datum> arguments) {
  const spec::OpRow* row = spec::builtin_op_table().find(op);
  EXPECT_TRUE(row) << op;
  static std::deque<std::vector<Datum>> kept;  // calls do not own their arguments
  return {Mode::kEager, *row, kept.emplace_back(std::move(arguments))};
}
Array<double> array_of(const Numbers& numbers) {
  Array<double> array({static_cast<std::int64_t>(numbers.size())});
  array.data = numbers;
  return array;
}

TEST(CallArguments, AreFoundByTheirNameInTheSchema) {
  const Call call =
      call_of("aten.add.Tensor",
              {{row_of(DType::kFloat32, {1})}, {row_of(DType::kFloat32, {2})}, {std::int64_t{3}}});
  EXPECT_EQ(numbers_of(*call.tensor("other")), Numbers{2});
  EXPECT_EQ(call.integer("alpha"), 3);
  EXPECT_EQ(call.real("alpha"), 3.0);
  EXPECT_FALSE(call.has("dim"));
  EXPECT_THROW((void)call.integer("dim"), OpError);
  EXPECT_THROW((void)call.text("alpha"), OpError);
}

TEST(CallArguments, OfNoneAreNotThere) {
  const Call call =
      call_of("aten.clamp.default", {{row_of(DType::kFloat32, {1})}, {spec::None{}}, {2.5}});
  EXPECT_FALSE(call.has("min"));
  EXPECT_EQ(call.optional_real("min"), std::nullopt);
  EXPECT_EQ(call.optional_real("max"), 2.5);
}

TEST(CallArguments, TakeALoneIntegerAsAListOfOne) {
  const Call call =
      call_of("aten.flip.default", {{row_of(DType::kFloat32, {1})}, {std::int64_t{0}}});
  EXPECT_EQ(call.integers("dims"), Sizes{0});
}

TEST(Emit, AllocatesForTheFunctionalForm) {
  const TensorRef self = row_of(DType::kFloat32, {1, 2});
  Call call = call_of("aten.neg.default", {{self}});
  EXPECT_FALSE(call.next_is_written());
  call.emit(array_of({-1, -2}), DType::kFloat32);
  EXPECT_NE(result_of(call), self);
  EXPECT_EQ(numbers_of(*self), (Numbers{1, 2}));
  EXPECT_EQ(numbers_of(*result_of(call)), (Numbers{-1, -2}));
}

TEST(Emit, WritesSelfInTheInPlaceFormAndKeepsItsDtype) {
  const TensorRef self = row_of(DType::kInt32, {1, 2});
  Call call = call_of("aten.neg_.default", {{self}});
  EXPECT_EQ(call.next_target(), self);
  call.emit(array_of({-1.5, 2.5}), DType::kFloat32);
  EXPECT_EQ(result_of(call), self);
  EXPECT_EQ(self->dtype, DType::kInt32);
  EXPECT_EQ(numbers_of(*self), (Numbers{-1, 2}));
}

TEST(Emit, RoundsToTheCommonDtypeBeforeTheTargetsOwn) {
  const TensorRef self = row_of(DType::kFloat32, {0});
  Call call = call_of("aten.neg_.default", {{self}});
  call.emit(array_of({257}), DType::kBFloat16);
  EXPECT_EQ(numbers_of(*self), Numbers{256});
}

TEST(Emit, ResizesAnOutTensorOfOtherSizes) {
  const TensorRef out = row_of(DType::kFloat32, {});
  Call call = call_of("aten.neg.out", {{row_of(DType::kFloat32, {1, 2})}, {out}});
  call.emit(array_of({-1, -2}), DType::kFloat32);
  EXPECT_EQ(result_of(call), out);
  EXPECT_EQ(out->sizes, Sizes{2});
  EXPECT_EQ(numbers_of(*out), (Numbers{-1, -2}));
}

TEST(Emit, RefusesOtherSizesInTheInPlaceForm) {
  Call call = call_of("aten.neg_.default", {{row_of(DType::kFloat32, {1, 2})}});
  EXPECT_THROW(call.emit(array_of({1}), DType::kFloat32), OpError);
}

TEST(Emit, WritesThroughAViewIntoItsBase) {
  const TensorRef base = row_of(DType::kFloat32, {1, 2, 3, 4});
  const TensorRef every_second = view_of(*base, {2}, {2}, 0);
  Call call = call_of("aten.neg_.default", {{every_second}});
  call.emit(array_of({-1, -3}), DType::kFloat32);
  EXPECT_EQ(numbers_of(*base), (Numbers{-1, 2, -3, 4}));
}

TEST(EmitView, ChangesTheTensorItselfInTheInPlaceForm) {
  const TensorRef self = row_of(DType::kFloat32, {1, 2});
  Call functional = call_of("aten.unsqueeze.default", {{self}, {std::int64_t{0}}});
  functional.emit_view(self, {1, 2}, {2, 1}, 0);
  EXPECT_NE(result_of(functional), self);
  EXPECT_EQ(result_of(functional)->storage, self->storage);
  EXPECT_EQ(self->sizes, Sizes{2});
  Call in_place = call_of("aten.unsqueeze_.default", {{self}, {std::int64_t{0}}});
  in_place.emit_view(self, {1, 2}, {2, 1}, 0);
  EXPECT_EQ(result_of(in_place), self);
  EXPECT_EQ(self->sizes, (Sizes{1, 2}));
}

TEST(ResultDevice, IsThatOfTheFirstTensorThatIsNoScalarOnTheCpu) {
  const TensorRef scalar = new_tensor(DType::kFloat32, Sizes{}, spec::Device{});
  const TensorRef far = new_tensor(DType::kFloat32, Sizes{2}, spec::Device{"cuda", 0});
  const Call call = call_of("aten.mul.Tensor", {{scalar}, {far}});
  EXPECT_EQ(call.result_device().type, "cuda");
  const Call near = call_of("aten.mul.Tensor", {{scalar}, {scalar}});
  EXPECT_EQ(near.result_device().type, "cpu");
}

TEST(Number, IsHeldInSinglePrecisionForNarrowerDtypes) {
  const Datum third{1.0 / 3};
  EXPECT_EQ(number<double>(third, DType::kBFloat16), static_cast<double>(1.0F / 3));
  EXPECT_EQ(number<double>(third, DType::kFloat64), 1.0 / 3);
  EXPECT_EQ(number<Whole>({2.75}, DType::kInt64).value, 2);
  EXPECT_EQ(number<Bounded>(third, DType::kBFloat16).arithmetic, Bounded::Arithmetic::kFloat32);
  EXPECT_EQ(number<Sampled>(third, DType::kFloat64).arithmetic, Sampled::Arithmetic::kFloat64);
}

}  // namespace
}  // namespace graphgate::reference
