// The configuration of a case: options of the executor under test, by the command line's names.
#include <algorithm>

#include "fuzz/generate/drawn_program.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

namespace option = spec::option;
using Options = spec::Configuration;

class OptionDrawer {
 public:
  OptionDrawer(GeneReader genes, const Alphabet& alphabet,
               const std::vector<DrawnProgram>& programs, Options& options)
      : genes_(genes), alphabet_(alphabet), programs_(programs), options_(options) {}

  void run() {
    if (programs_.size() > 1 && genes_.chance(75)) options_.emplace(option::kSharePools, "");
    if (has(Trait::kSplitOps)) draw_ops_for(option::kSplitOp);
    if (has(Trait::kCuts)) draw_cuts();
    if (has(Trait::kMemory)) draw_memory();
    if (has(Trait::kStreams)) draw_streams();
    if (has(Trait::kPadding) && !programs_.front().symbols.empty()) draw_padding();
    if (has(Trait::kModes)) draw_mode();
    if (has(Trait::kPasses)) draw_passes();
    if (has(Trait::kCache)) options_.emplace(option::kCache, spec::kTemporaryCache);
    if (has(Trait::kWeakOutputs)) options_.emplace(option::kWeakOutputs, "");
    if (has(Trait::kPoison)) {
      static constexpr const char* kBytes[] = {"0xff", "0x00", "0x7f"};
      options_.emplace(option::kPoison, genes_.of(kBytes));
    }
    // Last: older generators draw all others as they did.
    if (has(Trait::kRareOptions)) draw_rare();
    if (may_have(Trait::kDispatch)) draw_dispatch();
    if (may_have(Trait::kWrapper)) draw_wrapper();
  }

 private:
  [[nodiscard]] bool has(Trait trait) { return genes_.chance(alphabet_.chance(trait)); }

