#include "interop/json_limits.h"

#include <string>

namespace graphgate::interop {

Result<void> check_json_limits(std::string_view text, const JsonLimits& limits) {
  std::size_t depth = 0;
  std::size_t values = 1;  // behind each comma and each opening bracket stands one at most
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    const bool opens = c == '[' || c == '{';
    if (opens) ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (opens || c == ',') ++values;
    if (depth > limits.depth) {
      return bad_input("nested deeper than " + std::to_string(limits.depth) + " levels");
    }
    if (limits.values > 0 && values > limits.values) {
      return bad_input("more than " + std::to_string(limits.values) + " values");
    }
  }
  return {};
}

}  // namespace graphgate::interop
