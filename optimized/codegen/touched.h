// Which bytes works touch: whether two of them may change places, or run side by side.
//
// Bytes are known by their addresses, as works have them, whatever storages the plan has there.
#pragma once

#include <span>

#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// False says that no element of one shares a byte with an element of the other.
[[nodiscard]] bool may_share_bytes(const Tensor& a, const Tensor& b);
// Whether two elements of a tensor may share a byte.
[[nodiscard]] bool may_meet_itself(const Tensor& tensor);
// Whether every element of `all` is one of `some`, whose items have its size; maybe false where
// there are too many to look at each.
[[nodiscard]] bool are_among(const Tensor& all, std::span<const Tensor> some);
// Bytes as a tensor.
[[nodiscard]] Tensor tensor_of_bytes(std::byte* first, std::int64_t size_bytes);

// All that a work touches, and maybe more.
class Touched {
 public:
  explicit Touched(const DeviceWork& work);
  // None of them: it does not tell.
  explicit Touched(std::span<const DeviceAccess> accesses);
  [[nodiscard]] bool is_told() const { return is_told_; }
  void add(const Touched& other);
  // Whether a work that touches this and one that touches the other have to stay in order: one of
  // them writes what the other one reads or writes, or does not tell.
  [[nodiscard]] bool keeps_order_with(const Touched& other) const;
  // Where they do, if both tell: addresses, of bytes that one of them writes; maybe more.
  [[nodiscard]] std::optional<ByteRange> bytes_in_order_with(const Touched& other) const;
  [[nodiscard]] bool may_read(const Tensor& tensor) const;

 private:
  struct Place {
    Tensor elements;  // its offset is its address
    ByteRange range;
    bool is_written = false;
  };
  [[nodiscard]] static Place place_of(const DeviceAccess& access);
  [[nodiscard]] static bool meet(const Place& a, const Place& b);

  std::vector<Place> places_;
  bool is_told_ = true;
};

}  // namespace graphgate::optimized
