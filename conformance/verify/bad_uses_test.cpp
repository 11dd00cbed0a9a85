// Plans that are right alone and wrong for the calls that follow them: golden/plans/bad/*.uses.
//
// A file holds plans, then calls: `call PLAN [of PROGRAM] [eager] [strong] [shared] [keeps PLANS]
// [reads OUTPUT until CALL] INPUT, ...`. An input is a type and the name of its storage, or a
// number.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "base/result_test.h"
#include "conformance/verify/verify.h"
#include "spec/plan_text.h"
#include "spec/type_text.h"

namespace graphgate::verify {
namespace {

namespace fs = std::filesystem;
using spec::HostTensor;

struct Uses {
  std::vector<spec::Plan> plans;
  std::map<std::string, std::shared_ptr<spec::HostStorage>> storages;
  std::vector<std::vector<spec::InputValue>> inputs;  // by call
  std::vector<PlanUse> uses;
};

class UsesReader {
 public:
  Uses read(const fs::path& path) {
    std::ifstream file(path);
    std::string plan;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#")) continue;
      if (line.starts_with("call ")) {
        calls_.push_back(line.substr(5));
        continue;
      }
      plan += line + "\n";
      if (line == "}") add_plan(std::exchange(plan, {}));
    }
    out_.inputs.resize(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) add_call(i);
    return std::move(out_);
  }

 private:
  void add_plan(const std::string& text) {
    auto plan = must(spec::parse_plan(text, spec::builtin_op_table()));
    ASSERT_TRUE(spec::check_plan(plan).ok()) << spec::check_plan(plan).error().message;
    out_.plans.push_back(std::move(plan));
  }

  void add_call(std::size_t index) {
    std::istringstream words(calls_[index]);
    std::size_t plan = 0;
    words >> plan;
    ASSERT_LT(plan, out_.plans.size());
    PlanUse use{.plan_case = {&out_.plans[plan], nullptr, &spec::builtin_op_table(), nullptr},
                .call = index};
    use.read_until.resize(out_.plans[plan].outputs.size());
    std::string rest;
    for (std::string word; words >> word;) {
      if (word == "of") {
        words >> use.program;
      } else if (word == "eager") {
        use.options.mode = spec::CallMode::kEager;
      } else if (word == "strong") {
        use.allows_weak = false;
      } else if (word == "shared") {
        use.shares_pools = true;
      } else if (word == "keeps") {
        words >> use.plans_kept;
      } else if (word == "reads") {
        std::size_t output = 0;
        std::size_t until = 0;
        words >> output >> word >> until;
        use.read_until.at(output) = until;
      } else {
        std::getline(words, rest);
        rest = word + rest;
      }
    }
    spec::TextReader reader(rest, "call");
    do add_input(reader, out_.inputs[index]);
    while (reader.accept(","));
    use.inputs = out_.inputs[index];
    out_.uses.push_back(std::move(use));
  }

  void add_input(spec::TextReader& reader, std::vector<spec::InputValue>& inputs) {
    if (reader.at(spec::TokenKind::kFloat)) {
      inputs.emplace_back(std::stod(std::string(reader.take().text)));
    } else if (reader.at("True") || reader.at("False")) {
      inputs.emplace_back(reader.take().text == "True");
    } else {
      const auto type = must(spec::read_tensor_type(reader));
      auto tensor = spec::concrete_geometry(type);
      ASSERT_TRUE(tensor.has_value());
      auto& storage = out_.storages[std::string(reader.take().text)];
      if (!storage) storage = std::make_shared<spec::HostStorage>();
      tensor->storage = storage;
      inputs.emplace_back(*tensor);
    }
  }

  std::vector<std::string> calls_;
  Uses out_;
};

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(GRAPHGATE_GOLDEN_DIR "/plans/bad")) {
    if (entry.path().extension() == ".uses") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class BadUses : public testing::TestWithParam<std::string> {};

// A file is named after its rule: V9.weak-read-2.uses.
TEST_P(BadUses, BreakTheirRuleAndNoOther) {
  const fs::path path = GetParam();
  const std::string stem = path.stem().string();
  const std::string rule = stem.substr(0, stem.rfind('-'));
  const Uses uses = UsesReader().read(path);
  ASSERT_FALSE(uses.uses.empty());
  const auto findings = verify_plan_uses(uses.uses);
  EXPECT_FALSE(findings.empty());
  for (const spec::Finding& finding : findings) {
    EXPECT_EQ(finding.rule, rule) << finding.message;
    EXPECT_EQ(finding.message.find('\n'), std::string::npos);
  }
}

// A plan that was let go is made anew, in arenas of its own.
TEST(PlansThatAreLetGo, OverwriteNothing) {
  Uses uses = UsesReader().read(GRAPHGATE_GOLDEN_DIR "/plans/bad/V9.weak-read-3.uses");
  ASSERT_FALSE(verify_plan_uses(uses.uses).empty());
  for (PlanUse& use : uses.uses) use.plans_kept = 1;
  EXPECT_TRUE(verify_plan_uses(uses.uses).empty());
}

// What is wrong is how the calls use the plans: each plan alone is right.
TEST_P(BadUses, HavePlansThatAreRightAlone) {
  const Uses uses = UsesReader().read(GetParam());
  for (const spec::Plan& plan : uses.plans) {
    for (const auto& finding : verify_plan({&plan, nullptr, &spec::builtin_op_table(), nullptr})) {
      ADD_FAILURE() << finding.rule << " " << finding.message;
    }
  }
}

// A call that the plan was made for, alone.
TEST_P(BadUses, AreRightWithOneCallOfTheRightKind) {
  const Uses uses = UsesReader().read(GetParam());
  for (const PlanUse& use : uses.uses) {
    PlanUse right = use;
    std::vector<spec::InputValue> inputs;
    std::map<std::uint32_t, std::shared_ptr<spec::HostStorage>> storage_of;
    for (const spec::PlanInput& input : use.plan_case.plan->inputs) {
      if (input.constant) {
        const auto* real = input.constant->as<double>();
        inputs.push_back(real ? spec::InputValue(*real) : spec::InputValue(true));
        continue;
      }
      const spec::PlanValue& value = use.plan_case.plan->values[input.value.index];
      auto tensor = spec::concrete_geometry(*value.value.type).value();
      auto& storage = storage_of[value.buffer->index];
      if (!storage) storage = std::make_shared<spec::HostStorage>();
      tensor.storage = storage;
      inputs.emplace_back(tensor);
    }
    right.inputs = inputs;
    right.options = {};
    right.allows_weak = true;
    EXPECT_TRUE(verify_plan_uses({&right, 1}).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, BadUses, testing::ValuesIn(files()), [](const auto& file) {
  std::string name = fs::path(file.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace graphgate::verify
