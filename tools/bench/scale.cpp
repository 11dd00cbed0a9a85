// How reading, planning and running grow with the number of nodes.
//
//   build/release/tools/bench/scale [NODES]     (default 100000)
//
// A chain of pointwise nodes on f32[8] is made, written as an archive and as text, read back,
// checked, loaded and run by both executors, at a quarter, half and all of NODES. A value in four
// is used again 40 nodes later, so that memory planning has something to do. One line per stage:
// seconds at each size, and the ratio of the last two (2 is linear). Peak memory is the process's.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/harness/check_program.h"
#include "interop/pt2_reader.h"
#include "interop/pt2_writer.h"
#include "optimized/analysis/specialize.h"
#include "optimized/analysis/symbols.h"
#include "optimized/compile.h"
#include "optimized/lower/lower.h"
#include "optimized/runtime/host/host_program.h"
#include "reference/reference.h"
#include "spec/graph_check.h"
#include "spec/graph_text.h"

namespace {

using namespace graphgate;

// A chain: relu, add of the value 40 nodes before, mul by a constant, over and over.
spec::Program chain(std::size_t nodes) {
  spec::Program program;
  program.name = "chain";
  const spec::TensorType type{spec::DType::kFloat32, {8}, {1}, 0, {}, {}};
  const auto add_value = [&](const std::string& name) {
    spec::Value value;
    value.name = name;
    value.type = type;
    program.graph.values.push_back(std::move(value));
    return spec::ValueId{static_cast<std::uint32_t>(program.graph.values.size() - 1)};
  };
  spec::ValueId last = add_value("x");
  const auto before = [&](std::size_t distance) -> spec::ValueId {
    return {last.index < distance ? 0 : last.index - static_cast<std::uint32_t>(distance)};
  };
  program.graph.inputs = {last};
  program.inputs = {{spec::InputKind::kUserInput, last, "x", true, std::nullopt}};
  for (std::size_t i = 0; i < nodes; ++i) {
    spec::Node node;
    node.name = "n" + std::to_string(i);
    node.arguments = {{"self", {last}}};
    if (i % 3 == 0) {
      node.op = "aten.relu.default";
    } else {
      node.op = i % 3 == 1 ? "aten.add.Tensor" : "aten.mul.Tensor";
      node.arguments.push_back(
          {"other", i % 3 == 1 ? spec::Argument{before(40)} : spec::Argument{0.5}});
    }
    last = add_value(node.name);
    node.results = {{false, {last}}};
    program.graph.nodes.push_back(std::move(node));
  }
  program.graph.outputs = {{last}};
  program.outputs = {{spec::OutputKind::kUserOutput, ""}};
  return program;
}

template <class T>
T expect(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "scale: %s\n", result.error().message.c_str());
  std::exit(1);
}
void expect(const Result<void>& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "scale: %s\n", result.error().message.c_str());
  std::exit(1);
}

// Stages in order, each with its seconds at every size.
class Table {
 public:
  void measure(const std::string& stage, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (!seconds_.contains(stage)) stages_.push_back(stage);
    seconds_[stage].push_back(seconds.count());
  }
  void print() const {
    for (const std::string& stage : stages_) {
      const std::vector<double>& row = seconds_.at(stage);
      std::printf("%-16s", stage.c_str());
      for (const double seconds : row) std::printf(" %9.3f s", seconds);
      std::printf("   x%.2f\n", row.back() / row[row.size() - 2]);
    }
  }

 private:
  std::vector<std::string> stages_;
  std::map<std::string, std::vector<double>> seconds_;
};

// Stage by stage, as optimized/compile.cpp lists them.
void run_optimized(const spec::Program& program, const std::vector<spec::InputValue>& inputs,
                   Table& table) {
  using namespace optimized;
  const CompileOptions options;
  const spec::OpTable& ops = *options.ops;
  spec::Graph prepared;
  table.measure("passes", [&] { prepared = prepare(program, options); });
  const auto symbols = expect(bind_symbols(program, inputs, false));
  SizedGraph graph;
  table.measure("specialize", [&] { graph = specialize(program, prepared, inputs, symbols, ops); });
  Liveness liveness;
  table.measure("liveness", [&] { liveness = analyze_liveness(graph); });
  Partitions partitions;
  table.measure("partition", [&] { partitions = make_partitions(graph, options.partition); });
  Signatures signatures;
  table.measure("signatures", [&] { signatures = derive_signatures(graph, partitions, liveness); });
  Placement placement;
  table.measure("memory",
                [&] { placement = expect(plan_memory(graph, liveness, options.memory)); });
  spec::Plan plan;
  table.measure("lower",
                [&] { plan = lower(program.name, graph, partitions, signatures, placement); });
  table.measure("check plan", [&] { expect(spec::check_plan(plan)); });
  StateMemory state;
  std::unique_ptr<HostProgram> runtime;
  table.measure("record", [&] { runtime = std::make_unique<HostProgram>(plan, ops, state); });
  const spec::HostTensor* tensors[] = {&std::get<spec::HostTensor>(inputs.front())};
  table.measure("replay", [&] { runtime->run(tensors); });
}

void run_size(std::size_t nodes, Table& table) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("graphgate_scale_" + std::to_string(nodes) + ".pt2"))
                               .string();
  const spec::OpTable& ops = spec::builtin_op_table();
  spec::Program program;
  table.measure("make", [&] { program = chain(nodes); });
  table.measure("write .pt2", [&] { expect(interop::write_pt2(program, path, {&ops})); });
  spec::Program read;
  table.measure("read .pt2", [&] { read = expect(interop::read_pt2(path)); });
  std::filesystem::remove(path);
  table.measure("check", [&] { expect(spec::check_program(read, ops)); });
  std::string text;
  table.measure("print text", [&] { text = spec::print_program(read, ops); });
  table.measure("parse text", [&] { (void)expect(spec::parse_program(text, ops, "chain")); });
  const auto inputs = expect(conformance::seeded_inputs(read, 1, 0));
  const auto run = [&](const std::string& name, reference::Mode mode, bool audit) {
    reference::Options options;
    options.mode = mode;
    options.audit_effects = audit;
    std::unique_ptr<spec::LoadedProgram> loaded;
    table.measure("load " + name,
                  [&] { loaded = expect(reference::make_executor(options)->load(read)); });
    table.measure("run " + name, [&] { (void)expect(loaded->call(inputs)); });
  };
  run("eager", reference::Mode::kEager, true);
  run("oracle", reference::Mode::kSampled, true);
  run_optimized(read, inputs, table);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t nodes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100000;
  if (nodes < 4) return std::fprintf(stderr, "scale: expected a number of nodes, at least 4\n"), 4;
  Table table;
  std::printf("%-16s", "nodes");
  for (const std::size_t size : {nodes / 4, nodes / 2, nodes}) {
    std::printf(" %11zu", size);
    std::fflush(stdout);
    run_size(size, table);
  }
  std::printf("\n");
  table.print();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory      %.0f MiB\n", static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
