// The C++ spelling of a callable of elements.h, for the text of a device kernel.
//
// The compiler knows it: it stands in the name of a function template that is instantiated with the
// type. Only types that the device's text can name count, which are those of elements.h; lambdas
// and local types have no spelling.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace graphgate::optimized {

// g++: "... type_name() [with T = element::B<float>; ...]", clang: "... [T = ...::B<float>]".
template <class T>
std::string_view type_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

// "element::AddScaled<float>" as the device's text has it, which stands in this namespace; "" for a
// type that it cannot name.
template <class F>
std::string type_text() {
  // Compilers differ in whether they name the namespace that the function stands in.
  constexpr std::string_view kNamespace = "graphgate::optimized::";
  std::string text(type_name<F>());
  for (std::size_t at = 0; (at = text.find(kNamespace, at)) != std::string::npos;) {
    text.erase(at, kNamespace.size());
  }
  if (!text.starts_with("element::")) return "";
  for (std::size_t at = 0; (at = text.find("long int", at)) != std::string::npos;) {
    text.replace(at, 8, "long");
  }
  // g++ parts the ends of nested lists, clang does not.
  for (std::size_t at = 0; (at = text.find(">>", at)) != std::string::npos;) {
    text.replace(at, 2, "> >");
  }
  return text;
}

// "element::AddScaled<float>{...}", members and all, as an expression. C is the type of every
// member.
template <class C, class F>
std::string callable_text(const F& f) {
  std::string text = type_text<F>();
  if (text.empty()) return "";
  text += "{";
  if constexpr (!std::is_trivially_copyable_v<F> ||
                (!std::is_empty_v<F> && sizeof(F) % sizeof(C) != 0)) {
    return "";
  } else if constexpr (!std::is_empty_v<F>) {
    using Bits = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;
    std::array<Bits, sizeof(F) / sizeof(C)> members;
    std::memcpy(members.data(), &f, sizeof f);
    const std::string type(std::is_same_v<C, float>    ? "float"
                           : std::is_same_v<C, double> ? "double"
                                                       : "std::int64_t");
    for (std::size_t i = 0; i < members.size(); ++i) {
      text += (i == 0 ? "std::bit_cast<" : ", std::bit_cast<") + type +
              (sizeof(C) == 8 ? ">(std::uint64_t{" : ">(std::uint32_t{") +
              std::to_string(members[i]) + "u})";
    }
  }
  return text + "}";
}

// The same of a callable that refuses values, as prelude.cuh has it: `quotient` does not ask.
inline std::string checked_text(const std::string& quotient) {
  return "device::Checked<" + quotient.substr(0, quotient.find('{')) + ">{fault}";
}

}  // namespace graphgate::optimized
