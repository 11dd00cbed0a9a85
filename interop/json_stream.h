// Parsing JSON piece by piece, so that a large document is never held whole.
//
// The parser walks the document and asks a JsonVisitor at each value it has not taken yet: "do you
// want what stands at this path?" What is wanted is built, handed over and forgotten; the members
// of what is not wanted are asked for in turn; a scalar that is not wanted is skipped.
//
// Duplicate keys are an error everywhere, and so is nesting deeper than kMaxJsonDepth.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "interop/json_cursor.h"
#include "interop/json_limits.h"

namespace graphgate::interop {

// One step of the way to a value: a member's name, or an element's index when `is_element`.
struct JsonStep {
  bool is_element = false;
  std::size_t index = 0;
  std::string key;
};
using JsonPath = std::vector<JsonStep>;

// "graph_module.graph.nodes[12]".
[[nodiscard]] std::string print_path(const JsonPath& path);

class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  [[nodiscard]] virtual bool wants(const JsonPath& path) = 0;
  // `value` is complete. An error stops the parse and becomes its result.
  virtual Result<void> take(const JsonPath& path, Json&& value) = 0;
  // A container that is not wanted is about to be walked; a scalar that is not wanted was met.
  virtual void enter(const JsonPath&) {}
  virtual Result<void> skip_scalar(const JsonPath&, const Json&) { return {}; }
};

// Reads one JSON document and nothing after it. Syntax errors carry line and column:
//   "FILE: line 3, column 17: ...". `input` may fail by setting badbit.
[[nodiscard]] Result<void> parse_json_stream(std::istream& input, std::string_view file,
                                             JsonVisitor& visitor);

// The whole document, for small ones, with the same checks.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view file);

}  // namespace graphgate::interop
