#include "optimized/schedule/fuse_key.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace graphgate::optimized {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(const std::function<bool(StorageIndex)>& is_inner) : is_inner_(is_inner) {
    key_.reserve(512);  // of a few calls; less is copied again and again
  }

  void add(const TileCall& call) {
    add_raw(reinterpret_cast<std::uintptr_t>(call.row));
    add_raw(reinterpret_cast<std::uintptr_t>(call.kernel));
    add_raw(call.arguments.size());
    for (const Item& item : call.arguments) add(item);
    add_raw(call.results.size());
    for (const Tensor& result : call.results) add(result);
  }

  std::string take() { return std::move(key_); }

 private:
  template <class T>
  void add_raw(const T& value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_same_v<T, double>);
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add(const Item& item) {
    key_ += static_cast<char>(item.value.index());
    std::visit([this](const auto& value) { add(value); }, item.value);
  }
  void add(spec::None /*none*/) {}
  void add(const std::string& text) {
    add_raw(text.size());
    key_ += text;
  }
  void add(const spec::ComplexNumber& number) {
    add_raw(number.real);
    add_raw(number.imag);
  }
  void add(const spec::Device& device) {
    add(device.type);
    add_raw(device.index);
  }
  void add(const Sizes& sizes) {
    add_raw(sizes.size());
    key_.append(reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(std::int64_t));
  }
  void add(const Tensor& tensor) {
    add_raw(tensor.dtype);
    add(tensor.sizes);
    add(tensor.strides);
    add_raw(tensor.offset);
    add(tensor.device);
    // Calls are few: a walk is as good as a map.
    const auto found = std::ranges::find(storages_, tensor.storage);
    add_raw(found - storages_.begin());
    if (found != storages_.end()) return;
    storages_.push_back(tensor.storage);
    key_ += is_inner_(tensor.storage) ? 'i' : 'o';
  }
  void add(const Item::List& list) {
    add_raw(list.size());
    for (const Item& element : list) add(element);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) { add_raw(value); }

  const std::function<bool(StorageIndex)>& is_inner_;
  std::vector<StorageIndex> storages_;  // by number
  std::string key_;
};

}  // namespace

std::string key_of(std::span<const TileCall> calls,
                   const std::function<bool(StorageIndex)>& is_inner) {
  KeyWriter writer(is_inner);
  for (const TileCall& call : calls) writer.add(call);
  return writer.take();
}

}  // namespace graphgate::optimized
