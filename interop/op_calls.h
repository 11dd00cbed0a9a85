// Recorded calls of single ops: FILE.jsonl with FILE.safetensors beside it.
//
// A line is one call: {"case": 7, "op": "aten.add.Tensor", "args": [..], "kwargs": {..}, "result":
// .., "mutated": {..}}. A tensor is {"tensor": {"storage": S, "dtype", "sizes", "strides",
// "storage_offset"}}; its storage's bytes are the tensor `{case}.in{S}` of the safetensors file,
// for results `{case}.out{S}`, for the final contents of a written argument `{case}.mut.NAME`. A
// float that JSON lacks is {"float": "inf"}; {"dtype": ..}, {"device": ..}, {"layout": ..} and
// {"memory_format": ..} are what they say. Files are read a line at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "spec/graph.h"
#include "spec/tensor.h"

namespace graphgate::interop {

// Like spec::Argument, with tensors in place of values. Tensors of one case that name the same
// storage hold the same HostStorage, among arguments and among results; a result never shares with
// an argument, even where PyTorch's would.
struct OpArgument {
  using List = std::vector<OpArgument>;
  std::variant<spec::None, bool, std::int64_t, double, std::string, spec::DType, spec::Device,
               spec::Layout, spec::MemoryFormat, spec::HostTensor, List, spec::ComplexNumber>
      value;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
};

struct OpCall {
  std::int64_t id = 0;
  std::string op;  // "aten.add.Tensor"
  std::vector<OpArgument> args;
  std::map<std::string, OpArgument, std::less<>> kwargs;
  OpArgument result;                                             // a list for several returns
  std::map<std::string, spec::HostTensor, std::less<>> mutated;  // by the schema's argument name
  int line = 0;                                                  // in the .jsonl, from 1
};

// Calls `visit` for each case in order, and stops at its first error. Errors in the file start with
// FILE:LINE. The safetensors file is read piece by piece, as cases need it.
[[nodiscard]] Result<void> read_op_calls(const std::string& jsonl_path,
                                         const std::string& safetensors_path,
                                         const std::function<Result<void>(OpCall&&)>& visit);

}  // namespace graphgate::interop
