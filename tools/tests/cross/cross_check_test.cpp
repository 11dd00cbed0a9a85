// The optimized executor against itself on every golden model, bit by bit: partitions cut anywhere
// and reordered, memory reused or not, captured or eager, first or tenth replay.
#include <functional>
#include <map>

#include "base/result_test.h"
#include "conformance/judges/plan_stats.h"
#include "conformance/run/executor_source.h"
#include "optimized/optimized.h"
#include "optimized/passes/pass_manager.h"
#include "spec/plan_text.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {
namespace {

std::unique_ptr<spec::Executor> configured(bool reuse, bool capture, std::uint32_t max_nodes) {
  optimized::Options options;
  options.compile.memory.reuse = reuse;
  options.compile.partition.capture = capture;
  options.compile.partition.max_nodes = max_nodes;
  options.compile.compiler.name = "eager";
  return optimized::make_executor(options);
}

class EveryModel : public testing::TestWithParam<std::string> {};

struct Configuration {
  std::string name;
  optimized::CompileOptions compile;
};

// Ops that golden models are full of, so that split ops cut them everywhere.
const std::vector<std::string>& common_ops() {
  static const std::vector<std::string> kOps = {
      "aten.mm",       "aten.addmm",   "aten.bmm",     "aten.matmul",
      "aten.linear",   "aten.mul",     "aten.softmax", "aten.scaled_dot_product_attention",
      "aten.conv2d",   "aten.copy_",   "aten.add_",    "aten.index_put_",
      "aten._softmax", "aten.sigmoid", "aten.relu",    "aten.scatter_reduce"};
  return kOps;
}

// Every way to cut and to reorder, each alone and some together.
std::vector<Configuration> configurations() {
  using optimized::PartitionMode;
  using optimized::Reorder;
  using optimized::SplitGeneration;
  std::vector<Configuration> out;
  const auto add = [&](std::string name,
                       const std::function<void(optimized::CompileOptions&)>& set) {
    out.push_back({std::move(name), {}});
    set(out.back().compile);
  };
  for (const std::uint32_t max_nodes : {1U, 3U}) {
    add("at most " + std::to_string(max_nodes) + " nodes",
        [&](auto& o) { o.partition.max_nodes = max_nodes; });
  }
  add("no reuse", [](auto& o) { o.memory.reuse = false; });
  add("no capture", [](auto& o) { o.partition.capture = false; });
  add("nothing", [](auto& o) {
    o.partition.capture = o.memory.reuse = false;
    o.partition.max_nodes = 1;
  });
  for (const char* compiler : {"fused", "standalone"}) {
    add(std::string(compiler) + " compiler", [&](auto& o) { o.compiler.name = compiler; });
  }
  add("small groups", [](auto& o) {
    o.compiler.name = "fused";
    o.compiler.limits.nodes = 3;
    o.partition.max_nodes = 7;
  });
  add("fused, nothing reused", [](auto& o) {
    o.compiler.name = "fused";
    o.memory.reuse = false;
    o.partition.capture = false;
  });
  add("fused, by byte cost", [](auto& o) {
    o.compiler.name = "fused";
    o.compiler.realize.rule = optimized::RealizeRule::kByteCost;
  });
  add("fused, on three streams", [](auto& o) {
    o.compiler.name = "fused";
    o.streams.count = 3;
  });
  add("no captured symbols", [](auto& o) { o.partition.skip_dynamic_graphs = true; });
  for (const std::uint32_t size : {2U, 6U}) {
    add("captures of at least " + std::to_string(size) + " launches", [&](auto& o) {
      o.partition.split_ops = common_ops();
      o.partition.min_partition_size = size;
    });
  }
  const std::pair<const char*, SplitGeneration> generations[] = {
      {"older", SplitGeneration::kOlder},
      {"adjacent", SplitGeneration::kAdjacent},
      {"newer", SplitGeneration::kNewer}};
  for (const auto& [name, generation] : generations) {
    for (const std::uint32_t max_nodes : {0U, 1U, 3U}) {
      add(std::string(name) + " split_graph, at most " + std::to_string(max_nodes) + " nodes",
          [&, split = generation](auto& o) {
            o.partition.mode = PartitionMode::kSplitGraph;
            o.partition.split_generation = split;
            o.partition.split_ops = common_ops();
            o.partition.max_nodes = max_nodes;
          });
    }
  }
  for (const Reorder reorder : {Reorder::kSimple, Reorder::kMinimize}) {
    for (const double budget : {1.1, 1000.0}) {
      add(std::string(reorder == Reorder::kSimple ? "simple" : "minimizing") + " reorder within " +
              std::to_string(budget),
          [&](auto& o) {
            o.reorder = {reorder, budget};
            o.partition.split_ops = common_ops();
          });
    }
  }
  optimized::PassOptions none;
  for (const optimized::Pass& pass : optimized::builtin_passes()) {
    if (pass.name == "undo_functionalization") continue;  // nothing runs without it
    none.disabled.push_back(pass.name);
    add("without " + pass.name, [&](auto& o) { o.passes.disabled = {pass.name}; });
  }
  add("no passes", [&](auto& o) { o.passes = none; });
  return out;
}

TEST_P(EveryModel, HasTheSameBitsInEveryConfiguration) {
  const Model model = read_model(GetParam());
  const auto expected = run_calls(*configured(true, true, 0), model);
  for (const Configuration& c : configurations()) {
    optimized::Options options;
    options.compile = c.compile;
    const auto actual = run_calls(*optimized::make_executor(options), model);
    ASSERT_EQ(actual.size(), expected.size()) << c.name;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(first_difference(actual[i], expected[i]), "") << c.name << ", call " << i;
    }
  }
}

