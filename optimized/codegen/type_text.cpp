#include "optimized/codegen/type_text.h"

#include <cstring>

namespace graphgate::optimized {

std::string_view type_name_in(std::string_view function) {
  const std::size_t begin = function.find("T = ") + 4;
  return function.substr(begin, function.find_first_of(";]", begin) - begin);
}

std::string type_text_of(std::string_view name) {
  // Compilers differ in whether they name the namespace that the function stands in.
  constexpr std::string_view kNamespace = "graphgate::optimized::";
  std::string text(name);
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

std::string callable_text_of(std::string_view type_name, MemberType type, const void* members,
                             std::size_t count) {
  std::string text = type_text_of(type_name);
  if (text.empty()) return "";
  const std::size_t size = type == MemberType::kFloat ? 4 : 8;
  const std::string cast = type == MemberType::kFloat    ? "float>(std::uint32_t{"
                           : type == MemberType::kDouble ? "double>(std::uint64_t{"
                                                         : "std::int64_t>(std::uint64_t{";
  text += '{';
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;  // little-endian: what is missing is zero
    std::memcpy(&bits, static_cast<const char*>(members) + i * size, size);
    text += (i == 0 ? "std::bit_cast<" : ", std::bit_cast<") + cast + std::to_string(bits) + "u})";
  }
  return text + "}";
}

std::string checked_text(const std::string& quotient) {
  return "device::Checked<" + quotient.substr(0, quotient.find('{')) + ">{fault}";
}

}  // namespace graphgate::optimized
