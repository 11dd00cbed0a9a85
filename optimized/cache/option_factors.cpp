#include "optimized/cache/option_factors.h"

#include <sys/utsname.h>

#include <bit>

#include "optimized/cache/code_hash.h"
#include "optimized/cache/plan_codec.h"
#include "optimized/compilers/compiler.h"
#include "optimized/passes/pass_manager.h"
#include "optimized/torch_release.h"

namespace graphgate::optimized {
namespace {

std::string text_of(bool flag) { return flag ? "true" : "false"; }
template <class T>
requires std::integral<T> std::string text_of(T number) { return std::to_string(number); }

std::string text_of(double number) { return std::to_string(std::bit_cast<std::uint64_t>(number)); }
template <class T>
requires std::is_enum_v<T> std::string text_of(T kind) {
  return std::to_string(static_cast<int>(kind));
}

// The size range is a factor of the entry, not of the folder.
void add(PassOptions options, KeyFactors& factors) {
  options.range.reset();
  const auto manager = PassManager::make(options);
  factors.set("passes", "uuid", manager.ok() ? manager.value().uuid() : manager.error().message);
}

void add(const ReorderOptions& options, KeyFactors& factors) {
  factors.set("reorder", "reorder", text_of(options.reorder));
  factors.set("reorder", "memory_budget", text_of(options.memory_budget));
}

void add(const CompilerOptions& options, KeyFactors& factors) {
  // Options that validate() refuses are refused before a plan is made: any text will do.
  const bool is_valid = validate(options).ok();
  const auto compiler = is_valid ? make_compiler(options) : nullptr;
  factors.set("compiler", "name", is_valid ? compiler->name() : options.name);
  factors.set("compiler", "hash", is_valid ? compiler->hash() : "");
  factors.set("compiler", "limits.nodes", std::to_string(options.limits.nodes));
  factors.set("compiler", "limits.row_bytes", text_of(options.limits.row_bytes));
  factors.set("compiler", "realize.rule", text_of(options.realize.rule));
  factors.set("compiler", "realize.reads_threshold", text_of(options.realize.reads_threshold));
  factors.set("compiler", "realize.opcount_threshold", text_of(options.realize.opcount_threshold));
  factors.set("compiler", "realize.cpu_opcount_threshold",
              text_of(options.realize.cpu_opcount_threshold));
  factors.set("compiler", "realize.opusers_threshold", text_of(options.realize.opusers_threshold));
  factors.set("compiler", "realize.heavy_newer", text_of(options.realize.heavy_newer));
  factors.set("compiler", "realize.recompute", text_of(options.realize.recompute));
}

void add(const StreamOptions& options, KeyFactors& factors) {
  factors.set("streams", "count", text_of(options.count));
}

void add(const PartitionOptions& options, KeyFactors& factors) {
  factors.set("partition", "mode", text_of(options.mode));
  factors.set("partition", "split_generation", text_of(options.split_generation));
  factors.set_of("partition", "unsafe_unbacked_ops", options.unsafe_unbacked_ops);
  factors.set("partition", "skip_dynamic_graphs", text_of(options.skip_dynamic_graphs));
  factors.set("partition", "min_partition_size", text_of(options.min_partition_size));
  factors.set_of("partition", "split_ops", options.split_ops);
  factors.set("partition", "max_nodes", text_of(options.max_nodes));
  factors.set_of("partition", "cut_after", options.cut_after);
  factors.set("partition", "capture", text_of(options.capture));
  factors.set("partition", "device_kernels", text_of(options.device_kernels));
}

void add(const MemoryOptions& options, KeyFactors& factors) {
  factors.set("memory", "strategy", text_of(options.strategy));
  factors.set("memory", "reuse", text_of(options.reuse));
  factors.set("memory", "in_place", text_of(options.in_place));
  factors.set("memory", "outputs_apart", text_of(options.outputs_apart));
  factors.set("memory", "pool_rule", text_of(options.pool_rule));
  factors.set_of("memory", "unaligned_ops", options.unaligned_ops);
  factors.set("memory", "alignment_bytes", text_of(options.alignment_bytes));
  factors.set("memory", "pack.fit_work", text_of(options.pack.fit_work));
  factors.set("memory", "pack.search_work", text_of(options.pack.search_work));
  factors.set("memory", "pack.search_items_max", text_of(options.pack.search_items_max));
}

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

void add_option_factors(const CompileOptions& options, KeyFactors& factors) {
  add(options.passes, factors);
  add(options.reorder, factors);
  add(options.partition, factors);
  add(options.compiler, factors);
  add(options.streams, factors);
  add(options.memory, factors);
  factors.set("arithmetic", "mode", options.arithmetic == Arithmetic::kFast ? "fast" : "strict");
  if (torch_release() != spec::kNewestTorchRelease) {
    factors.set("arithmetic", "semantics", spec::print_torch_release(torch_release()));
  }
  std::vector<std::string> names;
  for (const spec::DeviationRow& row : spec::deviations()) {
    if (options.deviations.has(row.deviation)) names.emplace_back(row.name);
  }
  factors.set_of("deviations", "names", std::move(names));
}

void add_build_factors(KeyFactors& factors) {
  factors.set("toolchain", "code", std::string(kCodeHash));
  factors.set("toolchain", "compiler", compiler_text());
  factors.set("toolchain", "language", std::to_string(__cplusplus));
  factors.set("toolchain", "artifacts", std::to_string(kPlanCodecVersion));
  utsname machine{};
  if (uname(&machine) == 0) factors.set("host", "machine", machine.machine);
  factors.set("host", "device", "host");
  factors.set("host", "pointer_bits", std::to_string(8 * sizeof(void*)));
}

}  // namespace graphgate::optimized
