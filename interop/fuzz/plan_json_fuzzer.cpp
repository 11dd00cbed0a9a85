// Any text as a plan in JSON, in both forms: what is accepted prints, and reads back.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interop/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto form : {interop::PlanReferences::kByName, interop::PlanReferences::kByNumber}) {
    const auto plan = interop::read_plan_json(text, "fuzz.json", form);
    if (!plan.ok()) continue;
    const auto printed = interop::print_plan_json(plan.value(), form);
    if (!printed.ok()) continue;
    const auto again = interop::read_plan_json(printed.value(), "again.json", form);
    GRAPHGATE_CHECK(again.ok());
    GRAPHGATE_CHECK(interop::print_plan_json(again.value(), form).value() == printed.value());
  }
  return 0;
}
