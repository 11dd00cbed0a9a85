// Elements in and out of host tensors, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "spec/executor.h"

namespace graphgate::spec {

// A contiguous tensor on the CPU; `elements` in row-major order, as many as the sizes say.
template <class T>
HostTensor host_tensor(DType dtype, std::vector<std::int64_t> sizes,
                       const std::vector<T>& elements) {
  HostTensor tensor = make_host_tensor(dtype, std::move(sizes));
  const auto bytes = std::as_bytes(std::span(elements));
  EXPECT_EQ(tensor.storage->bytes.size(), bytes.size());
  tensor.storage->bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

// Of float32 and one dimension.
inline HostTensor float_tensor(const std::vector<float>& elements) {
  return host_tensor(DType::kFloat32, {static_cast<std::int64_t>(elements.size())}, elements);
}

// The elements in row-major order.
template <class T = float>
std::vector<T> elements_of(const HostTensor& tensor) {
  const std::vector<std::byte> bytes = packed_bytes(tensor);
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(elements)).begin());
  return elements;
}
inline std::vector<float> elements_of(const InputValue& value) {
  return elements_of(std::get<HostTensor>(value));
}

}  // namespace graphgate::spec
