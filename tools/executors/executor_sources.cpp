#include "tools/executors/executor_sources.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "reference/reference.h"

namespace graphgate::tools {
namespace {

using conformance::Configuration;

// Repeatable flags take one value each time; flags with a delimiter of their own take the list.
bool is_repeatable(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 && option.get_delimiter() == '\0';
}

// "a,b" of a repeatable flag, else the one value.
std::vector<std::string> items_of(const std::string& value, bool is_repeatable) {
  return is_repeatable ? conformance::split_list(value) : std::vector<std::string>{value};
}

// The planner's flags, declared once: declaring them takes longer than reading the few that a case
// sets. They are read one by one: CLI::App::parse() goes through all of them, and keeps for good in
// which order they came.
struct FlagReader {
  FlagReader() {
    add_planner_flags(app, flags);
    for (CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (name != "help") by_name.emplace(name, option);
      }
    }
  }

  // The flags as they are without any.
  void begin() {
    for (CLI::Option* option : read) option->clear();
    read.clear();
    flags = {};
  }

  // Throws CLI::ParseError.
  void take(CLI::Option& option, const std::string& name, const std::string& value) {
    read.push_back(&option);
    if (value.empty()) {
      option.add_result(option.get_flag_value(name, ""));
    } else {
      for (std::string& item : items_of(value, is_repeatable(option))) {
        option.add_result(std::move(item));
      }
    }
    option.run_callback();
  }

  PlannerFlags flags;
  CLI::App app;
  std::map<std::string, CLI::Option*> by_name;
  std::vector<CLI::Option*> read;  // since begin()
};

class OptimizedSource final : public Subject {
 public:
  [[nodiscard]] std::string_view name() const override { return "optimized"; }
  [[nodiscard]] bool takes(std::string_view /*option*/) const override { return true; }
  [[nodiscard]] conformance::Promises promises(const Configuration& options) const override {
    conformance::Promises promises;
    const auto arithmetic = options.find("arithmetic");
    if (arithmetic != options.end() && arithmetic->second == "fast") {
      promises.arithmetic = "tensor-core";
    }
    return promises;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    GRAPHGATE_TRY(const PlannerFlags flags, planner_flags(configuration));
    GRAPHGATE_TRY(PlannerChoice choice, choose_planner(flags, ops));
    const bool is_watched = choice.options.runtime.instrument != optimized::InstrumentKind::kNone;
    if (choice.options.device && is_watched) return unsupported("instruments watch the host alone");
    return optimized::make_executor(std::move(choice.options));
  }
};

struct ModeName {
  std::string_view name;
  reference::Mode mode;
};
constexpr ModeName kModes[] = {{"eager", reference::Mode::kEager},
                               {"worst-case", reference::Mode::kWorstCase},
                               {"sampled", reference::Mode::kSampled},
                               {"provenance", reference::Mode::kProvenance},
                               {"geometry", reference::Mode::kProvenance}};

// What declares arithmetic, into `declared`; false for an option of another name.
Result<bool> read_arithmetic(const std::string& name, const std::string& value,
                             reference::Arithmetic& declared) {
  if (name == "arithmetic") {
    const auto arithmetic = reference::parse_arithmetic(value);
    if (!arithmetic) {
      return bad_input("option 'arithmetic': expected " + reference::arithmetic_names() +
                       ", found '" + value + "'");
    }
    reference::Arithmetic named = *arithmetic;
    named.has_cuda_kernels = declared.has_cuda_kernels;
    named.splits_float16 = declared.splits_float16;
    named.splits_bfloat16 = declared.splits_bfloat16;
    declared = named;
    return true;
  }
  if (name == "kernels") {
    if (value != "cpu" && value != "cuda") {
      return bad_input("option 'kernels': expected cpu or cuda, found '" + value + "'");
    }
    declared.has_cuda_kernels = value == "cuda";
    return true;
  }
  if (name != "split-sums") return false;
  for (const std::string& word : conformance::split_list(value)) {
    const auto dtype = spec::parse_dtype(word);
    if (!dtype || !declared.declare_splits(*dtype)) {
      return bad_input("option 'split-sums': expected f16, bf16 or both, found '" + word + "'");
    }
  }
  return true;
}

// "7": trial 7; "7x3": with errors three times as large.
Result<reference::Trial> read_trial(const std::string& value) {
  reference::Trial trial;
  const char* const last = value.data() + value.size();
  std::from_chars_result read = std::from_chars(value.data(), last, trial.number);
  if (read.ec == std::errc() && read.ptr != last && *read.ptr == 'x') {
    read = std::from_chars(read.ptr + 1, last, trial.scale);
  }
  if (read.ec == std::errc() && read.ptr == last && trial.scale > 0) return trial;
  return bad_input("option 'trial': expected a number, or one x another as 7x3, found '" + value +
                   "'");
}

class ReferenceSource final : public Subject {
 public:
  explicit ReferenceSource(bool allow_zero_and_one) : allow_zero_and_one_(allow_zero_and_one) {}

