#include "optimized/passes/pass.h"

#include "optimized/kernel.h"

namespace graphgate::optimized {

const spec::OpRow* PassContext::row(const std::string& op) {
  const auto [at, is_new] = rows_.try_emplace(op, nullptr);
  if (is_new) at->second = ops_->find(op);
  return at->second;
}

// What makes a number of elements (item) launches as little as a view, and reads them.
bool PassContext::touches_bytes(const spec::OpRow& row) {
  if (row.schema.ns == "_operator") return false;
  const auto [at, is_new] = touches_.try_emplace(&row, false);
  if (is_new) {
    const Kernel* kernel = find_kernel(row);
    at->second = !kernel || kernel->bind || row.has_tag("data_dependent_output");
  }
  return at->second;
}

std::vector<Pass> builtin_passes() {
  return {
      {"undo_functionalization", "1", undo_functionalization},
      {"drop_proven_assertions", "1", drop_proven_assertions},
      {"noop_elimination", "1", eliminate_noops},
      {"reinplace", "1", reinplace},
      {"fuse_rms_norm", "1", fuse_rms_norm},
      {"fuse_add_rms_norm", "1", fuse_add_rms_norm},
      {"fuse_silu_mul", "2", fuse_silu_mul},
      {"fuse_norm_quant", "1", fuse_norm_quant},
      {"fuse_attention_quant", "1", fuse_attention_quant},
      {"dead_code", "1", eliminate_dead_code},
  };
}

}  // namespace graphgate::optimized
