// The C++ spelling of a callable of elements.h, for the text of a device kernel.
//
// The compiler knows it: it stands in the name of a function template that is instantiated with the
// type. Only types that the device's text can name count, which are those of elements.h; lambdas
// and local types have no spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace graphgate::optimized {

// The name of T in the name of a function template of T. g++: "... type_name() [with T =
// element::B<float>; ...]", clang: "... [T = ...::B<float>]".
[[nodiscard]] std::string_view type_name_in(std::string_view function);
template <class T>
std::string_view type_name() {
  return type_name_in(__PRETTY_FUNCTION__);
}

// The spelling of a type of this name, without this namespace; "" for one that the device's text
// cannot name.
[[nodiscard]] std::string type_text_of(std::string_view name);

// "element::AddScaled<float>" as the device's text has it, which stands in this namespace; "" for a
// type that it cannot name.
template <class F>
std::string type_text() {
  return type_text_of(type_name<F>());
}

// The type of a callable's members.
enum class MemberType : std::uint8_t { kFloat, kDouble, kInteger };

// A callable of that type with `count` members, which lie behind each other at `members`.
[[nodiscard]] std::string callable_text_of(std::string_view type_name, MemberType type,
                                           const void* members, std::size_t count);

// "element::AddScaled<float>{...}", members and all, as an expression. C is the type of every
// member.
template <class C, class F>
std::string callable_text(const F& f) {
  if constexpr (!std::is_trivially_copyable_v<F> ||
                (!std::is_empty_v<F> && sizeof(F) % sizeof(C) != 0)) {
    return "";
  } else {
    constexpr MemberType kType = std::is_same_v<C, float>    ? MemberType::kFloat
                                 : std::is_same_v<C, double> ? MemberType::kDouble
                                                             : MemberType::kInteger;
    constexpr std::size_t kCount = std::is_empty_v<F> ? 0 : sizeof(F) / sizeof(C);
    return callable_text_of(type_name<F>(), kType, &f, kCount);
  }
}

// The same of a callable that refuses values, as prelude.cuh has it: `quotient` does not ask.
[[nodiscard]] std::string checked_text(const std::string& quotient);

}  // namespace graphgate::optimized
