// The optimized executor: partitions, plans memory, captures and replays.
//
// It runs the same programs as the reference, and shares nothing with it but spec/. tools/ makes
// one here and hands it to the harness as a spec::Executor. compile.h lists its stages.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "optimized/cache/plan_cache.h"
#include "optimized/compile.h"
#include "optimized/runtime/options.h"
#include "spec/executor.h"

namespace graphgate::optimized {

class Device;

struct Options {
  CompileOptions compile;
  RuntimeOptions runtime;
  // Sizes 0 and 1 where a symbol's range starts at 2 (PyTorch's 0/1 specialization).
  bool allow_zero_and_one = false;
  // Plans kept for one program, each with its memory; the one used longest ago goes first.
  std::size_t plans_kept = 32;
  // Where plans are kept between processes (cache/disk_cache.h); null: nowhere.
  std::shared_ptr<PlanStore> plan_store;
  // To test judges: changes every plan, new or stored, before it is followed; null: nothing. A plan
  // that is not well formed afterwards is refused with kInternal.
  std::function<void(spec::Plan&)> alter_plan;
  // Which legal order the launches of captured partitions on several streams run in; 0: program
  // order (runtime/device/streams.h).
  std::uint64_t interleaving_seed = 0;
  // Where captured partitions, and what else can, run (runtime/cuda/cuda_device.h); null: the host.
  // Not together with an instrument: load() says kBadInput.
  std::shared_ptr<Device> device;
};

[[nodiscard]] std::unique_ptr<spec::Executor> make_executor(Options options = {});

// Whether it runs this op, which has no schema ("higher_order.cond").
[[nodiscard]] bool runs_higher_order(std::string_view op);

// The family of the op's kernel ("reduction"), or "" when the executor has none.
[[nodiscard]] std::string_view family_of(const spec::OpRow& row);

}  // namespace graphgate::optimized
