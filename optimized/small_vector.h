// A list of plain values that seldom has more than a few elements: those lie in the object itself,
// and only a longer list takes memory of its own.
//
// Sizes and strides of tensors are such lists, and there are many of them: one in four allocations
// of the planner was one. As much of std::vector as is asked for; iterators are pointers, and a
// move ends them, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace graphgate::optimized {

template <class T, std::uint32_t kInside>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && kInside > 0);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(std::size_t count, T value = {}) { assign(count, value); }
  SmallVector(std::initializer_list<T> list) : SmallVector(list.begin(), list.end()) {}
  template <std::forward_iterator It>
  SmallVector(It first, It last) {
    insert(end(), first, last);
  }
  // From and to vectors: what lists are outside of the executor.
  SmallVector(const std::vector<T>& list) : SmallVector(list.begin(), list.end()) {}  // NOLINT
  operator std::vector<T>() const { return {begin(), end()}; }                        // NOLINT

  SmallVector(const SmallVector& other) { copy(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this == &other) return *this;
    release();
    copy(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~SmallVector() { release(); }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return is_inside() ? inside_ : outside_; }
  [[nodiscard]] const T* data() const { return is_inside() ? inside_ : outside_; }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] const T* end() const { return data() + size_; }
  [[nodiscard]] auto rbegin() { return std::make_reverse_iterator(end()); }
  [[nodiscard]] auto rbegin() const { return std::make_reverse_iterator(end()); }
  [[nodiscard]] auto rend() { return std::make_reverse_iterator(begin()); }
  [[nodiscard]] auto rend() const { return std::make_reverse_iterator(begin()); }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] T& at(std::size_t i) { return data()[checked(i)]; }
  [[nodiscard]] const T& at(std::size_t i) const { return data()[checked(i)]; }
  [[nodiscard]] T& front() { return *data(); }
  [[nodiscard]] const T& front() const { return *data(); }
  [[nodiscard]] T& back() { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  void resize(std::size_t count, T value = {}) {
    if (count > size_) insert(end(), count - size_, value);
    size_ = static_cast<std::uint32_t>(count);
  }
  void assign(std::size_t count, T value) {
    clear();
    insert(end(), count, value);
  }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    clear();
    insert(end(), first, last);
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(std::size_t{2} * capacity_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }

  T* insert(const T* at, T value) { return insert(at, std::size_t{1}, value); }
  T* insert(const T* at, std::size_t count, T value) {
    T* gap = open_gap(at, count);
    std::fill_n(gap, count, value);
    return gap;
  }
  // Not of elements of its own.
  template <std::forward_iterator It>
  T* insert(const T* at, It first, It last) {
    T* gap = open_gap(at, static_cast<std::size_t>(std::distance(first, last)));
    std::copy(first, last, gap);
    return gap;
  }
  T* insert(const T* at, std::initializer_list<T> list) {
    return insert(at, list.begin(), list.end());
  }
  T* erase(const T* at) { return erase(at, at + 1); }
  T* erase(const T* first, const T* last) {
    T* to = begin() + (first - begin());
    size_ = static_cast<std::uint32_t>(std::copy(last, std::as_const(*this).end(), to) - begin());
    return to;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  [[nodiscard]] bool is_inside() const { return capacity_ == kInside; }

  std::size_t checked(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("SmallVector");
    return i;
  }

  // Of an object that holds nothing outside: what it is to hold.
  void copy(const SmallVector& other) {
    if (other.is_inside()) return copy_bits(other);
    insert(end(), other.begin(), other.end());
  }
  void take(SmallVector& other) noexcept {
    copy_bits(other);
    other.size_ = 0;
    other.capacity_ = kInside;
  }
  void copy_bits(const SmallVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    std::memcpy(inside_, other.inside_, sizeof inside_);  // all of it: shorter than asking how much
  }
  void release() {
    if (!is_inside()) delete[] outside_;
    size_ = 0;
    capacity_ = kInside;
  }

  // Seldom: not in every loop that adds.
  [[gnu::noinline]] void grow(std::size_t count) {
    T* larger = new T[count];
    std::copy(begin(), end(), larger);
    if (!is_inside()) delete[] outside_;
    outside_ = larger;
    capacity_ = static_cast<std::uint32_t>(count);
  }

  T* open_gap(const T* at, std::size_t count) {
    const std::ptrdiff_t before = at - begin();
    if (size_ + count > capacity_) grow(std::max(size_ + count, std::size_t{2} * capacity_));
    T* gap = begin() + before;
    std::copy_backward(gap, end(), end() + count);
    size_ += static_cast<std::uint32_t>(count);
    return gap;
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInside;  // kInside: the elements are inside
  union {
    T inside_[kInside] = {};
    T* outside_;
  };
};

}  // namespace graphgate::optimized
