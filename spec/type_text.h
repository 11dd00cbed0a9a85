// Tensor types and the elements of tensors as text. Graph text and case files share them.
//
//   f32[s0, 16]                        contiguous, offset 0, on the cpu
//   bf16[8, 16]{1, 8}@4 on cuda:0      strides {1, 8} and offset 4, in elements
//   f32[0] layout none
//
// Elements stand in row-major order, each as the shortest decimal that reads back to the same bits:
// [1.0, -0.5, inf], [True, False]. A tensor that a flat list cannot say (strided, offset, part of a
// larger storage, NaN with a payload) is written as its whole storage: bytes "0000803f".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/tensor.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

// The strides that the text leaves out: row-major, a size of 0 counting as 1. A product of symbols
// is written with its constant factor first, then the symbolic sizes from left to right. nullopt if
// a constant factor overflows.
[[nodiscard]] std::optional<std::vector<SymExpr>> default_strides(
    const std::vector<SymExpr>& sizes);

// cpu, cuda:1: what stands behind `on`. In quotes where the type is no word.
[[nodiscard]] std::string print_device_name(const Device& device);
[[nodiscard]] Result<Device> read_device(TextReader& reader);

[[nodiscard]] std::string print_tensor_type(const TensorType& type);
[[nodiscard]] Result<TensorType> read_tensor_type(TextReader& reader);

// The geometry of `type` without a storage; nullopt if a size, stride or offset is symbolic.
[[nodiscard]] std::optional<HostTensor> concrete_geometry(const TensorType& type);
// The inverse.
[[nodiscard]] TensorType type_of(const HostTensor& tensor);

// `[...]` or `bytes "..."`. The tensor has a storage, and its geometry fits.
[[nodiscard]] std::string print_tensor_data(const HostTensor& tensor);
// Reads either form for the geometry of `type`. Errors if it is symbolic, if the number of elements
// differs, if an element does not fit the dtype, or if the bytes do not hold the geometry.
[[nodiscard]] Result<HostTensor> read_tensor_data(TextReader& reader, const TensorType& type);

}  // namespace graphgate::spec
