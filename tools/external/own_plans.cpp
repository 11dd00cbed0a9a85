#include "tools/external/own_plans.h"

#include "conformance/harness/verified_plans.h"
#include "conformance/verify/verify.h"
#include "interop/plan_json.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"
#include "tools/stored_tensors.h"

namespace graphgate::tools {
namespace {

Result<std::vector<spec::Finding>> verify_one(const interop::JsonCursor& object) {
  GRAPHGATE_TRY(const auto ops, read_ops(object, "ops"));
  GRAPHGATE_TRY(const std::string text, interop::read_string(object, "graph"));
  GRAPHGATE_TRY(const spec::Program program, spec::parse_program(text, *ops, "graph"));
  GRAPHGATE_TRY_VOID(spec::check_program(program, *ops));
  GRAPHGATE_TRY(const interop::JsonCursor json, object.member("plan"));
  GRAPHGATE_TRY(const spec::Plan plan, interop::read_plan_json(json.json().dump(), "plan"));
  GRAPHGATE_TRY_VOID(spec::check_plan(plan));
  if (program.inputs.size() != plan.inputs.size()) {
    return json.error("has " + std::to_string(plan.inputs.size()) + " inputs, and the graph " +
                      std::to_string(program.inputs.size()));
  }
  return verify::verify_plan({&plan, &program, ops.get(), nullptr});
}

}  // namespace

Result<void> verify_own_plans(const interop::JsonCursor& message,
                              std::vector<spec::Finding>& findings) {
  GRAPHGATE_TRY(const auto list, message.find_member("own_plans"));
  if (!list) return {};
  return interop::read_list(message, "own_plans",
                            [&](const interop::JsonCursor& each) -> Result<void> {
                              GRAPHGATE_TRY(std::vector<spec::Finding> found, verify_one(each));
                              for (spec::Finding& finding : found) {
                                finding.message = "its own graph: " + finding.message;
                                findings.push_back(std::move(finding));
                              }
                              spec::Finding counted;
                              counted.rule = conformance::kOwnPlan;
                              counted.outcome = spec::Outcome::kPass;
                              findings.push_back(std::move(counted));
                              return {};
                            });
}

}  // namespace graphgate::tools
