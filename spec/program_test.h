// What tests of programs share: one from its text, by the table of built-in ops.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "spec/graph_text.h"
#include "spec/op_table.h"

namespace graphgate::spec {

// An empty program, and a failure of the test, where the text is none.
inline Program parse(std::string_view text) {
  auto program = parse_program(text, builtin_op_table(), "t");
  if (!program.ok()) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  return std::move(program).value();
}

}  // namespace graphgate::spec