// The plan of a golden model's first call.
spec::Plan golden_plan(const std::string& name, const optimized::CompileOptions& compile) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/" + name + ".pt2");
  optimized::Options options;
  options.compile = compile;
  auto loaded = must(optimized::make_executor(options)->load(model.program));
  EXPECT_TRUE(loaded->call(model.calls.at(0).inputs).ok());
  return *loaded->plan();
}

// That configurations agree says something only if they differ in what they do.
TEST(Configurations, TakeEffectOnARealModel) {
  optimized::CompileOptions plain;
  plain.partition.split_ops = {"aten.mul.Tensor"};
  const std::size_t cut = golden_plan("mixtral_eager", plain).blocks[0].partitions.size();
  EXPECT_GT(cut, 20U);
  optimized::CompileOptions moved = plain;
  moved.reorder = {optimized::Reorder::kMinimize, 1000.0};
  EXPECT_LT(golden_plan("mixtral_eager", moved).blocks[0].partitions.size(), cut);
  optimized::CompileOptions split = plain;
  split.partition.mode = optimized::PartitionMode::kSplitGraph;
  split.partition.split_generation = optimized::SplitGeneration::kOlder;
  EXPECT_GE(golden_plan("mixtral_eager", split).blocks[0].partitions.size(), cut);
}

// Passes that match nothing on real programs would agree as well.
TEST(Passes, MatchOnRealModels) {
  struct Expected {
    const char* model;
    const char* pass;
    std::int64_t matches;
  };
  constexpr Expected kExpected[] = {
      {"llama_bf16", "fuse_rms_norm", 5},      {"llama_bf16", "fuse_add_rms_norm", 4},
      {"llama_bf16", "fuse_silu_mul", 2},      {"llama_bf16.core", "fuse_rms_norm", 5},
      {"llama_bf16.core", "fuse_silu_mul", 2}, {"llama_sdpa", "fuse_add_rms_norm", 4},
      {"quant_mixed", "fuse_add_rms_norm", 1}, {"quant_mixed.core", "fuse_add_rms_norm", 1},
      {"vllm_like.core", "reinplace", 16},     {"mutations.core", "reinplace", 2},
  };
  for (const auto& [name, pass, matches] : kExpected) {
    const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/" + std::string(name) + ".pt2");
    std::map<std::string, optimized::PassCount, std::less<>> counts;
    must(optimized::run_passes(model.program, spec::builtin_op_table(), {}, {}, &counts));
    EXPECT_EQ(counts[pass].matches, matches) << name << ", " << pass;
  }
}

// Ten rounds over one loaded program against ten programs loaded anew that get the same calls:
// state carries over, so the n-th round is compared with the n-th round without captures.
TEST_P(EveryModel, HasTheSameBitsInTheTenthReplay) {
  const Model model = read_model(GetParam());
  const auto replayed = run_calls(*configured(true, true, 0), model, 10);
  const auto eager = run_calls(*configured(false, false, 0), model, 10);
  ASSERT_EQ(replayed.size(), eager.size());
  for (std::size_t i = 0; i < replayed.size(); ++i) {
    ASSERT_EQ(first_difference(replayed[i], eager[i]), "") << "call " << i;
  }
}

TEST_P(EveryModel, CapturesAPartitionAndReusesMemory) {
  const Model model = read_model(GetParam());
  const auto executor = configured(true, true, 0);
  auto loaded = must(executor->load(model.program));
  for (const conformance::ExpectedCall& call : model.calls) {
    must(loaded->call(call.inputs));
    const auto plan = loaded->plan();
    ASSERT_NE(plan, nullptr);
    ASSERT_TRUE(spec::check_plan(*plan).ok()) << spec::check_plan(*plan).error().message;
    const auto stats = conformance::plan_stats(*plan);
    EXPECT_GE(stats.captured_partitions, 1U);
    EXPECT_GE(stats.peak_bytes, stats.lower_bound_bytes);
    EXPECT_LE(stats.peak_bytes, stats.no_reuse_bytes);
  }
}

TEST_P(EveryModel, HasAPlanWhoseTextReadsBack) {
  const Model model = read_model(GetParam());
  const spec::OpTable& ops = spec::builtin_op_table();
  auto loaded = must(configured(true, true, 0)->load(model.program));
  ASSERT_TRUE(loaded->call(model.calls.at(0).inputs).ok());
  const spec::Plan plan = spec::number_plan(*loaded->plan());
  const std::string text = spec::print_plan(plan, ops);
  const auto parsed = must(spec::parse_plan(text, ops));
  EXPECT_EQ(spec::print_plan(parsed, ops), text);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(model_paths()), model_name);

}  // namespace
}  // namespace graphgate
