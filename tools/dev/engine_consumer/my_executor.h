// A small engine: float32 on the CPU, a few pointwise ops and a view. It saves memory: a result
// goes over an operand that nobody needs any more.
#pragma once

#include "spec/executor.h"

class MyExecutor final : public graphgate::spec::Executor {
 public:
  // `forgets_views`: the mistake that a first version of such an engine has. It takes an operand
  // for free when its own last reader has read it, though a view of it is still needed.
  explicit MyExecutor(bool forgets_views = false) : forgets_views_(forgets_views) {}
  [[nodiscard]] std::string_view name() const override { return "my executor"; }
  graphgate::Result<std::unique_ptr<graphgate::spec::LoadedProgram>> load(
      const graphgate::spec::Program& program) override;

 private:
  bool forgets_views_;
};
