// The out= overload beside a functional one, by their schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphgate::fuzz {

struct OutForm {
  std::string op;                  // "aten.sum.IntList_out"
  std::string out;                 // the argument that it writes
  std::vector<std::string> taken;  // the others
};

// Of ops that return one new tensor; null where the table has no such overload.
[[nodiscard]] const OutForm* out_form_of(std::string_view op);

}  // namespace graphgate::fuzz
