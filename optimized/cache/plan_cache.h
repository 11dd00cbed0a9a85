// The seam between a session, which needs plans, and what keeps plans between processes.
//
// A session (the loaded program in runtime/) opens a cache once per program, and asks it before it
// compiles:
//
//   load:  GRAPHGATE_TRY(cache, options.plan_store->open(program, compile_options));
//   call:  GRAPHGATE_TRY(plan, find_or_make_plan(cache.get(), request, [&] { return compile(...);
//   }));
//
// A cache is a matter of speed only: a lookup that finds nothing, or nothing sound, is a miss, and
// a plan that cannot be stored is a warning. disk_cache.h keeps plans in a folder; bundle.h keeps
// all plans of a program in one file. Without a store (a null pointer) nothing is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "optimized/compile.h"
#include "spec/executor.h"

namespace graphgate::optimized {

// What a plan depends on beside the program and its options. The pointees outlive the request.
// `inputs` are those that compile() gets: where a plan is made for a padded size, the padded ones.
struct PlanRequest {
  std::span<const spec::InputValue> inputs;
  const spec::SymbolValues* symbols = nullptr;
  // The compile range that the plan is made for; absent: options.passes.range.
  std::optional<SizeRange> range;
  // Whatever else the session's dispatch tells plans apart by ("mode" -> "full"): Plan::key.
  std::map<std::string, std::string> dispatch;
};

// The plans of one program under one set of options.
class PlanCache {
 public:
  virtual ~PlanCache() = default;
  // A plan that was stored for the same request and has been found sound, or nothing.
  [[nodiscard]] virtual std::optional<spec::Plan> lookup(const PlanRequest& request) = 0;
  virtual void store(const PlanRequest& request, const spec::Plan& plan) = 0;
  // Whether an entry is to be made before the plan is (kSavesBeforeSuccess).
  [[nodiscard]] virtual bool saves_before_success() const { return false; }
};

// Where the caches of many programs lie.
class PlanStore {
 public:
  virtual ~PlanStore() = default;
  // `program` and `options` outlive the cache, and do not change. `allow_zero_and_one` is that of
  // the session. An Error says that plans cannot be kept there at all (a folder that cannot be
  // written), before anything is compiled.
  [[nodiscard]] virtual Result<std::unique_ptr<PlanCache>> open(const spec::Program& program,
                                                                const CompileOptions& options,
                                                                bool allow_zero_and_one) = 0;
  // Writes what is kept for the end, when the executor is closed.
  [[nodiscard]] virtual Result<void> close() { return {}; }
};

// The plan from the cache, or else the one that `make` gives, which is stored. `cache` may be null.
// Nothing is stored when `make` fails.
[[nodiscard]] Result<spec::Plan> find_or_make_plan(PlanCache* cache, const PlanRequest& request,
                                                   const std::function<Result<spec::Plan>()>& make);

}  // namespace graphgate::optimized
