// Any text as a plan: what is accepted and valid prints as canonical text, which prints as itself,
// and differs from itself in nothing.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/op_table.h"
#include "spec/plan_diff.h"
#include "spec/plan_drawing.h"
#include "spec/plan_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const spec::OpTable& ops = spec::builtin_op_table();
  const auto plan = spec::parse_plan(text, ops);
  if (!plan.ok() || !spec::check_plan(plan.value()).ok()) return 0;
  const std::string canonical = spec::print_plan(plan.value(), ops);
  const auto again = spec::parse_plan(canonical, ops);
  GRAPHGATE_CHECK(again.ok());
  GRAPHGATE_CHECK(spec::check_plan(again.value()).ok());
  GRAPHGATE_CHECK(spec::print_plan(again.value(), ops) == canonical);
  GRAPHGATE_CHECK(spec::diff_plans(plan.value(), again.value()).empty());
  for (std::uint32_t pool = 0; pool < again.value().pools.size(); ++pool) {
    GRAPHGATE_CHECK(!spec::draw_pool(again.value(), spec::PoolId{pool}).empty());
  }
  return 0;
}
