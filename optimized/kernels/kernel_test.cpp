#include "optimized/kernels/kernel_test.h"

#include <gtest/gtest.h>

#include <deque>

#include "optimized/binding.h"
#include "optimized/draws.h"
#include "optimized/launch.h"
#include "optimized/rows.h"

namespace graphgate::optimized::testing {
namespace {

constexpr std::byte kUntouched{0xa5};

// Every storage of this binary's tests.
std::deque<std::vector<std::byte>>& storages() {
  static std::deque<std::vector<std::byte>> all;
  return all;
}

void allocate(Tensor& tensor) {
  const std::int64_t bytes = byte_range(tensor).end;
  storages().emplace_back(static_cast<std::size_t>(bytes), kUntouched);
  tensor.storage = static_cast<StorageIndex>(storages().size() - 1);
  tensor.bytes = storages().back().data();
}

std::vector<std::int64_t> all_dims(const Tensor& tensor) {
  return wrap_dims({}, tensor.rank(), true);
}

template <class C>
std::vector<C> elements(const Tensor& tensor) {
  std::vector<C> out(static_cast<std::size_t>(tensor.count()));
  if (!out.empty()) Rows(tensor, all_dims(tensor)).load<C>(0, out.data());
  return out;
}

template <class C>
Tensor make_with(spec::DType dtype, const Sizes& sizes, const std::vector<C>& values,
                 const Sizes& strides) {
  Tensor tensor{.dtype = dtype,
                .sizes = sizes,
                .strides = strides.empty() ? row_major_strides(sizes) : strides};
  allocate(tensor);
  std::vector<C> all = values;
  if (all.empty()) all.resize(static_cast<std::size_t>(tensor.count()));
  GRAPHGATE_CHECK(static_cast<std::int64_t>(all.size()) == tensor.count());
  if (!all.empty()) Rows(tensor, all_dims(tensor)).store<C>(0, all.data());
  return tensor;
}

const spec::OpRow& row_of(std::string_view op) {
  const spec::OpRow* row = spec::builtin_op_table().find(op);
  if (!row) throw std::invalid_argument("no such op: " + std::string(op));
  return *row;
}

const Kernel& kernel_of(const spec::OpRow& row) {
  const Kernel* kernel = find_kernel(row);
  if (!kernel) throw std::invalid_argument("no kernel for " + row.schema.qualified_name());
  return *kernel;
}

// One Item per argument of the schema.
std::vector<Item> complete(const spec::OpRow& row, const std::vector<TestArgument>& arguments,
                           const std::vector<NamedTestArgument>& named) {
  std::vector<spec::NamedArgument> given;
  std::vector<Item> values;
  const auto give = [&](const std::string& name, const Item& item) {
    spec::NamedArgument argument;
    argument.name = name;
    argument.argument.value = spec::ValueId{static_cast<std::uint32_t>(values.size())};
    given.push_back(std::move(argument));
    values.push_back(item);
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    give(row.schema.arguments.at(i).name, arguments[i].item);
  }
  for (const auto& [name, argument] : named) give(std::string(name), argument.item);
  return bind_arguments(row.schema, given, [&](spec::ValueId id) { return values.at(id.index); });
}

void allocate_new(Made& made) {
  if (made.kind == Made::Kind::kNew) allocate(made.tensor);
  for (Made& element : made.list) allocate_new(element);
}

Item item_of(const Made& made) {
  if (made.kind == Made::Kind::kNumber) return made.number;
  if (made.kind == Made::Kind::kNone) return {spec::None{}};
  if (made.kind != Made::Kind::kList) return {made.tensor};
  Item::List list;
  for (const Made& element : made.list) list.push_back(item_of(element));
  return {std::move(list)};
}

bool writes_arguments(const spec::OpRow& row) {
  for (std::size_t i = 0; i < row.schema.arguments.size(); ++i) {
    if (row.writes(i)) return true;
  }
  return false;
}

std::vector<std::vector<std::byte>> bytes_of(const std::vector<Made>& made) {
  std::vector<std::vector<std::byte>> out;
  for (const Tensor& tensor : flat_tensors(made)) {
    if (tensor.bytes) out.push_back(packed(tensor));
  }
  return out;
}

void overwrite_new(const std::vector<Made>& made) {
  for (const Made& one : made) {
    if (one.kind == Made::Kind::kNew) {
      auto& bytes = storages().at(one.tensor.storage);
      std::fill(bytes.begin(), bytes.end(), std::byte{0x5a});
    }
    overwrite_new(one.list);
  }
}

void launch_twice(const spec::OpRow& row, const std::vector<Item>& arguments,
                  Inference& inference) {
  std::vector<std::byte> scratch(static_cast<std::size_t>(inference.workspace_bytes()) + 64);
  const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
  const Launch launch = bind_call(kernel_of(row), row, arguments, flat_tensors(inference.results()),
                                  scratch.data() + (64 - address % 64) % 64);
  if (!launch) return;
  const auto run = [&launch] {
    const DrawScope same_numbers(0);
    launch.run();
  };
  run();
  if (writes_arguments(row)) return;
  const auto first = bytes_of(inference.results());
  overwrite_new(inference.results());
  run();
  EXPECT_EQ(bytes_of(inference.results()), first) << "the second launch gave other bits";
}

}  // namespace

TestArgument::TestArgument(const Sizes& numbers) {
  Item::List list;
  for (const std::int64_t number : numbers) list.push_back({number});
  item.value = std::move(list);
}

TestArgument::TestArgument(const std::vector<Tensor>& tensors) {
  Item::List list;
  for (const Tensor& tensor : tensors) list.push_back({tensor});
  item.value = std::move(list);
}

Tensor make_tensor(spec::DType dtype, const Sizes& sizes, const Numbers& values,
                   const Sizes& strides) {
  return make_with<double>(dtype, sizes, values, strides);
}

Tensor make_integers(spec::DType dtype, const Sizes& sizes,
                     const std::vector<std::int64_t>& values) {
  return make_with<std::int64_t>(dtype, sizes, values, {});
}

Tensor view_of(const Tensor& base, Sizes sizes, Sizes strides, std::int64_t offset) {
  Tensor view = base;
  view.sizes = std::move(sizes);
  view.strides = std::move(strides);
  view.offset = offset;
  return view;
}

Numbers numbers(const Tensor& tensor) { return elements<double>(tensor); }

std::vector<std::int64_t> integers(const Tensor& tensor) { return elements<std::int64_t>(tensor); }

std::vector<std::byte> packed(const Tensor& tensor) {
  std::vector<std::byte> out;
  const Rows rows(tensor, {});
  for (std::int64_t i = 0; i < rows.count(); ++i) {
    out.insert(out.end(), rows.at(i), rows.at(i) + tensor.item_bytes());
  }
  return out;
}

std::vector<Item> run_op(std::string_view op, const std::vector<TestArgument>& arguments,
                         const std::vector<NamedTestArgument>& named) {
  const spec::OpRow& row = row_of(op);
  const std::vector<Item> items = complete(row, arguments, named);
  Inference inference = infer_call(kernel_of(row), row, items, true);
  for (Made& made : inference.results()) allocate_new(made);
  if (takes_step(kernel_of(row), inference)) launch_twice(row, items, inference);
  std::vector<Item> results;
  for (const Made& made : inference.results()) results.push_back(item_of(made));
  return results;
}

Tensor run_one(std::string_view op, const std::vector<TestArgument>& arguments,
               const std::vector<NamedTestArgument>& named) {
  const std::vector<Item> results = run_op(op, arguments, named);
  return std::get<Tensor>(results.at(0).value);
}

std::vector<Made> infer_op(std::string_view op, const std::vector<TestArgument>& arguments,
                           const std::vector<NamedTestArgument>& named) {
  const spec::OpRow& row = row_of(op);
  std::vector<Item> items = complete(row, arguments, named);
  const auto strip = [](Item& item) {
    if (auto* tensor = std::get_if<Tensor>(&item.value)) tensor->bytes = nullptr;
  };
  for (Item& item : items) {
    strip(item);
    if (auto* list = std::get_if<Item::List>(&item.value)) {
      for (Item& element : *list) strip(element);
    }
  }
  return infer_call(kernel_of(row), row, std::move(items), false).results();
}

}  // namespace graphgate::optimized::testing
