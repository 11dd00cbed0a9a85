#include "optimized/memory/options.h"

#include "optimized/partition/options.h"

namespace graphgate::optimized {

Result<void> validate_options(const MemoryOptions& options, const spec::OpTable& ops) {
  return validate_op_names("unaligned op", options.unaligned_ops, ops);
}

}  // namespace graphgate::optimized
