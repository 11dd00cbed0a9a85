#include "tools/executors/own_plans.h"

#include <new>
#include <stdexcept>

#include "conformance/judges/verified_plans.h"
#include "conformance/verify/verify.h"
#include "interop/plan_json.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "tools/store/stored_tensors.h"

namespace graphgate::tools {
namespace {

Result<std::vector<spec::Finding>> verify_one(const interop::JsonCursor& object) {
  GRAPHGATE_TRY(const auto ops, read_ops(object, "ops"));
  GRAPHGATE_TRY(const std::string text, read_string(object, "graph"));
  GRAPHGATE_TRY(const spec::Program program,
                spec::parse_program(text, *ops, object.place() + ".graph"));
  GRAPHGATE_TRY_VOID(spec::check_program(program, *ops));
  GRAPHGATE_TRY(const interop::JsonCursor json, object.member("plan"));
  GRAPHGATE_TRY(const spec::Plan plan, interop::read_plan_json(json.json().dump(), json.place()));
  GRAPHGATE_TRY_VOID(spec::check_plan(plan));
  GRAPHGATE_TRY_VOID(verify::check_positions(plan, *ops));
  if (program.inputs.size() != plan.inputs.size()) {
    return json.error("has " + std::to_string(plan.inputs.size()) + " inputs, and the graph " +
                      std::to_string(program.inputs.size()));
  }
  return verify::verify_plan({&plan, &program, ops.get(), nullptr});
}

// One plan that asks for too much costs no other.
Result<std::vector<spec::Finding>> verify_alone(const interop::JsonCursor& object) {
  try {
    return verify_one(object);
  } catch (const std::bad_alloc&) {
    return object.error("needs more memory than there is");
  } catch (const std::length_error&) {
    return object.error("needs more memory than there can be");
  }
}

void add(const char* rule, spec::Outcome outcome, std::string message,
         std::vector<spec::Finding>& findings) {
  spec::Finding finding;
  finding.rule = rule;
  finding.outcome = outcome;
  finding.message = std::move(message);
  findings.push_back(std::move(finding));
}

void add_unreadable(const Error& why, std::vector<spec::Finding>& findings) {
  add_not_shown(
      "the plan of a graph cannot be read, a fault of whoever recorded it: " + why.message,
      findings);
}

// Calls `take(cursor)` for every element of the list at `key`, which may be missing. What is no
// list is told.
template <class Take>
void for_each_element(const interop::JsonCursor& message, const char* key,
                      std::vector<spec::Finding>& findings, Take take) {
  const auto list = message.find_member(key);
  if (!list.ok()) return add_unreadable(list.error(), findings);
  if (!list.value()) return;
  const auto elements = list.value()->elements();
  if (!elements.ok()) return add_unreadable(elements.error(), findings);
  for (const interop::JsonCursor& each : elements.value()) take(each);
}

void take(std::vector<spec::Finding> found, std::vector<spec::Finding>& findings) {
  for (spec::Finding& finding : found) {
    finding.message = "its own graph: " + finding.message;
    findings.push_back(std::move(finding));
  }
  add(conformance::kOwnPlan, spec::Outcome::kPass, "", findings);
}

}  // namespace

void add_not_shown(std::string why, std::vector<spec::Finding>& findings) {
  add(conformance::kNotShown, spec::Outcome::kUnsupported, std::move(why), findings);
}

void verify_own_plans(const interop::JsonCursor& message, std::vector<spec::Finding>& findings) {
  for_each_element(message, "not_shown", findings, [&](const interop::JsonCursor& each) {
    const auto reason = each.as_string();
    if (!reason.ok()) return add_unreadable(reason.error(), findings);
    add_not_shown("a graph has no plan: " + reason.value(), findings);
  });
  for_each_element(message, "own_plans", findings, [&](const interop::JsonCursor& each) {
    auto found = verify_alone(each);
    if (!found.ok()) return add_unreadable(found.error(), findings);
    take(std::move(found).value(), findings);
  });
}

}  // namespace graphgate::tools