  // A trait that generators before its own do not spend a gene on.
  [[nodiscard]] bool may_have(Trait trait) { return alphabet_.chance(trait) > 0 && has(trait); }
  [[nodiscard]] bool is_given(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return options_.contains(name); });
  }

  [[nodiscard]] const spec::Node& draw_node() {
    const spec::Graph& graph = programs_[genes_.below(programs_.size())].program.graph;
    return graph.nodes[genes_.below(graph.nodes.size())];
  }

  // The op of a node; of one that holds an op, that one.
  static const std::string& op_of(const spec::Node& node) {
    const auto* held =
        node.arguments.empty() ? nullptr : node.arguments[0].argument.as<spec::OpName>();
    return held ? held->name : node.op;
  }

  // One op or two of the programs, each with its overload or without. Where an op has none
  // (torch.sym_max), what stands before the last dot is a namespace, which names no op.
  [[nodiscard]] std::string draw_op_names() {
    std::string names;
    const std::uint32_t count = 1 + genes_.below(2);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string op = op_of(draw_node());
      const bool whole = genes_.chance(30);
      if (op.starts_with("_operator.") || op.starts_with("higher_order.")) continue;
      const bool has_overload = std::count(op.begin(), op.end(), '.') > 1;
      if (!whole && has_overload) op.resize(op.rfind('.'));
      if (names.find(op) != std::string::npos) continue;
      names += (names.empty() ? "" : ",") + op;
    }
    return names;
  }

  void draw_ops_for(const char* option) {
    std::string names = draw_op_names();
    if (!names.empty()) options_.emplace(option, std::move(names));
  }

  void draw_cuts() {
    switch (genes_.below(8)) {
      case 0:
        options_.emplace(option::kMaxPartition, std::to_string(1 + genes_.below(5)));
        break;
      case 1:
        options_.emplace(option::kCutAfter, draw_node().name);
        break;
      case 2:
        options_.emplace(option::kPartition, "split-graph");
        break;
      case 3:
        options_.emplace(option::kPartition, "split-graph-older");
        break;
      case 4:
        options_.emplace(option::kReorder, genes_.chance(50) ? "simple" : "minimize");
        options_.emplace(option::kMaxPartition, std::to_string(2 + genes_.below(3)));
        break;
      case 5:
        options_.emplace(option::kMinPartition, std::to_string(2 + genes_.below(3)));
        break;
      case 6:
        options_.emplace(option::kPartition, "split-graph");
        options_.emplace(option::kMaxPartition, std::to_string(1 + genes_.below(4)));
        break;
      default:
        options_.emplace(option::kReorder, genes_.chance(50) ? "simple" : "minimize");
        break;
    }
  }

  void draw_memory() {
    switch (genes_.below(8)) {
      case 0:
      case 1:
        options_.emplace(option::kMemory, "lines");
        break;
      case 2:
      case 3: {
        static constexpr const char* kRules[] = {"", "none", "intermediates", "outputs",
                                                 "combined"};
        options_.emplace(option::kMemory, "pools");
        const std::string rule = genes_.of(kRules);
        if (!rule.empty()) options_.emplace(option::kMemoryPool, rule);
        break;
      }
      case 4:
        options_.emplace(option::kNoInPlace, "");
        break;
      case 5:
        options_.emplace(option::kOutputsApart, "");
        break;
      case 6:
        options_.emplace(option::kNoReuse, "");
        break;
      default:
        options_.emplace(option::kMemory, "lines");
        options_.emplace(option::kNoInPlace, "");
        break;
    }
    if (genes_.chance(30)) {
      static constexpr const char* kCompilers[] = {"eager", "standalone"};
      options_.emplace(option::kCompiler, genes_.of(kCompilers));
    }
    if (genes_.chance(20))
      options_.emplace(option::kRealize, genes_.chance(50) ? "reads" : "bytes");
    if (genes_.chance(10))
      options_.emplace(option::kPlaceAlignment, genes_.chance(50) ? "16" : "64");
  }

  void draw_streams() {
    options_.emplace(option::kStreams, std::to_string(2 + genes_.below(3)));
    options_.emplace(option::kInterleaving, std::to_string(1 + genes_.below(9)));
    if (genes_.chance(40)) options_.try_emplace(option::kCompiler, "eager");
  }

  // Sizes that calls lie on, between and above.
  void draw_padding() {
    static constexpr const char* kLadders[] = {"4,8", "8", "2,4,8", "4,8,16", "3,6,12", "16"};
    options_.emplace(option::kCaptureSizes, genes_.of(kLadders));
    if (genes_.chance(35)) options_.emplace(option::kPadFill, genes_.chance(50) ? "nan" : "huge");
    if (genes_.chance(15)) options_.emplace(option::kPlansKept, "1");
  }

  void draw_mode() {
    static constexpr const char* kModes[] = {"full", "piecewise", "full_and_piecewise",
                                             "full_decode_only", "none"};
    if (genes_.chance(20) && !options_.contains(option::kCaptureSizes)) {
      options_.emplace(option::kNoCapture, "");
      return;
    }
    options_.emplace(option::kMode, genes_.of(kModes));
    if (genes_.chance(25)) options_.emplace(option::kWarmUp, "1");
  }

  void draw_passes() {
    static constexpr const char* kPasses[] = {"reinplace",     "noop_elimination",
                                              "dead_code",     "fuse_rms_norm",
                                              "fuse_silu_mul", "drop_proven_assertions"};
    options_.emplace(option::kNoPass, genes_.of(kPasses));
    if (genes_.chance(20)) options_.emplace(option::kNoRecompute, "");
  }

  // What few callers ask for, over what is drawn already and without contradicting it.
  void draw_rare() {
    if (!programs_.front().symbols.empty()) draw_rare_sizes();
    if (genes_.chance(30)) draw_ops_for(option::kUnalignedOp);
    if (genes_.chance(25)) {
      static constexpr const char* kMakers[] = {"aten.nonzero", "aten.masked_select",
                                                "aten._local_scalar_dense"};
      options_.emplace(option::kUnsafeUnbackedOp, genes_.of(kMakers));
    }
    if (genes_.chance(25)) {
      static constexpr const char* kPasses[] = {"fuse_add_rms_norm", "fuse_norm_quant",
                                                "fuse_attention_quant"};
      options_.emplace(option::kNoPass, genes_.of(kPasses));
    }
    if (genes_.chance(15)) options_.emplace(option::kPlansKept, genes_.chance(50) ? "2" : "1");
    if (genes_.chance(15)) options_.emplace(option::kNoReuse, "");
  }

  // What an engine knows of its attention and its requests. Every ladder of capture sizes has a
  // multiple of 2 and of 4.
  void draw_dispatch() {
    if (options_.contains(option::kNoCapture)) return;
    static constexpr const char* kModes[] = {"full_and_piecewise", "full", "full_decode_only"};
    static constexpr const char* kSupports[] = {"uniform_batch", "single_token_decode", "always",
                                                "never"};
    options_.try_emplace(option::kMode, genes_.of(kModes));
    const std::string support = genes_.of(kSupports);
    const bool is_full = options_.at(option::kMode) == "full";
    if (genes_.chance(60)) {
      options_.emplace(option::kAttentionSupport,
                       is_full && support == "never" ? "always" : support);
    }
    const bool are_sizes_apart =
        is_given({option::kCompileSizes, option::kSizeMultiple, option::kMaxCaptureSize});
    if (genes_.chance(40) && !are_sizes_apart) {
      options_.emplace(option::kQueryLength, genes_.chance(70) ? "2" : "4");
    }
    if (genes_.chance(50))
      options_.emplace(option::kMaxRequests, std::to_string(1 + genes_.below(8)));
    if (genes_.chance(40)) options_.emplace(option::kMaxLoras, std::to_string(1 + genes_.below(4)));
  }

  void draw_wrapper() {
    static constexpr const char* kWrappers[] = {"partition", "split", "stock", "partition",
                                                "split",     "stock", "none"};
    static constexpr const char* kPolicies[] = {"shapes", "none"};
    std::string wrapper = genes_.of(kWrappers);
    const bool compiles =
        is_given({option::kCache, option::kNoPass, option::kCompiler, option::kMaxPartition,
                  option::kPartition, option::kCompileRange}) ||
        (options_.contains(option::kMode) && options_.at(option::kMode) != "none");
    if (wrapper == "none" && compiles) wrapper = "partition";
    if (wrapper == "partition" && options_.contains(option::kPartition)) wrapper = "split";
    if (wrapper == "split" && options_.contains(option::kReorder)) wrapper = "partition";
    options_.emplace(option::kWrapper, wrapper);
    if (genes_.chance(50) && wrapper != "stock") {
      options_.emplace(option::kGuards, genes_.of(kPolicies));
    }
    if (genes_.chance(60) && options_.contains(option::kCompileRange)) {
      options_.emplace(option::kEncoder, "");
    }
    if (genes_.chance(25) && wrapper != "none" && !options_.contains(option::kCache)) {
      options_.emplace(option::kAheadOfTime, spec::kTemporaryCache);
    }
  }

  // Capture sizes, where there are any, are at most 16 (draw_padding).
  void draw_rare_sizes() {
    const auto captured = options_.find(option::kCaptureSizes);
    const bool has_sizes = captured != options_.end();
    switch (genes_.below(6)) {
      case 0: {
        static constexpr const char* kSizes[] = {"4", "8", "4,8", "2,16"};
        const std::string sizes = genes_.of(kSizes);
        options_.emplace(
            option::kCompileSizes,
            has_sizes ? captured->second.substr(0, captured->second.find(',')) : sizes);
        break;
      }
      case 1: {
        static constexpr const char* kRanges[] = {"1:5,5:17", "2:8,8:64", "4:5"};
        options_.emplace(option::kCompileRange, genes_.of(kRanges));
        break;
      }
      case 2: {
        static constexpr const char* kMultiples[] = {"2", "4", "8", "3"};
        options_.emplace(option::kSizeMultiple, genes_.of(kMultiples));
        break;
      }
      case 3: {
        static constexpr const char* kMost[] = {"4", "16", "64"};
        const std::string most = genes_.of(kMost);
        if (options_.contains(option::kNoCapture)) break;
        options_.emplace(option::kMaxCaptureSize, has_sizes ? "16" : most);
        break;
      }
      case 4:
        options_.emplace(option::kSkipDynamicGraphs, "");
        break;
      default: {
        const auto has_second = [](const DrawnProgram& drawn) { return drawn.symbols.size() > 1; };
        if (std::all_of(programs_.begin(), programs_.end(), has_second)) {
          options_.emplace(option::kPad, programs_.front().symbols.back());
        }
        break;
      }
    }
  }

  GeneReader genes_;
  const Alphabet& alphabet_;
  const std::vector<DrawnProgram>& programs_;
  Options& options_;
};

}  // namespace

void draw_options(GeneReader genes, const Alphabet& alphabet,
                  const std::vector<DrawnProgram>& programs, spec::CaseFile& the_case) {
  OptionDrawer(genes, alphabet, programs, the_case.options).run();
}

}  // namespace graphgate::fuzz
