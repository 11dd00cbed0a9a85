// Writing and reading plain data as bytes: the mechanics under plan_codec.cpp and bundle.cpp.
//
// Both classes have one operator() for each kind of field, so that a struct's fields are listed
// once (Fields<T>, by structured binding) and go both ways. A reader never fails in the middle: it
// notes that something was wrong and gives zeros from then on; the caller asks ok() at the end.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace graphgate::optimized {

// Specialized for each struct: `static auto tie(auto& x)` returns std::tie of all its fields.
template <class T>
struct Fields;

template <class T>
concept HasFields = requires(T& value) {
  Fields<std::remove_const_t<T>>::tie(value);
};

// Specialized for what is no struct of fields: `static void write(ByteWriter&, const T&)` and
// `static void read(ByteReader&, T&)`.
template <class T>
struct Codec;

template <class T>
concept HasCodec = requires {
  sizeof(Codec<T>);
};

template <class T>
concept PlainNumber = (std::integral<T> && !std::same_as<T, bool>);

class ByteWriter {
 public:
  [[nodiscard]] std::string take() { return std::move(out_); }

  void operator()(const std::string& text) {
    const auto [at, is_new] = names_.try_emplace(text, names_.size());
    number(at->second);
    if (is_new) raw(text);
  }
  void operator()(bool flag) { out_ += flag ? '\1' : '\0'; }
  void operator()(double real) { number(std::bit_cast<std::uint64_t>(real)); }
  template <PlainNumber T>
  void operator()(T integer) {
    const auto wide = static_cast<std::int64_t>(integer);
    number((static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63));
  }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(T kind) { number(static_cast<std::uint64_t>(kind)); }
  template <class T>
  void operator()(const std::vector<T>& list) {
    number(list.size());
    for (const T& element : list) (*this)(element);
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class K, class V, class C>
  void operator()(const std::map<K, V, C>& map) {
    number(map.size());
    for (const auto& [key, value] : map) {
      (*this)(key);
      (*this)(value);
    }
  }
  template <HasCodec T>
  void operator()(const T& value) {
    Codec<T>::write(*this, value);
  }
  template <HasFields T>
  void operator()(const T& value) {
    std::apply([this](const auto&... field) { ((*this)(field), ...); }, Fields<T>::tie(value));
  }

  // A text that stands once, counted.
  void raw(std::string_view text) {
    number(text.size());
    out_ += text;
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(0x80 | (value & 0x7F));
    out_ += static_cast<char>(value);
  }

 private:
  std::string out_;
  std::unordered_map<std::string, std::uint64_t> names_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  // Whether all that was read was there and in range, and nothing is left.
  [[nodiscard]] bool ok() const { return !failed_ && rest_.empty(); }
  void fail() { failed_ = true; }

  void operator()(std::string& text) {
    const std::uint64_t index = number();
    if (index == names_.size()) names_.emplace_back(raw());
    if (index < names_.size()) {
      text = names_[index];
    } else {
      fail();
    }
  }
  void operator()(bool& flag) { flag = byte() != 0; }
  void operator()(double& real) { real = std::bit_cast<double>(number()); }
  template <PlainNumber T>
  void operator()(T& integer) {
    const std::uint64_t zigzag = number();
    const auto wide = static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
    integer = static_cast<T>(wide);
    if (static_cast<std::int64_t>(integer) != wide) fail();
  }
  template <class T>
  requires std::is_enum_v<T>
  void operator()(T& kind) {
    const std::uint64_t value = number();
    if (value > static_cast<std::uint64_t>(last_of(kind))) return fail();
    kind = static_cast<T>(value);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    const std::uint64_t size = count();
    list.reserve(size);
    for (std::uint64_t i = 0; i < size && !failed_; ++i) (*this)(list.emplace_back());
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (byte() != 0) (*this)(value.emplace());
  }
  template <class K, class V, class C>
  void operator()(std::map<K, V, C>& map) {
    const std::uint64_t size = count();
    for (std::uint64_t i = 0; i < size && !failed_; ++i) {
      K key{};
      (*this)(key);
      (*this)(map[std::move(key)]);
    }
  }
  template <HasCodec T>
  void operator()(T& value) {
    nested([&] { Codec<T>::read(*this, value); });
  }
  template <HasFields T>
  void operator()(T& value) {
    nested([&] {
      std::apply([this](auto&... field) { ((*this)(field), ...); }, Fields<T>::tie(value));
    });
  }

  std::string_view raw() {
    const std::uint64_t size = count();
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(text.size());
    return text;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7FU} << shift;
      if (next < 0x80) return value;
    }
    fail();
    return 0;
  }
  // Of elements that follow, each of at least one byte.
  std::uint64_t count() {
    const std::uint64_t size = number();
    if (size <= rest_.size()) return size;
    fail();
    return 0;
  }

 private:
  static constexpr int kMaxDepth = 256;  // of structs within structs: nested lists, expressions

  template <class Work>
  void nested(Work&& work) {
    if (depth_ > kMaxDepth) return fail();
    ++depth_;
    work();
    --depth_;
  }

  std::uint8_t byte() {
    if (rest_.empty()) {
      fail();
      return 0;
    }
    const char next = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(next);
  }

  std::string_view rest_;
  std::vector<std::string> names_;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace graphgate::optimized
