#include "optimized/cache/plan_cache.h"

namespace graphgate::optimized {

Result<spec::Plan> find_or_make_plan(PlanCache* cache, const PlanRequest& request,
                                     const std::function<Result<spec::Plan>()>& make) {
  if (cache == nullptr) return make();
  if (std::optional<spec::Plan> plan = cache->lookup(request)) return std::move(*plan);
  if (cache->saves_before_success()) cache->store(request, spec::Plan{});
  GRAPHGATE_TRY(spec::Plan plan, make());
  cache->store(request, plan);
  return plan;
}

}  // namespace graphgate::optimized
