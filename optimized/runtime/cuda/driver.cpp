#include "optimized/runtime/cuda/driver.h"

#include <dlfcn.h>

namespace graphgate::optimized::cuda {
namespace {

#define GRAPHGATE_TEXT_OF(text) #text
#define GRAPHGATE_SYMBOL(function) GRAPHGATE_TEXT_OF(function)

Result<Driver> open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return infrastructure("no CUDA driver on this machine (libcuda.so.1 does not load)");
  }
  Driver driver;
  const char* missing = nullptr;
#define GRAPHGATE_LOAD(function)                                                               \
  driver.function =                                                                            \
      reinterpret_cast<decltype(driver.function)>(dlsym(library, GRAPHGATE_SYMBOL(function))); \
  if (driver.function == nullptr && missing == nullptr) missing = GRAPHGATE_SYMBOL(function);
  GRAPHGATE_CUDA_FUNCTIONS(GRAPHGATE_LOAD)
#undef GRAPHGATE_LOAD
  if (missing != nullptr) {
    return infrastructure("the CUDA driver is too old: it has no " + std::string(missing));
  }
  const CUresult started = driver.cuInit(0);
  if (started != CUDA_SUCCESS) {
    return infrastructure("the CUDA driver does not start: cuInit: " + driver.name_of(started));
  }
  return driver;
}

}  // namespace

std::string Driver::name_of(CUresult result) const {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return "error " + std::to_string(static_cast<int>(result));
  }
  std::string text = name;
  if (cuGetErrorString(result, &sentence) == CUDA_SUCCESS && sentence != nullptr) {
    text += " (" + std::string(sentence) + ")";
  }
  return text;
}

void Driver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_ILLEGAL_ADDRESS) {
    throw DeviceError("a kernel touched memory that is not there, or wrote what is read-only: " +
                      name_of(result) + "; this process has lost the GPU");
  }
  throw DeviceError(std::string(call) + ": " + name_of(result));
}

Result<const Driver*> load_driver() {
  static const Result<Driver> kDriver = open_driver();
  if (!kDriver.ok()) return kDriver.error();
  return &kDriver.value();
}

}  // namespace graphgate::optimized::cuda
