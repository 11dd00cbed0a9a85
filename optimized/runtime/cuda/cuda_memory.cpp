#include "optimized/runtime/cuda/cuda_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace graphgate::optimized::cuda {

namespace {

constexpr std::size_t kPinnedAlignment = 16;

std::size_t rounded_up(std::size_t size, std::size_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

}  // namespace

CudaMemory::~CudaMemory() {
  if (pinned_ != nullptr) kept_.give_back_pinned(pinned_);
}

std::uint64_t CudaMemory::allocate(std::int64_t size_bytes) {
  const auto size = static_cast<std::size_t>(size_bytes);
  const CUdeviceptr address = kept_.allocate(size);
  sizes_[address] = size;
  return address;
}

void CudaMemory::free(std::uint64_t address) {
  (void)driver_.cuStreamSynchronize(stream_);
  const auto size = sizes_.find(address);
  kept_.give_back(address, size->second);
  sizes_.erase(size);
}

void CudaMemory::to_device(std::uint64_t to, std::span<const std::byte> from) {
  GRAPHGATE_CUDA(driver_, cuMemcpyHtoDAsync, to, from.data(), from.size(), stream_);
}

void CudaMemory::to_host(std::span<std::byte> to, std::uint64_t from) {
  const std::size_t begin = rounded_up(pinned_used_, kPinnedAlignment);
  std::byte* staged = nullptr;
  if (begin + to.size() <= kPinnedBytes) {
    if (pinned_ == nullptr) pinned_ = kept_.take_pinned();
    staged = pinned_ + begin;
    pinned_used_ = begin + to.size();
  }
  std::byte* const target = staged != nullptr ? staged : to.data();
  GRAPHGATE_CUDA(driver_, cuMemcpyDtoHAsync, target, from, to.size(), stream_);
  coming_.push_back({to, staged});
}

void CudaMemory::arrive() {
  // Whatever happens, nothing is copied later to where nobody waits for it.
  const std::vector<Coming> coming = std::exchange(coming_, {});
  pinned_used_ = 0;
  if (coming.empty()) return;
  GRAPHGATE_CUDA(driver_, cuStreamSynchronize, stream_);
  for (const Coming& one : coming) {
    if (one.staged != nullptr) std::memcpy(one.to.data(), one.staged, one.to.size());
  }
}

namespace {

constexpr std::size_t kArenaAlignment = 16;
constexpr std::size_t kMostAround = 256;  // bytes on a side that canaries take

class GuardedMemory final : public CudaMemory {
 public:
  GuardedMemory(const Driver& driver, CUdevice device, CUstream stream, KeptMemory& kept,
                bool at_end)
      : CudaMemory(driver, stream, kept), at_end_(at_end) {
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties_.location.id = device;
    GRAPHGATE_CUDA(driver, cuMemGetAllocationGranularity, &page_bytes_, &properties_,
                   CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    try_read_only();
  }

  std::uint64_t allocate(std::int64_t size_bytes) override {
    const auto size = static_cast<std::size_t>(size_bytes);
    Pages pages = map_pages(rounded_up(size + kMostAround, page_bytes_));
    pages.arena =
        at_end_ ? pages.first + pages.size - rounded_up(size, kArenaAlignment) : pages.first;
    pages.arena_end = pages.arena + size;
    pages_.emplace(pages.first, pages);
    return pages.arena;
  }

  void free(std::uint64_t address) override {
    (void)driver().cuStreamSynchronize(stream());
    const Pages pages = pages_at(address);
    unmap(pages);
    pages_.erase(pages.first);
  }

  void to_device(std::uint64_t to, std::span<const std::byte> from) override {
    const Pages& pages = pages_at(to);
    if (!pages.is_read_only) return CudaMemory::to_device(to, from);
    GRAPHGATE_CUDA(driver(), cuStreamSynchronize, stream());
    set_access(pages, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CudaMemory::to_device(to, from);
    GRAPHGATE_CUDA(driver(), cuStreamSynchronize, stream());
    set_access(pages, CU_MEM_ACCESS_FLAGS_PROT_READ);
  }

  void set_read_only(std::uint64_t address, bool is_read_only) override {
    if (!read_only_obstacle_.empty()) return;
    Pages& pages = pages_at(address);
    GRAPHGATE_CUDA(driver(), cuStreamSynchronize, stream());
    set_access(pages,
               is_read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    pages.is_read_only = is_read_only;
  }

  [[nodiscard]] bool is_guarded() const override { return true; }

  [[nodiscard]] DeviceSurroundings surroundings(std::uint64_t address) const override {
    const Pages& pages = std::prev(pages_.upper_bound(address))->second;
    const std::size_t before = pages.arena - pages.first;
    const std::size_t behind = pages.first + pages.size - pages.arena_end;
    return {static_cast<std::int64_t>(std::min(before, kMostAround)),
            static_cast<std::int64_t>(std::min(behind, kMostAround))};
  }

  [[nodiscard]] std::string description() const override {
    std::string text = at_end_ ? "guarded behind every arena" : "guarded before every arena";
    if (!read_only_obstacle_.empty()) text += "; weights are writable: " + read_only_obstacle_;
    return text;
  }

 private:
  // Mapped, with a page's size of reserved addresses on both sides.
  struct Pages {
    CUdeviceptr first = 0;
    std::size_t size = 0;  // bytes
    CUdeviceptr arena = 0;
    CUdeviceptr arena_end = 0;
    bool is_read_only = false;
  };

  // Those of an arena, or of what is around it.
  Pages& pages_at(std::uint64_t address) { return std::prev(pages_.upper_bound(address))->second; }

  Pages map_pages(std::size_t size) {
    CUdeviceptr reserved = 0;
    GRAPHGATE_CUDA(driver(), cuMemAddressReserve, &reserved, size + 2 * page_bytes_, 0, 0, 0);
    const Pages pages{reserved + page_bytes_, size, 0, 0, false};
    try {
      map(pages);
    } catch (const DeviceError&) {
      (void)driver().cuMemAddressFree(reserved, size + 2 * page_bytes_);
      throw;
    }
    return pages;
  }

  void map(const Pages& pages) {
    CUmemGenericAllocationHandle handle = 0;
    GRAPHGATE_CUDA(driver(), cuMemCreate, &handle, pages.size, &properties_, 0);
    const CUresult mapped = driver().cuMemMap(pages.first, pages.size, 0, handle, 0);
    (void)driver().cuMemRelease(handle);  // the mapping keeps the memory
    driver().check(mapped, "cuMemMap");
    try {
      set_access(pages, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    } catch (const DeviceError&) {
      (void)driver().cuMemUnmap(pages.first, pages.size);
      throw;
    }
  }

  void unmap(const Pages& pages) const {
    (void)driver().cuMemUnmap(pages.first, pages.size);
    (void)driver().cuMemAddressFree(pages.first - page_bytes_, pages.size + 2 * page_bytes_);
  }

  void set_access(const Pages& pages, CUmemAccess_flags flags) const {
    CUmemAccessDesc access{};
    access.location = properties_.location;
    access.flags = flags;
    GRAPHGATE_CUDA(driver(), cuMemSetAccess, pages.first, pages.size, &access, 1);
  }

  void try_read_only() {
    const Pages pages = map_pages(page_bytes_);
    try {
      set_access(pages, CU_MEM_ACCESS_FLAGS_PROT_READ);
    } catch (const DeviceError& error) {
      read_only_obstacle_ = error.what();
    }
    unmap(pages);
  }

  const bool at_end_;
  CUmemAllocationProp properties_{};
  std::size_t page_bytes_ = 0;
  std::string read_only_obstacle_;      // "" where pages can be mapped so
  std::map<CUdeviceptr, Pages> pages_;  // by their first byte
};

}  // namespace

std::unique_ptr<CudaMemory> make_cuda_memory(const Driver& driver, CUdevice device, CUstream stream,
                                             KeptMemory& kept, DeviceMemoryMode mode) {
  if (mode == DeviceMemoryMode::kPlain) return std::make_unique<CudaMemory>(driver, stream, kept);
  return std::make_unique<GuardedMemory>(driver, device, stream, kept,
                                         mode == DeviceMemoryMode::kGuarded);
}

}  // namespace graphgate::optimized::cuda
