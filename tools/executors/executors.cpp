#include "tools/executors/executors.h"

#include "reference/reference.h"

namespace graphgate::tools {

const std::vector<std::string>& executor_names() {
  static const std::vector<std::string> kNames = {"reference", "optimized"};
  return kNames;
}

Result<std::unique_ptr<spec::Executor>> make_executor(std::string_view name,
                                                      const ExecutorOptions& options) {
  if (name == "reference") {
    reference::Options reference_options;
    reference_options.ops = options.ops;
    reference_options.allow_zero_and_one = options.allow_zero_and_one;
    return reference::make_executor(reference_options);
  }
  if (name == "optimized") {
    optimized::Options optimized_options = options.optimized;
    optimized_options.compile.ops = options.ops;
    optimized_options.allow_zero_and_one = options.allow_zero_and_one;
    return optimized::make_executor(optimized_options);
  }
  return bad_input("no executor is called '" + std::string(name) + "'");
}

}  // namespace graphgate::tools
