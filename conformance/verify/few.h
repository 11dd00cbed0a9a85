// A vector whose first elements lie in it: what nearly always holds one or two needs no memory of
// its own. For writers of a byte, contents of a tensor, ranges of a byte set.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>

namespace graphgate::verify {

// T can be made from nothing, and assigned. Pointers into it do not outlive a change, nor a move.
template <class T, std::size_t N>
class Few {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Few() = default;
  Few(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  Few(const Few& other) { append(other.begin(), other.end()); }
  Few(Few&& other) noexcept { take(other); }
  Few& operator=(const Few& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.begin(), other.end());
    return *this;
  }
  Few& operator=(Few&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~Few() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() { return more_ ? more_.get() : own_.data(); }
  [[nodiscard]] T* end() { return begin() + size_; }
  [[nodiscard]] const T* begin() const { return more_ ? more_.get() : own_.data(); }
  [[nodiscard]] const T* end() const { return begin() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return begin()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return begin()[i]; }
  [[nodiscard]] const T& front() const { return *begin(); }
  [[nodiscard]] const T& back() const { return end()[-1]; }
  [[nodiscard]] T& back() { return end()[-1]; }

  void push_back(T item) {
    if (size_ == capacity_) reserve(2 * capacity_);
    begin()[size_++] = std::move(item);
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    auto more = std::make_unique<T[]>(count);
    std::move(begin(), end(), more.get());
    more_ = std::move(more);
    capacity_ = count;
  }
  // The first `count` stay; `count` <= size().
  void shrink(std::size_t count) { size_ = count; }

  friend bool operator==(const Few& a, const Few& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  void append(const T* first, const T* last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    std::copy(first, last, end());
    size_ += static_cast<std::size_t>(last - first);
  }
  void take(Few& other) noexcept {
    more_ = std::move(other.more_);
    if (!more_) std::move(other.begin(), other.end(), own_.begin());
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }

  std::array<T, N> own_{};
  std::unique_ptr<T[]> more_;  // all of them, where they are more
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

}  // namespace graphgate::verify
