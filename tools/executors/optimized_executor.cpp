#include "tools/executors/optimized_executor.h"

#include "optimized/wrapper/compiled_model.h"

namespace graphgate::tools {
namespace {

namespace option = spec::option;
using spec::Configuration;

// In mode none nothing is compiled or captured: what says how contradicts it.
constexpr const char* kOfCompiling[] = {
    option::kCache,     option::kAheadOfTime,  option::kPass,
    option::kNoPass,    option::kCompiler,     option::kMaxPartition,
    option::kPartition, option::kCompileRange, option::kRefuseUpdates};

bool is_split_graph(std::string_view partition) { return partition.starts_with("split-graph"); }

Result<void> check_none(const Configuration& asked) {
  for (const char* name : kOfCompiling) {
    if (!asked.contains(name)) continue;
    return bad_input("--wrapper none compiles nothing: it does not go with --" + std::string(name));
  }
  const std::string_view mode = spec::value_of(asked, option::kMode);
  if (mode.empty() || mode == "none") return {};
  return bad_input("--wrapper none captures nothing: it does not go with --mode " +
                   std::string(mode));
}

// What the wrapper is asked for, under the tag that its models have.
struct Wrapped {
  optimized::CompiledModelOptions model;
  std::unique_ptr<optimized::ModelTagScope> tag;
};

Result<Wrapped> wrapped_of(const Configuration& asked, optimized::Options options) {
  Wrapped wrapped;
  wrapped.model.mode = *optimized::parse_compile_mode(spec::value_of(asked, option::kWrapper));
  wrapped.model.guards =
      *optimized::parse_guard_policy(spec::value_of(asked, option::kGuards, "all"));
  wrapped.model.refuses_updates = asked.contains(option::kRefuseUpdates);
  wrapped.model.executor = std::move(options);
  const std::string tag(spec::value_of(asked, option::kModelTag));
  const bool is_encoder = asked.contains(option::kEncoder);
  if (!tag.empty() || is_encoder) {
    GRAPHGATE_TRY(wrapped.tag, optimized::ModelTagScope::enter(tag.empty() ? option::kEncoder : tag,
                                                               is_encoder));
  }
  return wrapped;
}

}  // namespace

Result<void> check_wrapper(const Configuration& asked) {
  const std::string_view wrapper = spec::value_of(asked, option::kWrapper);
  if (wrapper.empty()) {
    for (const char* name :
         {option::kGuards, option::kRefuseUpdates, option::kModelTag, option::kEncoder}) {
      if (!asked.contains(name)) continue;
      return bad_input("--" + std::string(name) + " goes with --wrapper");
    }
    return {};
  }
  const std::string_view guards = spec::value_of(asked, option::kGuards, "all");
  if (wrapper == "stock" && guards != "all") {
    return bad_input("--wrapper stock compiles again when guards fail: it needs --guards all");
  }
  const std::string_view partition = spec::value_of(asked, option::kPartition);
  const bool contradicts = (wrapper == "split" && partition == "scheduler") ||
                           (wrapper == "partition" && is_split_graph(partition));
  if (contradicts) {
    return bad_input("--wrapper " + std::string(wrapper) + " and --partition " +
                     std::string(partition) + " contradict each other");
  }
  if (asked.contains(option::kEncoder) && !asked.contains(option::kCompileRange)) {
    return bad_input("--encoder opens the last --compile-range, and there is none");
  }
  const std::string tag(spec::value_of(asked, option::kModelTag));
  if (!tag.empty()) GRAPHGATE_TRY_VOID(optimized::ModelTagScope::enter(tag));
  return wrapper == "none" ? check_none(asked) : Result<void>();
}

Result<std::unique_ptr<spec::Executor>> make_optimized(const Configuration& configuration,
                                                       optimized::Options options) {
  GRAPHGATE_TRY_VOID(check_wrapper(configuration));
  if (!configuration.contains(option::kWrapper)) {
    return optimized::make_executor(std::move(options));
  }
  GRAPHGATE_TRY(Wrapped wrapped, wrapped_of(configuration, std::move(options)));
  return optimized::make_wrapped_executor(std::move(wrapped.model));
}

Result<optimized::Options> behind_wrapper(const Configuration& configuration,
                                          optimized::Options options) {
  if (!configuration.contains(option::kWrapper)) return options;
  GRAPHGATE_TRY(const Wrapped wrapped, wrapped_of(configuration, std::move(options)));
  return optimized::wrapped_options(wrapped.model, optimized::current_model_tag(), nullptr);
}

}  // namespace graphgate::tools
