#include "tools/promises.h"

#include "interop/json_fields.h"
#include "reference/number/arithmetic.h"

namespace graphgate::tools {
namespace {

// Whether a member is `second` and not `first`, which it is where it is missing.
Result<bool> read_choice(const interop::JsonCursor& object, const char* name,
                         const std::string& first, const std::string& second) {
  std::string word = first;
  GRAPHGATE_TRY_VOID(interop::read_optional(object, name, word));
  if (word == first || word == second) return word == second;
  return object.error(std::string(name) + ": expected " + first + " or " + second + ", found '" +
                      word + "'");
}

}  // namespace

Result<conformance::Promises> read_promises(const interop::JsonCursor& object) {
  conformance::Promises promises;
  GRAPHGATE_TRY_VOID(interop::read_optional(object, "arithmetic", promises.arithmetic));
  const auto arithmetic = reference::parse_arithmetic(promises.arithmetic);
  if (!arithmetic) {
    return object.error("arithmetic: expected " + reference::arithmetic_names() + ", found '" +
                        promises.arithmetic + "'");
  }
  promises.rounds_results = !arithmetic->keeps_wide;
  GRAPHGATE_TRY(promises.has_cuda_kernels, read_choice(object, "kernels", "cpu", "cuda"));
  GRAPHGATE_TRY(const bool is_free, read_choice(object, "layouts", "kept", "free"));
  promises.keeps_layouts = !is_free;
  return promises;
}

const char* kernels_word(const conformance::Promises& promises) {
  return promises.has_cuda_kernels ? "cuda" : "cpu";
}

const char* layouts_word(const conformance::Promises& promises) {
  return promises.keeps_layouts ? "kept" : "free";
}

}  // namespace graphgate::tools
