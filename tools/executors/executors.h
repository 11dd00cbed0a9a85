// The registry of executors under test: the one place of the command line that knows them by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/optimized.h"
#include "spec/executor.h"
#include "spec/op_table.h"

namespace graphgate::tools {

struct ExecutorOptions {
  const spec::OpTable* ops = nullptr;  // outlives the executor
  bool allow_zero_and_one = false;     // sizes 0 and 1 where a range starts at 2
  optimized::Options optimized;        // of that executor; the two above count, not its own
};

// "reference", "optimized".
[[nodiscard]] const std::vector<std::string>& executor_names();

// An executor by one of these names; kBadInput for another name.
[[nodiscard]] Result<std::unique_ptr<spec::Executor>> make_executor(std::string_view name,
                                                                    const ExecutorOptions& options);

}  // namespace graphgate::tools
