// The pass manager: which passes run, in which order, and what they come to in a cache key.
//
//   GRAPHGATE_TRY(const PassManager manager, PassManager::make(options));
//   PassContext context(ops, deviations, symbols, options.range);
//   GRAPHGATE_TRY_VOID(manager.run(graph, context));   // context.counts says what happened
//
// compile.cpp calls run_passes, which does this for a program. A user's pass is a name, a version
// and a function; its version stands in the uuid, so that a changed pass never meets an old cache
// entry.
#pragma once

#include "base/result.h"
#include "optimized/passes/pass.h"

namespace graphgate::optimized {

class PassManager {
 public:
  // The built-in passes and the user's, as the options turn them on and off. kBadInput for a name
  // that no pass has, for one that is disabled and enabled, and for what add() refuses.
  [[nodiscard]] static Result<PassManager> make(const PassOptions& options);

  // Appends a pass. kBadInput for one without a name, version or function, or whose name is taken.
  Result<void> add(Pass pass);
  // A manager is not a pass: it would hide its passes from the uuid. Always kBadInput.
  Result<void> add(const PassManager& manager);

  // Runs every pass that is on, in order, each on the subgraphs first; then checks that the outputs
  // survived and that nothing is read before it is made. kInternal where a built-in pass broke the
  // graph, kBadInput where a user's did, or threw, or ran a manager itself. Throws std::bad_alloc.
  Result<void> run(spec::Graph& graph, PassContext& context) const;

  // 16 hexadecimal digits over names, versions and order of the passes that are on, and the range.
  [[nodiscard]] std::string uuid() const;
  // The passes that are on, in order.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Entry {
    Pass pass;
    bool is_on = true;
    bool is_builtin = false;
  };

  [[nodiscard]] Result<void> insert(Entry entry, std::size_t at);
  [[nodiscard]] Result<void> turn(const PassOptions& options);
  [[nodiscard]] Entry* find(std::string_view name);

  std::vector<Entry> entries_;
  std::optional<SizeRange> range_;
};

// The symbol whose values a SizeRange is about: the first symbolic size of the first user input
// that has one.
[[nodiscard]] std::optional<std::string> leading_symbol(const spec::Program& program);

// The program's graph after the passes that `options` ask for. `counts`, where given, receives what
// each did.
[[nodiscard]] Result<spec::Graph> run_passes(const spec::Program& program, const spec::OpTable& ops,
                                             const spec::DeviationSet& deviations,
                                             const PassOptions& options,
                                             PassCounts* counts = nullptr);

}  // namespace graphgate::optimized