  [[nodiscard]] std::string_view name() const override { return "reference"; }
  [[nodiscard]] bool takes(std::string_view /*option*/) const override { return false; }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const Configuration& configuration, const spec::OpTable& ops) const override {
    reference::Options options;
    options.ops = &ops;
    options.allow_zero_and_one = allow_zero_and_one_;
    for (const auto& [name, value] : configuration) {
      GRAPHGATE_TRY(const bool is_known, read_arithmetic(name, value, options.arithmetic));
      if (is_known) continue;
      if (name == "trial") {
        GRAPHGATE_TRY(options.trial, read_trial(value));
        continue;
      }
      if (name != "mode") {
        return unsupported("the reference has no option '" + name + "': it makes no plans");
      }
      const auto* found =
          std::find_if(std::begin(kModes), std::end(kModes),
                       [&wanted = value](const ModeName& mode) { return mode.name == wanted; });
      if (found == std::end(kModes)) {
        return bad_input("option 'mode': the reference has no mode '" + value + "'");
      }
      options.mode = found->mode;
      options.provenance_words = value != "geometry";
    }
    return reference::make_executor(options);
  }

 private:
  bool allow_zero_and_one_;
};

}  // namespace

Result<PlannerFlags> planner_flags(const Configuration& configuration) {
  thread_local FlagReader reader;
  reader.begin();
  for (const auto& [name, value] : configuration) {
    const auto found = reader.by_name.find(name);
    if (found == reader.by_name.end()) {
      return bad_input("option '" + name + "': the optimized executor has none such");
    }
    CLI::Option& option = *found->second;
    const bool is_switch = option.get_items_expected_max() == 0;
    if (value.empty() != is_switch) {
      return bad_input("option '" + name + "': expected " + (is_switch ? "no value" : "a value"));
    }
    try {
      reader.take(option, name, value);
    } catch (const CLI::ParseError& error) {
      return bad_input("options: " + std::string(error.what()));
    }
  }
  return reader.flags;
}

Configuration planner_configuration(const CLI::App& app) {
  CLI::App planner;
  PlannerFlags flags;
  add_planner_flags(planner, flags);
  Configuration configuration;
  for (const CLI::Option* known : planner.get_options()) {
    if (known->get_lnames().empty()) continue;
    const std::string& name = known->get_lnames().front();
    const CLI::Option* given = app.get_option_no_throw("--" + name);
    if (name == "help" || !given || given->count() == 0) continue;
    std::string value;
    if (given->get_items_expected_max() > 0) {
      for (const std::string& item : given->results()) value += (value.empty() ? "" : ",") + item;
    }
    configuration.emplace(name, value);
  }
  return configuration;
}

std::unique_ptr<Subject> optimized_source() { return std::make_unique<OptimizedSource>(); }

std::unique_ptr<Subject> reference_source(bool allow_zero_and_one) {
  return std::make_unique<ReferenceSource>(allow_zero_and_one);
}

}  // namespace graphgate::tools
