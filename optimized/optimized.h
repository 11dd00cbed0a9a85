// The optimized executor: partitions, plans memory, captures and replays.
//
// It runs the same programs as the reference, and shares nothing with it but spec/. tools/ makes
// one here and hands it to the harness as a spec::Executor. compile.h lists its stages.
#pragma once

#include <memory>
#include <string_view>

#include "optimized/compile.h"
#include "spec/executor.h"

namespace graphgate::optimized {

struct Options {
  CompileOptions compile;
  // Sizes 0 and 1 where a symbol's range starts at 2 (PyTorch's 0/1 specialization).
  bool allow_zero_and_one = false;
  // Plans kept for one program, each with its memory; the one used longest ago goes first.
  std::size_t plans_kept = 32;
};

[[nodiscard]] std::unique_ptr<spec::Executor> make_executor(Options options = {});

// The family of the op's kernel ("reduction"), or "" when the executor has none.
[[nodiscard]] std::string_view family_of(const spec::OpRow& row);

}  // namespace graphgate::optimized
