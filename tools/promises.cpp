#include "tools/promises.h"

#include "interop/json_fields.h"
#include "reference/number/arithmetic.h"

namespace graphgate::tools {

Result<conformance::Promises> read_promises(const interop::JsonCursor& object) {
  conformance::Promises promises;
  GRAPHGATE_TRY_VOID(interop::read_optional(object, "arithmetic", promises.arithmetic));
  const auto arithmetic = reference::parse_arithmetic(promises.arithmetic);
  if (!arithmetic) {
    return object.error("arithmetic: expected " + reference::arithmetic_names() + ", found '" +
                        promises.arithmetic + "'");
  }
  promises.rounds_results = !arithmetic->keeps_wide;
  std::string layouts = layouts_word(promises);
  GRAPHGATE_TRY_VOID(interop::read_optional(object, "layouts", layouts));
  if (layouts != "kept" && layouts != "free") {
    return object.error("layouts: expected kept or free, found '" + layouts + "'");
  }
  promises.keeps_layouts = layouts == "kept";
  return promises;
}

const char* layouts_word(const conformance::Promises& promises) {
  return promises.keeps_layouts ? "kept" : "free";
}

}  // namespace graphgate::tools
