#include "optimized/codegen/fused_works.h"

#include <algorithm>
#include <map>
#include <set>

#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/touched.h"
#include "optimized/launch.h"
#include "optimized/schedule/fuse_layout.h"

namespace graphgate::optimized {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

template <class Visit>
void for_each_tensor(Item& item, Visit&& visit) {
  if (auto* tensor = std::get_if<Tensor>(&item.value)) visit(*tensor);
  if (auto* list = std::get_if<Item::List>(&item.value)) {
    for (Item& element : *list) for_each_tensor(element, visit);
  }
}

template <class Visit>
void for_each_tensor(TileCall& call, Visit&& visit) {
  for (Item& argument : call.arguments) for_each_tensor(argument, visit);
  for (Tensor& result : call.results) visit(result);
}

// One body on its way to a device.
class Body {
 public:
  Body(std::span<const TileCall> calls, StorageIndex first_inner)
      : calls_(calls.begin(), calls.end()), first_inner_(first_inner) {
    for (TileCall& call : calls_) {
      for_each_tensor(call, [&](Tensor& tensor) {
        std::int64_t& end = bytes_[tensor.storage];
        end = std::max(end, byte_range(tensor).end);
        if (tensor.bytes != nullptr) homes_[tensor.storage] = tensor.bytes;
      });
      for (const Tensor* tensor : written_by(call)) written_.insert(tensor->storage);
    }
  }

  std::optional<DeviceWorks> works(const DeviceListener& listener) {
    move_in(listener);
    DeviceWorks out;
    // What was in the waiting storages before counts where it is read, or only partly written.
    for (const auto& [storage, at] : waiting_at_)
      out.emplace_back(moved(storage, at, home(storage)));
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const TileCall& call = calls_[c];
      const Launch launch = bind_call(*call.kernel, *call.row, call.arguments, call.results,
                                      scratch_ + kernel_scratch_[c], &listener);
      const DeviceWorks* works = works_of(launch);
      if (works == nullptr) return {};
      out.insert(out.end(), works->begin(), works->end());
    }
    for (DeviceWork& work : out) tell_inner(work);
    for (const auto& [storage, at] : waiting_at_)
      out.emplace_back(moved(storage, home(storage), at));
    return out;
  }

 private:
  [[nodiscard]] bool is_inner(StorageIndex storage) const { return storage >= first_inner_; }

  // Written storages that lie over another one of the group (a result in an operand's place): on
  // the host nothing reaches memory before all of a tile is read, so they too wait in scratch.
  [[nodiscard]] bool lies_over_another(StorageIndex storage) const {
    const std::byte* const first = homes_.at(storage);
    const std::byte* const last = first + bytes_.at(storage);
    return std::ranges::any_of(homes_, [&](const auto& other) {
      return other.first != storage && std::less<>()(other.second, last) &&
             std::less<>()(first, other.second + bytes_.at(other.first));
    });
  }

  // Finds a place for inner storages, for results that have to wait, and for the kernels' scratch.
  void move_in(const DeviceListener& listener) {
    std::int64_t size = 0;
    std::map<StorageIndex, std::int64_t> places;
    const auto place = [&](StorageIndex storage) {
      places[storage] = size;
      size += aligned(bytes_.at(storage));
    };
    for (const auto& [storage, bytes] : bytes_) {
      const auto waits = [&, storage = storage] {
        return written_.contains(storage) && lies_over_another(storage);
      };
      if (is_inner(storage) || waits()) place(storage);
    }
    for (const TileCall& call : calls_) {
      kernel_scratch_.push_back(size);
      size += aligned(infer_call(*call.kernel, *call.row, call.arguments, false).workspace_bytes());
    }
    scratch_ = listener.reserve(std::max<std::int64_t>(size, 1));
    for (TileCall& call : calls_) {
      for_each_tensor(call, [&](Tensor& tensor) {
        const auto found = places.find(tensor.storage);
        if (found != places.end()) tensor.bytes = scratch_ + found->second;
      });
    }
    for (const auto& [storage, at] : places) {
      if (is_inner(storage)) {
        inner_at_[scratch_ + at] = bytes_.at(storage);
      } else {
        waiting_at_[storage] = scratch_ + at;
      }
    }
  }

  [[nodiscard]] std::byte* home(StorageIndex storage) const { return homes_.at(storage); }

  // A storage as a whole, from one place to another.
  [[nodiscard]] PointwiseWork moved(StorageIndex storage, std::byte* to, std::byte* from) const {
    const std::int64_t size = bytes_.at(storage);
    return copy_work(tensor_of_bytes(to, size), tensor_of_bytes(from, size));
  }

  // Nobody else sees what is made in inner storages.
  void tell_inner(DeviceWork& work) const {
    auto* const pointwise = std::get_if<PointwiseWork>(&work);
    if (pointwise == nullptr) return;
    const auto place = inner_at_.upper_bound(pointwise->result.data());
    if (place == inner_at_.begin()) return;
    const auto& [first, size] = *std::prev(place);
    pointwise->is_inner = std::less<>()(pointwise->result.data(), first + size);
  }

  std::vector<TileCall> calls_;
  StorageIndex first_inner_;
  std::map<StorageIndex, std::int64_t> bytes_;
  std::map<StorageIndex, std::byte*> homes_;  // in the plan
  std::set<StorageIndex> written_;
  std::map<StorageIndex, std::byte*> waiting_at_;
  std::map<const std::byte*, std::int64_t> inner_at_;  // bytes
  std::vector<std::int64_t> kernel_scratch_;
  std::byte* scratch_ = nullptr;
};

}  // namespace

bool has_device_kernel(const Kernel& kernel, const spec::OpRow& row, std::vector<Item> arguments,
                       std::vector<Tensor> results) {
  if (kernel.bind == nullptr) return true;
  // Storages far from each other; nobody reads them.
  const auto give_address = [](Tensor& tensor) {
    tensor.bytes = reinterpret_cast<std::byte*>(  // NOLINT: an address that is only computed with
        (std::uintptr_t{tensor.storage} + 16) << 40);
  };
  for (Item& argument : arguments) for_each_tensor(argument, give_address);
  for (Tensor& result : results) give_address(result);
  try {
    auto* const workspace = reinterpret_cast<std::byte*>(std::uintptr_t{8} << 40);  // NOLINT
    auto* const scratch = reinterpret_cast<std::byte*>(std::uintptr_t{9} << 40);    // NOLINT
    const DeviceListener listener([scratch](std::int64_t) { return scratch; });
    return works_of(bind_call(kernel, row, std::move(arguments), std::move(results), workspace,
                              &listener)) != nullptr;
  } catch (const OpError&) {
    return false;
  }
}

std::optional<DeviceWorks> fused_works(std::span<const TileCall> calls, StorageIndex first_inner,
                                       const DeviceListener& listener) {
  return Body(calls, first_inner).works(listener);
}

}  // namespace graphgate::optimized
