// What tests of programs share: one from its text, by the table of built-in ops.
#pragma once

#include <string_view>
#include <utility>

#include "base/result_test.h"
#include "spec/graph_text.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// Returns the program of the text. Ends the test where the text is none.
inline Program parse(std::string_view text) {
  return must(parse_program(text, builtin_op_table(), "t"));
}

}  // namespace graphgate::spec
