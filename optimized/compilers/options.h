// Which compiler a program's partitions go to. compiler.h says what a compiler is.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "optimized/schedule/fuse_options.h"

namespace graphgate::optimized {

class PartitionCompiler;

struct CompilerOptions {
  std::string name = "fused";
  // A compiler of the caller's own; it outlives every compile, and `name` does not count.
  std::shared_ptr<PartitionCompiler> own;
  FuseLimits limits;
  RealizeOptions realize;
};

// kBadInput for a name that no compiler has, and limits that admit no node.
[[nodiscard]] Result<void> validate(const CompilerOptions& options);

}  // namespace graphgate::optimized
