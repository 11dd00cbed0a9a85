// CUDA's handles, each given back when its owner goes.
#pragma once

#include <utility>

#include "optimized/runtime/cuda/driver.h"

namespace graphgate::optimized::cuda {

// A handle and the driver's function that destroys it. What destroying answers is of no use.
template <class T>
class Handle {
 public:
  using Destroy = CUresult(CUDAAPI*)(T);
  Handle() = default;
  Handle(T value, Destroy destroy) : value_(value), destroy_(destroy) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept
      : value_(std::exchange(other.value_, T{})), destroy_(other.destroy_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this == &other) return *this;
    reset();
    value_ = std::exchange(other.value_, T{});
    destroy_ = other.destroy_;
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] T get() const { return value_; }
  void reset() {
    if (value_ != T{}) destroy_(std::exchange(value_, T{}));
  }

 private:
  T value_{};
  Destroy destroy_ = nullptr;
};

using Stream = Handle<CUstream>;
using Event = Handle<CUevent>;
using Module = Handle<CUmodule>;
using Graph = Handle<CUgraph>;
using GraphExec = Handle<CUgraphExec>;

}  // namespace graphgate::optimized::cuda
