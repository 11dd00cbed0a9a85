// What PyTorch computed for a program: NAME.safetensors with NAME.geometry.json beside it.
//
// For one or more successive calls (state carries over, inputs are given afresh) the tensors file
// holds call{i}.input{j}, call{i}.output{j}.KIND, call{i}.final_input{j}.KIND and
// call{i}.buffer.NAME.KIND. KIND "float32" or "recorded" is PyTorch eager in the program's own
// dtypes and is what executors are compared with; "float64" is the same model cast to fp64, for
// orientation. Tensors are stored contiguous; the geometry file gives what the outputs really were.
// An input that was a part of a storage, or shared one with another input, is there as well with
// the bytes of call{i}.storage{k}, and comes back as such a part. Numbers stand in the geometry
// file.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/executor.h"
#include "spec/tensor.h"

namespace graphgate::interop {

struct RecordedGeometry {
  spec::DType dtype = spec::DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements, as is storage_offset
  std::int64_t storage_offset = 0;
  spec::Device device;
  std::string shares_storage_with;  // "input1", "output0", a buffer's name; empty: with nothing
};

// `geometry` is absent where the geometry file is silent (an output that is a number).
struct RecordedOutput {
  spec::HostTensor tensor;                   // elements in row-major order
  std::optional<RecordedGeometry> geometry;  // its sizes and dtype are those of `tensor`
  std::optional<spec::HostTensor> float64;
};

struct RecordedState {
  spec::HostTensor tensor;
  std::optional<spec::HostTensor> float64;
};

// `outputs` has the user outputs in order; a place is empty where no tensor was recorded.
// `numbers` has outputs that are numbers, by position. `final_inputs` has only inputs that the call
// changed, by position.
struct RecordedCall {
  std::vector<spec::InputValue> inputs;
  std::vector<std::optional<RecordedOutput>> outputs;
  std::map<std::size_t, spec::OutputValue> numbers;
  std::map<std::size_t, RecordedState> final_inputs;
  std::map<std::string, RecordedState, std::less<>> buffers;
};

// Calls in order. Fails when a name has no meaning, when calls, inputs or outputs have gaps, and
// when a geometry contradicts its tensor. Needs the geometry file.
[[nodiscard]] Result<std::vector<RecordedCall>> read_recording(const std::string& safetensors_path,
                                                               const std::string& geometry_path);

}  // namespace graphgate::interop
