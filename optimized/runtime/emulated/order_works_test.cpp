// Orders along rows by warps, against one thread: the very entries, in rows full of equal elements
// and NaNs, and in rows that part badly.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "optimized/codegen/order_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/kernels/elements/order.h"
#include "optimized/kernels/elements/order_test.h"
#include "optimized/runtime/emulated/emulated_device.h"

namespace graphgate::optimized::emulated {
namespace {

using spec::DType;

constexpr std::int64_t kLength = 700;

// Rows of kLength: of few values, of many, sorted ones, and two that the algorithms part badly.
std::vector<float> drawn_rows() {
  std::mt19937 random(5);
  std::vector<std::vector<int>> rows;
  for (const unsigned kinds : {1U, 2U, 3U, 7U, 40U, 1000U, 100000U}) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      std::vector<int>& row = rows.emplace_back(kLength);
      for (int& value : row) value = static_cast<int>(random() % kinds);
      if (repeat == 2) std::sort(row.begin(), row.end());
      if (repeat == 3) std::sort(row.rbegin(), row.rend());
    }
  }
  rows.push_back(element::killer_values(kLength, [](auto& elements, const auto& before) {
    std::sort(elements.begin(), elements.end(), before);
  }));
  rows.push_back(element::killer_values(kLength, [](auto& elements, const auto& before) {
    std::nth_element(elements.begin(), elements.begin() + kLength / 2, elements.end(), before);
  }));
  std::vector<float> out;
  for (const std::vector<int>& row : rows) {
    const std::vector<float> numbers = element::test_numbers(row);
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

// Row-major numbers as a tensor.
template <class T>
Tensor tensor_of(DType dtype, std::vector<T>& numbers, std::int64_t length) {
  Tensor out{.dtype = dtype, .sizes = {std::ssize(numbers) / length, length}};
  out.strides = row_major_strides(out.sizes);
  out.bytes = reinterpret_cast<std::byte*>(numbers.data());
  return out;
}

// Where the first `taken` entries of every row stood, as a device puts them in order.
std::vector<std::int64_t> places_on_device(std::vector<float> rows, const std::string& function,
                                           std::int64_t taken) {
  const std::int64_t count = std::ssize(rows) / kLength;
  std::vector<float> values(static_cast<std::size_t>(count * taken));
  std::vector<std::int64_t> places(values.size());
  const auto device = make_emulated_device().value();
  std::vector<std::shared_ptr<const std::span<std::byte>>> scratch;
  const DeviceListener listener([&](std::int64_t bytes) {
    scratch.push_back(device->memory().reserve(bytes));
    return scratch.back()->data();
  });
  const auto works = select_works(listener,
                                  {tensor_of(DType::kFloat32, rows, kLength),
                                   {1},
                                   tensor_of(DType::kFloat32, values, taken),
                                   tensor_of(DType::kInt64, places, taken),
                                   {1}},
                                  function);
  const std::array<std::span<std::byte>, 3> memory = {std::as_writable_bytes(std::span(rows)),
                                                      std::as_writable_bytes(std::span(values)),
                                                      std::as_writable_bytes(std::span(places))};
  DeviceProgramText text;
  for (const auto bytes : memory) device->memory().know(bytes, nullptr);
  const std::vector<Device::Job> jobs = {{text.add(works.value()), true}};
  const auto runs = device->load(text, jobs);
  for (const auto bytes : memory) device->memory().bring_to_device(bytes);
  runs.front()->launch();
  for (const auto bytes : memory) device->memory().device_wrote(bytes);
  device->finish();
  for (const auto bytes : memory) device->memory().bring_to_host(bytes);
  return places;
}

template <class Select>
void expect_places_of_one_thread(const Select& select, std::int64_t taken) {
  const std::vector<float> rows = drawn_rows();
  std::vector<std::int64_t> expected;
  for (std::int64_t begin = 0; begin < std::ssize(rows); begin += kLength) {
    std::vector<element::Entry<float>> entries;
    for (std::int64_t i = 0; i < kLength; ++i) {
      entries.push_back({rows[static_cast<std::size_t>(begin + i)], i});
    }
    select(entries.data(), kLength);
    for (std::int64_t i = 0; i < taken; ++i) {
      expected.push_back(entries[static_cast<std::size_t>(i)].place);
    }
  }
  EXPECT_EQ(places_on_device(rows, callable_text<std::int64_t>(select), taken), expected)
      << callable_text<std::int64_t>(select);
}

TEST(OrderWorks, SortAsOneThreadDoes) {
  expect_places_of_one_thread(element::Sorted<element::Ascending>(), kLength);
  expect_places_of_one_thread(element::Sorted<element::Descending>(), kLength);
}

TEST(OrderWorks, FindTheFirstAsOneThreadDoes) {
  using element::Ascending;
  using element::Descending;
  for (const std::int64_t k : {1, 10}) {  // by a heap
    expect_places_of_one_thread(element::FirstOnes<Descending, true>{k}, kLength);
  }
  for (const std::int64_t k : {11, 40, 350, 699, 700}) {  // by partitions
    expect_places_of_one_thread(element::FirstOnes<Ascending, false>{k}, kLength);
  }
  expect_places_of_one_thread(element::FirstOnes<Descending, true>{350}, kLength);
}

TEST(OrderWorks, FindTheKthAsOneThreadDoes) {
  expect_places_of_one_thread(element::Kth{300}, kLength);
}

}  // namespace
}  // namespace graphgate::optimized::emulated
