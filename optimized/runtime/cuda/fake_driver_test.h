// A driver's functions for tests without one: "device" memory is the process's own, mapped and
// protected as asked, so that what would fault on a GPU is a SIGSEGV here.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <map>

#include "optimized/runtime/cuda/driver.h"

namespace graphgate::optimized::cuda {

struct FakeDriver {
  static constexpr std::size_t kPageBytes = std::size_t{1} << 16;
  std::map<CUdeviceptr, std::size_t> reserved;  // bytes, by address
  std::map<CUdeviceptr, std::size_t> mapped;
  std::size_t handles = 0;  // created, and not released yet
  std::size_t waits = 0;    // for the stream
  bool maps_read_only = true;
  bool has_memory = true;

  static FakeDriver& instance() {
    static FakeDriver fake;
    return fake;
  }

  // Anew, with nothing in it.
  static Driver make() {
    instance() = {};
    Driver driver;
    driver.cuGetErrorName = [](CUresult result, const char** name) {
      *name = result == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR";
      return CUDA_SUCCESS;
    };
    driver.cuGetErrorString = [](CUresult, const char** text) {
      *text = "as the fake has it";
      return CUDA_SUCCESS;
    };
    driver.cuStreamSynchronize = [](CUstream) {
      ++instance().waits;
      return CUDA_SUCCESS;
    };
    driver.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t size, CUstream) {
      std::memcpy(at(to), from, size);
      return CUDA_SUCCESS;
    };
    driver.cuMemcpyDtoHAsync = [](void* to, CUdeviceptr from, std::size_t size, CUstream) {
      std::memcpy(to, at(from), size);
      return CUDA_SUCCESS;
    };
    add_virtual_memory(driver);
    return driver;
  }

  static std::byte* at(CUdeviceptr address) {
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  static void add_virtual_memory(Driver& driver) {
    driver.cuMemGetAllocationGranularity = [](std::size_t* size, const CUmemAllocationProp*,
                                              CUmemAllocationGranularity_flags) {
      *size = kPageBytes;
      return CUDA_SUCCESS;
    };
    driver.cuMemAddressReserve = [](CUdeviceptr* address, std::size_t size, std::size_t,
                                    CUdeviceptr, unsigned long long) {
      void* const pages =
          mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      *address = reinterpret_cast<CUdeviceptr>(pages);
      instance().reserved[*address] = size;
      return pages == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    };
    driver.cuMemAddressFree = [](CUdeviceptr address, std::size_t size) {
      const auto found = instance().reserved.find(address);
      if (found == instance().reserved.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      instance().reserved.erase(found);
      return munmap(at(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemCreate = [](CUmemGenericAllocationHandle* handle, std::size_t size,
                            const CUmemAllocationProp*, unsigned long long) {
      if (!instance().has_memory) return CUDA_ERROR_OUT_OF_MEMORY;
      *handle = ++instance().handles;
      return size % kPageBytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemRelease = [](CUmemGenericAllocationHandle) {
      --instance().handles;
      return CUDA_SUCCESS;
    };
    driver.cuMemMap = [](CUdeviceptr address, std::size_t size, std::size_t,
                         CUmemGenericAllocationHandle, unsigned long long) {
      instance().mapped[address] = size;
      return CUDA_SUCCESS;
    };
    driver.cuMemUnmap = [](CUdeviceptr address, std::size_t size) {
      const auto found = instance().mapped.find(address);
      if (found == instance().mapped.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      instance().mapped.erase(found);
      return mprotect(at(address), size, PROT_NONE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    driver.cuMemSetAccess = [](CUdeviceptr address, std::size_t size, const CUmemAccessDesc* access,
                               std::size_t) {
      const auto found = instance().mapped.find(address);
      if (found == instance().mapped.end() || found->second != size) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      const bool is_read_only = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ;
      if (is_read_only && !instance().maps_read_only) return CUDA_ERROR_NOT_SUPPORTED;
      const int protection = is_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
      return mprotect(at(address), size, protection) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
  }
};

}  // namespace graphgate::optimized::cuda
