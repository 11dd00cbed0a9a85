// Passes: graph to graph, before sizes are known.
//
// A pass is a name, a version and a function over one graph. It keeps what a program means: every
// result, every rounding, every write that somebody can see. Each built-in pass is a small file
// that states its precondition; pass_manager.h orders them, turns them on and off, and runs them on
// a graph and its subgraphs.
//
//   undo_functionalization   auto_functionalized_v2 -> copies, views and the op that writes
//   drop_proven_assertions   assertions that the declared types prove
//   noop_elimination         what returns its argument, bit by bit
//   reinplace                copies and scatters into dying values -> writes in place
//   fuse_rms_norm            x * rsqrt(mean(x^2) + e) * w -> graphgate.rms_norm
//   fuse_add_rms_norm        add and graphgate.rms_norm -> graphgate.add_rms_norm
//   fuse_silu_mul            silu(gate) * up -> graphgate.silu_mul
//   fuse_norm_quant          a normalization and its cast to f8 -> one node
//   fuse_attention_quant     attention and the cast of its output to f8 -> one node
//   dead_code                what nobody can see
//
// A pass keeps the ids of values that stay, and may add values and nodes. Everything that a pass
// knows beside its graph is in the PassContext of this one compile: there are no globals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/deviation.h"
#include "spec/op_table.h"
#include "spec/program.h"

namespace graphgate::optimized {

// Sizes [begin, end) that one compile is for: values of the program's leading symbol.
struct SizeRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// What one pass did in one compile, subgraphs included.
struct PassCount {
  std::int64_t matches = 0;        // places that the pass changed
  std::int64_t nodes_removed = 0;  // fewer nodes than before (negative: more)
};

using PassCounts = std::map<std::string, PassCount, std::less<>>;  // by the name of the pass
using SymbolRanges = std::map<std::string, spec::SymbolInfo, std::less<>>;

// What passes know of the compile they run in. One per compile; `ops` outlives it.
class PassContext {
 public:
  explicit PassContext(const spec::OpTable& ops, const spec::DeviationSet& deviations = {},
                       SymbolRanges symbols = {}, std::optional<SizeRange> range = {})
      : ops_(&ops), deviations_(deviations), symbols_(std::move(symbols)), range_(range) {}

  // The row of an op, or null. Remembered: graphs hold few ops many times.
  [[nodiscard]] const spec::OpRow* row(const std::string& op);
  // Whether the op of a row touches bytes at all. What makes nothing but views does not.
  // Remembered.
  [[nodiscard]] bool touches_bytes(const spec::OpRow& row);
  [[nodiscard]] const spec::OpTable& ops() const { return *ops_; }
  [[nodiscard]] bool has(spec::Deviation deviation) const { return deviations_.has(deviation); }
  // Closed ranges of the program's symbols, already narrowed to `range`.
  [[nodiscard]] const SymbolRanges& symbols() const { return symbols_; }
  [[nodiscard]] const std::optional<SizeRange>& range() const { return range_; }

  PassCounts counts;
  // The pass that runs, for counting; the manager sets it.
  std::string current;
  void count_match() { ++counts[current].matches; }

 private:
  const spec::OpTable* ops_;
  spec::DeviationSet deviations_;
  SymbolRanges symbols_;
  std::optional<SizeRange> range_;
  std::unordered_map<std::string, const spec::OpRow*> rows_;
  std::unordered_map<const spec::OpRow*, bool> touches_;
};

// `version` changes whenever what the pass does changes: it is part of the cache key.
struct Pass {
  std::string name;
  std::string version;
  std::function<void(spec::Graph&, PassContext&)> run;
  bool is_default = true;  // runs unless it is disabled; else only when it is enabled
};

// What a compile says of its passes. Names that no pass has are refused (pass_manager.h).
struct PassOptions {
  std::vector<std::string> disabled;
  std::vector<std::string> enabled;  // passes that do not run by default
  std::vector<Pass> user_passes;     // run after the built-in ones, in order, before dead_code
  std::optional<SizeRange> range;    // all sizes unless given
};

void undo_functionalization(spec::Graph& graph, PassContext& context);
void drop_proven_assertions(spec::Graph& graph, PassContext& context);
void eliminate_noops(spec::Graph& graph, PassContext& context);
void reinplace(spec::Graph& graph, PassContext& context);
void fuse_rms_norm(spec::Graph& graph, PassContext& context);
void fuse_add_rms_norm(spec::Graph& graph, PassContext& context);
void fuse_silu_mul(spec::Graph& graph, PassContext& context);
void fuse_norm_quant(spec::Graph& graph, PassContext& context);
void fuse_attention_quant(spec::Graph& graph, PassContext& context);

// Nodes whose results nobody reads go, unless they do something that somebody can see: a write into
// a storage that is read later, an input's or an output's; an order; an assertion; hidden state.
// Conditionals stay.
void eliminate_dead_code(spec::Graph& graph, PassContext& context);

// In the order in which they run.
[[nodiscard]] std::vector<Pass> builtin_passes();

}  // namespace graphgate::optimized
